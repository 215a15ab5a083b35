//! Temporary directories, which do not stay behind when a run is interrupted.
//!
//! A [`Scratch`] is removed when it is dropped, and on SIGINT, SIGTERM and SIGHUP. These signals also end the programs
//! that [`output`], [`within`] and [`children`] started; the kernel ends them when sagen is killed (SIGKILL). A killed
//! run leaves its directories behind. Each directory has a file that its owner locks, so the next run finds the
//! directories without an owner and removes them.

use crate::confine::{self, Confinement};
use crate::files::{self, HIDDEN};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The file that the owner of a directory locks.
pub const LOCK: &str = ".sagen-lock";

/// The name of that file until it is locked.
const UNLOCKED: &str = ".sagen-unlocked";

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
        let unlocked = directory.path().join(UNLOCKED);
        let lock = OpenOptions::new().write(true).create_new(true).open(&unlocked)?;
        lock.try_lock()?;
        fs::rename(unlocked, directory.path().join(LOCK))?;
        running.directories.push(directory.path().to_path_buf());
        Ok(Scratch { directory, _lock: lock })
    }

    /// Gives the directory another name, from which on it is nobody's: it is not removed, and has no lock.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub(crate) fn rename(&self, to: &Path) -> io::Result<()> {
        fs::remove_file(self.path().join(LOCK))?;
        fs::rename(self.path(), to)
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
        if !named || !entry.path().symlink_metadata().is_ok_and(|m| m.is_dir() && is_own(&m)) {
            continue;
        }
        let Ok(lock) = files::lock_of_others(&entry.path().join(LOCK)) else {
            remove_unlocked(&entry.path());
            continue;
        };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Removes the directory of a run that died before it could lock anything, if it is an old one with nothing else in it.
fn remove_unlocked(directory: &Path) {
    let old = directory.metadata().and_then(|m| m.modified()).is_ok_and(|m| m.elapsed().is_ok_and(|age| age > AGE));
    let only = |entries: fs::ReadDir| entries.flatten().all(|e| e.file_name() == UNLOCKED);
    if old && fs::read_dir(directory).is_ok_and(only) {
        let _ = fs::remove_file(directory.join(UNLOCKED));
        let _ = fs::remove_dir(directory);
    }
}

/// A run locks its directories sooner than this.
const AGE: Duration = Duration::from_secs(600);

/// Nobody else can have put something into this directory: it is this user's, and others may not write in it.
fn is_own(_metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        _metadata.uid() == rustix::process::geteuid().as_raw() && _metadata.mode() & 0o022 == 0
    }
    #[cfg(not(unix))]
    true
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
    started(command, None, wait)
}

/// Like [`children`], perhaps confined.
fn started<T>(
    command: &mut Command,
    confinement: Option<&Confinement>,
    wait: impl FnOnce(Child) -> io::Result<T>,
) -> io::Result<T> {
    confine::lead(command);
    // Behind the line above: a confined program cannot do it.
    confinement.map_or(Ok(()), |confinement| confinement.of(command))?;
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

/// The end of a program that has a limited time.
pub enum Ended {
    /// By itself, or by a signal; the last of what it printed on standard error.
    Itself(ExitStatus, String),
    /// Its time was over, and it was killed.
    Late,
}

/// At most so many bytes of what a program says on standard error are of interest.
const ERRORS: u64 = 1 << 16;

/// Runs a program to its end, but not longer than `limit`. What it started in its process group ends with it. `errors`
/// is a new file for its standard error: a pipe would stay open as long as anything that it started.
///
/// # Errors
/// It cannot be started, or `errors` cannot be written.
pub fn within(
    command: &mut Command,
    confinement: Option<&Confinement>,
    limit: Duration,
    errors: &Path,
) -> io::Result<Ended> {
    let begin = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(errors)?);
    let status = started(command, confinement, |mut child| {
        let mut pause = Duration::from_micros(500);
        let late = loop {
            if has_ended(&mut child)? {
                break false;
            }
            if begin.elapsed() >= limit {
                break true;
            }
            std::thread::sleep(pause.min(limit.saturating_sub(begin.elapsed())));
            pause = (pause * 3 / 2).min(Duration::from_millis(20));
        };
        kill_group(child.id());
        if late {
            let _ = child.kill();
        }
        child.wait().map(|status| (!late).then_some(status))
    })?;
    let Some(status) = status else { return Ok(Ended::Late) };
    let mut file = File::open(errors)?;
    let begin = file.metadata()?.len().saturating_sub(ERRORS);
    file.seek(io::SeekFrom::Start(begin))?;
    let mut bytes = vec![];
    file.take(ERRORS).read_to_end(&mut bytes)?;
    Ok(Ended::Itself(status, String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whether the program has ended. It is not waited for, so that nobody else gets its number.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{waitid, Pid, WaitId, WaitIdOptions};
    let Some(id) = Pid::from_raw(child.id() as i32) else { return Ok(true) };
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(id), how)?.is_some())
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Ends every program of a process group.
fn kill_group(_leader: u32) {
    #[cfg(unix)]
    if let Some(leader) = rustix::process::Pid::from_raw(_leader as i32) {
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
    }
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
            running.programs.iter().copied().for_each(kill_group);
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
