//! A proxy between Codex and the server in the place of its provider.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Codex gives the tools of a server a namespace, which the server in the place of the provider does not know. In its answers, the name is split.
const NAMESPACES: &str = r#"
const http = require("http");
const [host, port] = process.argv[1].replace("http://", "").split(":");
http.createServer((request, response) => {
  const options = { host, port, path: request.url, method: request.method, headers: request.headers };
  request.pipe(http.request(options, (answer) => {
    let text = "";
    answer.on("data", (part) => (text += part));
    answer.on("end", () => {
      delete answer.headers["content-length"];
      response.writeHead(answer.statusCode, answer.headers);
      response.end(text.replace(/"name":"(mcp__[a-z]+)__([a-z]+)"/g, '"namespace":"$1","name":"$2"'));
    });
  }));
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
"#;

/// A proxy that ends with the test.
#[derive(Debug)]
pub struct NamespaceProxy {
    process: Child,
    /// Its address, with `http://`.
    pub address: String,
}

impl NamespaceProxy {
    /// Starts the proxy for a provider at this address.
    pub fn start(provider: &str) -> Self {
        let mut node = Command::new("node");
        node.args(["-e", NAMESPACES, provider]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = node.spawn().expect("node is installed");
        let mut port = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut port).expect("its output is text");
        Self { process, address: format!("http://127.0.0.1:{}", port.trim()) }
    }
}

impl Drop for NamespaceProxy {
    fn drop(&mut self) {
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}
