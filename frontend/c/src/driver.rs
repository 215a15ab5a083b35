//! Runs the stages in order and collects their faults.

use crate::ast::Unit;
use crate::cpp::is_cpp;
use crate::pp::{MacroUse, ParseOptions, Preprocessor};
use crate::{parse as syntax, sema};
use scop::diag::{Diagnostic, Diagnostics, Severity, SourceFile, SourceMap, Span};
use scop::flow;
use scop::{Clause, Scop};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Errors and warnings, with the source texts that their spans refer to.
type Faults = (SourceMap, Diagnostics);

/// Reads the C file at `path`, which must have exactly one marked region: its scop, and the warnings.
///
/// # Errors
/// All faults found in the file, with the source texts; see [`programs_of_text`].
pub fn parse(path: &Path, options: &ParseOptions) -> Result<(Scop, Diagnostics), Faults> {
    programs(path, options).and_then(only)
}

/// Like [`parse`], from a text. Diagnostics call it `name`; local includes are searched in the directory of `name`.
///
/// ```
/// let text = "void f(int A[8]) {
/// #pragma scop
///   for (int i = 0; i < 8; i++) A[i] = 2 * i;
/// #pragma endscop
/// }";
/// let (scop, warnings) = frontend::parse_text("f.c", text, &Default::default()).unwrap();
/// assert!(warnings.is_empty() && scop.statements.len() == 1);
/// let (sources, faults) = frontend::parse_text("f.c", &text.replace("< 8", "< 9"), &Default::default()).unwrap_err();
/// assert_eq!((faults[0].code, sources.line_column(faults[0].span.unwrap())), ("E0411", (3, 33)));
/// ```
///
/// # Errors
/// All faults found in the text, with the source texts; see [`programs_of_text`].
pub fn parse_text(name: &str, text: &str, options: &ParseOptions) -> Result<(Scop, Diagnostics), Faults> {
    programs_of_text(name, text, options).and_then(only)
}

fn only((mut scops, warnings): (Vec<Scop>, Diagnostics)) -> Result<(Scop, Diagnostics), Faults> {
    match scops.get(1) {
        None => Ok((scops.remove(0), warnings)),
        Some(second) => {
            let fault = Diagnostic::error("E0204", second.function.region, "a second marked region")
                .label("only one region is allowed here");
            Err((second.sources.clone(), vec![fault]))
        }
    }
}

/// Reads the C file at `path`: one scop per marked region (at least one), in the order of the text, and the warnings.
/// Several regions must be in functions of different names, which become the names of the scops.
///
/// # Errors
/// All faults found in the file, with the source texts; E0100 if it cannot be read; see [`programs_of_text`].
pub fn programs(path: &Path, options: &ParseOptions) -> Result<(Vec<Scop>, Diagnostics), Faults> {
    let name = path.to_string_lossy();
    match crate::pp::read(path) {
        Ok(bytes) => programs_of_text(&name, &String::from_utf8_lossy(&bytes), options),
        Err(why) => {
            let map = SourceMap { files: vec![SourceFile { name: name.clone().into_owned(), text: String::new() }] };
            let fault = Diagnostic::error("E0100", None, format!("cannot read `{name}`: {why}")).help("check the path");
            Err((map, vec![fault]))
        }
    }
}

