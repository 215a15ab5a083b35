//! Compiles and runs the golden program: which compiler, for how long, within which limits, and how it ended.

use super::Failure;
use crate::confine::Confinement;
use crate::files;
use crate::scratch::{self, Ended};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// How a program of the user is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// Without confinement.
    pub trust: bool,
    /// The longest time of compiling it, and of running it once.
    pub limit: Duration,
}

impl Default for How {
    fn default() -> How {
        How { trust: false, limit: Duration::from_secs(60) }
    }
}

/// A C compiler and options that belong to its name, as in `CC="gcc -m32"`.
#[derive(Clone, Debug)]
pub(crate) struct Compiler(Vec<String>);

impl std::fmt::Display for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl Compiler {
    /// `$CC`, or those of `cc`, `gcc` and `clang` that run, at least one.
    ///
    /// # Errors
    /// There is none, or `$CC` is none.
    pub fn all() -> Result<Vec<Compiler>, Failure> {
        Compiler::named("CC", ["cc", "gcc", "clang"], "gcc -m32")
    }

    /// The compiler that the environment variable names, or those of some others that run, at least one.
    fn named(variable: &str, usual: [&str; 3], example: &str) -> Result<Vec<Compiler>, Failure> {
        let Some(own) = std::env::var(variable).ok().filter(|c| !c.trim().is_empty()) else {
            let all = usual.map(|name| Compiler(vec![name.to_string()]));
            let all: Vec<Compiler> = all.into_iter().filter(|c| c.answers().is_ok()).collect();
            return if all.is_empty() { Err(Failure::NoCompiler) } else { Ok(all) };
        };
        let refused = |why: &str| {
            Failure::Compiler(format!(
                "the environment variable {variable} is `{own}`: {why}; it is a compiler, with options between blanks, such \
                as `{example}`"
            ))
        };
        if own.contains(['"', '\'', '\\', '$', '`']) {
            return Err(refused("sagen does not read quotes in it"));
        }
        let compiler = Compiler(own.split_whitespace().map(String::from).collect());
        compiler.answers().map_err(|why| refused(&why))?;
        Ok(vec![compiler])
    }

    /// The C++ compiler: `$CXX`, or the first of `c++`, `g++` and `clang++` that runs.
    ///
    /// # Errors
    /// There is none, or `$CXX` is none.
    pub fn find_cpp() -> Result<Compiler, Failure> {
        Compiler::named("CXX", ["c++", "g++", "clang++"], "g++ -m32").map(|mut all| all.remove(0))
    }

    /// A call of the compiler.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]);
        command
    }

    /// Whether it runs at all.
    fn answers(&self) -> Result<(), String> {
        match self.command().arg("--version").stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(format!("its option --version fails ({})", output.status)),
            Err(why) => Err(format!("it cannot be run ({why})")),
        }
    }
}

/// Compiles in `dir`.
pub(super) fn compile(command: &mut Command, dir: &Path, how: &How) -> Result<(), Failure> {
    // The compiler's temporary files are removed with the directory.
    let ended = scratch::within(command.current_dir(dir).env("TMPDIR", dir), None, how.limit, &dir.join("messages"));
    match ended.map_err(|e| Failure::Files(format!("cannot run the C compiler: {e}")))? {
        Ended::Itself(status, _) if status.success() => Ok(()),
        Ended::Itself(_, messages) => Err(Failure::Refused(messages.trim_end().to_string())),
        Ended::Late => Err(Failure::Late("compiler", how.limit)),
    }
}

/// A run of a compiled program. It works in a new folder `run` beside it.
pub(super) struct Execution<'a> {
    command: Command,
    dir: &'a Path,
    run: PathBuf,
    how: &'a How,
}

/// The files with what the arrays hold before and after.
const IN: &str = ".sagen_in";
const OUT: &str = ".sagen_out";

fn failed(e: std::io::Error) -> Failure {
    Failure::Files(format!("cannot run the golden model: {e}"))
}

