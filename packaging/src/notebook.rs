//! `sw/<kernel>.ipynb`: a notebook for a board with PYNQ. It runs each function on what the testbench's arrays hold, and
//! compares with what they hold after a run.

use crate::{types, File, Ip};
use serde_json::{json, Value};
use templates::interface::{Argument, Function, SizeArgument};

/// The file.
pub fn file(ip: &Ip) -> File {
    let kernel = &ip.interface.kernel;
    let mut cells = vec![
        markdown(&format!(
            "# {kernel}\n\n{}.\n\n`{kernel}.bit` and `{kernel}.hwh`, which the script in `../vivado` leaves here, lie beside this \
            notebook.",
            ip.title()
        )),
        code(&format!(
            "from pathlib import Path\n\nimport numpy\nimport pynq\nimport {kernel}\n\noverlay = \
            pynq.Overlay(\"{kernel}.bit\")\nip = overlay.{kernel}_0"
        )),
        code(CONTENTS),
    ];
    for f in &ip.interface.functions {
        cells.push(markdown(&format!("## `{}`\n\nNumPy arrays go in and come out.", f.ident)));
        cells.push(code(&inputs(ip, f)));
        cells.push(code(&run(ip, f)));
        cells.push(code(&compared(ip, f)));
    }
    let all = json!({
        "cells": cells,
        "metadata": { "kernelspec": { "display_name": "Python 3", "language": "python", "name": "python3" } },
        "nbformat": 4,
        "nbformat_minor": 4,
    });
    File::new(format!("sw/{kernel}.ipynb"), format!("{all:#}\n"))
}

const CONTENTS: &str = r#"def contents(name, when, dtype, shape):
    """What an argument of the testbench holds before ("in") or after ("expected") a run; None if that is not known."""
    path = Path("../sim") / f"{name}.{when}.bin"
    if path.exists():
        return numpy.fromfile(path, dtype).reshape(shape)
    if when == "in":
        return numpy.random.default_rng(1).integers(0, 8, shape).astype(dtype)"#;

fn cell(kind: &str, text: &str) -> Value {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    json!({ "cell_type": kind, "metadata": {}, "source": lines })
}

fn markdown(text: &str) -> Value {
    cell("markdown", text)
}

fn code(text: &str) -> Value {
    let mut cell = cell("code", text);
    cell["execution_count"] = Value::Null;
    cell["outputs"] = json!([]);
    cell
}

/// The name of an argument's files.
fn file_of(ip: &Ip, f: &Function, a: &Argument) -> String {
    match ip.interface.functions.len() {
        1 => a.ident.clone(),
        _ => format!("{}.{}", f.ident, a.ident),
    }
}

/// What `contents` is asked for.
fn asked(ip: &Ip, f: &Function, a: &Argument, when: &str) -> String {
    let shape = a.array().map_or("()".to_string(), |array| {
        let dims: Vec<String> = array.dims.iter().map(i64::to_string).collect();
        format!("({}{})", dims.join(", "), if dims.len() == 1 { "," } else { "" })
    });
    format!("contents(\"{}\", \"{when}\", \"{}\", {shape})", file_of(ip, f, a), types::numpy(a.ty))
}

fn own(f: &Function, argument: impl Fn(&Argument) -> String, size: impl Fn(&SizeArgument) -> String) -> Vec<String> {
    f.in_order(|a| a.is_own().then(|| argument(a)), |s| Some(size(s))).into_iter().flatten().collect()
}

fn inputs(ip: &Ip, f: &Function) -> String {
    let value = |a: &Argument| {
        let scalar = if a.array().is_none() { "[()]" } else { "" };
        format!("arg_{} = {}{scalar}", a.ident, asked(ip, f, a, "in"))
    };
    own(f, value, |s| format!("arg_{} = {}", s.ident, s.max)).join("\n")
}

fn run(ip: &Ip, f: &Function) -> String {
    let values = own(f, |a| format!("arg_{}", a.ident), |s| format!("arg_{}", s.ident)).join(", ");
    let plain = ip.interface.functions.len() == 1 && ip.interface.layout.queue().is_none() && f.sizes.is_empty();
    let call = if plain { values } else { format!("\"{}\", {values}", f.ident) };
    let mhz = ip.board.clock_mhz;
    format!("await ip.run_async({call})\nprint(f\"{{ip.cycles}} cycles, {{ip.cycles / {mhz}:.1f}} us at {mhz} MHz\")")
}

/// Floats may be rounded otherwise than by the interpreter, if the user allowed that.
fn compared(ip: &Ip, f: &Function) -> String {
    let written = || f.arguments.iter().filter(|a| a.is_own() && a.array().is_some_and(|array| array.written));
    let one = |a: &Argument| {
        let name = &a.ident;
        format!(
            "expected = {}\nif expected is None:\n    print(\"{name}: the expected results are not known\")\nelse:\n    \
            numpy.testing.assert_array_equal(arg_{name}, expected, \"{name}\")\n    print(\"{name}: all\", \
            expected.size, \"elements equal\")",
            asked(ip, f, a, "expected")
        )
    };
    written().map(one).collect::<Vec<_>>().join("\n")
}
