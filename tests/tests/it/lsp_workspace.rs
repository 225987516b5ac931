//! The programs of a folder that nobody has opened, over the wire.

use std::fs;

use prose_tests::lsp::{frame, notification};
use prose_tests::workspace::{Workspace, codes};
use serde_json::{Value, json};

const MAIN: &str =
    "use \"./flows/find.prose\"\nlet a = find(topic: \"tides\")\nsession \"Do\"\n  context: a\n";
const FIND: &str = "input topic: \"What to look for\"\noutput found = session \"Find {topic}\"\n";
const WRONG: &str = "session: nobody\n";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![
        ("main.prose", MAIN),
        ("flows/find.prose", FIND),
        ("wrong.prose", WRONG),
        ("node_modules/a/wrong.prose", WRONG),
        (".prose/runs/1/program.prose", WRONG),
        (".gitignore", "made\n"),
        ("made/wrong.prose", WRONG),
    ]
}

fn pulling() -> Value {
    json!({ "textDocument": { "diagnostic": {} } })
}

/// The reports of an answer: the name of each file, its kind, and its codes.
fn reports(workspace: &Workspace, answer: &Value) -> Vec<String> {
    let root = workspace.uri("");
    let reports = answer["result"]["items"].as_array().unwrap_or_else(|| panic!("{answer}"));
    reports
        .iter()
        .map(|report| {
            let name = report["uri"].as_str().unwrap().replace(&root, "");
            assert!(report["version"].is_null());
            let codes = report.get("items").map(codes).unwrap_or_default();
            [&[name, report["kind"].as_str().unwrap().to_owned()], &codes[..]].concat().join(" ")
        })
        .collect()
}

/// The ids that a client has after an answer.
fn ids(answer: &Value) -> Value {
    let reports = answer["result"]["items"].as_array().unwrap().iter();
    let ids: Vec<Value> =
        reports.map(|report| json!({ "uri": report["uri"], "value": report["resultId"] })).collect();
    json!({ "previousResultIds": ids })
}

#[test]
fn clients_that_pull_get_diagnostics_of_programs_that_are_not_open() {
    let mut workspace = Workspace::with(pulling(), &files());
    let params = json!({ "previousResultIds": [] });
    let first = workspace.client.request("workspace/diagnostic", params);
    assert_eq!(reports(&workspace, &first), ["wrong.prose full E007"]);

    // Without news the request waits for some.
    let waiting = workspace.client.send_request("workspace/diagnostic", ids(&first));
    workspace.write_watched("flows/find.prose", &FIND.replace("topic", "subject"));
    let second = workspace.client.answer(&json!(waiting));
    assert_eq!(
        reports(&workspace, &second),
        ["main.prose full E027", "wrong.prose unchanged"],
        "an importer that is not open has other findings, too"
    );

    // An open document has reports of its own.
    workspace.open_saved("main.prose");
    let waiting = workspace.client.send_request("workspace/diagnostic", ids(&second));
    workspace.remove_watched("wrong.prose");
    let third = workspace.client.answer(&json!(waiting));
    assert_eq!(reports(&workspace, &third), ["wrong.prose full"], "what is gone has no findings");

    let waiting = workspace.client.send_request("workspace/diagnostic", ids(&third));
    workspace.close("main.prose");
    let fourth = workspace.client.answer(&json!(waiting));
    assert_eq!(reports(&workspace, &fourth), ["main.prose full E027"]);
}

#[test]
fn findings_of_a_deleted_file_are_cleared_even_if_the_client_does_not_name_them() {
    let mut workspace = Workspace::with(pulling(), &files());
    let nothing = json!({ "previousResultIds": [] });
    let first = workspace.client.request("workspace/diagnostic", nothing.clone());
    assert_eq!(reports(&workspace, &first), ["wrong.prose full E007"]);
    workspace.remove_watched("wrong.prose");
    let second = workspace.client.request("workspace/diagnostic", nothing.clone());
    assert_eq!(reports(&workspace, &second), ["wrong.prose full"]);

    // Once is enough.
    let waiting = workspace.client.send_request("workspace/diagnostic", nothing);
    workspace.write_watched("new.prose", WRONG);
    let third = workspace.client.answer(&json!(waiting));
    assert_eq!(reports(&workspace, &third), ["new.prose full E007"]);
}

