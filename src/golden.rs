//! The golden model: the user's own C, compiled by the system's compiler and run on the same inputs.
//!
//! Two translation units separate the user's names and macros from ours. The first is a copy of the user's file with a
//! short function `sagen_call` at its end, which passes the buffers to the kernel. A region at file level is first
//! wrapped into a function; a `main` of the user is renamed. The second unit does not contain the user's code: it reads
//! the buffers from a file and writes the results.
//!
//! The hardware executes the marked region only. So the copy saves the contents of the arrays at the beginning and at
//! the end of the region, the first time that it runs. The rest of the function runs in C alone.
//!
//! A program with a `main` can also run as it is ([`Way::Main`]): its arrays where the region begins, the first time, are
//! the inputs.
//!
//! The program is compiled without optimization, so that the comparison does not depend on an optimizer. Flags make C's
//! arithmetic equal to that of `scop::value`: integers wrap around on overflow, and `a * b + c` is not contracted.

mod native;
mod own_main;
mod unit;
mod watch;

use crate::data::{elements, pack, unpack, Memory};
use crate::scratch::Scratch;
use frontend::ParseOptions;
pub(crate) use native::Compiler;
pub use native::How;
pub use own_main::{defines_main, has_main};
use scop::{Affine, Array, Binding, Scop, Storage};
use std::path::{Path, PathBuf};
use std::time::Duration;
pub use unit::reference;
use unit::{kernel_unit, shared};
use watch::watched;

/// Why there is no native result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No C compiler answers.
    NoCompiler,
    /// `$CC` is no C compiler; a sentence.
    Compiler(String),
    /// The compiler lacks a type that the program uses, such as `_Float16` or `_BitInt`; its messages.
    NoType(String),
    /// The compiler refused the program; its messages.
    Refused(String),
    /// The program ended without a result; a sentence.
    Crashed(String),
    /// The C compiler or the program took longer than it may.
    Late(&'static str, Duration),
    /// Files could not be written or read.
    Files(String),
}

impl Failure {
    /// The interpreter may take the place of the C program: nothing is known to be wrong with the region.
    pub fn leaves_the_interpreter(&self) -> bool {
        matches!(self, Failure::NoCompiler | Failure::NoType(_) | Failure::Crashed(_) | Failure::Late(..))
    }
}

impl Failure {
    /// In one line.
    pub fn short(&self) -> String {
        match self {
            Failure::Refused(messages) => {
                let telling = |line: &&str| line.contains("error") || line.contains("undefined");
                let line = messages.lines().find(telling).unwrap_or("");
                format!("the C compiler refuses the program: {}", line.trim())
            }
            other => other.to_string().lines().next().unwrap_or("").to_string(),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::NoCompiler => write!(f, "no C compiler found (tried cc, gcc, clang)"),
            Failure::NoType(messages) => write!(
                f,
                "the C compiler lacks a type ({}); CC names another one, such as CC=clang",
                messages.lines().find(|l| l.contains("error")).unwrap_or("16-bit floats or `_BitInt`")
            ),
            Failure::Refused(messages) => {
                write!(f, "the C compiler refuses the program:\n{messages}")?;
                match messages.contains("undefined reference") || messages.contains("Undefined symbols") {
                    true => write!(f, "\nHelp: give the files that define these functions: --with FILE.c"),
                    false => Ok(()),
                }
            }
            Failure::Late(who, limit) => {
                let seconds = limit.as_secs_f64();
                write!(f, "the C {who} did not end within {seconds} s (--c-time-limit gives it another time)")
            }
            Failure::Crashed(what) | Failure::Compiler(what) | Failure::Files(what) => write!(f, "{what}"),
        }
    }
}

/// A finished native run.
#[derive(Clone, Debug)]
pub struct Native {
    /// The compiler's command, such as `cc`.
    pub compiler: String,
    /// The arrays at the beginning of the region: as given, except for elements that the program wrote before, and
    /// constants of the program.
    pub before: Memory,
    /// Every DRAM array at the region's end.
    pub after: Memory,
}

