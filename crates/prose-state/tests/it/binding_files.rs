//! The form of binding files (R101).

use std::fs;

use expect_test::expect;
use proptest::prelude::*;
use prose_state::binding_file;
use prose_vm::effect::{Binding, BindingKind, Reply};
use prose_vm::value::Value;

use crate::support::{Driver, project};

fn binding(kind: BindingKind, frame: u32, source: &str) -> Binding {
    Binding {
        name: "research".into(),
        kind,
        frame,
        path: "bindings/research.md".into(),
        source: source.into(),
    }
}

#[test]
fn r101_a_binding_file() {
    let source = "let research = session: researcher\n  prompt: \"Research AI safety\"";
    expect![[r#"
        # research

        kind: let

        source:
        ```prose
        let research = session: researcher
          prompt: "Research AI safety"
        ```

        ---

        AI safety research covers several key areas.
    "#]]
    .assert_eq(&binding_file::write(
        &binding(BindingKind::Let, 0, source),
        "AI safety research covers several key areas.",
    ));
}

#[test]
fn r101_in_a_frame_and_with_fences_in_the_source() {
    let source = "const result = session \"\"\"\n````md\n---\n````\n\"\"\"";
    let text = binding_file::write(&binding(BindingKind::Const, 43, source), "value\n---\nmore");
    expect![[r#"
        # research

        kind: const
        execution_id: 43

        source:
        `````prose
        const result = session """
        ````md
        ---
        ````
        """
        `````

        ---

        value
        ---
        more
    "#]]
    .assert_eq(&text);
    assert_eq!(binding_file::read(&text), "value\n---\nmore");
}

#[test]
fn r101_values_of_files_that_agents_write_in_their_own_way() {
    let read = binding_file::read;
    // Without the empty line, with other line ends, without a head, with a fence that nothing closes.
    assert_eq!(read("# a\nkind: let\nsource:\n```prose\nlet a = x\n```\n---\nvalue"), "value");
    assert_eq!(read("# a\r\n\r\nkind: let\r\n\r\n---\r\n\r\ntwo\r\nlines\r\n"), "two\r\nlines");
    assert_eq!(read("Just an answer.\n"), "Just an answer.");
    assert_eq!(read("# a\n\n```prose\nlet a = x\n\n---\n\nvalue\n"), "value");
    assert_eq!(read(""), "");
    assert_eq!(binding_file::read_bytes(b"# a\n\n---\n\nbr\xffken\n"), "br\u{fffd}ken");
    assert_eq!(binding_file::kind("# a\n\nkind: input\n\n---\n\nkind: none\n"), Some("input"));
    assert_eq!(binding_file::kind("no head"), None);
}

#[test]
fn decision_21_agents_write_the_value_alone_or_with_the_head_of_r101() {
    let read = |text: &str| binding_file::read_of_agent("report", text.as_bytes());
    assert_eq!(read("Tides come.\n"), "Tides come.");
    // A rule is part of the value.
    assert_eq!(
        read("# Tides\n\nThey come.\n\n---\n\nThey go.\n"),
        "# Tides\n\nThey come.\n\n---\n\nThey go."
    );
    assert_eq!(read("---\ntitle: Tides\n---\nThey come.\n"), "---\ntitle: Tides\n---\nThey come.");
    assert_eq!(
        read("# report\n\nkind of tides: two\n\n---\nmore"),
        "# report\n\nkind of tides: two\n\n---\nmore"
    );
    let whole =
        binding_file::write(&binding(BindingKind::Let, 2, "let report = session \"x\""), "Tides\n---\ncome.");
    assert_eq!(read(&whole), "Tides\n---\ncome.");
    assert_eq!(read("# a report\nkind: let\n---\nTides come."), "Tides come.");
    assert_eq!(read("# report\r\n\r\n---\r\n\r\nTides come.\r\n"), "Tides come.");
    assert_eq!(read("Tides come.\r\n"), "Tides come.");
    assert_eq!(read(""), "");
    assert_eq!(binding_file::read_of_agent("report", b"br\xffken"), "br\u{fffd}ken");
}

#[test]
fn r101_values_that_are_no_text_are_json() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "a.prose", "const a = { list: [1, true], name: \"x\" }\n");
    let list = Value::array([Value::Number(1.0), Value::Bool(true)]);
    run.bind("s1", 1, "a", Value::object([("list", list), ("name", Value::text("x"))]));
    expect![[r#"
        # a

        kind: let

        source:
        ```prose
        const a = { list: [1, true], name: "x" }
        ```

        ---

        {
          "list": [
            1,
            true
          ],
          "name": "x"
        }
    "#]]
    .assert_eq(&run.read("bindings/a.md"));
}

proptest! {
    #[test]
    fn r101_any_value_is_read_back(source in source(), value in value(), frame in 0u32..3) {
        let text = binding_file::write(&binding(BindingKind::Let, frame, &source), &value);
        prop_assert_eq!(binding_file::read(&text), value);
    }
}

/// Texts that are full of what a binding file is made of.
fn value() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("---".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\r".to_owned()),
        "`{1,6}",
        Just("```prose".to_owned()),
        Just("# research".to_owned()),
        Just(" ".to_owned()),
        "\\PC{0,8}",
    ];
    prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
}

fn source() -> impl Strategy<Value = String> {
    value()
}

#[test]
fn r098_agents_write_their_results_and_the_machine_everything_else() {
    let (_folder, project) = project();
    let text = "let a = session \"A\"\nlet b = session \"B\"\nlet c = 1\n";
    let mut run = Driver::start(&project, "a.prose", text);
    run.enter("s1", 1);
    let a = run.ask("s1", 1, "a", 0);
    fs::write(run.store.folder().join("bindings/a.md"), "# a, in the words of its agent\n\n---\n\nFirst.\n")
        .unwrap();
    run.reply_with(&a, Reply { text: "First.".into(), wrote_binding: true, ..Reply::default() });
    run.leave("s1", 1);
    // An agent without files has its reply written for it (decision 11).
    run.session("s2", 2, "b", "Second.");
    run.enter("s3", 3);
    run.bind("s3", 3, "c", "1");
    run.leave("s3", 3);
    // The head is the machine's in any case (decision 21).
    for (file, value) in [("bindings/a.md", "First."), ("bindings/b.md", "Second."), ("bindings/c.md", "1")] {
        assert!(run.read(file).contains("\nkind: let\n\nsource:\n"), "{}", run.read(file));
        assert!(run.read(file).ends_with(&format!("---\n\n{value}\n")), "{}", run.read(file));
    }
    // What somebody else writes to `state.md` does not last.
    let own = run.state();
    fs::write(run.store.folder().join("state.md"), "mine").unwrap();
    run.enter("s4", 3);
    assert!(run.state().starts_with(own.lines().next().unwrap()));
}
