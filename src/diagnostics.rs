//! The registry of diagnostics: a page for each code, with its title, what it means, an example and what to do.
//! `sagen explain` prints the pages.
//!
//! The pages are the files `diagnostics/CODE.md`. Each has this form:
//! - the line `# TITLE`;
//! - paragraphs that say what the code means and why sagen refuses the input;
//! - an example: the file `example.c` in a block ` ```c `, and the commands that show the diagnostic in a block
//!   ` ```sh `. Without commands the example is `sagen rtl example.c`. A page without an example has a paragraph that
//!   begins with [`NO_EXAMPLE`] and says why;
//! - the line `## What to do`, and paragraphs.
//!
//! Invariant (a test checks it): every code that occurs in the source has a page, every page's code occurs in the
//! source, and every example shows its code.

/// How the paragraph begins that stands in the place of an example.
pub const NO_EXAMPLE: &str = "No example:";

/// Runs an example that has no commands of its own.
pub const DEFAULT_COMMAND: &str = "sagen rtl example.c\n";

/// The page of one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Such as `E0408`; codes of warnings begin with `W`.
    pub code: &'static str,
    /// The whole page, as Markdown.
    pub text: &'static str,
}

macro_rules! pages {
    ($($code:ident)*) => {
        &[$(Page {
            code: stringify!($code),
            text: include_str!(concat!("diagnostics/", stringify!($code), ".md")),
        }),*]
    };
}

/// All pages, in the order of their codes; warnings come last.
pub const PAGES: &[Page] = pages! {
    E0100 E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108 E0109 E0110 E0111 E0112 E0113
    E0201 E0202 E0203 E0204 E0205 E0206 E0207 E0208 E0209 E0210 E0211
    E0301 E0302 E0303 E0304 E0305 E0306 E0307 E0308 E0309 E0310 E0311 E0312 E0313
    E0401 E0402 E0403 E0404 E0405 E0406 E0407 E0408 E0409 E0410 E0411 E0412 E0413 E0414 E0415
    E0501 E0502 E0503 E0599 E0601
    E0701 E0702 E0703 E0704 E0705 E0706 E0707 E0708 E0709 E0710 E0711 E0712 E0713 E0714 E0715
    E0716 E0717 E0718 E0719 E0720 E0721 E0722 E0723 E0724 E0725 E0726 E0727 E0728 E0729 E0730 E0731
    E0732 E0733 E0734
    E0799
    E0901 E0902 E0903 E0904 E0905 E0906 E0907 E0999
    W0105 W0201 W0202
};

/// The page of a code; upper and lower case are the same.
pub fn find(code: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.code.eq_ignore_ascii_case(code))
}

/// The pages whose codes are closest to what may be a code: at most three.
pub fn nearest(text: &str) -> Vec<&'static Page> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let Ok(wanted) = digits.parse::<i64>() else { return vec![] };
    let mut pages: Vec<&Page> = PAGES.iter().collect();
    pages.sort_by_key(|page| (page.number() - wanted).abs());
    pages.truncate(3);
    pages
}

impl Page {
    /// The digits of the code.
    fn number(&self) -> i64 {
        self.code[1..].parse().unwrap_or_default()
    }

    /// The first line, without its mark.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The program of the example.
    pub fn program(&self) -> Option<&'static str> {
        self.block("```c\n")
    }

    /// The commands of the example; the last one shows the diagnostic.
    pub fn commands(&self) -> &'static str {
        self.block("```sh\n").unwrap_or(DEFAULT_COMMAND)
    }

    /// Why there is no example, if there is none.
    pub fn no_example(&self) -> Option<&'static str> {
        self.text.lines().find(|line| line.starts_with(NO_EXAMPLE))
    }

    fn block(&self, opening: &str) -> Option<&'static str> {
        let (_, rest) = self.text.split_once(opening)?;
        rest.split_once("```").map(|(block, _)| block)
    }

    /// The page for a terminal: blocks are indented, commands stand behind `$`.
    pub fn plain(&self) -> String {
        let mut text = format!("{}: {}\n", self.code, self.title());
        let mut inside: Option<&str> = None;
        for line in self.text.lines().skip(1) {
            match (inside, line.strip_prefix("```")) {
                (None, Some(language)) => inside = Some(language),
                (Some("c"), Some(_)) => {
                    inside = None;
                    if self.block("```sh\n").is_none() {
                        text += &format!("\n    $ {DEFAULT_COMMAND}");
                    }
                }
                (Some(_), Some(_)) => inside = None,
                (Some("sh"), None) => text += &format!("    $ {line}\n"),
                (Some(_), None) => text += format!("    {line}").trim_end(),
                (None, None) => text += line.trim_start_matches("## "),
            }
            if inside.is_none_or(|language| language != "sh") && !line.starts_with("```") {
                text.push('\n');
            }
        }
        text
    }
}

/// The list of all codes with their titles.
pub fn list() -> String {
    PAGES.iter().map(|page| format!("{}  {}\n", page.code, page.title())).collect()
}
