//! `AxiLiteControl` driven by a register-level host that orders and delays the channels at random.

use crate::axi_support::Random;
use array::contract::overlap::MOST_RUNS;
use rtl::sim::Sim;
use rtl::Design;
use templates::axi::control::AxiLiteControl;
use templates::interface::{Layout, IP_ISR, QUEUE_INDEPENDENT, QUEUE_MORE, STATUS_CAUSES, STATUS_STOPPED};

/// Identifier of the design under test.
const DESIGN: u32 = 0xc0ff_ee11;

struct Host {
    sim: Sim,
    r: Random,
    starts: u64,
    /// RVALID or BVALID that waits, with the read data.
    waiting: (bool, bool, u64),
    /// Greatest length of a run in cycles; 0: the test ends the runs.
    longest: u64,
    left: Option<u64>,
    /// Functions and arguments of the runs so far.
    log: Vec<(u64, Vec<u64>)>,
    layout: Layout,
    /// If runs overlap; and inputs of the next cycle.
    stages: Stages,
    later: Vec<(String, u64)>,
}

/// A core whose stages take random times.
#[derive(Default)]
struct Stages {
    /// Cycles that are left of the run in each stage.
    left: [i64; 3],
    /// Functions and arguments of the runs so far.
    logs: [Vec<(u64, Vec<u64>)>; 3],
    /// Of each command: it is independent.
    independent: Vec<bool>,
    /// Runs that have ended.
    ended: usize,
    /// The most that were under way.
    most: usize,
}

