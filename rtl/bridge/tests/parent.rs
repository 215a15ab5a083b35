//! A generated multiply-accumulate unit inside a rust-hdl parent.

use rtl::{s, u, Design, ModuleBuilder, Template};
use rtl_rust_hdl::RtlBlock;
use rust_hdl::prelude::*;

#[derive(Clone, Debug, PartialEq)]
struct Mac {
    w: u32,
    acc: u32,
}

impl Template for Mac {
    fn name(&self) -> String {
        "mac".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let (a, b) = (m.input("a", s(self.w)), m.input("b", s(self.w)));
        let clear = m.input("clear", u(1));
        let acc = m.reg("acc", s(self.acc)).rst(clear, 0);
        acc.next(acc.q() + (a * b).extend(self.acc));
        m.output("sum", acc.q());
    }
}

/// The parent registers the sum again.
#[derive(LogicBlock)]
struct Parent {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, Bit>,
    pub a: Signal<In, Bits<8>>,
    pub b: Signal<In, Bits<8>>,
    pub sum: Signal<Out, Bits<24>>,
    later: DFF<Bits<24>>,
    mac: RtlBlock,
}

impl Parent {
    fn new() -> Self {
        let mut d = Design::default();
        let top = d.module(Mac { w: 8, acc: 24 });
        let mac = match d.verify().and_then(|d| RtlBlock::new(&d, &top)) {
            Ok(b) => b,
            Err(f) => panic!("{f:?}"),
        };
        Parent {
            clock: Default::default(),
            clear: Default::default(),
            a: Default::default(),
            b: Default::default(),
            sum: Default::default(),
            later: Default::default(),
            mac,
        }
    }
}

impl Logic for Parent {
    fn update(&mut self) {
        dff_setup!(self, clock, later);
        self.mac.clock.set(u64::from(self.clock.val().clk));
        self.mac.port("clear").set(u64::from(self.clear.val()));
        self.mac.port("a").set(self.a.val().into());
        self.mac.port("b").set(self.b.val().into());
        let sum = self.mac.port("sum").get();
        self.later.d.next = sum.into();
        self.sum.next = self.later.q.val();
    }
    fn connect(&mut self) {
        self.sum.connect();
        self.later.clock.connect();
        self.later.d.connect();
        self.mac.connect_inputs();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "always @(*) begin
                later$clock = clock; later$d = mac$sum;
                mac$aclk = clock; mac$clear = clear; mac$a = a; mac$b = b;
                sum = later$q;
            end"
            .into(),
        )
    }
}

#[test]
fn a_generated_block_simulates_inside_a_rust_hdl_parent() {
    let mut sim: Simulation<Parent> = Default::default();
    sim.add_clock(5, |x: &mut Box<Parent>| x.clock.next = !x.clock.val());
    sim.add_testbench(move |mut ep: Sim<Parent>| {
        let mut x = ep.init()?;
        wait_clock_true!(ep, clock, x);
        x.clear.next = true;
        wait_clock_cycle!(ep, clock, x);
        x.clear.next = false;
        // `sum` is the accumulator delayed by the parent's register.
        let (mut acc, mut later) = (0i64, 0i64);
        for k in 0..40i64 {
            let (a, b) = ((k * 37 % 256) as u8, (k * 91 % 256) as u8);
            x.a.next = (u64::from(a)).into();
            x.b.next = (u64::from(b)).into();
            wait_clock_cycle!(ep, clock, x);
            later = acc;
            acc += i64::from(a as i8) * i64::from(b as i8);
            let want = Bits::<24>::from(later as u64 & 0xff_ffff);
            sim_assert_eq!(ep, x.sum.val(), want, x);
        }
        sim_assert!(ep, later != 0, x);
        ep.done(x)
    });
    let mut uut = Parent::new();
    uut.connect_all();
    sim.run(Box::new(uut), 10_000).unwrap();
}

#[test]
fn the_parent_and_the_block_become_one_verilog_text() {
    let mut uut = TopWrap::new(Parent::new());
    uut.uut.clock.connect();
    uut.uut.clear.connect();
    uut.uut.a.connect();
    uut.uut.b.connect();
    uut.connect_all();
    check_all(&uut).unwrap();
    let text = generate_verilog(&uut);
    assert!(text.contains("module mac ("), "{text}");
    yosys_validate("rtl_rust_hdl_parent", &text).unwrap();
}
