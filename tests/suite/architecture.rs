//! The crates depend on each other as the table in `ARCHITECTURE.md` says: one way. Inside of a crate, neither folders
//! nor files import one another in a circle; in the larger libraries each module imports only from those that `lib.rs`
//! names before it.

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

/// Folders of this workspace's crates, by the crate's name; the command line is `sagen`, in the root.
fn folders() -> BTreeMap<String, PathBuf> {
    let members = manifest("")["workspace"]["members"].as_array().expect("a list of members").clone();
    let members = members.iter().map(|m| m.as_str().expect("a folder").to_string());
    let place = |folder: String| {
        let name = manifest(&folder)["package"]["name"].as_str().expect("a name").to_string();
        (name, root().join(folder).canonicalize().expect("a folder"))
    };
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

/// Every file and folder that the last table of `ARCHITECTURE.md` names is there.
#[test]
fn paths_of_the_architecture_page_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rows = text.lines().skip_while(|l| !l.starts_with("## Where to look")).filter(|l| l.starts_with("| "));
    let paths: Vec<String> = rows.flat_map(quoted).filter(|p| p.contains('/') && !p.contains('{')).collect();
    let missing: Vec<&String> = paths.iter().filter(|p| !root().join(p).exists()).collect();
    assert!(paths.len() > 60, "{} paths", paths.len());
    assert!(missing.is_empty(), "no such files: {missing:?}");
}

/// What stands between backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// The table's rows: crate, crates it may depend on.
fn documented() -> Vec<(String, BTreeSet<String>)> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rows = text.lines().skip_while(|l| !l.starts_with("| crate |")).skip(2).take_while(|l| l.starts_with('|'));
    let rows: Vec<(String, String)> = rows
        .map(|l| {
            let cells: Vec<&str> = l.trim_matches('|').split('|').collect();
            (quoted(cells[0])[0].clone(), cells[2].trim().to_string())
        })
        .collect();
    let names: Vec<&String> = rows.iter().map(|r| &r.0).collect();
    let allowed = |(name, cell): &(String, String)| match cell.strip_prefix("all but") {
        Some(others) => {
            names.iter().filter(|n| **n != name && !quoted(others).contains(n)).map(|n| n.to_string()).collect()
        }
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

/// A path and, of one with braces, all that it stands for, as far as names go: `a::{b, c::D}` is `a::b` and `a::c::D`.
fn spread(path: &str) -> Vec<Vec<String>> {
    let (mut head, mut rest) = (vec![], path);
    loop {
        if let Some(group) = rest.strip_prefix('{') {
            let (mut depth, mut start, mut all) = (0, 0, vec![]);
            for (at, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    ',' | '}' if depth == 0 => {
                        all.extend(
                            spread(group[start..at].trim_start()).into_iter().map(|tail| [head.clone(), tail].concat()),
                        );
                        start = at + 1;
                        if c == '}' {
                            return all;
                        }
                    }
                    '}' => depth -= 1,
                    _ => {}
                }
            }
            return all;
        }
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        rest = &rest[name.len()..];
        head.push(name);
        match rest.strip_prefix("::") {
            Some(more) => rest = more,
            None => return vec![head],
        }
    }
}

/// The paths from the crate's root that a module's code names by way of `crate` or `super`.
fn named(text: &str, module: &[String]) -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::new();
    for (start, _) in text.match_indices("crate::") {
        all.extend(spread(&text[start + "crate::".len()..]));
    }
    let starts = text.match_indices("super::").map(|(at, _)| at).filter(|at| !text[..*at].ends_with("super::"));
    for mut rest in starts.map(|at| &text[at..]) {
        let mut above = module.to_vec();
        while let Some(more) = rest.strip_prefix("super::") {
            above.pop();
            rest = more;
        }
        all.extend(spread(rest).into_iter().map(|path| [above.clone(), path].concat()));
    }
    all
}

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Which of the crate's modules (folders and files of `src`) import which.
fn imports(src: &Path) -> Arrows {
    let files = rust_files(src);
    let modules: BTreeSet<String> = files.iter().filter_map(|f| module(src, f).into_iter().next()).collect();
    let mut arrows: Arrows = modules.iter().map(|m| (m.clone(), BTreeSet::new())).collect();
    for file in &files {
        let path = module(src, file);
        let Some(from) = path.first() else { continue };
        let named = named(&code(file), &path).into_iter().filter_map(|to| to.into_iter().next());
        arrows.get_mut(from).expect("a module").extend(named.filter(|to| to != from && modules.contains(to)));
    }
    arrows
}

/// Which of the crate's files import which. A folder's own file and those in the folder are parts of one module: what
/// they take from each other does not count.
fn file_imports(src: &Path) -> Arrows {
    let files: BTreeMap<Vec<String>, String> = rust_files(src)
        .iter()
        .map(|f| (module(src, f), f.strip_prefix(src).expect("a file of the crate").to_string_lossy().into_owned()))
        .collect();
    let mut arrows: Arrows = files.values().map(|f| (f.clone(), BTreeSet::new())).collect();
    for (path, file) in &files {
        for to in named(&code(&src.join(file)), path) {
            // The longest part of the path that is a module; an item of the crate's root is no import.
            let Some(to) = (1..=to.len()).rev().map(|n| &to[..n]).find(|to| files.contains_key(*to)) else { continue };
            if !to.starts_with(path) && !path.starts_with(to) {
                arrows.get_mut(file).expect("a file").insert(files[to].clone());
            }
        }
    }
    arrows
}

