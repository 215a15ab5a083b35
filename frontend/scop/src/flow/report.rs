//! Diagnostics of the dataflow analysis: the faults of one array in terms of the source program.

use super::accesses::Reference;
use super::array::Fault;
use super::{Analysis, WRITE};
use crate::diag::{Diagnostic, Diagnostics};
use crate::{Access, StmtId};

/// Sorted by place. Copies of an unrolled loop report one access several times: the report with most notes remains.
pub(super) fn once_each(mut faults: Diagnostics) -> Diagnostics {
    faults.sort_by_key(|f| (f.span.map(|s| (s.file, s.start, s.end)), f.code, std::cmp::Reverse(f.notes.len())));
    faults.dedup_by(|b, a| a.span.is_some() && a.span == b.span && a.code == b.code);
    faults
}

impl<'a> Analysis<'a> {
    fn access(&self, reference: Reference, ids: &[StmtId]) -> &'a Access {
        let statement = self.scop.statement(reference.id(ids));
        if reference.access == WRITE {
            &statement.write
        } else {
            &statement.reads[reference.access]
        }
    }

    pub(super) fn fault(&self, fault: &Fault, ids: &[StmtId]) -> Diagnostic {
        match fault {
            Fault::NotAffine { reader, written } => self.not_affine(*reader, written.as_ref(), ids),
            Fault::Uninitialized { reader, point } => self.uninitialized(*reader, point, ids),
            Fault::Final { writer } => {
                let access = self.access(*writer, ids);
                let message = format!(
                    "the iterations that leave the final value of `{}` are not described by affine conditions",
                    self.scop.array(access.array).name
                );
                Diagnostic::error("E0501", access.span, message)
                    .label("written here")
                    .help("write each element by one statement with the same strides")
            }
        }
    }

    /// `written`: the write, and an example: the reader's iteration followed by the writer's.
    fn not_affine(&self, reader: Reference, written: Option<&(Reference, Vec<i64>)>, ids: &[StmtId]) -> Diagnostic {
        let access = self.access(reader, ids);
        let name = &self.scop.array(access.array).name;
        let message = format!(
            "the iteration that produces the value of `{name}` read here is not an affine function of the reader's"
        );
        let fault = Diagnostic::error("E0501", access.span, message);
        let Some((writer, pair)) = written else {
            let fault = fault.label("a division or remainder decides which elements the program has written before");
            return fault.help(
                "write and read the array with the same stride, or move the elements that are never written to another \
                array",
            );
        };
        let depth = self.scop.statement(reader.id(ids)).loops.len();
        let (read, wrote) = pair.split_at(depth.min(pair.len()));
        let [read, wrote] = [(reader, read), (*writer, wrote)].map(|(r, point)| self.scop.iteration(r.id(ids), point));
        let fault = match read.is_empty() || wrote.is_empty() {
            true => fault.label("the iteration that wrote it depends on a division or remainder"),
            false => fault
                .label(format!("at {read} it was written at {wrote}; in general this needs a division or remainder")),
        };
        let fault = fault.note(self.access(*writer, ids).span, "the value is written here");
        if reader.statement == writer.statement {
            return fault.help(
                "a statement may read its own results at constant distances only: store these values in an \
                array that an earlier nest fills",
            );
        }
        fault.help("write and read the array with the same stride, or copy the strided part to another array first")
    }

    fn uninitialized(&self, reader: Reference, point: &[i64], ids: &[StmtId]) -> Diagnostic {
        let access = self.access(reader, ids);
        let name = &self.scop.array(access.array).name;
        let at = self.scop.iteration(reader.id(ids), point);
        // A conditional write reads the old value where its condition fails; the program does not show this read.
        let implicit = *access == self.scop.statement(reader.id(ids)).write;
        let (message, what, help) = if implicit {
            let help = format!(
                "give `{name}` a value where it is declared, or in the other branch too; reads under the same \
                condition as the write need none"
            );
            (
                format!("`{name}` may be read without a value"),
                "where the condition around this write fails, it has none",
                help,
            )
        } else {
            (
                format!("`{name}` is read before it is written"),
                "no write comes before",
                format!("initialize `{name}` before this read, or make it a parameter"),
            )
        };
        let label = if at.is_empty() { what.into() } else { format!("for example at {at}: {what}") };
        let fault = Diagnostic::error("E0502", access.span, message).label(label);
        let fault =
            fault.note(self.scop.array(access.array).span, format!("`{name}` is local, so it has no value at first"));
        fault.help(help)
    }
}