impl Host {
    fn new(arrays: usize, seed: u64) -> Host {
        Host::of(Layout::single(vec![64; arrays]), seed)
    }
    fn of(layout: Layout, seed: u64) -> Host {
        let mut d = Design::default();
        let aligned = layout.functions.iter().map(|f| vec![0; f.len()]).collect();
        let top = d.module(AxiLiteControl {
            layout: layout.clone(),
            version: 7,
            aligned,
            early: vec![true; layout.functions.len()],
        });
        let sim = Sim::new(&d.verify().unwrap(), &top).unwrap_or_else(|f| panic!("{f:?}"));
        let mut h = Host {
            sim,
            r: Random::new(seed),
            starts: 0,
            waiting: (false, false, 0),
            longest: 0,
            left: None,
            log: vec![],
            layout,
            stages: Stages::default(),
            later: vec![],
        };
        for p in ["awvalid", "wvalid", "arvalid", "rready", "bready"] {
            h.set(p, 0);
        }
        let unused =
            ["read", "write", "outside", "port", "response", "known", "address"].map(|name| format!("fault_{name}"));
        unused.iter().for_each(|input| h.sim.set(input, 0));
        if h.layout.overlap {
            ["reads", "waves", "writes"].iter().for_each(|name| h.sim.set(&format!("free_{name}"), 1));
        }
        h.sim.set("done", 0);
        h.sim.set("ready", 1);
        h.sim.set("design_id", DESIGN.into());
        h.sim.set("rst", 1);
        h.sim.step();
        h.sim.set("rst", 0);
        h
    }
    fn set(&mut self, p: &str, v: u64) {
        self.sim.set(&format!("s_axi_control_{p}"), v);
    }
    fn get(&mut self, p: &str) -> u64 {
        self.sim.get(&format!("s_axi_control_{p}"))
    }
    /// One cycle, in which the rules of the response channels are checked.
    fn tick(&mut self) {
        let (r, b, data) = (self.get("rvalid") == 1, self.get("bvalid") == 1, self.get("rdata"));
        assert!(r || !self.waiting.0, "rvalid dropped");
        assert!(b || !self.waiting.1, "bvalid dropped");
        assert!(!self.waiting.0 || data == self.waiting.2, "rdata changed");
        let taken = |h: &mut Host, p: &str| h.sim.get(&format!("s_axi_control_{p}")) == 1;
        self.waiting = (r && !taken(self, "rready"), b && !taken(self, "bready"), data);
        if self.layout.overlap {
            return self.stages();
        }
        self.starts += self.sim.get("start");
        if self.sim.get("start") == 1 {
            let command = self.command();
            self.log.push(command);
        }
        if self.longest > 0 {
            self.sim.set("done", u64::from(self.left == Some(0)));
            self.left = match self.left {
                _ if self.sim.get("start") == 1 => Some(self.r.range(0, self.longest as i64 - 1) as u64),
                left => left.and_then(|l| l.checked_sub(1)),
            };
        }
        self.sim.clock();
    }
    /// A cycle of a core whose stages overlap. Checks that runs begin in each stage in turn, and which ones begin beside others.
    fn stages(&mut self) {
        const NAMES: [&str; 3] = ["reads", "waves", "writes"];
        let under_way = |s: &Stages| s.logs[0].len() - s.ended;
        for (k, name) in NAMES.into_iter().enumerate() {
            let start = self.sim.get(&format!("start_{name}")) == 1;
            if start {
                let command = self.command_of(&format!("_{name}"));
                let s = &mut self.stages;
                assert_eq!(s.left[k], 0, "{name} are busy");
                if k == 0 {
                    let number = s.logs[0].len();
                    assert!(s.independent[number] || under_way(s) == 0, "command {number} begins beside others");
                }
                s.logs[k].push(command);
                s.most = s.most.max(under_way(s));
                s.left[k] = self.r.range(1, self.longest as i64);
            }
            let free = self.stages.left[k] == 0 && !start;
            let idle = self.sim.get(&format!("start_{name}")) == 0 && free;
            self.stages.left[k] -= i64::from(!start && self.stages.left[k] > 0);
            self.later.push((format!("free_{name}"), u64::from(idle)));
        }
        // The oldest run ends some time behind its stages.
        let s = &self.stages;
        let over = (0..3).map(|k| s.logs[k].len() - usize::from(s.left[k] > 0)).min().unwrap_or(0);
        let done = s.ended < over && self.sim.get("done") == 0 && self.r.range(0, 3) == 0;
        self.stages.ended += usize::from(done);
        self.sim.clock();
        self.sim.set("done", u64::from(done));
        for (name, value) in std::mem::take(&mut self.later) {
            self.sim.set(&name, value);
        }
    }
    /// Function and arguments at the outputs in this cycle.
    fn command(&mut self) -> (u64, Vec<u64>) {
        self.command_of("")
    }
    fn command_of(&mut self, view: &str) -> (u64, Vec<u64>) {
        let several = self.layout.functions.len() > 1;
        let port = if view.is_empty() { "function_".to_string() } else { format!("function{view}") };
        let f = if several { self.sim.get(&port) } else { 0 };
        let name = |k: usize| if several { format!("arg_{f}_{k}{view}") } else { format!("arg_{k}{view}") };
        let names: Vec<String> = (0..self.layout.functions[f as usize].len()).map(name).collect();
        (f, names.iter().map(|n| self.sim.get(n)).collect())
    }
    /// Writes random arguments of a function. Returns what must be at the outputs.
    fn arguments(&mut self, f: usize) -> (u64, Vec<u64>) {
        let mut values = vec![];
        for (k, bits) in self.layout.functions[f].clone().into_iter().enumerate() {
            let value = self.r.next() >> (64 - bits);
            let at = self.layout.argument(f, k);
            self.write(at, value as u32, 15);
            if bits > 32 {
                self.write(at + 4, (value >> 32) as u32, 15);
            }
            values.push(value);
        }
        (f as u64, values)
    }
    fn write(&mut self, at: u32, data: u32, strobe: u64) {
        let (mut aw_in, mut w_in) = (self.r.range(0, 4), self.r.range(0, 4));
        let (mut aw, mut w, mut b) = (false, false, false);
        for _ in 0..60 {
            self.set("awvalid", u64::from(!aw && aw_in <= 0));
            self.set("awaddr", if aw_in <= 0 { u64::from(at) } else { 0x3f });
            self.set("wvalid", u64::from(!w && w_in <= 0));
            self.set("wdata", u64::from(data));
            self.set("wstrb", strobe);
            let ready = self.r.range(0, 1) as u64;
            self.set("bready", ready);
            (aw_in, w_in) = (aw_in - 1, w_in - 1);
            aw |= self.get("awvalid") & self.get("awready") == 1;
            w |= self.get("wvalid") & self.get("wready") == 1;
            b |= self.get("bvalid") & ready == 1;
            assert_eq!(self.get("bresp"), 0);
            self.tick();
            if aw && w && b {
                self.set("awvalid", 0);
                self.set("wvalid", 0);
                self.set("bready", 0);
                return;
            }
        }
        panic!("no response to a write");
    }
    fn read(&mut self, at: u32) -> u32 {
        let mut accepted = false;
        for _ in 0..60 {
            self.set("arvalid", u64::from(!accepted));
            self.set("araddr", u64::from(at));
            let ready = self.r.range(0, 1) as u64;
            self.set("rready", ready);
            accepted |= self.get("arvalid") & self.get("arready") == 1;
            let value = (self.get("rvalid") & ready == 1).then(|| self.get("rdata"));
            self.tick();
            if let Some(v) = value {
                self.set("rready", 0);
                self.set("arvalid", 0);
                return v as u32;
            }
        }
        panic!("no answer to a read");
    }
    /// Waits for the start pulse, then runs the kernel for `cycles`.
    fn kernel(&mut self, cycles: u64) {
        for _ in 0..10 {
            if self.sim.get("start") == 1 {
                for c in 0..=cycles {
                    self.sim.set("done", u64::from(c == cycles));
                    self.tick();
                }
                self.sim.set("done", 0);
                return;
            }
            self.tick();
        }
        panic!("no start pulse");
    }
}

