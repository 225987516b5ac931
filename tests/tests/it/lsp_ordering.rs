//! Thousands of messages in a row: every edit lands, every answer is about the state at its place in the row, and none is missing.

use std::collections::{BTreeMap, BTreeSet};

use prose_tests::lsp::{LspClient, change_params, frame, notification, range};
use serde_json::{Value, json};

const URI: &str = "file:///busy.prose";
const STEPS: usize = 2000;

/// A small generator of numbers, so that every run does the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// The document as it should be: one `let` a line, some of them broken.
struct Model {
    lines: Vec<Line>,
    names: usize,
}

struct Line {
    name: String,
    text: String,
    closed: bool,
}

impl Line {
    fn shown(&self) -> String {
        format!("let {} = session \"{}{}", self.name, self.text, if self.closed { "\"" } else { "" })
    }

    /// The column, in UTF-16, of an offset into the text of the session.
    fn column(&self, offset: usize) -> usize {
        "let  = session \"".len() + self.name.len() + self.text[..offset].encode_utf16().count()
    }
}

impl Model {
    fn text(&self) -> String {
        self.lines.iter().map(|line| line.shown() + "\n").collect()
    }

    fn names(&self) -> Vec<String> {
        self.lines.iter().map(|line| line.name.clone()).collect()
    }

    fn new_line(&mut self) -> Line {
        self.names += 1;
        Line { name: format!("v{}", self.names), text: "a".to_owned(), closed: true }
    }

    /// Edits the model and tells the change that does the same to the document.
    fn edit(&mut self, dice: &mut Dice) -> Value {
        let at = dice.roll(self.lines.len());
        match dice.roll(6) {
            0 | 1 => {
                let line = self.new_line();
                let change = json!({ "range": range((at, 0), (at, 0)), "text": line.shown() + "\n" });
                self.lines.insert(at, line);
                change
            }
            2 if self.lines.len() > 20 => {
                self.lines.remove(at);
                json!({ "range": range((at, 0), (at + 1, 0)), "text": "" })
            }
            3 => {
                let line = &mut self.lines[at];
                let end = line.column(line.text.len());
                line.closed = !line.closed;
                let (until, text) = if line.closed { (end, "\"") } else { (end + 1, "") };
                json!({ "range": range((at, end), (at, until)), "text": text })
            }
            kind => {
                let line = &mut self.lines[at];
                let offsets: Vec<_> = line.text.char_indices().map(|(offset, _)| offset).collect();
                let offset = offsets[dice.roll(offsets.len())];
                let text = ["b", "é", "😀", "\\q"][dice.roll(4)];
                let column = line.column(offset);
                if kind == 4 && line.text.len() > 20 {
                    let change = json!({ "range": range((at, line.column(0)), (at, line.column(line.text.len()))), "text": text });
                    line.text = text.to_owned();
                    change
                } else {
                    // Between a backslash and its letter, an insertion would only make another broken escape.
                    line.text.insert_str(offset, text);
                    json!({ "range": range((at, column), (at, column)), "text": text })
                }
            }
        }
    }
}

