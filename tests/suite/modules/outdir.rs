//! Output directories: what a run replaces, what it leaves alone, what stops it.

use sagen::outdir::{OutputDir, MANIFEST};
use std::fs;
use std::path::Path;

fn write(target: &Path, files: &[(&str, &str)]) -> Result<(), String> {
    let out = OutputDir::create(target)?;
    files.iter().try_for_each(|(name, text)| out.write(name, text))?;
    out.commit()
}

#[test]
fn replaces_its_own_files_and_no_others() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("a/out");
    write(&target, &[("rtl/1.v", "1"), ("deep/er/x", "x"), ("same", "s")]).unwrap();
    fs::write(target.join("rtl/notes.txt"), "mine").unwrap();
    write(&target, &[("rtl/2.v", "2"), ("same", "t")]).unwrap();
    let there = |name: &str| target.join(name).exists();
    assert!(there("rtl/2.v") && there("rtl/notes.txt") && !there("rtl/1.v") && !there("deep"));
    assert_eq!(fs::read_to_string(target.join("same")).unwrap(), "t");
    assert_eq!(fs::read_dir(root.path().join("a")).unwrap().count(), 1, "nothing is left beside it");

    assert!(write(&target, &[("rtl/notes.txt", "sagen's")]).is_err_and(|e| e.contains("notes.txt is not sagen's")));
    fs::write(target.join("same"), "edited").unwrap();
    assert!(write(&target, &[("same", "u")]).is_err_and(|e| e.contains("same was edited")));
    assert_eq!((fs::read_to_string(target.join("same")).unwrap().as_str(), there("rtl/2.v")), ("edited", true));
    fs::remove_file(target.join("same")).unwrap();
    write(&target, &[("same", "u")]).unwrap();

    fs::remove_file(target.join(MANIFEST)).unwrap();
    assert!(OutputDir::create(&target).is_err_and(|e| e.contains("not written by sagen")));
    assert!(OutputDir::create(&target.join("same")).is_err_and(|e| e.contains("is a file")));
}

#[cfg(unix)]
#[test]
fn links_are_followed() {
    let root = tempfile::tempdir().unwrap();
    let (target, link) = (root.path().join("real"), root.path().join("link"));
    fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    write(&link, &[("x", "1")]).unwrap();
    write(&link, &[("x", "2")]).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read_to_string(target.join("x")).unwrap(), "2");
    let dangling = root.path().join("dangling");
    std::os::unix::fs::symlink(root.path().join("nowhere"), &dangling).unwrap();
    assert!(write(&dangling, &[]).is_err());
}

#[test]
fn an_abandoned_directory_leaves_no_trace() {
    let root = tempfile::tempdir().unwrap();
    let out = OutputDir::create(&root.path().join("out")).unwrap();
    out.write("x", "y").unwrap();
    drop(out);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn manifests_stay_inside() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("out");
    write(&target, &[("a/b c", "x")]).unwrap();
    write(&target, &[("a/b c", "y")]).unwrap();
    let hash = "0".repeat(64);
    for foreign in [format!("{hash}  ../x\n"), format!("{hash}  /x\n"), "x".into()] {
        fs::write(target.join(MANIFEST), &foreign).unwrap();
        assert!(OutputDir::create(&target).is_err_and(|e| e.contains("not written by sagen")), "{foreign}");
    }
}
