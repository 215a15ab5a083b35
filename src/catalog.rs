//! The boards: the files of `boards/`, which are built in, and the user's own files.

use cost::board::Board;

const FILES: [&str; 13] = [
    include_str!("../boards/arty-a7-100.toml"),
    include_str!("../boards/kv260.toml"),
    include_str!("../boards/orangecrab.toml"),
    include_str!("../boards/pynq-z2.toml"),
    include_str!("../boards/u200.toml"),
    include_str!("../boards/u250.toml"),
    include_str!("../boards/u280.toml"),
    include_str!("../boards/u50.toml"),
    include_str!("../boards/u55c.toml"),
    include_str!("../boards/ulx3s.toml"),
    include_str!("../boards/vu9p.toml"),
    include_str!("../boards/zcu102.toml"),
    include_str!("../boards/zcu104.toml"),
];

/// The board if none is named.
pub const DEFAULT: &str = "u250";

/// All built-in boards, by name.
///
/// # Errors
/// A built-in file is not a board file; a test excludes that.
pub fn all() -> Result<Vec<Board>, String> {
    FILES.iter().map(|text| Board::parse(text)).collect()
}

/// A built-in board by its name, or the user's board by its file (a name with a `.` or `/`).
///
/// # Errors
/// A sentence that names the board or file and, for an unknown name, the known ones.
pub fn find(name: &str) -> Result<Board, String> {
    if name.contains(['.', '/', '\\']) {
        let text = crate::files::text(std::path::Path::new(name))?;
        return Board::parse(&text).map_err(|e| format!("{name} is not a board file: {e}"));
    }
    let boards = all()?;
    let known: Vec<_> = boards.iter().map(|b| b.name.clone()).collect();
    let unknown = || format!("unknown board '{name}'; known: {}, or the path of a .toml file", known.join(", "));
    boards.into_iter().find(|b| b.name == name).ok_or_else(unknown)
}
