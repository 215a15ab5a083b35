//! What a waveform holds and how a viewer shows it: a save file for GTKWave, a file of commands for Surfer.

use rtl::{Module, Ty, Verified};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use templates::Interface;

/// A waveform to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waves {
    pub path: PathBuf,
    /// The first and the last cycle; all without.
    pub cycles: Option<(u64, u64)>,
    /// Row and column of the PEs; all without. With it feeders, collectors and relays are left out, too.
    pub pes: Option<Vec<[u64; 2]>>,
}

impl Waves {
    /// All signals in all cycles.
    pub fn all(path: PathBuf) -> Waves {
        Waves { path, cycles: None, pes: None }
    }

    /// Whether the signals of an instance are written; `scope` are the instances from the top down.
    pub fn has(&self, scope: &[String]) -> bool {
        let Some(pes) = &self.pes else { return true };
        let one_of_many = |name: &&String| name.ends_with(']');
        let chosen = |name: &String| pes.iter().any(|[row, column]| *name == format!("pe[{row}][{column}]"));
        scope.iter().filter(one_of_many).all(chosen)
    }

    /// The files for viewers beside the waveform, and their texts.
    pub fn views(&self, interface: &Interface, signals: &[Signal]) -> [(PathBuf, String); 2] {
        let groups = groups(interface, signals);
        let name = self.path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        [(beside(&self.path, "gtkw"), gtkwave(&name, &groups)), (beside(&self.path, "sucl"), surfer(&groups))]
    }
}

fn beside(path: &Path, extension: &str) -> PathBuf {
    path.with_extension(extension)
}

/// A signal of a waveform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Instances from the top down, the top included, such as `mm.array.pe[0][1]`.
    pub scope: String,
    pub name: String,
    pub width: u32,
}

/// Signals under a title.
pub struct Group {
    title: String,
    signals: Vec<Signal>,
}

/// At most this many PEs have a group.
const PES: usize = 4;

/// The signals that a view shows: clock and registers, each AXI port by channel, the waves that the sequencer launches,
/// the first PEs.
pub fn groups(interface: &Interface, signals: &[Signal]) -> Vec<Group> {
    let top = signals.first().map_or("", |s| s.scope.as_str());
    let in_top = |s: &&Signal| s.scope == top;
    let named = |wanted: &dyn Fn(&str) -> bool| -> Vec<Signal> {
        signals.iter().filter(in_top).filter(|s| wanted(&s.name)).cloned().collect()
    };
    let of_port = |port: &str| named(&|name| name.strip_prefix(port).is_some_and(|rest| rest.starts_with('_')));
    let mut all = vec![
        group("IP", named(&|name| [interface.clock, interface.reset, interface.interrupt].contains(&name))),
        group(interface.control, of_port(interface.control)),
    ];
    for port in &interface.ports {
        let arrays: Vec<&str> = interface.behind(port).map(|a| a.name.as_str()).collect();
        let own = of_port(&port.name);
        for (channel, what) in [
            ("ar", "read addresses"),
            ("r", "read data"),
            ("aw", "write addresses"),
            ("w", "write data"),
            ("b", "responses"),
        ] {
            let of = own.iter().filter(|s| channel_of(&s.name[port.name.len() + 1..]) == channel).cloned().collect();
            all.push(group(&format!("{} ({}): {what}", port.name, arrays.join(", ")), of));
        }
    }
    all.push(group("waves", signals.iter().filter(|s| is_sequencer(s, top)).cloned().collect()));
    let mut pes: Vec<&str> = signals
        .iter()
        .map(|s| s.scope.as_str())
        .filter(|scope| last(scope) == "pe" || last(scope).starts_with("pe["))
        .collect();
    pes.dedup();
    for pe in pes.into_iter().take(PES) {
        all.push(group(&pe[top.len() + 1..], signals.iter().filter(|s| s.scope == pe).cloned().collect()));
    }
    all.into_iter().filter(|group| !group.signals.is_empty()).collect()
}

fn group(title: &str, signals: Vec<Signal>) -> Group {
    Group { title: title.to_string(), signals }
}

fn last(scope: &str) -> &str {
    scope.rsplit('.').next().unwrap_or(scope)
}

/// `ar` of `araddr`.
fn channel_of(signal: &str) -> &str {
    ["aw", "ar", "w", "b", "r"].into_iter().find(|channel| signal.starts_with(channel)).unwrap_or("")
}

/// What the sequencer tells the array: inside of it, or as wires of the IP.
fn is_sequencer(signal: &Signal, top: &str) -> bool {
    let told = |name: &str| {
        ["valid", "start", "running", "fire"].contains(&name)
            || ["time", "guard", "slot", "release"].iter().any(|kind| name.starts_with(kind))
    };
    match signal.scope == top {
        true => signal.name.strip_prefix("sequencer_").is_some_and(told),
        false => last(&signal.scope) == "sequencer" && told(&signal.name) && !signal.name.ends_with("_q"),
    }
}

/// The full name.
fn path(signal: &Signal) -> String {
    format!("{}.{}", signal.scope, signal.name)
}

/// A save file of GTKWave.
pub fn gtkwave(dump: &str, groups: &[Group]) -> String {
    let mut text = format!("[dumpfile] \"{dump}\"\n[timestart] 0\n");
    for Group { title, signals } in groups {
        let _ = writeln!(text, "@200\n-{title}");
        for signal in signals {
            let _ = match signal.width {
                1 => writeln!(text, "@28\n{}", path(signal)),
                width => writeln!(text, "@22\n{}[{}:0]", path(signal), width - 1),
            };
        }
    }
    text
}

/// Commands of Surfer.
pub fn surfer(groups: &[Group]) -> String {
    let mut text = String::new();
    for Group { title, signals } in groups {
        let _ = writeln!(text, "divider_add {title}");
        for signal in signals {
            let _ = writeln!(text, "variable_add {}", path(signal));
        }
    }
    text + "zoom_fit\n"
}

/// The signals of an IP's ports, of what the sequencer tells the array, and of the first PE, if the emitted Verilog is the
/// instance `dut`.
pub fn of_verilog(design: &Verified, interface: &Interface, dut: &str) -> Vec<Signal> {
    let Some(top) = design.modules().last() else { return vec![] };
    let signal = |(name, ty): (&str, Ty)| Signal { scope: dut.into(), name: name.into(), width: ty.w };
    let mut all = vec![Signal { scope: dut.into(), name: interface.clock.into(), width: 1 }];
    all.extend(top.input_ports().chain(top.output_ports()).map(signal));
    for inst in top.insts.iter().filter(|inst| inst.name == "sequencer") {
        let out = |(name, ty, node): &(String, Ty, Option<_>)| {
            node.is_some().then(|| signal((&format!("{}_{name}", inst.name), *ty)))
        };
        all.extend(inst.outs.iter().filter_map(out));
    }
    all.extend(first_pe(design, top, dut));
    all
}

/// The ports of the first PE below a module.
fn first_pe(design: &Verified, module: &Module, scope: &str) -> Vec<Signal> {
    for inst in &module.insts {
        let Some(below) = design.modules().iter().find(|m| m.name == inst.module) else { continue };
        let place = format!("{scope}.{}{}", inst.name, if inst.grid.is_some() { "[0]" } else { "" });
        if inst.name == "pe" {
            let signal = |(name, ty): (&str, Ty)| Signal { scope: place.clone(), name: name.into(), width: ty.w };
            return below.input_ports().chain(below.output_ports()).map(signal).collect();
        }
        let found = first_pe(design, below, &place);
        if !found.is_empty() {
            return found;
        }
    }
    vec![]
}
