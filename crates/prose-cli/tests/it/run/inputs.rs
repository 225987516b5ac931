//! Inputs: on the command line, in files, and missing ones.

use expect_test::expect;

use crate::common::Workspace;

const ECHO: &str =
    "input topic: \"What about\"\ninput pages: \"optional: how many\"\noutput o = [topic, pages]\n";

#[test]
fn a_value_is_all_that_follows_the_first_equals_sign() {
    let workspace = Workspace::new(&[("echo.prose", ECHO)]);
    let run = workspace
        .prose(&["run", "echo.prose", "-q", "-i", "topic= a=b\t\u{1b}[31m ü😀\n=", "--input", "pages="])
        .ended(0);
    let json = run.stdout.strip_prefix("o:\n").expect("the output is named");
    let values: Vec<String> = serde_json::from_str(json).expect("lists are written as JSON");
    assert_eq!(values, [" a=b\t\u{1b}[31m ü😀\n=", ""]);
}

#[test]
fn files_give_values_of_any_kind_and_the_command_line_comes_before_them() {
    let workspace = Workspace::new(&[
        ("echo.prose", ECHO),
        ("in.toml", "topic = 2026-01-02\npages = [1, 1.5, nan, true, { a = \"b\" }]\n"),
        ("in.JSON", "\u{feff}{\"topic\": null, \"pages\": {\"a\": [1, \"ü\"]}}"),
    ]);
    workspace.check(
        &["run", "echo.prose", "-q", "--inputs", "in.toml"],
        expect![[r#"
        status: 0
        ---- stdout
        o:
        [
          "2026-01-02",
          [
            1,
            1.5,
            "NaN",
            true,
            {
              "a": "b"
            }
          ]
        ]
    "#]],
    );
    workspace.check(
        &["run", "echo.prose", "-q", "--inputs", "in.JSON", "-i", "topic=mine"],
        expect![[r#"
        status: 0
        ---- stdout
        o:
        [
          "mine",
          {
            "a": [
              1,
              "ü"
            ]
          }
        ]
    "#]],
    );
}

#[test]
fn what_is_no_input_is_refused_before_anything_is_done() {
    let workspace = Workspace::new(&[
        ("echo.prose", ECHO),
        ("none.prose", "output o = 1\n"),
        ("list.json", "[1]"),
        ("json.toml", "{\"topic\": 1}"),
        ("torn.json", "{\"topic\": "),
        ("other.json", "{\"oops\\u001b\": 1}"),
    ]);
    workspace.write("bytes.toml", b"topic = \"\xff\"");
    workspace.refuses(
        &["run", "echo.prose", "-i", "topik=x"],
        expect!["the program has no input `topik`; did you mean `topic`?"],
    );
    workspace.refuses(
        &["run", "none.prose", "-i", "topic=x"],
        expect!["the program has no input `topic`; it has none"],
    );
    for file in ["list.json", "json.toml", "torn.json", "other.json", "bytes.toml", "missing.toml", "."] {
        let run = workspace.prose(&["run", "echo.prose", "--inputs", file]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    }
    workspace.check(
        &["run", "echo.prose", "--inputs", "json.toml"],
        expect![[r#"
            status: 2
            ---- stderr
            error: `json.toml` is not valid TOML: a JSON file must be named `*.json`
            TOML parse error at line 1, column 1
              |
            1 | {"topic": 1}
              | ^
            invalid key-value pair, expected key
        "#]],
    );
    workspace.refuses(
        &["run", "echo.prose", "--inputs", "bytes.toml"],
        expect!["`bytes.toml` is not valid UTF-8: byte 0xff at offset 9, in line 1"],
    );
    workspace.refuses(
        &["run", "echo.prose", "--inputs", "other.json"],
        expect![[r#"the program has no input `oops\u{1b}`; it has `topic`, `pages`"#]],
    );
    workspace.check(&["run", "echo.prose", "-i", "topic"], expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'topic' for '--input <NAME=VALUE>': expected a name and a value, such as `topic=tides`

        For more information, try '--help'.
    "#]]);
    assert!(workspace.runs().is_empty());
}

#[test]
fn all_inputs_that_are_missing_at_the_start_are_named_before_a_run_is_made() {
    let program = "agent a:\n  prompt: \"x\"\ninput topic: \"What about\"\ninput pages: \"optional: how many\"\ninput tone: \"How\"\nsession: a\n  prompt: \"On {topic}, {pages}, {tone}\"\ninput late: \"What else\"\n";
    let workspace = Workspace::new(&[
        ("many.prose", program),
        ("answers.toml", "unmatched = \"offline\"\n[[input]]\nvalue = \"x\"\n"),
    ]);
    workspace.refuses(
        &["run", "many.prose"],
        expect!["inputs `topic`, `tone` are required; add `--input topic=… --input tone=…`"],
    );
    workspace.refuses(
        &["run", "many.prose", "-i", "tone="],
        expect!["input `topic` is required; add `--input topic=…`"],
    );
    assert!(workspace.runs().is_empty());
    workspace.prose(&["run", "many.prose", "--script", "answers.toml"]).ended(0);
}

#[test]
fn a_run_that_lacks_an_input_can_go_on_with_it() {
    let workspace = Workspace::new(&[(
        "late.prose",
        "let a = session \"First\"\ninput topic: \"What about\"\noutput o = topic\n",
    )]);
    workspace.check(
        &["run", "late.prose"],
        expect![[r#"
            status: 5
            ---- stderr
            Run ID with offline (placeholder replies)
            … First
            ✓ First (TIME)
            Waiting: 1 session done
            waiting: question 1 at line 2: topic: What about
            help: answer with `prose runs answer ID VALUE`; recorded results are reused
        "#]],
    );
    workspace.refuses(
        &["resume", "--input", "topik=tides"],
        expect!["the program has no input `topik`; did you mean `topic`?"],
    );
}

#[test]
fn an_input_without_a_name_is_given_by_its_variable_or_its_number() {
    let program = "let style = input \"Which style?\"\nlet a = session \"First\"\noutput o = [style, input \"Which tone?\"]\n";
    let workspace =
        Workspace::new(&[("ask.prose", program), ("in.toml", "style = \"short\"\n2 = \"calm\"\n")]);
    workspace.refuses(&["run", "ask.prose"], expect!["input `style` is required; add `--input style=…`"]);
    workspace.refuses(
        &["run", "ask.prose", "-i", "stile=short"],
        expect!["the program has no input `stile`; did you mean `style`?"],
    );
    workspace.refuses(
        &["run", "ask.prose", "-i", "3=short"],
        expect!["the program has no input `3`; it has `style`, `2`"],
    );
    workspace.check(
        &["run", "ask.prose", "-q", "-i", "1=short"],
        expect![[r#"
            status: 5
            ---- stderr
            waiting: question 1 at line 3: Which tone?
            help: answer with `prose runs answer ID VALUE`; recorded results are reused
        "#]],
    );
    workspace.check(
        &["resume", "-q", "-i", "2=calm"],
        expect![[r#"
            status: 0
            ---- stdout
            o:
            [
              "short",
              "calm"
            ]
        "#]],
    );
    workspace.check(
        &["run", "ask.prose", "-q", "--inputs", "in.toml"],
        expect![[r#"
        status: 0
        ---- stdout
        o:
        [
          "short",
          "calm"
        ]
    "#]],
    );
}

#[test]
fn a_call_that_leaves_out_an_input_is_refused_where_nobody_can_give_it() {
    let workspace = Workspace::new(&[
        ("main.prose", "use \"./middle.prose\"\nlet a = session \"First\"\noutput o = middle()\n"),
        ("middle.prose", "use \"./inner.prose\" as find\noutput o = find()\n"),
        ("inner.prose", "input topic: \"What about\"\noutput o = session \"On {topic}\"\n"),
        ("answers.toml", "unmatched = \"offline\"\n[[input]]\nname = \"topic\"\nvalue = \"tides\"\n"),
    ]);
    workspace.refuses(
        &["run", "middle.prose"],
        expect!["line 2: missing input `topic` in the call of `find`; pass it in the call: `(name: …)`"],
    );
    workspace.refuses(
        &["run", "main.prose"],
        expect!["`./middle.prose`, line 2: missing input `topic` in the call of `find`; pass it in the call: `(name: …)`"],
    );
    assert!(workspace.runs().is_empty());
    workspace.prose(&["run", "main.prose", "-q", "--script", "answers.toml"]).ended(0);
}

/// Of several programs, each receives the inputs that it declares.
#[test]
fn several_programs_run_one_after_the_other() {
    let workspace = Workspace::new(&[
        ("a.prose", "input topic: \"What about\"\noutput a = session \"Write about {topic}\"\n"),
        ("b.prose", "let b = session \"Work\"\nthrow \"No\"\n"),
        ("c.prose", "output c = \"three\"\n"),
    ]);
    workspace.check(&["run", "a.prose", "b.prose", "c.prose", "--input", "topic=tides"], expect![[r#"
        status: 1
        ---- stdout
        a: Went through tides with an eye on the details. Most of the work lies in the details; the rest is in good shape. Compared with the rest, tides is the smaller part. As far as tides goes, this can go ahead as planned. [offline]
        c: three
        ---- stderr
        a.prose
        Run ID with offline (placeholder replies)
        … Write about tides
        ✓ Write about tides (TIME)
        Completed: 1 session done
        b.prose
        Run ID with offline (placeholder replies)
        … Work
        ✓ Work (TIME)
        Failed: 1 session done
        error: the program failed at line 2: No
        help: fix the program, then run `prose resume ID --accept-changes`
        c.prose
        Run ID with offline (placeholder replies)
    "#]]);
    assert_eq!(workspace.runs().len(), 3);
    // All of them are checked before the first one runs.
    workspace
        .refuses(&["run", "c.prose", "a.prose"], expect!["input `topic` is required; add `--input topic=…`"]);
    workspace.refuses(
        &["run", "a.prose", "c.prose", "--input", "topic=x", "--input", "other=y"],
        expect!["the program has no input `other`; it has `topic`"],
    );
    workspace.refuses(&["run", "c.prose", "gone.prose"], expect!["`gone.prose` does not exist"]);
    assert_eq!(workspace.runs().len(), 3);
}

#[test]
fn a_program_comes_over_standard_input() {
    let workspace = Workspace::new(&[("lib.prose", "output text = \"from the library\"\n")]);
    let program = b"use \"./lib.prose\" as lib\nlet r = lib()\noutput text = r.text\nthrow \"stop\"\n";
    workspace.shows(
        workspace.prose_with_input(&["run", "-"], program),
        &expect![[r#"
            status: 1
            ---- stdout
            text: from the library
            ---- stderr
            Run ID with offline (placeholder replies)
            program lib
            error: the program failed at line 4: stop
            help: fix the program, then run `prose resume ID --accept-changes`
        "#]],
    );
    workspace.shows(
        workspace.prose_with_input(&["run", "-"], b"sesion \"A\"\n"),
        &expect![[r#"
        status: 2
        ---- stderr
        error[E107]: unknown statement `sesion`; did you mean `session`?
         --> <stdin>:1:1
          |
        1 | sesion "A"
          | ^^^^^^
          |
        help: Change to `session`
          |
        1 | session "A"
          |    +

        error: `<stdin>` has 1 error and is not run
    "#]],
    );
    let run = workspace.prose_with_input(&["run", "-", "-"], program);
    assert_eq!((run.status, run.stderr.contains("pass `-` only once")), (2, true), "{run:?}");
    let program = b"let a = session \"A\"\nlet b = session \"B\"\noutput c = [a, b]\n";
    workspace.prose_with_input(&["run", "-", "-q", "--max-sessions", "1"], program).ended(3);
    let run = workspace.prose(&["resume", "--max-sessions", "9"]);
    assert!(run.stderr.contains("Reused 1 result from the earlier execution, ran 1."), "{run:?}");
}
