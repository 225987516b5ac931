//! Test files with mistakes.

use std::path::Path;

use expect_test::expect;
use prose_fixture::Fixture;
use prose_syntax::Code;
use prose_test::{Subject, TestFile};

use crate::support::{check_file, check_file_with};

#[test]
fn a_file_without_cases() {
    check_file(expect![[r#"
        # nothing yet
        #<| error[E151] the file has no `[[case]]`; add one with a `name`, answers and `[case.expect]`
    "#]]);
    check_file(expect![[r#"
        program = "main.prose"
        #<| error[E151] the file has no `[[case]]`; add one with a `name`, answers and `[case.expect]`
    "#]]);
    check_file(expect![[r#"
        case = []
        #      ^^ error[E151] the file has no case; add one with the header `[[case]]`
    "#]]);
    check_file(expect![[r#"
        [case]
        #^^^^ error[E151] a case must start with a header in double brackets: `[[case]]`
        name = "one"
    "#]]);
    check_file(expect![[r#"
        case = 3
        #<^^^^ error[E151] a case must start with a header in double brackets: `[[case]]`
        programm = "main.prose"
        #<^^^^^^^^ error[E151] a test file has no `programm`; did you mean `program`? (fix: Change to `program`)
    "#]]);
}

#[test]
fn unknown_keys() {
    check_file(expect![[r#"
        [[case]]
        #<^^^^^^^^ error[E151] this case has no name; add `name = "…"`
        nmae = "one"
        #<^^^^ error[E151] a `[[case]]` has no `nmae`; did you mean `name`? (fix: Change to `name`)
        output = "x"
        #<^^^^^^ error[E151] a `[[case]]` has no `output`; the keys are `name`, `inputs`, `recorded`, `harness`, `max-cost`, `model`, `timeout`, `repeat`, `at-least`, `skip`, `matrix`, `expect`, `session`, `condition`, `choice`, `extract`, `summary`, `input`, `memory`, `unmatched`
        [[case.sesion]]
        #      ^^^^^^ error[E151] a `[[case]]` has no `sesion`; did you mean `session`?
        reply = "x"
        [[case.session]]
        agnet = "x"
        #<^^^^^ error[E151] a `[[case.session]]` has no `agnet`; did you mean `agent`?
        reply = "x"
        [case.expect]
        output.report = "x"
        #<^^^^^^ error[E151] `[case.expect]` has no `output`; did you mean `outputs`?
        sessions = { counts = 2 }
        #            ^^^^^^ error[E151] `sessions` has no `counts`; did you mean `count`? (fix: Change to `count`)
        status = "complete"
        #        ^^^^^^^^^^ error[E151] `status` must be one of "completed", "failed", "interrupted", "waiting"; did you mean "completed"?
        inputs = { a = 1 }
        #<^^^^^^ error[E151] `[case.expect]` has no `inputs`; move it to a `[[case]]`
        outputs.report = { containss = "a" }
        #                  ^^^^^^^^^ error[E151] a comparison has no `containss`; did you mean `contains`? (fix: Change to `contains`)
        [[case.expect.session]]
        label = "x"
        prompts = { contains = "a" }
        #<^^^^^^^ error[E151] a `[[case.expect.session]]` has no `prompts`; did you mean `prompt`? (fix: Change to `prompt`)
    "#]]);
}

#[test]
fn cases_need_names_of_their_own() {
    check_file(expect![[r#"
        [[case]]
        #<^^^^^^^^ error[E151] this case has no name; add `name = "…"`
        [[case]]
        name = ""
        #      ^^ error[E151] the name of a case must not be empty
        [[case]]
        #<^^^^^^^^ error[E151] the name of a case must not be empty
        name = 3
        #      ^ error[E151] `name` must be a text in quotes, not `3`
        [[case]]
        name = "one"
        [[case]]
        name = "one"
        #      ^^^^^ error[E151] case `one` is already defined; names are unique in a file
    "#]]);
}

#[test]
fn values_of_another_type() {
    check_file(expect![[r#"
        program = 3
        #         ^ error[E151] `program` must be a text in quotes, not `3`
        [[case]]
        name = "one"
        inputs = "tides"
        #        ^^^^^^^ error[E151] `inputs` must be a table such as `{ topic = "tides" }`, not `"tides"`
        timeout = "soon"
        #         ^^^^^^ error[E151] `timeout` must be a duration such as "500ms", "30s" or "5m", not `"soon"`
        repeat = 0
        #        ^ error[E151] `repeat` must be a whole number from 1 to 10000, not `0`
        at-least = 2
        #          ^ error[E151] `at-least` is more than the 1 run of `repeat`
        skip = true
        #      ^^^^ error[E151] `skip` must be a text in quotes, not `true`
        matrix = { inputs = { a = [] }, model = "haiku" }
        #                         ^^ error[E151] the list `a` must not be empty
        #                                       ^^^^^^^ error[E151] `model` must be a list, not `"haiku"`
        [[case.session]]
        reply = 3
        #       ^ error[E151] `reply` must be a text in quotes, not `3`
        [case.expect]
        outputs = "x"
        #         ^^^ error[E151] `outputs` must be a table of names and values, not `"x"`
        sessions = -1
        #          ^^ error[E151] `sessions` must be a whole number from 0, or a table such as `{ at-least = 1, at-most = 3 }`, not `-1`
        branches = "a"
        #          ^^^ error[E151] `branches` must be a list of texts in quotes, not `"a"`
        iterations = { at-least = 3, at-most = 2 }
        #            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E151] no number is at least 3 and at most 2
        errors = "x"
        #        ^^^ error[E151] `errors` must be a list, not `"x"`
        warnings = [{}]
        #           ^^ error[E151] `warnings` is compared with nothing; add `equals`, `contains`, `excludes`, `matches`, `schema`, `judge`
        max-cost = "much"
        #          ^^^^^^ error[E151] `max-cost` must be an amount in US dollars such as 0.5, not `"much"`
        max-tokens = 1.5
        #            ^^^ error[E151] `max-tokens` must be a whole number from 0, not `1.5`
        files = ["../a.md", "/etc/passwd", "~/a", ""]
        #        ^^^^^^^^^ error[E151] `../a.md` is not a path in the project, such as "docs/report.md"
        #                   ^^^^^^^^^^^^^ error[E151] `/etc/passwd` is not a path in the project, such as "docs/report.md"
        #                                  ^^^^^ error[E151] `~/a` is not a path in the project, such as "docs/report.md"
        #                                         ^^ error[E151] `` is not a path in the project, such as "docs/report.md"
    "#]]);
}

#[test]
fn impossible_expectations() {
    check_file(expect![[r#"
        [[case]]
        name = "one"
        repeat = 2
        at-least = 3
        #          ^ error[E151] `at-least` is more than the 2 runs of `repeat`
        [[case.session]]
        reply = "x"
        [case.expect]
        status = "completed"
        error = "x"
        #<^^^^^ error[E151] only a failed run ends with an error; set `status = "failed"` or remove `error`
        errors = []
        #        ^^ error[E151] a run without errors cannot end with `error`; remove one of them
        outputs.a = { matches = "(" }
        #                       ^^^ error[E151] `matches` is not a valid regular expression: unclosed group
        outputs.b = { schema = { type = "objekt" } }
        #                      ^^^^^^^^^^^^^^^^^^^ error[E151] this is not a valid JSON schema: "objekt" is not valid under any of the schemas listed in the 'anyOf' keyword
        outputs.c = {}
        #           ^^ error[E151] `c` is compared with nothing; add `equals`, `contains`, `excludes`, `matches`, `schema`, `judge`
        outputs.d = { contains = "" }
        #                        ^^ error[E151] `contains` must not be empty
        outputs.e = { schema = "missing.json" }
        #                      ^^^^^^^^^^^^^^ error[E151] the schema `/missing.json` does not exist
        sessions = { count = 1, names = ["a", "b"], order = ["a"], never = ["a"] }
        #                    ^ error[E151] `names` has 2 sessions, which is not 1
        #                                                                  ^^^^^ error[E151] session `a` cannot be asked and never be asked
        branches = { taken = ["a"], not-taken = ["a"] }
        #                                       ^^^^^ error[E151] branch `a` cannot be taken and not be taken
        files = { "a.md" = "x" }
        #                  ^^^ error[E151] scripted and recorded answers write no files; list the paths, as in `files = ["a.md"]`
        [[case.expect.session]]
        count = 0
        prompt = "x"
        #<^^^^^^ error[E151] a session that is not asked has no prompt; remove this or `count = 0`
    "#]]);
}

#[test]
fn one_source_of_answers() {
    check_file(expect![[r#"
        [[case]]
        name = "two"
        recorded = "a.prose-run"
        #<^^^^^^^^ error[E151] a case has either entries such as `session` or `recorded`; remove one of them
        [[case.session]]
        reply = "x"
        [[case]]
        name = "script"
        harness = "script"
        #         ^^^^^^^^ error[E151] a script is written as entries of the case, such as `[[case.session]]`
        [[case]]
        name = "unknown"
        harness = "claud"
        #         ^^^^^^^ error[E151] harness `claud` does not exist; did you mean `claude`? (fix: Change to `"claude"`)
        max-cost = 1
        [[case]]
        name = "without a limit"
        harness = "claude"
        #         ^^^^^^^^ error[E151] a case with a harness needs `max-cost`, the most that one run may cost in US dollars, such as `max-cost = 0.5`
        [[case]]
        name = "without a harness"
        max-cost = 1
        #<^^^^^^^^ error[E151] `max-cost` needs a `harness`, since scripted and recorded answers use no model
        model = "haiku"
        #<^^^^^ error[E151] `model` needs a `harness`, since scripted and recorded answers use no model
        [[case]]
        name = "twice"
        harness = "claude"
        #<^^^^^^^ error[E151] the harnesses of this case are in `[case.matrix]`; remove `harness`
        model = "haiku"
        #<^^^^^ error[E151] the models of this case are in `[case.matrix]`; remove `model`
        max-cost = 0
        #          ^ error[E151] `max-cost` must be an amount in US dollars such as 0.5, not `0`
        inputs.a = 1
        [case.matrix]
        inputs.a = [1, 2]
        #      ^ error[E151] input `a` is also in `inputs`; remove one of them
        harness = ["codex"]
        model = ["opus"]
    "#]]);
}

#[test]
fn what_the_program_does_not_have() {
    check_file_with(
        "
        input topic: \"What about\"
        input tone: \"Choose: short or long\"
        output report = session \"Write about {topic} in a {tone} tone\"
        ",
        expect![[r#"
            [[case]]
            name = "one"
            #      ^^^^^ error[E151] input `topic` is required; add `inputs.topic = …` to the case
            #      ^^^^^ error[E151] input `tone` is required; add `inputs.tone = …` to the case
            inputs = { topics = "tides" }
            #          ^^^^^^ error[E151] the program has no input `topics`; did you mean `topic`? (fix: Change to `topic`)
            [case.expect]
            outputs.reprot = "x"
            #                ^^^ error[E151] the program has no output `reprot`; did you mean `report`?
        "#]],
    );
    check_file_with(
        "session \"Say hello\"",
        expect![[r#"
            [[case]]
            name = "one"
            inputs = { topic = "tides" }
            #          ^^^^^ error[E151] the program has no input `topic`; it has none
            [case.expect]
            outputs.text = "x"
            #              ^^^ error[E151] the program has no output `text`; it has none; `value` is its unnamed output
        "#]],
    );
}

#[test]
fn broken_toml_hides_nothing_else() {
    check_file(expect![[r#"
        [[case]]
        name = "one
        #          | error[E151] invalid TOML: invalid basic string, expected `"`
        statuss = "x"
        #<^^^^^^^ error[E151] a `[[case]]` has no `statuss`; the keys are `name`, `inputs`, `recorded`, `harness`, `max-cost`, `model`, `timeout`, `repeat`, `at-least`, `skip`, `matrix`, `expect`, `session`, `condition`, `choice`, `extract`, `summary`, `input`, `memory`, `unmatched`
        [[case]]
        name = two
        #      ^^^ error[E151] `two` is not a TOML value; strings need quotes (fix: Put into quotes)
        [case.expect]
        statuss = "completed"
        #<^^^^^^^ error[E151] `[case.expect]` has no `statuss`; did you mean `status`? (fix: Change to `status`)
    "#]]);
}

#[test]
fn any_text_is_read() {
    let text = "[[case]]\nname = \"one\"\ninputs.a = [1, { b = \"\"\"x\"\"\" }]\n[[case.session]]\nreply = [\"a\"]\n[case.expect]\nsessions = { count = 1 }\noutputs.a = { contains = [\"a\"], matches = \"b\" }\niterations = { \"line 3\" = 2 }\n";
    assert_eq!(TestFile::read(Path::new("a.test.toml"), text).problems, []);
    for start in 0..text.len() {
        for end in [start + 1, start + 7, text.len()] {
            let mut cut = text.to_owned();
            cut.replace_range(start..end.min(text.len()), "");
            let file = TestFile::read(Path::new("a.test.toml"), &cut);
            for problem in &file.problems {
                assert!(usize::from(problem.range.end()) <= cut.len(), "{cut}");
            }
            file.variants();
        }
    }
}

#[test]
fn the_examples_of_the_code_show_it() {
    let problems = |example: &str| {
        let files = Fixture::parse(example).files;
        let text = |name: &str| files.iter().find(|file| file.path == name).unwrap().text.as_str();
        let file = TestFile::read(Path::new("/main.test.toml"), text("/main.test.toml"));
        let subject = Subject::of_text(Path::new("/main.prose"), text("/main.prose"));
        file.problems
            .iter()
            .chain(&file.problems_with(&subject))
            .map(|problem| problem.code)
            .collect::<Vec<_>>()
    };
    assert_eq!(problems(Code::E151.info().wrong), [Code::E151]);
    assert_eq!(problems(Code::E151.info().right), []);
}
