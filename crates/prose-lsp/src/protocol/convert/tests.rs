use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::protocol::json::Json;
use crate::protocol::position::{ContentChange, Encoding, clamp_u32, offset, position, size};

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

fn width(char: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => char.len_utf8(),
        Encoding::Utf16 => char.len_utf16(),
        Encoding::Utf32 => 1,
    }
}

/// Every place of `text` with its position, found by walking over the characters. The place inside a `\r\n` is that before it.
fn places(text: &str, encoding: Encoding) -> Vec<(usize, lsp::Position)> {
    let (mut line, mut character) = (0, 0);
    let mut places = vec![(0, lsp::Position::new(0, 0))];
    let mut chars = text.char_indices().peekable();
    while let Some((offset, char)) = chars.next() {
        let in_crlf = char == '\r' && chars.peek().is_some_and(|(_, next)| *next == '\n');
        match char {
            '\r' if in_crlf => {}
            '\r' | '\n' => (line, character) = (line + 1, 0),
            _ => character += clamp_u32(width(char, encoding)),
        }
        places.push((offset + char.len_utf8(), lsp::Position::new(line, character)));
    }
    places
}

fn texts() -> impl Strategy<Value = String> {
    // Long runs have the rope spread over several chunks; the other line breaks of Unicode break no line here.
    prop::collection::vec(
        prop_oneof![
            Just("\r\n".to_owned()),
            Just("\n".to_owned()),
            Just("\r".to_owned()),
            "[a-zé€😀\u{2028}\u{85}\u{b}\t ]{0,8}",
            "[a😀]{300,400}",
        ],
        0..12,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn every_place_has_its_position_and_back(text in texts()) {
        let rope = Rope::from_str(&text);
        for encoding in ENCODINGS {
            for (at, expected) in places(&text, encoding) {
                prop_assert_eq!(position(&rope, at, encoding), expected);
                let in_crlf = text[..at].ends_with('\r') && text[at..].starts_with('\n');
                prop_assert_eq!(offset(&rope, expected, encoding), at - usize::from(in_crlf));
            }
        }
    }

    #[test]
    fn any_position_means_the_last_place_that_is_not_after_it(
        text in texts(),
        line in prop_oneof![0..12u32, Just(u32::MAX)],
        character in prop_oneof![0..800u32, Just(u32::MAX)],
    ) {
        let rope = Rope::from_str(&text);
        for encoding in ENCODINGS {
            let asked = lsp::Position { line, character };
            let places = places(&text, encoding);
            let expected = places
                .iter()
                .filter(|(at, _)| !(text[..*at].ends_with('\r') && text[*at..].starts_with('\n')))
                .rfind(|(_, position)| position.line == line && *position <= asked)
                .map_or(text.len(), |(at, _)| *at);
            prop_assert_eq!(offset(&rope, asked, encoding), expected);
        }
    }

    #[test]
    fn places_are_found_in_any_order(text in texts(), offsets in prop::collection::vec(0..2000usize, 1..20)) {
        let rope = Rope::from_str(&text);
        for encoding in ENCODINGS {
            let last_line = LastLine::default();
            // A second one after the first is often on the same line.
            for at in offsets.iter().flat_map(|at| [*at, at + 1]) {
                prop_assert_eq!(last_line.position(&rope, at, encoding), position(&rope, at, encoding));
            }
        }
    }

    #[test]
    fn any_offset_has_a_position(text in texts(), at in 0..6000usize) {
        let rope = Rope::from_str(&text);
        for encoding in ENCODINGS {
            let here = position(&rope, at, encoding);
            prop_assert!(offset(&rope, here, encoding) <= at);
        }
    }
}

#[test]
fn a_range_that_ends_before_it_starts_is_turned_around() {
    let range = lsp::Range::new(lsp::Position::new(0, 3), lsp::Position::new(0, 1));
    let change = ContentChange { range: Some(range), text: String::new() };
    assert_eq!(change.range_in(&Rope::from_str("abcd"), Encoding::Utf16), Some(1..3));
}

pub(crate) fn parsed(json: &Json) -> Value {
    serde_json::from_slice(&json.clone().into_pieces().concat()).unwrap()
}

pub(crate) fn session(capabilities: Value) -> Session {
    Session::from_initialize(&json!({ "capabilities": { "textDocument": capabilities } }))
}

pub(crate) fn shown(text: &str) -> ProgramDocument {
    ProgramDocument::alone(Rope::from_str(text))
}

proptest! {
    #[test]
    fn positions_in_a_fence_are_those_of_the_document(
        before in "[a-zäß😀\n]{0,20}",
        lines in prop::collection::vec("[a-z \"äß😀]{0,8}", 1..6),
        container in prop_oneof![Just(""), Just("> "), Just("> > ")],
    ) {
        let program: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let fenced: String = lines.iter().map(|line| format!("{container}{line}\n")).collect();
        let text = format!("{before}\n\n{container}```prose\n{fenced}{container}```\n\n{before}\n");
        let document = Rope::from_str(&text);
        let fence = std::sync::Arc::new(prose_markdown::programs(&text).remove(0));
        prop_assert_eq!(&*fence.text, &program);
        let first_line = text.lines().position(|line| line.ends_with("```prose")).unwrap() + 1;
        let shown = ProgramDocument::in_fence(document, fence);
        prop_assert_eq!(shown.first_line(), first_line);
        for encoding in ENCODINGS {
            let session = Session { encoding, ..Session::default() };
            let converter = Converter::new(&shown, &session);
            // The line after the last one is that of the closing fence.
            for (offset, alone) in places(&program, encoding).into_iter().filter(|(at, _)| *at < program.len()) {
                let there = converter.position(size(offset));
                let expected = lsp::Position {
                    line: alone.line + first_line as u32,
                    character: alone.character + container.len() as u32,
                };
                prop_assert_eq!(there, expected);
                prop_assert_eq!(converter.text_offset(there), Some(size(offset)));
            }
            for outside in [0, first_line - 1, first_line + lines.len(), first_line + lines.len() + 1] {
                prop_assert_eq!(converter.text_offset(lsp::Position::new(outside as u32, 1)), None);
            }
        }
    }
}

#[test]
fn capabilities_of_odd_types_count_as_absent() {
    let params =
        json!({ "processId": "7", "capabilities": { "general": [], "textDocument": { "diagnostic": 1 } } });
    assert_eq!(Session::from_initialize(&params), Session::default());
}

#[test]
fn a_diagnostic_carries_its_code_and_its_fix() {
    let text = "session \"a\"\nsession \"😀b\n";
    let range = TextRange::new(20.into(), 26.into());
    let diagnostic =
        Diagnostic::new(prose_syntax::Code::E001, range, "this string is not closed").with_fix(Fix {
            title: "Insert `\"`".to_owned(),
            safety: FixSafety::Unsafe,
            edits: vec![prose_syntax::TextEdit::insert(range.end(), "\"")],
        });
    let session = Session::default();
    let shown = shown(text);
    let converter = Converter::new(&shown, &session);
    assert_eq!(
        json!(converter.diagnostics(std::iter::once(Reported {
            severity: diagnostic.severity(),
            diagnostic: &diagnostic,
            uri: &"file:///a.prose".into(),
            place: &|_| None,
        }))),
        json!([{
            "range": { "start": { "line": 1, "character": 8 }, "end": { "line": 1, "character": 12 } },
            "severity": 1,
            "code": "E001",
            "source": "prose",
            "message": "this string is not closed",
            "data": {
                "title": "Insert `\"`",
                "safety": "unsafe",
                "edits": [{
                    "range": { "start": { "line": 1, "character": 12 }, "end": { "line": 1, "character": 12 } },
                    "newText": "\"",
                }],
            },
        }])
    );
}
