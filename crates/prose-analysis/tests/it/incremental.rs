//! What an edit makes run again: the queries that ran are counted, not only their results compared.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::statements::parse;
use prose_analysis::{AnalysisHost, Database, Text};
use prose_fixture::Fixture;
use prose_syntax::{TextRange, TextSize};

/// Analyses the files, replaces `old` by `new` in the first one, analyses all again, and compares the number of runs of each query.
#[track_caller]
fn check(files: &str, old: &str, new: &str, expect: Expect) {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let writer = Arc::clone(&log);
    let database = Database::with_log(move |query| writer.lock().unwrap().push(query));
    let mut host = AnalysisHost::with_database(database);
    let fixture = Fixture::parse(files);
    let programs: Vec<_> = fixture
        .files
        .iter()
        .map(|file| host.set_text(Path::new(&file.path), Text::new(&*file.text)))
        .collect();
    for program in &programs {
        host.load_imports(*program, |_| None);
        diagnostics(host.db(), *program);
    }

    let text = fixture.files[0].text.clone();
    let at = text.find(old).expect("the text to replace is there");
    let after = format!("{}{new}{}", &text[..at], &text[at + old.len()..]);
    let range = TextRange::at(TextSize::new(at as u32), TextSize::of(old));
    let before = Arc::clone(parse(host.db(), programs[0]));
    log.lock().unwrap().clear();
    host.set_text(Path::new(&fixture.files[0].path), Text::edited(after, before, range, TextSize::of(new)));
    for program in &programs {
        diagnostics(host.db(), *program);
    }

    let mut runs: BTreeMap<String, usize> = BTreeMap::new();
    for query in log.lock().unwrap().iter() {
        let name = query.split('(').next().unwrap_or(query);
        *runs.entry(name.to_owned()).or_default() += 1;
    }
    let lines: Vec<String> = runs.iter().map(|(query, count)| format!("{query} {count}\n")).collect();
    expect.assert_eq(&lines.concat());
}

const PROGRAM: &str = r#"
    //- /main.prose
    use "./research.prose"

    input topic: "What to write about"

    # Writes.
    agent writer:
      prompt: "Write"

    block improve(text):
      # Once is enough.
      output session: writer
        prompt: "Improve {text}"

    let notes = research(topic: topic)
    let draft = session: writer
      prompt: "Write about {topic}"
      context: notes
    let final = do improve(draft)
    session "Say goodbye"
    output final
    //- /research.prose
    input topic: "What to research"

    output findings = session "Research {topic}"
    //- /other.prose
    use "./main.prose" as main

    output result = main(topic: "tides")
"#;

