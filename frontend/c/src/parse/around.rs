//! What the function around the region does to its locals outside of the region: [`Outside`].
//!
//! The code there is not parsed, so the answers come from its tokens, and "may" is the answer in doubt. A local that the
//! function may set before the region, or use after it, can become an argument of the hardware.

use crate::ast::{Declarator, Outside};
use crate::lex::{Tok, Token};

/// The code around a region, as tokens of the function's body.
pub(super) struct Around<'a> {
    pub before: &'a [Token],
    pub after: &'a [Token],
    /// The region may run again, so the code after it also comes before it.
    pub repeated: bool,
}

impl Around<'_> {
    pub fn of(&self, d: &Declarator) -> Outside {
        Outside {
            set: may_set(self.before, d) || (self.repeated && may_set(self.after, d)),
            used: may_use(self.after, d, !self.repeated) || (self.repeated && may_use(self.before, d, false)),
            preset: false,
            allocated: d.pointer.is_some() && d.to_elements && self.allocated(d),
        }
    }

    /// Whether the only value that a pointer gets before the region, other than null, is new memory.
    fn allocated(&self, d: &Declarator) -> bool {
        let Some(declared) = self.before.iter().position(|t| t.span == d.span) else { return false };
        let of_null = |t: &&Token| matches!(t.text(), "0" | "NULL" | "nullptr");
        let is_null = |v: &[Token]| {
            let ends = v.iter().position(|t| t.is(";") || t.is(",")).unwrap_or(v.len());
            let wraps = |t: &&Token| t.is("(") || t.is(")") || t.is("*") || t.text() == "void";
            v[..ends].iter().filter(|t| !wraps(t)).all(|t| of_null(&t)) && v[..ends].iter().any(|t| of_null(&t))
        };
        let value = |tokens: &[Token], k: usize| {
            let mut at = k + 1;
            // `(*rows)[N] = …`
            while tokens.get(at).is_some_and(|t| t.is(")") || t.is("[")) {
                at = if tokens[at].is("[") { closed(tokens, at) } else { at + 1 };
            }
            tokens.get(at).is_some_and(|t| t.is("=")).then_some(at + 1)
        };
        let behind = if self.repeated { self.after } else { &[] };
        let sets = [self.before, behind].map(|tokens| named(tokens, d).filter(|k| changes(tokens, *k)).count());
        let first = value(self.before, declared).filter(|k| !is_null(&self.before[*k..]));
        let later = named(self.before, d).find(|k| changes(self.before, *k)).map(|k| value(self.before, k));
        let only = match (first, later, sets) {
            (Some(k), None, [0, 0]) | (None, Some(Some(k)), [1, 0]) => k,
            _ => return false,
        };
        is_new(&self.before[only..])
    }

    /// Whether a program of these tokens may use the variable at file level.
    pub fn uses_global(rest: &[Token], d: &Declarator) -> bool {
        may_use(rest, d, false)
    }

    /// The tokens of the value that the only assignment before the region gives the variable, if it is reached whenever
    /// the region is, and is made of numbers only.
    pub fn set_once(&self, d: &Declarator) -> Option<&[Token]> {
        let all: Vec<usize> = sets(self.before, d).collect();
        let ([k], false) = (&all[..], self.repeated) else { return None };
        let declared = self.before.iter().position(|t| t.span == d.span)?;
        let starts = matches!(before(self.before, *k).map(|t| &t.tok), Some(Tok::Punct(";" | "{" | "}")));
        let rest = &self.before[k + 1..];
        let length = rest.iter().position(|t| t.is(";"))?;
        let encloses = !leaves_its_block(&rest[length..]);
        let plain = |t: &Token| matches!(t.tok, Tok::Number(_) | Tok::Punct(_));
        let value = rest[..length].split_first().filter(|(t, value)| t.is("=") && value.iter().all(plain))?.1;
        (declared < *k && starts && encloses && d.is_scalar()).then_some(value)
    }
}

