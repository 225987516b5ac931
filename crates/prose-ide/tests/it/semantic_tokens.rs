//! What each piece of text is highlighted as.

use crate::support::{load, samples};
use expect_test::{Expect, expect};
use prose_fixture::Fixture;
use prose_fixture::time::processor_time;
use prose_ide::semantic_tokens::{Modifiers, SemanticToken, TokenKind, semantic_tokens, semantic_tokens_in};
use prose_syntax::{TextRange, TextSize};

/// Each line of the first file that has tokens, and its tokens.
#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let fixture = Fixture::parse(fixture);
    let (host, files) = load(&fixture);
    let text = &fixture.files[0].text;
    let tokens = semantic_tokens(host.db(), files[0]);
    assert_sound(text, &tokens);
    let mut shown = String::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let of_line: Vec<String> = tokens
            .iter()
            .filter(|token| (start..end).contains(&token.range.start().into()))
            .map(|token| format!("{} `{}`", name(token), &text[token.range]))
            .collect();
        if !of_line.is_empty() {
            shown += &(of_line.join("  ") + "\n");
        }
        start = end;
    }
    expected.assert_eq(&shown);
}

fn name(token: &SemanticToken) -> String {
    let names = Modifiers::NAMES.iter().enumerate();
    let modifiers: String = names
        .filter(|(bit, _)| token.modifiers.bits() & (1 << bit) != 0)
        .map(|(_, name)| format!(".{name}"))
        .collect();
    format!("{}{modifiers}", token.kind.name())
}

#[track_caller]
fn assert_sound(text: &str, tokens: &[SemanticToken]) {
    for pair in tokens.windows(2) {
        assert!(pair[0].range.end() <= pair[1].range.start(), "{pair:?}");
    }
    for token in tokens {
        assert!(!token.range.is_empty(), "{token:?}");
        assert!(!text[token.range].contains(['\n', '\r']), "{token:?}");
    }
}

