//! Names that are used for what they are not the name of, or before they are the name of anything.

use crate::support::{check, check_fixes, check_related};
use expect_test::expect;

#[test]
fn an_output_is_made_before_its_name_is_bound() {
    check(
        r#"
        output final = session "Sum up"
          context: final
        #          ^^^^^ error[E150] is bound by this statement itself, so it is empty here
        "#,
    );
    // The name was that of a variable before.
    check(
        r#"
        let final = session "Draft"
        output final = session "Sum up"
          context: final
        "#,
    );
}

#[test]
fn an_output_takes_from_the_result_that_its_name_stood_for_before() {
    check(
        r#"
        //- /main.prose
        use "./lib.prose" as lib
        let r = lib(topic: "tides")
        output r = r.resul
        #            ^^^^^ warning[E028] `lib` has no output `resul`; did you mean `result`?
        //- /lib.prose
        input topic: "What to look at"
        output result = session "Look at {topic}"
        "#,
    );
    check(
        r#"
        //- /main.prose
        use "./lib.prose" as lib
        let r = lib(topic: "tides")
        output r = r.result
        //- /lib.prose
        input topic: "What to look at"
        output result = session "Look at {topic}"
        "#,
    );
    // In the second round it is the result of no program.
    check(
        r#"
        //- /main.prose
        use "./lib.prose" as lib
        let r = lib(topic: "tides")
        repeat 2:
          r = r.next
        output r
        //- /lib.prose
        input topic: "What to look at"
        output result = session "Look at {topic}"
        "#,
    );
}

#[test]
fn branches_do_not_see_each_other() {
    check(
        r#"
        parallel:
          a = session "A"
          b = session "B {a}"
        #                 ^ warning[W125] `a` is bound by another branch of this `parallel`, so it is empty here
          session "C"
            context: { a, b }
        #              ^ error[E150] `a` is bound by another branch of this `parallel`, so it is empty here
        #                 ^ error[E150] `b` is bound by another branch of this `parallel`, so it is empty here
        session "Sum up"
          context: { a, b }
        "#,
    );
    check(
        r#"
        block study(topic):
          parallel:
            do:
              let found = session "Research {topic}"
              let checked = session "Check {found}"
            session "Report"
              context: checked
        #              ^^^^^^^ warning[W125] another branch
        do study("tides")
        "#,
    );
}

#[test]
fn branches_see_what_was_bound_before_the_parallel() {
    check(
        r#"
        let a = session "First"
        parallel:
          a = session "A"
          b = session "B {a}"
        session "Sum up"
          context: { a, b }
        "#,
    );
    // The round before may have bound it.
    check(
        r#"
        repeat 3:
          parallel:
            a = session "A"
            b = session "B {a}"
          session "Sum up"
            context: { a, b }
        "#,
    );
    check(
        r#"
        block study(topic):
          parallel:
            a = session "A {topic}"
            b = session "B {a}"
          session "Sum up"
            context: { a, b }
        block start():
          a = session "First"
          do study("tides")
        do start()
        "#,
    );
}

#[test]
fn what_is_used_as_another_kind_of_thing_is_used() {
    check(
        r#"
        agent writer:
          prompt: "Write"
        do writer
        #  ^^^^^^ error[E117] `writer` is an agent, not a block
        "#,
    );
    check(
        r#"
        block writer:
          session "Write"
        session: writer
        #        ^^^^^^ error[E007] `writer` is a block, not an agent
        "#,
    );
    check(
        r#"
        block writer:
          session "Write"
        output text = writer
        #             ^^^^^^ error[E119] `writer` is a block, not a variable
        "#,
    );
    check(
        r#"
        //- /main.prose
        use "./research.prose" as research
        do research(topic: "tides")
        #  ^^^^^^^^ error[E117] `research` is an imported program, not a block
        //- /research.prose
        input topic: "What to look at"
        output result = session "Look at {topic}"
        "#,
    );
    check(
        r#"
        //- /main.prose
        use "./research.prose" as research
        session: research
        #        ^^^^^^^^ error[E007] `research` is an imported program, not an agent; call it with `research(…)`
        //- /research.prose
        input topic: "What to look at"
        output result = session "Look at {topic}"
        "#,
    );
}

#[test]
fn a_variable_is_neither_an_agent_nor_a_block() {
    check(
        r#"
        let draft = session "Write"
        do draft
        #  ^^^^^ error[E117] `draft` is a variable, not a block
        "#,
    );
    check(
        r#"
        let draft = session "Write"
        session: draft
        #        ^^^^^ error[E007] `draft` is a variable, not an agent; pass it to a session with `context: draft`
        "#,
    );
    check(
        r#"
        input draft: "What was written"
        resume: draft
        #       ^^^^^ error[E007] `draft` is a variable, not an agent
        "#,
    );
    check(
        r#"
        for draft in ["a", "b"]:
          do draft
        #    ^^^^^ error[E117] `draft` is a variable, not a block
        "#,
    );
    check(
        r#"
        let draft = session "Write"
        draft()
        #<^^^^^ error[E025] `draft` is a variable, not a program
        "#,
    );
}

