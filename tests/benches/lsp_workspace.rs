//! What an edit costs in a workspace of 1,000 open programs: of one that 500 others import, and of one that nobody imports. And what it costs
//! in a folder with thousands of programs that are not open, beside one with none.
//!
//!     cargo bench -p prose-tests --bench lsp_workspace
//!
//! The time is that from the edit until the client has the diagnostics of every program that it changes. Prints a table in
//! Markdown, times in milliseconds.

#![allow(clippy::print_stdout, reason = "the figures go to standard output")]

use std::time::{Duration, Instant};

use prose_tests::lsp::LspClient;
use serde_json::{Value, json};

const PROGRAMS: usize = 1_000;
const IMPORTERS: usize = 500;
const EDITS: usize = 40;

const SHARED: &str = "file:///workspace/shared.prose";
const ALONE: &str = "file:///workspace/alone.prose";

fn main() {
    // `cargo test` runs benchmarks too, to see that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut session = Session::start();
    println!("| edit | imported by none | imported by {IMPORTERS} | times | programs told |");
    println!("|---|--:|--:|--:|--:|");
    for (what, before, after, told) in [
        ("a prompt", library("summary", "Sum up"), library("summary", "Tell"), 0),
        ("an output that none of them uses", with_output("extra"), with_output("other"), 0),
        (
            "the output that all of them use",
            library("summary", "Sum up"),
            library("digest", "Sum up"),
            IMPORTERS,
        ),
    ] {
        let alone = session.median(ALONE, &before, &after, 0);
        let shared = session.median(SHARED, &before, &after, told);
        let times = shared / alone;
        println!("| {what} | {alone:.2} | {shared:.2} | {times:.1} | {} |", told + 1);
    }
    session.client.shut_down();
    println!();
    println!(
        "| programs that are not open | edit to diagnostics | times | found after | `prose check` of them | memory |"
    );
    println!("|--:|--:|--:|--:|--:|--:|");
    let alone = in_folder(0);
    for folder in [alone, in_folder(1_000), in_folder(10_000)] {
        let Folder { programs, edit, found, checked, megabytes } = folder;
        let times = edit / alone.edit;
        println!("| {programs} | {edit:.2} | {times:.1} | {found:.0} | {checked:.0} | {megabytes} MB |");
    }
}

/// What a folder with programs that are not open costs, in milliseconds.
#[derive(Clone, Copy)]
struct Folder {
    programs: usize,
    /// From an edit of an open program to its diagnostics, the median.
    edit: f64,
    /// From the start of the session until all programs are known.
    found: f64,
    /// What `prose check` takes for all of them, from its start to its end.
    checked: f64,
    /// What the server holds afterwards.
    megabytes: u64,
}

fn in_folder(programs: usize) -> Folder {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write = |name: String, text: String| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("folders can be made");
        std::fs::write(path, text).expect("files can be written");
    };
    write("shared.prose".to_owned(), library("summary", "Sum up"));
    write("open.prose".to_owned(), program(IMPORTERS));
    for number in 0..programs {
        let import = program(number % (2 * IMPORTERS)).replace("./shared", "../shared");
        write(format!("flows{}/program{number}.prose", number % 50), import);
    }
    let check = Instant::now();
    let mut command = std::process::Command::new(prose_tests::prose_binary());
    let output =
        command.args(["check", "--quiet"]).arg(folder.path()).output().expect("programs can be checked");
    let checked = check.elapsed().as_secs_f64() * 1000.0;
    assert!(output.stderr.is_empty(), "{output:?}");

    let uri = |name: &str| format!("file://{}/{name}", folder.path().display());
    let mut client = LspClient::start(&[]);
    let since = Instant::now();
    let capabilities = json!({ "textDocument": { "diagnostic": {} } });
    client.request(
        "initialize",
        json!({ "processId": null, "rootUri": uri(""), "capabilities": capabilities }),
    );
    client.notify("initialized", json!({}));
    // Answered when the folder has been looked through.
    client.request("workspace/symbol", json!({ "query": "" }));
    let found = since.elapsed().as_secs_f64() * 1000.0;
    // An editor always has one such request waiting.
    client.request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    client.send_request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let open = uri("open.prose");
    client.open(&open, 1, &program(IMPORTERS));
    let mut times: Vec<f64> = (2..100)
        .map(|version| {
            std::thread::sleep(Duration::from_millis(20));
            let since = Instant::now();
            let place = prose_tests::lsp::range((5, 4), (5, 4));
            client.change(&open, version, json!([{ "range": place, "text": "x" }]));
            client.result("textDocument/diagnostic", &open);
            since.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.process_id())).unwrap_or_default();
    let resident =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok());
    client.shut_down();
    Folder { programs, edit: times[times.len() / 2], found, checked, megabytes: resident.unwrap_or(0) / 1024 }
}

struct Session {
    client: LspClient,
    version: i64,
}

impl Session {
    fn start() -> Self {
        let (mut client, _) = LspClient::initialized(json!({}));
        client.open(SHARED, 1, &library("summary", "Sum up"));
        client.open(ALONE, 1, &library("summary", "Sum up"));
        for number in 0..PROGRAMS - 2 {
            client.open(&uri(number), 1, &program(number));
        }
        for number in 0..PROGRAMS - 2 {
            client.diagnostics(&uri(number), 1);
        }
        Self { client, version: 1 }
    }

    /// The median of the times that edits of a document from one text to another and back take; `told` programs beside it are told of
    /// each.
    fn median(&mut self, edited: &str, before: &str, after: &str, told: usize) -> f64 {
        self.edit(edited, before);
        std::thread::sleep(Duration::from_millis(300));
        self.client.take_all();
        let mut times: Vec<f64> = (0..EDITS)
            .map(|edit| {
                let text = if edit % 2 == 0 { after } else { before };
                let since = Instant::now();
                self.edit(edited, text);
                let mut waiting = told + 1;
                while waiting > 0 {
                    let message: Value = self.client.receive().expect("the server goes on");
                    assert_eq!(message["method"], "textDocument/publishDiagnostics");
                    waiting -= 1;
                }
                since.elapsed().as_secs_f64() * 1000.0
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }

    fn edit(&mut self, uri: &str, text: &str) {
        self.version += 1;
        self.client.change(uri, self.version, json!([{ "text": text }]));
    }
}

fn uri(number: usize) -> String {
    format!("file:///workspace/program{number}.prose")
}

fn library(output: &str, prompt: &str) -> String {
    format!("input topic: \"What to look for\"\n\noutput {output} = session \"{prompt} {{topic}}\"\n")
}

fn with_output(output: &str) -> String {
    format!("{}output {output} = session \"More of {{topic}}\"\n", library("summary", "Sum up"))
}

fn program(number: usize) -> String {
    let import = if number < IMPORTERS {
        "use \"./shared.prose\" as shared\n\nlet found = shared(topic: \"trees\")\nlet text = found.summary\n"
    } else {
        "let text = session \"Find trees\"\n"
    };
    format!(
        r#"{import}
agent reviewer:
  model: sonnet
  prompt: """
    You review text {number}.
    Be short, and name the file and the line.
  """

let review = session: reviewer
  prompt: "Review part {number} of {{text}}"

if **the review found a mistake**:
  session "Mend it as {{review}} says"
else:
  session "Note that part {number} is fine"
"#
    )
}
