//! Reads the user's small text files: design files and boards.

use std::fs::File;
use std::io::Read;
use std::path::Path;

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
