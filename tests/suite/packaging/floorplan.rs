//! The floorplan of an array that is cut: its patterns find each band, what is beside the first one, what leads to memories on
//! other dies, and all registers between dies, wherever the IP stands; and nothing but registers leads from die to die.

use super::emitted::{emitted, run, tool, Emitted};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Cases whose arrays are cut along one axis and the other, one with several cores, one of several functions, one whose
/// values move both ways, and two with memories on dies without a band, above the others and below.
const CUT: [(&str, usize); 7] = [
    ("cut_rows", 3),
    ("cut_columns", 2),
    ("cut_functions", 2),
    ("cut_merged", 3),
    ("cut_both_ways", 3),
    ("cut_far", 2),
    ("cut_below", 2),
];

/// A line of the file: property, value, patterns.
struct Constraint {
    property: String,
    value: String,
    patterns: Vec<String>,
}

fn constraints(ip: &Emitted) -> Vec<Constraint> {
    let text = ip.text(&format!("constraints/{}_floorplan.xdc", ip.kernel));
    let one = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        Constraint { property: words[1].into(), value: words[2].into(), patterns: patterns(line) }
    };
    text.lines().filter(|line| line.starts_with("set_property")).map(one).collect()
}

/// The patterns for names in a line. `REF_NAME` is not a name of a cell.
fn patterns(line: &str) -> Vec<String> {
    let names = line.split("NAME =~ ").skip(1).map(|p| p.split([' ', '}', ')']).next().unwrap().to_string());
    names.collect()
}

/// `*` is any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((first, rest)) => name.strip_prefix(first).is_some_and(|left| {
            (0..=left.len()).filter(|&k| left.is_char_boundary(k)).any(|k| matches(rest, &left[k..]))
        }),
    }
}

fn found<'a>(patterns: &[String], names: impl Iterator<Item = &'a String>) -> BTreeSet<&'a String> {
    names.filter(|name| patterns.iter().any(|p| matches(p, name))).collect()
}

/// The modules after these passes of Yosys.
fn netlist(ip: &Emitted, passes: &str) -> Value {
    let json = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "read_verilog rtl/*.v; hierarchy -top {}; proc; {passes}write_json {}",
        ip.kernel,
        json.path().display()
    );
    run(tool("yosys").current_dir(&ip.dir).args(["-q", "-p", &script]));
    serde_json::from_str(&std::fs::read_to_string(json.path()).unwrap()).unwrap()
}

/// Instances by their names with slashes, below a module.
fn instances(netlist: &Value, module: &str, path: &str, all: &mut Vec<String>) {
    for (name, cell) in netlist["modules"][module]["cells"].as_object().unwrap() {
        let of = cell["type"].as_str().unwrap();
        if netlist["modules"][of].is_object() {
            all.push(format!("{path}{name}"));
            instances(netlist, of, &format!("{path}{name}/"), all);
        }
    }
}

fn bits(connection: &Value) -> impl Iterator<Item = u64> + '_ {
    connection.as_array().unwrap().iter().filter_map(Value::as_u64)
}

/// Dies from that of the first band to that of a band, a station or an engine with this name.
fn dies(instance: &str) -> Option<i64> {
    let number = |text: &str| text.parse::<i64>().ok();
    if let Some(band) = instance.strip_prefix("band") {
        return number(band);
    }
    match instance.strip_prefix("station").and_then(|station| station.split_once('_')) {
        Some((_, way)) => way.strip_prefix("up").and_then(number).or_else(|| Some(-number(way.strip_prefix("down")?)?)),
        None => ["reader", "writer", "sequencer"].iter().any(|engine| instance.starts_with(engine)).then_some(0),
    }
}

/// The core of a cell of the flat netlist, and the dies from that of the core's first band to its own.
fn place(cell: &str) -> Option<(i64, i64)> {
    let mut parts = cell.split(['\\', '.']);
    let core = parts.clone().find_map(|part| part.strip_prefix("core")?.parse().ok());
    Some((core.unwrap_or(0), parts.find_map(dies)?))
}

