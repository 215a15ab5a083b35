//! The Verilog testbench: memories behind the AXI ports and a master on `s_axi_control`. It is made from the ports the
//! design really has. The texts are `bench.v.in` and `axi_memory.v`.

use super::{Image, Job, Timing};
use rtl::{Module, Verified};
use std::fmt::Write as _;

/// The Verilog memory model; a file of every simulation.
pub const MEMORY: &str = include_str!("axi_memory.v");
const BENCH: &str = include_str!("bench.v.in");

/// Signals of an AXI port as the memory model names them, with their widths in its own terms where they are tied to 0.
const INPUTS: [&str; 17] = [
    "arid", "araddr", "arlen", "arsize", "arburst", "arvalid", "rready", "awid", "awaddr", "awlen", "awsize", "awburst",
    "awvalid", "wdata", "wstrb", "wlast", "wvalid",
];
const OUTPUTS: [&str; 11] =
    ["arready", "rid", "rdata", "rresp", "rlast", "rvalid", "awready", "wready", "bid", "bresp", "bvalid"];

/// The top module: modules stand behind those they instantiate.
///
/// # Errors
/// The design is empty.
pub fn top(design: &Verified) -> Result<&Module, String> {
    design.modules().last().ok_or_else(|| "the design is empty".to_string())
}

/// Names of the files port `port`'s memory is read from and dumped to.
pub fn image_names(port: usize) -> (String, String) {
    (format!("memory_{port}.in.hex"), format!("memory_{port}.out.hex"))
}

/// Name of the module that makes its own clock, and of the one that is given one.
pub fn names(job: &Job) -> Result<(String, String), String> {
    let name = top(job.design)?.name.to_string();
    Ok((format!("tb_{name}"), format!("{name}_bench")))
}

/// The testbench's text, for the file `tb_<name>.v`.
///
/// # Errors
/// The design is empty.
pub fn text(job: &Job) -> Result<String, String> {
    let top = top(job.design)?;
    let ports: Vec<(String, u32)> = top.input_ports().chain(top.output_ports()).map(|(n, ty)| (n.to_string(), ty.w)).collect();
    let interface = job.interface();
    let (mut wires, mut connections) = (String::new(), String::new());
    for (name, width) in &ports {
        let range = if *width == 1 { String::new() } else { format!("[{}:0] ", width - 1) };
        if name != interface.reset {
            let _ = writeln!(wires, "    wire {range}{name};");
        }
        let wire = if name == interface.reset { "aresetn" } else { name };
        let _ = write!(connections, ",\n        .{name}({wire})");
    }
    let (mut memories, mut bases, mut faults) = (String::new(), String::new(), vec![]);
    let mut offsets = String::new();
    let settings = job.settings()?;
    for (k, (offset, value)) in settings.iter().enumerate() {
        let _ = writeln!(bases, "            {k}: setting = 32'h{value:x};");
        let _ = writeln!(offsets, "            {k}: offset = 32'h{offset:02x};");
    }
    for port in 0..job.vsa.ports() {
        memories.push_str(&memory(job, port, &interface.ports[port].name, &ports));
        faults.push(format!("faults_{port}"));
    }
    let faults = if faults.is_empty() { "0".to_string() } else { faults.join(" + ") };
    let tokens = [
        ("@NAME@", top.name.to_string()),
        ("@CLOCK@", interface.clock.to_string()),
        ("@SETTINGS@", settings.len().to_string()),
        ("@OFFSETS@", offsets),
        ("@COUNTER@", format!("{:02x}", interface.layout.cycles())),
        ("@STATUS@", format!("{:02x}", interface.layout.status())),
        ("@WATCHDOG@", job.watchdog.to_string()),
        ("@WIRES@", wires),
        ("@CONNECTIONS@", connections),
        ("@MEMORIES@", memories),
        ("@VALUES@", bases),
        ("@FAULTS@", faults),
    ];
    Ok(tokens.iter().fold(BENCH.to_string(), |text, (token, value)| text.replace(token, value)))
}

/// One number an image, the first one lowest.
fn packed(images: &[&Image], number: impl Fn(&Image) -> u64) -> String {
    let numbers: Vec<_> = images.iter().rev().map(|i| format!("64'h{:x}", number(i))).collect();
    format!("{{{}}}", numbers.join(", "))
}

/// The instance of the memory model behind AXI port `k`. Signals the design lacks are tied to 0 or left open.
fn memory(job: &Job, k: usize, port: &str, ports: &[(String, u32)]) -> String {
    let (images, bytes) = (job.behind(k), job.beat(k));
    let names: Vec<_> = job.vsa.arrays_of(k).map(|a| job.vsa.arrays[a].name.as_str()).collect();
    let (input, output) = image_names(k);
    let ddr = matches!(job.timing, Timing::Ddr { .. }) as u32;
    let mut text = format!("    // {}\n    wire [31:0] faults_{k};\n    axi_memory #(\n", names.join(", "));
    let parameters = [
        ("BYTES", bytes.to_string()),
        ("REGIONS", images.len().to_string()),
        ("START", packed(&images, |i| i.start)),
        ("STOP", packed(&images, |i| i.start + i.bytes.len() as u64)),
        ("FIRST", packed(&images, |i| i.base())),
        ("BEYOND", packed(&images, |i| i.base() + i.size as u64)),
        ("WORDS", (images.iter().map(|i| i.bytes.len()).sum::<usize>() / bytes).to_string()),
        ("LATENCY", job.timing.latency().to_string()),
        ("DDR", ddr.to_string()),
        ("SEED", format!("32'h{:x}", job.timing.state(k))),
        ("INPUT", format!("{input:?}")),
        ("OUTPUT", format!("{output:?}")),
    ];
    let list: Vec<_> = parameters.iter().map(|(name, value)| format!("        .{name}({value})")).collect();
    let _ = writeln!(text, "{}\n    ) memory_{k} (", list.join(",\n"));
    let has = |name: &str| ports.iter().any(|p| p.0 == format!("{port}_{name}"));
    let tied = |name: &&str| if has(name) { format!("        .{name}({port}_{name})") } else { format!("        .{name}(0)") };
    let open = |name: &&str| if has(name) { format!("        .{name}({port}_{name})") } else { format!("        .{name}()") };
    let own = ["aclk(aclk)", "aresetn(aresetn)", "dump(dump)"].map(|c| format!("        .{c}"));
    let all = own.into_iter().chain([format!("        .faults(faults_{k})")]).chain(INPUTS.iter().map(tied)).chain(["bready"].iter().map(tied));
    let all: Vec<_> = all.chain(OUTPUTS.iter().map(open)).collect();
    let _ = writeln!(text, "{}\n    );\n", all.join(",\n"));
    text
}
