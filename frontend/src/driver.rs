//! The stages in order, and what becomes of their faults.

use crate::diag::{Diagnostic, Diagnostics, Severity, SourceFile, SourceMap, Span};
use crate::pp::{MacroUse, ParseOptions, Preprocessor};
use crate::scop::Scop;
use crate::{parse as syntax, sema};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads the C file at `path`; the scop comes with warnings.
///
/// # Errors
/// All faults found in the file, with the texts that their spans refer to.
pub fn parse(path: &Path, options: &ParseOptions) -> Result<(Scop, Diagnostics), (SourceMap, Diagnostics)> {
    let name = path.to_string_lossy();
    match crate::pp::read(path) {
        Ok(bytes) => parse_text(&name, &String::from_utf8_lossy(&bytes), options),
        Err(why) => {
            let map = SourceMap { files: vec![SourceFile { name: name.clone().into_owned(), text: String::new() }] };
            let fault = Diagnostic::error("E0100", None, format!("cannot read `{name}`: {why}")).help("check the path");
            Err((map, vec![fault]))
        }
    }
}

/// Like [`parse`], from a text; `name` is shown in diagnostics, and local includes are looked for beside it.
///
/// # Errors
/// All faults found in the text.
pub fn parse_text(name: &str, text: &str, options: &ParseOptions) -> Result<(Scop, Diagnostics), (SourceMap, Diagnostics)> {
    let mut map = SourceMap::default();
    let mut faults = vec![];
    let mut preprocessor = Preprocessor::new(&mut map, &mut faults, options);
    preprocessor.main_file(name, text.to_string());
    let (tokens, uses) = (std::mem::take(&mut preprocessor.out), std::mem::take(&mut preprocessor.uses));
    let clauses = std::mem::take(&mut preprocessor.clauses);
    let (unit, found) = syntax::unit(&tokens);
    faults.extend(found);
    let mut scop = None;
    if let Some(mut unit) = unit {
        faults.extend(crate::inline::inline(&mut unit));
        let stem = Path::new(name).file_stem().map_or("kernel".into(), |s| s.to_string_lossy().into_owned());
        let (lowered, found) = sema::lower(&unit, &stem, &map);
        let syntax_failed = faults.iter().any(|f| f.severity == Severity::Error);
        // That nothing is left to execute follows from the other faults.
        faults.extend(found.into_iter().filter(|f| !(matches!(f.code, "E0206" | "W0202") && syntax_failed)));
        scop = lowered.map(|scop| Scop { clauses, ..scop });
    }
    let faults = finish(faults, &uses);
    match scop {
        Some(scop) if faults.iter().all(|f| f.severity == Severity::Warning) => match scop.verify() {
            Ok(()) => Ok((scop, faults)),
            Err(broken) => {
                let why = broken.join("; ");
                let fault = Diagnostic::error("E0999", scop.function.region, "the front end made a malformed program").label(why).help("please report this file");
                Err((map, vec![fault]))
            }
        },
        _ => Err((map, faults)),
    }
}

/// Orders faults by place, removes repetitions, and names the macros that marked text came from.
fn finish(mut faults: Diagnostics, uses: &[MacroUse]) -> Diagnostics {
    let mut definitions: BTreeMap<(u32, u32, u32), &MacroUse> = BTreeMap::new();
    let key = |s: Span| (s.file, s.start, s.end);
    for u in uses {
        definitions.entry(key(u.site)).or_insert(u);
    }
    let place = |f: &Diagnostic| f.span.map_or((0, 0, 0), key);
    faults.sort_by(|a, b| (place(a), a.code).cmp(&(place(b), b.code)));
    faults.dedup_by(|b, a| a.span.is_some() && a.span == b.span && a.code == b.code);
    for fault in &mut faults {
        if let Some(u) = fault.span.and_then(|s| definitions.get(&key(s))) {
            fault.notes.push((u.defined, format!("in the expansion of the macro `{}`, defined here", u.name)));
        }
    }
    faults
}
