//! The values of a run: what it was given, what its names were bound to, and what it returned.

use std::collections::BTreeMap;

use prose_vm::event::{Event, EventKind};
use prose_vm::value::Value;
use serde::Serialize;
use smol_str::SmolStr;

use crate::imports::Imports;

/// The most characters of a value of a name. Inputs, outputs and replies are complete.
const MAX_CHARS: usize = 2000;

/// The last values of the names in the programs.
#[derive(Default)]
pub(crate) struct Values {
    /// By program, line and name.
    bound: BTreeMap<(usize, u32, SmolStr), BoundValue>,
}

/// The last value of a name.
#[derive(Serialize)]
pub(crate) struct BoundValue {
    name: SmolStr,
    line: u32,
    /// The imported text that the line is in, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    import: Option<usize>,
    value: serde_json::Value,
    /// Whether the end of its text is left out.
    #[serde(rename = "isCut", skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    /// How often it was bound.
    times: u32,
}

impl Values {
    pub(crate) fn apply(&mut self, event: &Event, imports: &Imports) {
        let EventKind::Bound { binding, value, anonymous: false, .. } = &event.kind else { return };
        let Some(site) = event.site else { return };
        let import = imports.text_of(site.program);
        if import.is_none() && site.program != 0 {
            return;
        }
        let (value, is_cut) = cut(value);
        let key = (import.map_or(0, |import| import + 1), site.line, binding.name.clone());
        let times = self.bound.get(&key).map_or(0, |bound| bound.times) + 1;
        let bound = BoundValue { name: binding.name.clone(), line: site.line, import, value, is_cut, times };
        self.bound.insert(key, bound);
    }

    /// The values in the order of the programs.
    pub(crate) fn into_list(self) -> Vec<BoundValue> {
        self.bound.into_values().collect()
    }
}

/// The beginning of a value.
fn cut(value: &Value) -> (serde_json::Value, bool) {
    let json = serde_json::json!(value);
    let text = match &json {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => (text[..end].into(), true),
        None => (json, false),
    }
}
