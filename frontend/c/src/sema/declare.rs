//! Declarations: enumeration constants, globals, parameters and locals.

use super::affine::HELP_DIVIDED_SIZE;
use super::{Entity, Sema, Slot};
use crate::ast;
use crate::ast::{Declarator, Init, Unit};
use scop::diag::{Diagnostic, Span};
use scop::value;
use scop::{Affine, Array, ArrayId, Binding, ExprKind, ScalarType, Storage};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Limit on the bytes of an array.
const LARGEST_ARRAY: i64 = 1 << 40;

impl Sema {
    pub(super) fn enumerators(&mut self, unit: &Unit) {
        let mut next = 0;
        for (name, value, first) in &unit.enumerators {
            if *first {
                next = 0;
            }
            if let Some(e) = value {
                match self.affine(e) {
                    Ok(v) if v.form.is_constant() => next = v.form.constant,
                    _ => {
                        self.bind(name, Entity::Poison);
                        continue;
                    }
                }
            }
            self.bind(name, Entity::Constant(value::from_integer(next as i128, ScalarType::I32), ScalarType::I32));
            next += 1;
        }
    }

    /// A declaration before the region: a fault in it is reported only if its name is used.
    pub(super) fn declare_outside(
        &mut self,
        d: &Declarator,
        storage: Storage,
        binding: Binding,
        used: &BTreeSet<Rc<str>>,
    ) {
        let before = self.faults.len();
        let slot = match binding {
            Binding::Allocated => self.declare(&pointed(d), storage, binding),
            _ => self.declare(d, storage, binding),
        };
        if self.faults.len() > before {
            let fault = self.faults[before].clone();
            self.faults.truncate(before);
            self.bind(&d.name, Entity::Refused(Rc::new(fault)));
        } else if let (Some(slot), true) = (slot, used.contains(&d.name) && binding != Binding::Global) {
            self.initialize(slot, d);
        }
    }

    /// Where a variable of a function lives that is not a parameter. A value from before the region, or for the code after
    /// it, passes through DRAM; a scalar that the region only reads is passed by value.
    pub(super) fn lives_in(&mut self, d: &Declarator) -> (Storage, Binding) {
        if d.outside.allocated {
            return (Storage::Dram, Binding::Allocated);
        }
        let (written, input) = (self.assigned.contains(&d.name), self.inputs.contains(&d.span));
        if !(input || written && d.outside.used) {
            return (Storage::Local, Binding::Local);
        }
        if d.keeps_value() && !d.outside.set {
            return (Storage::Dram, Binding::Static);
        }
        if written || !d.is_scalar() || d.ty.members.is_some() {
            return (Storage::Dram, Binding::Around);
        }
        self.parameters += 1;
        (Storage::Dram, Binding::Value(self.parameters - 1))
    }

    /// A parameter of the function. Whatever it is, the hardware can ignore it if the region does not use it.
    pub(super) fn parameter(&mut self, d: &Declarator, position: u32, used: &BTreeSet<Rc<str>>) {
        let by_value = d.ty.members.is_some() && d.is_scalar() && !d.reference;
        let before = self.faults.len();
        self.checked_parameter(d, position);
        if self.faults.len() > before && !used.contains(&d.name) && !by_value {
            self.faults.truncate(before);
            self.bind(&d.name, Entity::Poison);
        }
    }

    fn checked_parameter(&mut self, d: &Declarator, position: u32) {
        if d.ty.members.is_some() && d.is_scalar() && !d.reference {
            self.error(
                "E0301",
                d.ty.span,
                format!("`{}` is a structure passed by value", d.name),
                "it has no address in memory",
                format!("pass an array of one element: `{} {}[1]`", d.ty.text, d.name),
            );
            self.bind(&d.name, Entity::Poison);
            return;
        }
        let d = &pointed(d);
        let by_address = d.is_variable_reference() || d.ty.members.is_some();
        if d.ty.scalar.is_some() && d.is_scalar() && !by_address {
            self.declare(d, Storage::Dram, Binding::Value(position));
            return;
        }
        if let Some(slot) = self.declare(d, Storage::Dram, Binding::Parameter(position)) {
            self.array_of(slot);
        }
    }

