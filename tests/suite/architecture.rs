//! The crates depend on each other as the table in `ARCHITECTURE.md` says: one way.

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
