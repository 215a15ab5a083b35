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
<<<<<<< HEAD
    pub fn new(scop: &Scop, file: &Path, preprocessing: &ParseOptions, how: &How, way: Way) -> Result<Golden, Failure> {
        let compiler = Compiler::find()?;
        let dir = Scratch::temporary("golden")
            .map_err(|e| Failure::Files(format!("cannot make a folder for the golden model: {e}")))?;
        let program = build(&compiler, scop, file, preprocessing, (dir.path(), how, way))?;
        let folder = std::path::absolute(file).ok().and_then(|f| Some(f.parent()?.to_path_buf())).unwrap_or_default();
        Ok(Golden { compiler: compiler.to_string(), how: *how, way, folder, dir, program })
=======
    pub fn new(scop: &Scop, file: &Path, preprocessing: &ParseOptions, how: &How) -> Result<Golden, Failure> {
        let mut first = None;
        // Another compiler may have the type that one lacks.
        for compiler in Compiler::all()? {
            let dir = Scratch::temporary("golden")
                .map_err(|e| Failure::Files(format!("cannot make a folder for the golden model: {e}")))?;
            match build(&compiler, scop, file, preprocessing, (dir.path(), how)) {
                Ok(program) => return Ok(Golden { compiler: compiler.to_string(), how: *how, dir, program }),
                Err(why @ Failure::NoType(_)) => drop(first.get_or_insert(why)),
                Err(why) => return Err(why),
            }
        }
        Err(first.unwrap_or(Failure::NoCompiler))
>>>>>>> c7ff8c3 (frontend: _BitInt, exchanged pointers, flat arrays in rows, inferred maxima, --math approx, calls in branches)
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
<<<<<<< HEAD
    std::fs::write(dir.join(kernel), kernel_unit(scop, &source)).map_err(files)?;
    let driver = if way == Way::Main { own_main::DRIVER } else { DRIVER };
    std::fs::write(dir.join("driver.c"), driver).map_err(files)?;
=======
    let approximations = if pre.approximate { "#include <sagen_math.h>\n" } else { "" };
    let unit = format!("{approximations}{}", kernel_unit(scop, &source));
    std::fs::write(dir.join(kernel), unit).map_err(files)?;
    std::fs::write(dir.join("driver.c"), DRIVER).map_err(files)?;
>>>>>>> c7ff8c3 (frontend: _BitInt, exchanged pointers, flat arrays in rows, inferred maxima, --math approx, calls in branches)
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
<<<<<<< HEAD
    command
        .args(FLAGS)
        .args((way == Way::Call).then_some(RENAMED))
        .args(pre.defines.iter().map(define))
        .arg("-iquote")
        .arg(folder);
=======
    if !is_cpp(scop) && scop.arrays.iter().any(|a| frontend::c_spelling(&a.c_type).contains("_BitInt")) {
        // Older standards of C do not have it.
        command.arg("-std=gnu2x");
    }
    command.args(FLAGS).args(pre.defines.iter().map(define)).arg("-iquote").arg(folder);
>>>>>>> c7ff8c3 (frontend: _BitInt, exchanged pointers, flat arrays in rows, inferred maxima, --math approx, calls in branches)
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

<<<<<<< HEAD
=======
/// The user's file and, behind it, the function that calls its kernel on buffers in the order of the DRAM arrays.
fn kernel_unit(scop: &Scop, source: &Source) -> String {
    let (Source::Watched(path) | Source::AsItIs(path)) = source;
    let path = path.to_string_lossy();
    let cpp = is_cpp(scop);
    let mut text = format!("{}#include \"{path}\"\n", if cpp { "#include <utility>\n" } else { "" });
    let (mut copy_in, mut copy_out) = (String::new(), String::new());
    let mut arguments = vec![String::from("0"); scop.function.parameters as usize];
    for (k, size) in scop.sizes.iter().enumerate() {
        if let Some(place) = arguments.get_mut(size.parameter as usize) {
            *place = match size.value {
                _ if cpp => format!("(void *)&sagen_sizes[{k}]"),
                Some(value) => value.to_string(),
                None => format!("sagen_sizes[{k}]"),
            };
        }
    }
    for (slot, (_, array)) in dram(scop).enumerate() {
        match array.binding {
            Binding::Parameter(position) => {
                if let Some(place) = arguments.get_mut(position as usize) {
                    *place = format!("sagen_p[{slot}]");
                }
            }
            Binding::Value(position) => {
                if let Some(place) = arguments.get_mut(position as usize) {
                    *place = match cpp {
                        true => format!("sagen_p[{slot}]"),
                        false => format!("*({} *)sagen_p[{slot}]", frontend::c_spelling(&array.c_type)),
                    };
                }
            }
            Binding::Around | Binding::Static => {}
            Binding::Global | Binding::Local | Binding::Scratch | Binding::Host(_) => {
                let (name, size) = (&array.name, bytes(array));
                // The front end and the compiler must agree on the array's size.
                let _ = writeln!(text, "typedef char sagen_size_{slot}[sizeof({name}) == {size} ? 1 : -1];");
                if !own_contents(array) {
                    let _ = writeln!(copy_in, "  __builtin_memcpy((void *)&{name}, sagen_p[{slot}], {size});");
                }
                let _ = writeln!(copy_out, "  __builtin_memcpy(sagen_p[{slot}], (void *)&{name}, {size});");
            }
        }
    }
    let name = scop.function.name.as_deref().unwrap_or("sagen_region");
    let call = if name == "main" {
        // A program without options; its `main` is renamed.
        let _ = writeln!(text, "static char *sagen_arguments[] = {{(char *)\"program\", 0, 0}};");
        let usual = ["1", "sagen_arguments", "sagen_arguments + 2"];
        arguments.iter_mut().zip(usual).for_each(|(a, usual)| *a = usual.into());
        format!("  {name}({});\n", arguments.join(", "))
    } else if cpp && scop.function.name.is_some() {
        let _ = writeln!(text, "{INVOKE}");
        format!("  void *sagen_given[] = {{{}, 0}};\n  sagen::invoke(&{name}, sagen_given);\n", arguments.join(", "))
            .replace("{, ", "{")
    } else {
        format!("  {name}({});\n", arguments.join(", "))
    };
    let linkage = if cpp { "extern \"C\" " } else { "" };
    if let Source::AsItIs(_) = source {
        // The value of a constant is known afterwards.
        let keep = |when: &str, own: bool| {
            let copy = |(slot, (_, array)): (usize, (usize, &Array))| {
                (own_contents(array) == own).then(|| {
                    format!("  __builtin_memcpy(sagen_{when}[{slot}], sagen_p[{slot}], {});\n", bytes_text(array))
                })
            };
            dram(scop).enumerate().filter_map(copy).collect::<String>()
        };
        let (before, after) =
            (keep("before", false), [keep("before", true), keep("after", false), keep("after", true)].concat());
        let _ = writeln!(text, "{}", shared(scop));
        let _ = writeln!(
            text,
            "{linkage}void sagen_call(void **sagen_p) {{\n{before}{copy_in}{call}{copy_out}{after}  sagen_runs = 1;\n}}"
        );
    } else {
        let _ = writeln!(text, "{linkage}void sagen_call(void **sagen_p) {{\n{copy_in}{call}}}");
    }
    text
}

/// C text with `int <name>_reference(void **before, void **after)`, which runs the program once on the arguments of an
/// IP, `numbers` saying which array of the `Scop` each is, if any. `before` holds what the function is called with, and
/// afterwards what was there where the region began; `after` gets what was there where it ended. The result is 0 if the
/// region was never reached. `None` if the text would have to include a file whose name no `#include` can have.
pub fn reference(
    scop: &Scop,
    file: &Path,
    preprocessing: &ParseOptions,
    name: &str,
    numbers: &[Option<usize>],
) -> Option<String> {
    let own = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut text = format!("/* The C program behind {name}, with a way in: {name}_reference at the end.\n");
    let _ = writeln!(
        text,
        " *   cc -O1 -fwrapv -fno-strict-aliasing -ffp-contract=off -ffunction-sections -fdata-sections -c -iquote \
        <folder of {}> reference.c",
        packaging::quote::comment(&own)
    );
    let name_of = |p: &PathBuf| p.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let more: String =
        preprocessing.companions.iter().map(|p| format!(" {}", packaging::quote::comment(&name_of(p)))).collect();
    let with = if more.is_empty() { String::new() } else { format!(" together with{more}") };
    let _ =
        writeln!(text, " * Link it{with} with {}: functions that the kernel does not need are left out. */", LINK[0]);
    for (macro_name, value) in &preprocessing.defines {
        let _ = writeln!(text, "#define {macro_name} {}", if value.is_empty() { "1" } else { value });
    }
    text.push_str("#define main sagen_user_main\n#define __SYNTHESIS__ 1\n#define NDEBUG 1\n");
    if preprocessing.approximate {
        text.push_str(frontend::APPROXIMATIONS);
    }
    let own = PathBuf::from(own);
    match watched(scop) {
        // The program itself in place of its inclusion.
        Some(program) => {
            let unit = kernel_unit(scop, &Source::Watched("program.c".into()));
            let _ = write!(text, "{program}\n{}", unit.split_once('\n').map_or("", |parts| parts.1));
        }
        None if can_be_included(&own) => text.push_str(&kernel_unit(scop, &Source::AsItIs(own))),
        None => return None,
    }
    let (mut set, mut free, count) = (String::new(), String::new(), dram(scop).count());
    for (slot, (index, array)) in dram(scop).enumerate() {
        let size = bytes_text(array);
        let _ = write!(set, "  p[{slot}] = __builtin_malloc({size});");
        let _ = match numbers.iter().position(|&p| p == Some(index)) {
            Some(k) => writeln!(
                set,
                " b[{slot}] = before[{k}]; a[{slot}] = after[{k}]; __builtin_memcpy(p[{slot}], b[{slot}], {size});"
            ),
            None => writeln!(
                set,
                " b[{slot}] = a[{slot}] = __builtin_malloc({size}); __builtin_memset(p[{slot}], 0, {size});"
            ),
        };
        let _ = match numbers.contains(&Some(index)) {
            true => writeln!(free, "  __builtin_free(p[{slot}]);"),
            false => writeln!(free, "  __builtin_free(p[{slot}]); __builtin_free(b[{slot}]);"),
        };
    }
    // Open sizes are an argument, too, in the order of the function's parameters.
    let (more, keep) = if scop.sizes.iter().any(|s| s.value.is_none()) {
        (", const long long *sizes", "  sagen_sizes = sizes;\n")
    } else {
        ("", "")
    };
    let _ = writeln!(
        text,
        "void **sagen_before, **sagen_after, **sagen_state; int sagen_runs; const long long *sagen_sizes;\nint {name}_reference(void \
        **before, void **after{more}) {{"
    );
    let _ = writeln!(
        text,
        "{keep}  void *p[{count}], *b[{count}], *a[{count}], *s[{count}] = {{0}};\n{set}  sagen_before = b; sagen_after = a; \
        sagen_state = s; sagen_runs = 0;\n  sagen_call(p);\n{free}  return sagen_runs > 0;\n}}"
    );
    Some(text)
}

/// The declarations of both units, in the language of the program.
fn shared(scop: &Scop) -> String {
    match is_cpp(scop) {
        true => format!("extern \"C\" {{ {SHARED} }}"),
        false => SHARED.to_string(),
    }
}

/// Calls a C++ function with what these addresses hold: arrays, references and values alike. An address of 0 stands for
/// an argument that the region does not use.
const INVOKE: &str = r#"namespace sagen {
static long long unused[1 << 13];
template <class T> struct As { static T from(void *p) { return p ? *(T *)p : T(); } };
template <class T> struct As<T *> { static T *from(void *p) { return (T *)p; } };
template <class T> struct As<T &> { static T &from(void *p) { return *(T *)(p ? p : unused); } };
template <class R, class... A, std::size_t... I>
void invoke(R (*f)(A...), void **p, std::index_sequence<I...>) { f(As<A>::from(p[I])...); }
template <class R, class... A>
void invoke(R (*f)(A...), void **p) { invoke(f, p, std::index_sequence_for<A...>()); }
}"#;

/// The declarations of both units.
const SHARED: &str =
    "extern void **sagen_before, **sagen_after, **sagen_state; extern int sagen_runs; extern const long long *sagen_sizes;";

>>>>>>> c7ff8c3 (frontend: _BitInt, exchanged pointers, flat arrays in rows, inferred maxima, --math approx, calls in branches)
/// `golden IN OUT SIZE…`: reads buffers of these sizes (bytes), calls the kernel, writes what they hold where the
/// region begins, then what they hold where it ends.
const DRIVER: &str = include_str!("golden/driver.c");
