//! Estimated paths, against sums of the delays by hand.

use rtl::timing::{slowest, Delays, Path};
use rtl::{s, u, Design, MemStyle, ModuleBuilder, Template};

/// A module made by a function.
#[derive(Clone, Copy, Debug)]
struct Of(&'static str, fn(&ModuleBuilder, &mut Design));

impl PartialEq for Of {
    fn eq(&self, other: &Of) -> bool {
        self.0 == other.0
    }
}

impl Template for Of {
    fn name(&self) -> String {
        self.0.into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        self.1(m, d)
    }
}

fn paths(top: Of) -> Vec<Path> {
    let mut d = Design::default();
    d.module(top);
    slowest(&d.verify().unwrap(), &Delays::ULTRASCALE)
}

fn path(build: fn(&ModuleBuilder, &mut Design)) -> Path {
    paths(Of("top", build)).pop().expect("a path")
}

fn near(path: &Path, ns: f64, levels: u32) {
    assert!((path.ns - ns).abs() < 1e-9 && path.levels == levels, "{path:?}, not {ns} ns and {levels} levels");
}

const REGISTER: f64 = 0.10;
const NET: f64 = 0.35;
const LUT: f64 = 0.10;
const SETUP: f64 = 0.05;

#[test]
fn six_inputs_are_one_lut_and_seven_are_two() {
    let six = path(|m, _| {
        let q = m.reg("q", u(6)).next(m.input("x", u(6))).q();
        m.output("y", m.reg("any", u(1)).next(q.reduce_or()).q());
    });
    near(&six, REGISTER + NET + LUT + NET + SETUP, 1);
    assert_eq!((six.from.as_str(), six.to.as_str()), ("q", "any"));
    let seven = path(|m, _| {
        let q = m.reg("q", u(7)).next(m.input("x", u(7))).q();
        m.output("y", m.reg("any", u(1)).next(q.reduce_or()).q());
    });
    near(&seven, REGISTER + 2.0 * (NET + LUT) + NET + SETUP, 2);
}

#[test]
fn a_sum_is_a_carry_chain() {
    let sum = path(|m, _| {
        let [a, b] = ["a", "b"].map(|n| m.reg(n, u(32)).next(m.input(format!("{n}_in"), u(32))).q());
        m.output("y", m.reg("sum", u(32)).next(a + b).q());
    });
    // The top bit enters its part of the chain itself; the lowest runs through seven more.
    near(&sum, REGISTER + NET + LUT + NET + 0.15 + 7.0 * 0.03 + NET + SETUP, 2);
}

#[test]
fn a_multiply_accumulator_is_one_slice() {
    let mac = path(|m, _| {
        let [a, b] = ["a", "b"].map(|n| m.reg(n, s(16)).next(m.input(format!("{n}_in"), s(16))).q());
        let product = m.reg("product", s(32)).next(a * b).q();
        let acc = m.reg("acc", s(32));
        m.output("y", acc.next(acc.q() + product).q());
    });
    // Operand registers to the product register; the sum stays in the slice.
    near(&mac, REGISTER + NET + 1.2, 0);
}

#[test]
fn a_wide_net_is_slower() {
    let wide = path(|m, _| {
        let select = m.reg("select", u(1)).next(m.input("select_in", u(1))).q();
        let [a, b] = ["a", "b"].map(|n| m.reg(n, u(64)).next(m.input(format!("{n}_in"), u(64))).q());
        m.output("y", m.reg("chosen", u(64)).next(m.mux(select, a, b)).q());
    });
    near(&wide, REGISTER + (NET + 4.0 * 0.05) + LUT + NET + SETUP, 1);
    assert_eq!(wide.from, "select");
}

#[test]
fn paths_go_through_modules_and_memories() {
    fn any(m: &ModuleBuilder, _: &mut Design) {
        let x = m.input("x", u(36));
        m.output("y", x.reduce_or());
    }
    let all = paths(Of("top", |m, d| {
        let inner = d.module(Of("inner", any));
        let addr = m.reg("addr", u(5)).next(m.input("addr_in", u(5))).q();
        let mem = m.mem("table", 32, 36, MemStyle::Distributed);
        mem.write(m.input("en", u(1)), addr, m.input("data", u(36)));
        let instance = m.instance(d, "inner", &inner);
        instance.set("x", mem.read_async("item", addr));
        m.output("y", m.reg("some", u(1)).next(instance.out("y")).q());
    }));
    let top = all.last().unwrap();
    // The address has a load for each bit and the writes'. A module's pins have the nets that are inside of it.
    assert_eq!((top.module.as_str(), top.to.as_str()), ("top", "some"));
    assert!(top.ns > REGISTER + NET + 0.15 + 2.0 * (NET + LUT) + NET + SETUP && top.ns < 2.5, "{top:?}");
}
