//! Properties in the default profile: near misses, fixes and related places.

use std::path::Path;
use std::sync::Arc;

use crate::support::{check, check_fixes, check_related, found};
use expect_test::expect;
use prose_analysis::Text;
use prose_analysis::host::Project;
use prose_syntax::Profile;

#[test]
fn a_misspelt_model_is_one_mistake() {
    check(
        r#"
        session "Say hello"
          model: opsu
        #        ^^^^ error[E008] did you mean `opus`?
        session "Say hello"
          model: Haiku
        #        ^^^^^ error[E008] did you mean `haiku`?
        session "Say hello"
          model: quick
        #        ^^^^^ error[E008] unknown model `quick`; use `sonnet`, `opus` or `haiku`, or a quoted model id
        session "Say hello" (model: vendor/small-1.5, retry: 3)
        #                           ^^^^^^^^^^^^^^^^ error[E008] a model id must be in quotes: `"vendor/small-1.5"`
        session: nobody
        #        ^^^^^^ error[E007]
          model: small:8b
        #        ^^^^^^^^ error[E008] a model id must be in quotes: `"small:8b"`
          retry: 3
        session "Say hello"
          model: "vendor/small"
        session "Say hello"
          model: ""
        #        ^^ error[E008] the model id is empty; use `sonnet`, `opus` or `haiku`
        session "Say hello"
          model: "--dangerously-skip-permissions"
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E148] a model id must not start with `-`; it would be read as an option
        session "Say hello"
          model: 3
        #        ^ error[E137] `model` must be `sonnet`, `opus` or `haiku`, or a quoted model id
        "#,
    );
}

