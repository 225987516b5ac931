//! Screens of all sizes, and runs of many sessions.

use prose_tui::ratatui::crossterm::event::KeyCode;
use prose_vm::questions::OpenQuestion;
use serde_json::json;

use crate::events::{branch, parallel, recorded, run, session};
use crate::support::Shown;

#[test]
fn screens_of_every_size_are_drawn() {
    let events = recorded();
    let mut shown = Shown::of(&events[..80], (80, 24));
    let question: OpenQuestion = serde_json::from_value(json!({
        "id": 1, "about": "input", "prompt": "Ship it, and to whom, and when, and why?", "since": 0, "asked_at": "s3"
    }))
    .unwrap();
    for (asks, answers, helps) in
        [(false, false, false), (true, false, false), (true, true, false), (false, false, true)]
    {
        shown.questions = if asks { vec![question.clone()] } else { Vec::new() };
        if answers {
            shown.press(KeyCode::Char('a'));
            shown.types("to all who wait at the harbour");
        } else if helps {
            shown.press(KeyCode::Esc);
            shown.press(KeyCode::Char('?'));
        }
        for width in (0..8).chain([20, 39, 80, 110, 500]) {
            for height in (0..8).chain([12, 24, 200]) {
                shown.resize(width, height);
                shown.draw();
            }
        }
    }
}

#[test]
fn the_selected_row_stays_in_sight() {
    let names: Vec<String> = (0..2000).map(|number| format!("b{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let places: Vec<(String, String)> =
        (0..2000).map(|n| (format!("s1/b{n}"), format!("s1/b{n}/0"))).collect();
    let mut events = vec![("s1", parallel(&names))];
    for (number, (place, inner)) in places.iter().enumerate() {
        events.push((place, branch(number as u32, names[number])));
        events.push((inner, session(number as u64, "writer", &format!("Part {number}"))));
    }
    let mut shown = Shown::of(&run(events), (60, 10));
    shown.press(KeyCode::End);
    assert!(shown.draw().contains("Part 1999"));
    shown.press(KeyCode::PageUp);
    let drawn = shown.draw();
    assert!(drawn.contains("Part 1992") && !drawn.contains("Part 1999"), "{drawn}");
    // A smaller window shows it, too.
    shown.resize(60, 5);
    assert!(shown.draw().contains("Part 1992"));
    shown.press(KeyCode::Home);
    assert!(shown.draw().contains("parallel"));
}
