//! Several functions in one IP: `tests/functions/*.c`, with the options in their lines `// sagen:`. Each function, and
//! then a random sequence of them with resets in between, must compute what C does, in the predicted cycles with ideal
//! memory.

use crate::common::{all_pass, c_files, lines_of_options, root, sim};
use array::contract::dram::MemoryTiming;
use array::contract::walk::{alignment, Walk};
use clap::Parser;
use sagen::cli::{Cli, Command};
use sagen::command;
use sagen::program::Work;
use sagen::reporter::Silent;

#[test]
fn every_function_computes_what_c_does_whatever_ran_before() {
    let runs = all_pass(&lines_of_options(c_files("tests/functions")), |file, line| {
        let mut arguments = sim(line, file).expect("options");
        arguments.json = true;
        let exact = !arguments.memory.to_string().starts_with("ddr");
        let output = command::run(&Command::Sim(arguments), &Silent).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(output.code, 0, "{}", output.text);
        let report: serde_json::Value = serde_json::from_str(&output.text).expect("JSON");
        for (name, own) in report["functions"].as_object().expect("several functions") {
            assert!(!exact || own["cycles"] == own["predicted_cycles"], "{name}");
        }
        assert_eq!(report["sequence"]["cycles_checked"], exact);
        report["sequence"]["runs"].as_u64().expect("runs")
    });
    assert!(runs.iter().sum::<u64>() >= 100);
}

/// The cycles of docs/functions.md: four commands, one after the other and overlapping, with the memory of the board and with the
/// ideal one.
#[test]
fn independent_commands_overlap() {
    let cycles = |options: &str| {
        let options = format!("--board zcu104 --function addv,subv,pmulv,mulsv {options}");
        let arguments = sim(&options, &root("examples/la/kernels.c")).expect("options");
        let work = Work::load(&arguments.program, &arguments.design, &Silent).unwrap_or_else(|why| panic!("{why}"));
        let all = work.compile(&Silent).unwrap_or_else(|why| panic!("{why}"));
        let named = |name: &str| work.functions.iter().position(|f| f.0.scop.name == name).expect("a function");
        let order = ["addv", "subv", "pmulv", "mulsv"].map(named);
        let last = |independent: bool, memory: Option<MemoryTiming>| {
            let commands: Vec<_> = order.iter().map(|f| (&all[*f], independent)).collect();
            search::predict_commands(&commands, memory).last().map_or(0, |run| run.done)
        };
        [None, Some(MemoryTiming::IDEAL)].map(|memory| [last(false, memory), last(true, memory)])
    };
    assert_eq!(cycles("--merge --queue 4 --overlap"), [[982, 319], [342, 159]]);
    let file = root("tests/functions/vectors.toml");
    assert_eq!(cycles(&format!("--design {}", file.display())), [[998, 290], [358, 130]]);
}

/// The text of the merged array of a file's functions.
fn merged(file: &str, options: &str) -> String {
    let file = root(file).to_string_lossy().into_owned();
    let arguments = ["sagen", "rtl", &file, "--merge", "--emit=vsa"].into_iter().chain(options.split_whitespace());
    let Cli { command, .. } = Cli::try_parse_from(arguments).expect("a command");
    command::run(&command, &Silent).unwrap_or_else(|why| panic!("{why}")).text
}

fn groups(text: &str) -> Vec<&str> {
    text.lines().filter_map(|l| l.trim_start().strip_prefix("runs ")).collect()
}

/// Groups that differ in nothing but the array behind them are one.
#[test]
fn functions_that_are_alike_have_their_io_in_common() {
    let text = merged("tests/functions/alike.c", "");
    assert_eq!(groups(&text), ["0 add_A 1 weigh_X", "0 add_B 1 weigh_Y", "0 add_C 1 weigh_Z"], "{text}");
}

/// Layers with arrays of unlike extents in equal tiles have one PE and the same groups; one whose last tile ends behind its
/// array has groups of its own.
#[test]
fn layers_in_equal_tiles_have_one_pe() {
    let tiles = "--space r,i --order o,r,c,i,p,q --tile o=4,r=2,c=2,i=4 --simd o=2 --word X=4,W=4,Y=4";
    let layers = |options: &str| merged("tests/functions/layers.c", &format!("{tiles} {options}"));
    let text = layers("--function quarter,wide,flat,deep");
    let of = |array: &str| format!("0 quarter_{array} 1 wide_{array} 2 flat_{array} 3 deep_{array}");
    assert_eq!(groups(&text), [of("X"), of("W"), of("Y")], "{text}");
    assert_eq!(text.matches(" = mul ").count(), 2, "{text}");
    assert_eq!(groups(&layers("")).len(), 6);
}