#[test]
fn each_band_is_found_and_stands_on_a_die() {
    for (name, bands) in CUT {
        let ip = emitted(name);
        let mut cells = vec![];
        instances(&netlist(ip, ""), &ip.kernel, "", &mut cells);
        let mut dies: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
        for constraint in constraints(ip).iter().filter(|c| c.property == "USER_SLR_ASSIGNMENT") {
            let own = found(&constraint.patterns, cells.iter());
            assert_eq!(own.len(), 1, "{name}: {own:?}");
            // The same where the IP is an instance of a design.
            let nested: Vec<String> = cells.iter().map(|c| format!("shell/u_ip/{c}")).collect();
            assert_eq!(found(&constraint.patterns, nested.iter()).len(), 1, "{name}");
            dies.entry(constraint.value.clone()).or_default().extend(own);
        }
        let mut with_bands = 0;
        for (die, cells) in &dies {
            let number = |die: &str| die.strip_prefix("SLR").unwrap().parse::<i64>().unwrap();
            let first = dies.iter().find(|(_, cells)| cells.iter().any(|c| c.ends_with("array/band0"))).unwrap().0;
            let away = number(die) - number(first);
            with_bands += usize::from(cells.iter().any(|c| c.ends_with(&format!("array/band{away}"))));
            let all_here =
                |cell: &&&String| self::dies(cell.rsplit('/').next().unwrap()).is_none_or(|dies| dies == away);
            assert!(cells.iter().all(|cell| all_here(&cell)), "{name}: {cells:?} on {die}");
        }
        assert_eq!(with_bands, bands, "{name}: {dies:?}");
        let once: usize = dies.values().map(BTreeSet::len).sum();
        let all: BTreeSet<&String> = dies.into_values().flatten().collect();
        assert_eq!(all.len(), once, "{name}: a cell on two dies");
        let placed = |cell: &&String| {
            let last = cell.rsplit('/').next().unwrap();
            let parent = cell.rsplit('/').nth(1).unwrap_or("");
            self::dies(last).is_some() && (!last.starts_with("band") || parent == "array")
        };
        assert!(cells.iter().filter(placed).all(|c| all.contains(c)), "{name}: without a die");
    }
}

#[test]
fn a_port_ends_on_the_die_of_its_memory() {
    let expected = |dies: &[&str]| dies.iter().map(|die| die.to_string()).collect::<Vec<_>>();
    for (name, memories) in [
        ("cut_rows", expected(&["SLR0", "SLR1", "SLR2"])),
        ("cut_far", expected(&["SLR1", "SLR2", "SLR3"])),
        ("cut_below", expected(&["SLR0", "SLR2"])),
    ] {
        let ip = emitted(name);
        let report = ip.report();
        let said = report["bands"]["memory"].as_array().unwrap().iter().map(|p| p["die"].as_str().unwrap().to_string());
        assert_eq!(said.collect::<Vec<_>>(), memories, "{name}");
        let placed = constraints(ip).into_iter().filter(|c| c.property == "USER_SLR_ASSIGNMENT");
        let cells: Vec<(String, String)> = placed.map(|c| (c.patterns[1].clone(), c.value)).collect();
        for (port, die) in memories.iter().enumerate() {
            let here = |cell: &str| cell.starts_with(&format!("station{port}_"));
            let way = cells.iter().filter(|(cell, _)| here(cell));
            let engines = |cell: &str| cell == format!("reader{port}") || cell == format!("writer{port}");
            // The last station, or the engines themselves where there is none.
            let last = way.max_by_key(|(cell, _)| dies(cell).unwrap().abs());
            let last = last.or_else(|| cells.iter().find(|(cell, _)| engines(cell))).unwrap();
            assert_eq!(last.1, *die, "{name}: {}", last.0);
        }
    }
}

#[test]
fn each_block_has_the_bands_of_its_die() {
    for (name, bands) in CUT {
        let ip = emitted(name);
        let text = ip.text(&format!("constraints/{}_floorplan.xdc", ip.kernel));
        let mut cells = vec![];
        instances(&netlist(ip, ""), &ip.kernel, "", &mut cells);
        // Commands on each block, in the order of the file.
        let mut blocks: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in text.lines().filter(|line| line.contains("pblock ")) {
            let mut words = line.splitn(3, ' ');
            let (command, block, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap_or(""));
            let known = blocks.contains_key(block);
            assert_eq!(command == "create_pblock", !known, "{name}: {line}");
            blocks.entry(block).or_default().extend((command != "create_pblock").then_some(rest));
        }
        assert_eq!(blocks.len(), bands, "{name}");
        let mut dies = BTreeSet::new();
        for (block, commands) in &blocks {
            let die = commands[0].strip_prefix("-add {").and_then(|c| c.strip_suffix('}')).unwrap();
            dies.insert(die);
            assert!(text.contains(&format!("set_property IS_SOFT TRUE [get_pblocks {block}]")), "{name}");
            let all = commands[1..].iter().flat_map(|c| patterns(c)).collect::<Vec<_>>();
            let held = found(&all, cells.iter());
            let placed: Vec<String> = constraints(ip)
                .into_iter()
                .filter(|c| c.property == "USER_SLR_ASSIGNMENT" && c.value == die)
                .flat_map(|c| c.patterns)
                .collect();
            let is_band = |cell: &&&String| cell.rsplit('/').next().unwrap().starts_with("band");
            let bands: BTreeSet<&String> = found(&placed, cells.iter()).iter().filter(is_band).copied().collect();
            assert!(!held.is_empty() && held == bands, "{name}: {held:?} in {block}, {bands:?} on {die}");
        }
        assert_eq!(dies.len(), bands, "{name}: each block on a die of its own");
    }
}