#[test]
fn addresses_keep_their_bytes() {
    for arrays in [1, 3, 11] {
        let mut h = Host::new(arrays, arrays as u64);
        let mut wanted = vec![[0u32; 2]; arrays];
        for _ in 0..60 {
            let k = h.r.range(0, arrays as i64 - 1) as usize;
            let (half, strobe, data) = (h.r.range(0, 1) as usize, h.r.range(0, 15) as u64, h.r.next() as u32);
            let at = Layout::single(vec![64; arrays]).argument(0, k) + 4 * half as u32;
            h.write(at, data, strobe);
            let mask = (0..4).fold(0u32, |m, i| if strobe >> i & 1 == 1 { m | 0xff << (8 * i) } else { m });
            let cell = &mut wanted[k][half];
            *cell = *cell & !mask | data & mask;
            let expected = *cell;
            assert_eq!(h.read(at), expected);
        }
        for (k, w) in wanted.iter().enumerate() {
            assert_eq!(h.sim.get(&format!("arg_{k}")), u64::from(w[1]) << 32 | u64::from(w[0]));
        }
        assert_eq!(h.starts, 0);
    }
}

#[test]
fn arguments_are_laid_out_as_by_hls() {
    let layout = Layout::single(vec![32, 64, 8, 64, 16]);
    let offsets: Vec<u32> = (0..5).map(|k| layout.argument(0, k)).collect();
    assert_eq!(offsets, [0x10, 0x18, 0x24, 0x2c, 0x38]);
    assert_eq!(
        (layout.design_id(), layout.version(), layout.cycles(), layout.status(), layout.end(), layout.address_bits()),
        (0x40, 0x44, 0x48, 0x50, 0x60, 7)
    );
}

#[test]
fn scalars_have_their_own_widths_and_the_design_says_what_it_is() {
    let layout = Layout::single(vec![32, 8, 64, 16]);
    let mut h = Host::of(layout.clone(), 3);
    for (k, (value, wanted)) in
        [(0x8765_4321u32, 0x8765_4321u64), (0xabcd, 0xcd), (0x1111_2222, 0x1111_2222), (0x9_8765, 0x8765)]
            .into_iter()
            .enumerate()
    {
        h.write(layout.argument(0, k), value, 15);
        assert_eq!(
            (u64::from(h.read(layout.argument(0, k))), h.sim.get(&format!("arg_{k}"))),
            (wanted, wanted),
            "argument {k}"
        );
    }
    assert_eq!((h.read(layout.design_id()), h.read(layout.version())), (DESIGN, 7));
    h.write(layout.design_id(), 0, 15);
    assert_eq!(h.read(layout.design_id()), DESIGN, "read-only");
}

#[test]
fn a_run_starts_once_and_reports_its_end() {
    let layout = Layout::single(vec![64; 2]);
    let mut h = Host::new(2, 5);
    assert_eq!(h.read(0), 4, "idle");
    h.write(0x00, 1, 0b1110);
    assert_eq!((h.read(0), h.starts), (4, 0), "the strobe of bit 0 is not set");
    for cycles in [1u64, 37, 300] {
        let before = h.starts;
        h.sim.set("done", 0);
        h.write(0x04, 1, 15);
        h.write(0x08, 1, 15);
        // The write may return before or after the pulse, so watch for it from here on.
        h.set("awvalid", 1);
        h.set("awaddr", 0);
        h.set("wvalid", 1);
        h.set("wdata", 1);
        h.set("wstrb", 1);
        h.tick();
        h.set("awvalid", 0);
        h.set("wvalid", 0);
        h.set("bready", 1);
        h.kernel(cycles);
        h.set("bready", 0);
        assert_eq!(h.starts, before + 1);
        h.tick();
        assert_eq!(h.sim.get("interrupt"), 1);
        assert_eq!(h.read(0x0c), 1);
        assert_eq!(h.read(layout.cycles()), cycles as u32);
        assert_eq!(h.read(layout.cycles() + 4), 0);
        assert_eq!(h.read(0), 0b1110, "done, idle, ready");
        assert_eq!(h.read(0), 0b0100, "done and ready clear on read");
        h.write(0x0c, 1, 15);
        h.tick();
        h.tick();
        assert_eq!((h.sim.get("interrupt"), h.read(0x0c)), (0, 0));
    }
}