#[test]
fn two_thousand_messages_keep_their_order_and_are_all_answered() {
    let (mut client, _) = LspClient::initialized(json!({}));
    let mut dice = Dice(7);
    let mut model = Model { lines: Vec::new(), names: 0 };
    for _ in 0..300 {
        let line = model.new_line();
        model.lines.push(line);
    }
    client.open(URI, 1, &model.text());

    let mut version = 1;
    let mut asked: BTreeMap<i64, Option<Vec<String>>> = BTreeMap::new();
    let mut cancelled = BTreeSet::new();
    let methods = ["documentSymbol", "foldingRange", "selectionRange", "diagnostic"];
    let mut ask = |client: &mut LspClient, method: &str, names: Vec<String>| {
        let params = json!({ "textDocument": { "uri": URI }, "positions": [{ "line": 3, "character": 20 }] });
        let (id, message) = client.new_request(&format!("textDocument/{method}"), params);
        asked.insert(id, (method == "documentSymbol").then_some(names));
        (id, message)
    };
    let mut last_id = 1;
    for step in 0..STEPS {
        let mut bytes = vec![];
        match dice.roll(10) {
            0..5 => {
                version += 1;
                let changes: Vec<_> = (0..=dice.roll(2)).map(|_| model.edit(&mut dice)).collect();
                bytes.extend(frame(&notification(
                    "textDocument/didChange",
                    change_params(URI, version, json!(changes)),
                )));
            }
            5..8 => {
                let (id, message) = ask(&mut client, methods[dice.roll(methods.len())], model.names());
                last_id = id;
                bytes.extend(frame(&message));
            }
            8 => {
                // Some are answered long ago, some are under way, and some come right behind their request.
                let id = if dice.roll(2) == 0 {
                    let (id, message) = ask(&mut client, "documentSymbol", model.names());
                    bytes.extend(frame(&message));
                    id
                } else {
                    last_id
                };
                cancelled.insert(id);
                bytes.extend(frame(&notification("$/cancelRequest", json!({ "id": id }))));
            }
            _ => {
                for method in methods {
                    bytes.extend(frame(&ask(&mut client, method, model.names()).1));
                }
            }
        }
        client.send_bytes(&bytes);
        if step % 400 == 399 {
            // Now and then everybody waits, so that not every read is overtaken by an edit.
            let names = model.names();
            let (id, message) = ask(&mut client, "documentSymbol", names.clone());
            client.send_bytes(&frame(&message));
            let answer = client.wait_for(|message| message["id"] == id);
            assert_eq!(symbol_names(&answer), Some(names));
            client.put_back(answer);
        }
    }

    // From the last change nothing is held back, since nobody types so much.
    version += 1;
    let everything = json!([{ "text": "# another text\n\n# of several lines\n" }, { "text": model.text() }]);
    client.change(URI, version, everything);

    let mut answers: BTreeMap<i64, Vec<Value>> = BTreeMap::new();
    let mut published = vec![];
    let end = client.send_request("no/such/method", Value::Null);
    let diagnostics = client.diagnostics(URI, version);
    client.answer(&json!(end));
    // Reads may be answered after requests that came later, so what is missing is waited for.
    while answers.len() < asked.len() {
        let message = client.receive().expect("the server goes on");
        match message["id"].as_i64() {
            Some(id) => answers.entry(id).or_default().push(message),
            None => published.push(message["params"]["version"].as_i64().unwrap()),
        }
    }

    let mut checked = 0;
    for (id, names) in &asked {
        let [answer] = answers[id].as_slice() else {
            panic!("request {id} has {} answers", answers[id].len())
        };
        match answer["error"]["code"].as_i64() {
            None => {
                if let Some(names) = names {
                    assert_eq!(
                        symbol_names(answer).as_ref(),
                        Some(names),
                        "the answer to {id} is about another state"
                    );
                    checked += 1;
                }
            }
            Some(-32800) => assert!(cancelled.contains(id), "nobody cancelled {id}"),
            Some(-32801) => {}
            Some(_) => panic!("{answer}"),
        }
    }
    assert!(checked >= 5, "only {checked} answers could be compared");
    // After a pause, a version has the diagnostics that were held back.
    assert!(published.is_sorted(), "{published:?}");
    assert!(published.iter().all(|published| *published < version));

    // What many edits have made is what one text would have given.
    let fresh = "file:///fresh.prose";
    client.open(fresh, 1, &model.text());
    assert_eq!(client.diagnostics(fresh, 1), diagnostics);
    assert!(diagnostics.as_array().is_some_and(|all| all.len() > 10), "{diagnostics}");
    assert_eq!(client.take_kept(), [] as [Value; 0], "something was answered twice");
    client.shut_down();
}

fn symbol_names(answer: &Value) -> Option<Vec<String>> {
    let symbols = answer["result"].as_array()?;
    symbols.iter().map(|symbol| symbol["name"].as_str().map(str::to_owned)).collect()
}
