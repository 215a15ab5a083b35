//! Names of element types in the languages around the IP.

use scop::ScalarType;

/// C99. A 16-bit float is passed as its bits, because the compiler may not know the type.
pub fn c(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Float { exponent: 8, fraction: 23 } => "float",
        ScalarType::Float { exponent: 11, fraction: 52 } => "double",
        ScalarType::Float { .. } => "uint16_t",
        ScalarType::Int { bits: 0..=8, signed: true } => "int8_t",
        ScalarType::Int { bits: 0..=8, signed: false } => "uint8_t",
        ScalarType::Int { bits: 9..=16, signed: true } => "int16_t",
        ScalarType::Int { bits: 9..=16, signed: false } => "uint16_t",
        ScalarType::Int { bits: 17..=32, signed: true } => "int32_t",
        ScalarType::Int { bits: 17..=32, signed: false } => "uint32_t",
        ScalarType::Int { signed: true, .. } => "int64_t",
        ScalarType::Int { signed: false, .. } => "uint64_t",
    }
}

/// OpenCL and `kernel.xml`: C keywords.
pub fn opencl(ty: ScalarType) -> &'static str {
    match c(ty) {
        "int8_t" => "char",
        "uint8_t" => "unsigned char",
        "int16_t" => "short",
        "uint16_t" => "unsigned short",
        "int32_t" => "int",
        "uint32_t" => "unsigned int",
        "int64_t" => "long",
        "uint64_t" => "unsigned long",
        other => other,
    }
}

/// NumPy.
pub fn numpy(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Float { exponent: 5, .. } => "float16",
        ScalarType::Float { exponent: 8, fraction: 23 } => "float32",
        ScalarType::Float { exponent: 11, .. } => "float64",
        other => c(other).trim_end_matches("_t"),
    }
}
