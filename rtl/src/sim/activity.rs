//! Event-driven evaluation: which jobs must run.
//!
//! **Problem.** Few values change in a cycle. An operation whose operands have not changed returns the same result.
//!
//! **Terms.** A *job* is an operation of the tape, the writes to one memory, or the update of a state. Jobs are
//! numbered in the order in which they run within a cycle. A job is *pending* if anything it reads has changed since it
//! ran. A *source* of changes is a job, a memory or an input port; sources are numbered in this order.
//!
//! **Method.** For each source, a table holds its readers as bits of words. A job reports whether it changed its
//! result; if so, the bits of its readers are set in the set of pending jobs. `next` finds the first pending job.
//!
//! **Invariant.** A job that is not pending would change nothing. Within a settling, a change makes only later jobs
//! pending. At the clock edge it also makes earlier ones pending: a register changes after all its readers, which run
//! in the next cycle.
//!
//! ```text
//! job 0: a = x + 1     job 1: b = a > 3     job 2: q loads b
//! x changes: 0 is pending. It changes a: 1 is pending. It leaves b as it is: 2 does not run.
//! ```

/// A range of words of the storage: first, length.
pub type Range = (usize, usize);

/// Readers within one word of the set of pending jobs.
#[derive(Clone, Copy, Debug)]
struct Mark {
    word: u32,
    bits: u64,
}

/// The pending jobs, and the readers of each source.
#[derive(Clone, Debug)]
pub struct Activity {
    pending: Vec<u64>,
    /// First mark of each source, and the end of the last one.
    first: Vec<u32>,
    marks: Vec<Mark>,
}

impl Activity {
    /// A set of `reads.len()` pending jobs. `reads` are the words that each job reads, `writes` those that each source
    /// may change, `extra` further pairs of a source and a reader. The storage has `size` words.
    pub fn new(reads: &[Vec<Range>], writes: &[Vec<Range>], extra: &[(usize, usize)], size: usize) -> Activity {
        let readers = Readers::new(reads, size);
        let mut a = Activity { pending: vec![!0; reads.len().div_ceil(64)], first: vec![0], marks: vec![] };
        for (source, ranges) in writes.iter().enumerate() {
            let mut jobs: Vec<u32> = ranges.iter().flat_map(|&(at, n)| readers.of(at, n)).copied().collect();
            jobs.extend(extra.iter().filter(|e| e.0 == source).map(|e| e.1 as u32));
            jobs.sort_unstable();
            jobs.dedup();
            // A job that works in place does not wake itself.
            a.add(jobs.into_iter().filter(|&j| j as usize != source));
        }
        a
    }

    fn add(&mut self, jobs: impl Iterator<Item = u32>) {
        let from = self.first.last().map_or(0, |&f| f as usize);
        for job in jobs {
            let (word, bit) = (job / 64, 1 << (job % 64));
            match self.marks[from..].last_mut() {
                Some(m) if m.word == word => m.bits |= bit,
                _ => self.marks.push(Mark { word, bits: bit }),
            }
        }
        self.first.push(self.marks.len() as u32);
    }

    /// Makes all jobs pending.
    pub fn wake_all(&mut self) {
        self.pending.fill(!0);
    }

    /// The first pending job in `from..end`.
    #[inline(always)]
    pub fn next(&self, from: usize, end: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.pending.get(word)? & !0 << (from % 64);
        while bits == 0 {
            word += 1;
            if word * 64 >= end {
                return None;
            }
            bits = self.pending[word];
        }
        let job = word * 64 + bits.trailing_zeros() as usize;
        (job < end).then_some(job)
    }

    /// Takes a job, which the caller runs, from the pending ones.
    #[inline(always)]
    pub fn start(&mut self, job: usize) {
        self.pending[job / 64] &= !(1 << (job % 64));
    }

    /// Makes the readers of a source pending.
    #[inline(always)]
    pub fn wake(&mut self, source: usize) {
        for m in &self.marks[self.first[source] as usize..self.first[source + 1] as usize] {
            self.pending[m.word as usize] |= m.bits;
        }
    }
}

/// The jobs that read each word of the storage.
struct Readers {
    first: Vec<u32>,
    jobs: Vec<u32>,
}

impl Readers {
    fn new(reads: &[Vec<Range>], size: usize) -> Readers {
        let mut first = vec![0u32; size + 1];
        for &(at, n) in reads.iter().flatten() {
            first[at..at + n].iter_mut().for_each(|c| *c += 1);
        }
        let mut sum = 0;
        for c in &mut first {
            sum += *c;
            *c = sum;
        }
        // Filling from the back leaves each entry at the first of its word's jobs.
        let mut jobs = vec![0; sum as usize];
        for (job, ranges) in reads.iter().enumerate() {
            for c in ranges.iter().flat_map(|&(at, n)| at..at + n) {
                first[c] -= 1;
                jobs[first[c] as usize] = job as u32;
            }
        }
        Readers { first, jobs }
    }

    fn of(&self, at: usize, n: usize) -> &[u32] {
        &self.jobs[self.first[at] as usize..self.first[at + n] as usize]
    }
}