/// Whether the code closes a block that it does not open.
fn leaves_its_block(tokens: &[Token]) -> bool {
    let mut open = 0i32;
    tokens.iter().any(|t| {
        open += i32::from(t.is("{")) - i32::from(t.is("}"));
        open < 0
    })
}

const ASSIGNMENTS: &[&str] = &["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"];

/// Positions where the variable is named, other than as a member and in its declaration.
fn named<'a>(tokens: &'a [Token], d: &'a Declarator) -> impl Iterator<Item = usize> + 'a {
    tokens.iter().enumerate().filter_map(move |(k, t)| {
        let same = matches!(&t.tok, Tok::Ident(name) if *name == d.name) && t.span != d.span;
        (same && !before(tokens, k).is_some_and(|t| t.is(".") || t.is("->"))).then_some(k)
    })
}

fn before(tokens: &[Token], k: usize) -> Option<&Token> {
    k.checked_sub(1).map(|k| &tokens[k])
}

/// Position after the subscripts and members behind the name at `k`, and the number of subscripts.
fn behind(tokens: &[Token], k: usize) -> (usize, usize) {
    let (mut at, mut subscripts) = (k + 1, 0);
    while let Some(token) = tokens.get(at) {
        if token.is("[") {
            at = closed(tokens, at);
            subscripts += 1;
        } else if token.is(".") {
            at += 2;
        } else {
            break;
        }
    }
    (at, subscripts)
}

/// Position after the group that opens at `at`.
fn closed(tokens: &[Token], at: usize) -> usize {
    let mut open = 0usize;
    for (k, token) in tokens.iter().enumerate().skip(at) {
        match token.tok {
            Tok::Punct("(" | "[" | "{") => open += 1,
            Tok::Punct(")" | "]" | "}") => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return k + 1;
        }
    }
    tokens.len()
}

/// Whether the name at `k` is assigned, stepped, or its address is taken.
fn changes(tokens: &[Token], k: usize) -> bool {
    let assigned = tokens.get(k + 1).is_some_and(|t| ASSIGNMENTS.iter().any(|op| t.is(op)));
    assigned || before(tokens, k).is_some_and(|t| t.is("&") || t.is("++") || t.is("--"))
}

/// Whether a value is new memory: `(T *)malloc(…)`, `polybench_alloc_data(…)` and the like, or `new T[…]`.
fn is_new(mut value: &[Token]) -> bool {
    while value.first().is_some_and(|t| t.is("(")) {
        let group = closed(value, 0);
        let is_cast = !value[1..].first().is_some_and(|t| t.is("(")) && value[..group].iter().any(|t| t.is("*"));
        value = if is_cast { &value[group..] } else { &value[1..] };
    }
    let name = value.first().map_or("", |t| t.text());
    let allocates = name.split('_').any(|word| word.ends_with("alloc") || word == "allocate");
    name == "new" || allocates && value.get(1).is_some_and(|t| t.is("("))
}

/// An assignment, `++`, `--`, its address, or an array without all its subscripts, which a function may fill.
fn may_set(tokens: &[Token], d: &Declarator) -> bool {
    sets(tokens, d).next().is_some()
}

/// Positions of the variable's name where it may be set.
fn sets<'a>(tokens: &'a [Token], d: &'a Declarator) -> impl Iterator<Item = usize> + 'a {
    let rank = d.dims.len() + d.ty.dims.len() + usize::from(d.pointer.is_some());
    let set = move |k: &usize| {
        let k = *k;
        let (at, subscripts) = behind(tokens, k);
        let assigned = tokens.get(at).is_some_and(|t| ASSIGNMENTS.iter().any(|op| t.is(op)));
        let changed = before(tokens, k).is_some_and(|t| t.is("&") || t.is("++") || t.is("--"));
        assigned || changed || subscripts < rank
    };
    named(tokens, d).filter(set)
}

