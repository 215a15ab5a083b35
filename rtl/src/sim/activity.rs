//! Which jobs have something to do.
//!
//! A *job* is an operation of the tape, the writes to a memory, or the update of a state; they are
//! numbered in the order in which they run within a cycle. A job is *pending* if anything it reads
//! has changed since it ran. Running a job whose inputs are the same would not change anything, so
//! only pending jobs run. Each tells whether it changed what it writes; if so, the jobs that read
//! that become pending.
//!
//! Within a settling, marks only go forward. At the edge they also go back: a register is updated
//! after those that read it, and these have a new input only at the next edge.

/// Word range of the storage: first, length.
pub type Range = (usize, usize);

/// Jobs to be marked, as bits of one word of the set.
#[derive(Clone, Copy, Debug)]
struct Mark {
    word: u32,
    bits: u64,
}

/// The pending jobs, and what each change makes pending.
///
/// Changes have a *source*: the jobs come first, behind them what else the caller numbers
/// (memories, input ports).
#[derive(Clone, Debug)]
pub struct Activity {
    pending: Vec<u64>,
    /// Where the marks of each source begin, and the end of the last.
    first: Vec<u32>,
    marks: Vec<Mark>,
}

impl Activity {
    /// All `reads.len()` jobs pending. `reads`: what each job reads; `writes`: what a change by each source may alter;
    /// `extra`: jobs beyond these that a source makes pending. `size` is the number of words of storage.
    pub fn new(reads: &[Vec<Range>], writes: &[Vec<Range>], extra: &[(usize, usize)], size: usize) -> Activity {
        let readers = Readers::new(reads, size);
        let mut a = Activity { pending: vec![!0; reads.len().div_ceil(64)], first: vec![0], marks: vec![] };
        for (source, ranges) in writes.iter().enumerate() {
            let mut jobs: Vec<u32> = ranges.iter().flat_map(|&(at, n)| readers.of(at, n)).copied().collect();
            jobs.extend(extra.iter().filter(|e| e.0 == source).map(|e| e.1 as u32));
            jobs.sort_unstable();
            jobs.dedup();
            // Some jobs work in place; what they write themselves is no news to them.
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

    /// Everything is pending.
    pub fn all(&mut self) {
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

    /// The job is about to run.
    #[inline(always)]
    pub fn done(&mut self, job: usize) {
        self.pending[job / 64] &= !(1 << (job % 64));
    }

    /// Something has changed: whoever reads it is pending.
    #[inline(always)]
    pub fn changed(&mut self, source: usize) {
        for m in &self.marks[self.first[source] as usize..self.first[source + 1] as usize] {
            self.pending[m.word as usize] |= m.bits;
        }
    }
}

/// Per word of storage, the jobs that read it.
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
        // Filled from the back, so that every entry ends up at the begin of its word's jobs.
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
