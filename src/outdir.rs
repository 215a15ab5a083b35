//! An output directory appears as a whole or not at all. It is built in a hidden directory and moved into place when it
//! is complete. A refused input or a full disk changes nothing.
//!
//! [`MANIFEST`] lists every file that sagen wrote, with its SHA-256 (`sha256sum -c` reads it). The next run into the
//! directory replaces and removes these files and no others: the user's files stay, and a file that the user edited
//! stops the run. A directory without a manifest is not sagen's, unless it is empty. A symbolic link to a directory is
//! followed.

use crate::scratch::{self, Scratch};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file that marks a directory as sagen's.
pub const MANIFEST: &str = "sagen.sha256";

/// SHA-256 in hexadecimal by file name, with `/` between folders.
type Manifest = BTreeMap<String, String>;

/// A directory under construction. Dropped without [`OutputDir::commit`], it vanishes.
pub struct OutputDir {
    target: PathBuf,
    scratch: Scratch,
}

impl OutputDir {
    /// Starts an output directory that will be at `target`.
    ///
    /// # Errors
    /// `target` is a file, or a directory with contents that are not sagen's or were edited, or its parent cannot be
    /// written.
    pub fn create(target: &Path) -> Result<OutputDir, String> {
        let target = resolve(target)?;
        listed(&target)?;
        // Built where a rename puts it in place: an existing directory may be the root of a file system.
        let home = if target.is_dir() { Some(target.as_path()) } else { target.parent() };
        let home = home.ok_or_else(|| format!("{} cannot be an output directory", target.display()))?;
        fs::create_dir_all(home).map_err(|e| format!("cannot make {}: {e}", home.display()))?;
        let scratch = Scratch::hidden(home).map_err(|e| format!("cannot write in {}: {e}", home.display()))?;
        let out = OutputDir { target, scratch };
        fs::create_dir(out.built()).map_err(|e| format!("cannot write in {}: {e}", out.built().display()))?;
        Ok(out)
    }

    /// The directory in which the files are built.
    fn built(&self) -> PathBuf {
        self.scratch.path().join("new")
    }

    /// Writes one file, `name` relative with `/` between folders.
    ///
    /// # Errors
    /// A sentence naming the file.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<(), String> {
        let path = self.built().join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, contents)).map_err(|e| format!("cannot write {name}: {e}"))
    }

    /// Puts the finished directory in its place.
    ///
    /// # Errors
    /// A file of the user is in the way, or a file cannot be moved. Everything is then as it was.
    pub fn commit(self) -> Result<(), String> {
        let built = self.built();
        let mut new = Manifest::new();
        hash_all(&built, "", &mut new).map_err(|e| format!("cannot read {}: {e}", built.display()))?;
        self.write(MANIFEST, to_text(&new))?;
        let failed = |e: io::Error| format!("cannot put {} in place: {e}", self.target.display());
        if !self.target.exists() {
            return scratch::uninterrupted(|| fs::rename(&built, &self.target)).map_err(failed);
        }
        let old = listed(&self.target)?;
        let foreign =
            new.keys().find(|name| !old.contains_key(*name) && self.target.join(name).symlink_metadata().is_ok());
        if let Some(name) = foreign {
            return Err(format!(
                "{} is not sagen's, and stands where sagen would write; move it away",
                self.target.join(name).display()
            ));
        }
        scratch::uninterrupted(|| {
            let mut moves = Moves::default();
            let done = self.exchange(&old, &new, &mut moves);
            if done.is_err() {
                moves.undo();
            }
            done
        })
        .map_err(failed)?;
        remove_empty(&self.target, &old);
        Ok(())
    }

    /// Moves the old files aside and the new ones in.
    fn exchange(&self, old: &Manifest, new: &Manifest, moves: &mut Moves) -> io::Result<()> {
        let aside = self.scratch.path().join("old");
        for name in old.keys().map(String::as_str).chain([MANIFEST]).filter(|name| self.target.join(name).exists()) {
            moves.rename(&self.target.join(name), &aside.join(name))?;
        }
        new.keys()
            .map(String::as_str)
            .chain([MANIFEST])
            .try_for_each(|name| moves.rename(&self.built().join(name), &self.target.join(name)))
    }
}

