//! Bare calls, without anything of `prose`: of a server by HTTP, and of a program by lines of JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A connection to a server, which is kept.
pub(crate) struct Http {
    stream: BufReader<TcpStream>,
}

impl Http {
    pub(crate) fn connect(url: &str) -> Self {
        let stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Sends a request and reads the whole answer.
    pub(crate) fn post(&mut self, path: &str, body: &Value) -> String {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: mock\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.stream.get_mut().write_all((head + &body).as_bytes()).unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }
}

/// A program that exchanges lines of JSON.
pub(crate) struct Lines {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    calls: u64,
    /// Whether messages have a field `jsonrpc`.
    has_version: bool,
}

impl Lines {
    pub(crate) fn start(command: &mut Command, has_version: bool) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, calls: 0, has_version }
    }

    pub(crate) fn send(&mut self, mut message: Value) {
        if self.has_version {
            message["jsonrpc"] = "2.0".into();
        }
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The next message that is wanted.
    pub(crate) fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the program has exited");
            let message = serde_json::from_str(&line).unwrap_or(Value::Null);
            if is_wanted(&message) {
                return message;
            }
        }
    }

    /// The result of a call.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        self.send(json!({ "id": id, "method": method, "params": params }));
        let answer = self.until(|message| message["id"] == id && message["method"].is_null());
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
