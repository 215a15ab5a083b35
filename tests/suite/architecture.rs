//! The crates depend on each other as the table in `ARCHITECTURE.md` says: one way. Inside of a crate, folders import one
//! another in no circle; in `arch` and `rtl` each module imports only from those that `lib.rs` names before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

fn manifest(folder: &str) -> toml::Table {
    let path = root().join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Crates of this workspace by folder; the command line is `sagen`, in the root.
fn folders() -> BTreeMap<String, PathBuf> {
    let members = manifest("")["workspace"]["members"].as_array().expect("a list of members").clone();
    let members = members.iter().map(|m| m.as_str().expect("a folder").to_string());
    let place = |folder: String| (folder.clone(), root().join(folder).canonicalize().expect("a folder"));
    members.map(place).chain([("sagen".to_string(), root().canonicalize().expect("a folder"))]).collect()
}

/// Crates of this workspace that the one in `folder` depends on, tests and build scripts included.
fn dependencies(folder: &Path, folders: &BTreeMap<String, PathBuf>) -> BTreeSet<String> {
    let table = manifest(&folder.to_string_lossy());
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let all = kinds.iter().filter_map(|k| table.get(*k)?.as_table()).flatten();
    let ours = all.filter_map(|(_, d)| {
        let path = folder.join(d.get("path")?.as_str()?).canonicalize().expect("a crate");
        let name = folders.iter().find(|f| *f.1 == path).map(|f| f.0.clone());
        Some(name.unwrap_or_else(|| panic!("{} is no member of the workspace", path.display())))
    });
    ours.collect()
}

/// What stands between backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// The table's rows: crate, crates it may depend on.
fn documented() -> Vec<(String, BTreeSet<String>)> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rows = text.lines().skip_while(|l| !l.starts_with("| crate |")).skip(2).take_while(|l| l.starts_with('|'));
    let rows: Vec<(String, String)> = rows.map(|l| {
        let cells: Vec<&str> = l.trim_matches('|').split('|').collect();
        (quoted(cells[0])[0].clone(), cells[2].trim().to_string())
    }).collect();
    let names: Vec<&String> = rows.iter().map(|r| &r.0).collect();
    let allowed = |(name, cell): &(String, String)| match cell.strip_prefix("all but") {
        Some(others) => names.iter().filter(|n| **n != name && !quoted(others).contains(n)).map(|n| n.to_string()).collect(),
        None => quoted(cell).into_iter().collect(),
    };
    rows.iter().map(|row| (row.0.clone(), allowed(row))).collect()
}

#[test]
fn crates_depend_as_documented() {
    let folders = folders();
    let documented = documented();
    let named: BTreeSet<&String> = documented.iter().map(|d| &d.0).collect();
    assert_eq!(named, folders.keys().collect(), "the table lists the workspace's crates");
    for (name, allowed) in &documented {
        assert_eq!(dependencies(&folders[name], &folders), *allowed, "what `{name}` depends on");
    }
}

/// Each crate's dependencies stand in rows above its own.
#[test]
fn dependencies_point_one_way() {
    let mut above = BTreeSet::new();
    for (name, depends) in documented() {
        let later: Vec<_> = depends.difference(&above).collect();
        assert!(later.is_empty(), "`{name}` depends on {later:?}, which come after it");
        above.insert(name);
    }
}

/// Source text without comments.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    text.lines().map(|l| l.split("//").next().unwrap_or_default().to_string() + "\n").collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files = vec![];
    for path in entries.map(|e| e.expect("an entry").path()) {
        match path.is_dir() {
            true => files.extend(rust_files(&path)),
            false if path.extension().is_some_and(|e| e == "rs") => files.push(path),
            false => {}
        }
    }
    files.sort();
    files
}

