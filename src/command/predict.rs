//! `sagen predict`: the prediction as text and as JSON.

use crate::cli::{MemoryKind, Predict};
use crate::predict::Predicted;
use crate::report::grouped;
use serde_json::json;
use std::collections::BTreeMap;

/// What `sagen predict` prints.
pub fn shown(predicted: &Predicted, arguments: &Predict) -> String {
    let Predicted { kernel, sizes, cycles } = predicted;
    let memory = arguments.memory.to_string();
    if arguments.json {
        let sizes: BTreeMap<&str, i64> = sizes.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        return format!("{:#}\n", json!({ "kernel": kernel, "sizes": sizes, "cycles": cycles, "memory": memory }));
    }
    let at: String = sizes.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let whose = if arguments.memory == MemoryKind::Board { "the board's" } else { memory.as_str() };
    format!("{kernel}{at}: {} cycles with {whose} memory\n", grouped(*cycles))
}
