//! Lists every legal systolic array of a program.

use crate::cli::Map;
use crate::error::{Error, Result};
use crate::program::Work;
use crate::reporter::{Progress, Reporter};
use array::text::Stage;
use search::Candidate;
use std::path::Path;

/// All legal systolic arrays of a function.
pub struct Mapped {
    /// The function's name.
    pub kernel: String,
    /// One row for each systolic array, in the order of the table; `--row` takes its number.
    pub rows: Vec<Candidate>,
}

/// See [`crate::map()`].
pub(crate) fn run(arguments: &Map, reporter: &dyn Reporter) -> Result<Mapped> {
    let (input, spec, _) = Work::load(&arguments.program, &arguments.design, reporter)?.only("`sagen map`")?;
    let scop = match input.stage {
        None | Some(Stage::Scop(_)) => input.scop,
        Some(_) => return Err(Error::usage("`sagen map` lists the arrays of a program: give it C, or a .scop")),
    };
    let refused = |faults| Error::diagnostics(faults, &scop.sources);
    reporter.progress(Progress::Stage("enumerating"));
    let rows = search::enumerate(&scop, &spec).map_err(refused)?;
    reporter.progress(Progress::Done);
    if let Some(dir) = &arguments.svg {
        let program = search::program(&scop, &spec).map_err(refused)?;
        let time = |row: &Candidate| search::diagram(&program.scop, &program.system, &row.plan, &row.vsa);
        draw_all(&rows, time, dir).map_err(Error::reason)?;
    }
    Ok(Mapped { kernel: scop.name.clone(), rows })
}

/// Writes two pictures of each row: the systolic array, and its space-time diagram.
fn draw_all(rows: &[Candidate], time: impl Fn(&Candidate) -> String, dir: &Path) -> std::result::Result<(), String> {
    let failed = |path: &Path, e: std::io::Error| format!("cannot write {}: {e}", path.display());
    std::fs::create_dir_all(dir).map_err(|e| failed(dir, e))?;
    for row in rows {
        for (name, picture) in
            [(format!("{}.svg", row.row), draw::draw(&row.vsa)), (format!("{}.time.svg", row.row), time(row))]
        {
            let path = dir.join(name);
            crate::files::replace(&path, picture.as_bytes()).map_err(|e| failed(&path, e))?;
        }
    }
    Ok(())
}
