//! Compares events with recorded ones.

use crate::event::{Event, EventKind};

/// Whether an event is equal to a recorded one, apart from what may differ when a run is resumed: the project may have been moved, and a later version
/// may build prompts and word messages differently.
pub(super) fn is_same(event: &Event, recorded: &Event) -> bool {
    event == recorded
        || matches!((comparable(event), comparable(recorded)), (Ok(event), Ok(recorded)) if event == recorded)
}

fn comparable(event: &Event) -> serde_json::Result<serde_json::Value> {
    let mut json = serde_json::to_value(event)?;
    if matches!(event.kind, EventKind::Imported { .. }) {
        json["from"].take();
    }
    if let Some(task) =
        json.get_mut("task").filter(|_| matches!(event.kind, EventKind::SessionStarted { .. }))
    {
        task["prompt"].take();
        task["mark"].take();
        task["writes_result"].take();
    }
    take_messages(&mut json);
    Ok(json)
}

fn take_messages(json: &mut serde_json::Value) {
    match json {
        serde_json::Value::Array(items) => items.iter_mut().for_each(take_messages),
        serde_json::Value::Object(entries) => {
            entries.remove("message");
            entries.values_mut().for_each(take_messages);
        }
        _ => {}
    }
}
