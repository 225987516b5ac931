//! `prose dap` in a process of its own: on standard input and output, and on a port.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use prose_tests::prose_binary;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Debugs a program to its end, and returns where it stopped.
fn debug(mut output: impl Write, input: impl Read) -> String {
    let mut input = BufReader::new(input);
    let mut request = |command: &str, arguments: Value| {
        let text =
            json!({ "type": "request", "seq": 1, "command": command, "arguments": arguments }).to_string();
        write!(output, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        output.flush().unwrap();
    };
    let mut until = |name: &str| loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(input.read_line(&mut line).unwrap(), 0, "the debugger has ended before {name}");
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut message = vec![0; length];
        input.read_exact(&mut message).unwrap();
        let message: Value = serde_json::from_slice(&message).unwrap();
        assert_ne!(message["success"], false, "{message}");
        if message["event"] == name || message["command"] == name {
            return message["body"].clone();
        }
    };
    request("initialize", json!({ "adapterID": "prose" }));
    request("launch", json!({ "program": "tides.prose", "harness": "offline" }));
    until("initialized");
    let source = json!({ "path": "tides.prose" });
    request("setBreakpoints", json!({ "source": source, "breakpoints": [{ "line": 2 }] }));
    request("configurationDone", json!({}));
    let stopped = until("stopped");
    request("stackTrace", json!({ "threadId": stopped["threadId"] }));
    let trace = until("stackTrace");
    request("continue", json!({ "threadId": 1 }));
    until("terminated");
    request("disconnect", json!({}));
    until("disconnect");
    format!("{} at line {}", stopped["reason"].as_str().unwrap(), trace["stackFrames"][0]["line"])
}

/// A folder with a program, and the command that debugs it.
fn command() -> (TempDir, Command) {
    let folder = prose_fixture::tempdir().unwrap();
    std::fs::write(folder.path().join("tides.prose"), "let topic = \"tides\"\nsession \"Draft {topic}\"\n")
        .unwrap();
    let mut command = Command::new(prose_binary());
    command.arg("dap").current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    (folder, command)
}

#[test]
fn a_client_debugs_on_standard_input_and_output() {
    let (_folder, mut command) = command();
    let mut process = command.spawn().unwrap();
    let stop = debug(process.stdin.take().unwrap(), process.stdout.take().unwrap());
    assert_eq!(stop, "breakpoint at line 2");
    assert!(process.wait().unwrap().success());
}

#[test]
fn a_client_debugs_on_a_port() {
    let (_folder, mut command) = command();
    let mut process = command.args(["--port", "0"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("Waiting for a client on ").expect("it says where it waits");
    let stream = TcpStream::connect(address).unwrap();
    let stop = debug(stream.try_clone().unwrap(), stream);
    assert_eq!(stop, "breakpoint at line 2");
    assert!(process.wait().unwrap().success());
}
