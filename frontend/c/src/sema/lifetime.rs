//! Locals that a block declares have no value when the block is entered again.
//!
//! Problem: a local is one array of the scop for all iterations. A read that no write of the same iteration precedes
//! would see the value of an earlier iteration, which C leaves undefined.
//!
//! Method: scalar expansion, for the check only. The local gets the iterators of the loops around its declaration as
//! further subscripts. Then a read of an element that nothing has written is such a read. Locals whose reads `guards`
//! has proved sound need no check.

use super::Sema;
use scop::diag::Diagnostic;
use scop::{flow, Access, Affine, ArrayId, Scop, Storage};
use std::collections::BTreeMap;

impl Sema {
    /// Reports the locals of blocks that may be read without a value.
    pub(super) fn check_lifetimes(&mut self) {
        let outside = self.sizes.len();
        let suspect = |s: &&super::Slot| s.storage == Storage::Local && s.guarded.is_none() && s.lifetime > outside;
        let locals: BTreeMap<ArrayId, usize> =
            self.slots.iter().filter(suspect).filter_map(|s| Some((s.array?, s.lifetime))).collect();
        let used = |a: &ArrayId| self.statements.iter().any(|s| s.reads.iter().any(|r| r.array == *a));
        let locals: BTreeMap<ArrayId, usize> = locals.into_iter().filter(|(a, _)| used(a)).collect();
        if locals.is_empty() || !self.faults.is_empty() {
            return;
        }
        let mut scop = Scop {
            arrays: self.arrays.clone(),
            loops: self.loops.clone(),
            statements: self.statements.clone(),
            sizes: self.sizes.clone(),
            ..Scop::default()
        };
        let named = |scop: &Scop, a: &scop::Array| locals.keys().any(|&id| scop.array(id).name == a.name);
        // The dataflow analysis reports a read that no write of any iteration precedes.
        let reported = flow::read_first(&scop, |a| named(&scop, a));
        for s in &mut scop.statements {
            let depth = s.loops.len();
            s.reads.iter_mut().chain([&mut s.write]).for_each(|a| expand(a, &locals, depth));
        }
        for (array, lifetime) in &locals {
            let dims = &mut scop.arrays[array.index()].dims;
            dims.splice(0..0, std::iter::repeat_n(1, *lifetime));
        }
        let found = flow::read_first(&scop, |a| named(&scop, a));
        for array in found.into_iter().filter(|a| !reported.contains(a)) {
            let slot = self.slots.iter().find(|s| s.array == Some(array)).map_or((String::new(), None), |s| {
                let inner = s.lifetime.checked_sub(1).and_then(|d| {
                    let user = self.statements.iter().find(|t| t.write.array == array)?;
                    Some(self.loops[user.loops.get(d)?.index()].name.clone())
                });
                (s.name.to_string(), inner)
            });
            let (name, inner) = slot;
            let span = self.arrays[array.index()].span;
            let inner = inner.map_or("block".into(), |l| format!("iteration of `{l}`"));
            let fault = Diagnostic::error("E0502", span, format!("`{name}` may be read without a value"))
                .label(format!("each {inner} has a new one; some path sets it in another one only"))
                .help(format!("give `{name}` a value here, or set it in the other branches, too"));
            self.faults.push(fault);
        }
    }
}

/// The access with the outermost iterators as further subscripts.
fn expand(access: &mut Access, locals: &BTreeMap<ArrayId, usize>, depth: usize) {
    let Some(&lifetime) = locals.get(&access.array) else { return };
    let iterator = |d: usize| {
        let mut form = Affine::constant(depth, 0);
        form.coeffs[d] = 1;
        form
    };
    access.subscripts.splice(0..0, (0..lifetime).map(iterator));
}
