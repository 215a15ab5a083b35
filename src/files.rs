//! Reads and writes files with care: small text files of the user (design files, boards), results of the user's
//! program, locks in folders that others can write, and everything that sagen leaves behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// The beginning of the names of hidden files and directories.
pub const HIDDEN: &str = ".sagen-";

/// A longer file is no design file and no board.
const LARGEST: u64 = 1 << 20;

/// The text of a file.
///
/// # Errors
/// A sentence: the file cannot be read, is not text, or is too long.
pub fn text(path: &Path) -> Result<String, String> {
    let failed = |why: String| format!("cannot read {}: {why}", path.display());
    let mut bytes = vec![];
    let file = File::open(path).map_err(|e| failed(e.to_string()))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| failed(e.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(format!("it is longer than {LARGEST} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| failed("it is not text in UTF-8".into()))
}

/// The bytes of a regular file that a program of the user wrote, which is not trusted: no link is followed, and no pipe
/// waited for.
///
/// # Errors
/// There is no such file, or it has another length.
pub fn exactly(path: &Path, length: usize) -> io::Result<Vec<u8>> {
    let file = regular(OpenOptions::new().read(true), path)?;
    let metadata = file.metadata()?;
    if metadata.len() != length as u64 {
        return Err(io::Error::other("the result has the wrong size"));
    }
    let mut bytes = Vec::with_capacity(length);
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file of somebody who is not trusted: no link is followed, and no pipe waited for.
fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits() as i32);
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// The text of a regular file.
///
/// # Errors
/// There is none, or it is no text.
pub fn own_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    regular(OpenOptions::new().read(true), path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens a file to lock it, or makes it.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub fn lockable(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().write(true).create(true).truncate(false), path)
}

/// Opens a file to lock it, if it is there.
///
/// # Errors
/// As [`lockable`]; there is none.
pub fn lock_of_others(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().write(true), path)
}

/// Whether the open file is still the one at `path`.
pub fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let (open, there) = (file.metadata().map(number), path.symlink_metadata().map(number));
        open.is_ok_and(|open| there.is_ok_and(|there| open == there))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// Writes a file that nobody reads yet, and waits until it is on the disk.
///
/// # Errors
/// It cannot be written as a whole.
pub fn synced(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(contents)?;
    file.sync_all()
}

/// Waits until the names in a folder are on the disk. Some file systems cannot sync a folder.
///
/// # Errors
/// The folder cannot be opened, or the disk fails.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        Err(why) if !matches!(why.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Err(why),
        _ => Ok(()),
    }
}

/// Writes a file as a whole or not at all: beside the place, then renamed. What is no regular file, such as a terminal
/// or a pipe, is written as it is.
///
/// # Errors
/// It cannot be written; what was there is then as it was.
pub fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    // A symbolic link stays one.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return fs::write(path, contents);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new();
    beside.prefix(HIDDEN);
    #[cfg(unix)]
    beside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = beside.tempfile_in(folder)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|e| e.error)
}
