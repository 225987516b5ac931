//! How long answers take, right behind an edit and once more without one. Each is measured in turn with an edit of the other server, so
//! that what else the machine does meets both.

use std::process::Command;
use std::time::Instant;

use prose_tests::lsp::{LspClient, range};
use serde_json::{Value, json};

use crate::texts::{behind_middle, middle_string};
use crate::{Opened, Server, median, millis};

/// The number of lines at which requests are measured.
pub(crate) const LINES: usize = 5_000;
const ASKED: usize = 20;
const URI: &str = "file:///bench/program.prose";

/// A request and how long its answers took.
pub(crate) struct Measured {
    name: &'static str,
    /// How many edits of the other server it may take, if there is a target.
    most: Option<f64>,
    times: Times,
}

#[derive(Default)]
struct Times {
    behind_edit: Vec<f64>,
    again: Vec<f64>,
    edit_of_the_other: Vec<f64>,
}

/// What somebody asks for, and where.
struct Asked {
    name: &'static str,
    most: Option<f64>,
    requests: Vec<Request>,
}

/// A method with its parameters.
type Request = (&'static str, Value);

/// Measures every request; adds to what was measured of them before.
pub(crate) fn measure(server: &Server, other: &Server, measured: &mut Vec<Measured>) {
    let mut editor = Editor::open(server);
    let mut other = Opened::new(other, LINES);
    let (mut asked, typing) = editor.requests();
    let is_typing = |asked: &&Asked| typing.contains(&asked.name);
    let together = asked.iter().filter(is_typing).flat_map(|asked| asked.requests.clone()).collect();
    asked.push(Asked { name: "all that VS Code asks for, at once", most: None, requests: together });
    for (index, Asked { name, most, requests }) in asked.into_iter().enumerate() {
        if measured.len() == index {
            measured.push(Measured { name, most, times: Times::default() });
        }
        editor.measure(&requests, &mut other, &mut measured[index].times);
    }
    editor.client.shut_down();
    other.client.shut_down();
}

/// Prints the times in milliseconds and in edits of the other server.
pub(crate) fn print(measured: &[Measured]) {
    println!(
        "\n| request at {LINES} lines | behind an edit | edits of the other | again | edits of the other | target |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for Measured { name, most, times } in measured {
        let (behind_edit, again) = (median(&times.behind_edit), median(&times.again));
        let edit = median(&times.edit_of_the_other);
        let most = most.map_or_else(String::new, |most| format!("< {most}"));
        println!(
            "| {name} | {behind_edit:.2} | {:.2} | {again:.2} | {:.2} | {most} |",
            behind_edit / edit,
            again / edit
        );
    }
}

/// An editor with the program open.
struct Editor {
    client: LspClient,
    text: String,
    version: i64,
    /// The semantic tokens that it has.
    tokens: Value,
}

impl Editor {
    fn open(server: &Server) -> Self {
        // A call of a block, so that there is something to be told of its parameters, an address that leads somewhere, and a line that is not
        // written as it is to be.
        let head = r#"block look(part, depth):
  session "Look at {part} {depth}"
do   look("x", 1)
let notes = "https://example.org/notes"
"#;
        let mut command = Command::new(&server.command.0);
        command.args(&server.command.1);
        let mut client = LspClient::run(command);
        let capabilities: Value =
            serde_json::from_str(include_str!("../../capabilities/vscode.json")).expect("it is JSON");
        let client_info = json!({ "name": "Visual Studio Code" });
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities, "clientInfo": client_info });
        client.request("initialize", params);
        client.notify("initialized", json!({}));
        let text = head.to_owned() + &(server.text)(LINES - head.lines().count());
        client.open(URI, 1, &text);
        let tokens = client.result("textDocument/semanticTokens/full", URI)["resultId"].clone();
        Self { client, text, version: 1, tokens }
    }

    /// Types one character into a string in the middle of the program.
    fn edit(&mut self) {
        self.version += 1;
        let at = middle_string(&self.text);
        self.client.change(URI, self.version, json!([{ "range": range(at, at), "text": "x" }]));
    }

    /// Measures how long it takes until all of the requests have their answers, right behind an edit and once more.
    fn measure(&mut self, requests: &[Request], other: &mut Opened, times: &mut Times) {
        for _ in 0..ASKED {
            times.edit_of_the_other.push(other.edit());
            let started = Instant::now();
            self.edit();
            self.ask(requests);
            times.behind_edit.push(millis(self.client.last_arrival() - started));
            let started = Instant::now();
            self.ask(requests);
            times.again.push(millis(self.client.last_arrival() - started));
        }
    }

    fn ask(&mut self, requests: &[Request]) {
        let mut ids = Vec::new();
        for (method, params) in requests {
            let mut params = params.clone();
            params["textDocument"] = json!({ "uri": URI });
            if *method == TOKENS_DELTA {
                params["previousResultId"] = self.tokens.clone();
            }
            ids.push((*method, self.client.send_request(method, params)));
        }
        for (method, id) in ids {
            let answer = self.client.answer(&json!(id));
            let result = &answer["result"];
            assert!(!result.is_null() && *result != json!([]), "{method}: {answer}");
            if method == TOKENS_DELTA {
                self.tokens = result["resultId"].clone();
            }
        }
    }

    /// Every request that is measured, all of them in the middle of the program but the help with a call, and the names of those that an
    /// editor sends by itself when somebody types.
    fn requests(&self) -> (Vec<Asked>, Vec<&'static str>) {
        let place = |line: usize, character: usize| json!({ "line": line, "character": character });
        let line = |is_wanted: fn(&str) -> bool| behind_middle(&self.text, is_wanted).0;
        let written = line(|line| line.contains("= session: reviewer_"));
        let (prompt, blank) = (line(|line| line.contains("session \"Mend")), line(str::is_empty));
        let in_braces =
            self.text.lines().nth(prompt).and_then(|line| line.find('{')).expect("it is there") + 3;
        let behind_session =
            self.text.lines().nth(written).and_then(|line| line.find(": ")).expect("it is there") + 4;
        let whole = json!({ "range": range((0, 0), (LINES, 0)) });
        let screen = json!({ "range": range((written, 0), (written + 50, 0)) });
        let at = |line, character| json!({ "position": place(line, character) });
        let word = at(written, 6);
        let plain = json!({});
        let style = json!({ "options": { "tabSize": 2, "insertSpaces": true } });
        let actions = json!({ "range": range((prompt, 4), (prompt, 4)), "context": { "diagnostics": [], "triggerKind": 2 } });
        let asked = |name, most, method, params: &Value| Asked {
            name,
            most,
            requests: vec![(method, params.clone())],
        };
        let edit = Some(1.0);
        let requests = vec![
            asked("hover", edit, "textDocument/hover", &word),
            asked("definition", edit, "textDocument/definition", &word),
            asked("document highlight", edit, "textDocument/documentHighlight", &word),
            asked("signature help", edit, "textDocument/signatureHelp", &at(2, 16)),
            asked("inlay hints of the file", edit, "textDocument/inlayHint", &whole),
            asked("inlay hints of 50 lines", edit, "textDocument/inlayHint", &screen),
            asked("completion of an agent", edit, "textDocument/completion", &at(written, behind_session)),
            asked("completion of a variable", edit, "textDocument/completion", &at(prompt, in_braces)),
            asked("completion of a statement", edit, "textDocument/completion", &at(blank, 0)),
            asked("semantic tokens delta", Some(3.0), TOKENS_DELTA, &plain),
            asked("semantic tokens of 50 lines", None, "textDocument/semanticTokens/range", &screen),
            asked("diagnostics", None, "textDocument/diagnostic", &plain),
            asked("references", None, "textDocument/references", &word),
            asked("linked editing", None, "textDocument/linkedEditingRange", &word),
            asked("code actions", None, "textDocument/codeAction", &actions),
            asked("code lenses", None, "textDocument/codeLens", &plain),
            asked("document links", None, "textDocument/documentLink", &plain),
            asked("folding", None, "textDocument/foldingRange", &plain),
            asked("document symbols", None, "textDocument/documentSymbol", &plain),
            asked("formatting", None, "textDocument/formatting", &style),
        ];
        let typing = vec![
            "completion of a variable",
            "diagnostics",
            "semantic tokens delta",
            "inlay hints of 50 lines",
            "code actions",
            "code lenses",
            "document highlight",
            "document links",
            "folding",
            "document symbols",
        ];
        (requests, typing)
    }
}

const TOKENS_DELTA: &str = "textDocument/semanticTokens/full/delta";