#[test]
fn fixes_of_models() {
    check_fixes(
        "session \"Say hello\"\n  model: opsu\n",
        expect![[r#"
            Change to `opus`:
            session "Say hello"
              model: opus

            Put it in quotes:
            session "Say hello"
              model: "opsu"
        "#]],
    );
    check_fixes(
        "session \"Say hello\"\n  model: vendor/small\n",
        expect![[r#"
            Put it in quotes:
            session "Say hello"
              model: "vendor/small"
        "#]],
    );
}

#[test]
fn models_of_the_settings_are_known() {
    let mut host = prose_analysis::AnalysisHost::default();
    let text = "session \"Say hello\"\n  model: quick\nsession \"Say hello\"\n  model: quikc\n";
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    let models = Arc::new([("quick".into(), "vendor/small".to_owned())].into());
    host.set_project(file, Project { models, ..Project::default() });
    let messages = |host: &prose_analysis::AnalysisHost| {
        let found = found(host, file, Profile::Default);
        found.into_iter().map(|(_, found)| found.message + "\n").collect::<String>()
    };
    expect![[r#"
        unknown model `quikc`; did you mean `quick`?
    "#]]
    .assert_eq(&messages(&host));
    host.set_project(file, Project::default());
    expect![[r#"
        unknown model `quick`; use `sonnet`, `opus` or `haiku`, or a quoted model id
        unknown model `quikc`; use `sonnet`, `opus` or `haiku`, or a quoted model id
    "#]]
    .assert_eq(&messages(&host));
}

#[test]
fn a_property_is_given_once_and_keys_of_a_context_as_often_as_wanted() {
    check(
        r#"
        let plan = session "Plan"
        session "Write"
          context:
            file: plan
            file: plan
          model: opus
          model: opsu
        # ^^^^^ error[E009] property `model` is already set
        agent writer:
          prompt: "Write"
          permissions:
            bash: deny
            bash: allow
        #   ^^^^ error[E009] property `bash` is already set
        session: writer
        "#,
    );
}

#[test]
fn a_property_that_is_given_again_is_removed() {
    let program = "session \"Say hello\"\n  model: opus # the best\n  retry: 3\n  model: haiku\n";
    check_related(
        program,
        expect![[r#"
            line 2, `model`: `model` is first set here
        "#]],
    );
    check_fixes(
        program,
        expect![[r#"
            Remove this `model`:
            session "Say hello"
              model: opus # the best
              retry: 3
        "#]],
    );
    check_fixes(
        "session \"Say hello\" (model: opus, model: haiku)\n",
        expect![[r#"
            Remove this `model`:
            session "Say hello" (model: opus)
        "#]],
    );
    check_fixes(
        "agent a:\n  prompt: \"x\"\n  permissions:\n    bash: deny\n  permissions:\n    read: [\"a\"]\n\nsession: a\n",
        expect![[r#"
            Remove this `permissions`:
            agent a:
              prompt: "x"
              permissions:
                bash: deny

            session: a
        "#]],
    );
}

#[test]
fn an_unknown_property_is_one_mistake_whatever_it_holds() {
    check(
        r#"
        agent writer:
          promt: "Write"
        # ^^^^^ error[E149] did you mean `prompt`?
          persits: true
        # ^^^^^^^ error[E149] did you mean `persist`?
        let notes = session "Gather notes"
        session: writer
          contxt: notes
        # ^^^^^^ error[E149] did you mean `context`?
          modle: gpt
        # ^^^^^ error[E149] did you mean `model`?
          backoff: linear
          retries: 3.5
        # ^^^^^^^ warning[W005] did you mean `retry`?
        resume: writer
          temperature: 0.5
        # ^^^^^^^^^^^ warning[W005] unknown property `temperature`; it has no effect
        "#,
    );
}

#[test]
fn fixes_of_unknown_properties() {
    check_fixes(
        "session \"Say hello\"\n  system: \"You greet\"\n",
        expect![[r#"
            Change to `prompt`:
            session "Say hello"
              prompt: "You greet"
        "#]],
    );
    check_fixes(
        "session \"Say hello\"\n  model: opus\n  temperature: 0.5\n  retry: 3\n",
        expect![[r#"
            Remove `temperature`:
            session "Say hello"
              model: opus
              retry: 3
        "#]],
    );
}

#[test]
fn properties_that_make_no_sense_where_they_stand_are_left_alone() {
    check(
        r#"
        session "Say hello"
          persist: true
          skills: []
        #         ^^ warning[W010]
          timeout: 1.5h
          permissions:
            bash: ask
        agent writer:
          prompt: "Write"
          timeout: 120s
          context: "docs/*.md"
        session: writer
        "#,
    );
}

#[test]
fn values_of_the_wrong_kind() {
    check(
        r#"
        let times = 3
        session "Try"
          prompt: 3
        #         ^ error[E137] `prompt` must be a text in quotes: `prompt: "…"`
          retry: times
          timeout: 5
        #          ^ error[E137] `5` has no unit
          early_exit: "nothing is left"
        #             ^^^^^^^^^^^^^^^^^ error[E137] `early_exit` must be a condition: `early_exit: **nothing is left to do**`
        session "Try"
          prompt: ["a", "b"]
        #         ^^^^^^^^^^ error[E137] `prompt` must be a text in quotes: `prompt: "…"`
          retry: true
        #        ^^^^ error[E137] `retry` must be a number of retries, such as `retry: 3`
          timeout: "x"
        #          ^^^ error[E137] without quotes
          early_exit: 3
        #             ^ error[E137] `early_exit` must be a condition: `early_exit: **nothing is left to do**`
        session "Try"
          model:
        # ^^^^^ error[E137] `model` must be `sonnet`, `opus` or `haiku`, or a quoted model id
            name: opus
          retry: 3
          timeout: 0s
        #          ^^ error[E137] longer than 0
        session "Try"
          retry: 3s
        #        ^^ error[E137] `retry` must be a number of retries, such as `retry: 3`
          timeout: -5s
        #          ^^^ error[E137] `timeout` must be a duration with a unit, such as `90s`, `15m` or `2h`
          backoff: 2s
        #          ^^ error[E130] `backoff` must be `linear` or `exponential`; set the wait with `run.backoff-ms` in `prose.toml`
        "#,
    );
}

#[test]
fn fixes_of_values() {
    check_fixes(
        "session \"Try\"\n  retry: \"3\"\n",
        expect![[r#"
            Change to `3`:
            session "Try"
              retry: 3
        "#]],
    );
    check_fixes(
        "session \"Try\"\n  timeout: 5\n",
        expect![[r#"
            Change to `5s`:
            session "Try"
              timeout: 5s
        "#]],
    );
    check_fixes(
        "session \"Try\"\n  timeout: \"90s\"\n",
        expect![[r#"
            Change to `90s`:
            session "Try"
              timeout: 90s
        "#]],
    );
    check_fixes(
        "session \"Try\"\n  early_exit: \"nothing is left\"\n",
        expect![[r#"
            Change to `**nothing is left**`:
            session "Try"
              early_exit: **nothing is left**
        "#]],
    );
    check_fixes(
        "session \"Try\"\n  retry: 3\n  backoff: \"Expnential\"\n",
        expect![[r#"
            Change to `exponential`:
            session "Try"
              retry: 3
              backoff: "exponential"
        "#]],
    );
    check_fixes(
        "session \"Try\"\n  prompt: 3\n",
        expect![[r#"
            Put it in quotes:
            session "Try"
              prompt: "3"
        "#]],
    );
    check_fixes(
        "session \"Try\"\n  retry: 50\n",
        expect![[r#"
            Change to `10`:
            session "Try"
              retry: 10
        "#]],
    );
}

#[test]
fn kinds_of_memory() {
    check(
        r#"
        agent a:
          prompt: "A"
          persist: projct
        #          ^^^^^^ error[E132] did you mean `project`?
        agent b:
          prompt: "B"
          persist: 3
        #          ^ error[E132] `persist` must be `true`, `false`, `project`, `user` or a path in quotes
        agent c:
          prompt: "C"
          persist: global
        #          ^^^^^^ error[E132] did you mean `user`?
        agent d:
          prompt: "D"
          persist: user
        resume: a
        resume: b
        resume: c
        resume: d
        "#,
    );
}

#[test]
fn skills() {
    check(
        r#"
        import "search" from "./search"
        #<^^^^^^ info[W103]
        agent writer:
          prompt: "Write"
          skills: ["serach", "", "{search}"]
        #           ^^^^^^ info[W007] did you mean `search`?
        #                    ^^ error[E014] the name of a skill must not be empty
        #                          ^^^^^^ error[E120]
        session: writer
          skills:
        # ^^^^^^ error[E013] `skills` must be an array: `skills: ["web-search"]`
            name: search
        "#,
    );
    check_fixes(
        "agent a:\n  prompt: \"x\"\n  skills: web-search\n\nsession: a\n",
        expect![[r#"
            Wrap it in brackets:
            agent a:
              prompt: "x"
              skills: ["web-search"]

            session: a
        "#]],
    );
    check_fixes(
        "use \"a/search\"\nagent a:\n  prompt: \"x\"\n  skills: [\"search\", search]\nsession: a\n",
        expect![[r#"
            Put it in quotes:
            use "a/search"
            agent a:
              prompt: "x"
              skills: ["search", "search"]
            session: a
        "#]],
    );
    check_fixes(
        "session \"Say hello\"\n  skills: []\n  model: opus\n",
        expect![[r#"
            Remove `skills`:
            session "Say hello"
              model: opus
        "#]],
    );
}

#[test]
fn a_skill_uses_its_import() {
    check(
        r#"
        use "alice/search"
        use "alice/unused"
        #    ^^^^^^^^^^^^ hint[W120]
        agent writer:
          prompt: "Write"
          skills: ["search"]
        session: writer
        "#,
    );
}

#[test]
fn what_stood_on_a_line_that_was_not_understood_is_not_missed() {
    check(
        r#"
        agent writer:
          %%%
        # ^ error[E004]
        session: writer
        resume: writer
        agent editor:
          model: opus
        session: editor
          %%%
        # ^ error[E004]
        session "Try"
          %%%
        # ^ error[E004]
          backoff: linear
        "#,
    );
}

#[test]
fn retries() {
    check(
        r#"
        agent once:
          prompt: "Try"
        agent often:
          prompt: "Try"
          retry: 3
        # ^^^^^ warning[W110] `retry` belongs to a session
          backoff: linear
        session: once
          backoff: linear
        # ^^^^^^^ warning[W124] `backoff` has no effect without `retry` here or on agent `once`
        session: often
          backoff: linear
        session: once
          retry: 2
          backoff: none
        "#,
    );
    check_related(
        "agent a:\n  prompt: \"x\"\n  backoff: linear\n  retry: 3\nsession: a\n",
        expect![[r#"
            line 4, `retry`: `retry` belongs to a session too
        "#]],
    );
    check_fixes(
        "session \"Try\"\n  model: opus\n  backoff: linear\n",
        expect![[r#"
            Add `retry: 3`:
            session "Try"
              model: opus
              retry: 3
              backoff: linear

            Remove `backoff`:
            session "Try"
              model: opus
        "#]],
    );
}