#[test]
fn a_prompt_concerns_its_statement_alone() {
    check(
        PROGRAM,
        "Write about",
        "Write a lot about",
        expect![[r#"
            check 1
            chunks 1
            diagnostics 1
            error_count 1
            isolated 1
            layout 1
            members 1
            parse 1
            resolutions 1
            summaries 1
        "#]],
    );
}

/// The graph of calls is one of the queries that do not run.
#[test]
fn a_prompt_of_a_block_leaves_the_graph_of_calls_as_it_is() {
    check(
        r#"
        block improve(text):
          output session "Improve {text}"
        block review(text):
          session "Review {text}"
          do improve(text)
        do review("a")
        "#,
        "Review",
        "Review with care",
        expect![[r#"
            check 1
            check_file 1
            chunks 1
            diagnostics 1
            isolated 1
            layout 1
            members 1
            parse 1
            resolutions 1
            single_summary 1
            summaries 1
        "#]],
    );
}

/// A call more is what the graph is made again for.
#[test]
fn a_call_makes_the_graph_of_calls_again() {
    check(
        r#"
        block improve(text):
          output session "Improve {text}"
        block review(text):
          session "Review {text}"
          do improve(text)
        do review("a")
        "#,
        "  do improve(text)",
        "  do improve(text)\n  do improve(\"b\")",
        expect![[r#"
            call_graph 1
            check 1
            check_file 1
            chunks 1
            diagnostics 1
            file_summaries 1
            import_sites 1
            index 1
            isolated 1
            layout 1
            members 1
            parse 1
            resolutions 1
            scope 1
            single_summary 1
            summaries 1
        "#]],
    );
}

#[test]
fn a_prompt_of_an_agent_concerns_the_agent_alone() {
    check(
        PROGRAM,
        "\"Write\"",
        "\"Write well\"",
        expect![[r#"
            check 1
            chunks 1
            diagnostics 1
            error_count 1
            isolated 1
            layout 1
            members 1
            parse 1
            resolutions 1
            single_summary 1
            summaries 1
        "#]],
    );
}

#[test]
fn a_comment_between_statements_concerns_none() {
    check(
        PROGRAM,
        "# Writes.",
        "# Writes anything.",
        expect![[r#"
            chunks 1
            diagnostics 1
            error_count 1
            layout 1
            parse 1
        "#]],
    );
}

#[test]
fn a_comment_in_a_statement_concerns_it_alone() {
    check(
        PROGRAM,
        "# Once is enough.",
        "# Twice is too much.",
        expect![[r#"
            check 1
            check_file 1
            chunks 1
            diagnostics 1
            error_count 1
            isolated 1
            layout 1
            members 1
            parse 1
            resolutions 1
            single_summary 1
            summaries 1
        "#]],
    );
}

#[test]
fn the_name_of_a_block_concerns_its_callers() {
    // The block and the one statement that calls it.
    check(
        PROGRAM,
        "block improve",
        "block polish",
        expect![[r#"
            broken_headers 1
            call_graph 1
            check 1
            check_file 1
            check_imported 1
            chunks 1
            confused 1
            contract 1
            diagnostics 2
            error_count 1
            file_summaries 1
            import_sites 1
            index 1
            isolated 1
            layout 1
            members 1
            named 2
            parse 1
            resolutions 1
            scope 1
            summaries 1
            undefined 1
        "#]],
    );
}

#[test]
fn a_line_above_everything_moves_and_concerns_nothing() {
    check(
        PROGRAM,
        "input topic",
        "session \"First\"\n\ninput topic",
        expect![[r#"
            call_graph 1
            check 1
            check_file 1
            chunks 1
            contract 1
            diagnostics 1
            error_count 1
            file_summaries 1
            import_sites 1
            index 1
            isolated 1
            layout 1
            members 1
            parse 1
            resolutions 1
            scope 1
            summaries 1
        "#]],
    );
}

#[test]
fn an_output_that_no_importer_asks_for_concerns_none_of_them() {
    check(
        PROGRAM,
        "output final",
        "output text = final",
        expect![[r#"
            call_graph 1
            check 1
            check_file 1
            contract 1
            diagnostics 1
            error_count 1
            file_summaries 1
            import_sites 1
            index 1
            inputs 1
            isolated 1
            layout 1
            members 1
            named 1
            parse 1
            resolutions 1
            scope 1
            summaries 1
        "#]],
    );
}

#[test]
fn an_output_concerns_the_importers_that_ask_for_it() {
    check(
        r#"
            //- /research.prose
            output findings = session "Look it up"
            output sources = session "List them"
            //- /asks.prose
            use "./research.prose"
            let found = research()
            session "Sum up {found.findings}"
            //- /asks_for_another.prose
            use "./research.prose"
            let found = research()
            session "Sum up {found.sources}"
        "#,
        "output findings",
        "output results",
        expect![[r#"
            call_graph 1
            check 2
            check_file 1
            chunks 1
            contract 1
            diagnostics 2
            error_count 1
            file_summaries 1
            import_sites 1
            index 1
            inputs 1
            isolated 1
            layout 1
            may_have_output 2
            members 1
            named 1
            parse 1
            resolutions 1
            scope 1
            summaries 1
        "#]],
    );
}

#[test]
fn an_interpolation_concerns_the_name_in_it() {
    check(
        PROGRAM,
        "Say goodbye",
        "Say goodbye to {topic}",
        expect![[r#"
            call_graph 1
            check 1
            check_file 1
            chunks 1
            contract 1
            diagnostics 1
            error_count 1
            file_summaries 1
            import_sites 1
            index 1
            isolated 1
            layout 1
            members 1
            parse 1
            resolutions 1
            scope 1
            summaries 1
        "#]],
    );
}

/// A program of many chunks: what an edit concerns is found again for its chunk, and for no other.
fn long_program() -> String {
    let part = |index: usize| {
        format!(
            r#"
agent reviewer_{index}:
  prompt: "Review part {index}"

let review_{index} = session: reviewer_{index}
  prompt: "Look at {{draft_{index}}}"

session "Sum up {{review_{index}}}"
"#
        )
    };
    let drafts = (0..100).map(|index| format!("let draft_{index} = session \"Write part {index}\"\n"));
    let text: String = drafts.chain((0..100).map(part)).collect();
    format!("//- /main.prose\n{text}")
}

#[test]
fn a_prompt_in_a_long_program_concerns_its_chunk_alone() {
    check(
        &long_program(),
        "Write part 50",
        "Write a part",
        expect![[r#"
        check 1
        chunks 1
        diagnostics 1
        isolated 1
        layout 1
        members 1
        parse 1
        resolutions 1
        summaries 1
    "#]],
    );
}

#[test]
fn a_session_without_a_name_in_a_long_program_concerns_its_chunk_alone() {
    check(
        &long_program(),
        "up {review_50}",
        "up {review_50} in a sentence",
        expect![[r#"
        check 1
        chunks 1
        diagnostics 1
        isolated 1
        layout 1
        members 1
        parse 1
        resolutions 1
        summaries 1
    "#]],
    );
}

#[test]
fn a_name_in_a_long_program_concerns_the_chunks_that_use_it() {
    check(
        &long_program(),
        "let draft_50",
        "let sketch_50",
        expect![[r#"
            broken_headers 1
            call_graph 1
            check 2
            check_file 1
            chunks 1
            confused 1
            diagnostics 1
            file_summaries 1
            has_nameless_input 1
            import_sites 1
            index 1
            isolated 2
            layout 1
            members 1
            parse 1
            resolutions 2
            scope 26
            single_summary 1
            statements 1
            summaries 1
            undefined 1
        "#]],
    );
}

#[test]
fn a_statement_more_in_a_long_program_concerns_its_chunk_alone() {
    check(
        &long_program(),
        "let draft_50",
        "session \"Take a break\"\nlet draft_50",
        expect![[r#"
            call_graph 1
            check 1
            check_file 1
            chunks 1
            diagnostics 1
            file_summaries 1
            import_sites 1
            index 1
            isolated 1
            layout 1
            members 1
            parse 1
            resolutions 1
            scope 1
            summaries 1
        "#]],
    );
}
