//! The builder: elaboration, faults and their source positions.

use crate::pe::Pe;
use rtl::sim::{Init, Sim};
use rtl::{s, u, Bits, Design, FaultKind, MemStyle, ModuleBuilder, Template};

#[test]
fn equal_templates_share_a_module_and_equal_names_get_numbers() {
    let mut d = Design::default();
    let a = d.module(Pe { data: 8, simd: 2, acc: 32 });
    let b = d.module(Pe { data: 8, simd: 2, acc: 32 });
    let c = d.module(Pe { data: 8, simd: 2, acc: 24 });
    assert_eq!((a.as_str(), b.as_str(), c.as_str()), ("pe_i8_x2", "pe_i8_x2", "pe_i8_x2_2"));
    assert_eq!(d.modules().len(), 2);
    d.verify().unwrap();
}

#[derive(Clone, Debug, PartialEq)]
struct Pair;

impl Template for Pair {
    fn name(&self) -> String {
        "mm".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        for acc in [24, 32] {
            let pe = d.module(Pe { data: 8, simd: 1, acc });
            let pe = m.instance(d, format!("pe{acc}"), &pe);
            for (name, width) in [("first", 1), ("valid", 1), ("a_in", 8), ("b_in", 8)] {
                pe.set(name, m.lit(0, u(width)));
            }
            m.output(format!("acc{acc}"), pe.out("acc_out"));
        }
    }
}

#[test]
fn every_module_but_the_outermost_begins_with_the_prefix() {
    let mut d = Design::default().prefixed("mm");
    d.module(Pair);
    let names: Vec<&str> = d.modules().iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["mm_pe_i8_x1", "mm_pe_i8_x1_2", "mm"]);
}

#[derive(Clone, Debug, PartialEq)]
struct Faulty;

impl Template for Faulty {
    fn name(&self) -> String {
        "faulty".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let pe = d.module(Pe { data: 8, simd: 1, acc: 16 });
        let (a, b) = (m.input("a", u(8)), m.input("b", u(9)));
        let _ = a + b;
        let _ = a.signed() * b;
        let _ = m.lit(-1, u(4));
        let _ = m.lit(128, s(8));
        let _ = a.slice(5, 4);
        let w = m.wire("w", u(8));
        w.drive(a);
        w.drive(a);
        m.wire("floating", u(1));
        m.reg("idle", u(3));
        m.instance(d, "pe", &pe).set("first", a).set("nothing", a);
        m.mem("mem", 10, 8, MemStyle::Auto).write(a.bit(0), a, a);
        m.output("a", a);
    }
}

#[test]
fn every_fault_is_reported_at_its_source_position() {
    let mut d = Design::default();
    d.module(Faulty);
    let faults = d.verify().unwrap_err();
    let count = |k| faults.iter().filter(|f| f.kind == k).count();
    assert_eq!(count(FaultKind::Width), 5, "{faults:#?}");
    assert_eq!(count(FaultKind::Literal), 2, "{faults:#?}");
    assert_eq!(count(FaultKind::MultiplyDriven), 1, "{faults:#?}");
    assert_eq!(count(FaultKind::Undriven), 6, "{faults:#?}");
    assert_eq!(count(FaultKind::Port), 2, "{faults:#?}");
    assert!(faults.iter().all(|f| f.at.contains("build.rs:")), "{faults:#?}");
}

#[derive(Clone, Debug, PartialEq)]
struct Pass;

impl Template for Pass {
    fn name(&self) -> String {
        "pass".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let (a, b) = (m.input("a", u(4)), m.input("b", u(4)));
        m.output("y", a + b);
        m.output("z", m.reg("z_q", u(4)).next(a).q());
    }
}

/// `looped` closes a combinational loop through two instances; otherwise a register breaks it.
#[derive(Clone, Debug, PartialEq)]
struct Ring {
    looped: bool,
    grid: bool,
}

