//! The mapping as the user asks for it: `--design FILE.toml`, then the single options, which win.

use arch::ir::design::{DesignSpec, Dot, Ports};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The file's fields, named as the options. Tables keep their entries in alphabetical order, which has no meaning.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    space: Option<Vec<String>>,
    order: Option<Vec<String>>,
    #[serde(default)]
    tile: BTreeMap<String, i64>,
    #[serde(default)]
    latency: BTreeMap<String, i64>,
    #[serde(default)]
    simd: BTreeMap<String, i64>,
    reassociate: Option<bool>,
    fp_contract: Option<bool>,
    dot: Option<String>,
    #[serde(default)]
    word: BTreeMap<String, u32>,
    ports: Option<Vec<String>>,
    spill_beyond: Option<i64>,
    array: Option<usize>,
}

/// Reads a design file.
///
/// # Errors
/// The file cannot be read, or a message with line and column.
pub fn read(path: &Path) -> Result<DesignSpec, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    parse(&text).map_err(|e| format!("{} is not a design file: {e}", path.display()))
}

/// The text of a design file.
///
/// # Errors
/// As for [`read`].
pub fn parse(text: &str) -> Result<DesignSpec, String> {
    let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
    let factors = [("tile", &file.tile), ("latency", &file.latency), ("simd", &file.simd)];
    for (field, table) in factors {
        if let Some((name, factor)) = table.iter().find(|(_, &f)| f < 1) {
            return Err(format!("{field}.{name} = {factor}: a factor is at least 1"));
        }
    }
    let dot = match file.dot {
        Some(name) => Some(Dot::named(&name).ok_or_else(|| format!("dot = {name:?}: expected \"fused\" or \"chained\""))?),
        None => None,
    };
    Ok(DesignSpec {
        space: file.space,
        order: file.order,
        tile: file.tile.into_iter().collect(),
        latency: file.latency.into_iter().collect(),
        simd: file.simd.into_iter().collect(),
        reassociate: file.reassociate,
        fp_contract: file.fp_contract,
        dot,
        word: file.word.into_iter().collect(),
        ports: file.ports.as_deref().map(Ports::parse).transpose()?,
        spill_beyond: file.spill_beyond,
        array: file.array,
    })
}

/// `over`, where it says something, else `base`. Factors are merged loop by loop.
pub fn merge(base: DesignSpec, over: DesignSpec) -> DesignSpec {
    fn factors<T>(base: Vec<(String, T)>, over: Vec<(String, T)>) -> Vec<(String, T)> {
        let kept = base.into_iter().filter(|(name, _)| !over.iter().any(|(n, _)| n == name));
        kept.collect::<Vec<_>>().into_iter().chain(over).collect()
    }
    DesignSpec {
        space: over.space.or(base.space),
        order: over.order.or(base.order),
        tile: factors(base.tile, over.tile),
        latency: factors(base.latency, over.latency),
        simd: factors(base.simd, over.simd),
        reassociate: over.reassociate.or(base.reassociate),
        fp_contract: over.fp_contract.or(base.fp_contract),
        dot: over.dot.or(base.dot),
        spill_beyond: over.spill_beyond.or(base.spill_beyond),
        word: factors(base.word, over.word),
        ports: over.ports.or(base.ports),
        array: over.array.or(base.array),
    }
}

/// The file that [`parse`] reads back to `spec`.
pub fn print(spec: &DesignSpec) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let list = |names: &[String]| names.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ");
    for (field, names) in [("space", &spec.space), ("order", &spec.order)] {
        if let Some(names) = names {
            let _ = writeln!(text, "{field} = [{}]", list(names));
        }
    }
    for (field, factors) in [("tile", &spec.tile), ("latency", &spec.latency), ("simd", &spec.simd)] {
        if !factors.is_empty() {
            let parts: Vec<_> = factors.iter().map(|(n, f)| format!("{n:?} = {f}")).collect();
            let _ = writeln!(text, "{field} = {{ {} }}", parts.join(", "));
        }
    }
    if !spec.word.is_empty() {
        let parts: Vec<_> = spec.word.iter().map(|(n, f)| format!("{n:?} = {f}")).collect();
        let _ = writeln!(text, "word = {{ {} }}", parts.join(", "));
    }
    if let Some(ports) = &spec.ports {
        let _ = writeln!(text, "ports = [{}]", list(&ports.items()));
    }
    if let Some(waves) = spec.spill_beyond {
        let _ = writeln!(text, "spill_beyond = {waves}");
    }
    if let Some(yes) = spec.reassociate {
        let _ = writeln!(text, "reassociate = {yes}");
    }
    if let Some(yes) = spec.fp_contract {
        let _ = writeln!(text, "fp_contract = {yes}");
    }
    if let Some(dot) = spec.dot {
        let _ = writeln!(text, "dot = {:?}", dot.name());
    }
    if let Some(row) = spec.array {
        let _ = writeln!(text, "array = {row}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(list: &[(&str, i64)]) -> Vec<(String, i64)> {
        list.iter().map(|(n, f)| (n.to_string(), *f)).collect()
    }

    #[test]
    fn the_printed_form_reads_back() {
        let spec = DesignSpec {
            space: Some(vec!["i".into(), "j.2".into()]),
            tile: factors(&[("i", 64), ("k", 7)]),
            simd: factors(&[("k", 2)]),
            reassociate: Some(true),
            fp_contract: Some(false),
            dot: Some(Dot::Fused),
            word: vec![("A".into(), 16)],
            array: Some(3),
            ..DesignSpec::default()
        };
        for ports in [Ports::Shared, Ports::Groups(vec![vec!["A".into(), "C".into()], vec!["B".into()]])] {
            let spec = DesignSpec { ports: Some(ports), ..spec.clone() };
            assert_eq!(parse(&print(&spec)), Ok(spec));
        }
        assert_eq!(parse(&print(&spec)), Ok(spec));
    }

    #[test]
    fn options_win_over_the_file_factor_by_factor() {
        let base = DesignSpec { tile: factors(&[("i", 64), ("j", 8)]), array: Some(1), ..DesignSpec::default() };
        let over = DesignSpec { tile: factors(&[("j", 9)]), ..DesignSpec::default() };
        let merged = merge(base, over);
        assert_eq!((merged.tile, merged.array), (factors(&[("i", 64), ("j", 9)]), Some(1)));
    }

    #[test]
    fn unknown_fields_and_zero_factors_are_refused() {
        assert!(parse("spaec = []").is_err_and(|e| e.contains("spaec")));
        assert!(parse("dot = \"exact\"").is_err_and(|e| e.contains("exact")));
        assert!(parse("[tile]\ni = 0").is_err_and(|e| e.contains("tile.i")));
        assert!(parse("ports = [\"A+\"]").is_err_and(|e| e.contains("A+")));
    }
}
