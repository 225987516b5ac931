//! One mistake, one diagnostic: what follows from a mistake is not reported beside it.

use crate::support::{check, check_fixes, unmarked};
use expect_test::expect;

#[test]
fn what_a_misspelt_name_was_meant_for_is_not_unused() {
    check(
        r#"
        input topic: "What to write about"
        session "Write about {topci}"
        #                     ^^^^^ error[E120] did you mean `topic`?
        "#,
    );
    check(
        r#"
        agent writer:
          prompt: "Write"
        session: wirter
        #        ^^^^^^ error[E007]
        session "Sum up"
          context: missing
        #          ^^^^^^^ error[E119]
        let draft = session "Write"
        #   ^^^^^ hint[W115] `draft` is never read
        "#,
    );
}

#[test]
fn the_second_declaration_of_an_input_is_not_unused_too() {
    check(
        r#"
        input topic: "What to write about"
        #     ^^^^^ warning[W119]
        input topic: "What else to write about"
        #     ^^^^^ error[E021]
        session "Write"
        "#,
    );
}

#[test]
fn an_output_made_from_a_misspelt_variable_is_made_from_the_variable() {
    check(
        r#"
        let review = session "Review"
        output review = reviwe
        #               ^^^^^^ error[E119]
        "#,
    );
    check(
        r#"
        let review = session "Review"
        output review = session "Review again"
        #      ^^^^^^ warning[E128]
        "#,
    );
}

#[test]
fn a_session_of_a_misspelt_agent_starts_its_memory() {
    check(
        r#"
        agent captain:
          prompt: "Lead"
          persist: true
        session: captian
        #        ^^^^^^^ error[E007]
        resume: captain
        "#,
    );
}

#[test]
fn a_line_that_is_indented_too_far_may_bind_its_name() {
    check(
        r#"
        parallel:
          a = session "One"
            b = session "Two"
        #   ^ error[E101]
        session "Sum up"
          context: { a, b }
        "#,
    );
    check(
        r#"
        block search(topic):
          found = session "Search {topic}"
        block sum-up(topic):
          let topics = do search(topic)
            found = session "Search {topic}"
        #<^^^^ error[E101]
          session "Sum up"
            context: { found, topics }
        do sum-up("tides")
        "#,
    );
}

#[test]
fn a_clause_without_its_statement_may_use_what_it_names() {
    check(
        r#"
        input mode: "How to go on"
        session "Go on"
        else:
        #<^^^^ error[E104]
          throw "Unknown mode {mode}"
        "#,
    );
}

#[test]
fn a_block_with_a_broken_header_may_have_any_parameters() {
    check(
        r#"
        block search(topic:
        #                  | error[E005]
          session "Search {topic}"
        do search("tides")
        "#,
    );
    check(
        r#"
        block search topic, place):
        #            ^^^^^ error[E004]
          session "Search {topic} in {place}"
        do search("tides", "Brest")
        "#,
    );
    check(
        r#"
        block searchtopic, place):
        #                ^ error[E004]
          session "Search {topic} in {place}"
        do search("tides", "Brest")
        do sum-up()
        #  ^^^^^^ error[E117]
        "#,
    );
}

#[test]
fn an_input_that_has_lost_its_name_may_be_any_that_is_missing() {
    check(
        r#"
        input: "What to write about"
        #<^^^^^ error[E020]
        let subject = session "Choose a subject"
        session "Write about {topic}, and {subjcet}"
        #                                  ^^^^^^^ error[E120] did you mean `subject`?
          context: topic
        session: topic
        #        ^^^^^ error[E007]
        "#,
    );
}

#[test]
fn a_name_in_the_words_of_a_condition_is_used() {
    check(
        r#"
        input strict: "Whether to be strict"

        let draft = session "Write"
        if **strict, and the draft is too long**:
          session "Cut it"
        "#,
    );
}

#[test]
fn a_condition_in_quotes_is_one_without_markers() {
    check(
        r#"
        if "it is nice":
        #  ^^^^^^^^^^^^ error[E113] a condition in words must be between `**`; a text in quotes is always true
          session "Go out"
        "#,
    );
}

#[test]
fn a_value_is_made_before_its_name_is_bound() {
    check(
        r#"
        let plan = session "Improve the plan"
          context: plan
        #          ^^^^ error[E150] is bound by this statement itself, so it is empty here
        output plan
        "#,
    );
    // What is bound in the body of a pipeline is bound there before it is used.
    check(
        r#"
        let reports = ["a", "b"] | pmap:
          let light = session "Look at {item}"
          session "Look closer"
            context: light
        output reports
        "#,
    );
}

#[test]
fn a_condition_in_words_without_its_markers_is_one_mistake() {
    check(
        r#"
        let draft = session "Write"
        if it is nice:
        #  ^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
          session "Go out"
        elif it is late and dark:
        #    ^^^^^^^^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
          session "Sleep"
        loop until work is done (max: 3):
        #          ^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
          session "Work"
        loop while ready:
        #          ^^^^^ error[E119] variable `ready` is not defined; a condition in words must be between `**`
          session "Wait"
        if draft is good:
        #  ^^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
          session "Publish"
        if draft is good and short:
        #  ^^^^^^^^^^^^^^^^^^^^^^^ error[E113] a condition in words must be between `**` markers
          session "Publish"
        if draft is drafd:
        #           ^^^^^ error[E119] did you mean `draft`?
          session "Publish"
        if draft and good:
        #            ^^^^ error[E119] variable `good` is not defined
          session "Publish"
        choice which:
        #      ^^^^^ error[E119] variable `which` is not defined; a condition in words must be between `**`
          option "a":
            session "Do a"
        "#,
    );
}

