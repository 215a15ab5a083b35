//! Temporary directories, which do not stay behind when a run is interrupted.
//!
//! A [`Scratch`] is removed when it is dropped, and on SIGINT, SIGTERM and SIGHUP. These signals also end the programs
//! that [`output`] and [`children`] started. A killed run (SIGKILL) leaves its directories behind. Each directory has a
//! file that its owner locks, so the next run finds the directories without an owner and removes them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use tempfile::TempDir;

/// The file that the owner of a directory locks.
pub const LOCK: &str = ".sagen-lock";

/// The beginning of the names of hidden directories.
pub const HIDDEN: &str = ".sagen-";

/// The directories and programs that a signal ends.
struct Running {
    directories: Vec<PathBuf>,
    /// Process groups, by their leaders.
    programs: Vec<u32>,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { directories: vec![], programs: vec![] });

/// No signal ends the run while this lock is held.
fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The directories that a signal would remove.
pub fn directories() -> Vec<PathBuf> {
    running().directories.clone()
}

/// A temporary directory.
pub struct Scratch {
    directory: TempDir,
    _lock: File,
}

impl Scratch {
    /// In the system's folder for temporary files; `purpose` becomes part of its name.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn temporary(purpose: &str) -> io::Result<Scratch> {
        Scratch::inside(&std::env::temp_dir(), &format!("sagen-{purpose}-"))
    }

    /// A hidden one in `parent`.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn hidden(parent: &Path) -> io::Result<Scratch> {
        Scratch::inside(parent, HIDDEN)
    }

    fn inside(parent: &Path, prefix: &str) -> io::Result<Scratch> {
        remove_stale(parent, prefix);
        let mut running = running();
        let directory = tempfile::Builder::new().prefix(prefix).tempdir_in(parent)?;
        // The lock has its name only once it is locked.
        let unlocked = directory.path().join(".sagen-unlocked");
        let lock = OpenOptions::new().write(true).create_new(true).open(&unlocked)?;
        lock.try_lock()?;
        fs::rename(unlocked, directory.path().join(LOCK))?;
        running.directories.push(directory.path().to_path_buf());
        Ok(Scratch { directory, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        running().directories.retain(|d| d != self.directory.path());
    }
}

/// Removes the directories of runs that have ended, as far as possible.
fn remove_stale(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let named = entry.file_name().to_str().is_some_and(|n| n.starts_with(prefix));
        if !named || !entry.file_type().is_ok_and(|t| t.is_dir()) {
            continue;
        }
        let Ok(lock) = OpenOptions::new().write(true).open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Runs `job`, which no signal cuts short.
pub fn uninterrupted<T>(job: impl FnOnce() -> T) -> T {
    let _running = running();
    job()
}

/// Runs a program to its end and collects what it prints.
///
/// # Errors
/// It cannot be started.
pub fn output(command: &mut Command) -> io::Result<Output> {
    children(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()), Child::wait_with_output)
}

/// Starts a program in its own process group; `wait` must wait for its end.
///
/// # Errors
/// It cannot be started, or as `wait`.
pub fn children<T>(command: &mut Command, wait: impl FnOnce(Child) -> io::Result<T>) -> io::Result<T> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let child = {
        let mut running = running();
        let child = command.spawn()?;
        running.programs.push(child.id());
        child
    };
    let id = child.id();
    let result = wait(child);
    running().programs.retain(|&p| p != id);
    result
}

/// From now on a signal that ends the process first removes its directories.
///
/// # Errors
/// The system refuses handlers.
#[cfg(unix)]
pub fn clean_up_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Held until the process ends: the main thread makes nothing new.
            let running = running();
            for program in running.programs.iter().filter_map(|&p| rustix::process::Pid::from_raw(p as i32)) {
                let _ = rustix::process::kill_process_group(program, rustix::process::Signal::KILL);
            }
            for directory in &running.directories {
                // A program may still have been writing.
                let _ = (0..5).find(|_| fs::remove_dir_all(directory).is_ok() || !directory.exists());
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

/// Signals are Unix's.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn clean_up_on_signals() -> io::Result<()> {
    Ok(())
}
