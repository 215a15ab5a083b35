//! Type names, declarators and initializers (C17 6.7).

use super::{join, Parsed, Parser};
use crate::ast::{AnyWidth, Binary, Declarator, Expr, ExprKind, Extent, Init, Outside, TypeName};
use crate::lex::Tok;
use scop::diag::{Diagnostic, Span};
use scop::literal::{int, BF16, F16, F32, F64};
use scop::ScalarType;
use std::rc::Rc;

/// The common type of the members and their names, or the reason why it is not supported.
pub(super) type Structure = Result<(ScalarType, Rc<[Rc<str>]>), String>;

/// Limit on the elements of a structure.
const LEAVES: usize = 1024;

/// The elements of a member in memory order, by name: `c.0`, `c.1` for `float c[2]`. `None` if it is not made of scalars.
fn leaves(d: &Declarator) -> Option<Vec<Rc<str>>> {
    if d.pointer.is_some() || d.reference || d.function || d.ty.scalar.is_none() || d.ty.width.is_some() {
        return None;
    }
    let mut all: Vec<Rc<str>> = vec![d.name.clone()];
    for extent in d.dims.iter().chain(&d.ty.dims) {
        let size = number(extent.size.as_ref()?)?;
        let size = usize::try_from(size).ok().filter(|n| (1..=LEAVES).contains(n) && all.len() <= LEAVES)?;
        all = all.iter().flat_map(|name| (0..size).map(move |k| format!("{name}.{k}").into())).collect();
    }
    match &d.ty.members {
        Some(inner) => Some(all.iter().flat_map(|a| inner.iter().map(move |b| format!("{a}.{b}").into())).collect()),
        None => Some(all),
    }
}

/// The value of a sum or product of literals.
fn number(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Literal(bits, ty) if !ty.is_float() => i64::try_from(scop::value::to_integer(*bits, *ty)).ok(),
        ExprKind::Binary(Binary::Add, a, b) => number(a)?.checked_add(number(b)?),
        ExprKind::Binary(Binary::Sub, a, b) => number(a)?.checked_sub(number(b)?),
        ExprKind::Binary(Binary::Mul, a, b) => number(a)?.checked_mul(number(b)?),
        _ => None,
    }
}

/// Words that cannot name a variable.
pub(super) fn is_keyword(word: &str) -> bool {
    const STATEMENTS: &[&str] = &[
        "if", "else", "for", "while", "do", "switch", "case", "default", "goto", "break", "continue", "return",
        "sizeof", "typedef",
    ];
    STATEMENTS.contains(&word)
        || BASIC.contains(&word)
        || QUALIFIERS.contains(&word)
        || STORAGE.contains(&word)
        || AGGREGATES.contains(&word)
}

const BASIC: &[&str] = &[
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "bool", "_Complex",
    "__int128", "_BitInt",
];
const QUALIFIERS: &[&str] =
    &["constexpr", "const", "volatile", "restrict", "__restrict", "__restrict__", "_Atomic", "__const"];
const STORAGE: &[&str] = &[
    "static",
    "extern",
    "inline",
    "register",
    "auto",
    "__inline",
    "__inline__",
    "_Noreturn",
    "_Thread_local",
    "__extension__",
];
const AGGREGATES: &[&str] = &["struct", "union", "enum"];

/// Types of C++ and of its libraries for hardware: what they are, and what to write.
const FOREIGN: &[(&str, &str)] = &[
    ("hls::stream", "a queue between processes; write an array, such as `int in[64]`: sagen moves it by itself"),
    ("ap_fixed", "a fixed-point number; write an integer, and shift after each product"),
    ("ap_ufixed", "a fixed-point number; write an integer, and shift after each product"),
    ("ac_int", "an integer of another library; write `int8_t` to `int64_t`"),
    ("ac_fixed", "a fixed-point number; write an integer, and shift after each product"),
    ("hls::vector", "a vector of numbers; write an array with one more extent"),
    ("vector", "an array of any length; write an array with a constant extent"),
    ("array", "an array as an object; write an array, such as `int a[64]`"),
    ("complex", "a complex number; write a structure of two floats, `struct { float re, im; }`"),
    ("string", "a text"),
];

