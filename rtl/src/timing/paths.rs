//! Times along the cells of a module.

use super::cells::{Arc, Cells, Endpoint, Kind, Label};
use super::pins::{Pins, NEVER};
use super::Delays;
use crate::netlist::NodeId;

/// The slowest path of the cells.
pub struct Slowest {
    pub ns: f64,
    pub levels: u32,
    /// What launches, and what samples.
    pub from: Option<NodeId>,
    pub to: Label,
}

/// Times of the cells that a module needs.
pub struct Times<'c> {
    cells: &'c Cells,
    delays: &'c Delays,
    needed: Vec<bool>,
    loads: Vec<u32>,
    /// The latest time after the clock, and after a change of an input pin.
    after_clock: Vec<f64>,
    after_pin: Vec<f64>,
    /// The cell before this one on the latest path after the clock.
    before: Vec<Option<u32>>,
}

impl<'c> Times<'c> {
    /// `outputs`: cells that the module's outputs read.
    pub fn new(cells: &'c Cells, outputs: impl Iterator<Item = u32>, delays: &'c Delays) -> Self {
        let n = cells.all.len();
        let (needed, loads) = (vec![false; n], vec![0; n]);
        let (after_clock, after_pin) = (vec![NEVER; n], vec![NEVER; n]);
        let mut times = Times { cells, delays, needed, loads, after_clock, after_pin, before: vec![None; n] };
        outputs.for_each(|c| times.needed[c as usize] = true);
        for e in &cells.endpoints {
            times.needed[e.cell as usize] = true;
            times.loads[e.cell as usize] += e.loads;
        }
        times.backward();
        times.forward();
        times
    }

    /// What is needed, and how often.
    fn backward(&mut self) {
        for c in (0..self.needed.len()).rev() {
            if !self.needed[c] {
                continue;
            }
            for (input, is_load) in self.cells.all[c].inputs() {
                self.needed[input as usize] = true;
                self.loads[input as usize] += u32::from(is_load);
            }
        }
    }

    /// Time of the net behind a cell.
    fn net(&self, cell: u32) -> f64 {
        let doublings = f64::from(self.loads[cell as usize].max(1)).log2() - 2.0;
        self.delays.net + self.delays.doubling * doublings.max(0.0)
    }

    /// The ways into a cell, with their times.
    fn ways(&self, c: usize) -> Vec<(u32, f64)> {
        match &self.cells.all[c] {
            Kind::Const(_) | Kind::Pin(_) => vec![],
            Kind::Gate { cuts, .. } => {
                cuts[0].leaves().iter().map(|&leaf| (leaf, self.net(leaf) + self.delays.lut)).collect()
            }
            Kind::Hard { arcs, .. } => {
                let time = |a: &Arc| a.ns + if a.net { self.net(a.cell) } else { 0.0 };
                arcs.iter().map(|a| (a.cell, time(a))).collect()
            }
        }
    }

    fn forward(&mut self) {
        for c in 0..self.needed.len() {
            if !self.needed[c] {
                continue;
            }
            match &self.cells.all[c] {
                Kind::Pin(_) => self.after_pin[c] = 0.0,
                Kind::Hard { launch, .. } => self.after_clock[c] = *launch,
                _ => {}
            }
            for (input, ns) in self.ways(c) {
                let [clock, pin] = [&self.after_clock, &self.after_pin].map(|at| at[input as usize] + ns);
                if clock > self.after_clock[c] {
                    (self.after_clock[c], self.before[c]) = (clock, Some(input));
                }
                self.after_pin[c] = self.after_pin[c].max(pin);
            }
        }
    }

    /// Time to an endpoint, behind that of its cell.
    fn last(&self, e: &Endpoint) -> f64 {
        e.ns + if e.net { self.net(e.cell) } else { 0.0 }
    }

    /// The slowest path to an endpoint.
    pub fn slowest(&self) -> Option<Slowest> {
        let time = |e: &Endpoint| self.after_clock[e.cell as usize] + self.last(e);
        let end = self.cells.endpoints.iter().filter(|e| time(e) > NEVER).max_by(|a, b| time(a).total_cmp(&time(b)))?;
        let (mut at, mut levels) = (end.cell, 0);
        loop {
            levels += u32::from(self.cells.is_level(at));
            match self.before[at as usize] {
                Some(before) => at = before,
                None => break,
            }
        }
        Some(Slowest { ns: time(end), levels, from: self.cells.labels[at as usize], to: end.label })
    }

    /// Of a module with these outputs and inputs, which are cells.
    pub fn pins(&self, outputs: &[Vec<u32>], inputs: &[Vec<u32>]) -> Pins {
        let of = |at: &Vec<f64>| outputs.iter().map(|port| port.iter().map(|&c| at[c as usize]).collect()).collect();
        let mut tail = vec![NEVER; self.needed.len()];
        for e in &self.cells.endpoints {
            tail[e.cell as usize] = tail[e.cell as usize].max(self.last(e));
        }
        for c in (0..tail.len()).rev().filter(|&c| self.needed[c]) {
            for (input, ns) in self.ways(c) {
                let behind = tail[c] + ns;
                tail[input as usize] = tail[input as usize].max(behind);
            }
        }
        let capture = inputs.iter().map(|port| port.iter().map(|&c| tail[c as usize]).collect()).collect();
        let behind = outputs.iter().map(|port| self.inputs_of(port)).collect();
        Pins { launch: of(&self.after_clock), through: of(&self.after_pin), behind, capture }
    }

    /// The input ports from which there is a way to one of these cells.
    fn inputs_of(&self, port: &[u32]) -> Vec<usize> {
        let mut open: Vec<u32> = port.iter().copied().filter(|&c| self.after_pin[c as usize] > NEVER).collect();
        let (mut seen, mut ports) = (vec![false; if open.is_empty() { 0 } else { self.needed.len() }], vec![]);
        while let Some(c) = open.pop() {
            if std::mem::replace(&mut seen[c as usize], true) {
                continue;
            }
            if let Kind::Pin(port) = self.cells.all[c as usize] {
                ports.push(port as usize);
            }
            open.extend(self.ways(c as usize).iter().map(|w| w.0).filter(|&i| self.after_pin[i as usize] > NEVER));
        }
        ports.sort_unstable();
        ports.dedup();
        ports
    }
}
