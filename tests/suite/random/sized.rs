//! The same kernels, nests and programs with sizes at run time in the place of macros: one IP, which runs at several
//! sizes.

use super::check::Case;
use super::{forms, nests, programs};
use sagen::data::Random;

/// Case number `seed`.
pub fn draw(seed: u64) -> Case {
    let mut random = Random(seed.wrapping_mul(0xe703_7ed1_a0b4_28db));
    let case = [forms::draw, nests::draw, programs::draw][random.below(3) as usize](seed);
    // Values wait longer in long loops than operators take, and then less long at smaller sizes.
    let long = random.below(8);
    let Some(text) = opened(&case.text, Some(long), &mut random) else { return case };
    let mut options = case.options;
    let loops: Vec<&str> = text
        .split("for (")
        .skip(1)
        .filter_map(|l| l.split(['=', ' ']).find(|word| !word.is_empty() && *word != "int"))
        .collect();
    if random.below(8) == 0 && !options.contains("--strip") && !loops.is_empty() {
        options += &format!(" --strip {}={}", loops[random.below(loops.len() as u64) as usize], 1 + random.below(4));
    }
    Case { text, options, ..case }
}

/// The text with sizes at run time in the place of some macros, that of line `long` with a greater maximum; `None`: it has none.
pub fn opened(text: &str, long: Option<u64>, random: &mut Random) -> Option<String> {
    let (mut maxima, mut parameters, mut out) = (vec![], vec![], String::new());
    for (at, line) in text.lines().enumerate() {
        let bound = line
            .strip_prefix("#define N")
            .and_then(|l| l.split_once(' '))
            .and_then(|(name, value)| Some((name, value.parse::<i64>().ok()?)));
        match bound {
            // Some stay constants.
            Some((name, value)) if value > 1 && random.below(5) > 0 => {
                let value = if Some(at as u64) == long { value * 6 } else { value };
                maxima.push(format!("N{name}={value}"));
                let ty = ["int", "int64_t", "uint8_t", "unsigned"][random.below(6).min(3) as usize];
                parameters.push(format!("{} N{name}, ", if value > 255 { "int" } else { ty }));
            }
            _ => out += &format!("{line}\n"),
        }
    }
    let head = format!("#pragma sagen max({})\nvoid kernel({}", maxima.join(", "), parameters.concat());
    (!maxima.is_empty()).then(|| out.replace("void kernel(", &head))
}
