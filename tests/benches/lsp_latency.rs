//! How long a language server takes from an edit to its diagnostics: `prose lsp` beside `ruff server` on a Python file of the same
//! number of lines, in turn and in one run, so that a drift of the machine's speed meets both.
//!
//!     cargo bench -p prose-tests --bench lsp_latency
//!
//! `RUFF` names the other server's program; without it `ruff` is taken from `PATH` (`pip install ruff`).
//! Prints a table in Markdown, times in milliseconds. Beside the median it shows the 99th percentile and how many times that
//! of the other server it is.

#![allow(clippy::print_stdout, reason = "the figures go to standard output")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use prose_tests::lsp::{LspClient, range};
use prose_tests::prose_binary;
use serde_json::{Value, json};

const ROUNDS: usize = 3;
const EDITS: usize = 50;
const LINES: [usize; 3] = [200, 5_000, 50_000];

fn main() {
    // `cargo test` runs benchmarks too, to see that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let ruff = std::env::var("RUFF").unwrap_or_else(|_| "ruff".into());
    let servers = [
        Server {
            name: "prose",
            command: (path_text(&prose_binary()), vec!["lsp".into()]),
            language: "prose",
            text: prose,
        },
        Server { name: "ruff", command: (ruff, vec!["server".into()]), language: "python", text: python },
    ];
    println!(
        "| lines | server | start | open | edit | edit p99 | p99/median | symbols | peak MiB | edit, of the other's |"
    );
    println!("|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut requests = None;
    for lines in LINES {
        let mut figures: Vec<Figures> = servers.iter().map(|_| Figures::default()).collect();
        for _ in 0..ROUNDS {
            for (server, figures) in servers.iter().zip(&mut figures) {
                server.measure(lines, figures);
            }
        }
        let edits: Vec<f64> = figures.iter().map(|figures| median(&figures.edits)).collect();
        for (index, (server, figures)) in servers.iter().zip(&figures).enumerate() {
            let p99 = percentile(&figures.edits, 0.99);
            println!(
                "| {lines} | {} | {:.1} | {:.1} | {:.2} | {:.2} | {:.1} | {:.1} | {:.0} | {:.2} |",
                server.name,
                median(&figures.start),
                median(&figures.open),
                edits[index],
                p99,
                p99 / edits[index],
                median(&figures.symbols),
                median(&figures.peak),
                edits[index] / edits[1 - index],
            );
        }
        if lines == LINES_OF_REQUESTS {
            requests = Some((answers(&servers[0], lines), edits[1]));
        }
    }
    let Some((requests, edit_of_the_other)) = requests else { return };
    println!(
        "\n| request at {LINES_OF_REQUESTS} lines, right behind an edit | median | edits of the other |"
    );
    println!("|---|--:|--:|");
    for (name, times) in requests {
        println!("| {name} | {:.2} | {:.2} |", median(&times), median(&times) / edit_of_the_other);
    }
}

/// The number of lines at which requests are measured.
const LINES_OF_REQUESTS: usize = 5_000;

/// How long answers take that are asked for right behind an edit, which they have to wait for.
fn answers(server: &Server, lines: usize) -> Vec<(&'static str, Vec<f64>)> {
    const ASKED: usize = 20;
    let mut command = Command::new(&server.command.0);
    command.args(&server.command.1);
    let mut client = LspClient::run(command);
    client.request("initialize", initialize());
    client.notify("initialized", json!({}));
    let uri = "file:///bench/program.prose";
    let text = (server.text)(lines);
    // A call of a block, so that there is something to be told of its parameters.
    let text = format!(
        "block look(part, depth):\n  session \"Look at {{part}} {{depth}}\"\ndo look(\"x\", 1)\n{text}"
    );
    client.open(uri, 1, &text);
    let place = |line: usize, character: usize| json!({ "line": line, "character": character });
    let written = text.lines().position(|line| line.contains("= session: reviewer_1")).expect("it is there");
    let (in_word, in_call) = (place(written, 6), place(2, 14));
    let behind = place(written, 24);
    let all = range((0, 0), (text.lines().count(), 0));
    let asked = [
        ("hover", "textDocument/hover", json!({ "position": in_word })),
        ("definition", "textDocument/definition", json!({ "position": in_word })),
        ("document highlight", "textDocument/documentHighlight", json!({ "position": in_word })),
        ("signature help", "textDocument/signatureHelp", json!({ "position": in_call })),
        ("inlay hints", "textDocument/inlayHint", json!({ "range": all })),
        ("completion", "textDocument/completion", json!({ "position": behind })),
        ("semantic tokens delta", "textDocument/semanticTokens/full/delta", json!({})),
    ];
    let (line, column) = middle_string(&text);
    let mut version = 1;
    let mut measured = Vec::new();
    for (name, method, mut params) in asked {
        params["textDocument"] = json!({ "uri": uri });
        let mut times = Vec::new();
        let full = client.result("textDocument/semanticTokens/full", uri);
        params["previousResultId"] = full["resultId"].clone();
        for _ in 0..ASKED {
            version += 1;
            let edit = json!([{ "range": range((line, column), (line, column)), "text": "x" }]);
            let started = Instant::now();
            client.change(uri, version, edit);
            let answer = client.request(method, params.clone());
            times.push(millis(started.elapsed()));
            let result = &answer["result"];
            assert!(!result.is_null() && *result != json!([]), "{method}: {answer}");
            if result["resultId"].is_string() {
                params["previousResultId"] = result["resultId"].clone();
            }
        }
        measured.push((name, times));
    }
    client.shut_down();
    measured
}

struct Server {
    name: &'static str,
    command: (String, Vec<String>),
    language: &'static str,
    text: fn(usize) -> String,
}

#[derive(Default)]
struct Figures {
    start: Vec<f64>,
    open: Vec<f64>,
    edits: Vec<f64>,
    symbols: Vec<f64>,
    peak: Vec<f64>,
}

impl Server {
    fn measure(&self, lines: usize, figures: &mut Figures) {
        let started = Instant::now();
        let mut command = Command::new(&self.command.0);
        command.args(&self.command.1);
        let mut client = LspClient::run(command);
        let answer = client.request("initialize", initialize());
        figures.start.push(millis(started.elapsed()));
        let pulls = answer["result"]["capabilities"]["diagnosticProvider"].is_object();
        client.notify("initialized", json!({}));

        let text = (self.text)(lines);
        let (line, column) = middle_string(&text);
        let uri = format!("file:///bench/program.{}", if self.language == "python" { "py" } else { "prose" });
        let started = Instant::now();
        let document = json!({ "uri": uri, "languageId": self.language, "version": 1, "text": text });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        diagnostics(&mut client, &uri, 1, pulls);
        figures.open.push(millis(started.elapsed()));

        for edit in 0..EDITS {
            let version = edit as i64 + 2;
            let change = if edit % 2 == 0 {
                json!([{ "range": range((line, column), (line, column)), "text": "x" }])
            } else {
                json!([{ "range": range((line, column), (line, column + 1)), "text": "" }])
            };
            let started = Instant::now();
            client.change(&uri, version, change);
            diagnostics(&mut client, &uri, version, pulls);
            figures.edits.push(millis(started.elapsed()));
        }
        let started = Instant::now();
        client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
        figures.symbols.push(millis(started.elapsed()));
        figures.peak.push(peak_mib(client.process_id()));
        client.shut_down();
    }
}

fn initialize() -> Value {
    json!({
        "processId": std::process::id(),
        "rootUri": null,
        "capabilities": {
            "textDocument": {
                "publishDiagnostics": { "versionSupport": true },
                "diagnostic": { "dynamicRegistration": false },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            },
            "general": { "positionEncodings": ["utf-16", "utf-8"] },
        },
    })
}

fn diagnostics(client: &mut LspClient, uri: &str, version: i64, pulls: bool) {
    if pulls {
        let answer = client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
        assert!(answer["result"].is_object(), "{answer}");
    } else {
        client.diagnostics(uri, version);
    }
}

/// A program of so many lines, as people write them: agents, sessions with prompts of several lines, conditions.
fn prose(lines: usize) -> String {
    let head = "let change = session \"Describe the change\"\n\n";
    let rest = repeated(lines - head.lines().count(), |index| {
        format!(
            r#"# Step {index}: look, then decide.
agent reviewer_{index}:
  model: sonnet
  prompt: """
    You review changes of part {index}.
    Be short, and name the file and the line.
  """

let review_{index} = session: reviewer_{index}
  prompt: "Review part {index} of the change"
  context: [change]

if **the review of part {index} found a mistake**:
  session "Mend part {index} as {{review_{index}}} says"
    context: review_{index}
else:
  session "Note that part {index} is fine"

parallel:
  tests_{index} = session "Run the tests of part {index}"
  docs_{index} = session "Read the documents of part {index}"

"#
        )
    });
    head.to_owned() + &rest
}

/// A Python file of so many lines, of like density, and as free of findings.
fn python(lines: usize) -> String {
    let head = r#"def session(prompt, *context, model="sonnet"):
    return {"prompt": prompt, "context": context, "model": model}


change = session("Describe the change")

"#;
    let rest = repeated(lines - head.lines().count(), |index| {
        format!(
            r#"# Step {index}: look, then decide.
reviewer_{index} = {{
    "model": "sonnet",
    "prompt": """
    You review changes of part {index}.
    Be short, and name the file and the line.
  """,
}}
review_{index} = session(
    "Review part {index} of the change",
    reviewer_{index}, change)

if review_{index}["the review of part {index} found a mistake"]:
    session("Mend part {index} as the review says",
            review_{index})
else:
    session("Note that part {index} is fine")

tests_{index} = session("Run the tests of part {index}")
docs_{index} = session("Read the documents of part {index}")

"#
        )
    });
    head.to_owned() + &rest
}

fn repeated(lines: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut count = 0;
    for index in 0.. {
        for line in part(index).split_inclusive('\n') {
            if count == lines {
                return text;
            }
            text.push_str(line);
            count += 1;
        }
    }
    text
}

/// Behind the opening quote of the first one-line string after the middle.
fn middle_string(text: &str) -> (usize, usize) {
    let middle = text.lines().count() / 2;
    text.lines()
        .enumerate()
        .skip(middle)
        .find_map(|(number, line)| {
            (line.matches('"').count() == 2).then(|| (number, line.find('"').unwrap_or(0) + 1))
        })
        .expect("the text has a one-line string behind its middle")
}

/// The most memory that the process ever had, where the system tells.
fn peak_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    peak.unwrap_or(f64::NAN) / 1024.0
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

fn percentile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() as f64 * part) as usize).min(sorted.len() - 1)]
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