/// What such a type is.
fn foreign(word: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(name, _)| *name == word).map(|f| f.1)
}

/// Types that headers and compilers predefine.
fn named(word: &str) -> Option<ScalarType> {
    let word = word.strip_prefix("std::").unwrap_or(word);
    Some(match word {
        "_Float16" | "half" | "__fp16" | "float16_t" => F16,
        "__bf16" | "bfloat16" | "bfloat16_t" => BF16,
        "_Float32" | "float32_t" | "float_t" => F32,
        "_Float64" | "float64_t" | "double_t" => F64,
        "size_t" | "uintptr_t" | "uintmax_t" => int(64, false),
        "ssize_t" | "ptrdiff_t" | "intptr_t" | "intmax_t" => int(64, true),
        "uint" => int(32, false),
        "ushort" => int(16, false),
        "uchar" => int(8, false),
        _ => {
            let (signed, rest) = match word.strip_prefix('u') {
                Some(rest) => (false, rest),
                None => (true, word),
            };
            let digits = rest.strip_prefix("int")?.strip_suffix("_t")?;
            match digits {
                "8" | "_least8" | "_fast8" => int(8, signed),
                "16" | "_least16" => int(16, signed),
                "32" | "_least32" => int(32, signed),
                "64" | "_least64" | "_fast64" | "_fast16" | "_fast32" => int(64, signed),
                _ => return None,
            }
        }
    })
}

/// Enters a `_BitInt(width)` with these other words into `ty`; its name.
fn of_exact_width(width: Option<i64>, basic: &[String], ty: &mut TypeName) -> String {
    let sign: Vec<&str> = basic.iter().map(String::as_str).collect();
    let signed = match sign[..] {
        [] | ["signed"] => true,
        ["unsigned"] => false,
        _ => {
            ty.why = Some("`_BitInt(N)` takes `signed` or `unsigned` only".into());
            return "_BitInt".into();
        }
    };
    let least = 1 + u32::from(signed);
    match width.and_then(|n| u32::try_from(n).ok()).filter(|n| (least..=64).contains(n)) {
        Some(bits) => {
            let width = AnyWidth { bits, grows: false };
            (ty.scalar, ty.width) = (Some(int(bits.next_power_of_two().max(8), signed)), Some(width));
            width.name(signed)
        }
        None => {
            ty.why = Some(format!("its width is not a number from {least} to 64"));
            "_BitInt".into()
        }
    }
}