#[test]
fn who_waits_for_news_can_stop_waiting() {
    let mut workspace = Workspace::with(pulling(), &files());
    let first = workspace.client.request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let waiting = workspace.client.send_request("workspace/diagnostic", ids(&first));
    workspace.client.notify("$/cancelRequest", json!({ "id": waiting }));
    let answer = workspace.client.answer(&json!(waiting));
    assert_eq!(answer["error"]["code"], -32800, "{answer}");

    let waiting = workspace.client.send_request("workspace/diagnostic", ids(&first));
    let shut_down = workspace.client.send_request("shutdown", Value::Null);
    assert_eq!(workspace.client.answer(&json!(waiting))["error"]["code"], -32800);
    assert_eq!(workspace.client.answer(&json!(shut_down))["result"], Value::Null);
}

#[test]
fn clients_that_do_not_pull_get_diagnostics_too() {
    let mut workspace = Workspace::new(&files());
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);

    workspace.open_saved("wrong.prose");
    assert_eq!(workspace.pushed_whole("wrong.prose")["version"], 1);
    workspace.replace("wrong.prose", 2, "session \"right\"\n");
    assert_eq!(workspace.pushed("wrong.prose"), [] as [&str; 0]);
    // What was not saved is gone with the document.
    workspace.close("wrong.prose");
    assert_eq!(workspace.pushed("wrong.prose"), [] as [&str; 0]);
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);

    workspace.configure(json!({ "check": { "workspace": false } }));
    assert_eq!(workspace.pushed("wrong.prose"), [] as [&str; 0]);
    workspace.configure(json!({}));
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);

    workspace.remove_watched("wrong.prose");
    assert_eq!(workspace.pushed("wrong.prose"), [] as [&str; 0]);
    // Programs that are new are found.
    workspace.write_watched("new/wrong.prose", WRONG);
    assert_eq!(workspace.pushed("new/wrong.prose"), ["E007"]);
}

#[test]
fn clients_that_watch_nothing_get_diagnostics_when_they_save() {
    let mut workspace = Workspace::new(&files());
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);
    workspace.open_saved("main.prose");
    assert_eq!(workspace.pushed("main.prose"), [] as [&str; 0]);
    workspace.write("wrong.prose", "session \"right\"\n");
    workspace.write("new.prose", WRONG);
    workspace.save("main.prose");
    assert_eq!(workspace.pushed("wrong.prose"), [] as [&str; 0]);
    assert_eq!(workspace.pushed("new.prose"), ["E007"]);
}

#[test]
fn programs_that_are_not_open_are_found_and_renamed_with_the_others() {
    let mut workspace = Workspace::new(&files()).opened("flows/find.prose");
    let renamed = workspace.rename("flows/find.prose", (0, 7), "subject");
    let mut changed: Vec<&String> = renamed["result"]["changes"].as_object().unwrap().keys().collect();
    changed.sort();
    assert_eq!(changed, [&workspace.uri("flows/find.prose"), &workspace.uri("main.prose")]);
    let found = workspace.at("textDocument/references", "flows/find.prose", (1, 8));
    assert_eq!(found.as_array().unwrap().len(), 1);
    let callers = workspace.at("textDocument/references", "flows/find.prose", (0, 7));
    let uris: Vec<&Value> = callers.as_array().unwrap().iter().map(|place| &place["uri"]).collect();
    assert!(uris.contains(&&json!(workspace.uri("main.prose"))), "{callers}");
    let symbols = workspace.client.request("workspace/symbol", json!({ "query": "found" }));
    assert_eq!(symbols["result"].as_array().unwrap().len(), 1, "{symbols}");
}

