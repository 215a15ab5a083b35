//! Searches side by side.
//!
//! **Problem.** A search gives up after a number of set operations of its own thread ([`scop::flow::questions`]). A thread
//! of rayon that waits for a part of its job takes up other jobs, and what they ask would count: the result would depend
//! on the machine.
//!
//! **Method.** Each search runs on a thread that does nothing else while it waits. Parts of it go to rayon as before, unless
//! there is a search for every core: then they stay, which saves switches between threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, Builder};

/// Bytes of stack for the recursion from a value to its operands: a chain of statements is as deep as it is long.
pub const STACK: usize = 1 << 28;

/// Jobs of [`each`] that run.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// There is a job of [`each`] for every core.
pub fn are_all_busy() -> bool {
    RUNNING.load(Ordering::Relaxed) >= rayon::current_num_threads()
}

/// Counts a job while it runs, and no longer if it panics.
struct Running;

impl Running {
    fn begin() -> Running {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `job` of each number below `count`, in their order, as many at once as rayon has threads.
pub fn each<R: Send>(count: usize, job: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let turn = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|k| *k < count);
        let counted = |k| {
            let _running = Running::begin();
            (k, job(k))
        };
        std::iter::from_fn(turn).map(counted).collect::<Vec<(usize, R)>>()
    };
    let mut done = scope(|scope| {
        let more = rayon::current_num_threads().min(count).saturating_sub(1);
        let start = |_| Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        // All before this thread does its share.
        let others: Vec<_> = (0..more).filter_map(start).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
}