impl Parser<'_> {
    /// Whether a declaration or a cast's type may start here.
    pub(super) fn at_type(&self) -> bool {
        match self.tok(0) {
            Tok::Ident(w) => {
                let w = &**w;
                BASIC.contains(&w)
                    || QUALIFIERS.contains(&w)
                    || STORAGE.contains(&w)
                    || AGGREGATES.contains(&w)
                    || w == "typedef"
                    || w == "__attribute__"
                    || self.is_type(w)
                    || ((foreign(w).is_some() || self.is_any_width(w)) && matches!(self.tok(1), Tok::Punct("<")))
            }
            _ => false,
        }
    }

    /// Whether a name means a type here.
    fn is_type(&self, word: &str) -> bool {
        (self.typedefs.contains_key(word) || named(word).is_some()) && !self.variables.contains(word)
    }

    /// Reads declarations of another scope: its variables do not hide types behind it.
    pub(super) fn scoped<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.variables.clone();
        let found = read(self);
        self.variables = outer;
        found
    }

    /// Declaration specifiers. An unsupported type is noted in the result, not reported.
    pub(super) fn type_name(&mut self) -> Parsed<TypeName> {
        let start = self.span();
        let mut ty = TypeName::unknown(start);
        let (mut words, mut basic): (Vec<String>, Vec<String>) = (vec![], vec![]);
        let mut whole = false;
        let mut exact = None;
        while let Tok::Ident(word) = self.tok(0).clone() {
            let word = &*word;
            if word == "__attribute__" {
                self.at += 1;
                self.skip_group();
                continue;
            }
            if QUALIFIERS.contains(&word) || STORAGE.contains(&word) {
                ty.constant |= matches!(word, "const" | "__const" | "constexpr");
                ty.is_static |= word == "static";
                self.at += 1;
                continue;
            }
            if AGGREGATES.contains(&word) && !whole && basic.is_empty() {
                self.aggregate(word, &mut ty, &mut words)?;
                whole = true;
            } else if word == "_BitInt" && !whole {
                exact = Some(self.exact_width()?);
            } else if BASIC.contains(&word) && !whole {
                basic.push(word.into());
                words.push(word.into());
                self.at += 1;
            } else if let (false, Some(what), Tok::Punct("<")) = (whole, foreign(word), self.tok(1)) {
                ty.why = Some(format!("`{word}` is {what}"));
                words.push(word.into());
                whole = true;
                self.at += 1;
                self.skip_angles();
            } else if !whole && self.is_any_width(word) && matches!(self.tok(1), Tok::Punct("<")) {
                self.any_width(word, &mut ty)?;
                let width = ty.width.map_or(0, |w| w.bits);
                words.push(format!("{word}<{width}>"));
                whole = true;
            } else if !whole && basic.is_empty() && self.is_type(word) {
                if let Some(known) = self.typedefs.get(word) {
                    (ty.scalar, ty.why, ty.dims, ty.members) =
                        (known.scalar, known.why.clone(), known.dims.clone(), known.members.clone());
                    ty.width = known.width;
                    ty.constant |= known.constant;
                } else {
                    ty.scalar = named(word);
                }
                match (ty.width, ty.scalar) {
                    (Some(n), Some(scalar)) => words.push(n.name(scalar.signed())),
                    _ => words.push(word.into()),
                }
                whole = true;
                self.at += 1;
            } else {
                break;
            }
        }
        if let Some(width) = exact {
            words = vec![of_exact_width(width, &basic, &mut ty)];
            whole = true;
        }
        ty.span = join(start, self.previous());
        ty.text = words.join(" ");
        if !whole {
            match combine(&basic) {
                Ok(scalar) => ty.scalar = Some(scalar),
                Err(why) => ty.why = Some(why),
            }
        }
        if words.is_empty() {
            let (span, label) = (self.span(), self.found());
            return self.fail(Diagnostic::error("E0201", span, "expected a type").label(label));
        }
        Ok(ty)
    }

    /// `struct …`, `union …`, `enum …`
    fn aggregate(&mut self, word: &str, ty: &mut TypeName, words: &mut Vec<String>) -> Parsed<()> {
        self.at += 1;
        words.push(word.into());
        let mut tag = None;
        while self.eat_word("__attribute__") {
            self.skip_group();
        }
        if let Tok::Ident(name) = self.tok(0).clone() {
            words.push(name.to_string());
            tag = Some(name);
            self.at += 1;
        }
        if word == "enum" {
            ty.scalar = Some(int(32, false));
            if self.eat("{") {
                self.enumeration()?;
            }
            return Ok(());
        }
        let name = words.join(" ");
        let structure = if self.is("{") {
            let found = self.structure(word, &name);
            tag.into_iter().for_each(|tag| drop(self.structures.insert(tag, found.clone())));
            found
        } else {
            let known = tag.filter(|_| word == "struct").and_then(|tag| self.structures.get(&tag).cloned());
            known.unwrap_or_else(|| Err(format!("`{name}` is not an arithmetic type")))
        };
        match structure {
            Ok((scalar, members)) => (ty.scalar, ty.members) = (Some(scalar), Some(members)),
            Err(why) => ty.why = Some(why),
        }
        Ok(())
    }

    /// `{ … }` of a structure. Faults in it are not reported; the result is the reason.
    fn structure(&mut self, word: &str, name: &str) -> Structure {
        let (end, faults) = (self.end_of_group(), self.faults.len());
        self.at += 1;
        let mut fields = vec![];
        while self.at + 1 < end {
            match self.scoped(Self::declaration) {
                Ok(all) => fields.extend(all),
                Err(_) => break,
            }
        }
        let read = self.at + 1 == end && self.faults.len() == faults;
        self.faults.truncate(faults);
        self.at = end;
        if word != "struct" {
            return Err(format!("`{name}` is not an arithmetic type"));
        }
        let first = fields.first().and_then(|d| d.ty.scalar);
        if let Some(d) = fields.iter().find(|d| d.pointer.is_some()) {
            return Err(format!(
                "`{}` in `{name}` is a pointer; mark the region in a function with the arrays as parameters",
                d.name
            ));
        }
        let members: Option<Vec<Vec<Rc<str>>>> = fields.iter().map(leaves).collect();
        let members = members.map(|all| all.concat()).filter(|all| read && all.len() <= LEAVES);
        match first.zip(members) {
            Some((scalar, members)) if fields.iter().all(|d| d.ty.scalar == Some(scalar)) => {
                Ok((scalar, members.into()))
            }
            Some(_) => Err(format!("the members of `{name}` are of several types; use one array per member")),
            None => Err(format!(
                "`{name}` has other members than scalars and arrays of constant size; use one array per member"
            )),
        }
    }

    /// Whether a name is that of a template of integers of any width.
    fn is_any_width(&self, word: &str) -> bool {
        self.cpp && matches!(word, "ap_int" | "ap_uint")
    }

    /// `ap_int<N>`: its cell in memory has 8, 16, 32 or 64 bits.
    fn any_width(&mut self, word: &str, ty: &mut TypeName) -> Parsed<()> {
        self.at += 2;
        let width = self.template_argument()?;
        self.need(">", "behind the width")?;
        let (signed, width) = (word == "ap_int", self.constant(&width));
        let most = if signed { 64 } else { 63 };
        match width.and_then(|n| u32::try_from(n).ok()).filter(|n| (1..=most).contains(n)) {
            Some(n) => {
                ty.scalar = Some(int(n.next_power_of_two().max(8), signed));
                ty.width = Some(AnyWidth { bits: n, grows: true });
            }
            None => ty.why = Some(format!("its width is not a number from 1 to {most}")),
        }
        Ok(())
    }

    /// `_BitInt(N)`: the width.
    fn exact_width(&mut self) -> Parsed<Option<i64>> {
        self.at += 1;
        self.need("(", "before the width")?;
        let width = self.assignment()?;
        self.need(")", "behind the width")?;
        Ok(self.constant(&width))
    }

    /// The value of a constant expression over numbers and file-level constants.
    fn constant(&self, e: &Expr) -> Option<i64> {
        e.number(&|name| self.constants.get(name).copied())
    }

    /// Enters the constants among declarations at file level, which may be widths.
    pub(super) fn note_constants(&mut self, all: &[Declarator]) {
        for d in all.iter().filter(|d| d.ty.constant && d.is_scalar()) {
            let value = d.value().and_then(|e| self.constant(e));
            self.constants.extend(value.map(|n| (d.name.clone(), n)));
        }
    }

    /// Skips `<…>`.
    pub(super) fn skip_angles(&mut self) {
        let mut open = 0i32;
        while !self.at_end() && !matches!(self.tok(0), Tok::Punct(";" | "{") | Tok::Marker(_)) {
            open += match self.tok(0) {
                Tok::Punct("<") => 1,
                Tok::Punct(">") => -1,
                Tok::Punct(">>") => -2,
                _ => 0,
            };
            self.at += 1;
            if open <= 0 {
                return;
            }
        }
    }

    /// Position after the group that starts here.
    pub(super) fn end_of_group(&mut self) -> usize {
        let start = self.at;
        self.skip_group();
        std::mem::replace(&mut self.at, start)
    }

    /// One declarator after its type: pointers, name, extents, initializer.
    pub(super) fn declarator(&mut self, ty: &TypeName) -> Parsed<Declarator> {
        let mut pointer = None;
        let mut stars = self.stars(&mut pointer);
        let mut reference = self.cpp && self.eat("&");
        let parenthesized = self.is("(") && matches!(self.tok(1), Tok::Punct("*") | Tok::Punct("&"));
        let mut rows = false;
        if parenthesized {
            self.at += 1;
            rows = stars == 0;
            stars += self.stars(&mut pointer);
            reference |= self.cpp && self.eat("&");
        }
        let (name, span) = self.name("a name in this declaration")?;
        if self.is_type(&name) {
            self.variables.insert(name.clone());
        }
        let mut declarator = Declarator {
            name,
            span,
            ty: ty.clone(),
            dims: vec![],
            pointer,
            to_elements: false,
            reference,
            function: false,
            init: None,
            outside: Outside::default(),
        };
        if parenthesized {
            self.extents(&mut declarator)?;
            rows &= declarator.dims.is_empty();
            self.need(")", "to close the declarator")?;
        }
        if self.is("(") {
            declarator.function = true;
            return Ok(declarator);
        }
        self.extents(&mut declarator)?;
        declarator.to_elements = stars == 1 && !reference && (rows || (!parenthesized && declarator.dims.is_empty()));
        while self.eat_word("__attribute__") {
            self.skip_group();
        }
        if self.without_addresses && declarator.pointer.is_some() && self.eat("=") {
            while !self.is(",") && !self.is(";") && !self.at_end() {
                self.skip_group();
            }
        } else if self.eat("=") {
            self.has_text = false;
            declarator.init = Some(self.initializer()?);
            if self.has_text {
                self.characters(&mut declarator);
            }
        }
        Ok(declarator)
    }

    fn stars(&mut self, pointer: &mut Option<Span>) -> u32 {
        let mut count = 0;
        loop {
            if self.is("*") {
                pointer.get_or_insert(self.span());
                count += 1;
            } else if !matches!(self.tok(0), Tok::Ident(w) if QUALIFIERS.contains(&&**w)) {
                return count;
            }
            self.at += 1;
        }
    }

    fn extents(&mut self, declarator: &mut Declarator) -> Parsed<()> {
        while self.is("[") {
            let start = self.span();
            self.at += 1;
            while matches!(self.tok(0), Tok::Ident(w) if QUALIFIERS.contains(&&**w) || &**w == "static") {
                self.at += 1;
            }
            let size = if self.is("]") { None } else { Some(self.assignment()?) };
            self.need("]", "to close the extent")?;
            declarator.dims.push(Extent { size, span: join(start, self.previous()) });
        }
        Ok(())
    }

    pub(super) fn initializer(&mut self) -> Parsed<Init> {
        if let Some(text) = self.text() {
            return Ok(text);
        }
        if !self.is("{") {
            return Ok(Init::Value(self.assignment()?));
        }
        self.nested(|p| {
            let start = p.span();
            p.at += 1;
            let mut items = vec![];
            while !p.is("}") && !p.at_end() {
                if p.is(".") || p.is("[") {
                    let span = p.span();
                    return p.fail(
                        Diagnostic::error("E0313", span, "designated initializers are not supported")
                            .label("give the values in order instead"),
                    );
                }
                items.push(p.initializer()?);
                if !p.eat(",") {
                    break;
                }
            }
            p.need("}", "to close the initializer")?;
            Ok(Init::List(items, join(start, p.previous())))
        })
    }

    /// A string that is a whole initial value: its characters, without the 0 behind them.
    fn text(&mut self) -> Option<Init> {
        let Tok::Str(quoted) = self.tok(0).clone() else { return None };
        if !matches!(self.tok(1), Tok::Punct("," | "}" | ";")) {
            return None;
        }
        let span = self.span();
        self.at += 1;
        self.has_text = true;
        let inside = quoted.trim_matches('"');
        let number = |c: u8| Expr { kind: ExprKind::Literal(u64::from(c), ScalarType::I32), span };
        let plain = inside.bytes().all(|c| c.is_ascii() && c != b'\\');
        let all = inside.bytes().map(|c| Init::Value(number(c))).collect();
        Some(if plain { Init::List(all, span) } else { Init::Value(Expr { kind: ExprKind::Poison, span }) })
    }

    /// A variable whose initial value has strings: an array of characters, or else one that the region cannot use.
    fn characters(&mut self, d: &mut Declarator) {
        let is_byte = d.ty.scalar.is_some_and(|ty| !ty.is_float() && ty.bits() == 8);
        let poison = |i: &Init| matches!(i, Init::Value(e) if e.of_poison());
        let readable = match &d.init {
            Some(Init::List(all, _)) => !all.iter().any(poison),
            _ => false,
        };
        if !(is_byte && readable && d.pointer.is_none() && !d.dims.is_empty() && d.ty.dims.is_empty()) {
            d.init = None;
            (d.ty.scalar, d.ty.members) = (None, None);
            d.ty.why = Some("its initial value is a string, which is a pointer".into());
            return;
        }
        if let ([Extent { size: None, .. }], Some(Init::List(all, span))) = (d.dims.as_slice(), &mut d.init) {
            all.push(Init::Value(Expr { kind: ExprKind::Literal(0, ScalarType::I32), span: *span }));
        }
    }

    /// A comma-separated list of declarators with the closing `;`.
    pub(super) fn declaration(&mut self) -> Parsed<Vec<Declarator>> {
        let ty = self.type_name()?;
        let mut all = vec![];
        if self.eat(";") {
            return Ok(all);
        }
        loop {
            all.push(self.declarator(&ty)?);
            if !self.eat(",") {
                break;
            }
        }
        self.need(";", "after the declaration")?;
        Ok(all)
    }
}