#[test]
fn folders_come_and_go() {
    let mut workspace = Workspace::with(pulling(), &files());
    let other = prose_fixture::tempdir().unwrap();
    fs::write(other.path().join("other.prose"), WRONG).unwrap();
    let root = other.path().canonicalize().unwrap();
    let folder = json!({ "uri": format!("file://{}", root.display()), "name": "other" });
    let first = workspace.client.request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let mut ask = |event: Value, before: &Value| {
        let waiting = workspace.client.send_request("workspace/diagnostic", ids(before));
        workspace.client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
        workspace.client.answer(&json!(waiting))
    };
    let added = ask(json!({ "added": [folder], "removed": [] }), &first);
    let removed = ask(json!({ "added": [], "removed": [folder] }), &added);
    let names = |answer: &Value| -> Vec<String> {
        let reports = reports(&workspace, answer);
        let mut names: Vec<String> =
            reports.iter().map(|report| report.rsplit('/').next().unwrap().to_owned()).collect();
        // The folders are called by chance.
        names.sort();
        names
    };
    assert_eq!(names(&added), ["other.prose full E007", "wrong.prose unchanged"]);
    assert_eq!(names(&removed), ["other.prose full", "wrong.prose unchanged"]);
}

#[test]
fn the_first_look_through_the_folders_is_shown() {
    let mut workspace = Workspace::with(json!({ "window": { "workDoneProgress": true } }), &files());
    let mut progress = Vec::new();
    while progress.last().is_none_or(|(kind, _)| kind != "end") {
        let message = workspace.client.wait_for(|message| message["params"]["token"] == "scan-1");
        let value = &message["params"]["value"];
        if let Some(kind) = value["kind"].as_str() {
            progress.push((kind.to_owned(), value["message"].as_str().unwrap_or_default().to_owned()));
        }
    }
    let kinds: Vec<&str> = progress.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["begin", "report", "end"]);
    assert_eq!(progress[1].1, "3 programs");
}

const NOTHING: [&str; 0] = [];

/// A workspace in which imports need not be of use.
fn importing(files: &[(&str, &str)]) -> Workspace {
    let settings = json!({ "check": { "levels": { "W120": "off" } } });
    Workspace::with_settings(json!({}), settings, files)
}

#[test]
fn programs_that_come_back_as_they_were_are_found() {
    let mut workspace = Workspace::new(&files());
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);
    let (here, away) = (workspace.folder.path().join("wrong.prose"), workspace.folder.path().join("away"));
    fs::rename(&here, &away).unwrap();
    workspace.say_changed("wrong.prose", 3);
    assert_eq!(workspace.pushed("wrong.prose"), NOTHING);
    fs::rename(&away, &here).unwrap();
    workspace.say_changed("wrong.prose", 1);
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);
}

#[test]
fn programs_are_checked_that_were_known_before_they_were_files() {
    let mut workspace = importing(&[("main.prose", "use \"./new.prose\"\n")]);
    assert_eq!(workspace.pushed("main.prose"), ["E139"]);
    workspace.write_watched("new.prose", WRONG);
    assert_eq!(workspace.pushed("new.prose"), ["E007"], "an import asked for it");

    workspace.open("other.prose", WRONG);
    assert_eq!(workspace.pushed("other.prose"), ["E007"]);
    workspace.write_watched("other.prose", WRONG);
    workspace.close("other.prose");
    assert_eq!(workspace.pushed("other.prose"), NOTHING);
    assert_eq!(workspace.pushed("other.prose"), ["E007"], "an editor had it open");
}

