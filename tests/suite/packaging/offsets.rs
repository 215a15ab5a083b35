//! Where each file says the registers are.

use super::emitted::{root, run, tool, Emitted};
use std::collections::BTreeMap;

/// Argument (its name in generated files) or `cycles`, to the byte offset of its low half.
pub type Offsets = BTreeMap<String, u64>;

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// All registers by `report.json`.
pub fn listed(ip: &Emitted) -> BTreeMap<String, u64> {
    let report = ip.report();
    let register = |r: &serde_json::Value| (r["name"].as_str().unwrap().to_string(), r["offset"].as_u64().unwrap());
    report["interface"]["registers"].as_array().unwrap().iter().map(register).collect()
}

/// By `report.json`.
pub fn report(ip: &Emitted) -> Offsets {
    let report = ip.report();
    let interface = &report["interface"];
    let arguments = interface["arguments"].as_array().unwrap();
    let argument = |a: &serde_json::Value| (a["name"].as_str().unwrap().to_string(), a["register"].as_u64().unwrap());
    let length = |a: &serde_json::Value| Some((length_name(a["name"].as_str()?), a["length_register"].as_u64()?));
    let mut all: Offsets = arguments.iter().map(argument).chain(arguments.iter().filter_map(length)).collect();
    all.insert("cycles".into(), interface["cycle_counter_register"].as_u64().unwrap());
    for register in interface["registers"].as_array().unwrap() {
        let name = register["name"].as_str().unwrap();
        if FACTS.contains(&name) || name == "error_address_1" {
            all.insert(name.trim_end_matches("_1").into(), register["offset"].as_u64().unwrap());
        }
    }
    all
}

/// The register of an array's length.
fn length_name(array: &str) -> String {
    format!("{array}_bytes")
}

/// Registers of one word behind the arguments.
const FACTS: [&str; 4] = ["design_id", "version", "status", "soft_reset"];

/// By every other file. Some do not need all registers: the report's are put in.
pub fn elsewhere(ip: &Emitted) -> Vec<(&'static str, Offsets)> {
    let known = report(ip);
    let behind = |more: &[&'static str]| {
        let arguments = known.keys().filter(|name| known.contains_key(&length_name(name)));
        arguments.map(|name| length_name(name)).chain(more.iter().map(|name| name.to_string())).collect::<Vec<_>>()
    };
    let with = |mut all: Offsets, names: Vec<String>| {
        names.iter().for_each(|name| assert!(all.insert(name.clone(), known[name]).is_none(), "{name}"));
        all
    };
    let facts = ["cycles", "design_id", "version", "status", "error_address", "soft_reset"];
    let kernel = with(kernel(ip), facts.map(String::from).to_vec());
    vec![
        ("component.xml", registers(component(ip))),
        ("package_ip.tcl", registers(script(ip))),
        ("kernel.xml", kernel),
        ("x<kernel>_hw.h", header(ip)),
        ("<kernel>.py", with(python(ip), behind(&["design_id", "version"]))),
        ("README.md", registers(readme(ip))),
        ("test_<kernel>.py", with(bench(ip), behind(&["design_id", "version", "error_address", "soft_reset"]))),
    ]
}

/// Registers by name to those of whole arguments: `A_1` and `A_2`, 4 bytes apart, are `A`.
fn registers(all: BTreeMap<String, u64>) -> Offsets {
    let fixed = [("CTRL", 0u64), ("GIER", 4), ("IP_IER", 8), ("IP_ISR", 12)];
    for (name, offset) in fixed {
        assert_eq!(all.get(name), Some(&offset), "{name}");
    }
    let half = |name: &str| {
        name.strip_suffix("_1").filter(|n| all.get(&format!("{n}_2")) == Some(&(all[name] + 4))).map(String::from)
    };
    let second = |name: &str| name.strip_suffix("_2").is_some_and(|n| half(&format!("{n}_1")).is_some());
    let others = all.keys().filter(|n| !fixed.iter().any(|f| f.0 == n.as_str()) && !second(n));
    others.map(|name| (half(name).unwrap_or(name.clone()), all[name])).collect()
}

pub fn component(ip: &Emitted) -> BTreeMap<String, u64> {
    let text = ip.text("component.xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let text_of = |n: roxmltree::Node, name: &str| {
        n.children().find(|c| c.tag_name().name() == name).and_then(|c| c.text()).unwrap_or("").to_string()
    };
    document
        .descendants()
        .filter(|n| n.tag_name().name() == "register")
        .map(|n| (text_of(n, "name"), hex(&text_of(n, "addressOffset"))))
        .collect()
}

