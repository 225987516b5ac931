//! Imports, inputs, outputs and calls of programs.

use crate::support::check_rule;

/// An import that is right.
const IMPORT: &str = r#"
        use "@alice/research"

        output found = research(topic: "tides")
        "#;

/// Use statements: Empty path. E011
#[test]
fn use_empty_path() {
    check_rule(
        r#"
        use "" as research
        #   ^^ error[E011] the path is empty

        output found = research(topic: "tides")
        "#,
        IMPORT,
    );
}

/// Use statements: Invalid path format. E012
#[test]
fn use_invalid_path_format() {
    check_rule(
        r#"
        use "@alice" as research
        #    ^^^^^^ error[E012] the path `@alice` has no `/`

        output found = research(topic: "tides")
        "#,
        IMPORT,
    );
}

/// Use statements: Duplicate import. E010
#[test]
fn use_duplicate_import() {
    check_rule(
        r#"
        use "@alice/research"
        use "@alice/research"
        #<^^^^^^^^^^^^^^^^^^^^^ error[E010] `@alice/research` is already imported

        output found = research(topic: "tides")
        "#,
        IMPORT,
    );
}

/// Use statements: Duplicate import, by another path of the same file. E010
#[test]
fn use_duplicate_import_by_another_path() {
    check_rule(
        r#"
        use "./inner.prose" as inner
        #    ^^^^^^^^^^^^^ error[E139]
        use "./parts/../inner.prose" as other
        #    ^^^^^^^^^^^^^^^^^^^^^^ error[E139]
        #<^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E010] `./parts/../inner.prose` is already imported under another name

        output found = inner(topic: "tides")
        "#,
        IMPORT,
    );
}

/// Use statements: Missing alias for dup. E133
#[test]
fn use_missing_alias_for_dup() {
    check_rule(
        r#"
        use "@alice/research"
        use "@bob/research"
        #    ^^^^^^^^^^^^^ error[E133] another program is already imported as `research`; rename this one with `as`

        output found = research(topic: "tides")
        "#,
        r#"
        use "@alice/research"
        use "@bob/research" as second

        let found = research(topic: "tides")
        output checked = second(claim: found)
        "#,
    );
}

/// Inputs: Empty input name. E020
#[test]
fn input_empty_input_name() {
    check_rule(
        r#"
        input: "What to write about"
        #<^^^^^ error[E020] `input` needs a name: `input topic: "what it is for"`
        "#,
        r#"
        input topic: "What to write about"

        session "Write about {topic}"
        "#,
    );
}

/// Inputs: Empty description. W136
#[test]
fn input_empty_description() {
    check_rule(
        r#"
        input topic: ""
        #            ^^ warning[W136] the description is empty

        session "Write about {topic}"
        "#,
        r#"
        input topic: "What to write about"

        session "Write about {topic}"
        "#,
    );
}

/// Inputs: Duplicate input name. E021
#[test]
fn input_duplicate_input_name() {
    check_rule(
        r#"
        input topic: "What to write about"
        input topic: "What else"
        #     ^^^^^ error[E021] input `topic` is already declared

        session "Write about {topic}"
        "#,
        r#"
        input topic: "What to write about"
        input style: "How to write"

        session "Write about {topic}, {style}"
        "#,
    );
}

/// Inputs: Input after executable. E022
#[test]
fn input_input_after_executable() {
    check_rule(
        r#"
        session "Say hello"
        input topic: "What to write about"
        #     ^^^^^ error[E022] input `topic` must come before the first statement

        session "Write about {topic}"
        "#,
        r#"
        input topic: "What to write about"

        session "Say hello"
        session "Write about {topic}"
        "#,
    );
}

/// Outputs: Empty output name. E023
#[test]
fn output_empty_output_name() {
    check_rule(
        r#"
        output = session "Write"
        #<^^^^^^ error[E023] `output` needs a name before `=`: `output report = …`
        "#,
        r#"
        output report = session "Write"
        "#,
    );
}

/// Outputs: Duplicate output name. E024
#[test]
fn output_duplicate_output_name() {
    check_rule(
        r#"
        output report = session "Write"
        output report = session "Write again"
        #      ^^^^^^ error[E024] output `report` is already declared; this one replaces it
        "#,
        r#"
        output report = session "Write"
        output review = session "Review"
        "#,
    );
}

/// Outputs: Duplicate output name (in another body). E024
#[test]
fn output_duplicate_output_name_in_another_body() {
    check_rule(
        r#"
        if **the draft is good**:
          output report = session "Publish"
        else:
          output report = session "Write again"
        #        ^^^^^^ error[E024] output `report` is already declared; this one replaces it
        "#,
        r#"
        output report = session "Write"
        output review = session "Review"
        "#,
    );
}

/// Outputs: Output name conflicts. E128
#[test]
fn output_output_name_conflicts() {
    check_rule(
        r#"
        let report = session "Draft"
        output report = session "Improve"
        #      ^^^^^^ error[E128] output `report` replaces the variable of the same name; rename one of them
          context: report
        "#,
        r#"
        let draft = session "Draft"
        output report = session "Improve"
          context: draft
        "#,
    );
}

/// Program invocation: Unknown program. E025
#[test]
fn invocation_unknown_program() {
    check_rule(
        r#"
        output found = research(topic: "tides")
        #              ^^^^^^^^ error[E025] program `research` is not imported
        "#,
        IMPORT,
    );
}

/// Program invocation: Missing required input. E026
#[test]
fn invocation_missing_required_input() {
    check_rule(
        r#"
        //- /main.prose
        use "./research.prose"

        output found = research()
        #              ^^^^^^^^ error[E026] missing input `topic` in the call of `research`
        //- /research.prose
        input topic: "What to research"

        output findings = session "Research {topic}"
        "#,
        r#"
        //- /main.prose
        use "./research.prose"

        output found = research(topic: "tides")
        //- /research.prose
        input topic: "What to research"

        output findings = session "Research {topic}"
        "#,
    );
}

/// Program invocation: Unknown input name. E027
#[test]
fn invocation_unknown_input_name() {
    check_rule(
        r#"
        //- /main.prose
        use "./research.prose"

        output found = research(topic: "tides", depth: "shallow")
        #                                       ^^^^^ error[E027] `research` has no input `depth`
        //- /research.prose
        input topic: "What to research"

        output findings = session "Research {topic}"
        "#,
        r#"
        //- /main.prose
        use "./research.prose"

        output found = research(topic: "tides")
        //- /research.prose
        input topic: "What to research"

        output findings = session "Research {topic}"
        "#,
    );
}

/// Program invocation: Unknown output property. E028
#[test]
fn invocation_unknown_output_property() {
    check_rule(
        r#"
        //- /main.prose
        use "./research.prose"

        let found = research(topic: "tides")
        session "Sum up"
          context: found.sources
        #                ^^^^^^^ error[E028] `research` has no output `sources`
        //- /research.prose
        input topic: "What to research"

        output findings = session "Research {topic}"
        "#,
        r#"
        //- /main.prose
        use "./research.prose"

        let found = research(topic: "tides")
        session "Sum up"
          context: found.findings
        //- /research.prose
        input topic: "What to research"

        output findings = session "Research {topic}"
        "#,
    );
}
