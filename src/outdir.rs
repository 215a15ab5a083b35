//! An output directory appears as a whole or not at all. It is built in a hidden directory and put in place when it is
//! complete and on the disk. A refused input or a full disk changes nothing.
//!
//! [`MANIFEST`] lists every file that sagen wrote, with its SHA-256 (`sha256sum -c` reads it). The next run into the
//! directory replaces and removes these files and no others: the user's files stay, and a file that the user edited
//! stops the run. A directory without a manifest is not sagen's, unless it is empty. A symbolic link to a directory is
//! followed.
//!
//! A new directory is put in place by one rename. In an existing one many files change, so a journal makes the change
//! whole: the hidden directory is renamed to [`JOURNAL`], and from then on the new design counts. A run that dies
//! before leaves the old design; one that dies behind leaves the journal, which the next run finishes ([`finish`]). Each
//! step of it may be done twice. Only one run at a time changes a directory ([`Turn`]).

use crate::files;
use crate::scratch::{self, Scratch};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The file that marks a directory as sagen's.
pub const MANIFEST: &str = "sagen.sha256";

/// The hidden directory with a change that is decided, and perhaps not finished.
pub const JOURNAL: &str = ".sagen-commit";

/// In a hidden directory: the new files, the old ones, and the manifest of the old ones.
const NEW: &str = "new";
const OLD: &str = "old";
const BEFORE: &str = "before.sha256";

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
        at_rest(&target)?;
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
        self.scratch.path().join(NEW)
    }

    /// Writes one file, `name` relative with `/` between folders.
    ///
    /// # Errors
    /// A sentence naming the file.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<(), String> {
        let path = self.built().join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| files::synced(&path, contents.as_ref())).map_err(|e| format!("cannot write {name}: {e}"))
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
        sync_folders(&built).map_err(|e| format!("cannot write {}: {e}", built.display()))?;
        let failed = |e: io::Error| format!("cannot put {} in place: {e}", self.target.display());
        if !self.target.exists() {
            match scratch::uninterrupted(|| fs::rename(&built, &self.target)) {
                Ok(()) => return sync_parent(&self.target).map_err(failed),
                // Another run was faster.
                Err(_) if self.target.is_dir() => {}
                Err(why) => return Err(failed(why)),
            }
        }
        let _turn = Turn::take(&self.target)?;
        finish(&self.target)?;
        let old = listed(&self.target)?;
        let foreign =
            new.keys().find(|name| !old.contains_key(*name) && self.target.join(name).symlink_metadata().is_ok());
        if let Some(name) = foreign {
            return Err(format!(
                "{} is not sagen's, and stands where sagen would write; move it away",
                self.target.join(name).display()
            ));
        }
        let before = self.scratch.path().join(BEFORE);
        files::synced(&before, to_text(&old).as_bytes())
            .map_err(|e| format!("cannot write {}: {e}", before.display()))?;
        let target = self.target.clone();
        scratch::uninterrupted(|| {
            self.scratch.rename(&target.join(JOURNAL))?;
            let mut moves = Moves::default();
            let done = exchange(&target, &old, &new, &mut moves);
            if done.is_err() {
                moves.undo()?;
                fs::remove_dir_all(target.join(JOURNAL))?;
            }
            done?;
            sync_folders_of(&target, old.keys().chain(new.keys()))?;
            fs::remove_dir_all(target.join(JOURNAL))
        })
        .map_err(failed)?;
        remove_empty(&target, &old);
        sync_parent(&target.join(MANIFEST)).map_err(failed)
    }
}

/// A run's turn to change a directory; others wait for its end. Readers of the directory need none.
struct Turn {
    path: PathBuf,
    _file: File,
}

/// The file that the run whose turn it is has locked. It is there for that time only.
const TURN: &str = ".sagen-turn";

