//! Tokens of one line.

use crate::affine::Form;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// In quotes.
    Text(String),
    Number(u64),
    Sign(&'static str),
}

const SIGNS: [&str; 16] = [">=", "==", "+", "-", "*", "(", ")", "[", "]", ":", "=", ",", "%", "@", "{", "}"];

/// Can stand without quotes.
pub(super) fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(word_part)
}

fn word_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// The tokens of a line, read one after the other. Errors are without the line's number.
pub(super) struct Line {
    tokens: Vec<Token>,
    at: usize,
}

impl Line {
    pub fn new(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() && !rest.starts_with('#') {
            let (token, length) = next(rest)?;
            tokens.push(token);
            rest = rest[length..].trim_start();
        }
        Ok(Line { tokens, at: 0 })
    }

    pub fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn fault<T>(&self, expected: &str) -> Result<T, String> {
        match self.peek() {
            None => Err(format!("expected {expected} at the end")),
            Some(Token::Word(w)) => Err(format!("expected {expected}, found `{w}`")),
            Some(Token::Text(t)) => Err(format!("expected {expected}, found {t:?}")),
            Some(Token::Number(n)) => Err(format!("expected {expected}, found {n}")),
            Some(Token::Sign(s)) => Err(format!("expected {expected}, found `{s}`")),
        }
    }

    pub fn end(&self) -> Result<(), String> {
        if self.peek().is_none() { Ok(()) } else { self.fault("the end of the line") }
    }

    /// Takes the sign if it comes next.
    pub fn has(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(s)) if *s == sign);
        self.at += found as usize;
        found
    }

    pub fn sign(&mut self, sign: &str) -> Result<(), String> {
        if self.has(sign) { Ok(()) } else { self.fault(&format!("`{sign}`")) }
    }

    pub fn keyword(&mut self, word: &str) -> Result<(), String> {
        match self.peek() {
            Some(Token::Word(w)) if w == word => {
                self.at += 1;
                Ok(())
            }
            _ => self.fault(&format!("`{word}`")),
        }
    }

    pub fn word(&mut self, what: &str) -> Result<String, String> {
        match self.peek().cloned() {
            Some(Token::Word(w)) => {
                self.at += 1;
                Ok(w)
            }
            _ => self.fault(what),
        }
    }

    /// A word, or anything in quotes.
    pub fn name(&mut self) -> Result<String, String> {
        match self.peek().cloned() {
            Some(Token::Word(n) | Token::Text(n)) => {
                self.at += 1;
                Ok(n)
            }
            _ => self.fault("a name"),
        }
    }

    pub fn number(&mut self) -> Result<u64, String> {
        match self.peek() {
            Some(&Token::Number(n)) => {
                self.at += 1;
                Ok(n)
            }
            _ => self.fault("a number"),
        }
    }

    pub fn small<T: TryFrom<u64>>(&mut self) -> Result<T, String> {
        let n = self.number()?;
        T::try_from(n).map_err(|_| format!("{n} is too large"))
    }

    /// With a sign.
    pub fn integer(&mut self) -> Result<i64, String> {
        let negative = self.has("-");
        signed(self.number()?, negative)
    }

    /// `(1, -2)`, of any length.
    pub fn tuple(&mut self) -> Result<Vec<i64>, String> {
        self.sign("(")?;
        let mut values = Vec::new();
        while !self.has(")") {
            if !values.is_empty() {
                self.sign(",")?;
            }
            values.push(self.integer()?);
        }
        Ok(values)
    }

    pub fn pair(&mut self) -> Result<[i64; 2], String> {
        let values = self.tuple()?;
        let length = values.len();
        values.try_into().map_err(|_| format!("expected a pair, found {length} numbers"))
    }

    /// A sum; `find` gives the index of a counter. Its coefficients end with the last nonzero one.
    pub fn form(&mut self, find: impl Fn(&str) -> Option<usize>) -> Result<Form, String> {
        let mut form = Form::default();
        let mut negative = self.has("-");
        loop {
            self.term(&mut form, negative, &find)?;
            negative = match self.peek() {
                Some(Token::Sign("+")) => false,
                Some(Token::Sign("-")) => true,
                _ => break,
            };
            self.at += 1;
        }
        while form.counters.last() == Some(&0) {
            form.counters.pop();
        }
        Ok(form)
    }

    fn term(&mut self, form: &mut Form, negative: bool, find: impl Fn(&str) -> Option<usize>) -> Result<(), String> {
        let factor = match self.peek() {
            Some(Token::Number(_)) => Some(signed(self.number()?, negative)?),
            _ => None,
        };
        if factor.is_some() && !self.has("*") {
            return add(&mut form.constant, factor.unwrap_or(0));
        }
        let factor = factor.unwrap_or(if negative { -1 } else { 1 });
        let name = self.word("a counter")?;
        match name.as_str() {
            "p0" => add(&mut form.space[0], factor),
            "p1" => add(&mut form.space[1], factor),
            _ => {
                let j = find(&name).ok_or_else(|| format!("no counter `{name}`"))?;
                form.counters.resize(form.counters.len().max(j + 1), 0);
                add(&mut form.counters[j], factor)
            }
        }
    }
}

fn add(sum: &mut i64, value: i64) -> Result<(), String> {
    *sum = sum.checked_add(value).ok_or("a sum exceeds 64 bits")?;
    Ok(())
}

fn signed(magnitude: u64, negative: bool) -> Result<i64, String> {
    let value = if negative { -(magnitude as i128) } else { magnitude as i128 };
    i64::try_from(value).map_err(|_| format!("{value} exceeds 64 bits"))
}

/// First token and its length in bytes.
fn next(rest: &str) -> Result<(Token, usize), String> {
    let length = |part: fn(char) -> bool| rest.find(|c: char| !part(c)).unwrap_or(rest.len());
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        let n = length(|c| c.is_ascii_alphanumeric());
        let digits = &rest[..n];
        let number = digits.strip_prefix("0x").map_or_else(|| digits.parse(), |hex| u64::from_str_radix(hex, 16));
        return number.map(|v| (Token::Number(v), n)).map_err(|_| format!("`{digits}` is no number"));
    }
    if is_word(&rest[..rest.chars().next().map_or(0, char::len_utf8)]) {
        let n = length(word_part);
        return Ok((Token::Word(rest[..n].into()), n));
    }
    if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    if rest.starts_with('"') {
        return quoted(rest);
    }
    Err(format!("unexpected `{}`", rest.chars().next().unwrap_or(' ')))
}

/// `\"`, `\\` and `\n` stand for what they do in C.
fn quoted(rest: &str) -> Result<(Token, usize), String> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Ok((Token::Text(text), at + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, c)) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    Err("a name in quotes does not end".into())
}
