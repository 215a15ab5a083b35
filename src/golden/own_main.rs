//! Programs that run as they are, by their own `main`: whether there is one, and what is linked with it.
//!
//! The driver is no `main` but a constructor, so that the program's `main` keeps its form and finds no arguments. It
//! gets what it needs from the environment.

use frontend::ParseOptions;
use scop::Scop;

/// Reads the buffers from the file `SAGEN_IN` before `main`, and writes what they hold where the region began and ended
/// to `SAGEN_OUT`. `SAGEN_SIZES`: their bytes.
pub(super) const DRIVER: &str = include_str!("main_driver.c");

/// Whether the program, or a file that comes with it, seems to define a `main` that is not around the region.
pub fn has_main(scop: &Scop, preprocessing: &ParseOptions) -> bool {
    if scop.function.name.as_deref() == Some("main") {
        return false;
    }
    let own = scop.sources.files.first().is_some_and(|file| defines_main(&file.text));
    let companion = |path: &std::path::PathBuf| std::fs::read_to_string(path).is_ok_and(|text| defines_main(&text));
    own || preprocessing.companions.iter().any(companion)
}

/// Whether the text has a `main`, parentheses and then a body. Comments and strings do not count.
pub fn defines_main(text: &str) -> bool {
    let text = without_comments(text);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices("main").any(|(at, found)| {
        let behind = text[at + found.len()..].trim_start();
        let parameters = behind.strip_prefix('(').and_then(|rest| Some(rest.split_once(')')?.1.trim_start()));
        !text[..at].ends_with(word) && parameters.is_some_and(|rest| rest.starts_with('{'))
    })
}

/// The text with blanks in the place of comments, strings and characters.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['/', '"', '\'']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n'),
            [b'/', b'*', ..] => rest[2..].find("*/").map(|end| end + 4),
            [b'/', ..] => {
                out.push('/');
                Some(1)
            }
            [quote, ..] => closing(rest, *quote),
            [] => None,
        };
        out.push(' ');
        rest = length.and_then(|length| rest.get(length..)).unwrap_or("");
    }
    out + rest
}

/// The length of a literal with its quotes.
fn closing(text: &str, quote: u8) -> Option<usize> {
    let mut escaped = false;
    let end = |&(_, c): &(usize, u8)| {
        let ends = c == quote && !escaped;
        escaped = c == b'\\' && !escaped;
        ends
    };
    text.bytes().enumerate().skip(1).find(end).map(|(at, _)| at + 1)
}
