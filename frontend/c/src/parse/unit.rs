//! Island parser: finds the marked regions and the declarations in scope there, and skips the rest. Each region is a
//! program; several regions must be in different functions, whose names identify them.
//!
//! A declaration outside the region that cannot be parsed is skipped silently: a use of its name is reported as
//! unknown. Only the parameters of the enclosing function must be readable.

use super::around::Around;
use super::{join, Failed, Parsed, Parser};
use crate::ast::{Declarator, Expr, Function, Helper, Init, Outside, Stmt, StmtKind, Unit};
use crate::lex::{Marker, Tok, Token};
use scop::diag::{Diagnostic, Span};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A function's name and its place.
type NameAt = (Rc<str>, Span);

/// Results so far.
#[derive(Default)]
struct Found {
    globals: Vec<Declarator>,
    regions: Vec<(Option<Function>, Vec<Stmt>, Span)>,
    /// The opening pragma of each region, and the function around it.
    opened: Vec<(Span, Option<NameAt>)>,
}

fn opens(tok: &Tok) -> bool {
    matches!(tok, Tok::Marker(Marker::Scop | Marker::Sa))
}

impl Parser<'_> {
    pub(super) fn unit(&mut self) -> Vec<Unit> {
        let mut found = Found::default();
        while !self.at_end() {
            match self.tok(0) {
                t if opens(t) => self.region(&mut found, None, &[]),
                Tok::Marker(_) => self.stray_end(),
                Tok::Ident(w) if &**w == "typedef" => {
                    self.at += 1;
                    self.silently(|p| p.typedef());
                }
                Tok::Punct("{" | "(") if !self.group_has_region() => self.skip_group(),
                Tok::Ident(w) if matches!(&**w, "template" | "class" | "namespace") => self.scope_of_cpp(),
                _ if self.at_type() => self.external(&mut found),
                _ => self.at += 1,
            }
        }
        let Found { globals, regions, opened } = found;
        if opened.is_empty() && !self.refused_scope && !self.faults.iter().any(|f| f.code == "E0205") {
            let fault = Diagnostic::error("E0202", None, "this file has no marked region");
            self.report(fault.help("put `#pragma scop` before the loop nest and `#pragma endscop` after it"));
        }
        let (enumerators, helpers) = (std::mem::take(&mut self.enumerators), std::mem::take(&mut self.helpers));
        let unit = |(function, region, region_span)| Unit {
            enumerators: enumerators.clone(),
            globals: self.used_globals(&globals, region_span),
            helpers: helpers.clone(),
            function,
            region,
            inputs: BTreeSet::new(),
            searched: BTreeSet::new(),
            region_span,
        };
        regions.into_iter().map(unit).collect()
    }

    /// The globals, with what the file outside of the region does to them.
    fn used_globals(&self, globals: &[Declarator], region: Span) -> Vec<Declarator> {
        let inside = |s: Span| s.file == region.file && region.start <= s.start && s.end <= region.end;
        let rest: Vec<Token> = self.tokens.iter().filter(|t| !inside(t.span)).cloned().collect();
        let mut all = globals.to_vec();
        for d in all.iter_mut().filter(|d| d.is_scalar() && !d.ty.constant) {
            d.outside.used = Around::uses_global(&rest, d);
        }
        all
    }

    /// Runs `parse`; if it fails, drops its faults and skips the declaration.
    pub(super) fn silently<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<T> {
        let (faults, depth, before) = (self.faults.len(), self.depth, self.at);
        match parse(self) {
            Ok(value) => Some(value),
            Err(Failed) => {
                self.faults.truncate(faults);
                self.depth = depth;
                self.recover();
                if self.at == before {
                    self.at += 1;
                }
                None
            }
        }
    }

    pub(super) fn group_has_region(&self) -> bool {
        let mut open = 0i32;
        for token in &self.tokens[self.at..] {
            match &token.tok {
                Tok::Punct("{" | "(" | "[") => open += 1,
                Tok::Punct("}" | ")" | "]") => open -= 1,
                Tok::Marker(_) => return true,
                _ => {}
            }
            if open <= 0 {
                return false;
            }
        }
        false
    }

    /// A type definition after `typedef`.
    pub(super) fn typedef(&mut self) -> Parsed<()> {
        for d in self.scoped(Self::declaration)? {
            let mut ty = d.ty.clone();
            if d.pointer.is_some() || d.function {
                (ty.scalar, ty.why) = (None, Some(format!("`{}` is a pointer or function type", d.name)));
            }
            ty.dims = d.dims.into_iter().chain(ty.dims).collect();
            self.typedefs.insert(d.name, ty);
        }
        Ok(())
    }

    /// The constants of an `enum`, after its `{`.
    pub(super) fn enumeration(&mut self) -> Parsed<()> {
        let mut first = true;
        while !self.is("}") && !self.at_end() {
            let (name, _) = self.name("an enumeration constant")?;
            let value = if self.eat("=") { Some(self.assignment()?) } else { None };
            self.enumerators.push((name, value, first));
            first = false;
            if !self.eat(",") {
                break;
            }
        }
        self.need("}", "to close the enumeration")
    }

    /// A declaration or a function at file level.
    fn external(&mut self, found: &mut Found) {
        let start = self.at;
        let faults = self.faults.len();
        let head = self.silently(|p| {
            let ty = p.type_name()?;
            if p.is(";") {
                Ok(None)
            } else {
                p.declarator(&ty).map(Some)
            }
        });
        match head {
            None => {}
            Some(None) => self.at += 1,
            Some(Some(d)) if d.function => self.scoped(|p| p.function(found, d, faults)),
            Some(Some(_)) => {
                self.at = start;
                self.faults.truncate(faults);
                // The constants of an `enum` are collected a second time, which is harmless.
                if let Some(all) = self.silently(|p| p.declaration()) {
                    self.note_constants(&all);
                    found.globals.extend(all);
                }
            }
        }
    }

    fn function(&mut self, found: &mut Found, head: Declarator, faults: usize) {
        let mut params = self.parameters();
        if self.at_type() && !self.is_word("__attribute__") {
            let names = params.take().unwrap_or_default();
            params = self.silently(|p| p.old_parameters(&names));
        }
        while self.eat_word("noexcept") {}
        self.default_arguments(&head.name, params.as_deref_mut().unwrap_or_default());
        let pointer = |d: &&Declarator| d.pointer.is_some() || !d.dims.is_empty() || !d.ty.dims.is_empty();
        self.pointers = params.iter().flatten().filter(pointer).map(|d| d.name.clone()).collect();
        while self.eat_word("__attribute__") {
            self.skip_group();
        }
        if !self.is("{") || !self.group_has_region() {
            if self.is("{") {
                self.helper(head, params.unwrap_or_default());
            }
            self.faults.truncate(faults);
            return;
        }
        let mut function =
            Function { name: head.name, span: head.span, params: params.unwrap_or_default(), locals: vec![] };
        function.params.iter_mut().for_each(|d| d.init = None);
        self.body(found, function);
    }

    /// A function that the region may call. Faults in it are reported only at a call.
    fn helper(&mut self, head: Declarator, params: Vec<Declarator>) {
        let (end, faults) = (self.end_of_group(), self.faults.len());
        let depth = self.depth;
        self.in_helper = true;
        let body = self.statement().kind;
        self.in_helper = false;
        (self.at, self.depth) = (end, depth);
        let body = match body {
            StmtKind::Block(all) if self.faults.len() == faults => Ok(all),
            _ => Err(self.faults.get(faults).cloned().map(Rc::new)),
        };
        let body = match self.helpers.contains_key(&head.name) {
            true => {
                let message = format!("`{}` is defined more than once", head.name);
                let fault = Diagnostic::error("E0404", head.span, message)
                    .label("the types of its arguments would have to choose")
                    .help("give each a name of its own");
                Err(Some(Rc::new(fault)))
            }
            false => body,
        };
        self.helpers.insert(
            head.name,
            Helper { result: head.ty, pointer: head.pointer.is_some(), params, body, span: head.span },
        );
    }

    /// The body of the function that holds the region.
    fn body(&mut self, found: &mut Found, function: Function) {
        let mut scopes: Vec<Vec<Declarator>> = vec![];
        self.body = self.at;
        self.repeated = self.tokens[self.at..self.end_of_body()].iter().any(|t| t.text() == "goto");
        self.in_main = &*function.name == "main";
        while !self.at_end() {
            match self.tok(0).clone() {
                Tok::Punct("{") => {
                    scopes.push(vec![]);
                    self.at += 1;
                }
                Tok::Punct("}") => {
                    scopes.pop();
                    self.at += 1;
                    if scopes.is_empty() {
                        return;
                    }
                }
                t if opens(&t) => {
                    let locals: Vec<Declarator> = scopes.iter().flatten().cloned().collect();
                    self.region(found, Some(&function), &locals);
                }
                Tok::Marker(_) => self.stray_end(),
                Tok::Punct(";") => self.at += 1,
                Tok::Ident(w) if &*w == "typedef" => {
                    self.at += 1;
                    self.silently(|p| p.typedef());
                }
                _ if self.at_type() => {
                    if let (Some(all), Some(scope)) = (self.local(), scopes.last_mut()) {
                        scope.extend(all);
                    }
                }
                _ => self.outside(),
            }
        }
    }

    /// A declaration before the region. If it cannot be read, then without the values of its pointers: where they point to
    /// is looked up elsewhere.
    fn local(&mut self) -> Option<Vec<Declarator>> {
        let (start, faults) = (self.at, self.faults.len());
        let read = self.silently(|p| p.declaration()).filter(|_| self.faults.len() == faults);
        read.or_else(|| {
            let end = self.at;
            self.faults.truncate(faults);
            (self.at, self.without_addresses) = (start, true);
            let all = self.silently(|p| p.declaration());
            self.without_addresses = false;
            self.at = self.at.max(end);
            all
        })
    }

    /// Position of the end of the body of the function around the current position.
    fn end_of_body(&self) -> usize {
        let mut open = 0i32;
        for (k, token) in self.tokens.iter().enumerate().skip(self.body) {
            match token.tok {
                Tok::Punct("{") => open += 1,
                Tok::Punct("}") => open -= 1,
                _ => {}
            }
            if open <= 0 {
                return k + 1;
            }
        }
        self.tokens.len()
    }

    /// A statement of the function outside the region: skipped, with a warning if it has an effect.
    fn outside(&mut self) {
        let start = self.span();
        let cast = |k: usize, p: &'static str| matches!(self.tok(k), Tok::Punct(q) if *q == p);
        let no_effect = cast(0, "(") && matches!(self.tok(1), Tok::Ident(w) if &**w == "void") && cast(2, ")");
        let word = match self.tok(0) {
            Tok::Ident(w) => w.clone(),
            _ => Rc::from(""),
        };
        self.at += 1;
        match &*word {
            "return" | "else" => {}
            "for" | "if" | "while" | "switch" if self.is("(") => {
                self.skip_group();
                // Its body comes next. The C program would run a region in it more than once, or never.
                if matches!(self.tok(0), Tok::Marker(_)) || (self.is("{") && self.group_has_region()) {
                    self.repeated |= matches!(&*word, "for" | "while");
                    self.warn_outside(join(start, self.previous()));
                }
                return;
            }
            "do" => self.repeated |= self.is("{") && self.group_has_region(),
            _ => {}
        }
        while !self.at_end()
            && !matches!(self.tok(0), Tok::Punct(";" | "{" | "}") | Tok::Marker(_))
            && &*word != "else"
            && &*word != "do"
        {
            if self.is("(") || self.is("[") {
                self.skip_group()
            } else {
                self.at += 1
            }
        }
        self.eat(";");
        // What `main` does around its region is the host's work.
        if !matches!(&*word, "return" | "else" | "do") && !self.in_main && !no_effect {
            self.warn_outside(join(start, self.previous()));
        }
    }

    fn warn_outside(&mut self, span: Span) {
        let what = "this statement is outside the marked region";
        let fault = if span.file == 0 {
            Diagnostic::warning("W0201", span, what)
                .label("the hardware does not execute it")
                .help("move it into the region, or do it before the array starts or after it has ended")
        } else {
            // The golden model instruments the region in the main file only.
            Diagnostic::error("E0209", span, what)
                .label(
                    "the hardware does not execute it, and in an included file a simulation cannot separate its effect \
                    from the region's",
                )
                .help("move it into the region or into the caller")
        };
        self.report(fault);
    }

    fn stray_end(&mut self) {
        let span = self.span();
        self.at += 1;
        self.report(
            Diagnostic::error("E0205", span, "end of a region that was never begun")
                .label("no `#pragma scop` or `#pragma sa` before it"),
        );
    }

    /// A region, from its opening pragma on.
    fn region(&mut self, found: &mut Found, function: Option<&Function>, locals: &[Declarator]) {
        let (opened, first) = (self.span(), self.at);
        let (closer, name) = match self.tok(0) {
            Tok::Marker(Marker::Sa) => (Marker::EndSa, "endsa"),
            _ => (Marker::EndScop, "endscop"),
        };
        self.at += 1;
        let around = function.map(|f| (f.name.clone(), f.span));
        if let Some(fault) = second(found, opened, &around) {
            self.report(fault);
            while !self.at_end() && !matches!(self.tok(0), Tok::Marker(_)) {
                self.at += 1;
            }
            self.at += !opens(self.tok(0)) as usize;
            return;
        }
        found.opened.push((opened, around));
        let mut statements = vec![];
        while !self.at_end() && !matches!(self.tok(0), Tok::Marker(_) | Tok::Punct("}")) {
            statements.push(self.statement());
        }
        let closed = self.span();
        match self.tok(0).clone() {
            Tok::Marker(m) if m == closer => self.at += 1,
            tok => {
                let fault = Diagnostic::error("E0203", opened, "this region is not closed");
                let fault = match tok {
                    Tok::Marker(m) if !opens(&Tok::Marker(m)) => {
                        self.at += 1;
                        fault.label("begins here").note(closed, "this pragma closes the other kind of region")
                    }
                    Tok::Punct(_) => fault.label("begins here").note(closed, "the block around it ends here"),
                    _ => fault.label("nothing closes it up to here or the end of the file"),
                };
                self.report(fault.help(format!("put `#pragma {name}` after the loop nest")));
            }
        }
        let region_span =
            Span { start: opened.end, ..join(opened, Span { end: closed.start.max(opened.end), ..closed }) };
        if statements.is_empty() && !self.faults.iter().any(|f| f.span == Some(opened)) {
            self.report(
                Diagnostic::error("E0206", opened, "the marked region is empty")
                    .label("no statement up to its end")
                    .help("mark a loop nest"),
            );
        }
        let end = self.end_of_body();
        let (before, after) = (&self.tokens[self.body.min(first)..first], &self.tokens[self.at.min(end)..end]);
        let around = Around { before, after, repeated: self.repeated };
        let local = |d: &Declarator| {
            let outside = around.of(d);
            if outside.allocated {
                return Declarator { outside, init: None, ..d.clone() };
            }
            match around.set_once(d).and_then(value_of) {
                Some(value) => {
                    let outside = Outside { set: false, ..outside };
                    Declarator { outside, init: Some(Init::Value(value)), ..d.clone() }
                }
                // The code before the region may have replaced its first value.
                None => Declarator { outside, init: d.init.clone().filter(|_| !outside.set), ..d.clone() },
            }
        };
        // An inner variable hides an outer one of its name.
        let visible = locals.iter().enumerate().filter(|(k, d)| locals[k + 1..].iter().all(|x| x.name != d.name));
        let visible = visible.map(|(_, d)| d);
        // Variables that the region declares itself, outside of its blocks, live on behind it.
        for d in statements.iter_mut().filter_map(Stmt::declarators).flatten() {
            d.outside.used = around.of(d).used;
        }
        let function = function.map(|f| Function { locals: visible.map(local).collect(), ..f.clone() });
        found.regions.push((function, statements, region_span));
    }
}

