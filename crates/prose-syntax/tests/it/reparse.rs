//! Parsing after an edit gives what parsing the new text gives, and keeps what the edit did not touch.

use prose_syntax::{Parse, TextRange, TextSize, parse};

fn size(len: usize) -> TextSize {
    TextSize::new(u32::try_from(len).unwrap())
}

/// Replaces `from` by `to` once in `before`, and compares with a fresh parse.
#[track_caller]
fn check(before: &str, from: &str, to: &str) -> (Parse, Parse) {
    let at = before.find(from).unwrap();
    let after = before.replacen(from, to, 1);
    let old = parse(before);
    let new = old.reparse(TextRange::at(size(at), size(from.len())), size(to.len()), &after);
    let fresh = parse(&after);
    assert_eq!(new.diagnostics(), fresh.diagnostics());
    assert_eq!(format!("{:#?}", new.syntax()), format!("{:#?}", fresh.syntax()));
    assert!(new == fresh);
    (old, new)
}

const PROGRAM: &str = r#"# A program.
agent writer:
  model: opus
  prompt: """
    Write well.
  """

let draft = session: writer
  prompt: "Write about {topic}"

if **the draft is good**:
  session "Publish"
else:
  session "Discard"

try:
  session "Announce"
catch as error:
  session "Explain {error}"

["a", "b"]
  | map: session "Look at {item}"
"#;

#[test]
fn an_edit_inside_a_prompt() {
    check(PROGRAM, "Write about", "Write at length about");
}

#[test]
fn statements_the_edit_does_not_touch_keep_their_nodes() {
    let (old, new) = check(PROGRAM, "Write about", "Write at length about");
    let kept =
        |parse: &Parse, index: usize| parse.syntax().children().nth(index).unwrap().green().into_owned();
    let pointer = |parse: &Parse, index: usize| {
        let green: rowan::GreenNode = kept(parse, index);
        std::ptr::from_ref::<rowan::GreenNodeData>(&green).addr()
    };
    assert_ne!(pointer(&old, 1), pointer(&new, 1), "the edited statement is new");
    assert_eq!(pointer(&old, 3), pointer(&new, 3), "a later statement is the same node");
    assert_eq!(pointer(&old, 4), pointer(&new, 4), "and so is the last");
}

#[test]
fn a_clause_loses_its_statement() {
    check(PROGRAM, "if **the draft is good**:\n", "");
    check(PROGRAM, "if **the draft is good**:", "@@@");
}

#[test]
fn a_statement_becomes_a_clause() {
    check("if **a**:\n  session \"x\"\nsession \"y\"\n", "session \"y\"", "else:\n  session \"y\"");
    check("session \"x\"\nsession \"y\"\n", "session \"y\"", "-> session \"y\"");
}

#[test]
fn a_literal_is_opened_and_closed() {
    check(PROGRAM, "Write well.\n  \"\"\"", "Write well.");
    check(PROGRAM, "model: opus", "model: opus\n  prompt: \"\"\"");
    check(PROGRAM, "session \"Publish\"", "session \"\"\"Publish");
    check(PROGRAM, "**the draft is good**:", "**\n  the draft is good");
    let open = "let a = \"\"\"\nlet b = 1\nlet c = 2\n";
    check(open, "let c", "\"\"\"\nlet c");
}

#[test]
fn a_bracket_is_opened_and_closed() {
    check(PROGRAM, "[\"a\", \"b\"]", "[\"a\", \"b\"");
    check("let a = [\n  1,\n  2\n]\nsession \"x\"\n", "]", "");
    check("let a = [\n  1,\n  2\n\nsession \"x\"\n", "\n\n", "\n]\n");
}

#[test]
fn a_handler_is_lost() {
    check(PROGRAM, "catch as error:", "@@@");
    check(PROGRAM, "catch as error:\n  session \"Explain {error}\"\n", "");
    check("try:\n  session \"x\"\n@@@\n", "@@@", "session \"y\"");
    check("try:\n  session \"x\"\nsession \"y\"\n", "session \"y\"", "@@@");
}

#[test]
fn the_whole_text_and_nothing() {
    check(PROGRAM, PROGRAM, "");
    check(PROGRAM, "# A program.\n", "");
    check(PROGRAM, "agent", "  agent");
    let empty = parse("");
    assert!(empty.reparse(TextRange::default(), size(PROGRAM.len()), PROGRAM) == parse(PROGRAM));
}

#[test]
fn what_is_missing_at_the_end_of_the_text() {
    check("agent", "agent", "agent writer");
    check("let a = 1\nlet b =", "b =", "b = 2");
    check("let a = 1\nlet b =", "let a = 1\n", "");
    check("let a = 1\nlet b", "let b", "");
}

