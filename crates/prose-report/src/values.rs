//! The values of a run: what it was given, what its names were bound to, and what it returned.

use std::collections::BTreeMap;

use prose_vm::event::{Event, EventKind};
use prose_vm::value::Value;
use serde::Serialize;
use smol_str::SmolStr;

/// The most characters of a value of a name. Inputs, outputs and replies are complete.
const MAX_CHARS: usize = 2000;

/// The last values of the names in the program.
#[derive(Default)]
pub(crate) struct Values {
    /// By line and name.
    bound: BTreeMap<(u32, SmolStr), BoundValue>,
}

/// The last value of a name.
#[derive(Serialize)]
pub(crate) struct BoundValue {
    name: SmolStr,
    line: u32,
    value: serde_json::Value,
    /// Whether the end of its text is left out.
    #[serde(rename = "isCut", skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    /// How often it was bound.
    times: u32,
}

impl Values {
    pub(crate) fn apply(&mut self, event: &Event) {
        let EventKind::Bound { binding, value, anonymous: false, .. } = &event.kind else { return };
        let Some(site) = event.site.filter(|site| site.program == 0) else { return };
        let (value, is_cut) = cut(value);
        let times = self.bound.get(&(site.line, binding.name.clone())).map_or(0, |bound| bound.times) + 1;
        let bound = BoundValue { name: binding.name.clone(), line: site.line, value, is_cut, times };
        self.bound.insert((site.line, binding.name.clone()), bound);
    }

    /// The values in the order of the program.
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
