//! The boards sagen knows: the files of `boards/`, built in, and the user's own.

use crate::cli::Boards;
use crate::program::Refused;
use arch::cost::board::Board;
use serde_json::json;

const FILES: [&str; 11] = [
    include_str!("../boards/arty-a7-100.toml"),
    include_str!("../boards/kv260.toml"),
    include_str!("../boards/pynq-z2.toml"),
    include_str!("../boards/u200.toml"),
    include_str!("../boards/u250.toml"),
    include_str!("../boards/u280.toml"),
    include_str!("../boards/u50.toml"),
    include_str!("../boards/u55c.toml"),
    include_str!("../boards/vu9p.toml"),
    include_str!("../boards/zcu102.toml"),
    include_str!("../boards/zcu104.toml"),
];

/// The board that is meant when none is named.
pub const DEFAULT: &str = "u250";

/// All built-in boards, by name.
///
/// # Errors
/// A built-in file is not a board file, which a test excludes.
pub fn all() -> Result<Vec<Board>, String> {
    FILES.iter().map(|text| Board::parse(text)).collect()
}

/// A built-in board by its name, or the user's own by its file (any name with a `.` or `/` in it).
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

/// `sagen boards`; what to print.
///
/// # Errors
/// As for [`all`].
pub fn run(arguments: &Boards) -> Result<String, Refused> {
    let boards = all().map_err(Refused::plain)?;
    if !arguments.json {
        return Ok(table(&boards));
    }
    let one = |b: &Board| {
        let memory = |m: &arch::cost::board::Memory| {
            json!({ "kind": m.kind, "ports": m.ports, "data_bits": m.data_bits, "peak_bytes_per_s": m.peak_bytes_per_s })
        };
        json!({
            "name": b.name,
            "title": b.title,
            "part": b.part,
            "clock_mhz": b.clock_mhz,
            "resources": b.resources,
            "dies": b.dies.len().max(1),
            "memory": b.memory.iter().map(memory).collect::<Vec<_>>(),
        })
    };
    Ok(format!("{:#}\n", json!(boards.iter().map(one).collect::<Vec<_>>())))
}

/// The table of `sagen boards`.
pub fn table(boards: &[Board]) -> String {
    let mut rows = vec![["name", "clock MHz", "dies", "LUT", "FF", "DSP", "BRAM36", "URAM", "memory", "part"].map(String::from)];
    for b in boards {
        let r = &b.resources;
        let memory: Vec<_> = b.memory.iter().map(|m| format!("{}×{} {} bit", m.ports, m.kind, m.data_bits)).collect();
        let numbers = [r.lut, r.ff, r.dsp, r.bram36, r.uram].map(|n| n.to_string());
        let [lut, ff, dsp, bram, uram] = numbers;
        let dies = b.dies.len().max(1).to_string();
        rows.push([b.name.clone(), b.clock_mhz.to_string(), dies, lut, ff, dsp, bram, uram, memory.join(", "), b.part.clone()]);
    }
    crate::table::render(&rows.iter().map(|r| r.to_vec()).collect::<Vec<_>>(), &[1, 2, 3, 4, 5, 6, 7])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_board_reads_and_its_dies_add_up() {
        let boards = all().unwrap();
        assert!(boards.iter().any(|b| b.name == DEFAULT));
        for board in &boards {
            assert_eq!(find(&board.name).as_ref(), Ok(board));
            assert_eq!(board.dies.iter().map(|d| d.resources.dsp).sum::<i64>(), board.resources.dsp, "{}", board.name);
        }
        assert!(table(&boards).lines().count() == boards.len() + 2);
    }

    #[test]
    fn unknown_boards_are_refused_with_the_known_ones() {
        assert!(find("u9").is_err_and(|e| e.contains("u250") && e.contains("zcu104")));
        assert!(find("/nowhere/b.toml").is_err_and(|e| e.contains("cannot read")));
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mine.toml");
        std::fs::write(&file, "name = 3").unwrap();
        assert!(find(&file.to_string_lossy()).is_err_and(|e| e.contains("not a board file")));
    }
}
