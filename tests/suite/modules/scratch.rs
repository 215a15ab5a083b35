//! Directories for the time of a run: which of them are removed.

use sagen::scratch::{directories, output, Scratch, LOCK};
use std::fs;
use std::process::Command;

#[test]
fn only_directories_without_an_owner_are_stale() {
    let root = tempfile::tempdir().unwrap();
    let mine = Scratch::hidden(root.path()).unwrap();
    let path = mine.path().to_path_buf();
    fs::write(path.join("x"), "y").unwrap();
    for name in [".sagen-old", ".sagen-no-lock", "other"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    fs::write(root.path().join(".sagen-old").join(LOCK), "").unwrap();
    fs::write(root.path().join("other").join(LOCK), "").unwrap();
    let second = Scratch::hidden(root.path()).unwrap();
    let there = |name: &str| root.path().join(name).exists();
    assert!(
        path.join("x").exists()
            && second.path().exists()
            && there("other")
            && there(".sagen-no-lock")
            && !there(".sagen-old")
    );
    drop(mine);
    assert!(!path.exists() && !directories().contains(&path));
}

#[test]
fn programs_run_and_are_forgotten() {
    let three = output(Command::new("sh").args(["-c", "echo one; echo two >&2; exit 3"])).unwrap();
    assert_eq!((&three.stdout[..], &three.stderr[..], three.status.code()), (&b"one\n"[..], &b"two\n"[..], Some(3)));
    assert!(output(&mut Command::new("no-such-program")).is_err());
}