/// The expression that these tokens are.
fn value_of(tokens: &[Token]) -> Option<Expr> {
    let mut parser = Parser::of(tokens, false);
    let value = parser.assignment().ok()?;
    (parser.at_end() && parser.faults.is_empty()).then_some(value)
}

/// The reason why this function may have no further region.
fn second(found: &Found, opened: Span, around: &Option<NameAt>) -> Option<Diagnostic> {
    let message = "a second marked region";
    let bare = |other: &Option<NameAt>| around.is_none() || other.is_none();
    if let Some((first, _)) = found.opened.iter().find(|(_, other)| bare(other)) {
        let fault = Diagnostic::error("E0204", opened, message).label("several regions must be in different functions");
        return Some(
            fault
                .note(*first, "another one begins here")
                .help("put each into a function; the function's name identifies it"),
        );
    }
    let (name, at) = around.as_ref()?;
    let (first, other) = found
        .opened
        .iter()
        .find_map(|(first, other)| Some((*first, other.as_ref()?)).filter(|(_, (other_name, _))| other_name == name))?;
    Some(if other.1 == *at {
        let fault = Diagnostic::error("E0204", opened, message).label("only one region per function");
        fault.note(first, "the first one begins here").help("join them, or put them into separate functions")
    } else {
        let fault = Diagnostic::error("E0210", *at, format!("a second function is called `{name}`"))
            .label("it has a marked region, too");
        fault.note(other.1, "the first one").help("rename one of them: a function's name chooses what the IP runs")
    })
}