    /// Enters a declarator into the innermost scope; its slot, unless it is a constant or faulty.
    pub(super) fn declare(&mut self, d: &Declarator, storage: Storage, binding: Binding) -> Option<usize> {
        self.check_new(d);
        self.bind(&d.name, Entity::Poison);
        let ty = self.element_type(d, binding)?;
        let around = matches!(binding, Binding::Around | Binding::Allocated | Binding::Static);
        if d.span.file != 0 && (around || matches!(binding, Binding::Value(p) if p + 1 == self.parameters)) {
            self.error(
                "E0209",
                d.span,
                format!("`{}` has a value before or after the region, and is declared in an included file", d.name),
                "a simulation cannot see that value",
                "move the function into the main file, or make the variable a parameter",
            );
            return None;
        }
        let written: Vec<&ast::Extent> = d.dims.iter().chain(&d.ty.dims).collect();
        let open = matches!(binding, Binding::Parameter(_) | Binding::Allocated)
            && written.first().is_some_and(|x| x.size.is_none());
        let first = if open { self.first_extent(d)? } else { None };
        let fixed = d.ty.constant || (storage == Storage::Local && !self.assigned.contains(&d.name));
        if let (true, true, Some(e)) = (fixed, written.is_empty() && d.ty.members.is_none(), d.value()) {
            if let Some((bits, ty)) = self.constant_value(e, ty) {
                if d.ty.width.is_none() {
                    self.bind(&d.name, Entity::Constant(bits, ty));
                    return None;
                }
            }
        }
        let before = self.faults.len();
        let inner = self.extents(&d.name, &written[usize::from(open)..], d, ty);
        if self.faults.len() > before {
            return None;
        }
        let (dims, extents) = self.shape(d, ty, open, first, inner).unzip();
        let table =
            dims.as_ref().filter(|_| d.ty.constant && d.ty.members.is_none()).and_then(|dims| self.table(dims, d, ty));
        self.slots.push(Slot {
            name: d.name.clone(),
            span: d.span,
            ty,
            c_type: match d.ty.width {
                Some(width) => super::width::cell(width, ty.signed()),
                None if d.ty.dims.is_empty() => d.ty.text.clone(),
                None => super::types::spelling(ty),
            },
            dims,
            extents: extents.unwrap_or_default(),
            open: open && first.is_none(),
            members: d.ty.members.clone(),
            width: d.ty.width,
            table,
            storage,
            binding,
            constant: d.ty.constant,
            array: None,
            iterator: None,
            keeps_value: d.keeps_value(),
            begins_as_zero: d.begins_as_zero(),
            predicates: if d.keeps_value() { 0 } else { self.predicates.len() },
            lifetime: if d.keeps_value() { 0 } else { self.depth() },
            guarded: None,
        });
        let slot = self.slots.len() - 1;
        if storage == Storage::Dram {
            self.outer.insert(d.name.clone());
        }
        self.bind(&d.name, Entity::Slot(slot));
        Some(slot)
    }

    /// The type of a declarator's elements; pointers and unsupported types are reported.
    fn element_type(&mut self, d: &Declarator, binding: Binding) -> Option<ScalarType> {
        if let Some(star) = d.pointer {
            let help = format!("declare it as an array with constant extents, such as `{} {}[N]`", d.ty.text, d.name);
            self.error(
                "E0306",
                crate::parse::join(star, d.span),
                format!("`{}` is a pointer", d.name),
                "how many elements it points to is not known",
                help,
            );
            return None;
        }
        if d.reference && !matches!(binding, Binding::Parameter(_) | Binding::Value(_)) {
            self.error(
                "E0306",
                d.span,
                format!("`{}` is a reference", d.name),
                "only parameters may be references",
                "write out what it refers to",
            );
            return None;
        }
        let ty = d.ty.scalar.filter(|_| !d.function);
        if ty.is_none() {
            let why = d.ty.why.clone().unwrap_or_else(|| "it declares a function".into());
            self.error(
                "E0301",
                d.ty.span,
                format!("`{}` has an unsupported type", d.name),
                why,
                "use integers (`int8_t` to `int64_t`) or floats",
            );
        }
        ty
    }

    /// The first extent of a parameter that leaves it open: from a clause `extent`, or 1 if there are sizes at run time
    /// and the region only uses element 0. The outer `None`: it was too large and is reported.
    fn first_extent(&mut self, d: &Declarator) -> Option<Option<i64>> {
        let clause = self.extents.iter().position(|c| c.values[0] == *d.name).map(|k| self.extents.remove(k));
        let given = clause.and_then(|c| Some((c.values[1].parse().ok()?, c.span)));
        let only_first = !self.sizes.is_empty() && !self.more_than_first.contains(&d.name);
        let given = given.or(only_first.then_some((1, d.span)));
        if let Some((size, span)) = given.filter(|&(size, _)| size > LARGEST_ARRAY) {
            self.error(
                "E0304",
                span,
                format!("`{}` is too large", d.name),
                format!("{size} elements are more than 2^40 bytes"),
                "check the extent",
            );
            return None;
        }
        Some(given.map(|g| g.0))
    }

