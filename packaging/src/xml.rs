//! A tree of XML elements, printed with two spaces a level and attributes in the given order.

use std::fmt::Write as _;

/// An element that contains either text or elements.
#[derive(Clone, Debug)]
pub struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Element>,
}

/// An element that contains elements.
pub fn group(name: impl Into<String>, children: impl IntoIterator<Item = Element>) -> Element {
    Element { name: name.into(), attributes: vec![], text: String::new(), children: children.into_iter().collect() }
}

/// An element that contains text.
pub fn leaf(name: impl Into<String>, text: impl ToString) -> Element {
    Element { name: name.into(), attributes: vec![], text: text.to_string(), children: vec![] }
}

impl Element {
    /// Adds an attribute.
    pub fn with(mut self, name: impl Into<String>, value: impl ToString) -> Element {
        self.attributes.push((name.into(), value.to_string()));
        self
    }

    /// The document with this root.
    pub fn document(&self) -> String {
        let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_string();
        self.print(&mut text, 0);
        text
    }

    fn print(&self, out: &mut String, depth: usize) {
        let indent = 2 * depth;
        let _ = write!(out, "{:indent$}<{}", "", self.name);
        for (name, value) in &self.attributes {
            let _ = write!(out, " {name}=\"{}\"", escaped(value));
        }
        if self.children.is_empty() && self.text.is_empty() {
            out.push_str("/>\n");
        } else if self.children.is_empty() {
            let _ = writeln!(out, ">{}</{}>", escaped(&self.text), self.name);
        } else {
            out.push_str(">\n");
            self.children.iter().for_each(|c| c.print(out, depth + 1));
            let _ = writeln!(out, "{:indent$}</{}>", "", self.name);
        }
    }
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no way to write most of them.
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
        out
    })
}
