//! Feeders: operands that the warps of a block share, in shared memory.
//!
//! ```text
//! ask(first), put(0)                  the first steps' elements
//! for each chunk of steps:
//!   ask(chunk + steps)                the next ones, from memory to registers; the last chunk's once more
//!   the steps of this chunk           with what is in one half of the shared memory
//!   put(other half), barrier
//! ```

use super::Printer;
use crate::arrange::WORD;
use crate::form::Form;
use crate::ir::{Feeder, Warp, QUAD};
use crate::print::expression::{atom, scalar};
use crate::print::number::{below, stride};
use crate::print::type_name;

/// How the threads of a block load the elements of a feeder.
struct Loads {
    /// Elements of all warps.
    places: i64,
    /// Words are along the steps, not along the elements.
    along_steps: bool,
    /// Elements of a word.
    word: i64,
    /// No subscript is beyond the array.
    inside: bool,
    /// The values of a quad are elements in different rows.
    across: bool,
}

fn loads(warp: &Warp, feeder: &Feeder) -> Loads {
    let extents = &warp.arrays[feeder.array].extents;
    let is_innermost = |d: usize| d + 1 == extents.len();
    let warps = if feeder.row { 1 } else { warp.warps };
    let places = warps * feeder.elements;
    let along_steps = is_innermost(feeder.step) && (!feeder.quad || has_whole_quads(warp, feeder));
    let across = feeder.quad && !along_steps;
    let each = if feeder.quad { QUAD } else { 1 };
    let along = if along_steps { feeder.step } else { feeder.place };
    let size = i64::from(warp.arrays[feeder.array].ty.bytes()) * each;
    let word = match (across, along_steps) {
        (true, _) => QUAD,
        (_, true) => (WORD / size).min(Feeder::STEPS),
        _ => WORD / size,
    };
    // Every word begins at a multiple of its size, and a row of the array is whole words.
    let start = Form { unit: 0, ..first_of_block(warp, feeder, along) };
    let time = warp.time.as_ref();
    let steps = time.map_or(0, |t| t.first.constant);
    let start = if along_steps { start.plus(each * steps) } else { start };
    // A word does not reach beyond the elements of a warp.
    let fits = along_steps || feeder.row || feeder.elements % word == 0;
    let each_word = if along_steps { each * word } else { word };
    let whole = |f: &Form| f.divisor(&warp.scalars) % each_word == 0;
    let aligned = fits && whole(&start) && whole(&extents[along]);
    let word = if aligned && is_innermost(along) { word } else { 1 };
    let (low, high) = first_of_block(warp, feeder, feeder.place).range(&warp.scalars, 1);
    // The last warp of a block begins that much behind the first one.
    let high = high - (warps - 1) * feeder.elements;
    let whole = time.map_or(0, |t| {
        let count = t.last.range(&warp.scalars, 1).1 - t.first.constant + 1;
        t.first.constant + (count + Feeder::STEPS - 1) / Feeder::STEPS * Feeder::STEPS - 1
    });
    let step = &feeder.at[feeder.step];
    let constant = step.scalars.len() == 1;
    let least = |d: usize| extents[d].range(&warp.scalars, 1).0;
    let inside = constant
        && step.constant + each * steps >= 0
        && step.constant + each * whole + each - 1 < least(feeder.step)
        && low >= 0
        && high + places - 1 < least(feeder.place);
    Loads { places, along_steps, word, inside, across }
}

/// Whether quads along the steps are words of the array.
fn has_whole_quads(warp: &Warp, feeder: &Feeder) -> bool {
    let (step, extent) = (&feeder.at[feeder.step], &warp.arrays[feeder.array].extents[feeder.step]);
    let whole = step.constant % QUAD == 0 && step.scalars.values().all(|c| c % QUAD == 0);
    whole && extent.divisor(&warp.scalars) % QUAD == 0
}

/// A subscript of the block's first element; without the time.
fn first_of_block(warp: &Warp, feeder: &Feeder, d: usize) -> Form {
    let mut form = Form { unit: 0, ..feeder.at[d].clone() };
    if let Some(time) = &warp.time {
        form.scalars.remove(&time.scalar);
    }
    form
}