#[test]
fn auto_restart_runs_until_it_is_cleared() {
    let mut h = Host::new(1, 9);
    h.write(0x08, 3, 15);
    h.set("awvalid", 1);
    h.set("awaddr", 0);
    h.set("wvalid", 1);
    h.set("wdata", 0x81);
    h.set("wstrb", 1);
    h.set("bready", 1);
    h.tick();
    h.set("awvalid", 0);
    h.set("wvalid", 0);
    for _ in 0..3 {
        h.kernel(20);
    }
    assert_eq!(h.starts, 3);
    assert_eq!(h.read(0x0c), 3, "done and ready, the interrupt is masked");
    assert_eq!(h.sim.get("interrupt"), 0);
    h.write(0x00, 0, 1);
    h.sim.set("done", 1);
    h.tick();
    h.sim.set("done", 0);
    (0..10).for_each(|_| h.tick());
    assert_eq!((h.starts, h.read(0) & 5), (4, 4));
}

fn two_functions(queue: u32) -> Layout {
    Layout::of(vec![vec![64, 32], vec![16, 64, 64]], queue, false)
}

#[test]
fn functions_share_the_registers_of_their_arguments() {
    let layout = two_functions(8);
    let words: Vec<(u32, u32)> = layout.words().into_iter().collect();
    assert_eq!(words, [(0x10, 32), (0x14, 32), (0x18, 32), (0x1c, 32), (0x24, 32), (0x28, 32)]);
    assert_eq!(
        (layout.design_id(), layout.function(), layout.queue(), layout.end()),
        (0x30, Some(0x4c), Some([0x50, 0x54]), 0x5c)
    );
    let mut h = Host::of(two_functions(0), 9);
    h.longest = 5;
    for f in [1, 0, 0, 1] {
        let wanted = h.arguments(f);
        h.write(layout.function().unwrap(), f as u32, 1);
        h.write(0, 1, 1);
        while h.read(0) & 4 == 0 {}
        assert_eq!(h.log.last(), Some(&wanted));
    }
    // A third function does not exist: nothing starts, and the status says why.
    h.write(layout.function().unwrap(), 2, 1);
    h.write(0, 1, 1);
    while h.read(0) & 4 == 0 {}
    assert_eq!((h.starts, h.read(layout.status())), (4, 4 | 0xff << 16));
}

#[test]
fn commands_run_in_order_each_with_its_arguments() {
    for (seed, layout) in [two_functions(2), two_functions(8), Layout::of(vec![vec![64, 8]], 4, false)]
        .into_iter()
        .cycle()
        .take(12)
        .enumerate()
    {
        let [queue, ended] = layout.queue().unwrap();
        let mut h = Host::of(layout.clone(), seed as u64);
        h.longest = [3, 60, 600][seed % 3];
        let mut wanted = vec![];
        h.write(0x08, 8, 15);
        while wanted.len() < 40 {
            let f = h.r.range(0, layout.functions.len() as i64 - 1) as usize;
            let command = h.arguments(f);
            while h.read(queue) >> 16 == 0 {}
            h.write(queue, f as u32, 15);
            wanted.push(command);
        }
        while h.read(queue) & 0xffff != 0 {}
        assert_eq!(h.read(queue) >> 16, layout.queue);
        assert_eq!((h.read(ended), h.read(0)), (40, 4), "AP_DONE is not for commands");
        assert_eq!(h.log, wanted);
        assert_eq!(h.read(0x0c), 8, "none waits any more");
    }
}