/// Any mention but as the target of `=`. Without jumps (`straight`), a scalar that is overwritten on every path has no
/// use behind.
fn may_use(tokens: &[Token], d: &Declarator, straight: bool) -> bool {
    let mut hidden = 0;
    for k in named(tokens, d) {
        if k < hidden {
            continue;
        }
        if declares(tokens, k) {
            hidden = end_of_scope(tokens, k);
            continue;
        }
        let (at, _) = behind(tokens, k);
        let end = at + tokens[at..].iter().position(|t| t.is(";")).unwrap_or(tokens.len() - at);
        let plain = tokens.get(at).is_some_and(|t| t.is("=")) && named(&tokens[k + 1..end], d).next().is_none();
        if !plain {
            return true;
        }
        if straight && d.is_scalar() && at == k + 1 && unconditional(tokens, k) {
            return false;
        }
        if at == k + 1 && heads_loop(tokens, k) {
            hidden = end_of_scope(tokens, k);
        }
    }
    false
}

/// Whether the variable at `k` is the first that the header of a `for` loop sets.
fn heads_loop(tokens: &[Token], k: usize) -> bool {
    k >= 2 && matches!(&tokens[k - 2].tok, Tok::Ident(w) if &**w == "for") && tokens[k - 1].is("(")
}

/// Another variable of that name: a type or a comma of its declaration stands before it.
fn declares(tokens: &[Token], k: usize) -> bool {
    let word =
        |t: &Token| matches!(&t.tok, Tok::Ident(w) if !matches!(&**w, "return" | "else" | "do" | "sizeof" | "case"));
    before(tokens, k).is_some_and(word)
}

/// The end of the scope of a variable that is declared at `k`, in a block or in the header of a loop.
fn end_of_scope(tokens: &[Token], k: usize) -> usize {
    let mut open = 0i32;
    for (at, token) in tokens.iter().enumerate().skip(k) {
        match token.tok {
            Tok::Punct("(" | "[" | "{") => open += 1,
            // The header of a loop ends: its body follows.
            Tok::Punct(")") if open == 0 => {
                return end_of_statement(tokens, at + 1);
            }
            Tok::Punct("}") if open == 0 => return at,
            Tok::Punct(")" | "]" | "}") => open -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// The end of the statement at `at`, or of its first branch.
fn end_of_statement(tokens: &[Token], mut at: usize) -> usize {
    let heads = |at: usize| match tokens.get(at).map(|t| &t.tok) {
        Some(Tok::Ident(w)) if matches!(&**w, "for" | "while" | "if") => tokens.get(at + 1).is_some_and(|t| t.is("(")),
        _ => false,
    };
    while heads(at) {
        at = closed(tokens, at + 1);
    }
    match tokens.get(at) {
        Some(t) if t.is("{") => closed(tokens, at),
        _ => tokens.iter().skip(at).position(|t| t.is(";")).map_or(tokens.len(), |k| at + k),
    }
}

/// Whether the statement at `k` runs whenever the code does: it is in no inner block, and under no condition.
fn unconditional(tokens: &[Token], k: usize) -> bool {
    let (mut depth, mut least, mut parentheses) = (0i32, 0i32, 0i32);
    for token in &tokens[..k] {
        match token.tok {
            Tok::Punct("{") => depth += 1,
            Tok::Punct("}") => depth -= 1,
            Tok::Punct("(") => parentheses += 1,
            Tok::Punct(")") => parentheses -= 1,
            _ => {}
        }
        least = least.min(depth);
    }
    let starts =
        |k: usize| matches!(before(tokens, k).map(|t| &t.tok), None | Some(Tok::Punct(";" | "}") | Tok::Marker(_)));
    let header = || parentheses == 1 && heads_loop(tokens, k) && starts(k - 2);
    depth == least && (parentheses == 0 && starts(k) || header())
}