/// Like [`programs`], from a text.
///
/// Stages: preprocessor, parser, and for each region inlining, forward substitution of index temporaries, semantic
/// analysis. No stage stops at its first fault. The scops satisfy [`Scop::verify`].
///
/// # Errors
/// All faults, ordered by place, none twice: E01xx text and preprocessor, E02xx syntax, E03xx declarations and types,
/// E04xx static control. A fault in the expansion of a macro has a note at the definition.
pub fn programs_of_text(name: &str, text: &str, options: &ParseOptions) -> Result<(Vec<Scop>, Diagnostics), Faults> {
    let mut map = SourceMap::default();
    let mut faults = vec![];
    let mut preprocessor = Preprocessor::new(&mut map, &mut faults, options);
    preprocessor.main_file(name, text.to_string());
    let (tokens, uses) = (std::mem::take(&mut preprocessor.out), std::mem::take(&mut preprocessor.uses));
    let clauses = std::mem::take(&mut preprocessor.clauses);
    let cpp = is_cpp(name);
    let tokens = if cpp { crate::cpp::rewritten(tokens) } else { tokens };
    let (units, found) = syntax::units(&tokens, cpp);
    faults.extend(found);
    let stem = name_of_file(Path::new(name));
    let count = units.len();
    let mut scops = vec![];
    let shared = assign_clauses(clauses, &units.iter().map(|u| u.region_span).collect::<Vec<_>>());
    let has =
        |unit: &Unit, name: &str| unit.function.as_ref().is_some_and(|f| f.params.iter().any(|d| *d.name == *name));
    // A maximum for a name that no function has goes to every region, and is refused there.
    let nowhere: BTreeSet<&str> =
        options.maxima.iter().map(|m| m.0.as_str()).filter(|name| !units.iter().any(|u| has(u, name))).collect();
    for (mut unit, mut clauses) in units.into_iter().zip(shared) {
        let given = options.maxima.iter().filter(|(name, _)| has(&unit, name) || nowhere.contains(name.as_str()));
        clauses.extend(given.map(|(name, max)| Clause {
            name: "max".into(),
            values: vec![name.clone(), max.to_string()],
            span: unit.region_span,
        }));
        faults.extend(crate::bits::select(&mut unit));
        crate::sequence::unit(&mut unit);
        faults.extend(crate::inline::inline(&mut unit));
        crate::searches::rewrite(&mut unit);
        faults.extend(crate::powers::unroll(&mut unit));
        crate::present::arrays(&mut unit);
        faults.extend(crate::objects::replace(&mut unit));
        crate::coalesced::split(&mut unit);
        crate::state::keep_values(&mut unit);
        let given = clauses.iter().filter(|c| c.name == "max").filter_map(|c| c.values.first().cloned()).collect();
        clauses.extend(crate::maxima::inferred(&unit, &given).into_iter().map(|(name, max)| Clause {
            name: "max".into(),
            values: vec![name.to_string(), max.to_string()],
            span: unit.region_span,
        }));
        let maximum = |c: &Clause| Some((c.values.first()?.clone(), c.values.get(1)?.parse().ok()?));
        let maxima: BTreeMap<String, i64> = clauses.iter().filter(|c| c.name == "max").filter_map(maximum).collect();
        let sizes: BTreeSet<String> = maxima.keys().cloned().collect();
        faults.extend(crate::temporaries::replace(&mut unit, &sizes));
        crate::coalesced::split_products(&mut unit);
        crate::delinearize::arrays(&mut unit, &maxima);
        let syntax_failed = faults.iter().any(|f| f.severity == Severity::Error);
        // After a syntax error the rest is checked for faults but not analyzed further.
        let (lowered, found) = if syntax_failed {
            sema::lower(&unit, &stem, &map, &clauses, Default::default())
        } else {
            lowered(&mut unit, &stem, &map, &clauses)
        };
        // "Nothing is executed" and "no result" are only consequences of the other faults.
        faults.extend(found.into_iter().filter(|f| !(matches!(f.code, "E0206" | "E0503" | "W0202") && syntax_failed)));
        faults.extend(lowered.iter().flat_map(|scop| crate::ranges::faults(scop, &clauses)));
        scops.extend(lowered.map(|scop| Scop { clauses, ..scop }));
    }
    let complete = count > 0 && scops.len() == count;
    let faults = finish(faults, &uses);
    if !complete || faults.iter().any(|f| f.severity != Severity::Warning) {
        return Err((map, faults));
    }
    for scop in &scops {
        if let Err(broken) = scop.verify() {
            let why = broken.join("; ");
            let fault = Diagnostic::error("E0999", scop.function.region, "the front end produced a malformed program")
                .label(why)
                .help("please report this file");
            return Err((map, vec![fault]));
        }
    }
    Ok((scops, faults))
}

/// The name that a file gives to what has no name of its own: its stem, with `_` for what is not in an identifier.
pub fn name_of_file(path: &Path) -> String {
    let stem = path.file_stem().map_or("kernel".into(), |s| s.to_string_lossy());
    let first = if stem.starts_with(|c: char| c.is_ascii_digit()) { "n" } else { "" };
    first.chars().chain(stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })).collect()
}

/// The program of a unit. If its sources are not affine because strides differ, the program with loops unrolled to
/// equal strides, or in rows, if that makes them affine.
fn lowered(unit: &mut Unit, stem: &str, map: &SourceMap, clauses: &[Clause]) -> (Option<Scop>, Diagnostics) {
    let (mut plain, mut found) = sema::lower(unit, stem, map, clauses, Default::default());
    unit.inputs = plain.as_ref().map(|scop| crate::state::inputs(unit, scop)).unwrap_or_default();
    if !unit.inputs.is_empty() {
        (plain, found) = sema::lower(unit, stem, map, clauses, Default::default());
    }
    let strides = plain.as_ref().map(sema::mixed_strides).unwrap_or_default();
    let rows = plain.as_ref().map(sema::flat_rows).unwrap_or_default();
    let mixed: BTreeSet<String> = strides.keys().chain(rows.keys()).cloned().collect();
    let affine = |scop: &Scop| scop.verify().is_ok() && flow::is_affine(scop, |array| mixed.contains(&array.name));
    if mixed.is_empty() || plain.as_ref().is_some_and(affine) {
        return (plain, found);
    }
    let forms = [(strides, Default::default()), (Default::default(), rows)];
    let other = forms.into_iter().filter(|(strides, rows)| !strides.is_empty() || !rows.is_empty()).find_map(|form| {
        let (scop, warnings) = sema::lower(unit, stem, map, clauses, form);
        scop.filter(affine).map(|scop| (Some(scop), warnings))
    });
    other.unwrap_or((plain, found))
}

/// Assigns clauses to regions: each to the region that contains it, else to the next one in its file, else to the last.
fn assign_clauses(clauses: Vec<Clause>, regions: &[Span]) -> Vec<Vec<Clause>> {
    let mut shared = vec![vec![]; regions.len()];
    for clause in clauses {
        let ends_behind = |r: &Span| r.file == clause.span.file && clause.span.start < r.end;
        let place = regions.iter().position(ends_behind).unwrap_or(regions.len().saturating_sub(1));
        if let Some(of_region) = shared.get_mut(place) {
            of_region.push(clause);
        }
    }
    shared
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
