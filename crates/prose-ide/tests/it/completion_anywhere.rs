//! Completion and highlighting in every state that a text can be in while it is written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use prose_fixture::time::processor_time;

use crate::support::samples;
use proptest::prelude::*;
use prose_analysis::{AnalysisHost, Text};
use prose_ide::completion::{PathCandidates, completions};
use prose_ide::semantic_tokens::semantic_tokens;
use prose_syntax::TextSize;

/// Asks for completions at the offsets, and checks what an editor relies on.
#[track_caller]
fn assert_sound(text: &str, offsets: impl IntoIterator<Item = usize>) {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    host.load_imports(file, |_| None);
    for token in semantic_tokens(host.db(), file) {
        let token = &text[token.range];
        assert!(!token.is_empty() && !token.contains(['\n', '\r']), "{token:?} in {text:?}");
    }
    let paths = PathCandidates {
        local: vec![PathBuf::from("/lib/other.prose")],
        known: vec!["alice/research".to_owned()],
    };
    for offset in offsets.into_iter().filter(|offset| text.is_char_boundary(*offset)) {
        for (index, item) in
            completions(host.db(), file, TextSize::new(offset as u32), &paths).iter().enumerate()
        {
            let (start, end) = (usize::from(item.range.start()), usize::from(item.range.end()));
            let place = || format!("{item:#?} at {offset} of {text:?}");
            assert!(start <= offset && offset <= end && end <= text.len(), "{}", place());
            assert!(text.is_char_boundary(start) && text.is_char_boundary(end), "{}", place());
            assert!(!text[start..end].contains(['\n', '\r']), "{}", place());
            assert!(!item.label.is_empty() && !item.text.is_empty(), "{}", place());
            assert!(!item.text.contains('\n'), "{}", place());
            assert_eq!(item.order as usize, index);
        }
    }
}

#[test]
fn every_place_of_the_samples_can_be_completed() {
    for (_, text) in samples() {
        assert_sound(&text, 0..=text.len());
    }
}

#[test]
fn offsets_after_the_end_and_inside_of_characters_are_taken_for_near_ones() {
    let text = "let x = \"é\"\nsession \"{é";
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    for offset in 0..100 {
        for item in completions(host.db(), file, TextSize::new(offset), &PathCandidates::default()) {
            assert!(usize::from(item.range.end()) <= text.len());
        }
    }
}

#[test]
fn long_files_are_completed_at_once() {
    let part =
        "agent writer-N:\n  model: opus\n\nlet topicN = session: writer-N\n  prompt: \"Use {topicN}\"\n";
    let text: String = (0..10_000).map(|n| part.replace('N', &n.to_string())).collect();
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(&*text));
    let offset = TextSize::new(text.len() as u32 - 3);
    // The first run does the analysis.
    completions(host.db(), file, offset, &PathCandidates::default());
    let mut found = 0;
    let elapsed =
        processor_time(|| found = completions(host.db(), file, offset, &PathCandidates::default()).len());
    println!("{found} completions in {elapsed:?}");
    // All but the one that is being bound.
    assert_eq!(found, 9_999);
    assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
}

/// What is typed or pasted at some place.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "\"",
    "\"\"\"",
    "**",
    "***",
    ":",
    ",",
    ".",
    "|",
    "->",
    "=",
    " ",
    "\n",
    "\r\n",
    "\n  ",
    "\t",
    "#",
    "\\",
    "-",
    "x",
    "é",
    "session ",
    "session: ",
    "do ",
    "loop ",
    "for x in ",
    "use \"",
    "context: ",
    "{a.",
    "a.",
    "permissions:\n",
    "parallel (",
    "let { ",
    " | ",
    "1",
    "…",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_state_of_a_text_can_be_completed(
        sample in any::<prop::sample::Index>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..12, prop::sample::select(PIECES)),
            1..4,
        ),
        elsewhere in any::<prop::sample::Index>(),
    ) {
        let samples = samples();
        let mut text = sample.get(&samples).1.clone();
        if let Some(cut) = cut {
            text.truncate(boundary(&text, cut.index(text.len() + 1)));
        }
        let mut offsets = vec![0, text.len()];
        for (at, removed, inserted) in edits {
            let start = boundary(&text, at.index(text.len() + 1));
            let end = boundary(&text, (start + removed).min(text.len())).max(start);
            text.replace_range(start..end, inserted);
            let behind = start + inserted.len();
            offsets.extend(start.saturating_sub(3)..=(behind + 3).min(text.len()));
        }
        offsets.push(elsewhere.index(text.len() + 1));
        offsets.retain(|offset| *offset <= text.len());
        offsets.push(text.len());
        assert_sound(&text, offsets);
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