#[test]
fn a_program_that_is_closed_as_soon_as_it_is_opened_stays_known() {
    let mut workspace = Workspace::new(&files());
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);
    // In one piece, so that the server has no time to look at what is opened.
    let uri = workspace.uri("quick.prose");
    workspace.write("quick.prose", WRONG);
    let document = json!({ "uri": uri, "languageId": "prose", "version": 1, "text": "" });
    let events = json!({ "changes": [{ "uri": workspace.uri("flows/new.prose"), "type": 1 }] });
    workspace.write("flows/new.prose", WRONG);
    let messages = [
        ("textDocument/didOpen", json!({ "textDocument": document })),
        ("workspace/didChangeWatchedFiles", events),
        ("textDocument/didClose", json!({ "textDocument": { "uri": uri } })),
    ];
    let frames = messages.map(|(method, params)| frame(&notification(method, params)));
    workspace.client.send_bytes(&frames.concat());
    while workspace.pushed("quick.prose") != ["E007"] {}
}

#[test]
fn importers_report_why_there_is_no_program() {
    let mut workspace = importing(&[
        ("main.prose", "use \"./.hidden/find.prose\"\nuse \"./wrong.prose\"\n"),
        (".hidden/find.prose", FIND),
        ("wrong.prose", WRONG),
    ]);
    assert_eq!(workspace.pushed("main.prose"), ["E145"]);
    let find = workspace.folder.path().join(".hidden/find.prose");
    fs::write(&find, [0xff]).unwrap();
    workspace.say_changed(".hidden/find.prose", 2);
    assert_eq!(workspace.pushed("main.prose"), ["E143", "E145"]);
    workspace.remove_watched(".hidden/find.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E139", "E145"]);
    workspace.write_watched(".hidden/find.prose", FIND);
    assert_eq!(workspace.pushed("main.prose"), ["E145"]);
    // Of what was in a folder that is gone, clients tell nothing.
    fs::remove_dir_all(workspace.folder.path().join(".hidden")).unwrap();
    workspace.say_changed(".hidden", 3);
    assert_eq!(workspace.pushed("main.prose"), ["E139", "E145"]);
}

#[test]
fn what_is_left_out_can_change() {
    let mut workspace = Workspace::new(&[("flows/wrong.prose", WRONG)]);
    assert_eq!(workspace.pushed("flows/wrong.prose"), ["E007"]);
    workspace.write_watched(".gitignore", "flows\n");
    assert_eq!(workspace.pushed("flows/wrong.prose"), NOTHING);
    workspace.remove_watched(".gitignore");
    assert_eq!(workspace.pushed("flows/wrong.prose"), ["E007"]);
}

#[test]
fn saving_shows_which_imports_are_there_to_clients_that_watch_nothing() {
    let mut workspace = importing(&[
        ("main.prose", "use \"./find.prose\"\nuse \"./.hidden/find.prose\" as other\n"),
        ("find.prose", FIND),
    ]);
    assert_eq!(workspace.pushed("main.prose"), ["E139"]);
    workspace.open_saved("main.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E139"]);
    fs::remove_file(workspace.folder.path().join("find.prose")).unwrap();
    workspace.save("main.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E139", "E139"]);
    workspace.write("find.prose", FIND);
    workspace.write(".hidden/find.prose", FIND);
    workspace.save("main.prose");
    while workspace.pushed("main.prose") != NOTHING {}
}

#[test]
fn an_editor_that_names_a_file_in_another_way_keeps_no_old_findings() {
    let mut workspace = Workspace::new(&[("wrong.prose", WRONG)]);
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);
    let other = workspace.uri("%77rong.prose").replace("%25", "%");
    workspace.client.open(&other, 1, WRONG);
    assert_eq!(workspace.pushed("wrong.prose"), NOTHING);
}

#[test]
fn clients_that_never_send_initialized_are_answered() {
    let folder = prose_fixture::tempdir().unwrap();
    fs::write(folder.path().join("wrong.prose"), "agent somebody:\n").unwrap();
    let mut client = prose_tests::lsp::LspClient::start(&[]);
    let root = format!("file://{}", folder.path().canonicalize().unwrap().display());
    client.request("initialize", json!({ "processId": null, "rootUri": root, "capabilities": {} }));
    let symbols = client.request("workspace/symbol", json!({ "query": "somebody" }));
    assert_eq!(symbols["result"].as_array().unwrap().len(), 1, "{symbols}");
}

