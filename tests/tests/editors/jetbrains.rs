//! The template of JetBrains editors: that the server which it describes starts and takes its options.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use prose_tests::lsp::LspClient;
use prose_tests::{prose_binary, repository};
use serde_json::{Value, json};

#[test]
fn the_server_of_the_template_checks_a_program_that_its_mapping_matches() {
    let template = read("template.json");
    let command = template["programArgs"]["default"].as_str().unwrap();
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("prose"));
    let mut server = Command::new(prose_binary());
    server.args(words);
    let mut client = LspClient::run(server);
    let answer = client.request(
        "initialize",
        json!({
            "processId": null, "rootUri": null, "capabilities": {},
            "initializationOptions": read("initializationOptions.json"),
        }),
    );
    assert_eq!(answer["result"]["serverInfo"]["name"], "prose");
    client.notify("initialized", json!({}));
    let mapping = &template["fileTypeMappings"][0];
    let ending = mapping["fileType"]["patterns"][0].as_str().unwrap().trim_start_matches('*');
    let uri = format!("file:///p/program{ending}");
    let document =
        json!({ "uri": uri, "languageId": mapping["languageId"], "version": 1, "text": "do nothing\n" });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let found = client.wait_for_method("textDocument/publishDiagnostics");
    assert_eq!(found["params"]["diagnostics"][0]["code"], "E117", "{found}");
    client.shut_down();
}

fn read(name: &str) -> Value {
    let path: PathBuf = repository().join("editors/jetbrains/openprose").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}
