use frontend::scop::ScalarType;
pub fn type_name(ty: ScalarType) -> String {
    match ty {
        ScalarType::Int { bits, signed } => format!("{}{bits}", if signed { 'i' } else { 'u' }),
        ScalarType::Float { exponent: 5, fraction: 10 } => "f16".into(),
        ScalarType::Float { exponent: 8, fraction: 23 } => "f32".into(),
        ScalarType::Float { exponent: 11, fraction: 52 } => "f64".into(),
        ScalarType::Float { exponent, fraction } => format!("f{exponent}e{fraction}"),
    }
}