/// What is stored leaves by the one writer that all have, and a triangle's strips share a group with the tiles of a
/// square.
#[test]
fn functions_find_the_engines_of_others() {
    let text = merged("examples/la/blas.c", "--board zcu104 --grid 4x1");
    assert!(groups(&text).contains(&"4 gemm_A 5 trmm_A"), "{text}");
    for array in ["gemv_y", "trmv_y", "ger_A", "gemm_C", "trmm_C"] {
        let line = text.lines().find(|l| l.starts_with(&format!("array {array}:"))).unwrap_or_default();
        assert!(line.ends_with("port 0"), "{text}");
    }
}

/// Groups of unlike tiles use the same feeders and collectors.
#[test]
fn functions_with_unlike_tiles_share_buffers() {
    let text = merged("examples/la/blas.c", "--board zcu104 --grid 4x1");
    let guests = |kind: &str| {
        let mut all = text.split("\n\n").filter(|group| group.starts_with(kind));
        all.by_ref().filter(|group| group.contains("\n  buffers of ")).count()
    };
    assert!(guests("input ") >= 5 && guests("output ") >= 2, "{text}");
}

/// A group of functions whose last phases differ, on one port: the walk of each function stays in the phase that serves it.
#[test]
fn last_phases_that_differ_share_a_port() {
    let mut arguments =
        sim("--board zcu104 --merge --grid 1x1x2 --objective cycles", &root("examples/la/corr.c")).expect("sim");
    arguments.json = true;
    let output = command::run(&Command::Sim(arguments), &Silent).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(output.code, 0, "{}", output.text);
    let report: serde_json::Value = serde_json::from_str(&output.text).expect("JSON");
    for (name, own) in report["functions"].as_object().expect("several functions") {
        assert_eq!(own["cycles"], own["predicted_cycles"], "{name}");
    }
}

/// Memories on chip hold what is of one run, so functions have them together, unless runs overlap.
#[test]
fn functions_have_memories_on_chip_together() {
    let memories = |options: &str| {
        let options = format!("--function center_reduce,corr --board zcu104 --grid 4 {options}");
        let text = merged("tests/functions/memories.c", &options);
        text.lines().filter(|line| line.starts_with("array ") && line.ends_with(" on_chip")).count()
    };
    assert_eq!(memories(""), 3);
    assert_eq!(memories("--queue 2 --overlap"), 5);
}

/// Engines have gates and ends of rows for the functions whose tiles reach beyond what they store, not because other functions
/// have longer loops. A single number begins a word where it shares a port with matrices.
#[test]
fn engines_check_only_what_some_function_needs() {
    let options = "-D T=_Float16 --board zcu104 --grid 1 --function mulmm,pmulv,addm,addtrm,muls,setd1";
    let text = merged("examples/la/kernels.c", options);
    let vsa = array::text::parse(&text).expect("the text of an array");
    let walks: Vec<Walk> = Walk::all(&vsa).into_iter().flatten().flatten().collect();
    let checked = walks.iter().flat_map(|w| &w.groups).filter(|g| !g.is_whole());
    let names: Vec<&str> = checked.flat_map(|g| &g.arrays).map(|&k| vsa.arrays[k].name.as_str()).collect();
    assert_eq!(names, ["addtrm_C", "setd1_C"], "{text}");
    let single = vsa.arrays.iter().position(|a| a.name == "muls_c").expect("it is stored");
    assert_eq!(alignment(&vsa, single), vsa.bus_bytes(vsa.port_of(single as u32)), "{text}");
}

/// Layers of which one reads whole rows: the input has groups of their own, but a product of both is one, with its sum.
#[test]
fn layers_with_unlike_rows_share_products_that_are_added() {
    let text = merged(
        "examples/layer.c",
        "--network examples/vgg16.toml --function layer_conv1_2,layer_conv3_2 --space o,r --order o,r,c,i,p,q \
        --tile c=14,i=64,o=32,p=1,q=1,r=2 --simd i=16 --word W=64,X=64,Y=16",
    );
    assert_eq!(groups(&text).len(), 4, "{text}");
    assert_eq!(text.matches(" = mul ").count(), 16, "{text}");
}