/// How the region is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A call of its function on given arguments.
    Call,
    /// The program's own `main`, which calls the function. It ends where the region ends for the first time.
    Main,
}

/// Flags for the user's code.
const FLAGS: [&str; 9] = [
    "-O0",
    "-w",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-ffp-contract=off",
    "-ffunction-sections",
    "-fdata-sections",
    "-D__SYNTHESIS__=1",
    "-DNDEBUG",
];

/// The flag for user's code with a `main` that is not the program's.
const RENAMED: &str = "-Dmain=sagen_user_main";

/// Flags of the linker. Functions that the kernel does not call are dropped, with what they call: it may be missing.
const LINK: [&str; 1] = [if cfg!(target_os = "macos") { "-Wl,-dead_strip" } else { "-Wl,--gc-sections" }];

/// Compiles the kernel in `file` and runs it once on `memory`, confined and with the usual time limit.
///
/// # Errors
/// See [`Failure`].
pub fn run(scop: &Scop, file: &Path, preprocessing: &ParseOptions, memory: &Memory) -> Result<Native, Failure> {
    Golden::new(scop, file, preprocessing, &How::default(), Way::Call)?.run(scop, memory)
}

/// A compiled kernel; its files are removed with it.
pub struct Golden {
    compiler: String,
    how: How,
    way: Way,
    /// The folder of the user's file.
    folder: PathBuf,
    dir: Scratch,
    program: PathBuf,
}

impl Golden {
    /// Compiles the kernel in `file`.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn new(scop: &Scop, file: &Path, preprocessing: &ParseOptions, how: &How, way: Way) -> Result<Golden, Failure> {
        let folder = std::path::absolute(file).ok().and_then(|f| Some(f.parent()?.to_path_buf())).unwrap_or_default();
        let mut first = None;
        // Another compiler may have the type that one lacks.
        for compiler in Compiler::all()? {
            let dir = Scratch::temporary("golden")
                .map_err(|e| Failure::Files(format!("cannot make a folder for the golden model: {e}")))?;
            match build(&compiler, scop, file, preprocessing, (dir.path(), how, way)) {
                Ok(program) => {
                    return Ok(Golden { compiler: compiler.to_string(), how: *how, way, folder, dir, program })
                }
                Err(why @ Failure::NoType(_)) => drop(first.get_or_insert(why)),
                Err(why) => return Err(why),
            }
        }
        Err(first.unwrap_or(Failure::NoCompiler))
    }

    /// Runs it once on `memory`; `scop` is its program.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn run(&self, scop: &Scop, memory: &Memory) -> Result<Native, Failure> {
        let mut input = vec![];
        dram(scop).for_each(|(index, array)| input.extend(pack(&memory[index], array.ty)));
        let sizes: Vec<usize> = dram(scop).map(|(_, a)| bytes(a)).collect();
        let mut run = native::Execution::new(&self.program, self.dir.path(), &self.how)?;
        match self.way {
            Way::Call => run.pass_arguments(&sizes),
            Way::Main => run.pass_variables(&sizes, &self.folder)?,
        }
        let result = run.result(&input, 2 * input.len())?;
        let contents = |mut rest: &[u8]| {
            let mut all = memory.clone();
            for (index, array) in dram(scop) {
                let (own, next) = rest.split_at(bytes(array));
                // C leaves the bits open that a `_BitInt` does not have.
                let stored = |value| frontend::in_cell(&array.c_type, value).unwrap_or(value);
                (all[index], rest) = (unpack(own, array.ty).into_iter().map(stored).collect(), next);
            }
            all
        };
        let (first, last) = result.split_at(input.len());
        Ok(Native { compiler: self.compiler.clone(), before: contents(first), after: contents(last) })
    }
}

/// A constant global: its contents come from the program, not from the caller.
fn own_contents(array: &Array) -> bool {
    array.constant && array.binding == Binding::Global
}

fn dram(scop: &Scop) -> impl Iterator<Item = (usize, &Array)> {
    scop.arrays.iter().enumerate().filter(|(_, a)| a.storage == Storage::Dram)
}

