//! Reads of the analysis among edits: what ends them, what has them done again, and what is left at the end.

use std::path::Path;

use proptest::prelude::*;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::Profile;

use super::*;

#[test]
fn an_edit_of_another_document_has_a_read_done_again() {
    let (uri, other) = ("file:///again/a.prose", "file:///again/b.prose");
    with_document(uri, "", async |client| {
        client.open(other, 1, "").await;
        client.ask(1, "test/analyse", uri).await;
        GATES.wait_for_arrivals(uri, 1);
        client.prepend(other, 2, "# new\n").await;
        // The edit is not held up by the read, which ends and comes back.
        assert_eq!(client.result(2, "test/state", other).await[0], 2);
        GATES.wait_for_arrivals(uri, 2);
        GATES.open(uri);
        assert_eq!(client.answer(json!(1)).await["result"], 1);
        client.assert_silent().await;
    });
}

#[test]
fn an_edit_of_the_document_itself_ends_a_read_for_good() {
    let uri = "file:///own/a.prose";
    with_document(uri, "", async |client| {
        client.ask(1, "test/analyse", uri).await;
        GATES.wait_for_arrivals(uri, 1);
        client.prepend(uri, 2, "# new\n").await;
        assert_error(&client.answer(json!(1)).await, -32801, EDITED);
        GATES.open(uri);
        assert_eq!(client.result(2, "test/analyse", uri).await, 2);
        client.assert_silent().await;
    });
}

#[test]
fn a_cancelled_read_is_answered_at_once_and_not_done_again() {
    let (uri, other) = ("file:///taken-back/a.prose", "file:///taken-back/b.prose");
    with_document(uri, "", async |client| {
        client.open(other, 1, "").await;
        client.ask(1, "test/analyse", uri).await;
        GATES.wait_for_arrivals(uri, 1);
        client.notify("$/cancelRequest", json!({ "id": 1 })).await;
        assert_error(&client.answer(json!(1)).await, -32800, "the request was cancelled");
        client.prepend(other, 2, "# new\n").await;
        assert_eq!(client.result(2, "test/state", other).await[0], 2);
        GATES.open(uri);
        client.assert_silent().await;
        assert_eq!(GATES.state.lock().unwrap().waiting[uri], 1);
    });
}

/// Visual Studio Code puts the late command of a lens into the lenses that it has got meanwhile.
#[test]
fn commands_of_lenses_are_not_answered_after_lenses_that_were_requested_later() {
    let (uri, other) = ("file:///lenses/a.prose", "file:///lenses/b.prose");
    with_document(uri, "session \"x\"\n", async |client| {
        client.open(other, 1, "").await;
        for id in 1..=100 {
            client.ask(id, "test/wait", other).await;
        }
        let data = json!({ "lens": "references", "uri": uri, "program": uri, "version": 1 });
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 0 } });
        client.request(101, "codeLens/resolve", json!({ "range": range, "data": data })).await;
        client.ask(102, "textDocument/codeLens", uri).await;
        assert_error(&client.answer(json!(101)).await, -32801, EDITED);
        GATES.open(other);
        assert!(client.answer(json!(102)).await["result"].is_array());
        for id in 1..=100 {
            assert_eq!(client.answer(json!(id)).await["result"], 1);
        }
        client.assert_silent().await;
    });
}

#[test]
fn reads_that_wait_for_a_full_pool_hold_up_no_edit() {
    let (uri, other, third) = ("file:///queue/a.prose", "file:///queue/b.prose", "file:///queue/c.prose");
    with_document(uri, "", async |client| {
        client.open(other, 1, "").await;
        client.open(third, 1, "").await;
        for id in 1..=100 {
            client.ask(id, "test/wait", uri).await;
        }
        client.ask(101, "textDocument/semanticTokens/full", other).await;
        client.prepend(third, 2, "# new\n").await;
        // This needs the analysis to know the edit before.
        client.ask(102, "textDocument/semanticTokens/full", third).await;
        client.prepend(uri, 2, "# new\n").await;
        for id in 1..=100 {
            assert_error(&client.answer(json!(id)).await, -32801, EDITED);
        }
        GATES.open(uri);
        for id in [101, 102] {
            assert!(client.answer(json!(id)).await["result"]["data"].is_array());
        }
        client.assert_silent().await;
    });
}