impl<'a> Execution<'a> {
    pub fn new(program: &Path, dir: &'a Path, how: &'a How) -> Result<Execution<'a>, Failure> {
        let run = dir.join("run");
        if run.symlink_metadata().is_ok() {
            std::fs::remove_dir_all(&run).map_err(failed)?;
        }
        std::fs::create_dir(&run).map_err(failed)?;
        let mut command = Command::new(program);
        command.current_dir(&run);
        Ok(Execution { command, dir, run, how })
    }

    /// The bytes of the arrays, and the names of the files, are the program's arguments.
    pub fn pass_arguments(&mut self, sizes: &[usize]) {
        self.command.args([IN, OUT]).args(sizes.iter().map(usize::to_string));
    }

    /// They are in its environment. It finds the files of `folder` under their names.
    pub fn pass_variables(&mut self, sizes: &[usize], folder: &Path) -> Result<(), Failure> {
        let sizes: String = sizes.iter().map(|size| format!("{size} ")).collect();
        self.command.env("SAGEN_SIZES", sizes).env("SAGEN_IN", self.run.join(IN)).env("SAGEN_OUT", self.run.join(OUT));
        for entry in std::fs::read_dir(folder).map_err(failed)?.take(MOST_LINKS) {
            let entry = entry.map_err(failed)?;
            super::link(&entry.path(), &self.run.join(entry.file_name())).map_err(failed)?;
        }
        Ok(())
    }

    /// Runs it on `input`; the result is as long as `length` says.
    pub fn result(mut self, input: &[u8], length: usize) -> Result<Vec<u8>, Failure> {
        let (run, how) = (&self.run, self.how);
        std::fs::write(run.join(IN), input).map_err(failed)?;
        let confinement = Confinement { folder: run.clone(), longest_file: length as u64 + LARGEST };
        let confinement = (!how.trust).then_some(&confinement);
        let ended = scratch::within(&mut self.command, confinement, how.limit, &self.dir.join("errors"));
        let ended = ended.map_err(|e| {
            let advice = if how.trust { "" } else { " (--trust runs it without confinement)" };
            Failure::Files(format!("cannot run the golden model{advice}: {e}"))
        })?;
        let (status, errors) = match ended {
            Ended::Late => return Err(Failure::Late("program", how.limit)),
            Ended::Itself(status, errors) => (status, errors),
        };
        let out = run.join(OUT);
        if !status.success() || out.symlink_metadata().is_err() {
            return Err(Failure::Crashed(death(status, &errors, how)));
        }
        files::exactly(&out, length).map_err(failed)
    }
}

/// At most this many files of a folder are linked.
const MOST_LINKS: usize = 1000;

/// A file of the program may be longer than its result by this much.
const LARGEST: u64 = 1 << 28;

/// The driver marks its lines on standard error with this.
const MARK: &str = "sagen: ";

/// How a program ended that gave no result.
fn death(status: ExitStatus, errors: &str, how: &How) -> String {
    let last = errors.trim_end().lines().last().unwrap_or("");
    let what = match (signal(status), last.strip_prefix(MARK)) {
        (Some(signal), _) => format!("the C program failed: {signal}"),
        (None, Some("before" | "behind") | None) => {
            let place = match last.strip_prefix(MARK) {
                Some("before") => "before the region was reached",
                Some(_) => "in the region or behind it, before its function returned",
                None => "before the function of the region returned",
            };
            let code = status.code().map_or(String::new(), |code| format!(" (exit code {code})"));
            format!("the C program ended by itself{code} {place}")
        }
        (None, Some(reason)) => format!("the C program failed: {reason}"),
    };
    let said: Vec<&str> = errors.lines().filter(|line| !line.starts_with(MARK)).collect();
    let said = match said.len() {
        0 => String::new(),
        n => format!("; it says: {}", said[n.saturating_sub(5)..].join("\n")),
    };
    let advice = match how.trust {
        true => "",
        false => " (it had no network, could start no processes and could write in its own folder only; --trust runs it without these limits)",
    };
    what + &said + advice
}

/// The signal that ended a program, and what it usually means.
fn signal(status: ExitStatus) -> Option<String> {
    #[cfg(unix)]
    {
        let number = std::os::unix::process::ExitStatusExt::signal(&status)?;
        let name = signal_hook::low_level::signal_name(number).unwrap_or("a signal without a name");
        let meaning = match name {
            "SIGFPE" => ": arithmetic fault, such as a division by zero",
            "SIGSEGV" | "SIGBUS" => {
                ": memory fault, such as a subscript out of range or a local array larger than the stack"
            }
            "SIGABRT" => ": it gave up, such as by a failed assertion",
            "SIGXFSZ" => ": it wrote too long a file",
            "SIGSYS" => ": it made a system call that is not permitted",
            "SIGKILL" => ": somebody killed it; the system does when memory runs out",
            _ => "",
        };
        Some(format!("signal {number} ({name}{meaning})"))
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}
