//! What people see: tables, numbers, diagnostics, progress, faults, boards.

use indicatif::{ProgressDrawTarget, TermLike};
use sagen::cli::Boards;
use sagen::fault::{self, Fault};
use sagen::{catalog, command, progress, render, report, table};
use scop::diag::{Diagnostic, SourceFile, SourceMap, Span};
use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// What stands in a terminal's only line.
#[derive(Clone, Debug, Default)]
struct Line(Arc<Mutex<String>>);

impl Line {
    fn text(&self) -> String {
        self.0.lock().expect("no panic").clone()
    }
}

impl TermLike for Line {
    fn width(&self) -> u16 {
        120
    }
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.lock().expect("no panic").push_str(text);
        Ok(())
    }
    fn clear_line(&self) -> io::Result<()> {
        self.0.lock().expect("no panic").clear();
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn percent_rate_and_time_left_are_shown() {
    let terminal = Line::default();
    let bar = progress::simulation(8_000);
    bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
    progress::advance(&bar, 2_000);
    bar.force_draw();
    let text = terminal.text();
    assert!(
        text.contains("simulating 25 % of 8,000 cycles") && text.contains("cycles/s") && text.contains("left"),
        "{text}"
    );
    progress::advance(&bar, 9_000);
    assert_eq!(bar.length(), Some(9_180));
    bar.finish_and_clear();
    assert_eq!(terminal.text(), "");
}

/// In a process of its own, as panics of all threads would be reported.
#[test]
fn a_panic_is_a_report() {
    let own = std::env::current_exe().expect("this program");
    let output = Command::new(own).args(["--ignored", "--exact", "modules::shown::guarded"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

#[test]
#[ignore = "what `a_panic_is_a_report` runs"]
fn guarded() {
    let list: Vec<u8> = vec![];
    fault::record_panics();
    let text = fault::guarded(|| list[std::hint::black_box(2)]).expect_err("there is no such element").report();
    assert!(
        text.starts_with(
            "Internal error: index out of bounds: the len is 0 but the index is 2 (tests/suite/modules/shown.rs:"
        ),
        "{text}"
    );
    assert!(text.contains("Please report it") && text.contains(env!("CARGO_PKG_VERSION")), "{text}");
    let _ = std::panic::take_hook();
    assert_eq!(fault::guarded(|| 7), Ok::<_, Fault>(7));
}

#[test]
fn shows_place_text_reason_and_help() {
    let text = "void f(int A[4]) {\n  while (µ) A[0]++;\n}\n".to_string();
    let sources = SourceMap { files: vec![SourceFile { name: "k.c".into(), text }] };
    let list = [
        Diagnostic::error("E0102", Span { file: 0, start: 21, end: 26 }, "a while loop")
            .label("no bound")
            .help("write a for loop"),
        Diagnostic::error("E0901", None, "no such array"),
    ];
    let shown = render::diagnostics(&list, &sources, false);
    for part in [
        "k.c:2:3",
        "while (µ)",
        "──┬──",
        "no bound",
        "write a for loop",
        "[E0901] Error: no such array",
        "2 errors",
        "For more information: sagen explain E0102 E0901",
    ] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(!shown.contains('\x1b'));
    assert!(render::diagnostics(&list, &sources, true).contains('\x1b'));
}

#[test]
fn every_built_in_board_reads_and_its_dies_add_up() {
    let boards = catalog::all().unwrap();
    assert!(boards.iter().any(|b| b.name == catalog::DEFAULT));
    for board in &boards {
        assert_eq!(catalog::find(&board.name).as_ref(), Ok(board));
        assert_eq!(board.dies.iter().map(|d| d.resources.dsp).sum::<i64>(), board.resources.dsp, "{}", board.name);
    }
}

#[test]
fn unknown_boards_are_refused_with_the_known_ones() {
    assert!(catalog::find("u9").is_err_and(|e| e.contains("u250") && e.contains("zcu104")));
    assert!(catalog::find("/nowhere/b.toml").is_err_and(|e| e.contains("cannot read")));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    std::fs::write(&file, "name = 3").unwrap();
    assert!(catalog::find(&file.to_string_lossy()).is_err_and(|e| e.contains("not a board file")));
}

#[test]
fn the_table_has_a_line_for_each_board() {
    let boards = catalog::all().unwrap();
    let table = command::boards(&Boards { json: false }).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(table.lines().count(), boards.len() + 2);
}

#[test]
fn thousands_are_grouped() {
    assert_eq!([0, 999, 1000, -1234567].map(report::grouped), ["0", "999", "1,000", "-1,234,567"]);
}

#[test]
fn columns_line_up() {
    let rows = [vec!["n".into(), "name".into()], vec!["10".into(), "µ".into()], vec!["9".into()]];
    assert_eq!(table::render(&rows, &[0]), " n  name\n────────\n10  µ\n 9\n");
}