#[test]
fn among_many_edits_each_read_has_one_answer() {
    let (uri, other) = ("file:///storm/a.prose", "file:///storm/b.prose");
    with_document(uri, "use \"./b.prose\" as b\n\nsession \"{b}\"\n", async |client| {
        client.open(other, 1, "output x = \"1\"\n").await;
        for round in 1..=200_i32 {
            client.ask(round.into(), "textDocument/semanticTokens/full", uri).await;
            client.prepend(other, round + 1, "# new\n").await;
        }
        for round in 1..=200 {
            assert!(client.answer(json!(round)).await["result"]["data"].is_array());
        }
        client.assert_silent().await;
    });
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn uri(document: usize) -> String {
    format!("file:///no/such/folder/{}.prose", NAMES[document])
}

/// Texts that mean different things to those that import them.
fn text(document: usize, kind: usize) -> String {
    let [next, last] = [1, 2].map(|step| NAMES[(document + step) % NAMES.len()]);
    match kind {
        0 => format!(
            "use \"./{next}.prose\" as next\n\nlet x = next(q: \"1\")\noutput one = session \"{{x.one}}\"\n"
        ),
        1 => format!(
            "use \"./{next}.prose\" as next\nuse \"./{last}.prose\" as last\n\noutput two = [next(), last(q: \"1\")]\n"
        ),
        2 => "input q: \"?\"\n\noutput one = session \"{q}\"\n".to_owned(),
        3 => "output two = session \"2\"\n".to_owned(),
        4 => "input q: \"?\noutput one two three\n".to_owned(),
        5 => format!("use \"./{}.prose\" as itself\n\nitself()\n", NAMES[document]),
        _ => String::new(),
    }
}

#[derive(Debug, Clone)]
enum Step {
    Open(usize, usize),
    Replace(usize, usize),
    Insert(usize, u32),
    Close(usize),
    Ask(usize, &'static str),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let document = 0..NAMES.len();
    let method = prop::sample::select(vec![
        "textDocument/semanticTokens/full",
        "textDocument/diagnostic",
        "textDocument/documentSymbol",
    ]);
    let step = prop_oneof![
        2 => (document.clone(), 0..7_usize).prop_map(|(document, kind)| Step::Open(document, kind)),
        4 => (document.clone(), 0..7_usize).prop_map(|(document, kind)| Step::Replace(document, kind)),
        2 => (document.clone(), 0..4_u32).prop_map(|(document, line)| Step::Insert(document, line)),
        1 => document.clone().prop_map(Step::Close),
        2 => (document, method).prop_map(|(document, method)| Step::Ask(document, method)),
    ];
    prop::collection::vec(step, 1..40)
}

/// What a fresh analysis of the open documents reports.
fn expected(open: &HashMap<usize, String>) -> HashMap<String, Vec<String>> {
    let mut host = AnalysisHost::default();
    let path = |document: usize| uri(document).strip_prefix("file://").unwrap().to_owned();
    let files: Vec<_> = open
        .iter()
        .map(|(document, text)| {
            (*document, host.set_text(Path::new(&path(*document)), Text::new(text.as_str())))
        })
        .collect();
    for (_, file) in &files {
        host.load_imports(*file, |_| None);
    }
    let reported = files.iter().map(|(document, file)| {
        let found = diagnostics(host.db(), *file).iter();
        let found = found.filter(|found| found.level(Profile::Default).severity().is_some());
        (uri(*document), found.map(|found| format!("{} {}", found.code, found.message)).collect())
    });
    reported.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_was_edited_the_diagnostics_are_those_of_the_final_texts(steps in steps()) {
        with_server(async |client| {
            client.initialize(json!({})).await;
            let mut open: HashMap<usize, String> = HashMap::new();
            let mut asked = Vec::new();
            for (index, step) in steps.iter().enumerate() {
                let version = i32::try_from(index).unwrap() + 2;
                match *step {
                    Step::Open(document, kind) if !open.contains_key(&document) => {
                        client.open(&uri(document), version, &text(document, kind)).await;
                        open.insert(document, text(document, kind));
                    }
                    Step::Open(document, kind) | Step::Replace(document, kind) => {
                        let Some(now) = open.get_mut(&document) else { continue };
                        *now = text(document, kind);
                        client.change(&uri(document), version, json!([{ "text": &*now }])).await;
                    }
                    Step::Insert(document, line) => {
                        let Some(now) = open.get_mut(&document) else { continue };
                        let at = now.lines().take(line as usize).map(|line| line.len() + 1).sum::<usize>().min(now.len());
                        now.insert_str(at, "output one = session \"1\"\n");
                        let place = json!({ "line": line, "character": 0 });
                        let range = json!({ "start": place, "end": place });
                        let change = json!([{ "range": range, "text": "output one = session \"1\"\n" }]);
                        client.change(&uri(document), version, change).await;
                    }
                    Step::Close(document) => {
                        if open.remove(&document).is_some() {
                            let params = json!({ "textDocument": { "uri": uri(document) } });
                            client.notify("textDocument/didClose", params).await;
                        }
                    }
                    Step::Ask(document, method) => {
                        client.ask(index as i64 + 1, method, &uri(document)).await;
                        asked.push(index as i64 + 1);
                    }
                }
            }
            for id in asked {
                client.answer(json!(id)).await;
            }
            let expected = expected(&open);
            let mut reported: HashMap<String, Vec<String>> = HashMap::new();
            let mut messages = std::mem::take(&mut client.received);
            loop {
                for message in messages.drain(..) {
                    let uri = message["params"]["uri"].as_str().unwrap().to_owned();
                    let found = message["params"]["diagnostics"].as_array().unwrap().iter().map(|found| {
                        format!("{} {}", found["code"].as_str().unwrap(), found["message"].as_str().unwrap())
                    });
                    reported.insert(uri, found.collect());
                }
                let is_reported = |(uri, found): (&String, &Vec<String>)| reported.get(uri) == Some(found);
                // What is closed is withdrawn, which may be the last message.
                let is_withdrawn = |(uri, found): (&String, &Vec<String>)| {
                    expected.contains_key(uri) || found.is_empty()
                };
                if expected.iter().all(is_reported) && reported.iter().all(is_withdrawn) {
                    break;
                }
                messages.push(client.receive().await);
            }
        });
    }
}
