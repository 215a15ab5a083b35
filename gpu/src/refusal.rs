//! [`Refusal`]: why something has no program of a warp.

/// Why there is no program of a warp, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub why: String,
    pub help: Option<String>,
}

impl Refusal {
    pub fn new(why: impl Into<String>) -> Refusal {
        Refusal { why: why.into(), help: None }
    }
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Refusal {
        self.help = Some(help.into());
        self
    }
}
