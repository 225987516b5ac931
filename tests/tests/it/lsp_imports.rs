//! Programs of a registry in the editor: looked up while one types, over the wire.

use std::time::{Duration, Instant};

use prose_tests::lsp::PATIENCE;
use prose_tests::registry::TestRegistry;
use prose_tests::workspace::{Workspace, codes};
use serde_json::{Value, json};

const RESEARCH: &str = "# Looks things up.\ninput topic: \"What to look for\"\n\noutput findings = session \"Look up {topic}\"\n";

fn registry() -> TestRegistry {
    TestRegistry::start(&[("alice/research", RESEARCH)])
}

fn settings(registry: &TestRegistry) -> String {
    format!("[registry]\nurl = \"{}\"\n", registry.url())
}

fn workspace(registry: &TestRegistry, files: &[(&str, &str)]) -> Workspace {
    let settings = settings(registry);
    Workspace::new(&[files, &[("prose.toml", settings.as_str())]].concat())
}

/// Waits until a file has the diagnostics, however many others come before.
#[track_caller]
fn wait_for(workspace: &mut Workspace, name: &str, wanted: &[&str]) -> Value {
    loop {
        let published = workspace.pushed_whole(name);
        if codes(&published["diagnostics"]) == wanted {
            return published;
        }
    }
}

/// Waits until the server has the program that the first line of a file imports. Gives the address of its text.
#[track_caller]
fn wait_for_import(workspace: &mut Workspace, name: &str) -> String {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        let places = workspace.at("textDocument/definition", name, (0, 8));
        if let Some(uri) = places[0]["uri"].as_str() {
            return uri.to_owned();
        }
    }
    panic!("the program that {name} imports never arrives");
}

#[test]
fn a_path_is_looked_up_when_it_is_complete_and_typing_has_stopped() {
    let registry = registry();
    let mut workspace = workspace(&registry, &[]);
    let rest = "\n\nlet found = research(topic: \"tides\")\nsession \"Tell of {found.summary}\"\n";
    workspace.open("main.prose", rest);
    let path = "use \"alice/research\"";
    for (version, end) in (1..=path.len()).enumerate() {
        workspace.replace("main.prose", version as i64 + 2, &format!("{}{rest}", &path[..end]));
        // As fast as a person types, or a little faster.
        std::thread::sleep(Duration::from_millis(40));
    }
    let published = wait_for(&mut workspace, "main.prose", &["E028"]);
    assert_eq!(
        published["diagnostics"][0]["message"],
        "`research` has no output `summary`; it has `findings`"
    );
    assert_eq!(registry.take_asked(), ["alice/research"]);

    let hover = workspace.at("textDocument/hover", "main.prose", (2, 14));
    assert!(hover["contents"].to_string().contains("What to look for"), "{hover}");
    let places = workspace.at("textDocument/definition", "main.prose", (0, 8));
    let uri = places[0]["uri"].as_str().unwrap();
    assert!(uri.ends_with("/alice/research.prose"), "{uri}");
    let shown = workspace.folder.path().canonicalize().unwrap();
    let shown = uri.strip_prefix("file://").unwrap().replacen(shown.to_str().unwrap(), "", 1);
    let text = std::fs::read_to_string(workspace.folder.path().join(shown.trim_start_matches('/'))).unwrap();
    assert_eq!(text, RESEARCH);
    let completions = workspace.at("textDocument/completion", "main.prose", (3, 24));
    assert!(completions.to_string().contains("\"findings\""), "{completions}");
}

#[test]
fn what_is_known_is_there_at_once_and_asked_for_once() {
    let registry = registry();
    let program = "use \"alice/research\"\n\noutput found = research()\n";
    let mut workspace = workspace(&registry, &[("a.prose", program), ("b.prose", program)]).opened("a.prose");
    workspace.open_saved("b.prose");
    wait_for(&mut workspace, "a.prose", &["E026"]);
    wait_for(&mut workspace, "b.prose", &["E026"]);
    assert_eq!(registry.take_asked(), ["alice/research"]);

    workspace.restart();
    workspace.open_saved("a.prose");
    assert_eq!(workspace.pushed("a.prose"), ["E026"]);
    assert_eq!(registry.take_asked(), [] as [&str; 0]);
}

