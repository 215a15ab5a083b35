//! What is asked of a design: by the file of `--design`, by its tables `[function.NAME]` for single functions, and by
//! the options of the command line, which win.
//!
//! All are tables in the written form of a [`DesignSpec`]. [`canonical`] gives every key its present name, so that an
//! old name in a file and the new one as an option are the same key. Nothing else here knows a key by name.

use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};
use uniform::design::DesignSpec;

/// The key of the tables for single functions.
const FUNCTION: &str = "function";

/// What is asked of all functions, and of single ones.
pub struct Request {
    /// The file's name, for messages.
    name: String,
    common: Table,
    functions: BTreeMap<String, Table>,
    options: Table,
}

impl Request {
    /// A file, if there is one, and options.
    ///
    /// # Errors
    /// The file cannot be read, or is not a design file (with line and column); the options contradict each other.
    pub fn new(file: Option<&Path>, options: Table) -> Result<Request, String> {
        let name = file.map_or_else(String::new, |path| path.display().to_string());
        let (common, functions) = match file {
            Some(path) => read(&name, &crate::files::text(path)?)?,
            None => Default::default(),
        };
        Ok(Request { name, common, functions, options: canonical(options)? })
    }

    /// The functions for which the file has options.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// What is asked of every function.
    ///
    /// # Errors
    /// File and options exclude each other.
    pub fn common(&self) -> Result<DesignSpec, String> {
        spec(merge(self.common.clone(), self.options.clone()))
    }

    /// What is asked of one function.
    ///
    /// # Errors
    /// File and options exclude each other. The error names the function if its own table is to blame.
    pub fn of(&self, function: &str) -> Result<DesignSpec, String> {
        let Some(own) = self.functions.get(function) else { return self.common() };
        let all = merge(merge(self.common.clone(), own.clone()), self.options.clone());
        spec(all).map_err(|e| format!("{}, [{FUNCTION}.{function}]: {e}", self.name))
    }
}

fn spec(table: Table) -> Result<DesignSpec, String> {
    table.try_into().map_err(|e: toml::de::Error| e.message().to_string())
}

/// A table with the present names of its keys.
fn canonical(table: Table) -> Result<Table, String> {
    Table::try_from(spec(table)?).map_err(|e| e.to_string())
}

/// The tables of the file's text: for all functions, and for single ones. Each is a design by itself.
fn read(name: &str, text: &str) -> Result<(Table, BTreeMap<String, Table>), String> {
    let wrong = |e: String| format!("{name} is not a design file: {e}");
    let mut whole: Table = text.parse().map_err(|e: toml::de::Error| wrong(e.to_string().trim_end().to_string()))?;
    let Some(own) = whole.remove(FUNCTION) else {
        // This error has a line and a column.
        DesignSpec::parse(text).map_err(wrong)?;
        return Ok((canonical(whole)?, BTreeMap::new()));
    };
    let whole = canonical(whole).map_err(wrong)?;
    let Value::Table(own) = own else {
        return Err(wrong(format!("`{FUNCTION}` is no table: write [{FUNCTION}.NAME] above a function's options")));
    };
    let mut functions = BTreeMap::new();
    for (function, value) in own {
        let at = |e: String| wrong(format!("[{FUNCTION}.{function}]: {e}"));
        let Value::Table(table) = value else { return Err(at("is no table of options".into())) };
        let wiring = spec(table.clone()).map_err(at)?.wiring;
        let of_ip = [
            ("queue", wiring.queue.is_some()),
            ("overlap", wiring.overlap.is_some()),
            ("merge", wiring.merge.is_some()),
            ("keep", !wiring.keep.is_empty()),
            ("address_bits", wiring.address_bits.is_some()),
            ("guard", wiring.guard.is_some()),
            ("unaligned", wiring.unaligned.is_some()),
        ];
        for (key, given) in of_ip {
            if given {
                return Err(at(format!("`{key}` is about the whole IP: write it above the functions")));
            }
        }
        let own = canonical(table).map_err(at)?;
        functions.insert(function, own);
    }
    Ok((whole, functions))
}

/// `base` with the entries of `over`. Tables are merged entry by entry.
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
