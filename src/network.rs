//! The layers of a network: one function of a C file, for each layer with macros of its own.
//!
//! The file has tables `[[layer]]`. Each layer is a function of the IP, named after the C function and the layer:
//! `layer_conv1_2`. Layers that have the same program are one function, which runs as often as all of them.

use crate::cli::Program;
use crate::error::{Error, Result};
use crate::files;
use crate::input::{self, Input, Layer};
use crate::reporter::Reporter;
use scop::Scop;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    layer: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    /// Runs of the layer; equal layers need one table.
    #[serde(default = "once")]
    times: i64,
    /// Macros of the C file.
    define: BTreeMap<String, toml::Value>,
}

fn once() -> i64 {
    1
}

/// The name of a layer in errors.
pub fn part(path: &Path, name: &str) -> String {
    format!("layer {name} of {}", path.display())
}

/// The functions of a network: one for each layer, equal ones once. `path`: the file with the layers.
///
/// # Errors
/// The file is malformed, two layers have one name, there is not one C file with one marked region, or a layer's program
/// is refused.
pub fn functions(program: &Program, path: &Path, reporter: &dyn Reporter) -> Result<Vec<Input>> {
    let wrong = |why: String| Error::usage(format!("{}: {why}", path.display()));
    let [source] = &program.files[..] else {
        return Err(Error::usage("--network is about one C file: its macros are the layers"));
    };
    if input::is_stage(source) {
        return Err(Error::usage(format!(
            "--network is about a C file, whose macros are the layers: {} is the text of a stage",
            source.display()
        )));
    }
    let file: File = toml::from_str(&files::text(path).map_err(Error::reason)?).map_err(|e| wrong(e.to_string()))?;
    let mut all: Vec<Input> = vec![];
    for (k, entry) in file.layer.into_iter().enumerate() {
        let layer = Layer { name: entry.name.unwrap_or_else(|| (k + 1).to_string()), times: entry.times };
        if layer.times < 1 {
            return Err(wrong(format!("layer {} runs {} times: once is the least", layer.name, layer.times)));
        }
        let text = |value: toml::Value| value.as_str().map_or_else(|| value.to_string(), String::from);
        let own = entry.define.into_iter().map(|(macro_name, value)| (macro_name, text(value)));
        let mut options = program.parse_options();
        options.defines.extend(own);
        let inputs = input::read(source, &options, reporter).map_err(|why| why.within(part(path, &layer.name)))?;
        let new = only(inputs, source, layer)?;
        if let Some(other) = all.iter().find(|other| other.scop.name == new.scop.name) {
            let names = [other, &new].map(|input| input.layer.as_ref().map_or("", |layer| &layer.name));
            return Err(wrong(format!(
                "the layers {} and {} both are the function `{}`: rename one of them",
                names[0], names[1], new.scop.name
            )));
        }
        all.push(new);
    }
    if all.is_empty() {
        return Err(wrong("a network has one [[layer]] at least".into()));
    }
    Ok(once_each(all, reporter))
}

/// The only function of the file, as one of a layer.
fn only(inputs: Vec<Input>, source: &Path, layer: Layer) -> Result<Input> {
    let names: Vec<String> = inputs.iter().map(|i| i.scop.name.clone()).collect();
    let Ok([mut input]) = <[Input; 1]>::try_from(inputs) else {
        return Err(Error::usage(format!(
            "--network is about one function, but {} has marked regions in {}",
            source.display(),
            names.join(", ")
        )));
    };
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    input.rename(&format!("{}_{}", input.scop.name, layer.name.chars().map(letter).collect::<String>()));
    input.layer = Some(layer);
    Ok(input)
}

/// Equal programs once: the first one runs as often as all of them.
fn once_each(all: Vec<Input>, reporter: &dyn Reporter) -> Vec<Input> {
    let mut once: Vec<Input> = vec![];
    for input in all {
        // The text says all of a program but where it stands in the file.
        let equal = |other: &&mut Input| {
            let renamed = Scop { name: other.scop.name.clone(), ..input.scop.clone() };
            renamed.to_string() == other.scop.to_string()
        };
        match (once.iter_mut().find(equal), &input.layer) {
            (Some(Input { layer: Some(first), .. }), Some(layer)) => {
                first.times += layer.times;
                reporter.note(&format!(
                    "layer {} has the program of layer {}: one function is both",
                    layer.name, first.name
                ));
            }
            _ => once.push(input),
        }
    }
    once
}