/// The type of a combination of basic words in any order.
fn combine(words: &[String]) -> Result<ScalarType, String> {
    let count = |w: &str| words.iter().filter(|x| *x == w).count();
    let all = words.join(" ");
    let refuse = |why: &str| Err(format!("`{all}` {why}"));
    if words.is_empty() {
        return Err("a type is missing".into());
    }
    if count("_Complex") > 0 {
        return refuse("is a complex number; write a structure of two floats, `struct { float re, im; }`");
    }
    if count("__int128") > 0 || count("void") > 0 || (count("double") == 1 && count("long") > 0) {
        return refuse("is not supported");
    }
    let (unsigned, signed, long) = (count("unsigned"), count("signed"), count("long"));
    if unsigned + signed > 1 || long > 2 {
        return refuse("is not a type");
    }
    let kinds: Vec<&str> =
        words.iter().map(String::as_str).filter(|w| !matches!(*w, "unsigned" | "signed" | "long")).collect();
    let marked = unsigned + signed + long > 0;
    match kinds.as_slice() {
        ["float"] if !marked => Ok(F32),
        ["double"] if !marked => Ok(F64),
        ["bool" | "_Bool"] if !marked => Ok(ScalarType::BOOL),
        ["char"] if long == 0 => Ok(int(8, unsigned == 0)),
        ["short"] | ["short", "int"] | ["int", "short"] if long == 0 => Ok(int(16, unsigned == 0)),
        [] | ["int"] => Ok(int(if long > 0 { 64 } else { 32 }, unsigned == 0)),
        _ => refuse("is not a type"),
    }
}