#[test]
fn definitions_and_uses_have_the_kind_of_what_they_name() {
    check(
        r#"
        use "./lib.prose" as lib
        input topic: "What to look at"
        const limit = 3
        agent writer:
          model: opus
          persist: project
          permissions:
            bash: deny
            read: ["docs/**"]
        block review(text):
          return session: writer
            prompt: "Review {text} on {topic}"
        let draft = do review(topic)
        draft = lib(about: draft)
        output report = draft.summary
        "#,
        expect![[r#"
            keyword `use`  string `"./lib.prose"`  keyword `as`  namespace.declaration `lib`
            keyword `input`  parameter.declaration.readonly `topic`  string `"What to look at"`
            keyword `const`  variable.declaration.readonly `limit`  operator `=`  number `3`
            keyword `agent`  class.declaration.persistent `writer`
            property `model`  enumMember `opus`
            property `persist`  enumMember `project`
            property `permissions`
            property `bash`  enumMember `deny`
            property `read`  string `"docs/**"`
            keyword `block`  function.declaration `review`  parameter.declaration `text`
            keyword `return`  keyword `session`  class.persistent `writer`
            property `prompt`  string `"Review `  parameter `text`  string ` on `  parameter.readonly `topic`  string `"`
            keyword `let`  variable.declaration `draft`  operator `=`  keyword `do`  function `review`  parameter.readonly `topic`
            variable.modification `draft`  operator `=`  namespace `lib`  parameter `about`  variable `draft`
            keyword `output`  variable.declaration `report`  operator `=`  variable `draft`  property `summary`
        "#]],
    );
}

#[test]
fn braces_around_a_name_are_highlighted_and_others_are_text() {
    check(
        r#"
        let found = session "Look"
        session """
          Use {found.first[0]} and {slug}
          of {found}
        """
        session "No {unknown} here\n"
        if **{found} says {so}**:
          session "Go"
        "#,
        expect![[r#"
            keyword `let`  variable.declaration `found`  operator `=`  keyword `session`  string `"Look"`
            keyword `session`  string `"""`
            string `Use `  variable `found`  property `first`  number `0`  string ` and `  string.unresolved `{slug}`
            string `of `  variable `found`
            string `"""`
            keyword `session`  string `"No `  string.unresolved `{unknown}`  string ` here`  escapeSequence `\n`  string `"`
            keyword `if`  regexp `**`  variable `found`  regexp ` says `  regexp.unresolved `{so}`  regexp `**`
            keyword `session`  string `"Go"`
        "#]],
    );
}

#[test]
fn loop_variables_cannot_be_changed_and_writes_are_marked() {
    check(
        r#"
        let xs = []
        for x, i in xs:
          xs = xs + [x]
        repeat 3 as n:
          session "Round {n}"
        let all = xs | reduce(sum, one):
          session "Add"
            context: [sum, one]
        try:
          session "Try"
        catch as problem:
          throw "no: {problem}"
        "#,
        expect![[r#"
            keyword `let`  variable.declaration `xs`  operator `=`
            keyword `for`  variable.declaration.readonly `x`  variable.declaration.readonly `i`  keyword `in`  variable `xs`
            variable.modification `xs`  operator `=`  variable `xs`  operator `+`  variable.readonly `x`
            keyword `repeat`  number `3`  keyword `as`  variable.declaration.readonly `n`
            keyword `session`  string `"Round `  variable.readonly `n`  string `"`
            keyword `let`  variable.declaration `all`  operator `=`  variable `xs`  operator `|`  keyword `reduce`  variable.declaration `sum`  variable.declaration.readonly `one`
            keyword `session`  string `"Add"`
            property `context`  variable `sum`  variable.readonly `one`
            keyword `try`
            keyword `session`  string `"Try"`
            keyword `catch`  keyword `as`  variable.declaration `problem`
            keyword `throw`  string `"no: `  variable `problem`  string `"`
        "#]],
    );
}

#[test]
fn keywords_are_names_where_the_parser_takes_them_for_names() {
    check(
        r#"
        input context: "What for"
        let map = context
        session "Go" # and come back
          context: { map, do: 3 }
        "#,
        expect![[r#"
            keyword `input`  parameter.declaration.readonly `context`  string `"What for"`
            keyword `let`  variable.declaration `map`  operator `=`  parameter.readonly `context`
            keyword `session`  string `"Go"`  comment `# and come back`
            property `context`  variable `map`  property `do`  number `3`
        "#]],
    );
}

#[test]
fn strategies_and_policies_are_words_with_and_without_quotes() {
    check(
        r#"
        parallel ("first", on-fail: "continue", count: 2):
          session "A"
            retry: 2
            backoff: "linear"
            timeout: 120s
        loop until **done** (max: 5) as i:
          session "B" -> session "C"
        "#,
        expect![[r#"
            keyword `parallel`  string `"`  enumMember `first`  string `"`  property `on-fail`  string `"`  enumMember `continue`  string `"`  property `count`  number `2`
            keyword `session`  string `"A"`
            property `retry`  number `2`
            property `backoff`  string `"`  enumMember `linear`  string `"`
            property `timeout`  number `120s`
            keyword `loop`  keyword `until`  regexp `**done**`  property `max`  number `5`  keyword `as`  variable.declaration.readonly `i`
            keyword `session`  string `"B"`  operator `->`  keyword `session`  string `"C"`
        "#]],
    );
}

#[test]
fn a_line_that_is_not_understood_has_no_keywords() {
    check(
        "gate review if so for all # wait\nsession \"Go\"\n",
        expect![[r#"
            comment `# wait`
            keyword `session`  string `"Go"`
        "#]],
    );
}

#[test]
fn the_tokens_of_a_range_are_those_of_the_file_in_its_lines() {
    for (path, text) in samples() {
        for text in [text.clone(), text.replace('\n', "\r\n"), text.replace('\n', "\r")] {
            let fixture = Fixture::parse(&format!("//- /main.prose\n{text}"));
            let (host, files) = load(&fixture);
            let text = &fixture.files[0].text;
            let all = semantic_tokens(host.db(), files[0]);
            assert_sound(text, &all);
            for (start, end) in [(0, text.len()), (10, 11), (text.len() / 3, text.len() / 2), (0, 0)] {
                let range = TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32));
                let found = semantic_tokens_in(host.db(), files[0], range);
                let is_line_break = |c: char| matches!(c, '\n' | '\r');
                let line_start = text[..start].rfind(is_line_break).map_or(0, |at| at + 1);
                let line_end = text[end..].find(is_line_break).map_or(text.len(), |at| end + at);
                let lines: Vec<SemanticToken> = all
                    .iter()
                    .filter(|token| (line_start..line_end).contains(&usize::from(token.range.start())))
                    .copied()
                    .collect();
                assert_eq!(found, lines, "{} {range:?}", path.display());
            }
        }
    }
}

#[test]
fn a_range_after_the_end_has_no_tokens() {
    let (host, files) = load(&Fixture::parse("session \"Go\"\n"));
    let range = TextRange::new(TextSize::new(500), TextSize::new(600));
    assert_eq!(semantic_tokens_in(host.db(), files[0], range), []);
}

#[test]
fn kinds_are_numbered_in_the_order_of_the_legend() {
    for (number, kind) in TokenKind::ALL.iter().enumerate() {
        assert_eq!(*kind as usize, number);
    }
    assert_eq!(Modifiers::UNRESOLVED.bits(), 1 << (Modifiers::NAMES.len() - 1));
}

#[test]
fn the_tokens_of_a_range_cost_little_in_a_long_file() {
    let part = "agent writer-N:\n  model: opus\n  prompt: \"Write about {topicN}\"\n\
                let topicN = session: writer-N\n  prompt: \"\"\"\n    One of {topicN}\n    and {more}\n  \"\"\"\n\
                # a comment\n";
    let text: String = (0..50_000 / 9).map(|n| part.replace('N', &n.to_string())).collect();
    let (host, files) = load(&Fixture::parse(&text));
    let time = |what: &str, run: &dyn Fn() -> usize| {
        // The first run does the analysis.
        run();
        // A page that is read for the first time or a migration to another core costs once, so the least of several times counts.
        let time = (0..5).map(|_| processor_time(run)).min().unwrap();
        println!("{what}: {time:?}");
        time
    };
    let full = time("full", &|| semantic_tokens(host.db(), files[0]).len());
    let range = TextRange::at(TextSize::new(text.len() as u32 / 2), TextSize::new(2_000));
    let part = time("range", &|| semantic_tokens_in(host.db(), files[0], range).len());
    assert!(part * 20 < full, "{part:?} of {full:?}");
}