/// Everything that can be reached.
fn reached(arrows: &Arrows, from: &str) -> BTreeSet<String> {
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
            let circle: Vec<_> =
                from_a.iter().filter(|b| b != a && src.join(b).is_dir() && reach[b].contains(*a)).collect();
            assert!(circle.is_empty(), "`{name}`: folder `{a}` imports from {circle:?}, which import from it");
        }
    }
}

/// Circles of files that the problem itself has, by what each is about.
const RECURSION: [(&str, &[&str]); 0] = [];

#[test]
fn files_import_one_another_in_no_circle() {
    let (mut met, mut met_arrows) = (BTreeSet::new(), 0);
    for (name, folder) in folders() {
        let arrows = file_imports(&folder.join("src"));
        met_arrows += arrows.values().map(BTreeSet::len).sum::<usize>();
        let reach: Arrows = arrows.keys().map(|f| (f.clone(), reached(&arrows, f))).collect();
        for (file, from_file) in &reach {
            let circle: BTreeSet<&String> =
                from_file.iter().filter(|other| *other != file && reach[*other].contains(file)).chain([file]).collect();
            let known = RECURSION.iter().find(|(_, files)| circle.iter().all(|f| files.contains(&f.as_str())));
            met.extend(known.map(|k| k.0).filter(|_| circle.len() > 1));
            assert!(circle.len() == 1 || known.is_some(), "`{name}`: these files import one another: {circle:?}");
        }
    }
    assert_eq!(met.len(), RECURSION.len(), "what is listed is met: {met:?}");
    assert!(met_arrows > 300, "{met_arrows} imports");
}

/// Words of Rust's code in a file, without comments.
fn uses(text: &str, word: &str) -> usize {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let code = |line: &str| line.split("//").next().unwrap_or("").split(|c| !part(c)).filter(|w| *w == word).count();
    text.lines().map(code).sum()
}

/// `docs/promises.md` lists the files with unsafe code, and how often the word is in each.
#[test]
fn unsafe_code_is_listed() {
    let page = fs::read_to_string(root().join("docs/promises.md")).expect("the page");
    let table = page.split("## Unsafe code").nth(1).expect("the section").split("\n## ").next().expect("its text");
    let row = |line: &str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let file = cells.next()?.strip_prefix('`')?.strip_suffix('`')?.to_string();
        Some((file, cells.next()?.parse::<usize>().ok()?))
    };
    let listed: BTreeMap<String, usize> = table.lines().filter_map(row).collect();
    let word = ["un", "safe"].concat();
    let mut found = BTreeMap::new();
    let mut open = vec![root()];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(&folder).expect("a folder").map(|e| e.expect("an entry").path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                open.push(path);
            } else if name.ends_with(".rs") {
                let count = uses(&fs::read_to_string(&path).expect("a file"), &word);
                let below = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
                found.extend((count > 0).then_some((below, count)));
            }
        }
    }
    assert_eq!(found, listed);
    assert!(uses(&format!("a {word} {{ // {word}"), &word) == 1 && found.len() > 5);
}

/// Every test that `cargo test` leaves out is run by something else, which its reason names.
#[test]
fn ignored_tests_are_run_by_something() {
    let mut found = 0;
    for path in rust_files(&root().join("tests")) {
        let text = fs::read_to_string(&path).expect("a file");
        for reason in text.lines().filter_map(|l| l.trim().strip_prefix("#[ignore")) {
            found += 1;
            let named = |word: &str| {
                let script = word.starts_with("scripts/") && root().join(word).is_file();
                script || text.contains(&format!("fn {word}("))
            };
            let words = reason.split(|c: char| !(c.is_ascii_alphanumeric() || "_/.".contains(c)));
            assert!(words.filter(|w| !w.is_empty()).any(named), "{}: {reason}", path.display());
        }
    }
    assert!(found >= 3, "{found}");
}

#[test]
fn paths_are_read_as_the_compiler_does() {
    let text = "use crate::a::{b, c::{D, e}};\nuse super::super::f;\nlet x = super::g::H::new();";
    let module = ["m", "n"].map(String::from);
    let expected = ["a::b", "a::c::D", "a::c::e", "f", "m::g::H::new"];
    let found: Vec<String> = named(text, &module).iter().map(|p| p.join("::")).collect();
    assert_eq!(found, expected);
}

#[test]
fn modules_import_from_those_named_before_them() {
    for name in ["frontend/scop", "arch/uniform", "arch/array", "arch/cost", "arch/search", "rtl"] {
        let src = root().join(name).join("src");
        let text = code(&src.join("lib.rs"));
        let order: Vec<&str> = text
            .lines()
            .filter_map(|l| l.trim().trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
            .collect();
        let place = |m: &String| {
            order.iter().position(|o| o == m).unwrap_or_else(|| panic!("`{name}`: lib.rs does not name `{m}`"))
        };
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
        let untested = manifest(&folder.to_string_lossy()).get("lib").and_then(|l| l.get("test"))
            == Some(&toml::Value::Boolean(false));
        let inside: Vec<_> =
            rust_files(&folder.join("src")).into_iter().filter(|f| code(f).contains("#[cfg(test)]")).collect();
        assert!(
            !untested || inside.is_empty(),
            "`{name}` runs no tests in src, see its Cargo.toml; move these to tests/suite: {inside:?}"
        );
    }
}