/// Renamed files, so that they can be renamed back.
#[derive(Default)]
struct Moves(Vec<(PathBuf, PathBuf)>);

impl Moves {
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::rename(from, to)?;
        self.0.push((from.to_path_buf(), to.to_path_buf()));
        Ok(())
    }
    fn undo(&mut self) {
        while let Some((from, to)) = self.0.pop() {
            let _ = fs::rename(to, from);
        }
    }
}

/// The directory that is meant: an absolute path, behind symbolic links if it exists.
fn resolve(target: &Path) -> Result<PathBuf, String> {
    let named = |e: io::Error| format!("{}: {e}", target.display());
    match target.symlink_metadata() {
        Ok(_) => target.canonicalize().map_err(named),
        Err(_) => std::path::absolute(target).map_err(named),
    }
}

/// The manifest of an existing target, if all its files are unchanged.
fn listed(target: &Path) -> Result<Manifest, String> {
    let name = target.display();
    let Ok(metadata) = fs::metadata(target) else { return Ok(Manifest::new()) };
    if !metadata.is_dir() {
        return Err(format!("{name} is a file; the output is a directory"));
    }
    let mut entries = fs::read_dir(target).map_err(|e| format!("cannot read {name}: {e}"))?.flatten();
    if entries.all(|entry| entry.file_name().to_string_lossy().starts_with(scratch::HIDDEN)) {
        return Ok(Manifest::new());
    }
    let manifest = fs::read_to_string(target.join(MANIFEST)).ok().as_deref().and_then(parse);
    let Some(manifest) = manifest else {
        return Err(format!(
            "{name} exists and was not written by sagen (it has no {MANIFEST} of sagen's); choose another directory \
            or remove it"
        ));
    };
    let edited = manifest.iter().find(|(file, hash)| {
        let path = target.join(file);
        path.symlink_metadata()
            .is_ok_and(|m| !m.is_file() || fs::read(&path).map_or(true, |bytes| sha256(&bytes) != **hash))
    });
    match edited {
        Some((file, _)) => Err(format!(
            "{} was edited since sagen wrote it; move it away, remove it, or choose another directory",
            target.join(file).display()
        )),
        None => Ok(manifest),
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// The files below `dir`.
fn hash_all(dir: &Path, prefix: &str, manifest: &mut Manifest) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => hash_all(&entry.path(), &format!("{name}/"), manifest)?,
            false => drop(manifest.insert(name, sha256(&fs::read(entry.path())?))),
        }
    }
    Ok(())
}

fn to_text(manifest: &Manifest) -> String {
    manifest.iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect()
}

/// Reads the text of [`to_text`]; a name that leads out of the directory is refused.
fn parse(text: &str) -> Option<Manifest> {
    let line = |line: &str| {
        let (hash, name) = line.split_once("  ")?;
        let inside = Path::new(name).components().all(|c| matches!(c, std::path::Component::Normal(_)));
        (hash.len() == 64 && inside && !name.is_empty()).then(|| (name.to_string(), hash.to_string()))
    };
    text.lines().map(line).collect()
}

/// Removes folders that had old files only.
fn remove_empty(target: &Path, old: &Manifest) {
    let mut folders: Vec<&Path> =
        old.keys().flat_map(|name| Path::new(name).ancestors().skip(1)).filter(|p| !p.as_os_str().is_empty()).collect();
    folders.sort_by_key(|p| std::cmp::Reverse(p.components().count()));
    folders.dedup();
    folders.into_iter().for_each(|folder| drop(fs::remove_dir(target.join(folder))));
}