#[test]
fn blocks_that_call_each_other_for_ever_are_one_mistake() {
    check(
        r#"
        block one:
          do two
        #    ^^^ warning[W121] infinite recursion: every call of block `one` reaches this call
        block two:
          do three
        block three:
          do one
        block four:
          do four
        #    ^^^^ warning[W121] infinite recursion: every call of block `four` reaches this call
        block five:
          do one
        do one
        do four
        do five
        "#,
    );
}

#[test]
fn the_names_of_a_reduce_are_those_of_a_pipeline() {
    check(
        r#"
        let sum = ["a", "b"] | reduce(acc, piece):
          session "Add {piece} to {acc}"
        session "Sum up {sum} and {piece}"
        #                          ^^^^^ warning[W107] `piece` is a pipeline variable and visible only in its body; keep its value there with `let`
        "#,
    );
}

#[test]
fn the_other_blocks_of_a_recursion_are_related_locations() {
    let block = |n: usize| format!("block b{n}:\n  do b{}\n", (n + 1) % 8);
    let program: String = (0..8).map(block).chain(["do b0\n".to_owned()]).collect();
    check_related(
        &program,
        expect![[r#"
            line 1, `b0`: the block starts here
            line 3, `b1`: `b1` is part of the recursion
            line 5, `b2`: `b2` is part of the recursion
            line 7, `b3`: `b3` is part of the recursion
            line 9, `b4`: `b4` is part of the recursion
            line 11, `b5`: `b5` is part of the recursion
        "#]],
    );
}

#[test]
fn braces_that_fill_in_nothing() {
    check(
        r#"
        let topic = "tides"
        session "Write about {topic"
        #                    ^^^^^^ warning[W145] the closing `}` is missing
        session "Write about {topic.} and {topic[0}"
        #                    ^^^^^^^^ warning[W145] `{topic.}` does not interpolate `topic`; only `.field`, `[0]` and `[name]` may follow the name
        #                                 ^^^^^^^^^ warning[W145]
        session "Write about { topic }, {topic} and {topic + 1}"
        #                    ^^^^^^^^^ warning[W145] `{ topic }` does not interpolate `topic`; remove the spaces between the braces
        #                                           ^^^^^^^^^^^ warning[W145] `{topic + 1}` does not interpolate `topic`; compute the value before with `let`
        session "Give back {topic: string, place}, {topic of it} and { place }"
        "#,
    );
    // The name is not unused as well.
    check(
        r#"
        input topic: "What to write about"
        block write(place):
          session "Write about {topic in { place }"
        #                      ^^^^^^ warning[W145]
        #                                ^^^^^^^^^ warning[W145]
        do write("Brest")
        "#,
    );
    check_fixes(
        "let topic = \"tides\"\nsession \"Write about {topic[0}\"\n",
        expect![[r#"
        Change to `{topic[0]}`:
        let topic = "tides"
        session "Write about {topic[0]}"
    "#]],
    );
}

#[test]
fn the_only_name_that_nothing_uses_is_that_of_the_only_unknown_one() {
    check(
        r#"
        block review(doc):
          session "Review {documnt}"
        #                  ^^^^^^^ error[E120] variable `documnt` is not defined; did you mean the unused `doc`?
        do review("a.md")
        "#,
    );
    check(
        r#"
        input topic: "What to write about"
        session "Write about {subject}"
        #                     ^^^^^^^ error[E120] variable `subject` is not defined; did you mean the unused `topic`?
        "#,
    );
    // It is not known which of two was meant.
    check(
        r#"
        input topic: "What to write about"
        #     ^^^^^ warning[W119]
        input place: "Where it is"
        #     ^^^^^ warning[W119]
        session "Write about {subject}"
        #                     ^^^^^^^ error[E120] variable `subject` is not defined
        "#,
    );
    // A parameter is not known outside of its block, and a variable not above the line that binds it.
    check(
        r#"
        block review(doc):
        #            ^^^ hint[W115]
          session "Review it"
        do review("a.md")
        session "Write about {subject}"
        #                     ^^^^^^^ error[E120]
        "#,
    );
    check(
        r#"
        session "Write about {subject}"
        #                     ^^^^^^^ error[E120]
        let draft = session "Write"
        #   ^^^^^ hint[W115]
        "#,
    );
}