#[test]
fn what_goes_wrong_is_reported_at_the_path() {
    let registry = TestRegistry::start(&[
        ("alice/research", RESEARCH),
        ("alice/page", "<!doctype html><html><body>Hello</body></html>"),
        ("alice/broken", "output found = findings\n"),
    ]);
    let program = |path: &str| format!("use \"{path}\" as it\n\noutput found = it(topic: \"tides\")\n");
    let mut workspace = workspace(
        &registry,
        &[
            ("known.prose", &program("alice/research")),
            ("missing.prose", &program("alice/reserch")),
            ("page.prose", &program("alice/page")),
            ("broken.prose", "use \"alice/broken\"\n\noutput found = broken()\n"),
            ("gone.prose", &program("http://127.0.0.1:9/gone.prose")),
            ("open.prose", &program("http://example.com/open.prose")),
        ],
    );
    workspace.open_saved("known.prose");
    workspace.pushed("known.prose");
    wait_for_import(&mut workspace, "known.prose");
    for (name, code, says) in [
        ("missing.prose", "E139", "did you mean `alice/research`?"),
        ("page.prose", "E143", "is a web page"),
        ("broken.prose", "E145", "has an error"),
        ("gone.prose", "W143", "cannot be connected to"),
        ("open.prose", "E144", "`https://`"),
    ] {
        workspace.open_saved(name);
        let published = wait_for(&mut workspace, name, &[code]);
        let message = published["diagnostics"][0]["message"].as_str().unwrap();
        assert!(message.contains(says), "{name}: {message}");
    }
}

