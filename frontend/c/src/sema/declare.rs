//! Declarations: enumeration constants, globals, parameters, locals and their initializers.

use super::affine::HELP_DIVIDED_SIZE;
use super::{Entity, Sema, Slot};
use crate::ast;
use crate::ast::{Declarator, Init, Unit};
use scop::diag::{Diagnostic, Span};
use scop::value;
use scop::{Affine, Array, ArrayId, Binding, ExprKind, ScalarType, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Arrays hold at most so many bytes (2^40).
const LARGEST_ARRAY: i64 = 1 << 40;
/// A local array with an initializer list becomes one statement per element, at most so many.
const LARGEST_LIST: i64 = 1024;

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

    /// A declaration before the region: faults in it count only if its name is used.
    pub(super) fn declare_outside(
        &mut self,
        d: &Declarator,
        storage: Storage,
        binding: Binding,
        used: &BTreeSet<Rc<str>>,
    ) {
        let before = self.faults.len();
        let slot = self.declare(d, storage, binding);
        if self.faults.len() > before {
            let fault = self.faults[before].clone();
            self.faults.truncate(before);
            self.bind(&d.name, Entity::Refused(Rc::new(fault)));
        } else if let (Some(slot), Storage::Local, true) = (slot, storage, used.contains(&d.name)) {
            self.initialize(slot, d);
        }
    }

    pub(super) fn parameter(&mut self, d: &Declarator, position: u32) {
        if d.ty.members.is_some() && d.pointer.is_none() && d.dims.is_empty() && d.ty.dims.is_empty() {
            self.error(
                "E0301",
                d.ty.span,
                format!("`{}` is a structure passed by value", d.name),
                "it has no place in memory of its own",
                format!("pass an array of one element: `{} {}[1]`", d.ty.text, d.name),
            );
            self.bind(&d.name, Entity::Poison);
            return;
        }
        let mut d = d.clone();
        if let (Some(star), true) = (d.pointer, d.to_elements) {
            d.dims.insert(0, ast::Extent { size: None, span: star });
            d.pointer = None;
        }
        let d = &d;
        if d.ty.scalar.is_some() && d.pointer.is_none() && d.dims.is_empty() && d.ty.dims.is_empty() {
            self.declare(d, Storage::Dram, Binding::Value(position));
            return;
        }
        if let Some(slot) = self.declare(d, Storage::Dram, Binding::Parameter(position)) {
            self.array_of(slot);
        }
    }

    /// Enters a declarator into the innermost scope; the slot, unless it is a constant or faulty.
    pub(super) fn declare(&mut self, d: &Declarator, storage: Storage, binding: Binding) -> Option<usize> {
        self.check_new(d);
        self.bind(&d.name, Entity::Poison);
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
        let Some(ty) = d.ty.scalar.filter(|_| !d.function) else {
            let why = d.ty.why.clone().unwrap_or_else(|| "it declares a function".into());
            self.error(
                "E0301",
                d.ty.span,
                format!("`{}` has an unsupported type", d.name),
                why,
                "use integers (`int8_t` to `int64_t`) or floats",
            );
            return None;
        };
        let whole: Vec<&ast::Extent> = d.dims.iter().chain(&d.ty.dims).collect();
        let open = matches!(binding, Binding::Parameter(_)) && whole.first().is_some_and(|x| x.size.is_none());
        let given = if open { self.given_extent(&d.name) } else { None };
        let first_only = open && !self.sizes.is_empty() && !self.beyond_first.contains(&d.name);
        let given = given.or(first_only.then_some((1, d.span)));
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
        let fixed = d.ty.constant || (storage == Storage::Local && !self.assigned.contains(&d.name));
        if let (true, true, Some(Init::Value(e))) = (fixed, whole.is_empty() && d.ty.members.is_none(), &d.init) {
            if let Some((bits, ty)) = self.constant_value(e, ty) {
                self.bind(&d.name, Entity::Constant(bits, ty));
                return None;
            }
        }
        let before = self.faults.len();
        let dims = self.extents(&d.name, &whole[usize::from(open)..], d, ty);
        if self.faults.len() > before {
            return None;
        }
        let (dims, extents) = dims.unzip();
        let mut extents: Vec<Affine> = extents.unwrap_or_default();
        if open && given.is_none() && !self.sizes.is_empty() {
            self.error(
                "E0306",
                d.span,
                format!("the first extent of `{}` is missing", d.name),
                "with sizes at run time it must be known",
                format!(
                    "write how many elements it has over the sizes, such as `{0}[n]`, or a constant, `#pragma sagen \
                    extent({0}, 4)`; only where nothing but `*{0}` is accessed it is one",
                    d.name
                ),
            );
            return None;
        }
        if !extents.is_empty() {
            let constant = |n: i64| Affine::constant(self.sizes.len(), n);
            extents = given
                .map(|g| constant(g.0))
                .into_iter()
                .chain(extents)
                .chain(d.ty.members.as_ref().map(|m| constant(m.len() as i64)))
                .collect();
        }
        let dims = dims.map(|inner: Vec<i64>| {
            let bytes = inner.iter().product::<i64>() * i64::from(ty.bytes());
            let members = d.ty.members.as_ref().map(|m| m.len() as i64);
            let largest = LARGEST_ARRAY / bytes.max(1);
            open.then_some(given.map_or(largest, |g| g.0.min(largest)))
                .into_iter()
                .chain(inner)
                .chain(members)
                .collect::<Vec<_>>()
        });
        let table =
            dims.as_ref().filter(|_| d.ty.constant && d.ty.members.is_none()).and_then(|dims| self.table(dims, d, ty));
        self.slots.push(Slot {
            name: d.name.clone(),
            span: d.span,
            ty,
            c_type: if d.ty.dims.is_empty() { d.ty.text.clone() } else { super::types::spelling(ty) },
            dims,
            extents,
            open: open && given.is_none(),
            members: d.ty.members.clone(),
            table,
            storage,
            binding,
            constant: d.ty.constant,
            array: None,
            iterator: None,
            predicates: self.predicates.len(),
            guarded: None,
        });
        let slot = self.slots.len() - 1;
        if storage == Storage::Dram {
            self.outer.insert(d.name.clone());
        }
        self.bind(&d.name, Entity::Slot(slot));
        Some(slot)
    }

    /// The first extent that a clause gives a parameter which leaves it open.
    fn given_extent(&mut self, name: &str) -> Option<(i64, Span)> {
        let k = self.extents.iter().position(|c| c.values[0] == name)?;
        let clause = self.extents.remove(k);
        Some((clause.values[1].parse().ok()?, clause.span))
    }

    fn check_new(&mut self, d: &Declarator) {
        let known = self.scopes.last().and_then(|s| s.get(&d.name)).cloned();
        let Some(known) = known else { return };
        if let Entity::Slot(k) = known {
            // At file level C allows a variable to be declared again.
            if self.slots[k].binding != Binding::Global {
                let first = self.slots[k].span;
                let fault = Diagnostic::error("E0308", d.span, format!("`{}` is declared twice in one scope", d.name));
                self.faults.push(fault.label("declared again").note(first, "declared here").help("use another name"));
            }
        }
    }

    /// Extents that were left open: what the region touches.
    pub(super) fn close_extents(&mut self) {
        for slot in self.slots.iter().filter(|s| s.open) {
            let Some(id) = slot.array else { continue };
            let mut extent = 1;
            for s in &self.statements {
                for access in s.reads.iter().chain([&s.write]).filter(|a| a.array == id) {
                    let last = s.domain.iter().filter_map(|part| scop::flow::maximum(part, &access.subscripts[0]));
                    extent = last.map(|x| x + 1).fold(extent, i64::max);
                }
            }
            self.arrays[id.index()].dims[0] = extent;
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

    /// The extents, all positive and constant or following the sizes: for the greatest sizes, and over them unless all
    /// are constant; `None` if the reason was reported elsewhere.
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

    /// The greatest value of an extent, and what it is over the sizes.
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
                        "sizes are 1 and more: add what is missing",
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
                let help = match refusal.help {
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

    /// The scop's array for a slot, made at its first use.
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
            span: s.span,
        });
        id
    }

    /// A local boolean that keeps a condition.
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
            table: None,
            storage: Storage::Local,
            binding: Binding::Local,
            constant: false,
            array: None,
            iterator: None,
            predicates: self.predicates.len(),
            guarded: None,
        });
        self.slots.len() - 1
    }

    /// A declaration inside the region.
    pub(super) fn declare_inside(&mut self, d: &Declarator) {
        if let Some(slot) = self.declare(d, Storage::Local, Binding::Local) {
            self.initialize(slot, d);
        }
    }

    /// Statements that carry out an initializer.
    fn initialize(&mut self, slot: usize, d: &Declarator) {
        let Some(dims) = self.slots[slot].dims.clone() else { return };
        self.parts = 0;
        if self.slots[slot].table.is_some() {
            return;
        }
        let members = self.slots[slot].members.clone();
        match &d.init {
            None => {}
            Some(Init::Value(e)) if dims.len() == 1 && members.is_some() => {
                for (k, name) in members.iter().flat_map(|m| m.iter()).enumerate() {
                    let depth = self.depth();
                    self.store(slot, vec![Affine::constant(depth, k as i64)], &e.member(name), d.span);
                }
            }
            Some(Init::Value(e)) if dims.is_empty() => self.store(slot, vec![], e, d.span),
            Some(Init::List(items, span)) if dims.is_empty() => match &items[..] {
                [Init::Value(e)] => self.store(slot, vec![], e, d.span),
                _ => self.error(
                    "E0313",
                    *span,
                    "a scalar has one initializer",
                    format!("`{}` is no array", d.name),
                    "write its value without braces",
                ),
            },
            Some(Init::Value(e)) => {
                let label = format!("`{}` is an array", d.name);
                self.error("E0313", e.span, "an array needs an initializer list", label, "write { … }");
            }
            Some(Init::List(items, span)) => {
                let zero = ast::Expr { kind: ast::ExprKind::Literal(0, ScalarType::I32), span: *span };
                if items.iter().all(is_zero) {
                    self.fill(slot, &dims, &zero);
                } else {
                    self.initialize_list(slot, &dims, items, *span, &zero);
                }
            }
        }
    }

    /// One store per element.
    fn initialize_list(&mut self, slot: usize, dims: &[i64], items: &[Init], span: Span, zero: &ast::Expr) {
        let mut values = BTreeMap::new();
        let total: i64 = dims.iter().product();
        if total > LARGEST_LIST {
            self.error(
                "E0415",
                span,
                format!("an initializer for {total} elements"),
                format!("at most {LARGEST_LIST} are supported"),
                "fill the array by a loop, or pass it as a parameter",
            );
            return;
        }
        if self.flatten(items, dims, 0, span, &mut values).is_none() {
            return;
        }
        for k in 0..total {
            let mut rest = k;
            let mut point = vec![0; dims.len()];
            for (p, n) in point.iter_mut().zip(dims).rev() {
                *p = rest % n;
                rest /= n;
            }
            let subscripts = point.into_iter().map(|x| Affine::constant(self.depth(), x)).collect();
            self.store(slot, subscripts, values.get(&k).copied().unwrap_or(zero), span);
        }
    }

    /// Enters the items of a list for the sub-array at `base` (row-major) into `out`.
    pub(super) fn flatten<'a>(
        &mut self,
        items: &'a [Init],
        dims: &[i64],
        base: i64,
        span: Span,
        out: &mut BTreeMap<i64, &'a ast::Expr>,
    ) -> Option<()> {
        let inner: i64 = dims[1..].iter().product();
        if items.iter().all(|i| matches!(i, Init::Value(_))) {
            // Without inner braces the values run through the sub-array.
            if items.len() as i64 > inner * dims[0] {
                self.error(
                    "E0313",
                    span,
                    "too many initializers",
                    format!("{} values for {} elements", items.len(), inner * dims[0]),
                    "check the extents",
                );
                return None;
            }
            for (k, item) in items.iter().enumerate() {
                if let Init::Value(e) = item {
                    out.insert(base + k as i64, e);
                }
            }
            return Some(());
        }
        if items.len() as i64 > dims[0] {
            self.error(
                "E0313",
                span,
                "too many initializers",
                format!("{} rows for an extent of {}", items.len(), dims[0]),
                "check the extents",
            );
            return None;
        }
        for (k, item) in items.iter().enumerate() {
            match item {
                Init::List(inner_items, s) if dims.len() > 1 => {
                    self.flatten(inner_items, &dims[1..], base + k as i64 * inner, *s, out)?
                }
                _ => {
                    self.error(
                        "E0313",
                        span,
                        "the initializer does not fit the array's shape",
                        "braces and values are mixed",
                        "give one pair of braces per row",
                    );
                    return None;
                }
            }
        }
        Some(())
    }
}

fn is_zero(init: &Init) -> bool {
    match init {
        Init::Value(e) => matches!(e.kind, ast::ExprKind::Literal(0, _)),
        Init::List(items, _) => items.iter().all(is_zero),
    }
}