    /// All extents of a declarator, first extent and members included: their greatest values, and the forms over the
    /// sizes (empty if all are constant).
    fn shape(
        &self,
        d: &Declarator,
        ty: ScalarType,
        open: bool,
        first: Option<i64>,
        inner: Option<(Vec<i64>, Vec<Affine>)>,
    ) -> Option<(Vec<i64>, Vec<Affine>)> {
        let (inner, mut extents) = inner?;
        let members = d.ty.members.as_ref().map(|m| m.len() as i64);
        if !extents.is_empty() {
            let constant = |n: i64| Affine::constant(self.sizes.len(), n);
            // The accesses determine an open extent.
            let first = open.then(|| constant(first.unwrap_or(1)));
            extents = first.into_iter().chain(extents).chain(members.map(constant)).collect();
        }
        let bytes = inner.iter().product::<i64>() * i64::from(ty.bytes());
        let largest = LARGEST_ARRAY / bytes.max(1);
        let outer = open.then_some(first.map_or(largest, |n| n.min(largest)));
        Some((outer.into_iter().chain(inner).chain(members).collect(), extents))
    }

    fn check_new(&mut self, d: &Declarator) {
        let earlier = self.scopes.last().and_then(|s| s.get(&d.name)).cloned();
        if let Some(Entity::Slot(k)) = earlier {
            // At file level C allows to declare a variable again.
            if self.slots[k].binding != Binding::Global {
                let first = self.slots[k].span;
                let fault = Diagnostic::error("E0308", d.span, format!("`{}` is declared twice in one scope", d.name));
                self.faults.push(fault.label("declared again").note(first, "declared here").help("use another name"));
            }
        }
    }

    /// The value of a constant initializer, converted to `ty`.
    pub(super) fn constant_value(&mut self, e: &ast::Expr, ty: ScalarType) -> Option<(u64, ScalarType)> {
        let before = self.faults.len();
        let value = self.value(e, &mut vec![]).map(|v| super::operate::convert(v, ty));
        self.faults.truncate(before);
        match value?.kind {
            ExprKind::Const(bits) => Some((bits, ty)),
            _ => None,
        }
    }

    /// The extents, all positive: their greatest values, and their forms over the sizes (empty if all are constant).
    /// `None` if the reason was reported.
    fn extents(
        &mut self,
        name: &str,
        extents: &[&ast::Extent],
        d: &Declarator,
        ty: ScalarType,
    ) -> Option<(Vec<i64>, Vec<Affine>)> {
        let mut dims = vec![];
        let mut forms = vec![];
        let mut bytes = Some(ty.bytes() as i64);
        for (k, extent) in extents.iter().enumerate() {
            let (size, form) = match (&extent.size, &d.init) {
                (Some(e), _) => self.extent(name, e)?,
                (None, Some(Init::List(items, _))) if k == 0 => {
                    (items.len() as i64, Affine::constant(self.sizes.len(), items.len() as i64))
                }
                (None, _) => {
                    let label = format!("`{name}` has no extent here");
                    self.error(
                        "E0306",
                        extent.span,
                        format!("an extent of `{name}` is missing"),
                        label,
                        "write the number of elements between the brackets",
                    );
                    return None;
                }
            };
            if size <= 0 {
                let span = extent.size.as_ref().map_or(extent.span, |e| e.span);
                self.error(
                    "E0303",
                    span,
                    format!("an extent of `{name}` is {size}"),
                    "an array needs at least one element",
                    "check the constants",
                );
                return None;
            }
            dims.push(size);
            forms.push(form);
            bytes = bytes.and_then(|b| b.checked_mul(size)).filter(|&b| b <= LARGEST_ARRAY);
        }
        if bytes.is_none() {
            self.error("E0304", d.span, format!("`{name}` is too large"), "more than 2^40 bytes", "check the extents");
            return None;
        }
        if forms.iter().all(Affine::is_constant) {
            forms.clear();
        }
        Some((dims, forms))
    }

