//! Rows with a stride in a writer. Collectors hold the elements of a row side by side; in DRAM other elements lie
//! between them.
//!
//! ```text
//! collector word   a0 a1 a2 a3              stride 2, 4 elements per bus word
//! bus words        a0 -- a1 --  a2 -- a3 --     strobes 1010 1010
//! ```
//! Each collector word is requested once. It is spread over as many bus words as the stride, one *part* per cycle, and
//! each part counts as a request that is answered `read_latency` cycles later ([`Parts`], [`spread`]). Byte strobes
//! leave the elements in between alone ([`stride_strobes`]).

use super::clients::Clients;
use array::contract::walk::{Walk, WalkGroup};
use rtl::{clog2, u, ModuleBuilder, Sig};

/// Counter of the parts of a collector word.
pub(super) struct Parts<'m> {
    pub number: Sig<'m>,
    pub first: Sig<'m>,
    /// Last part of the word; the last word of a row may have fewer parts.
    pub last: Sig<'m>,
}

impl<'m> Parts<'m> {
    /// Restarts at `go`, counts with `issue`; `at_end`: the word is the last of its row. `None` if no row has a
    /// stride.
    pub fn of(
        m: &'m ModuleBuilder,
        (walk, clients): (&Walk, &Clients<'m>),
        client: &[Sig<'m>],
        at_end: Sig<'m>,
        go: Sig<'m>,
        issue: Sig<'m>,
    ) -> Option<Parts<'m>> {
        if !walk.has_steps() {
            return None;
        }
        let part = m.reg("ask_part", u(clog2(most(walk, |g| g.step) as u64)));
        let each = |f: &dyn Fn(&WalkGroup) -> i64| clients.lit(walk, client, f, part.q().ty());
        let row_last = part.q().eq(each(&|g| (g.words - 1) % g.step)).named("ask_part_row_last");
        let last = (part.q().eq(each(&|g| g.step - 1)) | (at_end & row_last)).named("ask_part_last");
        part.next(m.mux(go | last, m.lit(0, part.q().ty()), part.q().add_lit(1))).en(go | issue);
        Some(Parts { number: part.q(), first: !part.q().reduce_or(), last })
    }
}

fn most(walk: &Walk, f: impl Fn(&WalkGroup) -> i64) -> i64 {
    walk.groups.iter().map(f).max().unwrap_or(1)
}

/// The bus word of a `part` of a collector word of the `chosen` client. Elements in between have any value.
pub(super) fn spread<'m>(
    m: &'m ModuleBuilder,
    (walk, clients): (&Walk, &Clients<'m>),
    chosen: &[Sig<'m>],
    data: Sig<'m>,
    part: Sig<'m>,
) -> Sig<'m> {
    let (word, bits) = (i64::from(walk.word), 8 * walk.bytes);
    let lane = |lane: i64| {
        let of = |g: &WalkGroup| {
            let mut from: Vec<(i64, i64)> =
                (0..g.step).filter_map(|part| g.source(part * word + lane).map(|e| (part, e))).collect();
            let last = from.pop().map_or(lane, |x| x.1);
            let element = |e: i64| data.slice(e as u32 * bits, bits);
            let cases: Vec<_> = from.into_iter().map(|(p, e)| (part.eq_lit(p), element(e))).collect();
            m.select(&cases, element(last))
        };
        clients.choose(chosen, &walk.groups.iter().map(of).collect::<Vec<_>>())
    };
    m.concat(&(0..word).rev().map(lane).collect::<Vec<_>>())
}

/// A row on the data side: its client, and the position of its first element in the bus word.
pub(super) struct StridedRow<'a, 'm> {
    pub client: &'a [Sig<'m>],
    pub shift: Option<Sig<'m>>,
}

/// Byte strobes of the elements of the present virtual beat that belong to the row. `now`: client of the present row;
/// `pop` starts the row `head`.
pub(super) fn stride_strobes<'m>(
    m: &'m ModuleBuilder,
    (walk, clients): (&Walk, &Clients<'m>),
    head: StridedRow<'_, 'm>,
    now: &[Sig<'m>],
    pop: Sig<'m>,
    step: Sig<'m>,
) -> Option<Sig<'m>> {
    if !walk.has_steps() {
        return None;
    }
    // Distance of the beat's first element from the last element of the row before it, modulo the stride.
    let every = |g: &WalkGroup| g.step * g.scale;
    let ty = u(clog2(most(walk, every) as u64));
    let word = i64::from(walk.word);
    let behind = m.reg("behind", ty);
    let advanced = walk.groups.iter().map(|g| {
        let every = every(g);
        let by = word % every;
        let at = behind.q();
        if by == 0 {
            at
        } else {
            m.mux(at.ge(m.lit(every - by, ty)), at.sub_lit(every - by), at.add_lit(by))
        }
    });
    let advanced = clients.choose(now, &advanced.collect::<Vec<_>>());
    let initial = |g: &WalkGroup| {
        let at = |shift: i64| m.lit((-shift).rem_euclid(every(g)), ty);
        head.shift.map_or(at(0), |shift| table(m, shift, &(0..word).map(at).collect::<Vec<_>>()))
    };
    let initial = clients.choose(head.client, &walk.groups.iter().map(initial).collect::<Vec<_>>());
    behind.next(m.mux(pop, initial, advanced)).en(pop | step);
    let is: Vec<Sig> =
        (0..most(walk, every)).map(|at| behind.q().eq_lit(at).named(format!("behind_by_{at}"))).collect();
    let lane = |lane: i64| {
        let of = |g: &WalkGroup| {
            let at = (0..every(g)).filter(|at| (at + lane) % every(g) < g.scale).map(|at| is[at as usize]);
            if every(g) == g.scale {
                m.lit(1, u(1))
            } else {
                m.any(&at.collect::<Vec<_>>())
            }
        };
        m.repeat(clients.choose(now, &walk.groups.iter().map(of).collect::<Vec<_>>()), walk.bytes)
    };
    Some(m.concat(&(0..word).rev().map(lane).collect::<Vec<_>>()).named("wanted"))
}

/// `values[index]` as a multiplexer tree.
fn table<'m>(m: &'m ModuleBuilder, index: Sig<'m>, values: &[Sig<'m>]) -> Sig<'m> {
    let mut level = values.to_vec();
    for bit in 0..index.w() {
        level = level
            .chunks(2)
            .map(|pair| if pair.len() == 2 { m.mux(index.bit(bit), pair[1], pair[0]) } else { pair[0] })
            .collect();
    }
    level[0]
}