#[test]
fn all_that_crosses_is_two_registers() {
    for (name, _) in CUT {
        let ip = emitted(name);
        let netlist = netlist(ip, "opt_dff; setattr -mod -unset keep_hierarchy *; flatten; opt_clean; ");
        let top = &netlist["modules"][&ip.kernel];
        let constraint = constraints(ip).into_iter().filter(|c| c.property == "USER_SLL_REG");
        let patterns: Vec<String> =
            constraint.flat_map(|c| c.patterns).map(|p| p.strip_suffix("_reg*").unwrap().to_string()).collect();
        let nets: BTreeMap<String, &Value> =
            top["netnames"].as_object().unwrap().iter().map(|(n, net)| (n.replace('.', "/"), &net["bits"])).collect();
        let named: BTreeSet<u64> =
            found(&patterns, nets.keys()).into_iter().flat_map(|n| bits(nets[n]).collect::<Vec<_>>()).collect();
        // Who drives a bit. Nothing drives what Yosys has removed, since nothing reads it.
        let cells = top["cells"].as_object().unwrap();
        let is_output = |cell: &Value, port: &str| cell["port_directions"][port] == "output";
        let mut drivers: BTreeMap<u64, (&String, &Value)> = BTreeMap::new();
        for (cell_name, cell) in cells {
            for (port, connection) in cell["connections"].as_object().unwrap() {
                if is_output(cell, port) {
                    bits(connection).for_each(|bit| _ = drivers.insert(bit, (cell_name, cell)));
                }
            }
        }
        let named: BTreeSet<u64> = named.into_iter().filter(|bit| drivers.contains_key(bit)).collect();
        // Some have a reset.
        let is_register = |cell: &Value| cell["type"] == "$dff" || cell["type"] == "$sdff";
        let (mut crossing, mut read) = (BTreeSet::new(), BTreeMap::new());
        for (reader_name, reader) in cells {
            for (port, connection) in reader["connections"].as_object().unwrap() {
                if is_output(reader, port) {
                    continue;
                }
                for (k, bit) in bits(connection).enumerate() {
                    *read.entry(bit).or_insert(0) += 1;
                    let Some((driver_name, driver)) = drivers.get(&bit) else { continue };
                    let (Some(from), Some(to)) = (place(driver_name), place(reader_name)) else { continue };
                    if from == to {
                        continue;
                    }
                    let registers = is_register(driver) && is_register(reader) && port == "D";
                    assert!(registers, "{name}: {driver_name} to {port} of {reader_name}");
                    let received = bits(&reader["connections"]["Q"]).nth(k);
                    assert!(from.0 == to.0 && from.1.abs_diff(to.1) == 1, "{name}: from {from:?} to {to:?}");
                    crossing.extend([Some(bit), received].into_iter().flatten());
                }
            }
        }
        assert!(crossing.len() > 100, "{name}: {} registers", crossing.len());
        let others: Vec<&u64> = crossing.symmetric_difference(&named).collect();
        assert!(
            others.is_empty(),
            "{name}: the patterns find the registers of the crossings and no others: {others:?}"
        );
        // Nothing else reads a register in front of a crossing.
        let sent = found(&patterns, nets.keys()).into_iter().filter(|n| n.ends_with("_tx"));
        assert!(
            sent.flat_map(|n| bits(nets[n]).collect::<Vec<_>>())
                .filter(|bit| named.contains(bit))
                .all(|bit| read[&bit] == 1),
            "{name}"
        );
    }
}