impl Template for Ring {
    fn name(&self) -> String {
        "ring".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let pass = d.module(Pass);
        let x = m.input("x", u(4));
        if self.grid {
            let g = m.grid(d, "p", &pass, [2, 2]);
            let back = if self.looped { "y" } else { "z" };
            let around = |i: u32| g.out_at(back, (i + 1) % 2, 0);
            g.set_each("a", |i, j| if j == 0 { around(i) } else { g.out_at("y", i, 0) }).set("b", x);
            m.output("y", g.out("y"));
            return;
        }
        let w = m.wire("w", u(4));
        let p = m.instance(d, "p", &pass).set("a", w.sig()).set("b", x);
        let q = m.instance(d, "q", &pass).set("a", p.out("y")).set("b", x);
        w.drive(q.out(if self.looped { "y" } else { "z" }));
        m.output("y", p.out("y"));
    }
}

#[test]
fn combinational_loops_are_found_through_the_hierarchy_and_registers_break_them() {
    for grid in [false, true] {
        let mut d = Design::default();
        d.module(Ring { looped: false, grid });
        d.verify().unwrap();
        let mut d = Design::default();
        d.module(Ring { looped: true, grid });
        let faults = d.verify().unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:#?}");
        assert_eq!(faults[0].kind, FaultKind::CombLoop);
        assert!(faults[0].message.contains(if grid { "p[1][0]" } else { "q." }), "{faults:#?}");
    }
}

/// Reads a ROM of four words, three of which are constants of 70 bits.
#[derive(Clone, Debug, PartialEq)]
struct Constants;

const CONSTANTS: [u128; 3] = [0x3f_0123_4567_89ab_cdef, 0, 0x15_ffff_0000_ffff_0001];

impl Template for Constants {
    fn name(&self) -> String {
        "constants".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let rom = m.rom("rom", 4, &CONSTANTS.map(|c| Bits::from_u128(c, 70)), MemStyle::Distributed);
        let at = m.input("at", u(2));
        m.output("now", rom.read_async("now_data", at));
        m.output("next", rom.read_sync("next_q", m.lit(1, u(1)), at));
    }
}

#[test]
fn a_read_only_memory_holds_its_content_among_garbage() {
    let mut d = Design::default();
    let top = d.module(Constants);
    let d = d.verify().unwrap();
    let text = &rtl::verilog::files(&d)[0].1;
    assert!(
        text.contains(
            "(* rom_style = \"distributed\" *)\n    reg [69:0] rom [0:3];\n    initial begin\n        rom[0] = \
            70'h3f0123456789abcdef;"
        ),
        "{text}"
    );
    let mut sim = Sim::with_init(&d, &top, Init::Garbage(7)).unwrap();
    for at in [2, 0, 3, 1] {
        let wanted = Bits::from_u128(CONSTANTS.get(at).copied().unwrap_or(0), 70);
        sim.set("at", at as u64);
        assert_eq!(sim.get_wide("now"), wanted.limbs());
        sim.step();
        assert_eq!(sim.get_wide("next"), wanted.limbs());
    }
}

/// Writes to a ROM.
#[derive(Clone, Debug, PartialEq)]
struct Overwritten;

impl Template for Overwritten {
    fn name(&self) -> String {
        "overwritten".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let rom = m.rom("rom", 2, &[Bits::from_u128(5, 8)], MemStyle::Auto);
        rom.write(m.input("en", u(1)), m.input("at", u(1)), m.input("data", u(8)));
        m.output("now", rom.read_async("now_data", m.lit(0, u(1))));
    }
}

#[test]
fn a_write_to_a_read_only_memory_is_a_fault() {
    let mut d = Design::default();
    d.module(Overwritten);
    let faults = d.verify().err().unwrap();
    assert!(
        faults.iter().any(|f| f.kind == FaultKind::MultiplyDriven && f.message.contains("read-only")),
        "{faults:?}"
    );
}