fn kernel(ip: &Emitted) -> Offsets {
    let text = ip.text("vitis/kernel.xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let arguments: Vec<_> = document.descendants().filter(|n| n.has_tag_name("arg")).collect();
    for (k, a) in arguments.iter().enumerate() {
        assert_eq!(a.attribute("id"), Some(k.to_string().as_str()), "{}: arguments in order", ip.name);
    }
    arguments.iter().map(|a| (a.attribute("name").unwrap().to_string(), hex(a.attribute("offset").unwrap()))).collect()
}

/// The macros are upper case: their names are found among the report's.
fn header(ip: &Emitted) -> Offsets {
    let text = ip.text(&format!("sw/x{}_hw.h", ip.kernel));
    let prefix = format!("#define X{}_CONTROL_ADDR_", ip.kernel.to_uppercase());
    let mut found = BTreeMap::new();
    for line in text.lines().filter_map(|l| l.strip_prefix(&prefix)) {
        let (name, offset) = line.split_once(char::is_whitespace).unwrap();
        if let Some(name) = name.strip_suffix("_DATA") {
            assert!(found.insert(name.to_string(), hex(offset.trim())).is_none(), "{}: two macros for {name}", ip.name);
        }
    }
    let known = report(ip);
    let lower = |upper: String| known.keys().find(|k| k.to_uppercase() == upper).cloned().unwrap_or(upper);
    found.into_iter().map(|(name, offset)| (lower(name), offset)).collect()
}

fn python(ip: &Emitted) -> Offsets {
    let show = format!(
        "import sys; sys.path[:0] = [{:?}, {:?}]; import {k} as m; print(*(f'{{a.name}} {{a.offset}}' for a in \
        m.ARGUMENTS + getattr(m, 'COMPUTED', []) + getattr(m, 'SCRATCH', [])), f'cycles {{m.CYCLES}}', f'status \
        {{m.STATUS}}', f'error_address {{m.ERROR_ADDRESS}}', f'soft_reset {{m.SOFT_RESET}}', sep='\\n')",
        root().join("tests/packaging").display().to_string(),
        ip.path("sw").display().to_string(),
        k = ip.kernel
    );
    let output = run(tool("python").env("PYTHONDONTWRITEBYTECODE", "1").args(["-c", &show]));
    output
        .lines()
        .map(|l| l.split_once(' ').unwrap())
        .map(|(name, offset)| (name.to_string(), offset.parse().unwrap()))
        .collect()
}

/// What the recorded calls of the packaging script set.
pub fn script(ip: &Emitted) -> BTreeMap<String, u64> {
    let calls = run(tool("tclsh").arg(root().join("tests/packaging/vivado.tcl")).arg(ip.path("vivado/package_ip.tcl")));
    let (mut found, mut name) = (BTreeMap::new(), String::new());
    for words in calls.lines().map(|l| l.split_whitespace().collect::<Vec<_>>()) {
        match words.as_slice() {
            ["ipx::add_register", register, _] => name = register.to_string(),
            ["set_property", "address_offset", offset, _] => {
                found.insert(name.clone(), hex(offset));
            }
            _ => {}
        }
    }
    found
}

pub fn readme(ip: &Emitted) -> BTreeMap<String, u64> {
    let text = ip.text("README.md");
    let rows = text.lines().filter_map(|l| l.strip_prefix("| 0x")).filter_map(|l| l.split_once(" | `"));
    rows.map(|(offset, rest)| (rest.split('`').next().unwrap().to_string(), hex(offset))).collect()
}

/// What the cocotb test has.
fn bench(ip: &Emitted) -> Offsets {
    let text = ip.text(&format!("sim/test_{}.py", ip.kernel));
    let mut found = BTreeMap::new();
    for line in text.lines().filter_map(|l| l.strip_prefix("    Argument(")) {
        let parts: Vec<&str> = line.split(", ").collect();
        let offset = parts.iter().find(|p| p.starts_with("0x")).unwrap();
        found.insert(parts[0].trim_matches('"').to_string(), hex(offset.trim_end_matches("),")));
    }
    let counter = text
        .lines()
        .find_map(|l| l.strip_prefix("CTRL, GIER, IP_IER, IP_ISR, CYCLES = 0x00, 0x04, 0x08, 0x0C, "))
        .unwrap();
    found.insert("cycles".into(), hex(counter));
    found.insert("status".into(), hex(text.lines().find_map(|l| l.strip_prefix("STATUS = ")).unwrap()));
    found
}
