//! An MCP server of tests with two tools, `search` and `delete`, on standard input and output. It notes each start and each call in the file that is its
//! first argument. A search finds the value of `TRACKER_TOKEN`.

#![allow(clippy::unwrap_used, reason = "a server of tests may fail")]

use std::fs::OpenOptions;
use std::io::{BufRead, Write};

use serde_json::{Value, json};

fn main() {
    let notes = std::env::args().nth(1).unwrap();
    let note = |what: &str| {
        let mut file = OpenOptions::new().create(true).append(true).open(&notes).unwrap();
        writeln!(file, "{what}").unwrap();
    };
    note("started");
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(request) = serde_json::from_str::<Value>(&line) else { continue };
        // Notifications need no answer.
        let Some(id) = request.get("id") else { continue };
        let params = &request["params"];
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "tracker", "version": "1.0.0" },
            }),
            "tools/list" => {
                let query = json!({
                    "type": "object",
                    "properties": { "query": { "type": "string" } },
                    "required": ["query"],
                });
                json!({ "tools": [
                    { "name": "search", "description": "Searches the issues of the tracker", "inputSchema": query },
                    { "name": "delete", "description": "Deletes issues of the tracker", "inputSchema": query },
                ] })
            }
            "tools/call" => {
                let tool = params["name"].as_str().unwrap();
                let query = params["arguments"]["query"].as_str().unwrap_or_default();
                note(&format!("{tool} {query}"));
                let token = std::env::var("TRACKER_TOKEN").unwrap_or_default();
                let text = format!("The tracker has 17 issues about {query} for {token}.");
                json!({ "content": [{ "type": "text", "text": text }] })
            }
            _ => json!({}),
        };
        let mut output = std::io::stdout().lock();
        writeln!(output, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": result })).unwrap();
        output.flush().unwrap();
    }
}
