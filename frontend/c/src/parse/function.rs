//! Heads of functions: parameters as C, old C and C++ write them, default arguments, and what C++ has around functions.

use super::{Failed, Parsed, Parser};
use crate::ast::{Declarator, Helper, TypeName};
use crate::lex::Tok;
use scop::diag::Diagnostic;
use scop::ScalarType;
use std::rc::Rc;

impl Parser<'_> {
    /// A template, class or namespace. Functions in it are not known outside; a region in it is refused.
    pub(super) fn scope_of_cpp(&mut self) {
        let (start, word) = (self.span(), self.tokens[self.at].text().to_string());
        self.at += 1;
        if self.is("<") {
            self.skip_angles();
        }
        let mut name = None;
        while !self.at_end() && !matches!(self.tok(0), Tok::Punct(";" | "{") | Tok::Marker(_)) {
            match self.tok(0).clone() {
                Tok::Punct("(") => self.skip_group(),
                Tok::Ident(w) if matches!(self.tok(1), Tok::Punct("(")) => {
                    name = Some((w, self.span()));
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        if self.eat(";") {
            return;
        }
        let what = match &*word {
            "template" => "a template has no types and sizes by itself",
            "class" => "a class is no array in memory",
            _ => "a namespace hides the function from the caller",
        };
        let help = "write a function of C: outside of classes and namespaces, for the types and sizes that you use";
        let fault = Diagnostic::error("E0211", start, format!("`{word}` is C++ that sagen does not accept"));
        let fault = fault.label(what).help(help);
        if self.is("{") && self.group_has_region() {
            self.report(fault);
            // Nothing in it is analyzed.
            let end = self.end_of_group();
            self.at = end;
            self.refused_scope = true;
            return;
        }
        if let (Some((name, span)), "template") = (name, &*word) {
            let (result, body) = (TypeName::unknown(span), Err(Some(Rc::new(fault))));
            self.helpers.insert(name, Helper { result, pointer: false, params: vec![], body, span });
        }
        if self.is("{") {
            self.skip_group();
        }
    }

    /// Moves the default arguments of a function to its parameters; a declaration before the definition may have them.
    pub(super) fn default_arguments(&mut self, function: &Rc<str>, params: &mut [Declarator]) {
        let known = self.defaults.entry(function.clone()).or_default();
        known.resize(known.len().max(params.len()), None);
        for (known, d) in known.iter_mut().zip(params) {
            *known = d.init.take().or_else(|| known.clone());
            d.init.clone_from(known);
        }
    }

    /// `(…)` of a function; a faulty parameter is reported and left out.
    pub(super) fn parameters(&mut self) -> Option<Vec<Declarator>> {
        let mut params = vec![];
        self.need("(", "before the parameters").ok()?;
        if self.is_word("void") && matches!(self.tok(1), Tok::Punct(")")) {
            self.at += 1;
        }
        while !self.is(")") && !self.at_end() && !self.is("{") {
            if self.eat("...") {
                continue;
            }
            let read = self.parameter_type().and_then(|ty| {
                // A parameter without a name cannot be used.
                match self.tok(0) {
                    Tok::Punct("," | ")") => Ok(Declarator::unnamed(ty)),
                    _ => self.declarator(&ty),
                }
            });
            match read {
                Ok(mut d) => {
                    if d.function {
                        self.skip_group();
                        d.pointer = Some(d.span);
                    }
                    if d.ty.scalar.is_none() && d.ty.why.is_some() {
                        self.foreign.insert(d.name.clone());
                    }
                    params.push(d);
                }
                Err(Failed) => {
                    while !self.at_end() && !self.is(",") && !self.is(")") && !self.is("{") {
                        if self.is("(") || self.is("[") {
                            self.skip_group()
                        } else {
                            self.at += 1
                        }
                    }
                }
            }
            if !self.eat(",") && !self.is(")") && !self.is("{") {
                self.at += 1;
            }
        }
        self.eat(")");
        Some(params)
    }

    /// The declarations between the parameter list of an old (K&R) definition and its body. A parameter without one is an
    /// `int`.
    pub(super) fn old_parameters(&mut self, names: &[Declarator]) -> Parsed<Vec<Declarator>> {
        let mut declared = vec![];
        while self.at_type() {
            declared.extend(self.declaration()?);
        }
        let of = |d: &Declarator| {
            let int = TypeName { scalar: Some(ScalarType::I32), text: "int".into(), why: None, ..d.ty.clone() };
            let missing = || Declarator { name: d.ty.text.as_str().into(), ty: int, ..d.clone() };
            declared.iter().find(|x| *x.name == *d.ty.text).cloned().unwrap_or_else(missing)
        };
        Ok(names.iter().map(of).collect())
    }

    /// The type of a parameter. A name that is not known as a type counts as one that is not supported.
    fn parameter_type(&mut self) -> Parsed<TypeName> {
        let span = self.span();
        match self.tok(0).clone() {
            Tok::Ident(name)
                if !self.at_type() && matches!(self.tok(1), Tok::Ident(_) | Tok::Punct("*" | "," | ")")) =>
            {
                self.at += 1;
                let why = Some(format!("`{name}` is not a type that sagen knows"));
                Ok(TypeName { why, text: name.to_string(), ..TypeName::unknown(span) })
            }
            _ => self.type_name(),
        }
    }
}