#[test]
fn who_closes_the_input_gets_the_last_answers() {
    let mut workspace = Workspace::with(pulling(), &files());
    let client = &mut workspace.client;
    let symbols = client.send_request("workspace/symbol", json!({ "query": "found" }));
    let first = client.send_request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let waiting = client.send_request("workspace/diagnostic", json!({ "previousResultIds": [] }));
    client.close_input();
    assert_eq!(client.answer(&json!(symbols))["result"].as_array().unwrap().len(), 1);
    assert_eq!(client.answer(&json!(first))["result"]["items"].as_array().unwrap().len(), 1);
    // This one has news as well: that of a client that has no report.
    assert_eq!(client.answer(&json!(waiting))["result"]["items"].as_array().unwrap().len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn programs_whose_names_no_client_can_write_are_left_alone() {
    use std::os::unix::ffi::OsStrExt;

    let mut workspace = Workspace::with(pulling(), &[]);
    let name = std::ffi::OsStr::from_bytes(b"\xff.prose");
    fs::write(workspace.folder.path().join(name), WRONG).unwrap();
    workspace.restart();
    workspace.write_watched("wrong.prose", WRONG);
    let params = json!({ "previousResultIds": [] });
    let first = workspace.client.request("workspace/diagnostic", params);
    let waiting = first["result"]["items"].as_array().unwrap().is_empty();
    let answer = if waiting { workspace.client.request("workspace/diagnostic", ids(&first)) } else { first };
    assert_eq!(reports(&workspace, &answer), ["wrong.prose full E007"]);
}

#[test]
fn names_that_collide_in_a_program_that_is_not_open_are_refused() {
    let mut workspace = Workspace::new(&[
        ("main.prose", "use \"./find.prose\"\nlet a = find(topic: \"tides\", place: \"here\")\n"),
        ("find.prose", "input topic: \"What\"\noutput found = session \"Find {topic}\"\n"),
    ]);
    workspace.open_saved("find.prose");
    let refused = workspace.rename("find.prose", (0, 7), "place");
    assert!(refused["error"]["message"].as_str().unwrap().contains("main.prose"), "{refused}");
    let changes = workspace.rename("find.prose", (0, 7), "subject")["result"]["changes"].take();
    assert_eq!(changes.as_object().unwrap().len(), 2, "{changes}");
}

#[test]
fn imports_in_programs_that_are_not_open_follow_a_move() {
    let mut workspace = Workspace::new(&files());
    assert_eq!(workspace.pushed("wrong.prose"), ["E007"]);
    let moved = json!({ "files": [{
        "oldUri": workspace.uri("flows"), "newUri": workspace.uri("steps"),
    }] });
    let answer = workspace.client.request("workspace/willRenameFiles", moved.clone());
    let edits = &answer["result"]["changes"][workspace.uri("main.prose")];
    assert_eq!(edits.as_array().map(Vec::len), Some(1), "{answer}");
    assert!(edits[0]["newText"].as_str().unwrap().contains("./steps/find.prose"), "{answer}");
    // The client makes the edits and moves the files.
    workspace.write_watched("main.prose", &MAIN.replace("flows", "steps"));
    let root = workspace.folder.path();
    fs::rename(root.join("flows"), root.join("steps")).unwrap();
    workspace.client.notify("workspace/didRenameFiles", moved);
    let symbols = workspace.client.request("workspace/symbol", json!({ "query": "found" }));
    let uri = &symbols["result"][0]["location"]["uri"];
    assert_eq!(*uri, workspace.uri("steps/find.prose"), "{symbols}");
    workspace.open_saved("main.prose");
    assert_eq!(workspace.pulled("main.prose"), NOTHING);
}