impl Turn {
    fn take(target: &Path) -> Result<Turn, String> {
        let path = target.join(TURN);
        let failed = |e: io::Error| format!("cannot lock {}: {e}", target.display());
        loop {
            let file = files::lockable(&path).map_err(failed)?;
            file.lock().map_err(failed)?;
            // The run before may have removed the file meanwhile.
            if files::is_at(&file, &path) {
                return Ok(Turn { path, _file: file });
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Checks an existing target. A change that a dead run began is finished, one that another run makes is waited for.
fn at_rest(target: &Path) -> Result<(), String> {
    let there = |name: &str| target.join(name).symlink_metadata().is_ok();
    let first = listed(target);
    if there(JOURNAL) || first.is_err() && there(TURN) {
        let _turn = Turn::take(target)?;
        finish(target)?;
    }
    // Another run may have been in the middle of a change.
    first.map(drop).or_else(|_| listed(target).map(drop))
}

/// Whether a run died while it changed this directory, so that it holds parts of two designs.
pub fn is_unfinished(target: &Path) -> bool {
    target.join(JOURNAL).is_dir()
}

/// Finishes the change of a run that died in the middle of it, if there is one.
fn finish(target: &Path) -> Result<(), String> {
    let journal = target.join(JOURNAL);
    if !journal.is_dir() {
        return Ok(());
    }
    let unfinished = |why: String| {
        format!(
            "{} was being changed when a run died, and cannot be finished: {why}; move what you need away, and remove \
            the directory",
            target.display()
        )
    };
    let manifest = |path: PathBuf| {
        let text = files::own_text(&path).map_err(|e| unfinished(format!("{}: {e}", path.display())))?;
        parse(&text).ok_or_else(|| unfinished(format!("{} is damaged", path.display())))
    };
    let old = manifest(journal.join(BEFORE))?;
    // The manifest is the last file that is put in place.
    let new = match manifest(journal.join(NEW).join(MANIFEST)) {
        Ok(new) => new,
        Err(_) => manifest(target.join(MANIFEST))?,
    };
    for name in old.keys().chain(new.keys()) {
        let path = target.join(name);
        let Ok(metadata) = path.symlink_metadata() else { continue };
        let hash = metadata.is_file().then(|| fs::read(&path).ok()).flatten().map(|bytes| sha256(&bytes));
        if hash.is_none() || hash.as_ref() != old.get(name) && hash.as_ref() != new.get(name) {
            return Err(unfinished(format!("{} was edited since", path.display())));
        }
    }
    let done = scratch::uninterrupted(|| {
        exchange(target, &old, &new, &mut Moves::default())?;
        sync_folders_of(target, old.keys().chain(new.keys()))?;
        fs::remove_dir_all(&journal)
    });
    done.map_err(|e| unfinished(e.to_string()))?;
    remove_empty(target, &old);
    Ok(())
}

/// Moves the old files into the journal and the new ones out of it. What was moved before stays.
fn exchange(target: &Path, old: &Manifest, new: &Manifest, moves: &mut Moves) -> io::Result<()> {
    let journal = target.join(JOURNAL);
    let names = |all: &Manifest| -> Vec<String> { all.keys().cloned().chain([MANIFEST.to_string()]).collect() };
    for name in names(old) {
        // Behind a new file that is in place there is no old one any more.
        let in_place = !journal.join(NEW).join(&name).exists() && (new.contains_key(&name) || name == MANIFEST);
        if !in_place && target.join(&name).exists() {
            moves.rename(&target.join(&name), &journal.join(OLD).join(&name))?;
        }
    }
    for name in names(new) {
        let made = journal.join(NEW).join(&name);
        if made.exists() {
            moves.rename(&made, &target.join(&name))?;
        }
    }
    Ok(())
}

/// Syncs a folder, and all below it.
fn sync_folders(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    files::sync_folder(dir)
}

/// Syncs the folders of these files.
fn sync_folders_of<'a>(target: &Path, names: impl Iterator<Item = &'a String>) -> io::Result<()> {
    let mut folders: Vec<PathBuf> = names.filter_map(|name| Some(target.join(name).parent()?.to_path_buf())).collect();
    folders.push(target.to_path_buf());
    folders.sort();
    folders.dedup();
    folders.iter().filter(|folder| folder.is_dir()).try_for_each(|folder| files::sync_folder(folder))
}

/// Syncs the folder in which `path` is.
fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), files::sync_folder)
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
    fn undo(&mut self) -> io::Result<()> {
        while let Some((from, to)) = self.0.pop() {
            fs::rename(to, from)?;
        }
        Ok(())
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
    if entries.all(|entry| entry.file_name().to_string_lossy().starts_with(files::HIDDEN)) {
        return Ok(Manifest::new());
    }
    let manifest = files::own_text(&target.join(MANIFEST)).ok().as_deref().and_then(parse);
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
