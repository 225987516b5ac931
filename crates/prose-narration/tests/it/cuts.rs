//! A narration of ours that stops anywhere gives back what had ended by then, and nothing else.

use crate::common::{Play, lines_with_events, more, programs, replay, told};
use prose_narration::{Markers, transcript};
use prose_vm::effect::Outcome;
use prose_vm::event::StateMode;

/// Cuts the narration behind each line, and in the middle of each line.
#[track_caller]
fn check(play: &Play) {
    for markers in [Markers::Brackets, Markers::Emoji] {
        let lines = lines_with_events(play, markers);
        for count in 0..=lines.len() {
            let text: String = lines[..count].iter().map(|(line, _)| format!("{line}\n")).collect();
            // The lines of an event belong together: what it tells is told once the last of them is there.
            let told_by = lines[..count]
                .iter()
                .map(|(_, seq)| *seq)
                .rfind(|seq| !lines[count..].iter().any(|(_, other)| other == seq))
                .unwrap_or_default();
            check_cut(play, &text, told_by, false);
            if let Some((next, _)) = lines.get(count) {
                let half: String = next.chars().take(next.chars().count() * 2 / 3).collect();
                check_cut(play, &(text + &half), told_by, true);
            }
        }
    }
}

#[track_caller]
fn check_cut(play: &Play, text: &str, told_by: u64, is_torn: bool) {
    let mut recall = transcript::read(text).into_recording();
    let (recovered, _) = replay(play, &mut recall);
    let expected = told(play, told_by);
    let is_right = recovered.starts_with(&expected)
        // Half of a line may tell what happened as well as all of it.
        && (recovered.len() == expected.len() || (is_torn && recovered.len() == expected.len() + 1));
    assert!(is_right, "from\n{text}\nrecovered {recovered:#?}\ninstead of {expected:#?}");
    if recovered.len() > expected.len() {
        let all = told(play, u64::MAX);
        let (id, outcome) = &recovered[expected.len()];
        let is_same = all[expected.len()].0 == *id
            && std::mem::discriminant(&all[expected.len()].1) == std::mem::discriminant(outcome);
        let is_whole =
            !matches!(outcome, Outcome::Reply(_) | Outcome::Failed(_)) || all[expected.len()].1 == *outcome;
        assert!(is_same && is_whole, "from\n{text}\nrecovered {recovered:#?}");
    }
}

#[test]
fn r109_complete_trace_is_recovered_from_any_cut() {
    check(&programs::complete_trace(StateMode::InContext));
}

#[test]
fn r109_session_is_recovered_from_any_cut() {
    check(&programs::one_session(StateMode::InContext));
}

#[test]
fn r109_parallel_is_recovered_from_any_cut() {
    check(&programs::reviews(StateMode::InContext));
}

#[test]
fn r109_loop_is_recovered_from_any_cut() {
    check(&programs::one_loop(StateMode::InContext));
}

#[test]
fn r109_try_is_recovered_from_any_cut() {
    check(&programs::recovery(StateMode::InContext));
}

#[test]
fn r109_frames_are_recovered_from_any_cut() {
    check(&programs::recursion(StateMode::InContext));
}

#[test]
fn r109_import_is_recovered_from_any_cut() {
    check(&programs::import(StateMode::InContext));
}

#[test]
fn r109_texts_that_look_like_something_else_are_recovered() {
    check(&more::difficult_texts(StateMode::InContext));
}

#[test]
fn r109_failures_choices_and_inputs_are_recovered_from_any_cut() {
    check(&more::other_effects(StateMode::InContext));
}

#[test]
fn r109_branches_that_take_turns_are_recovered_from_any_cut() {
    check(&more::long_branches(StateMode::InContext));
}

#[test]
fn r109_branches_that_fail_are_recovered_from_any_cut() {
    check(&more::failing_branches(StateMode::InContext));
}

#[test]
fn r109_branches_inside_branches_are_recovered_from_any_cut() {
    check(&more::nested_branches(StateMode::InContext));
}

#[test]
fn r109_branches_that_are_cancelled_are_not_recovered() {
    check(&more::races(StateMode::InContext));
}
