//! What the tests share: runs as `sagen sim` takes them, and many cases on all cores.
//!
//! `SAGEN_TIMES=1` prints what took longest.

use clap::Parser;
use sagen::cli::{Cli, Command, Sim};
use scop::value;
use scop::ScalarType;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A path of the project.
pub fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The C files of a folder, by name.
pub fn c_files(dir: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root(dir)).unwrap_or_else(|e| panic!("{dir}: {e}"));
    let mut files: Vec<_> = entries
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .collect();
    files.sort();
    files
}

/// Each file with the options of one of its lines `// sagen:`, of which it has at least one.
pub fn lines_of_options(files: Vec<PathBuf>) -> Vec<(PathBuf, String)> {
    let of_file = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).expect("a C file");
        let lines: Vec<String> =
            text.lines().filter_map(|l| Some(l.strip_prefix("// sagen:")?.trim().to_string())).collect();
        assert!(!lines.is_empty(), "{} has no line of options", file.display());
        lines.into_iter().map(move |line| (file.clone(), line)).collect::<Vec<_>>()
    };
    files.into_iter().flat_map(of_file).collect()
}

/// Runs `check` on files with options, on all cores; what it answers. All of them have to pass.
pub fn all_pass<T: Send>(cases: &[(PathBuf, String)], check: impl Fn(&Path, &str) -> T + Sync) -> Vec<T> {
    let about = |(file, line): &(PathBuf, String)| format!("{} {line}", file.display());
    let one = |case: &(PathBuf, String)| {
        caught(|| Ok(check(&case.0, &case.1))).map_err(|why| format!("{}: {why}", about(case)))
    };
    let (mut answers, mut faults) = (vec![], vec![]);
    for answer in on_all_cores(cases, about, one) {
        match answer {
            Ok(answer) => answers.push(answer),
            Err(why) => faults.push(why),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    answers
}

/// `sagen sim OPTIONS FILE`.
///
/// # Errors
/// What the command would say.
pub fn sim(options: &str, file: &Path) -> Result<Sim, String> {
    let words = ["sagen", "sim"].into_iter().chain(options.split_whitespace()).map(String::from);
    match Cli::try_parse_from(words.chain([file.to_string_lossy().into_owned()])) {
        Ok(Cli { command: Command::Sim(sim), .. }) => Ok(sim),
        Ok(other) => Err(format!("{other:?}")),
        Err(why) => Err(why.to_string()),
    }
}

/// Elements that differ, per array of these types; NaNs are equal.
pub fn differing(types: &[ScalarType], found: &[Vec<u64>], expected: &[Vec<u64>]) -> usize {
    let same = |ty: ScalarType, a: u64, b: u64| a == b || (value::is_nan(a, ty) && value::is_nan(b, ty));
    let count = |((&ty, f), e): ((&ScalarType, &Vec<u64>), &Vec<u64>)| {
        f.iter().zip(e).filter(|(&a, &b)| !same(ty, a, b)).count()
    };
    types.iter().zip(found).zip(expected).map(count).sum()
}

/// A number from the environment.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// Runs `check`; a panic is an error.
pub fn caught<T>(check: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|s| s.to_string()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// Runs `check` on every item, on all cores; what it answers, in the items' order.
pub fn on_all_cores<T: Sync, R: Send>(
    items: &[T],
    name: impl Fn(&T) -> String,
    check: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Duration, R)>> = Mutex::new(vec![]);
    let work = || {
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|i| (at, i))
        } {
            let begin = Instant::now();
            let answer = check(item);
            done.lock().expect("no panic").push((at, begin.elapsed(), answer));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores.min(items.len())).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().expect("no panic");
    if std::env::var_os("SAGEN_TIMES").is_some() {
        done.sort_by_key(|d| std::cmp::Reverse(d.1));
        done.iter().take(20).for_each(|(at, time, _)| println!("{:8.2} s  {}", time.as_secs_f64(), name(&items[*at])));
    }
    done.sort_by_key(|d| d.0);
    done.into_iter().map(|d| d.2).collect()
}
