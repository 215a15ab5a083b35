//! The design as the user asks for it: `--design FILE.toml`, its tables `[function.NAME]` for single functions, then
//! the single options, which win. All are tables with the fields of a [`DesignSpec`] in its written form, so nothing
//! here knows a field by name.

use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};
use uniform::design::DesignSpec;

/// The file's key for what concerns single functions.
const FUNCTION: &str = "function";

/// What the user asks of all functions, and of single ones.
pub struct Request {
    /// Of the file, for people.
    name: String,
    common: Table,
    functions: BTreeMap<String, Table>,
    options: Table,
}

impl Request {
    /// What a file, if there is one, and options say together.
    ///
    /// # Errors
    /// The file cannot be read, or is not a design file (with line and column).
    pub fn new(file: Option<&Path>, options: Table) -> Result<Request, String> {
        let name = file.map_or_else(String::new, |path| path.display().to_string());
        let (common, functions) = match file {
            Some(path) => read(&name, &crate::files::text(path)?)?,
            None => Default::default(),
        };
        Ok(Request { name, common, functions, options })
    }

    /// Functions that the file has options for.
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
    /// File and options exclude each other; names the function if its own options are to blame.
    pub fn of(&self, function: &str) -> Result<DesignSpec, String> {
        let Some(own) = self.functions.get(function) else { return self.common() };
        let all = merge(merge(self.common.clone(), own.clone()), self.options.clone());
        spec(all).map_err(|e| format!("{}, [{FUNCTION}.{function}]: {e}", self.name))
    }
}

fn spec(table: Table) -> Result<DesignSpec, String> {
    table.try_into().map_err(|e: toml::de::Error| e.message().to_string())
}

/// The file's text: what it says of every function, and of single ones. Each part is a design by itself.
fn read(name: &str, text: &str) -> Result<(Table, BTreeMap<String, Table>), String> {
    let wrong = |e: String| format!("{name} is not a design file: {e}");
    let mut whole: Table = text.parse().map_err(|e: toml::de::Error| wrong(e.to_string().trim_end().to_string()))?;
    let Some(own) = whole.remove(FUNCTION) else {
        let spec = DesignSpec::parse(text).map_err(wrong)?;
        return Ok((Table::try_from(spec).map_err(|e| e.to_string())?, BTreeMap::new()));
    };
    spec(whole.clone()).map_err(wrong)?;
    let Value::Table(own) = own else {
        return Err(wrong(format!("`{FUNCTION}` is no table: write [{FUNCTION}.NAME] above a function's options")));
    };
    let mut functions = BTreeMap::new();
    for (function, value) in own {
        let at = |e: String| wrong(format!("[{FUNCTION}.{function}]: {e}"));
        let Value::Table(table) = value else { return Err(at("is no table of options".into())) };
        let wiring = spec(table.clone()).map_err(at)?.wiring;
        for (key, given) in [("queue", wiring.queue.is_some()), ("address_bits", wiring.address_bits.is_some())] {
            if given {
                return Err(at(format!("`{key}` is of the whole IP: write it above the functions")));
            }
        }
        functions.insert(function, table);
    }
    Ok((whole, functions))
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