#[test]
fn what_finds_no_place_is_ignored_and_the_hosts_own_run_comes_first() {
    let layout = two_functions(4);
    let [queue, ended] = layout.queue().unwrap();
    let mut h = Host::of(layout.clone(), 3);
    let mut wanted = vec![];
    for k in 0..6 {
        let command = h.arguments(k % 2);
        h.write(queue, k as u32 % 2, 15);
        wanted.extend((k < 4).then_some(command));
    }
    assert_eq!((h.read(queue), h.starts), (4, 1), "the first one runs, no place is free");
    let own = h.arguments(1);
    h.write(layout.function().unwrap(), 1, 15);
    h.write(0, 1, 1);
    wanted.insert(1, own);
    h.longest = 4;
    h.left = Some(0);
    while h.read(queue) & 0xffff != 0 {}
    assert_eq!(h.read(ended), 4);
    assert_eq!(h.log, wanted);
    assert_eq!(h.read(0), 0b1110, "AP_DONE tells of the host's own run");
}

/// Each stage begins the commands in their order, with their arguments; those that are not independent begin alone.
#[test]
fn stages_of_independent_commands_overlap() {
    let mut most = 0;
    for seed in 0..12 {
        let layout =
            Layout { overlap: true, ..[two_functions(2), two_functions(8), two_functions(16)][seed % 3].clone() };
        let [queue, ended] = layout.queue().unwrap();
        let mut h = Host::of(layout, seed as u64);
        h.longest = [3, 30, 300][seed / 3 % 3];
        let mut wanted = vec![];
        while wanted.len() < 40 {
            let f = h.r.range(0, 1) as usize;
            let command = h.arguments(f);
            while h.read(queue) >> 16 == 0 {}
            let (independent, more) = (h.r.range(0, 3) > 0, h.r.range(0, 3) > 0 && wanted.len() < 39);
            h.stages.independent.push(independent);
            wanted.push(command);
            let flags = u32::from(independent) << QUEUE_INDEPENDENT | u32::from(more) << QUEUE_MORE;
            h.write(queue, f as u32 | flags, 15);
        }
        while h.read(queue) & 0xffff != 0 {}
        assert_eq!((h.read(ended), h.read(0)), (40, 4));
        for log in &h.stages.logs {
            assert_eq!(*log, wanted);
        }
        most = most.max(h.stages.most);
    }
    assert!((4..=MOST_RUNS).contains(&most), "{most} at most");
}

/// A soft reset stops the run, empties the queue and keeps the arguments. The registers answer while the core is in its
/// reset; a run waits for its end.
#[test]
fn a_soft_reset_stops_the_run_and_the_queue() {
    let layout = two_functions(4);
    let [queue, ended] = layout.queue().unwrap();
    let mut h = Host::of(layout.clone(), 11);
    let command = h.arguments(1);
    for _ in 0..3 {
        h.write(queue, 1, 15);
    }
    assert_eq!((h.read(queue), h.starts, h.read(0) & 4), (1 << 16 | 3, 1, 0));
    h.sim.set("ready", 0);
    h.write(layout.soft_reset(), 1, 15);
    let stopped = 1 << STATUS_STOPPED;
    assert_eq!((h.read(layout.soft_reset()), h.read(0), h.read(layout.status())), (1, 0, stopped), "under way");
    assert_eq!((h.read(queue), h.read(ended)), (4 << 16, 0), "the queue is empty");
    h.write(layout.function().unwrap(), 1, 15);
    h.write(0, 1, 1);
    (0..50).for_each(|_| h.tick());
    assert_eq!((h.starts, h.read(0)), (1, 1), "the next run waits");
    h.sim.set("ready", 1);
    h.longest = 5;
    while h.read(0) & 4 == 0 {}
    assert_eq!((h.read(layout.soft_reset()), h.starts, h.log.last()), (0, 2, Some(&command)));
    h.write(layout.status(), STATUS_CAUSES, 15);
    h.write(layout.soft_reset(), 1, 15);
    (0..5).for_each(|_| h.tick());
    assert_eq!((h.read(0), h.read(layout.status())), (4, 0), "no run was stopped");
}

/// The core's reset comes a cycle after the bus's. The end and the faults that the core reports in that cycle belong to
/// no run.
#[test]
fn what_a_core_reports_in_its_reset_does_not_count() {
    let mut h = Host::new(1, 12);
    h.write(0, 1, 1);
    (0..5).for_each(|_| h.tick());
    assert_eq!(h.starts, 1);
    h.sim.set("rst", 1);
    h.tick();
    h.sim.set("rst", 0);
    for reported in [1, 0] {
        for report in ["done", "fault_read", "fault_write", "fault_outside"] {
            h.sim.set(report, reported);
        }
        h.sim.set("ready", 1 - reported);
        h.tick();
    }
    assert_eq!((h.read(0), h.read(h.layout.status()), h.read(IP_ISR)), (4, 0, 0));
}
