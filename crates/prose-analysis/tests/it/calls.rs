//! Calls: what is given to blocks and programs, and what is taken of the results of programs.

use crate::support::{check, check_fixes_of, check_related_of};
use expect_test::expect;
use prose_syntax::Code;

/// A program next to one with two inputs and two outputs.
fn with_research(main: &str) -> String {
    const RESEARCH: &str = r#"
        //- /research.prose
        input topic: "What to research"
        input depth: "Optional: how deep to go"

        output findings = session "Research {topic}, {depth}"
        output sources = session "List the sources"
        "#;
    format!("\n        //- /main.prose{}{RESEARCH}", main.trim_end())
}

#[test]
fn arguments_of_a_block() {
    check(
        r#"
        block greet(name, time):
          session "Say hello to {name} in the {time}"

        block wave:
          session "Wave"

        do greet("Ann", "morning")
        do greet("Ann")
        #  ^^^^^ warning[W108] block `greet` takes 2 arguments (`name` and `time`), but 1 is given
        do greet("Ann", "morning", "loudly", "twice")
        #                          ^^^^^^^^^^^^^^^^^ warning[W108] block `greet` takes 2 arguments (`name` and `time`), but 4 are given
        do wave("Ann")
        #       ^^^^^ warning[W108] block `wave` takes no arguments, but 1 is given
        let done = do greet()
        #             ^^^^^ warning[W108] block `greet` takes 2 arguments (`name` and `time`), but none is given
        output done
        "#,
    );
}

#[test]
fn names_of_arguments_of_a_block() {
    check(
        r#"
        block greet(name, time):
          session "Say hello to {name} in the {time}"

        do greet(name: "Ann", time: "noon")
        do greet("Ann", time: "noon")
        do greet(nam: "Ann", time: "noon")
        #        ^^^ warning[W142] block `greet` has no parameter `nam`; did you mean `name`?
        do greet(whom: "Ann", "noon")
        #        ^^^^ warning[W142] block `greet` has no parameter `whom`; the argument goes to `name`
        do greet(time: "noon", name: "Ann")
        #        ^^^^ warning[W142] argument `time` is at the position of `name`; other interpreters bind by position
        do greet("Ann", name: "Bob")
        #               ^^^^ warning[W142] argument `name` is at the position of `time`; other interpreters bind by position
        do greet(time: "noon")
        #  ^^^^^ warning[W108] block `greet` takes 2 arguments (`name` and `time`), but 1 is given
        do greet(name: "Ann", loud: true, time: "noon")
        #                     ^^^^^^^^^^ warning[W108] block `greet` takes 2 arguments (`name` and `time`), but 3 are given
        do greet(nam: "Ann")
        #  ^^^^^ warning[W108] block `greet` takes 2 arguments (`name` and `time`), but 1 is given
        #        ^^^ warning[W142] block `greet` has no parameter `nam`; did you mean `name`?
        "#,
    );
}

