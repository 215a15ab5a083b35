//! Faults of sagen's own: a panic, or a check of its own results that fails. No input may cause one. If one happens,
//! the user learns so, and what to report.
//!
//! Sets of integers report their errors by panics as well: `scop::flow` asks thousands of questions in the middle of
//! expressions, and the rare error, such as a number beyond 64 bits, ends the analysis as a whole.
//! `scop::flow::limited` turns it into a value around the analysis. [`guarded`] is the border for all others: it is
//! the one place of this crate that catches panics, and every function at the root of the library goes through it.

use search::threads::STACK;
use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::{Mutex, Once};

/// The place of the last panic, and the way to it.
static PLACE: Mutex<Option<(String, Backtrace)>> = Mutex::new(None);

/// A fault, as a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened, with its place in the source if it is known.
    pub what: String,
    /// The way there, if the environment asks for it by `RUST_BACKTRACE=1`.
    backtrace: Option<String>,
    /// It was a panic, so that there could be a backtrace.
    panic: bool,
}

impl Fault {
    /// A check that failed.
    pub fn new(what: impl std::fmt::Display) -> Fault {
        Fault { what: what.to_string(), backtrace: None, panic: false }
    }

    /// The text for the user.
    pub fn report(&self) -> String {
        let command: Vec<String> = std::env::args().collect();
        let text = format!(
            "Internal error: {}\n\
             This is a fault of sagen, not of your program. Please report it, with this message, the C file and:\n  \
             sagen {}, {} {}\n  {}\n",
            self.what,
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            command.join(" ")
        );
        match &self.backtrace {
            Some(way) => text + way,
            None if self.panic => text + "RUST_BACKTRACE=1 in the environment shows more.\n",
            None => text,
        }
    }
}

/// From now on a panic anywhere in the process prints nothing; [`guarded`] tells its place. For a process of its own,
/// such as the command: the hook is the process's, not the library's.
pub fn record_panics() {
    set_hook(Box::new(|info| {
        let at = info.location().map_or_else(String::new, |l| format!(" ({}:{}:{})", l.file(), l.line(), l.column()));
        *PLACE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some((at, Backtrace::capture()));
    }));
}

/// Runs `job`, and what it gives to the threads of rayon, with as much stack as a long chain of statements needs.
///
/// # Errors
/// `job` panicked.
pub fn guarded<T>(job: impl FnOnce() -> T) -> Result<T, Fault> {
    // A host that has started these threads before keeps its own.
    static THREADS: Once = Once::new();
    THREADS.call_once(|| drop(rayon::ThreadPoolBuilder::new().stack_size(STACK).build_global()));
    stacker::grow(STACK, || catch_unwind(AssertUnwindSafe(job))).map_err(|panic| {
        let place = PLACE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let (at, way) = place.unwrap_or((String::new(), Backtrace::disabled()));
        let backtrace = (way.status() == BacktraceStatus::Captured).then(|| way.to_string());
        Fault { what: format!("{}{at}", message(&*panic)), backtrace, panic: true }
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let sets =
        || panic.downcast_ref::<scop::poly::Error>().map(|error| format!("integer set operation failed: {error}"));
    panic
        .downcast_ref::<String>()
        .cloned()
        .or(panic.downcast_ref::<&str>().map(|s| s.to_string()))
        .or_else(sets)
        .unwrap_or_else(|| "panic".into())
}
