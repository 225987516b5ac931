//! How long a language server takes from an edit to its diagnostics: `prose lsp` beside `ruff server` on a Python file of the same
//! number of lines, in turn and in one run, so that a drift of the machine's speed meets both. And how long `prose lsp` takes for what else
//! is asked of it behind an edit, measured in edits of the other server.
//!
//!     cargo bench -p prose-tests --bench lsp_latency
//!     cargo bench -p prose-tests --bench lsp_latency -- requests
//!
//! `RUFF` names the other server's program; without it `ruff` is taken from `PATH` (`pip install ruff`). `PROSE_BEFORE` names an earlier `prose`,
//! which then takes the place of the other server, with the same programs.
//! Prints tables in Markdown, times in milliseconds from the edit to the arrival of the answer. Beside the median it shows the 99th percentile and how many times that
//! of the other server it is.

#![allow(clippy::print_stdout, reason = "the figures go to standard output")]

mod requests;
mod texts;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use prose_tests::lsp::{LspClient, range};
use prose_tests::prose_binary;
use serde_json::{Value, json};
use texts::{middle_string, prose, python};

const ROUNDS: usize = 3;
const EDITS: usize = 50;
const LINES: [usize; 3] = [200, 5_000, 50_000];

fn main() {
    // `cargo test` runs benchmarks too, to see that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let ruff = std::env::var("RUFF").unwrap_or_else(|_| "ruff".into());
    let other = match std::env::var("PROSE_BEFORE") {
        Ok(before) => {
            Server { name: "before", command: (before, vec!["lsp".into()]), language: "prose", text: prose }
        }
        Err(_) => {
            Server { name: "ruff", command: (ruff, vec!["server".into()]), language: "python", text: python }
        }
    };
    let servers = [
        Server {
            name: "prose",
            command: (path_text(&prose_binary()), vec!["lsp".into()]),
            language: "prose",
            text: prose,
        },
        other,
    ];
    // The requests alone, for somebody who looks for what one of them takes.
    if !std::env::args().any(|argument| argument == "requests") {
        compare_edits(&servers);
    }
    compare_requests(&servers);
}

fn compare_edits(servers: &[Server; 2]) {
    println!(
        "| lines | server | start | open | edit | edit p99 | p99/median | symbols | peak MiB | edit, of the other's |"
    );
    println!("|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|");
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
    }
}

/// What requests take, in edits of the other server.
fn compare_requests([server, other]: &[Server; 2]) {
    let mut measured = Vec::new();
    for _ in 0..ROUNDS {
        requests::measure(server, other, &mut measured);
    }
    requests::print(&measured);
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
        let mut opened = Opened::new(self, lines);
        figures.start.push(opened.start);
        figures.open.push(opened.open);
        figures.edits.extend((0..EDITS).map(|_| opened.edit()));
        let started = Instant::now();
        let params = json!({ "textDocument": { "uri": opened.uri } });
        opened.client.request("textDocument/documentSymbol", params);
        figures.symbols.push(millis(started.elapsed()));
        figures.peak.push(peak_mib(opened.client.process_id()));
        opened.client.shut_down();
    }
}

/// A server with a text that is edited.
struct Opened {
    client: LspClient,
    uri: String,
    version: i64,
    /// Where a character comes and goes.
    at: (usize, usize),
    pulls: bool,
    /// How long it took until the server was there.
    start: f64,
    /// How long it took from opening the text to its diagnostics.
    open: f64,
}

impl Opened {
    fn new(server: &Server, lines: usize) -> Self {
        let started = Instant::now();
        let mut command = Command::new(&server.command.0);
        command.args(&server.command.1);
        let mut client = LspClient::run(command);
        let answer = client.request("initialize", initialize());
        let start = millis(started.elapsed());
        let pulls = answer["result"]["capabilities"]["diagnosticProvider"].is_object();
        client.notify("initialized", json!({}));

        let text = (server.text)(lines);
        let uri =
            format!("file:///bench/program.{}", if server.language == "python" { "py" } else { "prose" });
        let started = Instant::now();
        let document = json!({ "uri": uri, "languageId": server.language, "version": 1, "text": text });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        diagnostics(&mut client, &uri, 1, pulls);
        let open = millis(started.elapsed());
        Self { client, uri, version: 1, at: middle_string(&text), pulls, start, open }
    }

    /// How long it takes from an edit of one character to the diagnostics.
    fn edit(&mut self) -> f64 {
        self.version += 1;
        let (line, column) = self.at;
        let change = if self.version % 2 == 0 {
            json!([{ "range": range((line, column), (line, column)), "text": "x" }])
        } else {
            json!([{ "range": range((line, column), (line, column + 1)), "text": "" }])
        };
        let started = Instant::now();
        self.client.change(&self.uri, self.version, change);
        diagnostics(&mut self.client, &self.uri, self.version, self.pulls);
        millis(self.client.last_arrival() - started)
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