/// As it happens in an editor: after every key there is one parse, made from the one before.
#[test]
fn a_program_typed_key_by_key_and_taken_back() {
    let mut text = String::new();
    let mut last = parse("");
    for c in PROGRAM.chars() {
        let end = TextRange::empty(size(text.len()));
        text.push(c);
        last = last.reparse(end, size(c.len_utf8()), &text);
        assert_eq!(last.diagnostics(), parse(&text).diagnostics(), "typed: {text}");
        assert!(last == parse(&text), "typed: {text}");
    }
    while let Some(c) = text.pop() {
        last = last.reparse(TextRange::at(size(text.len()), size(c.len_utf8())), size(0), &text);
        assert_eq!(last.diagnostics(), parse(&text).diagnostics(), "taken back: {text}");
        assert!(last == parse(&text), "taken back: {text}");
    }
}

#[test]
fn every_single_deletion_and_insertion() {
    let old = parse(PROGRAM);
    for (at, c) in PROGRAM.char_indices() {
        let mut shorter = PROGRAM.to_owned();
        shorter.remove(at);
        let range = TextRange::at(size(at), size(c.len_utf8()));
        assert!(old.reparse(range, size(0), &shorter) == parse(&shorter), "without {c:?} at {at}");
        for inserted in ["\"", "**", "\n", "(", "]", " ", ":", "\"\"\"\n", "else:", "#", "->"] {
            let mut longer = PROGRAM.to_owned();
            longer.insert_str(at, inserted);
            let range = TextRange::empty(size(at));
            assert!(
                old.reparse(range, size(inserted.len()), &longer) == parse(&longer),
                "with {inserted:?} at {at}"
            );
        }
    }
}

#[test]
fn something_is_missing_at_the_end_of_the_file() {
    check("session \"x\"\nrepeat 2", "session", "sesion");
    check("session \"x\"\nrepeat 2", "repeat 2", "repeat 3");
}

#[test]
fn a_try_is_followed_by_the_rest_of_its_line() {
    check("session \"x\"\ntry:use | a\nuse b\n", "|", "||");
}

#[test]
fn a_mistake_above_a_chain_does_not_affect_the_line_below_it() {
    let text = "use \"a\"\n\nuse \"b\"\n\noutput report = session \"a\"\n  prompt: \"b\"\n\nsession \"c\" -> session \"d\"\n\
                catch prompt:\n  session \"e\"\n";
    check(text, "report = session \"a\"\n", "");
}

#[test]
fn a_variable_with_the_name_of_a_clause_is_none_below_an_if_either() {
    check("| map: x\nelif == 3\n", "|", "if **a** |");
}

#[test]
fn a_try_above_an_empty_clause_lacks_its_handler_whatever_follows() {
    let text = "use \"a\"\nif **a**:\n  session \"b\"\nelse\n\nfoo bar\n\nsession \"c\"\n";
    check(text, "session \"b\"", "try: do b");
}

#[test]
fn a_body_that_is_not_indented_grows_and_shrinks() {
    let text =
        "repeat 3:\nsession \"a\"\nsession \"b\"\nsession \"c\"\n\nsession \"d\"\nagent e:\n  model: opus\n";
    check(text, "repeat 3:\n", "repeat 3:\n\n");
    check(text, "repeat 3:\n", "");
    check(text, "\"b\"\n", "\"b\"\n\n");
    check(text, "\"c\"\n\n", "\"c\"\n");
    check(text, "\"a\"", "\"a\":");
    check(text, "session \"a\"\n", "agent a:\n");
    check(text, "session \"c\"", "try:");
    check(text, "session \"d\"", "  session \"d\"");
    check(text, "session \"a\"", "  # comment");
    check(text, "session \"a\"", "# comment");
    check("repeat 3:\n\nsession \"a\"\nsession \"b\"\n\nsession \"c\"\n", "\n\n", "\n");
    check("repeat 3:\nagent a:\nsession \"b\"\nsession \"c\"\n", "agent a:", "let a = 3");
    check("repeat 1:\nrepeat 2:\nrepeat 3:\n\nsession \"b\"\n", "3:\n\n", "3:\n");
    check("repeat 1:\nrepeat 2:\nrepeat 3:\nsession \"b\"\n", "session \"b\"", "agent b:");
    check("repeat 1:\nrepeat 2:\nrepeat 3:\n  session \"b\"\n", "  session", "# ");
    check("if **a**:\nsession \"b\"\nelse:\nsession \"c\"\nsession \"d\"\n", "else:", "do:");
}
