//! Comparisons, minimum and maximum: numbers are compared as sign and magnitude.

use super::parts::{encode, Fields, Special};
use super::pipe::Pipe;
use super::{Format, Relation};
use rtl::{u, ModuleBuilder, Sig};

/// Compare magnitudes; decide and select.
const STEPS: [u32; 2] = [6, 3];

/// Two numbers after the first step.
struct Order<'m> {
    /// `|a| < |b|` and `|a| == |b|` as bit patterns.
    less: Sig<'m>,
    same: Sig<'m>,
    signs: [Sig<'m>; 2],
    zeros: Sig<'m>,
}

impl<'m> Order<'m> {
    fn equal(&self) -> Sig<'m> {
        self.zeros | (self.same & !(self.signs[0] ^ self.signs[1]))
    }

    /// `a < b`, neither being NaN; with the roles exchanged `b < a`.
    fn less(&self, m: &'m ModuleBuilder, exchanged: bool) -> Sig<'m> {
        let [a, b] = self.signs;
        let greater = !(self.less | self.same);
        let (below, above, a, b) = if exchanged { (greater, self.less, b, a) } else { (self.less, greater, a, b) };
        m.select(&[(a & b, above), (!(a | b), below)], a & !self.zeros)
    }
}

fn order<'m>(a: Sig<'m>, b: Sig<'m>, x: &Fields<'m>, y: &Fields<'m>) -> Order<'m> {
    let (p, q) = (a.slice(0, a.w() - 1), b.slice(0, b.w() - 1));
    Order { less: p.lt(q), same: p.eq(q), signs: [x.sign, y.sign], zeros: x.zero & y.zero }
}

/// Holds an [`Order`] over a step boundary.
fn hold<'p, 'm>(p: &'p Pipe<'m>, o: Order<'m>) -> impl Fn() -> Order<'m> + use<'p, 'm> {
    let (less, same, zeros) = (p.hold("less", o.less), p.hold("same", o.same), p.hold("zeros", o.zeros));
    let signs = [p.hold("sign_a", o.signs[0]), p.hold("sign_b", o.signs[1])];
    move || Order { less: less.now(), same: same.now(), zeros: zeros.now(), signs: [signs[0].now(), signs[1].now()] }
}

pub fn relation(m: &ModuleBuilder, f: Format, relation: Relation, latency: u32) {
    let p = Pipe::new(m, &STEPS, latency);
    let (a, b) = (p.input("a", f.bits()), p.input("b", f.bits()));
    let (x, y) = (Fields::new(a.now(), f), Fields::new(b.now(), f));
    let unordered = p.hold("unordered", x.nan | y.nan);
    let order = hold(&p, order(a.now(), b.now(), &x, &y));
    p.cut();
    let (order, ordered) = (order(), !unordered.now());
    let value = match relation {
        Relation::Eq => ordered & order.equal(),
        Relation::Ne => !(ordered & order.equal()),
        Relation::Lt => ordered & order.less(m, false),
        Relation::Le => ordered & (order.less(m, false) | order.equal()),
    };
    p.output("y", value);
}

pub fn extreme(m: &ModuleBuilder, f: Format, least: bool, latency: u32) {
    let p = Pipe::new(m, &STEPS, latency);
    let (a, b) = (p.input("a", f.bits()), p.input("b", f.bits()));
    let (x, y) = (Fields::new(a.now(), f), Fields::new(b.now(), f));
    let (x_nan, y_nan) = (p.hold("nan_a", x.nan), p.hold("nan_b", y.nan));
    let order = hold(&p, order(a.now(), b.now(), &x, &y));
    p.cut();
    let first = y_nan.now() | (!x_nan.now() & !order().less(m, least));
    let taken = m.mux(first, a.now(), b.now());
    let none = m.lit(0, u(1));
    let special = Special { sign: taken.msb(), nan: x_nan.now() & y_nan.now(), infinite: none };
    p.output("y", encode(m, taken.slice(0, f.bits() - 1), none, &special, f));
}
