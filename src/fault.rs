//! Faults of sagen's own: a panic anywhere, or a check of its own results that fails. No input may cause one; when it
//! happens all the same, the user is told so, with what to report.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Mutex;

/// Where the last panic happened, and how it came there.
static PLACE: Mutex<Option<(String, Backtrace)>> = Mutex::new(None);

/// The text for the user.
pub fn report(what: &str) -> String {
    let command: Vec<String> = std::env::args().collect();
    format!(
        "Internal error: {what}\n\
         This is a fault of sagen, not of your program. Please report it, with this message, the C file and:\n  \
         sagen {}, {} {}\n  {}\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        command.join(" ")
    )
}

/// Runs `job`; a panic in it becomes the text of [`report`], with its place, and with the way to it if `RUST_BACKTRACE`
/// asks for that.
///
/// # Errors
/// `job` panicked.
pub fn guarded<T>(job: impl FnOnce() -> T) -> Result<T, String> {
    set_hook(Box::new(|info| {
        let at = info.location().map_or_else(String::new, |l| format!(" ({}:{}:{})", l.file(), l.line(), l.column()));
        *PLACE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some((at, Backtrace::capture()));
    }));
    catch_unwind(AssertUnwindSafe(job)).map_err(|panic| {
        let (at, way) = PLACE
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .take()
            .unwrap_or((String::new(), Backtrace::disabled()));
        let text = report(&format!("{}{at}", message(&*panic)));
        match way.status() {
            BacktraceStatus::Captured => format!("{text}{way}"),
            _ => text + "RUST_BACKTRACE=1 in the environment shows more.\n",
        }
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