fn bytes(array: &Array) -> usize {
    elements(array) * array.ty.bytes() as usize
}

/// The bytes of an array in C; sizes at run time are elements of `sagen_sizes`.
fn bytes_text(array: &Array) -> String {
    if array.extents.is_empty() {
        return bytes(array).to_string();
    }
    let extent = |e: &Affine| {
        let terms: String = e
            .coeffs
            .iter()
            .enumerate()
            .filter(|(_, c)| **c != 0)
            .map(|(k, c)| format!(" + {c} * sagen_sizes[{k}]"))
            .collect();
        format!("({}{terms})", e.constant)
    };
    format!("{} * {}", array.ty.bytes(), array.extents.iter().map(extent).collect::<Vec<_>>().join(" * "))
}

fn build(
    compiler: &Compiler,
    scop: &Scop,
    file: &Path,
    pre: &ParseOptions,
    (dir, how, way): (&Path, &How, Way),
) -> Result<PathBuf, Failure> {
    let files = |e: std::io::Error| Failure::Files(format!("cannot write the golden model: {e}"));
    let file = std::path::absolute(file).map_err(files)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let source = match watched(scop, way) {
        None if way == Way::Main => return Err(Failure::Crashed("its region is in an included file".into())),
        Some(text) => {
            let copy = dir.join("source");
            std::fs::create_dir(&copy).map_err(files)?;
            let copy = copy.join(if is_cpp(scop) { "watched.cpp" } else { "watched.c" });
            std::fs::write(&copy, text).map_err(files)?;
            Source::Watched(PathBuf::from("source").join(copy.file_name().unwrap_or_default()))
        }
        None if can_be_included(&file) => Source::AsItIs(file.clone()),
        None => {
            let copy = PathBuf::from("source").join(if is_cpp(scop) { "as_it_is.cpp" } else { "as_it_is.c" });
            std::fs::create_dir(dir.join("source")).map_err(files)?;
            link(&file, &dir.join(&copy)).map_err(files)?;
            Source::AsItIs(copy)
        }
    };
    let kernel = if is_cpp(scop) { "kernel.cpp" } else { "kernel.c" };
    let approximations = if pre.approximate { "#include <sagen_math.h>\n" } else { "" };
    let unit = format!("{approximations}{}", kernel_unit(scop, &source));
    std::fs::write(dir.join(kernel), unit).map_err(files)?;
    let driver = if way == Way::Main { own_main::DRIVER } else { DRIVER };
    std::fs::write(dir.join("driver.c"), driver).map_err(files)?;
    std::fs::create_dir(dir.join("headers")).map_err(files)?;
    std::fs::write(dir.join("headers/ap_int.h"), AP_INT).map_err(files)?;
    std::fs::write(dir.join("headers/sagen_math.h"), frontend::APPROXIMATIONS).map_err(files)?;

    let cpp = if is_cpp(scop) { Some(Compiler::find_cpp()?) } else { None };
    let of_kernel = cpp.as_ref().unwrap_or(compiler);
    let mut objects = vec!["driver.o".to_string(), "kernel.o".to_string()];
    native::compile(compiler.command().args(["-O0", "-w", "-c", "driver.c", "-o", "driver.o"]), dir, how)?;
    native::compile(user_unit(of_kernel, scop, folder, pre, way)?.args(["-c", kernel, "-o", "kernel.o"]), dir, how)
        .map_err(|why| match why {
            Failure::Refused(messages)
                if short_floats(scop)
                    && ["unknown type name", "not supported on this target"].iter().any(|m| messages.contains(m)) =>
            {
                Failure::NoType(messages)
            }
            Failure::Refused(messages) if messages.contains("_BitInt") && !knows_bit_int(of_kernel, dir, how) => {
                Failure::NoType(messages)
            }
            why => why,
        })?;
    let mut linker = of_kernel.clone();
    for (k, companion) in pre.companions.iter().enumerate() {
        let companion = std::path::absolute(companion).map_err(files)?;
        let own_folder = companion.parent().unwrap_or(Path::new("/")).to_path_buf();
        let object = format!("companion{k}.o");
        let of_file = if frontend::is_cpp(&companion.to_string_lossy()) {
            linker = Compiler::find_cpp()?;
            &linker
        } else {
            compiler
        };
        let mut unit = user_unit(of_file, scop, &own_folder, pre, way)?;
        native::compile(unit.arg("-c").arg(companion).args(["-o", &object]), dir, how)?;
        objects.push(object);
    }
    let mut link = linker.command();
    link.args(objects).args(LINK).args(["-o", "golden", "-lm"]);
    native::compile(&mut link, dir, how)?;
    Ok(dir.join("golden"))
}