#[test]
fn named_arguments_are_put_in_order() {
    check_fixes_of(
        Code::W142,
        r#"
        block greet(name, time, mood):
          session "Say hello to {name} in the {time}, {mood}"

        do greet(time: "noon", name: "Ann", mood: "gladly")
        "#,
        expect![[r#"
            Put the arguments in the order of the parameters (guess)
            | do greet(name: "Ann", time: "noon", mood: "gladly")
        "#]],
    );
}

#[test]
fn an_argument_gets_the_name_of_its_parameter() {
    check_fixes_of(
        Code::W142,
        r#"
        block greet(name, time):
          session "Say hello to {name} in the {time}"

        do greet(whom: "Ann", "noon")
        "#,
        expect![[r#"
            Change to `name` (guess)
            | do greet(name: "Ann", "noon")
        "#]],
    );
}

#[test]
fn outputs_of_a_block() {
    check(
        r#"
        block research(topic):
          output finding = session "Research {topic}"
          output source = session "Name the source"

        let found = do research("tides")
        session "Sum up {found.findng}"
        #                      ^^^^^^ warning[E028] `research` has no output `findng`; did you mean `finding`?
          context: [found.finding, found.date]
        #                                ^^^^ warning[E028] `research` has no output `date`; it has `finding` and `source`
        let { finding, sourc } = do research("moons")
        #              ^^^^^ warning[E028] `research` has no output `sourc`; did you mean `source`?
        output all = [finding, sourc]
        "#,
    );
}

/// The result of these blocks may be one value, which has fields of its own (R86).
#[test]
fn results_of_blocks_that_may_be_anything() {
    check(
        r#"
        block one:
          output answer = session "Answer"
        block either:
          if **it is late**:
            output short = session "Answer shortly"
          else:
            output long = session "Answer"
        block early:
          if **it is known**:
            output "known"
          output title = session "Name it"
          output text = session "Write it"
        block none:
          session "Answer"
        let a = do one
        let b = do either
        let c = do early
        let d = do none
        let e = do one
        e = do none
        output all = "{a.url} {b.url} {c.url} {d.url} {e.url}"
        "#,
    );
}

#[test]
fn of_two_blocks_with_one_name_none_is_meant() {
    check(
        r#"
        block greet(name):
          session "Say hello to {name}"

        block greet:
        #     ^^^^^ error[E118] block `greet` is already defined; rename one of them
          session "Say hello"

        do greet("Ann", "Bob")
        "#,
    );
}

#[test]
fn inputs_that_a_program_asks_for() {
    check(&with_research(
        r#"
        use "./research.prose"

        output a = research(topic: "tides")
        output b = research(topic: "tides", depth: "shallow")
        output c = research(depth: "shallow")
        #          ^^^^^^^^ warning[E026] missing input `topic` in the call of `research`
        "#,
    ));
}

#[test]
fn an_input_may_be_optional_in_several_lines() {
    check(
        r#"
        //- /main.prose
        use "./research.prose"

        output a = research()
        //- /research.prose
        input depth: """
          Optional: how deep to go,
            in steps
        """
        input style: ***
          optional, how to write
        ***

        output findings = session "Research {depth}, {style}"
        "#,
    );
}

#[test]
fn an_input_that_may_not_be_asked_for_is_not_missing() {
    check(
        r#"
        //- /main.prose
        use "./ask.prose"

        output a = ask()
        //- /ask.prose
        if **something is unclear**:
          input answer: "What to do"
          output done = session "Do {answer}"
        "#,
    );
}

#[test]
fn a_misspelt_input_is_one_mistake() {
    check(&with_research(
        r#"
        use "./research.prose"

        output a = research(topc: "tides")
        #                   ^^^^ warning[E027] `research` has no input `topc`; did you mean `topic`?
        output b = research(subject: "tides")
        #                   ^^^^^^^ warning[E027] `research` has no input `subject`; did you mean `topic`?
        output c = research(topic: "tides", dept: "shallow")
        #                                   ^^^^ warning[E027] `research` has no input `dept`; did you mean `depth`?
        output d = research(topic: "tides", speed: "high")
        #                                   ^^^^^ warning[E027] `research` has no input `speed`; it has `topic` and `depth`
        "#,
    ));
}

#[test]
fn inputs_are_given_by_name() {
    check(&with_research(
        r#"
        use "./research.prose"
        use "alice/draft"

        output a = research("tides")
        #                   ^^^^^^^ warning[E027] inputs of a program must be passed by name: `topic: …`
        output b = research("tides", "shallow", "fast")
        #                   ^^^^^^^^^^^^^^^^^^^^^^^^^^ warning[E027] inputs of a program must be passed by name: `topic: …, depth: …`
        output c = draft("tides")
        #                ^^^^^^^ warning[E027] inputs of a program must be passed by name: `name: value`
        "#,
    ));
}

#[test]
fn outputs_of_a_result() {
    check(&with_research(
        r#"
        use "./research.prose"

        let found = research(topic: "tides")
        session "Sum up {found.finding}"
        #                      ^^^^^^^ warning[E028] `research` has no output `finding`; did you mean `findings`?
          context: [found.findings, found.sources, found.summary]
        #                                                ^^^^^^^ warning[E028] `research` has no output `summary`; it has `findings` and `sources`
        let { findings, source } = research(topic: "moons")
        #               ^^^^^^ warning[E028] `research` has no output `source`; did you mean `sources`?
        output all = [findings, source, research(topic: "stars").sorces]
        #                                                        ^^^^^^ warning[E028] `research` has no output `sorces`; did you mean `sources`?
        "#,
    ));
}

#[test]
fn a_variable_with_other_values_may_have_any_property() {
    check(&with_research(
        r#"
        use "./research.prose"

        let found = research(topic: "tides")
        if **nothing was found**:
          found = session "Look again"
        output text = found.summary
        "#,
    ));
}

#[test]
fn a_block_may_change_a_variable_of_the_file() {
    check(&with_research(
        r#"
        use "./research.prose"

        let found = research(topic: "tides")
        block again:
          found = session "Look again"
        do again
        output text = found.summary
        "#,
    ));
}

#[test]
fn a_result_without_a_name_may_have_any_property() {
    check(
        r#"
        //- /main.prose
        use "./draft.prose"

        let text = draft()
        output title = text.title
        //- /draft.prose
        output session "Write"
        "#,
    );
}

#[test]
fn a_program_with_a_line_that_is_not_understood_may_declare_anything_on_it() {
    check(
        r#"
        //- /main.prose
        use "./draft.prose"
        #    ^^^^^^^^^^^^^ error[E145] `./draft.prose` has 2 errors, so this program cannot run

        let text = draft(topic: "tides")
        output title = text.title
        //- /draft.prose
        imput topic: "What to write about"
        #<^^^^^ error[E107] unknown statement `imput`; did you mean `input`?
        outptu title = session "Write"
        #<^^^^^^ error[E107] unknown statement `outptu`; did you mean `output`?
        "#,
    );
}

#[test]
fn names_twice_in_one_list() {
    check(&with_research(
        r#"
        use "./research.prose"

        block greet(name, name):
        #                 ^^^^ error[E134] duplicate parameter `name`; rename one of them
          session "Say hello to {name}"
        do greet("Ann", "Bob")

        let { findings, findings } = research(topic: "tides", topic: "moons")
        #               ^^^^^^^^ error[E134] duplicate name `findings`; rename one of them
        #                                                     ^^^^^ error[E134] argument `topic` is already given
        for place, place in findings:
        #          ^^^^^ error[E134] duplicate loop variable `place`; rename one of them
          session "Search {place}"
        output found = findings | reduce(total, total):
        #                                       ^^^^^ error[E134] duplicate name `total`; rename one of them
          session "Add to {total}"
        "#,
    ));
}

#[test]
fn keys_twice_in_an_object() {
    check(
        r#"
        let a = session "One"
        output { a, b: 2, a: 3 }
        #                 ^ warning[W139] duplicate key `a`; this value replaces the first
        "#,
    );
}

#[test]
fn lines_of_a_context_may_have_one_key() {
    check(
        r#"
        session "Read both"
          context:
            file: "a.md"
            file: "b.md"
        "#,
    );
}

#[test]
fn superfluous_arguments_are_removed() {
    check_fixes_of(
        Code::W108,
        r#"
        block greet(name):
          session "Say hello to {name}"

        do greet("Ann", "Bob", "Cid")
        "#,
        expect![[r#"
            Remove the arguments (guess)
            | do greet("Ann")
        "#]],
    );
}

#[test]
fn all_arguments_are_removed() {
    check_fixes_of(
        Code::W108,
        r#"
        block wave:
          session "Wave"

        do wave("Ann")
        "#,
        expect![[r#"
            Remove the argument (guess)
            | do wave()
        "#]],
    );
}

#[test]
fn a_call_shows_the_block() {
    check_related_of(
        Code::W108,
        r#"
        block greet(name):
          session "Say hello to {name}"

        do greet
        "#,
        expect![[r#"
            /main.prose:1 `greet`: the block takes `name`
        "#]],
    );
}

#[test]
fn missing_inputs_are_added() {
    check_fixes_of(
        Code::E026,
        &with_research(
            r#"
        use "./research.prose"

        output a = research()
        "#,
        ),
        expect![[r#"
            Pass `topic` (guess)
            | output a = research(topic: "")
        "#]],
    );
}

#[test]
fn missing_inputs_are_added_after_others() {
    check_fixes_of(
        Code::E026,
        &with_research(
            r#"
        use "./research.prose"

        output a = research(depth: "shallow")
        "#,
        ),
        expect![[r#"
            Pass `topic` (guess)
            | output a = research(depth: "shallow", topic: "")
        "#]],
    );
}

#[test]
fn a_variable_of_the_name_is_given() {
    check_fixes_of(
        Code::E026,
        &with_research(
            r#"
        use "./research.prose"

        input topic: "What to research"
        output a = research()
        session "Write about {topic}"
        "#,
        ),
        expect![[r#"
            Pass `topic` (guess)
            | output a = research(topic: topic)
        "#]],
    );
}

#[test]
fn missing_inputs_are_shown() {
    check_related_of(
        Code::E026,
        &with_research(
            r#"
        use "./research.prose"

        output a = research()
        "#,
        ),
        expect![[r#"
            /research.prose:1 `topic`: `topic` is declared here
        "#]],
    );
}

#[test]
fn inputs_are_named() {
    check_fixes_of(
        Code::E027,
        &with_research(
            r#"
        use "./research.prose"

        output a = research("tides", "shallow")
        "#,
        ),
        expect![[r#"
            Name the inputs (guess)
            | output a = research(topic: "tides", depth: "shallow")
        "#]],
    );
}

#[test]
fn a_misspelt_input_is_changed() {
    check_fixes_of(
        Code::E027,
        &with_research(
            r#"
        use "./research.prose"

        output a = research(topc: "tides")
        "#,
        ),
        expect![[r#"
            Change to `topic` (guess)
            | output a = research(topic: "tides")
        "#]],
    );
}

#[test]
fn an_unknown_input_is_removed() {
    check_fixes_of(
        Code::E027,
        &with_research(
            r#"
        use "./research.prose"

        output a = research(speed: "high", topic: "tides")
        "#,
        ),
        expect![[r#"
            Remove the argument (guess)
            | output a = research(topic: "tides")
        "#]],
    );
}

#[test]
fn a_misspelt_output_is_changed() {
    check_fixes_of(
        Code::E028,
        &with_research(
            r#"
        use "./research.prose"

        let a = research(topic: "tides")
        output b = "{a.source}"
        "#,
        ),
        expect![[r#"
            Change to `sources` (guess)
            | output b = "{a.sources}"
        "#]],
    );
}

#[test]
fn a_second_argument_of_a_name_is_removed() {
    check_fixes_of(
        Code::E134,
        &with_research(
            r#"
        use "./research.prose"

        output a = research(topic: "tides", topic: "moons")
        "#,
        ),
        expect![[r#"
            Remove the argument (guess)
            | output a = research(topic: "tides")
        "#]],
    );
}

#[test]
fn the_first_of_two_names_is_shown() {
    check_related_of(
        Code::E134,
        r#"
        block greet(name, name):
          session "Say hello to {name}"

        do greet("Ann", "Bob")
        "#,
        expect![[r#"
            /main.prose:1 `name`: first given here
        "#]],
    );
}

#[test]
fn the_first_of_two_keys_is_shown() {
    check_related_of(
        Code::W139,
        r#"
        output { a: 1, a: 2 }
        "#,
        expect![[r#"
            /main.prose:1 `a`: first given here
        "#]],
    );
}
