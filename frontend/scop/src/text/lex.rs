//! Tokens of one line.

use crate::Affine;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Word(String),
    /// In quotes.
    Text(String),
    Number(u64),
    /// With a fraction or an exponent.
    Real(String),
    Sign(&'static str),
}

const SIGNS: [&str; 29] = [
    ">=", "==", "<=", "<<", ">>", "!=", "..", "+", "-", "*", "/", "(", ")", "[", "]", "{", "}", ":", "=", ",", "%",
    "@", "<", "?", "~", "&", "|", "^", ";",
];

/// Whether a name needs no quotes.
pub fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(word_part)
}

fn word_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'')
}

/// The tokens of a line, read one after the other. Error texts do not contain the line's number.
#[derive(Clone)]
pub struct Line {
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

    /// The token `ahead` positions after the next one.
    pub fn peek_at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    /// Skips the next token.
    pub fn skip(&mut self) {
        self.at += 1;
    }

    /// The word right after the parenthesized group that comes next, if there is one.
    pub fn type_after_group(&self) -> Option<&str> {
        let mut open = 0;
        for (k, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => open -= 1,
                _ => {}
            }
            if open == 0 {
                return if let Some(Token::Word(w)) = self.tokens.get(k + 1) { Some(w) } else { None };
            }
        }
        None
    }

    pub fn has_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.at += found as usize;
        found
    }

    /// # Errors
    /// Always: what was expected and what was found.
    pub fn fault<T>(&self, expected: &str) -> Result<T, String> {
        match self.peek() {
            None => Err(format!("expected {expected} at the end")),
            Some(Token::Word(w)) => Err(format!("expected {expected}, found `{w}`")),
            Some(Token::Text(t)) => Err(format!("expected {expected}, found {t:?}")),
            Some(Token::Number(n)) => Err(format!("expected {expected}, found {n}")),
            Some(Token::Real(n)) => Err(format!("expected {expected}, found {n}")),
            Some(Token::Sign(s)) => Err(format!("expected {expected}, found `{s}`")),
        }
    }

    pub fn end(&self) -> Result<(), String> {
        if self.peek().is_none() {
            Ok(())
        } else {
            self.fault("the end of the line")
        }
    }

    /// Takes the sign if it comes next.
    pub fn has(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(s)) if *s == sign);
        self.at += found as usize;
        found
    }

    pub fn sign(&mut self, sign: &str) -> Result<(), String> {
        if self.has(sign) {
            Ok(())
        } else {
            self.fault(&format!("`{sign}`"))
        }
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

    /// A word, or in quotes what would mean something else without them, such as a number, a sum or nothing.
    pub fn name(&mut self) -> Result<String, String> {
        match self.peek().cloned() {
            Some(Token::Text(n)) if !n.chars().all(|c| word_part(c) || "+-* ".contains(c)) => {
                Err(format!("{n:?} is no name: letters, digits, _ . ' + - * and blanks"))
            }
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
        self.list("(", ")")
    }

    /// Integers between two signs.
    pub fn list(&mut self, open: &str, close: &str) -> Result<Vec<i64>, String> {
        self.sign(open)?;
        let mut values = Vec::new();
        while !self.has(close) {
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

    /// A sum of named terms and numbers, such as `2*i - j + 1`, over `rank` coefficients; `find` gives a name's index.
    pub fn sum(&mut self, rank: usize, find: &dyn Fn(&str) -> Option<usize>) -> Result<Affine, String> {
        let mut sum = Affine::constant(rank, 0);
        let mut negative = self.has("-");
        loop {
            self.term(&mut sum, negative, find)?;
            negative = match self.peek() {
                Some(Token::Sign("+")) => false,
                Some(Token::Sign("-")) => true,
                _ => return Ok(sum),
            };
            self.at += 1;
        }
    }

    fn term(&mut self, sum: &mut Affine, negative: bool, find: &dyn Fn(&str) -> Option<usize>) -> Result<(), String> {
        let factor = match self.peek() {
            Some(Token::Number(_)) => Some(signed(self.number()?, negative)?),
            _ => None,
        };
        if factor.is_some() && !self.has("*") {
            return add(&mut sum.constant, factor.unwrap_or(0));
        }
        let factor = factor.unwrap_or(if negative { -1 } else { 1 });
        let name = self.word("a name")?;
        let k = find(&name).ok_or_else(|| format!("no `{name}` is known here"))?;
        if sum.coeffs.len() <= k {
            sum.coeffs.resize(k + 1, 0);
        }
        add(&mut sum.coeffs[k], factor)
    }
}

fn add(sum: &mut i64, value: i64) -> Result<(), String> {
    *sum = sum.checked_add(value).ok_or("a sum exceeds 64 bits")?;
    Ok(())
}

/// # Errors
/// The number exceeds 64 bits.
pub fn signed(magnitude: u64, negative: bool) -> Result<i64, String> {
    let value = if negative { -(magnitude as i128) } else { magnitude as i128 };
    i64::try_from(value).map_err(|_| format!("{value} exceeds 64 bits"))
}

/// First token and its length in bytes.
fn next(rest: &str) -> Result<(Token, usize), String> {
    let length = |part: fn(char) -> bool| rest.find(|c: char| !part(c)).unwrap_or(rest.len());
    if let Some(hex) = rest.strip_prefix("0x") {
        let n = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return u64::from_str_radix(&hex[..n], 16)
            .map(|v| (Token::Number(v), n + 2))
            .map_err(|_| format!("`{}` is no number", &rest[..n + 2]));
    }
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        return number(rest);
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

/// `7`, `1.5`, `1e-7`; a word may follow at once, as the type in `7i32`.
fn number(rest: &str) -> Result<(Token, usize), String> {
    let digits = |from: usize| rest[from..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| from + n);
    let whole = digits(0);
    let mut end = whole;
    if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        end = digits(end + 1);
    }
    if let Some(exponent) = rest[end..].strip_prefix('e') {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if unsigned.starts_with(|c: char| c.is_ascii_digit()) {
            end = digits(rest.len() - unsigned.len());
        }
    }
    let text = &rest[..end];
    if end > whole {
        return Ok((Token::Real(text.into()), end));
    }
    text.parse().map(|v| (Token::Number(v), end)).map_err(|_| format!("`{text}` is no number"))
}

/// `\"`, `\\` and `\n` mean the same as in C.
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
