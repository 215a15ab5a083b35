//! The time loop: which steps of a warp run which body.
//!
//! ```text
//! first                inside                           inside_end        last
//!   | Border, step by step | Interior, unrolled, or Side | Border, step by step |
//! ```
//!
//! Interior steps at the start and at the end may have bodies of their own, which do less ([`crate::ramps`]).

use super::Printer;
use crate::extent::Number;
use crate::form::Form;
use crate::ir::{NodeId, Op, Time};
use crate::print::expression::{atom, scalar, value_type, Operands};
use crate::print::memory::{self, Body, Element};
use crate::print::number::in_kernel;
use crate::print::type_name;
use crate::ramps::Ramps;

impl Printer<'_> {
    pub(super) fn timed(&mut self, time: &Time) {
        let t = self.warp.scalars[time.scalar.index()].name.clone();
        self.range(time);
        self.fast(time);
        self.feeders(&t);
        let slots = self.slots();
        let asked: Vec<NodeId> =
            (0..self.warp.nodes.len()).map(|k| NodeId(k as u32)).filter(|&id| self.is_asked(id)).collect();
        for &id in &asked {
            let (of, next) = (self.type_of(id), self.next(id));
            self.line(&format!("{of} {next}[{slots}];"));
        }
        if !asked.is_empty() {
            self.line(&format!("UNROLL for (int slot = 0; slot < {slots}; slot++) {{"));
            self.indent += 1;
            self.line(&format!("const int {t} = first + slot;"));
            for &id in &asked {
                let Op::Load { array, at, each } = &self.warp.node(id).op else { continue };
                let text = memory::load(self.warp, Element { array: *array, at, each: *each }, Body::Border, None);
                let next = self.next(id);
                self.line(&format!("{next}[slot] = {text};"));
            }
            self.indent -= 1;
            self.line("}");
        }
        for (&of, &steps) in &self.waits.clone() {
            let (ty, was) = (value_type(self.warp.node(of)), self.was(of));
            self.line(&format!("Row<{ty}, {}> {was}[{steps}];", self.warp.width));
            match self.starts.get(&of) {
                Some(&start) => {
                    let (width, cell) = (self.warp.width, type_name(self.warp.node(of).ty));
                    let own = match self.warp.node(start).row {
                        true => self.text(start),
                        false => format!("({cell}){}", atom(&self.text(start))),
                    };
                    let own = match self.warp.node(of).pair && !self.warp.node(start).pair {
                        true => format!("both({own})"),
                        false => own,
                    };
                    self.line(&format!("UNROLL for (int at = 0; at < {steps}; at++) {was}[at] = all<{width}>({own});"));
                }
                None => self.line(&format!("unset({was});")),
            }
        }
        self.line("");
        self.line(&format!("const auto step = [&](auto body, const int slot, const int {t}) {{"));
        self.indent += 1;
        self.line(
            "constexpr bool EDGE = decltype(body)::steps, SIDE = decltype(body)::lanes, MOVES = decltype(body)::moves;",
        );
        self.line("(void)EDGE, (void)SIDE, (void)MOVES, (void)slot;");
        if self.needs.ramps != Ramps::default() {
            self.line("// The first and the last steps do without values that no result of this warp needs.");
            self.line("constexpr bool START = decltype(body)::start, END = decltype(body)::end;");
            self.line("(void)START, (void)END;");
        }
        if let Some(height) = time.height {
            let start = self.warp.scalars[height.index()].name.clone();
            self.line(&format!(
                "const bool kept = {t} >= {start} && {t} < {start} + {};  // beyond, another warp stores",
                self.rows()
            ));
        }
        self.fed_values();
        self.body();
        for (&of, &steps) in &self.waits.clone() {
            let (was, name) = (self.was(of), self.text(of));
            for k in (1..steps).rev() {
                self.line(&format!("{was}[{k}] = {was}[{}];", k - 1));
            }
            match self.warp.node(of).row {
                true => self.line(&format!("{was}[0] = {name};")),
                false => self.line(&format!("{was}[0] = all<{}>({name});", self.warp.width)),
            }
        }
        self.indent -= 1;
        self.line("};");
        self.line("");
        match self.warp.block {
            Some(_) => self.run_fed(),
            None => self.run(&t, slots),
        }
        self.behind();
    }

    /// The loop: the steps without a border by themselves, around them the border.
    fn run(&mut self, t: &str, slots: i64) {
        let Ramps { start, end } = self.needs.ramps;
        if end > 0 {
            self.line(&format!(
                "const int full_end = one::min(inside_end, last + 1 - {end});  // later steps need less"
            ));
        }
        self.line(&format!("for (int {t} = first;;) {{"));
        self.indent += 1;
        let call = |body: &str, at: &str| match slots {
            1 => format!("step({body}(), 0, {at});"),
            _ => format!("UNROLL for (int slot = 0; slot < {slots}; slot++) step({body}(), slot, {at} + slot);"),
        };
        let next = if slots == 1 { format!("{t}++") } else { format!("{t} += {slots}") };
        let inside_end = if end > 0 { "full_end" } else { "inside_end" };
        let inside = match slots {
            1 => format!("{t} < {inside_end}"),
            n => format!("{t} + {n} <= {inside_end}"),
        };
        // Where lanes of every warp are at a border, their steps are the ones that are unrolled.
        let (within, body) = match self.has_side_body() {
            true if self.warp.has_no_interior() => ("", "Lanes"),
            true => ("within && ", "Interior"),
            false => ("", "Interior"),
        };
        let ramp = |body: &str, when: String| {
            format!("for (; {within}{t} >= inside && {t} < inside_end && {when}; {t}++) step({body}(), 0, {t});")
        };
        if start > 0 {
            self.line(&ramp("Start", format!("{t} < first + {start}")));
        }
        self.line(&format!("for (; {within}{t} >= inside && {inside}; {next}) {{"));
        self.indent += 1;
        self.line(&call(body, t));
        self.indent -= 1;
        self.line("}");
        if end > 0 {
            self.line(&ramp("End", format!("{t} >= full_end")));
        }
        if self.has_side_body() {
            self.line(&format!("for (; {t} >= inside && {t} < inside_end; {t}++) step(Side(), 0, {t});"));
        }
        self.line(&format!("if ({t} > last) break;"));
        self.line(&format!("step(Border(), 0, {t}++);"));
        self.indent -= 1;
        self.line("}");
    }

    /// Whether there is a body for the sides: where strips are divided because of it, or where there is nothing inside.
    fn has_side_body(&self) -> bool {
        self.rows() == "rows" || self.warp.has_no_interior()
    }

    /// First and last step of the warp.
    fn range(&mut self, time: &Time) {
        let clipped = |text: String, form: &Form| {
            let (lo, hi) = form.range(&self.warp.scalars, 1);
            match (time.clip.1.known(), in_kernel(self.warp, &time.clip.1)) {
                (Some(end), _) if lo >= time.clip.0 && hi <= end => text,
                (None, _) if Number::of(form, &self.warp.maxima()).formula == time.clip.1.formula => text,
                (None, _) if form.is_constant() && lo == time.clip.0 => format!("{lo}"),
                (_, end) => format!("clamp({text}, {}, {end})", time.clip.0),
            }
        };
        let (first, last) = match time.height {
            Some(height) => {
                let start = &self.warp.scalars[height.index()].name;
                let axis = self.warp.grid.iter().find(|a| a.scalar == height);
                let hi = axis.map_or(String::new(), |a| in_kernel(self.warp, &a.count.plus(a.first - 1)));
                let first = if time.before > 0 { format!("{start} - {}", time.before) } else { start.clone() };
                (first, format!("one::min({start} + {} - 1, {hi})", self.rows()))
            }
            None => (
                clipped(scalar(self.warp, &time.first), &time.first),
                clipped(scalar(self.warp, &time.last), &time.last),
            ),
        };
        self.line(&format!("const int first = {first}, last = {last};"));
    }

    /// The steps of the interior, from `inside` to before `inside_end`.
    fn fast(&mut self, time: &Time) {
        let (mut low, mut high, mut always) = (vec![], vec![], vec![]);
        for form in &self.warp.interior {
            let c = form.of(time.scalar);
            let mut rest = form.clone();
            rest.scalars.remove(&time.scalar);
            let text = |f: &Form| scalar(self.warp, f);
            match c {
                0 => always.push(format!("{} >= 0", text(&rest))),
                1 => low.push(text(&rest.negated())),
                -1 => high.push(text(&rest.plus(1))),
                // Rounded towards fewer steps.
                c if c > 0 => low.push(format!("({}) / {c} + 1", text(&rest.negated()))),
                c => high.push(format!("({}) / {} - 1", text(&rest), -c)),
            }
        }
        let fold = |all: &[String], f: &str, start: &str| {
            all.iter().fold(start.to_string(), |a, b| format!("one::{f}({a}, {b})"))
        };
        self.line("// These steps are not at a border.");
        self.line(&format!("const int inside = {};", fold(&low, "max", "first")));
        let end = fold(&high, "min", "last + 1");
        let within = always.join(" && ");
        match self.has_side_body() {
            true => {
                self.line(&format!("const int inside_end = {end};"));
                if !self.warp.has_no_interior() {
                    self.line(&format!("const bool within = {within};  // no lane is at a border, either"));
                }
            }
            false if within.is_empty() => self.line(&format!("const int inside_end = {end};")),
            false => self.line(&format!("const int inside_end = {within} ? {end} : first;")),
        }
    }
}
