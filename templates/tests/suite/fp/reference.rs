//! An independent reference for the floating-point cores: `rustc_apfloat`; square roots by integer arithmetic.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use std::cmp::Ordering;
use templates::fp::{Core, Format, Operator, Relation};

/// The NaN that operations give: quiet, sign 0, nothing else.
pub fn canonical_nan(f: Format) -> u64 {
    (((1 << f.exponent) - 1) << f.fraction) | 1 << (f.fraction - 1)
}

/// Result of `core` on `x`; `None` where the library does not know the format.
pub fn reference(core: &Core, x: &[u64; 3]) -> Option<u64> {
    let f = core.format;
    if core.operator == Operator::Sqrt {
        return Some(square_root(x[0], f));
    }
    match f {
        Format::FP16 => by_library::<Half>(core, x),
        Format::BF16 => by_library::<BFloat>(core, x),
        Format::FP32 => by_library::<Single>(core, x),
        Format::FP64 => by_library::<Double>(core, x),
        _ => None,
    }
}

fn bits<F: Float>(x: F, f: Format) -> u64 {
    if x.is_nan() {
        canonical_nan(f)
    } else {
        x.to_bits() as u64
    }
}

fn by_library<F>(core: &Core, x: &[u64; 3]) -> Option<u64>
where
    F: Float,
    Half: FloatConvert<F>,
    BFloat: FloatConvert<F>,
    Single: FloatConvert<F>,
    Double: FloatConvert<F>,
{
    let f = core.format;
    let [a, b, c] = x.map(|v| F::from_bits(u128::from(v) & ((1 << f.bits()) - 1)));
    let value = match core.operator {
        Operator::Add => (a + b).value,
        Operator::Sub => (a - b).value,
        Operator::Mul => (a * b).value,
        Operator::Div => (a / b).value,
        Operator::Fma => a.mul_add_r(b, c, Round::NearestTiesToEven).value,
        Operator::Compare(relation) => return Some(compare(relation, a.partial_cmp(&b)) as u64),
        Operator::Min => extreme(a, b, Ordering::Less),
        Operator::Max => extreme(a, b, Ordering::Greater),
        Operator::FromInt { bits, signed: true } => F::from_i128((x[0] as i128) << (128 - bits) >> (128 - bits)).value,
        Operator::FromInt { bits, signed: false } => F::from_u128(u128::from(x[0]) & ((1 << bits) - 1)).value,
        Operator::ToInt { .. } if a.is_nan() => return Some(0),
        Operator::ToInt { bits, signed: true } => {
            return Some(a.to_i128(bits as usize).value as u64 & (!0 >> (64 - bits)))
        }
        Operator::ToInt { bits, signed: false } => {
            return Some(a.to_u128(bits as usize).value as u64 & (!0 >> (64 - bits)))
        }
        Operator::ToBool => return Some(!a.is_zero() as u64),
        Operator::FromFloat(from) => converted::<F>(from, x[0])?,
        Operator::Sqrt | Operator::Dot { .. } => return None,
    };
    Some(bits(value, f))
}

fn converted<F>(from: Format, x: u64) -> Option<F>
where
    F: Float,
    Half: FloatConvert<F>,
    BFloat: FloatConvert<F>,
    Single: FloatConvert<F>,
    Double: FloatConvert<F>,
{
    let x = u128::from(x) & ((1 << from.bits()) - 1);
    let mut loses = false;
    Some(match from {
        Format::FP16 => Half::from_bits(x).convert(&mut loses).value,
        Format::BF16 => BFloat::from_bits(x).convert(&mut loses).value,
        Format::FP32 => Single::from_bits(x).convert(&mut loses).value,
        Format::FP64 => Double::from_bits(x).convert(&mut loses).value,
        _ => return None,
    })
}

fn compare(relation: Relation, order: Option<Ordering>) -> bool {
    match relation {
        Relation::Eq => order == Some(Ordering::Equal),
        Relation::Ne => order != Some(Ordering::Equal),
        Relation::Lt => order == Some(Ordering::Less),
        Relation::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
    }
}

/// `fminf`/`fmaxf`; of equal operands the first.
fn extreme<F: Float>(a: F, b: F, wanted: Ordering) -> F {
    if b.is_nan() || a == b || a.partial_cmp(&b) == Some(wanted) {
        a
    } else {
        b
    }
}

/// Correctly rounded square root by an exact integer one.
fn square_root(x: u64, f: Format) -> u64 {
    let sign = x >> (f.bits() - 1) & 1;
    let magnitude = x & ((1 << (f.bits() - 1)) - 1);
    let infinity = ((1 << f.exponent) - 1) << f.fraction;
    if magnitude == 0 || (x == infinity) {
        return x;
    }
    if sign == 1 || magnitude > infinity {
        return canonical_nan(f);
    }
    let biased = (magnitude >> f.fraction) as i64;
    let significand = magnitude & ((1 << f.fraction) - 1) | u64::from(biased > 0) << f.fraction;
    // value = significand * 2^scale
    let scale = biased.max(1) - f.bias() - i64::from(f.fraction);
    // A radicand of 2p + 2 or more bits with an even scale has a root of p + 1 bits or more.
    let mut shift = 2 * i64::from(f.fraction) + 5 - (63 - i64::from(significand.leading_zeros()));
    shift += (scale - shift) & 1;
    let radicand = u128::from(significand) << shift;
    let root = radicand.isqrt();
    let exact = root * root == radicand;
    let excess = (127 - root.leading_zeros() as i64) - i64::from(f.fraction);
    let (kept, lost) = (root >> excess, root & ((1 << excess) - 1));
    let half = 1u128 << (excess - 1);
    let up = lost > half || (lost == half && (!exact || kept & 1 == 1));
    let exponent = (scale - shift) / 2 + excess + i64::from(f.fraction) + f.bias();
    (((exponent - 1) as u64) << f.fraction) + (kept + u128::from(up)) as u64
}