/// The module of a file below `src`, as path from the crate; empty for the crate's root.
fn module(src: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(src).expect("a file of the crate").with_extension("");
    let mut parts: Vec<String> = inside.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    if ["mod", "lib", "main"].contains(&parts.last().expect("a name").as_str()) {
        parts.pop();
    }
    parts
}

/// What `text` names behind `prefix`: the first part of each path, also of those in braces.
fn named_behind(text: &str, prefix: &str) -> BTreeSet<String> {
    let first = |path: &str| path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = BTreeSet::new();
    for rest in text.match_indices(prefix).map(|(at, _)| &text[at + prefix.len()..]) {
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(first(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                ',' | '}' if depth == 0 => {
                    names.insert(first(&group[start..at]));
                    start = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    names
}

/// Which of the crate's modules (folders and files of `src`) import which.
fn imports(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let files = rust_files(src);
    let modules: BTreeSet<String> = files.iter().filter_map(|f| module(src, f).into_iter().next()).collect();
    let mut arrows: BTreeMap<String, BTreeSet<String>> = modules.iter().map(|m| (m.clone(), BTreeSet::new())).collect();
    for file in &files {
        let path = module(src, file);
        let Some(from) = path.first() else { continue };
        let text = code(file);
        // As many `super` as the module is deep is the crate.
        let root = "super::".repeat(path.len());
        let deeper = "super::".repeat(path.len() + 1);
        let named = named_behind(&text, "crate::").into_iter().chain(named_behind(&text.replace(&deeper, ""), &root));
        arrows.get_mut(from).expect("a module").extend(named.filter(|to| to != from && modules.contains(to)));
    }
    arrows
}

/// Everything that can be reached.
fn reached(arrows: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from.to_string()]);
    while let Some(at) = todo.pop() {
        todo.extend(arrows[&at].iter().filter(|to| seen.insert(to.to_string())).cloned());
    }
    seen
}

#[test]
fn folders_import_one_another_in_no_circle() {
    for (name, folder) in folders() {
        let src = folder.join("src");
        let arrows = imports(&src);
        let reach: BTreeMap<&String, BTreeSet<String>> = arrows.keys().map(|m| (m, reached(&arrows, m))).collect();
        for (a, from_a) in reach.iter().filter(|(m, _)| src.join(m).is_dir()) {
            let circle: Vec<_> = from_a.iter().filter(|b| b != a && src.join(b).is_dir() && reach[b].contains(*a)).collect();
            assert!(circle.is_empty(), "`{name}`: folder `{a}` imports from {circle:?}, which import from it");
        }
    }
}

#[test]
fn modules_import_from_those_named_before_them() {
    for name in ["arch", "rtl"] {
        let src = root().join(name).join("src");
        let text = code(&src.join("lib.rs"));
        let order: Vec<&str> = text.lines().filter_map(|l| l.trim().trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')).collect();
        let place = |m: &String| order.iter().position(|o| o == m).unwrap_or_else(|| panic!("`{name}`: lib.rs does not name `{m}`"));
        let arrows = imports(&src);
        assert!(arrows.values().any(|to| !to.is_empty()), "`{name}` has imports");
        for (from, to) in &arrows {
            let against: Vec<_> = to.iter().filter(|to| place(to) >= place(from)).collect();
            assert!(against.is_empty(), "`{name}`: `{from}` imports from {against:?}, which lib.rs names after it");
        }
    }
}

/// A library that is not built for tests has none inside: they would never run.
#[test]
fn tests_stand_where_they_run() {
    for (name, folder) in folders() {
        let untested = manifest(&folder.to_string_lossy()).get("lib").and_then(|l| l.get("test")) == Some(&toml::Value::Boolean(false));
        let inside: Vec<_> = rust_files(&folder.join("src")).into_iter().filter(|f| code(f).contains("#[cfg(test)]")).collect();
        assert!(!untested || inside.is_empty(), "`{name}` runs no tests in src, see its Cargo.toml; move these to tests/suite: {inside:?}");
    }
}
