//! The terminal UI, drawn into a buffer.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod events;
mod list;
mod run;
mod sizes;
mod support;

/// The table of keys in the manual is that of the program.
#[test]
fn the_manual_has_all_keys() {
    let manual = include_str!("../../../../docs/running.md").replace("\r\n", "\n");
    for key in prose_tui::KEYS.iter().chain(&prose_tui::TOP_KEYS) {
        let names: Vec<String> = key.keys.split(' ').map(|name| format!("`{name}`")).collect();
        let row = format!("| {} | {} |\n", names.join(" "), key.does);
        assert!(manual.contains(&row), "the manual has no row {row}");
    }
}