#[test]
fn an_import_can_be_fetched_again_and_pinned() {
    let registry = registry();
    let program = "use \"alice/research\"\n\nlet found = research(topic: \"tides\")\nsession \"Tell of {found.findings}\"\n";
    let mut workspace = workspace(&registry, &[("main.prose", program)]).opened("main.prose");
    workspace.pushed("main.prose");
    let since = Instant::now();
    let actions = loop {
        assert!(since.elapsed() < PATIENCE, "the import is not fetched");
        let actions = workspace.actions("main.prose", (0, 8), &[]);
        if actions.as_array().is_some_and(|actions| !actions.is_empty()) {
            break actions;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let titles: Vec<&str> =
        actions.as_array().unwrap().iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Fetch `alice/research` again", "Pin `alice/research` in prose.lock"]);

    registry.put("alice/research", &RESEARCH.replace("findings", "results"));
    let run = |workspace: &mut Workspace, action: &Value| {
        let (name, arguments) = (&action["command"]["command"], &action["command"]["arguments"]);
        let answer = workspace.execute(name.as_str().unwrap(), arguments[0].clone());
        assert_eq!(answer.get("error"), None, "{answer}");
    };
    run(&mut workspace, &actions[0]);
    wait_for(&mut workspace, "main.prose", &["E028"]);
    assert_eq!(registry.take_asked().len(), 2);

    run(&mut workspace, &actions[1]);
    let published = workspace.client.wait_for_method("window/showMessage");
    assert!(published["params"]["message"].as_str().unwrap().contains("is pinned in"), "{published}");
    let lock = std::fs::read_to_string(workspace.folder.path().join("prose.lock")).unwrap();
    assert!(lock.contains("reference = \"alice/research\""), "{lock}");
}

/// Has the text of `alice/research` pinned, and gives the lock file that names it.
fn pinned(workspace: &mut Workspace) -> String {
    workspace.open_saved("main.prose");
    wait_for(workspace, "main.prose", &[]);
    let argument = json!({ "uri": workspace.uri("main.prose"), "path": "alice/research" });
    loop {
        workspace.execute("prose.pin", argument.clone());
        let published = workspace.client.wait_for_method("window/showMessage");
        if published["params"]["message"].as_str().unwrap().contains("is pinned in") {
            return std::fs::read_to_string(workspace.folder.path().join("prose.lock")).unwrap();
        }
    }
}

#[test]
fn the_lock_file_counts_in_the_editor_as_soon_as_it_is_there() {
    let registry = registry();
    let program = "use \"alice/research\"\n\nlet found = research(topic: \"tides\")\nsession \"Tell of {found.findings}\"\n";
    let mut workspace = workspace(&registry, &[("main.prose", program)]);
    let lock = pinned(&mut workspace);
    std::fs::remove_file(workspace.folder.path().join("prose.lock")).unwrap();
    registry.put("alice/research", &RESEARCH.replace("findings", "results"));
    workspace.restart_without_cache();
    workspace.open_saved("main.prose");
    wait_for(&mut workspace, "main.prose", &["E028"]);

    workspace.write_watched("prose.lock", &lock);
    // The text that is pinned is nowhere to be had.
    let published = wait_for(&mut workspace, "main.prose", &["E146"]);
    let message = published["diagnostics"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("SHA-256") && message.contains("prose lock --update=alice/research"),
        "{message}"
    );
    let argument = json!({ "uri": workspace.uri("main.prose") });
    let answer = workspace.execute("prose.run", argument);
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("differs from the text in prose.lock"),
        "{answer}"
    );

    workspace.write_watched("prose.lock", "<<<<<<< HEAD\n");
    let published = wait_for(&mut workspace, "main.prose", &["E146"]);
    let message = published["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("is rejected, since prose.lock is not a valid lock file"), "{message}");

    workspace.remove_watched("prose.lock");
    wait_for(&mut workspace, "main.prose", &["E028"]);
}

#[test]
fn also_where_nothing_is_fetched_a_text_that_is_not_pinned_is_refused() {
    let registry = registry();
    let program = "use \"alice/research\"\n\nlet found = research(topic: \"tides\")\nsession \"Tell of {found.findings}\"\n";
    let mut workspace = workspace(&registry, &[("main.prose", program)]);
    let lock = pinned(&mut workspace);
    let other = lock.lines().map(|line| match line.starts_with("sha256") {
        true => format!("sha256 = \"{}\"\n", "0".repeat(64)),
        false => format!("{line}\n"),
    });
    let other: String = other.collect();
    for mode in ["off", "manual"] {
        workspace.write("prose.lock", &other);
        workspace.write("prose.toml", &format!("{}fetch = \"{mode}\"\n", settings(&registry)));
        workspace.restart();
        workspace.open_saved("main.prose");
        wait_for(&mut workspace, "main.prose", &["E146"]);
    }
}

#[test]
fn what_a_fetched_program_asks_for_is_shown_and_has_to_be_granted() {
    let hungry = "output found = session \"Look\"\n  context:\n    file: \"docs/a.md\"\n";
    let through = "use \"alice/hungry\"\n\noutput found = hungry()\n";
    let registry = TestRegistry::start(&[("alice/hungry", hungry), ("alice/through", through)]);
    let program = "use \"alice/through\"\n\noutput found = through()\n";
    let files = [("main.prose", program), ("docs/a.md", "A"), ("prose.toml", &settings(&registry))];
    let mut workspace = Workspace::with_settings(json!({}), json!({ "trusted": true }), &files);
    workspace.open_saved("main.prose");
    wait_for(&mut workspace, "main.prose", &[]);
    let asks = |workspace: &mut Workspace| {
        let hover = workspace.at("textDocument/hover", "main.prose", (0, 8)).to_string();
        hover.contains("Requested rights:\\n- alice/hungry: files:docs/a.md")
    };
    // What it imports may still be looked up.
    let is_shown = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        asks(&mut workspace)
    });
    assert!(is_shown, "{}", workspace.at("textDocument/hover", "main.prose", (0, 8)));
    let run = |workspace: &mut Workspace| {
        let argument = json!({ "uri": workspace.uri("main.prose") });
        workspace.execute("prose.run", argument)
    };
    let answer = run(&mut workspace);
    let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let asked = "the fetched program `alice/hungry` requests `files:docs/a.md`, which is not granted";
    assert!(message.contains(asked), "{message}");
    assert!(message.ends_with("[imports.\"alice/hungry\"]\nallow = [\"files:docs/a.md\"]"), "{message}");
    assert!(!workspace.folder.path().join(".prose/runs").exists());

    let granted = format!("{}[imports.\"alice/hungry\"]\nallow = [\"files:docs/**\"]\n", settings(&registry));
    workspace.write_watched("prose.toml", &granted);
    let answer = run(&mut workspace);
    assert!(answer["result"]["run"].is_string(), "{answer}");
}

#[test]
fn nothing_is_fetched_for_an_untrusted_workspace() {
    let registry = registry();
    let program = "use \"alice/research\"\n\noutput found = research()\n";
    let files = [("main.prose", program), ("prose.toml", &settings(&registry))];
    let mut workspace = Workspace::with_settings(json!({}), json!({ "trusted": false }), &files);
    workspace.open_saved("main.prose");
    assert_eq!(workspace.pushed("main.prose"), ["W143"]);
    assert_eq!(workspace.actions("main.prose", (0, 8), &[]), json!([]));
    let argument = json!({ "uri": workspace.uri("main.prose"), "path": "alice/research" });
    workspace.execute("prose.fetch", argument);
    let published = workspace.client.wait_for_method("window/showMessage");
    assert!(published["params"]["message"].as_str().unwrap().contains("is not fetched"), "{published}");
    assert_eq!(registry.take_asked(), [] as [&str; 0]);

    workspace.configure(json!({ "trusted": true }));
    wait_for(&mut workspace, "main.prose", &["E026"]);
    // Once, since it was trusted: what was asked for before came to nothing.
    assert_eq!(registry.take_asked(), ["alice/research"]);
}

