//! Prints a verified design as Verilog-2005: one module a file, the same text in every run.
//!
//! **Problem.** A netlist is a graph, Verilog is text. A value with two readers is a net, or its expression is written
//! twice. An expression may become too long for its line. Verilog evaluates some operators at the width of their
//! surroundings, not at that of their operands. A new net needs a name, and the name of the next net may contain it.
//!
//! **Method**, as in CIRCT's ExportVerilog: everything is decided before the first character is printed.
//!
//! | step | does |
//! | --- | --- |
//! | `prepare::merge` | gives equal expressions of a module one node |
//! | `prepare` | decides which values are nets, names them, folds selections of bits, finds unused nets → `ast` |
//! | `print` | formats the `ast`; breaks long lines; changes nothing |
//!
//! A value is a *net* if it has a name or attributes, has several readers, is a product or a shift, or if its
//! expression exceeds `prepare::expr::INLINE` characters. Every other value is printed *in place*, inside its reader.
//! Example:
//!
//! ```text
//! template                                      Verilog
//! let p = a * b;                                wire [15:0] a_times_b = a * b;      product: a net
//! m.output("hi", p.slice(8, 8));                assign hi = a_times_b[15:8];        slice: in place
//! m.output("up", p.lt(limit) & en);             assign up = (a_times_b < limit) & en;
//! ```
//!
//! **Invariants.** All nets are unsigned; signed operators read their operands through `$signed`. Each product and
//! shift is a net of its exact width, so no expression is evaluated at a width other than its type's. Only live values
//! are printed. The reduction `_unused` reads every net that nothing else reads wholly: linters count it as a use,
//! synthesis removes it.

mod ast;
mod prepare;
mod print;

use crate::check::Verified;

/// File name and text of every module, children first.
pub fn files(d: &Verified) -> Vec<(String, String)> {
    let text = |m| print::module(&prepare::prepare(&prepare::merge(m), d.clock()));
    d.modules().iter().map(|m| (format!("{}.v", m.name), text(m))).collect()
}