#[test]
fn what_is_written_as_in_another_language_is_one_mistake() {
    check(
        r#"
        agent "writer":
        #     ^^^^^^^^ error[E005] an agent name must not be quoted
          prompt: "Write"
          skills:
            - web
        #   ^ error[E108] the items of a list must be in brackets, separated by commas: `[a, b]`
        let topic = None
        #           ^^^^ error[E119] `None` is not defined; did you mean `null`?
        let topics = session: writer
        output texts = topics | map(each):
        #                          ^^^^^^ error[E116]
          session "Write about {each}, {topic}"
        "#,
    );
    check(
        r#"
        block greet(name: string):
        #               ^^^^^^^^ error[E108] parameters have no types
          session "Greet {name}"
        do greet("Ann")
        for person in ["a", "b"]:
        session "Greet {person}"
        #<^^^^^^^ error[E101] the body of `for` must be indented two spaces deeper than its header

        parallel:
        a = session "Greet Ann"
        #<^ error[E101] the body of `parallel` must be indented two spaces deeper than its header
        b = session "Greet Bob"

        session "Sum up"
          context: [a, b]
        "#,
    );
}

#[test]
fn a_session_of_a_variable_gets_it_in_a_text() {
    check_fixes(
        "let p = \"Say hello\"\nsession p\n",
        expect![[r#"
            Interpolate the variable in a text:
            let p = "Say hello"
            session "{p}"
        "#]],
    );
    check(
        r#"
        input p: "What to do"
        session p
        #       ^ error[E003] `p` is a variable; interpolate it in a text: `session "{p}"`
        let unread = session "Say hello"
        #   ^^^^^^ hint[W115] `unread` is never read
        "#,
    );
    // An agent of that name is what the colon leads to.
    check_fixes(
        "agent p:\n  prompt: \"Greet\"\nsession p\n",
        expect![[r#"
            Insert `:`:
            agent p:
              prompt: "Greet"
            session: p
        "#]],
    );
}

#[test]
fn the_comment_above_a_definition_goes_with_it() {
    check_fixes(
        "# Unrelated.\n\n# Greets.\n# Twice.\nblock greet:\n  session \"Say hello\"\nsession \"Sum up\"\n",
        expect![[r##"
            Remove the block `greet`:
            # Unrelated.

            session "Sum up"
        "##]],
    );
}

#[test]
fn what_is_never_reached_is_left_to_a_person() {
    let (_, found) = unmarked("output session \"oops\"\nsession \"Work\"\n");
    let [diagnostic] = found.as_slice() else { panic!("one diagnostic is wanted: {found:#?}") };
    assert_eq!(diagnostic.fix, None);
    assert_eq!(diagnostic.other_fixes.len(), 1);
}

#[test]
fn very_long_names_are_not_repeated() {
    let name = "x".repeat(100_000);
    for program in [
        format!("session: {name}\n"),
        format!("session \"{{{name}}}\"\n"),
        format!("do {name}(1)\n"),
        format!("let {name} = session \"a\"\nlet {name} = session \"b\"\n"),
        format!("agent {name}:\n  prompt: \"a\"\n"),
        format!("use \"{name}\"\n"),
        format!("session \"a\"\n  model: {name}\n"),
        format!("session \"a\"\n  skills: [\"{name}\"]\n"),
        format!("session \"a\"\n  {name}: 1\n"),
        format!("{name} 1\n"),
    ] {
        let (_, found) = unmarked(&program);
        assert!(!found.is_empty());
        for diagnostic in found {
            let titles = diagnostic.fix.iter().chain(&diagnostic.other_fixes).map(|fix| &fix.title);
            let related = diagnostic.related.iter().map(|related| &related.message);
            for text in titles.chain(related).chain([&diagnostic.message]) {
                assert!(text.len() < 1000, "{} has {} bytes", diagnostic.code, text.len());
            }
        }
    }
}

#[test]
fn a_string_that_goes_on_below_is_one_mistake() {
    check_fixes(
        "let x = \"a\nb c\n  d\"\nsession \"{x}\"\n",
        expect![[r#"
            Change to `"""`:
            let x = """a
            b c
              d"""
            session "{x}"
        "#]],
    );
    // A line that is a word alone, and one that starts like a statement.
    check_fixes(
        "let x = \"a\nword\n  sesion d\"\nsession \"{x}\"\n",
        expect![[r#"
            Change to `"""`:
            let x = """a
            word
              sesion d"""
            session "{x}"
        "#]],
    );
    // Here the second line is a statement, and each string lacks its own end.
    check(
        r#"
        session "a
        #       ^^ error[E001] unterminated string; expected a closing `"`
        session "b
        #       ^^ error[E001] unterminated string; expected a closing `"`
        "#,
    );
}