#[test]
fn look_ups_are_shown_while_they_are_under_way() {
    let registry = registry();
    registry.answer_after(Duration::from_millis(200));
    let settings = settings(&registry);
    let files = [("main.prose", "use \"alice/research\"\n"), ("prose.toml", settings.as_str())];
    let mut workspace = Workspace::with(json!({ "window": { "workDoneProgress": true } }), &files);
    workspace.open_saved("main.prose");
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|kind| kind != "end") {
        let is_fetching = |message: &Value| message["params"]["token"].as_str() == Some("fetching-1");
        let message =
            workspace.client.wait_for(|message| message["method"] == "$/progress" && is_fetching(message));
        kinds.push(message["params"]["value"]["kind"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds, ["begin", "end"]);
}

#[test]
fn programs_of_the_network_import_from_the_network() {
    let registry = TestRegistry::start(&[
        ("alice/plan", "use \"bob/steps\"\n\noutput plan = steps()\n"),
        ("bob/steps", "output steps = session \"List the steps\"\noutput more = stepss\n"),
    ]);
    let mut workspace =
        workspace(&registry, &[("main.prose", "use \"alice/plan\"\n\noutput plan = plan()\n")]);
    workspace.open_saved("main.prose");
    let published = wait_for(&mut workspace, "main.prose", &["E145"]);
    let message = published["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains("imports `bob/steps`, which has an error"), "{message}");
}

#[test]
fn an_output_is_renamed_with_the_programs_that_take_it() {
    let lib = "input topic: \"What to look for\"\n\noutput summary = session \"Sum up {topic}\"\n";
    let main = "use \"./lib.prose\" as lib\n\nlet found = lib(topic: \"trees\")\nsession \"Tell of {found.summary}\"\n";
    let mut workspace = Workspace::new(&[("lib.prose", lib), ("main.prose", main)]).opened("main.prose");
    workspace.open_saved("lib.prose");
    let prepared = workspace.at("textDocument/prepareRename", "lib.prose", (2, 9));
    assert_eq!(prepared["placeholder"], "summary");
    let answer = workspace.rename("lib.prose", (2, 9), "digest");
    let changed = |name: &str| answer["result"]["changes"][workspace.uri(name)][0]["range"]["start"].clone();
    assert_eq!(changed("lib.prose"), json!({ "line": 2, "character": 7 }));
    assert_eq!(changed("main.prose"), json!({ "line": 3, "character": 24 }));
    let refused = workspace.rename("lib.prose", (2, 9), "two words");
    assert!(refused["error"]["message"].as_str().unwrap().contains("`two words`"), "{refused}");
}

#[test]
fn paths_are_completed_and_linked() {
    let registry = registry();
    let program = "use \"alice/research\"\n\nlet found = research(topic: \"tides\")\nsession \"Tell of {found.findings}\"\n";
    let mut workspace =
        workspace(&registry, &[("main.prose", program), ("lib/plan.prose", "output a = \"b\"\n")]);
    workspace.open_saved("main.prose");
    workspace.pushed("main.prose");
    wait_for_import(&mut workspace, "main.prose");
    let params = json!({ "textDocument": { "uri": workspace.uri("main.prose") } });
    let links = workspace.client.request("textDocument/documentLink", params);
    let target = links["result"][0]["target"].as_str().unwrap();
    assert!(target.ends_with("/alice/research.prose"), "{links}");

    workspace.open("new.prose", "use \"");
    let completions = workspace.at("textDocument/completion", "new.prose", (0, 5));
    let labels: Vec<&str> =
        completions["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    for path in ["./lib/plan.prose", "./main.prose", "alice/research"] {
        assert!(labels.contains(&path), "{path} is not among {labels:?}");
    }
}

#[test]
fn a_fetched_program_that_is_opened_reaches_no_file_of_this_machine() {
    let registry =
        TestRegistry::start(&[("alice/nosy", "use \"/etc/secret.prose\"\n\noutput a = secret()\n")]);
    let program = "use \"alice/nosy\"\n\noutput found = nosy()\n";
    let mut workspace = workspace(&registry, &[("main.prose", program)]).opened("main.prose");
    // It names a file beside it at its host, and there is none.
    wait_for(&mut workspace, "main.prose", &["E145"]);
    let asked = registry.take_asked();
    assert_eq!(asked, ["alice/nosy", "etc/secret.prose"]);
    let links = workspace.at("textDocument/definition", "main.prose", (0, 8));
    let shown = links[0]["uri"].as_str().unwrap().to_owned();

    workspace.restart();
    let text = "use \"/etc/secret.prose\"\n\noutput a = secret()\n";
    workspace.client.open(&shown, 1, text);
    let message = loop {
        let published = workspace.client.diagnostics(&shown, 1);
        if let Some(message) = published[0]["message"].as_str() {
            break message.to_owned();
        }
    };
    assert!(message.starts_with(&format!("`{}etc/secret.prose`", registry.url())), "{message}");
}

#[test]
fn vendored_copies_need_no_network() {
    let registry = registry();
    let program = "use \"alice/research\"\n\noutput found = research()\n";
    let settings = format!("{}vendor = \"copies\"\n", settings(&registry));
    let mut workspace = Workspace::new(&[("main.prose", program), ("prose.toml", &settings)]);
    let vendored = std::process::Command::new(prose_tests::prose_binary())
        .args(["vendor", "copies"])
        .env("PROSE_CACHE_DIR", workspace.folder.path().join("another-cache"))
        .current_dir(workspace.folder.path())
        .output()
        .unwrap();
    assert!(vendored.status.success(), "{vendored:?}");
    registry.take_asked();
    workspace.open_saved("main.prose");
    assert_eq!(workspace.pushed("main.prose"), ["E026"]);
    assert_eq!(registry.take_asked(), [] as [&str; 0]);
}

#[test]
fn local_programs_in_between_import_from_the_registry_of_their_project() {
    let registry = registry();
    let files = [
        ("main.prose", "use \"./middle.prose\"\n\noutput found = middle()\n"),
        ("middle.prose", "use \"alice/research\"\n\noutput found = research()\n"),
    ];
    let _open = workspace(&registry, &files).opened("main.prose");
    assert_eq!(registry.wait_for_requests(), ["alice/research"]);
}

#[test]
fn a_program_that_imports_without_end_is_not_followed() {
    let registry = TestRegistry::start(&[]);
    let imports: String = (0..600).map(|number| format!("use \"mallory/p{number}\"\n")).collect();
    registry.put("mallory/many", &imports);
    for number in 0..600 {
        registry.put(&format!("mallory/p{number}"), "output a = \"b\"\n");
    }
    let mut workspace = workspace(&registry, &[("main.prose", "use \"mallory/many\"\n\nmany()\n")]);
    workspace.open_saved("main.prose");
    let published = wait_for(&mut workspace, "main.prose", &["E145"]);
    let message = published["diagnostics"][0]["message"].as_str().unwrap();
    assert_eq!(message, "`mallory/many` has 100 errors, so this program cannot run");
    workspace.client.shut_down();
    assert!(registry.take_asked().len() <= 501);
}

#[test]
fn projects_with_one_registry_have_copies_of_their_own() {
    let registry = registry();
    let program = "use \"alice/research\"\n\nlet found = research(topic: \"tides\")\nsession \"Tell of {found.findings}\"\n";
    let settings = format!("{}vendor = \"copies\"\n", settings(&registry));
    let files = [
        ("old/main.prose", program),
        ("old/prose.toml", &settings),
        ("new/main.prose", program),
        ("new/prose.toml", &settings),
    ];
    let mut workspace = Workspace::new(&files);
    let vendor = |project: &str| {
        let vendored = std::process::Command::new(prose_tests::prose_binary())
            .args(["vendor", "copies"])
            .env("PROSE_CACHE_DIR", workspace.folder.path().join(format!("cache-of-{project}")))
            .current_dir(workspace.folder.path().join(project))
            .output()
            .unwrap();
        assert!(vendored.status.success(), "{vendored:?}");
    };
    vendor("old");
    registry.put("alice/research", &RESEARCH.replace("findings", "results"));
    vendor("new");
    registry.take_asked();

    workspace.open_saved("old/main.prose");
    assert_eq!(workspace.pushed("old/main.prose"), [] as [&str; 0]);
    workspace.open_saved("new/main.prose");
    assert_eq!(workspace.pushed("new/main.prose"), ["E028"]);
    workspace.replace("old/main.prose", 2, &format!("{program}\n"));
    assert_eq!(workspace.pushed("old/main.prose"), [] as [&str; 0]);
    assert_eq!(registry.take_asked(), [] as [&str; 0]);

    // The copy itself is shown, and is a program of the network nevertheless.
    let places = workspace.at("textDocument/definition", "new/main.prose", (0, 8));
    assert_eq!(places[0]["uri"], workspace.uri("new/copies/alice--research.prose"));
    workspace.restart();
    workspace.open("new/copies/alice--research.prose", "use \"/etc/secret.prose\"\n\noutput a = secret()\n");
    let published = wait_for(&mut workspace, "new/copies/alice--research.prose", &["E139"]);
    let message = published["diagnostics"][0]["message"].as_str().unwrap();
    assert!(message.contains(&format!("`{}etc/secret.prose`", registry.url())), "{message}");
}

#[test]
fn a_fetched_program_that_is_opened_keeps_its_registry() {
    let plan = "use \"bob/steps\"\n\noutput plan = steps(topic: \"tides\")\n";
    let registry = TestRegistry::start(&[("alice/plan", plan), ("bob/steps", RESEARCH)]);
    let mut workspace =
        workspace(&registry, &[("main.prose", "use \"alice/plan\"\n\noutput plan = plan()\n")]);
    workspace.open_saved("main.prose");
    wait_for(&mut workspace, "main.prose", &[]);
    let shown = wait_for_import(&mut workspace, "main.prose");
    let wrong = plan.replace("topic", "subject");
    for _ in ["while its importer is open", "in a session of its own"] {
        workspace.client.open(&shown, 1, &wrong);
        let codes = loop {
            let codes = codes(&workspace.client.diagnostics(&shown, 1));
            if !codes.is_empty() {
                break codes;
            }
        };
        assert_eq!(codes, ["E027"]);
        workspace.restart();
    }
}

#[test]
fn what_could_not_be_reached_is_looked_up_again_by_itself() {
    let registry = registry();
    registry.set_down(true);
    let program = "use \"alice/research\"\n\noutput found = research()\n";
    let mut workspace = workspace(&registry, &[("main.prose", program)]).opened("main.prose");
    wait_for(&mut workspace, "main.prose", &["W143"]);
    registry.set_down(false);
    wait_for(&mut workspace, "main.prose", &["E026"]);
}

#[test]
fn a_local_program_that_is_written_later_belongs_to_its_project() {
    let registry = registry();
    let main = "use \"./middle.prose\"\n\noutput found = middle()\n";
    let near = ("midle.prose", "output a = \"b\"\n");
    let mut workspace = workspace(&registry, &[("main.prose", main), near]).opened("main.prose");
    let published = wait_for(&mut workspace, "main.prose", &["E139"]);
    assert!(published.to_string().contains("did you mean `./midle.prose`?"), "{published}");
    let middle = "use \"alice/research\"\n\ninput a: \"b\"\noutput found = research(topic: a)\n";
    workspace.write_watched("middle.prose", middle);
    wait_for(&mut workspace, "main.prose", &["E026"]);
    assert_eq!(registry.wait_for_requests(), ["alice/research"]);
}

#[test]
fn an_imported_file_without_a_text_is_reported() {
    let main = "use \"./folder.prose\" as it\n\noutput found = it()\n";
    let mut workspace = Workspace::new(&[("main.prose", main), ("folder.prose/a.prose", "")]);
    workspace.open_saved("main.prose");
    let published = wait_for(&mut workspace, "main.prose", &["E143"]);
    assert_eq!(published["diagnostics"][0]["message"], "`./folder.prose` is a folder, not a file");
}

#[test]
fn a_program_stays_known_when_the_cache_is_emptied() {
    let registry = registry();
    let program = "use \"alice/research\"\n\noutput found = research()\n";
    let mut workspace = workspace(&registry, &[("main.prose", program)]).opened("main.prose");
    wait_for(&mut workspace, "main.prose", &["E026"]);
    let places = workspace.at("textDocument/definition", "main.prose", (0, 8));
    let shown = places[0]["uri"].as_str().unwrap().to_owned();
    workspace.client.open(&shown, 1, RESEARCH);
    workspace.client.diagnostics(&shown, 1);
    std::fs::remove_dir_all(workspace.folder.path().join(prose_tests::workspace::CACHE)).unwrap();
    workspace.client.notify("textDocument/didClose", json!({ "textDocument": { "uri": shown } }));
    workspace.replace("main.prose", 2, &format!("{program}\n"));
    assert_eq!(workspace.pushed("main.prose"), ["E026"]);
}
