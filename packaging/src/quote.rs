//! Texts in the languages of the files: one function each. A text that comes from the user (a board's fields, names of
//! functions, file names) reaches a file through one of them, and so cannot be read as anything but a text there.
//!
//! What needs no quotes gets none: names and paths look as a person would write them.

/// Characters that no language here reads as more than a letter.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | ':')
}

/// A character that is a command to a terminal or an editor: it ends a line, or turns the direction of the text.
fn is_command(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One word of Tcl (the twelve rules of `Tcl(n)`), also for XDC.
pub fn tcl(text: &str) -> String {
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.'));
    if begins && text.chars().all(is_plain) {
        return text.to_string();
    }
    if !text.contains(['{', '}', '\\']) && !text.contains(char::is_control) {
        return format!("{{{text}}}");
    }
    let escaped = |c: char| match c {
        '\\' | '"' | '$' | '[' | ']' | '{' | '}' => format!("\\{c}"),
        // Eight digits end the number, whatever comes behind.
        c if c.is_control() => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// A scalar of YAML 1.1 and 1.2 that is a string.
pub fn yaml(text: &str) -> String {
    const OTHERS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "true", "false"];
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic()) && !text.ends_with([' ', ':']);
    let plain = text.chars().all(|c| is_plain(c) || matches!(c, ' ' | ','));
    let special = OTHERS.contains(&text.to_lowercase().as_str()) || text.to_lowercase() == "null";
    match word && plain && !special && !text.contains(": ") {
        true => text.to_string(),
        false => python(text),
    }
}

/// A string literal of Python, which is also a double-quoted scalar of YAML.
pub fn python(text: &str) -> String {
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// A character inside double quotes. What is not ASCII is a number, which no encoding spoils.
fn escaped(c: char) -> String {
    match c {
        '\\' | '"' => format!("\\{c}"),
        ' '..='~' => c.to_string(),
        c if (c as u32) < 0x1_0000 => format!("\\u{:04x}", c as u32),
        c => format!("\\U{:08x}", c as u32),
    }
}

/// The inside of a comment of any language, in one line: of `#` and `//` comments, and of C's `/* */`. Nothing in it
/// ends the comment, continues it, or begins another one.
pub fn comment(text: &str) -> String {
    let line: String = text.chars().map(|c| if is_command(c) || c == '\\' { '?' } else { c }).collect();
    line.replace("*/", "* /").replace("/*", "/ *")
}

/// A text in Markdown, in one line.
pub fn markdown(text: &str) -> String {
    let escaped = |c: char| match c {
        c if is_command(c) => "?".to_string(),
        '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '|' | '&' => format!("\\{c}"),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}
