//! The Verilog testbench: memories behind the AXI ports and a master on `s_axi_control`. It follows the ports of the
//! design. The texts are `bench.v.in` and `axi_memory.v`.

use super::verdict::{self, Judge};
use super::{Image, Job, Run, Timing};
use array::contract::dram::MemoryTiming;
use rtl::{Module, Verified};
use std::fmt::Write as _;
use templates::interface::IP_ISR;

/// The Verilog memory model; a file of every simulation.
pub const MEMORY: &str = include_str!("axi_memory.v");
const BENCH: &str = include_str!("bench.v.in");

/// Signals of an AXI port by the names of the memory model. Signals that may be tied to 0 have a width in its terms.
const INPUTS: [&str; 17] = [
    "arid", "araddr", "arlen", "arsize", "arburst", "arvalid", "rready", "awid", "awaddr", "awlen", "awsize",
    "awburst", "awvalid", "wdata", "wstrb", "wlast", "wvalid",
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

/// Names of the files with the memory of port `port` before and after a run.
pub fn image_names(port: usize) -> (String, String) {
    (format!("memory_{port}.in.hex"), format!("memory_{port}.out.hex"))
}

/// Name of the module with its own clock, and of the module with a clock input.
pub fn names(job: &Job) -> Result<(String, String), String> {
    let name = top(&job.built.design)?.name.to_string();
    Ok((format!("tb_{name}"), format!("{name}_bench")))
}

/// The testbench's text, for the file `tb_<name>.v`. Memories have the board's timing and runs end after `watchdog`
/// cycles unless the simulation is given [`arguments`]. With a `judge` the testbench compares the memories itself.
///
/// # Errors
/// The design is empty.
pub fn text(job: &Job, watchdog: u64, judge: Option<&Judge>) -> Result<String, String> {
    let top = top(&job.built.design)?;
    let ports: Vec<(String, u32)> =
        top.input_ports().chain(top.output_ports()).map(|(n, ty)| (n.to_string(), ty.w)).collect();
    let interface = &job.built.interface;
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
    let settings = steps(job)?;
    for (k, (offset, value)) in settings.iter().flatten().enumerate() {
        let _ = writeln!(bases, "            {k}: setting = 32'h{value:x};");
        let _ = writeln!(offsets, "            {k}: offset = 32'h{offset:02x};");
    }
    for port in 0..interface.ports.len() {
        memories.push_str(&memory(job, port, &interface.ports[port].name, &ports, judge));
        faults.push(format!("faults_{port}"));
    }
    let faults = if faults.is_empty() { "0".to_string() } else { faults.join(" + ") };
    let tokens = [
        ("@NAME@", top.name.to_string()),
        ("@CLOCK@", interface.clock.to_string()),
        ("@SETTINGS@", settings[0].len().to_string()),
        ("@AT@", if settings.len() > 1 { "run * SETTINGS + step" } else { "step" }.to_string()),
        ("@BETWEEN@", if settings.len() > 1 { " && step != LAST + 6".into() } else { String::new() }),
        ("@RUN@", if settings.len() > 1 { RUN.into() } else { String::new() }),
        (
            "@NEXT@",
            if settings.len() > 1 {
                NEXT.replace("@LAST_RUN@", &(settings.len() - 1).to_string())
                    .replace("@SEEN@", if judge.is_some() { verdict::SEEN } else { "" })
            } else {
                String::new()
            },
        ),
        ("@OFFSETS@", offsets),
        ("@COUNTER@", format!("{:02x}", interface.layout.cycles())),
        ("@STATUS@", format!("{:02x}", interface.layout.status())),
        ("@WATCHDOG@", watchdog.to_string()),
        ("@WIRES@", wires),
        ("@CONNECTIONS@", connections),
        ("@ABOUT@", judge.map_or("", |_| ", and the verdict: PASS or FAIL").to_string()),
        ("@REAL@", judge.map_or("", |_| verdict::DECLARATIONS).to_string()),
        ("@PROGRESS@", judge.map_or(String::new(), |judge| judge.progress())),
        ("@VERDICT@", judge.map_or(String::new(), |judge| judge.text(job))),
        ("@MEMORIES@", memories),
        ("@VALUES@", bases),
        ("@FAULTS@", faults),
    ];
    Ok(tokens.iter().fold(BENCH.to_string(), |text, (token, value)| text.replace(token, value)))
}

/// The plusargs of a simulation: the memories' timing and the watchdog.
pub fn arguments(job: &Job) -> [String; 2] {
    let memory = match job.timing {
        Timing::Ideal { latency } => format!("+latency={latency}"),
        Timing::Board => "+board".into(),
        Timing::Ddr { seed } => format!("+ddr={}", seed as u32),
    };
    [memory, format!("+watchdog={}", job.watchdog)]
}

/// The writes before each run. All runs have equally many: the last one is repeated. A run clears the interrupt of the
/// run before.
fn steps(job: &Job) -> Result<Vec<Vec<(u32, u32)>>, String> {
    let mut all = vec![];
    for (k, run) in job.runs.iter().enumerate() {
        let back = (k > 0).then_some((IP_ISR, 1));
        all.push(back.into_iter().chain(job.settings(run)?).collect::<Vec<_>>());
    }
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    for own in &mut all {
        let last = *own.last().ok_or("a run without arguments")?;
        own.resize(most, last);
    }
    Ok(all)
}

/// With several runs: their number, and the step from one to the next.
const RUN: &str = "    integer run;\n    initial run = 0;\n";
const NEXT: &str = r#"        if (aresetn && step == LAST + 6 && run < @LAST_RUN@) begin
            $display("SAGEN cycles=%0d timeout=%0d faults=%0d status=%0d error_address=%0d", cycles, timed_out, @FAULTS@, status, status == 0 ? 64'd0 : error_address);
@SEEN@            run <= run + 1;
            step <= 0;
        end else
"#;

/// One number for each image; the first one has the lowest bits.
fn packed(images: &[&Image], number: impl Fn(&Image) -> u64) -> String {
    let numbers: Vec<_> = images.iter().rev().map(|i| format!("64'h{:x}", number(i))).collect();
    format!("{{{}}}", numbers.join(", "))
}

/// The board's memory behind a port: latency; parts of a cycle for a beat and cycles of the shortest burst, of reads
/// and of writes. 32 bits each.
fn board(job: &Job, port: usize) -> String {
    let one = |run: &Run| {
        let MemoryTiming { read_latency, read, write, .. } = run.memory.of(port);
        let numbers = [read_latency, read.beat, read.least, write.beat, write.least];
        format!("{{{}}}", numbers.map(|n| format!("32'd{n}")).join(", "))
    };
    let all: Vec<String> = job.runs.iter().map(one).collect();
    let Some((last, before)) = all.split_last() else { return "160'd0".into() };
    if before.iter().all(|b| b == last) {
        return last.clone();
    }
    let chosen: String = before.iter().enumerate().map(|(k, b)| format!("run == {k} ? {b} :\n        ")).collect();
    chosen + last
}

/// One word, in the place of the images of a port that no run uses.
pub fn vacant(job: &Job, port: usize) -> Option<Image> {
    let beat = job.beat(port);
    job.behind(port).is_empty().then(|| Image { start: 0, bytes: vec![0; beat], offset: 0, size: beat })
}

/// The instance of the memory model behind AXI port `k`. Signals the design lacks are tied to 0 or left open.
fn memory(job: &Job, k: usize, port: &str, ports: &[(String, u32)], judge: Option<&Judge>) -> String {
    let (vacant, bytes) = (vacant(job, k), job.beat(k));
    let images = if vacant.is_some() { vacant.iter().collect() } else { job.behind(k) };
    let mut moved: Vec<_> = job.built.interface.behind(&job.built.interface.ports[k]).collect();
    moved.sort_by_key(|a| a.array().map(|_| a.own));
    let names: Vec<_> = moved.iter().map(|a| a.name.as_str()).collect();
    let (input, output) = image_names(k);
    let mut text = format!(
        "    // {}\n    wire [31:0] faults_{k};\n    wire [159:0] board_{k} = {};\n{}    axi_memory #(\n",
        names.join(", "),
        board(job, k),
        judge.map_or(String::new(), |_| verdict::wires(k))
    );
    let parameters = [
        ("BYTES", bytes.to_string()),
        ("REGIONS", images.len().to_string()),
        ("START", packed(&images, |i| i.start)),
        ("STOP", packed(&images, |i| i.start + i.bytes.len() as u64)),
        ("FIRST", packed(&images, |i| i.base())),
        ("BEYOND", packed(&images, |i| i.base() + i.size as u64)),
        ("WORDS", (images.iter().map(|i| i.bytes.len()).sum::<usize>() / bytes).to_string()),
        ("PORT", k.to_string()),
        ("INPUT", format!("{input:?}")),
        ("OUTPUT", format!("{output:?}")),
    ];
    let judged = judge.map_or(vec![], |judge| judge.parameters(job, k));
    let list: Vec<_> =
        parameters.iter().chain(&judged).map(|(name, value)| format!("        .{name}({value})")).collect();
    let _ = writeln!(text, "{}\n    ) memory_{k} (", list.join(",\n"));
    let has = |name: &str| ports.iter().any(|p| p.0 == format!("{port}_{name}"));
    // Addresses of 32 bits are extended.
    let narrow =
        |name: &str| ports.iter().any(|p| p.0 == format!("{port}_{name}") && name.ends_with("addr") && p.1 == 32);
    let tied = |name: &&str| match has(name) {
        true if narrow(name) => format!("        .{name}({{32'd0, {port}_{name}}})"),
        true => format!("        .{name}({port}_{name})"),
        false => format!("        .{name}(0)"),
    };
    let open =
        |name: &&str| if has(name) { format!("        .{name}({port}_{name})") } else { format!("        .{name}()") };
    let own = ["aclk(aclk)", "aresetn(aresetn)", "dump(dump)"].map(|c| format!("        .{c}"));
    let all = own
        .into_iter()
        .chain([format!("        .faults(faults_{k})"), format!("        .board(board_{k})")])
        .chain(verdict::OUTPUTS.iter().map(|name| match judge {
            Some(_) => format!("        .{name}({name}_{k})"),
            None => format!("        .{name}()"),
        }))
        .chain(INPUTS.iter().map(tied))
        .chain(["bready"].iter().map(tied));
    let all: Vec<_> = all.chain(OUTPUTS.iter().map(open)).collect();
    let _ = writeln!(text, "{}\n    );\n", all.join(",\n"));
    text
}