    /// The greatest value of an extent, and its form over the sizes.
    fn extent(&mut self, name: &str, e: &ast::Expr) -> Option<(i64, Affine)> {
        let sizes = self.sizes.len();
        match self.affine(e) {
            Ok(v) if v.form.is_constant() => Some((v.form.constant, Affine::constant(sizes, v.form.constant))),
            Ok(v) if v.form.coeffs[sizes..].iter().all(|&c| c == 0) => {
                let form = Affine { coeffs: v.form.coeffs[..sizes].to_vec(), ..v.form };
                let maxima: Vec<i64> = self.sizes.iter().map(|s| s.max).collect();
                let (least, greatest) = form.over_sizes(&maxima);
                if least <= 0 {
                    self.error(
                        "E0303",
                        e.span,
                        format!("an extent of `{name}` can be {least}"),
                        "an array needs at least one element",
                        "a size may be 1: make the extent larger by a constant",
                    );
                    return None;
                }
                Some((greatest, form))
            }
            Ok(_) => {
                self.error(
                    "E0302",
                    e.span,
                    format!("an extent of `{name}` is not constant"),
                    "it changes with an iterator",
                    "use a constant",
                );
                None
            }
            Err(refusal) if refusal.code == Some("E0407") || refusal.code == Some("E0307") => {
                let help = match &*refusal.help {
                    HELP_DIVIDED_SIZE => HELP_DIVIDED_SIZE,
                    _ => "array sizes must be constants: `#define` them or pass -D NAME=VALUE",
                };
                self.error("E0302", refusal.span, format!("an extent of `{name}` is not constant"), refusal.why, help);
                None
            }
            Err(refusal) => {
                self.report_refusal(refusal, "E0302", "the extent");
                None
            }
        }
    }

    /// The scop's array of a slot; its first use creates it.
    pub(super) fn array_of(&mut self, slot: usize) -> ArrayId {
        if let Some(id) = self.slots[slot].array {
            return id;
        }
        let id = ArrayId(self.arrays.len() as u32);
        let mut name = self.slots[slot].name.to_string();
        let mut k = 0;
        let local = self.slots[slot].storage == Storage::Local;
        while self.names.contains(&name) || (local && self.outer.contains(name.as_str())) {
            k += 1;
            name = format!("{}_{k}", self.slots[slot].name);
        }
        self.names.insert(name.clone());
        let s = &mut self.slots[slot];
        self.widths.extend(s.width.map(|width| (id, width)));
        s.array = Some(id);
        let dims = s.dims.clone().unwrap_or_default();
        self.arrays.push(Array {
            name,
            ty: s.ty,
            c_type: s.c_type.clone(),
            dims,
            extents: s.extents.clone(),
            storage: s.storage,
            binding: s.binding,
            constant: s.constant,
            zeroed: s.keeps_value && s.begins_as_zero,
            kept: false,
            span: s.span,
        });
        id
    }

    /// A new local boolean for a condition.
    pub(super) fn temporary(&mut self, span: Span) -> usize {
        self.slots.push(Slot {
            name: "condition".into(),
            span,
            ty: ScalarType::BOOL,
            c_type: "_Bool".into(),
            dims: Some(vec![]),
            extents: vec![],
            open: false,
            members: None,
            width: None,
            table: None,
            storage: Storage::Local,
            binding: Binding::Local,
            constant: false,
            array: None,
            iterator: None,
            keeps_value: false,
            begins_as_zero: false,
            predicates: self.predicates.len(),
            lifetime: 0,
            guarded: None,
        });
        self.slots.len() - 1
    }

    /// A declaration inside the region.
    pub(super) fn declare_inside(&mut self, d: &Declarator) {
        // The same variable each time that its declaration is reached.
        let again = |s: &Slot| s.keeps_value && d.keeps_value() && s.span == d.span;
        if let Some(slot) = self.slots.iter().position(again) {
            return self.bind(&d.name, Entity::Slot(slot));
        }
        let (storage, binding) = self.lives_in(d);
        if let Some(slot) = self.declare(d, storage, binding) {
            self.initialize(slot, d);
        }
    }
}

/// What a pointer to elements or rows points to: an array with an open first extent.
fn pointed(d: &Declarator) -> Declarator {
    let mut d = d.clone();
    if let (Some(star), true) = (d.pointer, d.to_elements) {
        d.dims.insert(0, ast::Extent { size: None, span: star });
        d.pointer = None;
    }
    d
}
