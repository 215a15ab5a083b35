//! The design as the user asks for it: `--design FILE.toml`, then the single options, which win. Both are tables with
//! the fields of a [`DesignSpec`] in its written form, so nothing here knows a field by name.

use arch::ir::design::DesignSpec;
use std::path::Path;
use toml::{Table, Value};

/// The design that a file, if there is one, and options say together.
///
/// # Errors
/// The file cannot be read, is not a design file (with line and column), or file and options exclude each other.
pub fn join(file: Option<&Path>, options: Table) -> Result<DesignSpec, String> {
    let base = match file {
        Some(path) => read(path)?,
        None => Table::new(),
    };
    merge(base, options).try_into().map_err(|e: toml::de::Error| e.message().to_string())
}

/// A file that is a design by itself.
fn read(path: &Path) -> Result<Table, String> {
    let text = crate::files::text(path)?;
    let spec = DesignSpec::parse(&text).map_err(|e| format!("{} is not a design file: {e}", path.display()))?;
    Table::try_from(spec).map_err(|e| e.to_string())
}

/// `over`, where it says something, else `base`. Tables are merged entry by entry.
fn merge(mut base: Table, over: Table) -> Table {
    for (key, value) in over {
        let value = match (base.remove(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => Value::Table(merge(below, above)),
            (_, value) => value,
        };
        base.insert(key, value);
    }
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().expect("TOML")
    }

    #[test]
    fn options_win_over_the_file_factor_by_factor() {
        let merged = merge(table("array = 1\ntile = { i = 64, j = 8 }\nports = [\"A+B\"]"), table("tile = { j = 9, k = 1 }\nports = [\"shared\"]"));
        assert_eq!(merged, table("array = 1\ntile = { i = 64, j = 9, k = 1 }\nports = [\"shared\"]"));
    }

    #[test]
    fn file_and_options_must_agree() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "space = [\"i\"]\n").unwrap();
        assert!(join(Some(file.path()), table("array = 1")).is_err_and(|e| e.contains("exclude each other")));
        assert!(join(Some(file.path()), table("tile = { i = 4 }")).is_ok());
        std::fs::write(file.path(), "array = 1\nspcae = [\"i\"]\n").unwrap();
        assert!(join(Some(file.path()), Table::new()).is_err_and(|e| e.contains("not a design file") && e.contains("line 2")));
    }
}
