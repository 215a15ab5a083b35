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
        vsa.verify().map_err(broken)?;
        return Ok(Stage::Vsa(Box::new(vsa)));
    }
    let at = |keyword: &str| text.lines().position(|l| l.split('#').next().unwrap_or("").trim() == keyword);
    let end = text.lines().count();
    let (ure, mapping) = (at("ure"), at("mapping"));
    let scop = scop::text::parse(name, &section(text, 0..ure.or(mapping).unwrap_or(end)))?;
    let scop = Scop { sources: source(name, text), ..scop };
    scop.verify().map_err(broken)?;
    let Some(ure) = ure else {
        return if mapping.is_some() {
            Err("a mapping without its recurrences (`ure`)".into())
        } else {
            Ok(Stage::Scop(scop))
        };
    };
    let system = parse_system(&scop, &section(text, ure..mapping.unwrap_or(end)))?;
    uniform::verify::system(&scop, &system).map_err(broken)?;
    let Some(mapping) = mapping else { return Ok(Stage::System(scop, system)) };
    let plan = parse_plan(&system, &section(text, mapping..end))?;
    uniform::verify::plan(&system, &plan).map_err(broken)?;
    Ok(Stage::Mapping(scop, system, plan))
}

fn source(name: &str, text: &str) -> scop::diag::SourceMap {
    scop::diag::SourceMap { files: vec![scop::diag::SourceFile { name: name.into(), text: text.into() }] }
}
