//! The best design over wider words where these save cycles, else over words as narrow as they can be without a cycle more,
//! and with loops dealt out where it is smaller so.

use super::super::task::Design;
use super::super::{share, Resources, Search};
use crate::{deal, tuning};
use array::vsa::{DramArray, Vsa};
use cost::{memory, resources, Allowed};
use std::collections::BTreeMap;

/// What a port carries.
struct Port {
    arrays: Vec<String>,
    /// Bytes of its narrowest word.
    least: u32,
}

pub(super) fn polish(search: &mut Search) {
    let Some(mut best) = search.incumbent.take() else { return };
    search.budget.grant_polishing(&search.spent());
    let most = search.counts.exact + (search.task.effort.exact / 4).max(tuning::POLISHING_DESIGNS);
    // The words that the compiler chooses hide transfers under waves, and pass fewer registers than wide ones.
    best = with_words(search, &best, None, |_| true).unwrap_or(best);
    let is_open = |port: &Port| !port.arrays.iter().any(|n| search.task.spec.wiring.word.contains_key(n));
    let ports: Vec<(usize, Port)> =
        ports(&best.vsa).into_iter().enumerate().filter(|(_, port)| is_open(port)).collect();
    if search.model.passes_more() && !search.task.spec.memory.ideal {
        for (number, port) in &ports {
            while best.vsa.bus_bytes(*number) < array::io::port::WIDEST && search.counts.exact < most {
                let doubled = words(&best, port, |word| 2 * word);
                let enough = best.cycles - best.cycles * tuning::WIDER_PERCENT / 100;
                match with_words(search, &best, Some(doubled), |_| true).filter(|wider| wider.cycles <= enough) {
                    Some(wider) => best = wider,
                    None => break,
                }
            }
        }
    }
    for (number, port) in ports {
        while best.vsa.bus_bytes(number) > port.least && search.counts.exact < most {
            let halved = words(&best, &port, |word| word / 2);
            let share = |need: &Resources| share(need, &search.task.limits);
            let largest = share(&best.need);
            match with_words(search, &best, Some(halved), |need| share(need) <= largest) {
                Some(narrower) => best = narrower,
                None => break,
            }
        }
    }
    let best = dealt(search, best);
    search.incumbent.put(best);
}

/// The design's words, with others for a port.
fn words(design: &Design, port: &Port, other: impl Fn(u32) -> u32) -> BTreeMap<String, u32> {
    let word = |a: &DramArray| if port.arrays.contains(&a.name) { other(a.word) } else { a.word };
    design.vsa.arrays.iter().map(|a| (a.name.clone(), word(a))).collect()
}

/// The design over other words (`None`: those that the compiler chooses), if it takes no cycle more and fits.
fn with_words(
    search: &mut Search,
    old: &Design,
    words: Option<BTreeMap<String, u32>>,
    is_small: impl Fn(&Resources) -> bool,
) -> Option<Design> {
    let work = search.budget.polishing(&search.spent());
    if work == 0 {
        return None;
    }
    let assembler = &search.model.assembler;
    let spec = words.clone().map_or_else(|| search.task.spec.clone(), |words| assembler.spec_with(words));
    let vsa = assembler.assemble(old.plan.clone(), &spec).ok()?;
    let need = resources::on_board(&vsa, &spec);
    search.counts.exact += 1;
    let (end, work) = memory::run_below(&vsa, &spec, Allowed { cycles: old.cycles + 1, work });
    search.counts.rows += work;
    let cycles = end.run()?.prediction.cycles;
    let words = words.unwrap_or_else(|| vsa.arrays.iter().map(|a| (a.name.clone(), a.word)).collect());
    let fits = need.fits(&search.task.limits) && is_small(&need);
    fits.then(|| Design { plan: old.plan.clone(), array: old.array.clone(), words, cycles, need, vsa })
}

/// The design with loops dealt out to the PEs, where that takes less.
fn dealt(search: &mut Search, design: Design) -> Design {
    let assembler = &search.model.assembler;
    let work = search.budget.polishing(&search.spent());
    let spec = assembler.spec_with(design.words.clone());
    let (found, walked) = deal::dealt(assembler.program, (&design.plan, &design.vsa), &spec, work);
    search.counts.rows += walked;
    let Some((plan, vsa, cycles)) = found else { return design };
    let need = resources::on_board(&vsa, &spec);
    if need.fits(&search.task.limits) {
        Design { plan, cycles, need, vsa, ..design }
    } else {
        design
    }
}

fn ports(vsa: &Vsa) -> Vec<Port> {
    let port = |p: u32| Port {
        arrays: vsa.arrays_of(p as usize).map(|a| vsa.arrays[a].name.clone()).collect(),
        least: vsa.arrays_of(p as usize).map(|a| vsa.arrays[a].ty.bytes()).max().unwrap_or(4).max(4),
    };
    (0..vsa.ports() as u32).map(port).collect()
}