impl Printer<'_> {
    fn fed_name(&self, feeder: usize) -> String {
        let name = &self.warp.arrays[self.warp.feeders()[feeder].array].name;
        format!("{name}_{feeder}")
    }

    /// The text of a value from a feeder.
    pub(super) fn fed(&self, feeder: usize, element: i64) -> String {
        let name = self.fed_name(feeder);
        match self.warp.feeders()[feeder].row {
            true => format!("fed_{name}"),
            false => format!("fed_{name}.v[{element}]"),
        }
    }

    /// Shared memory, what is asked for, and the functions that fill them.
    pub(super) fn feeders(&mut self, t: &str) {
        let warp = self.warp;
        let Some(block) = &warp.block else { return };
        let (steps, threads) = (Feeder::STEPS, 32 * warp.warps);
        self.line("int filled = 0;  // the half of shared memory that steps read");
        let (mut ask, mut put) = (vec![], vec![]);
        for (k, feeder) in block.feeders.iter().enumerate() {
            let (name, array) = (self.fed_name(k), &warp.arrays[feeder.array]);
            let own = loads(warp, feeder);
            let (ty, places) = (type_name(array.ty), own.places);
            let (along, inside) = (own.along_steps, own.inside);
            let held = if feeder.quad { format!("Quad<{ty}>") } else { ty.clone() };
            self.line(&format!("SHARED Tile<{held}, {steps}, {places}, {}> shared_{name}[2];", feeder.elements));
            self.line(&match own.across {
                true => format!(
                    "Across<{ty}, {steps}, {places}, {}, {threads}, {}, {inside}> asked_{name};",
                    feeder.elements, own.word
                ),
                false => format!(
                    "Asked<{held}, {steps}, {places}, {}, {threads}, {along}, {}, {inside}> asked_{name};",
                    feeder.elements, own.word
                ),
            });
            ask.push(self.asks(k, feeder));
            put.push(format!("asked_{name}.put(shared_{name}[turned]);"));
        }
        self.line(&format!("const auto ask = [&](const int {t}) {{  // the elements of {steps} steps"));
        self.indent += 1;
        ask.iter().for_each(|line| self.line(line));
        self.indent -= 1;
        self.line("};");
        self.line("const auto put = [&](const int turned) {");
        self.indent += 1;
        put.iter().for_each(|line| self.line(line));
        self.indent -= 1;
        self.line("};");
    }

    /// Asks for the elements of a feeder.
    fn asks(&self, k: usize, feeder: &Feeder) -> String {
        let (warp, array) = (self.warp, &self.warp.arrays[feeder.array]);
        let mut base = vec![array.loaded()];
        for (d, form) in feeder.at.iter().enumerate().filter(|(d, _)| ![feeder.step, feeder.place].contains(d)) {
            base.push(format!("({}) * {}", scalar(warp, form), atom(&stride(warp, feeder.array, d))));
        }
        // The block's first element is that of its first warp.
        let mut place = scalar(warp, &first_of_block(warp, feeder, feeder.place));
        if !feeder.row {
            place = format!("{place} - IN_BLOCK({}) * {}", warp.warps, feeder.elements);
        }
        let mut step = Form { unit: 0, ..feeder.at[feeder.step].clone() };
        let (mut base, mut steps) = (base.join(" + "), below(warp, feeder.array, feeder.step, 0));
        let mut place_stride = stride(warp, feeder.array, feeder.place);
        if feeder.quad && loads(warp, feeder).along_steps {
            // In quads.
            step.constant /= QUAD;
            step.scalars.values_mut().for_each(|c| *c /= QUAD);
            base = format!("(const Quad<{}> *)({base})", type_name(array.ty));
            steps = format!("{} / {QUAD}", atom(&steps));
            place_stride = format!("{} / {QUAD}", atom(&place_stride));
        }
        format!(
            "asked_{}.ask({base}, {}, {steps}, {}, {place}, {}, {place_stride});",
            self.fed_name(k),
            scalar(warp, &step),
            stride(warp, feeder.array, feeder.step),
            below(warp, feeder.array, feeder.place, 0),
        )
    }

    /// What a step reads from the feeders.
    pub(super) fn fed_values(&mut self) {
        let warp = self.warp;
        for (k, feeder) in warp.feeders().iter().enumerate() {
            let (name, ty) = (self.fed_name(k), type_name(warp.arrays[feeder.array].ty));
            let ty = if feeder.quad { format!("Quad<{ty}>") } else { ty };
            let n = feeder.elements;
            self.line(&match feeder.row {
                true => format!(
                    "const Row<{ty}, {w}> fed_{name} = fed_row<{w}>(shared_{name}[filled], slot);",
                    w = warp.width
                ),
                false => format!(
                    "const Elements<{ty}, {n}> fed_{name} = fed_elements(shared_{name}[filled], slot, IN_BLOCK({}));",
                    warp.warps
                ),
            });
        }
    }

    /// The loop over chunks of steps: those of the interior by themselves.
    pub(super) fn run_fed(&mut self) {
        let steps = Feeder::STEPS;
        self.line(&format!("const int final = first + (last - first) / {steps} * {steps};  // the last chunk"));
        self.line("ask(first);");
        self.line("put(0);");
        self.line("BARRIER();");
        self.line("for (int chunk = first; chunk <= last;) {");
        self.indent += 1;
        self.line(&format!(
            "for (; chunk >= inside && chunk + {steps} <= inside_end; chunk += {steps}, filled ^= 1) {{"
        ));
        self.chunk(&format!("UNROLL for (int slot = 0; slot < {steps}; slot++) step(Interior(), slot, chunk + slot);"));
        self.line("}");
        self.line("if (chunk > last) break;");
        self.chunk(&format!(
            "for (int slot = 0; slot < {steps} && chunk + slot <= last; slot++) step(Border(), slot, chunk + slot);"
        ));
        self.line(&format!("chunk += {steps}, filled ^= 1;"));
        self.indent -= 1;
        self.line("}");
    }

    /// The steps of a chunk, while the elements of the next one are on their way.
    fn chunk(&mut self, run: &str) {
        let steps = Feeder::STEPS;
        self.indent += 1;
        // Without a condition: the loads stand before the steps then, and wait for nothing.
        self.line(&format!("ask(one::min(chunk + {steps}, final));"));
        self.line(run);
        self.line("put(filled ^ 1);");
        self.line("BARRIER();");
        self.indent -= 1;
    }
}
