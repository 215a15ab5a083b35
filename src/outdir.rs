//! Output directories appear all at once: everything is built in a directory beside the target and swapped in when
//! complete, so that a refused input or a full disk leaves what was there untouched.
//!
//! A directory is replaced only when it is empty or was written by sagen, which its `report.json` tells.

use std::fs;
use std::path::{Path, PathBuf};

/// The file that marks a directory as sagen's own.
pub const MARKER: &str = "report.json";

/// A directory under construction. Dropped without [`OutputDir::commit`], it vanishes.
pub struct OutputDir {
    target: PathBuf,
    temporary: tempfile::TempDir,
}

impl OutputDir {
    /// Starts an output directory that will stand at `target`.
    ///
    /// # Errors
    /// `target` is a file, or a directory with contents that are not sagen's, or its parent cannot be written.
    pub fn create(target: &Path) -> Result<OutputDir, String> {
        refuse_foreign(target)?;
        let absolute = std::path::absolute(target).map_err(|e| format!("{}: {e}", target.display()))?;
        let parent = absolute.parent().ok_or_else(|| format!("{} cannot be an output directory", target.display()))?;
        fs::create_dir_all(parent).map_err(|e| format!("cannot make {}: {e}", parent.display()))?;
        let temporary = tempfile::Builder::new()
            .prefix(".sagen-")
            .tempdir_in(parent)
            .map_err(|e| format!("cannot write in {}: {e}", parent.display()))?;
        Ok(OutputDir { target: absolute, temporary })
    }

    /// Writes one file, `name` relative with `/` between folders.
    ///
    /// # Errors
    /// A sentence naming the file.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<(), String> {
        let path = self.temporary.path().join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, contents)).map_err(|e| format!("cannot write {name}: {e}"))
    }

    /// Puts the finished directory in its place.
    ///
    /// # Errors
    /// The swap failed; the former directory is then back in its place.
    pub fn commit(self) -> Result<(), String> {
        refuse_foreign(&self.target)?;
        let failed = |e: std::io::Error| format!("cannot put {} in place: {e}", self.target.display());
        set_mode(self.temporary.path()).map_err(failed)?;
        let built = self.temporary.path().to_path_buf();
        if !self.target.exists() {
            fs::rename(&built, &self.target).map_err(failed)?;
            let _ = self.temporary.keep();
            return Ok(());
        }
        let parent = self.target.parent().unwrap_or(Path::new("."));
        let aside = tempfile::Builder::new().prefix(".sagen-old-").tempdir_in(parent).map_err(failed)?;
        let old = aside.path().join("old");
        fs::rename(&self.target, &old).map_err(failed)?;
        if let Err(e) = fs::rename(&built, &self.target) {
            let _ = fs::rename(&old, &self.target);
            return Err(failed(e));
        }
        let _ = self.temporary.keep();
        Ok(())
    }
}

/// Temporary directories are private; a finished one has the usual rights.
#[cfg(unix)]
fn set_mode(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
#[cfg(not(unix))]
fn set_mode(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// An existing target must be an empty directory or one that sagen wrote.
fn refuse_foreign(target: &Path) -> Result<(), String> {
    let Ok(metadata) = fs::metadata(target) else { return Ok(()) };
    let name = target.display();
    if !metadata.is_dir() {
        return Err(format!("{name} is a file; the output is a directory"));
    }
    let empty = fs::read_dir(target).map_err(|e| format!("cannot read {name}: {e}"))?.next().is_none();
    let report = fs::read_to_string(target.join(MARKER)).unwrap_or_default();
    let ours = serde_json::from_str::<serde_json::Value>(&report).is_ok_and(|r| r["generator"] == "sagen");
    if empty || ours {
        Ok(())
    } else {
        Err(format!("{name} exists and was not written by sagen (it has no {MARKER} of sagen's); choose another directory or remove it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_its_own() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("a/out");
        for round in ["1", "2"] {
            let out = OutputDir::create(&target).unwrap();
            out.write(MARKER, r#"{"generator": "sagen"}"#).unwrap();
            out.write(&format!("rtl/{round}.v"), round).unwrap();
            out.commit().unwrap();
        }
        assert!(target.join("rtl/2.v").exists() && !target.join("rtl/1.v").exists());
        assert_eq!(fs::read_dir(root.path().join("a")).unwrap().count(), 1, "nothing is left beside it");

        fs::write(target.join(MARKER), "{}").unwrap();
        assert!(OutputDir::create(&target).is_err_and(|e| e.contains("not written by sagen")));
        assert!(OutputDir::create(&target.join(MARKER)).is_err_and(|e| e.contains("is a file")));
    }

    #[test]
    fn an_abandoned_directory_leaves_no_trace() {
        let root = tempfile::tempdir().unwrap();
        let out = OutputDir::create(&root.path().join("out")).unwrap();
        out.write("x", "y").unwrap();
        drop(out);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
