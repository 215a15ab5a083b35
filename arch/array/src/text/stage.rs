//! A text of any stage: what `--emit` prints, from the program to the array.
//!
//! A later stage repeats the earlier ones: a mapping is text of a program, its recurrences (`ure`) and the mapping.
//! Each is verified when it is read.

use crate::vsa::Vsa;
use scop::{flow, Scop};
use uniform::mapping::Plan;
use uniform::system::System;
use uniform::text::{parse_plan, parse_system, section};

/// What a text holds, up to its last section.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    Scop(Scop),
    System(Scop, System),
    Mapping(Scop, System, Plan),
    Vsa(Box<Vsa>),
}

/// Reads what `--emit` prints of any stage but the last, and verifies it; `name` is what diagnostics call the text.
///
/// # Errors
/// `line N: …`, or every invariant that does not hold.
pub fn read(name: &str, text: &str) -> Result<Stage, String> {
    flow::limited(|| verified(name, text))
        .unwrap_or_else(|error| Err(format!("numbers beyond what can be verified: {error}")))
}

fn verified(name: &str, text: &str) -> Result<Stage, String> {
    let broken = |faults: Vec<String>| faults.join("; ");
    let first = |line: &str| line.split_whitespace().next().unwrap_or("").to_string();
    if text.lines().map(first).find(|w| !w.is_empty() && !w.starts_with('#')).as_deref() == Some("vsa") {
        let vsa = super::parse(text)?;
        identifier("systolic array", &vsa.name)?;
        vsa.verify().map_err(broken)?;
        return Ok(Stage::Vsa(Box::new(vsa)));
    }
    let at = |keyword: &str| text.lines().position(|l| l.split('#').next().unwrap_or("").trim() == keyword);
    let end = text.lines().count();
    let (ure, mapping) = (at("ure"), at("mapping"));
    let scop = scop::text::parse(name, &section(text, 0..ure.or(mapping).unwrap_or(end)))?;
    let scop = Scop { sources: source(name, text), ..scop };
    scop.verify().map_err(broken)?;
    identifier("program", &scop.name)?;
    let outside = scop.arrays.iter().filter(|a| a.storage == scop::Storage::Dram);
    outside.into_iter().try_for_each(|a| identifier("array", &a.name))?;
    super::program::check(&scop, ure.is_none()).map_err(broken)?;
    let Some(ure) = ure else {
        return if mapping.is_some() {
            Err("a mapping without its recurrences (`ure`)".into())
        } else {
            Ok(Stage::Scop(scop))
        };
    };
    let system = parse_system(&scop, &section(text, ure..mapping.unwrap_or(end)))?;
    uniform::verify::system(&scop, &system).map_err(broken)?;
    uniform::verify::frame(&scop, &system).map_err(broken)?;
    let Some(mapping) = mapping else { return Ok(Stage::System(scop, system)) };
    let plan = parse_plan(&system, &section(text, mapping..end))?;
    uniform::verify::plan(&system, &plan).map_err(broken)?;
    Ok(Stage::Mapping(scop, system, plan))
}

/// Names become those of modules, files and functions.
fn identifier(what: &str, name: &str) -> Result<(), String> {
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match good {
        true => Ok(()),
        false => Err(format!("{name:?} cannot be the name of a {what}: letters, digits and _")),
    }
}

fn source(name: &str, text: &str) -> scop::diag::SourceMap {
    scop::diag::SourceMap { files: vec![scop::diag::SourceFile { name: name.into(), text: text.into() }] }
}
