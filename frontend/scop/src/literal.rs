//! Values and types of C's literals (C17 6.4.4): suffixes, bases, the least type that holds an integer.

use crate::value;
use crate::ScalarType;

/// A literal's bits and type; character constants are `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    pub bits: u64,
    pub ty: ScalarType,
}

pub const F64: ScalarType = ScalarType::Float { exponent: 11, fraction: 52 };
pub const F32: ScalarType = ScalarType::Float { exponent: 8, fraction: 23 };
pub const F16: ScalarType = ScalarType::Float { exponent: 5, fraction: 10 };
pub const BF16: ScalarType = ScalarType::Float { exponent: 8, fraction: 7 };

pub fn int(bits: u32, signed: bool) -> ScalarType {
    ScalarType::Int { bits, signed }
}

/// Reads a preprocessing number.
///
/// # Errors
/// The reason why it is not a number of C.
pub fn number(text: &str) -> Result<Literal, String> {
    let text: String = text.chars().filter(|&c| c != '\'').collect();
    let lower = text.to_ascii_lowercase();
    let hex = lower.starts_with("0x");
    let floating =
        lower.contains('.') || if hex { lower.contains('p') } else { lower.contains('e') && !lower.starts_with("0b") };
    if floating {
        float(&lower, hex)
    } else {
        integer(&lower, hex)
    }
}

fn integer(lower: &str, hex: bool) -> Result<Literal, String> {
    let (digits, radix) = if hex {
        (&lower[2..], 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        (binary, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (&lower[1..], 8)
    } else {
        (lower, 10)
    };
    let end = digits.find(|c: char| !c.is_digit(if radix == 8 { 10 } else { radix })).unwrap_or(digits.len());
    let (digits, suffix) = if lower == "0" { ("0", "") } else { digits.split_at(end) };
    let digits = if digits.is_empty() && radix == 8 { "0" } else { digits };
    if digits.is_empty() {
        return Err("there are no digits".into());
    }
    if radix == 8 && digits.contains(['8', '9']) {
        return Err("a leading 0 makes it octal, which has no digits 8 and 9".into());
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| "it does not fit into 64 bits".to_string())?;
    let (unsigned, long) = match suffix {
        "" => (false, false),
        "u" => (true, false),
        "l" | "ll" | "z" => (false, true),
        "ul" | "lu" | "ull" | "llu" | "uz" | "zu" => (true, true),
        _ => return Err(format!("`{suffix}` is not a suffix of an integer")),
    };
    let candidates = [(32, true), (32, false), (64, true), (64, false)];
    let ty = candidates.into_iter().find(|&(bits, signed)| {
        let fits = value <= value::mask(if signed { bits - 1 } else { bits });
        fits && !(long && bits == 32) && !(unsigned && signed) && !(!unsigned && !signed && radix == 10)
    });
    let (bits, signed) = ty.ok_or("it does not fit into any signed type; add the suffix `u`")?;
    Ok(Literal { bits: value, ty: int(bits, signed) })
}

fn float(lower: &str, hex: bool) -> Result<Literal, String> {
    let (body, ty) = if let Some(b) = lower.strip_suffix("bf16") {
        (b, BF16)
    } else if let Some(b) = lower.strip_suffix("f16") {
        (b, F16)
    } else if let Some(b) = lower.strip_suffix("f32") {
        (b, F32)
    } else if let Some(b) = lower.strip_suffix('f') {
        (b, F32)
    } else if lower.ends_with('l') {
        return Err("`long double` is not supported".into());
    } else {
        (lower, F64)
    };
    let double = if hex { hex_float(body) } else { body.parse::<f64>().ok() }.ok_or("malformed number")?;
    let bits = match ty {
        F64 => double.to_bits(),
        // Straight from decimal: going through binary64 would round twice.
        F32 if !hex => body.parse::<f32>().map_err(|_| "malformed number")?.to_bits() as u64,
        _ => value::from_f64(double, ty),
    };
    Ok(Literal { bits, ty })
}

/// `0x1.8p3`, at most 53 significant bits.
fn hex_float(body: &str) -> Option<f64> {
    let (mantissa, exponent) = body[2..].split_once('p')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.trim_start_matches('0').len() > 13 || !(-1000..=1000).contains(&exponent) {
        return None;
    }
    let significand = u64::from_str_radix(&digits, 16).ok()?;
    Some(significand as f64 * 2f64.powi(exponent - 4 * fraction.len() as i32))
}

/// Reads a character constant with its quotes.
///
/// # Errors
/// The reason why it is not one.
pub fn character(text: &str) -> Result<Literal, String> {
    let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or("");
    let code = match inner.strip_prefix('\\') {
        None => {
            let mut chars = inner.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) if c.is_ascii() => c as u32,
                (None, _) => return Err("it is empty".into()),
                _ => return Err("only one ASCII character is allowed between the quotes".into()),
            }
        }
        Some(escape) => escaped(escape).ok_or("unknown escape sequence")?,
    };
    // `char` is signed.
    Ok(Literal { bits: value::cast(code as u64, int(8, true), ScalarType::I32), ty: ScalarType::I32 })
}

fn escaped(escape: &str) -> Option<u32> {
    let code = match escape {
        "n" => 10,
        "t" => 9,
        "r" => 13,
        "a" => 7,
        "b" => 8,
        "f" => 12,
        "v" => 11,
        "\\" | "'" | "\"" | "?" => escape.as_bytes()[0] as u32,
        _ => match escape.strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => u32::from_str_radix(escape, 8).ok()?,
        },
    };
    (code < 256).then_some(code)
}
