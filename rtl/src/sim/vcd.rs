//! Waveforms: the named values of a traced simulation as a value change dump (IEEE 1364, section 18).

use super::signals::Signal;
use super::Sim;
use crate::netlist::Bits;
use std::io::{self, Write};

/// Writes one file; a time step is a clock cycle.
pub struct Vcd<W: Write> {
    out: W,
    signals: Vec<Signal>,
    last: Vec<Option<Bits>>,
    time: u64,
}

/// Identifier code number `k`.
fn code(mut k: usize) -> String {
    let mut s = String::new();
    loop {
        s.push((b'!' + (k % 94) as u8) as char);
        k /= 94;
        if k == 0 {
            return s;
        }
        k -= 1;
    }
}

impl<W: Write> Vcd<W> {
    /// Writes the header for those signals of a simulation from `Sim::traced` that are wanted.
    ///
    /// # Errors
    /// The writer fails.
    pub fn new(mut out: W, sim: &Sim, top: &str, wanted: impl Fn(&Signal) -> bool) -> io::Result<Self> {
        let signals: Vec<Signal> = sim.signals().iter().filter(|s| wanted(s)).cloned().collect();
        writeln!(out, "$timescale 1ns $end\n$scope module {top} $end")?;
        let mut scope: Vec<String> = vec![];
        for (k, s) in signals.iter().enumerate() {
            let common = scope.iter().zip(&s.scope).take_while(|(a, b)| a == b).count();
            for _ in common..scope.len() {
                writeln!(out, "$upscope $end")?;
            }
            for name in &s.scope[common..] {
                writeln!(out, "$scope module {name} $end")?;
            }
            scope.clone_from(&s.scope);
            let range = if s.w == 1 { String::new() } else { format!(" [{}:0]", s.w - 1) };
            writeln!(out, "$var wire {} {} {}{range} $end", s.w, code(k), s.name)?;
        }
        for _ in 0..=scope.len() {
            writeln!(out, "$upscope $end")?;
        }
        writeln!(out, "$enddefinitions $end")?;
        Ok(Vcd { out, last: vec![None; signals.len()], signals, time: 0 })
    }

    /// Writes the changes since the last call. Call it once a cycle, before the edge.
    ///
    /// # Errors
    /// The writer fails.
    pub fn sample(&mut self, sim: &mut Sim) -> io::Result<()> {
        sim.settle();
        writeln!(self.out, "#{}", self.time)?;
        self.time += 1;
        for (k, s) in self.signals.iter().enumerate() {
            let value = sim.signal(s);
            if self.last[k].as_ref() == Some(&value) {
                continue;
            }
            if s.w == 1 {
                writeln!(self.out, "{}{}", u8::from(value.bit(0)), code(k))?;
            } else {
                let bits: String = (0..s.w).rev().map(|i| if value.bit(i) { '1' } else { '0' }).collect();
                let short = bits.trim_start_matches('0');
                writeln!(self.out, "b{} {}", if short.is_empty() { "0" } else { short }, code(k))?;
            }
            self.last[k] = Some(value);
        }
        Ok(())
    }

    /// Lets a cycle pass without writing it.
    pub fn skip(&mut self) {
        self.time += 1;
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The writer fails.
    pub fn finish(mut self) -> io::Result<()> {
        writeln!(self.out, "#{}", self.time)?;
        self.out.flush()
    }
}

impl Sim {
    /// Named values; empty unless `traced` made the simulation.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Present value of a signal, after the last settling.
    pub fn signal(&self, s: &Signal) -> Bits {
        let all: Vec<u64> = (0..s.words).map(|k| self.v[s.off + k * s.plane]).collect();
        Bits::from_limbs(&all, s.words as u32 * 64).slice(s.lo, s.w)
    }

    /// Present value of a signal by hierarchical name (`inst.q`, `grid[i][j].q`).
    pub fn signal_named(&mut self, path: &str) -> Option<Bits> {
        self.settle();
        let is_it = |s: &&Signal| s.scope.iter().map(String::as_str).chain([s.name.as_str()]).eq(path.split('.'));
        let s = self.signals.iter().find(is_it)?;
        Some(self.signal(s))
    }
}