/// The program is C++.
fn is_cpp(scop: &Scop) -> bool {
    scop.sources.files.first().is_some_and(|f| frontend::is_cpp(&f.name))
}

/// The program has 16-bit formats, whose intermediate results GCC would keep in fp32.
fn short_floats(scop: &Scop) -> bool {
    scop.arrays.iter().any(|a| a.ty.is_float() && a.ty.bits() < 32)
}

/// Whether the compiler has the type `_BitInt`.
fn knows_bit_int(compiler: &Compiler, dir: &Path, how: &How) -> bool {
    let text = "_BitInt(4) sagen_bits;\n";
    std::fs::write(dir.join("bits.c"), text).is_ok()
        && native::compile(compiler.command().args(["-std=gnu2x", "-c", "bits.c", "-o", "bits.o"]), dir, how).is_ok()
}

/// The command that compiles a file of the user, which includes files of `folder`.
fn user_unit(
    compiler: &Compiler,
    scop: &Scop,
    folder: &Path,
    pre: &ParseOptions,
    way: Way,
) -> Result<std::process::Command, Failure> {
    let mut command = compiler.command();
    let define = |(name, value): &(String, String)| format!("-D{name}={}", if value.is_empty() { "1" } else { value });
    if short_floats(scop) && !is_cpp(scop) {
        // GCC would otherwise keep the intermediate results of 16-bit formats in fp32.
        command.arg("-fexcess-precision=16");
    }
    if !is_cpp(scop) && scop.arrays.iter().any(|a| frontend::c_spelling(&a.c_type).contains("_BitInt")) {
        // Older standards of C do not have it.
        command.arg("-std=gnu2x");
    }
    command
        .args(FLAGS)
        .args((way == Way::Call).then_some(RENAMED))
        .args(pre.defines.iter().map(define))
        .arg("-iquote")
        .arg(folder);
    for include in &pre.include_dirs {
        let absolute = |e: std::io::Error| Failure::Files(format!("cannot write the golden model: {e}"));
        command.arg("-I").arg(std::path::absolute(include).map_err(absolute)?);
    }
    // Behind the user's own directories.
    command.args(["-idirafter", "headers"]);
    Ok(command)
}

/// Whether the name can stand between the quotes of an `#include`, where C has no escapes.
fn can_be_included(path: &Path) -> bool {
    path.to_str().is_some_and(|name| !name.contains(['"', '\\']) && !name.contains(char::is_control))
}

#[cfg(unix)]
fn link(file: &Path, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(file, at)
}

#[cfg(not(unix))]
fn link(file: &Path, at: &Path) -> std::io::Result<()> {
    std::fs::copy(file, at).map(drop)
}

/// The header of integers of any width.
const AP_INT: &str = include_str!("golden/ap_int.h");

/// The file that the kernel's translation unit includes.
enum Source {
    /// A copy that saves the arrays' contents at both ends of the region.
    Watched(PathBuf),
    /// The user's file: the region is in a file that it includes.
    AsItIs(PathBuf),
}

/// `golden IN OUT SIZE…`: reads buffers of these sizes (bytes), calls the kernel, writes what they hold where the
/// region begins, then what they hold where it ends.
const DRIVER: &str = include_str!("golden/driver.c");
