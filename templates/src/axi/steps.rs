//! Rows with steps in a writer: the collectors have a row's elements side by side, DRAM has others between them.
//!
//! Each word of the collectors is asked for once and stays while its parts are spread over as many bus words as the
//! step is long, one a cycle, so that every bus word still is a request with an answer `read_latency` cycles later
//! ([`Parts`], [`spread`]). What lies between is not written: strobes of wanted elements only ([`wanted`]).

use super::elastic::{choose, choose_lit};
use array::contract::walk::{Walk, WalkGroup};
use rtl::{clog2, u, ModuleBuilder, Sig};

/// Which part of a collector's word is asked for.
pub(super) struct Parts<'m> {
    pub number: Sig<'m>,
    pub first: Sig<'m>,
    /// The word's last; in a row's last word the last that it has.
    pub last: Sig<'m>,
}

impl<'m> Parts<'m> {
    /// Steps with each `issue`, from the begin at `go`; `at_end`: in the row's last word. `None` if all rows are
    /// without steps.
    pub fn of(
        m: &'m ModuleBuilder,
        walk: &Walk,
        group: &[Sig<'m>],
        at_end: Sig<'m>,
        go: Sig<'m>,
        issue: Sig<'m>,
    ) -> Option<Parts<'m>> {
        if !walk.has_steps() {
            return None;
        }
        let part = m.reg("ask_part", u(clog2(most(walk, |g| g.step) as u64)));
        let each = |f: &dyn Fn(&WalkGroup) -> i64| {
            choose_lit(m, group, &walk.groups.iter().map(f).collect::<Vec<_>>(), part.q().ty())
        };
        let row_last = part.q().eq(each(&|g| (g.words - 1) % g.step)).named("ask_part_row_last");
        let last = (part.q().eq(each(&|g| g.step - 1)) | (at_end & row_last)).named("ask_part_last");
        part.next(m.mux(go | last, m.lit(0, part.q().ty()), part.q().add_lit(1))).en(go | issue);
        Some(Parts { number: part.q(), first: !part.q().reduce_or(), last })
    }
}

fn most(walk: &Walk, f: impl Fn(&WalkGroup) -> i64) -> i64 {
    walk.groups.iter().map(f).max().unwrap_or(1)
}

/// The bus word that `part` of the collectors' word becomes, elements that are not wanted arbitrary.
pub(super) fn spread<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    group: &[Sig<'m>],
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
        choose(m, group, &walk.groups.iter().map(of).collect::<Vec<_>>())
    };
    m.concat(&(0..word).rev().map(lane).collect::<Vec<_>>())
}

/// A row on the data side: its group's bits, and the place of its first element in its bus word.
pub(super) struct Placed<'a, 'm> {
    pub group: &'a [Sig<'m>],
    pub shift: Option<Sig<'m>>,
}

/// Strobes of the elements that the present virtual beat of the row of group `now` wants; `head` is the row that `pop`
/// begins.
pub(super) fn wanted<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    head: Placed<'_, 'm>,
    now: &[Sig<'m>],
    pop: Sig<'m>,
    step: Sig<'m>,
) -> Option<Sig<'m>> {
    if !walk.has_steps() {
        return None;
    }
    // Of the beat's first element, how far it is behind a wanted one, modulo the elements from one to the next.
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
    let advanced = choose(m, now, &advanced.collect::<Vec<_>>());
    let begin = |g: &WalkGroup| {
        let at = |shift: i64| m.lit((-shift).rem_euclid(every(g)), ty);
        head.shift.map_or(at(0), |shift| table(m, shift, &(0..word).map(at).collect::<Vec<_>>()))
    };
    let begin = choose(m, head.group, &walk.groups.iter().map(begin).collect::<Vec<_>>());
    behind.next(m.mux(pop, begin, advanced)).en(pop | step);
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
        m.repeat(choose(m, now, &walk.groups.iter().map(of).collect::<Vec<_>>()), walk.bytes)
    };
    Some(m.concat(&(0..word).rev().map(lane).collect::<Vec<_>>()).named("wanted"))
}

/// `values[index]`, of a power of two.
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
