//! The same function over many items on all cores; results stand in the order of the items, whatever the number of cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

/// `f` of every item.
pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    // The system is asked once: it reads files for that.
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = items.len().min(*CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get)));
    if cores < 2 {
        return items.iter().map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((k, item)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| Some((k, items.get(k)?))) {
                    let result = f(item);
                    done.lock().expect("no other core has failed").push((k, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no core has failed");
    done.sort_unstable_by_key(|d| d.0);
    done.into_iter().map(|d| d.1).collect()
}
