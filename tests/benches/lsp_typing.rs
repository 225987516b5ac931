//! How many diagnostics a client shows while somebody types a program that the finished program does not have.
//!
//!     cargo bench -p prose-tests --bench lsp_typing [FILE]...
//!
//! Types each program letter by letter, without a pause, into two clients that ask for diagnostics after each key: one that asks again when the server requests it, from
//! which diagnostics are held back, and one that does not. What editors close by themselves, such as quotes, is there to the right of the cursor. Without files, it types
//! the examples, and the official programs if they are there. Prints a table in Markdown.

#![allow(clippy::print_stdout, reason = "the figures go to standard output")]

use std::collections::HashSet;
use std::path::PathBuf;

use prose_tests::lsp::LspClient;
use serde_json::{Value, json};

const URI: &str = "file:///typing/typed.prose";

fn main() {
    // `cargo test` runs benchmarks too, to see that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("| programs | keys | diagnostics per key | the most | keys with an error in another line |");
    println!("|---|--:|--:|--:|--:|");
    let files: Vec<PathBuf> =
        std::env::args().skip(1).filter(|it| !it.starts_with("--")).map(PathBuf::from).collect();
    let mut sets = Vec::new();
    if files.is_empty() {
        sets.push(("examples", programs_in(&prose_tests::repository().join("examples"))));
        if prose_tests::repository().join("tests/.cache/official").is_dir() {
            let official = prose_tests::sound_official_programs().into_iter().map(|(_, text)| text);
            sets.push(("official programs", official.collect()));
        }
    } else {
        let read = |path: &PathBuf| std::fs::read_to_string(path).expect("the file can be read");
        sets.push(("given programs", files.iter().map(read).collect()));
    }
    for (name, texts) in sets {
        for (is_held, how) in [(true, ""), (false, ", nothing held back")] {
            let mut sum = Noise::default();
            texts.iter().for_each(|text| sum.add(&typed(text, is_held)));
            let Noise { keys, noise, most, elsewhere } = sum;
            let per_key = noise as f64 / keys as f64;
            let elsewhere = 100.0 * elsewhere as f64 / keys as f64;
            println!("| {name}{how} | {keys} | {per_key:.3} | {most} | {elsewhere:.1} % |");
        }
    }
}

fn programs_in(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be listed").map_while(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "prose"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("examples are UTF-8")).collect()
}

/// What a client showed that the finished program does not have.
#[derive(Default)]
struct Noise {
    keys: usize,
    noise: usize,
    /// After one key.
    most: usize,
    /// After how many keys there was an error in another line than that of the cursor.
    elsewhere: usize,
}

impl Noise {
    fn add(&mut self, other: &Self) {
        self.keys += other.keys;
        self.noise += other.noise;
        self.most = self.most.max(other.most);
        self.elsewhere += other.elsewhere;
    }
}

fn typed(text: &str, is_held: bool) -> Noise {
    let (mut client, _) = LspClient::initialized(json!({
        "textDocument": { "diagnostic": {} }, "workspace": { "diagnostics": { "refreshSupport": is_held } },
    }));
    client.open(URI, 0, "");
    let keys = text.char_indices().map(|(at, letter)| &text[..at + letter.len_utf8()]);
    let mut moments: Vec<(u64, Vec<Value>)> = Vec::new();
    for (key, prefix) in keys.enumerate() {
        let whole = format!("{prefix}{}", closers(prefix));
        client.change(URI, key as i64 + 1, json!([{ "text": whole }]));
        moments.push((prefix.matches('\n').count() as u64, pulled(&mut client)));
    }
    // Saving ends the wait for a pause.
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": URI } }));
    let finished: HashSet<String> = pulled(&mut client).iter().map(code).collect();
    let mut sum = Noise { keys: moments.len(), ..Noise::default() };
    for (line, shown) in moments {
        let noise: Vec<&Value> = shown.iter().filter(|shown| !finished.contains(&code(shown))).collect();
        sum.noise += noise.len();
        sum.most = sum.most.max(noise.len());
        let is_elsewhere = |shown: &&Value| {
            let line_of = |end: &str| shown["range"][end]["line"].as_u64().unwrap_or_default();
            shown["severity"] == 1 && !(line_of("start")..=line_of("end")).contains(&line)
        };
        sum.elsewhere += usize::from(noise.iter().any(is_elsewhere));
    }
    sum
}

/// The errors and warnings of the document.
fn pulled(client: &mut LspClient) -> Vec<Value> {
    let report = client.result("textDocument/diagnostic", URI);
    let items = report["items"].as_array().cloned().unwrap_or_default();
    items.into_iter().filter(|item| item["severity"].as_u64() <= Some(2)).collect()
}

fn code(diagnostic: &Value) -> String {
    diagnostic["code"].to_string()
}

/// What an editor has put to the right of the cursor.
fn closers(prefix: &str) -> String {
    const MARKS: [&str; 4] = ["\"\"\"", "\"", "***", "**"];
    let mut inside: Option<&str> = None;
    let mut brackets = Vec::new();
    let mut rest = prefix;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        match inside {
            Some("\"") if letter == '\n' => inside = None,
            Some(mark) if rest.starts_with(mark) => (inside, length) = (None, mark.len()),
            Some(_) => {}
            None if letter == '#' => length = rest.find('\n').unwrap_or(rest.len()),
            None => {
                if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
                    (inside, length) = (Some(mark), mark.len());
                }
                match letter {
                    '(' => brackets.push(')'),
                    '[' => brackets.push(']'),
                    '{' => brackets.push('}'),
                    ')' | ']' | '}' => _ = brackets.pop(),
                    _ => {}
                }
            }
        }
        rest = &rest[length..];
    }
    inside.unwrap_or_default().chars().chain(brackets.into_iter().rev()).collect()
}
