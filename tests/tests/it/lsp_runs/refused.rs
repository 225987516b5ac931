//! What is not run, and why.

use expect_test::expect;
use prose_tests::lsp::range;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

use super::*;

#[test]
fn settings_that_are_not_understood_keep_a_program_from_being_run() {
    let files = &[("good.prose", "session \"a\"\n"), ("prose.toml", "[run]\nmax-parallel = 0\n")];
    let mut workspace = Workspace::new(files).opened("good.prose");
    let folder = workspace.folder.path().canonicalize().unwrap();
    let refused = refusal(&mut workspace, "prose.run", "good.prose", json!({}));
    check(
        &refused.replace(folder.to_str().unwrap(), "FOLDER"),
        expect![
            "`good.prose` is not run: fix FOLDER/prose.toml:2:16: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`"
        ],
    );
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason() {
    let files =
        &[("good.prose", "input topic: \"What?\"\nsession \"Write about {topic}\"\n"), ("notes.toml", "")];
    let mut workspace = Workspace::new(files).opened("good.prose");
    let mut refused = |others| refusal(&mut workspace, "prose.run", "good.prose", others);
    check(
        &refused(json!({ "inputs": { "topik": "x" } })),
        expect!["the program has no input `topik`; did you mean `topic`?"],
    );
    check(
        &refused(json!({ "harness": "offlin" })),
        expect!["harness `offlin` does not exist; did you mean `offline`?"],
    );
    check(
        &refused(json!({ "topic": "x" })),
        expect![[
            r#"`prose.run` takes one argument, such as { "uri": "file:///…" }: unknown field `topic`, expected one of `uri`, `run`, `block`, `request`, `inputs`, `arguments`, `harness`, `script`, `acceptChanges`, `maxCost`, `maxTokens`, `maxSessions`, `from`, `line`, `variables`, `replies`, `confirmed`"#
        ]],
    );
    check(
        &refused(json!({ "block": "none" })),
        expect![
            "`none` is not a block that can be run on its own: it has to stand at the top level of the program, and may use only agents, blocks and imported programs, and no variable of the program. Run the whole program instead"
        ],
    );
    // As it was last edited, and not as it was saved.
    workspace.replace("good.prose", 2, "session \"a\"\nsession: nobody\nsession \"b\n");
    check(
        &refusal(&mut workspace, "prose.run", "good.prose", json!({})),
        expect!["`good.prose` has 2 errors and is not run; line 2: agent `nobody` is not defined"],
    );
    check(
        &refusal(&mut workspace, "prose.dryRun", "good.prose", json!({})),
        expect!["`good.prose` has 2 errors and is not run; line 2: agent `nobody` is not defined"],
    );
    check(
        &refusal(&mut workspace, "prose.cancel", "good.prose", json!({})),
        expect!["nothing of this program runs; there is nothing to stop"],
    );
    workspace.replace("good.prose", 3, "session \"a\"\n");
    let none = refusal(&mut workspace, "prose.resume", "good.prose", json!({}));
    assert!(none.starts_with("there is no run of `"), "{none}");
    let closed = refusal(&mut workspace, "prose.run", "closed.prose", json!({}));
    assert!(closed.ends_with("closed.prose is not open; `textDocument/didOpen` must come first"), "{closed}");
    let runs = std::fs::read_dir(workspace.folder.path().join(".prose/runs")).unwrap();
    assert_eq!(runs.count(), 0, "something is left of a run that was refused");
}

#[test]
fn a_program_with_errors_is_not_offered_to_be_run() {
    let program = r#"block sound:
  session "a"

block lost:
  session: nobody

session "b"
"#;
    let shows = json!({ "window": { "showDocument": { "support": true } } });
    let mut workspace = Workspace::with(shows, &[("a.prose", program)]).opened("a.prose");
    check(
        &lenses(&mut workspace, "a.prose"),
        expect![[r#"
        0: Cannot run: 1 error prose.showError
        0: ▶ Run block prose.run
    "#]],
    );
    let argument = lens_argument(&mut workspace, "a.prose", "Cannot run: 1 error");
    let answer = workspace.execute("prose.showError", argument.clone());
    assert_eq!(answer["result"], Value::Null);
    let shown = workspace.client.wait_for_method("window/showDocument");
    let selection = range((4, 11), (4, 17));
    let uri = workspace.uri("a.prose");
    assert_eq!(shown["params"], json!({ "uri": uri, "takeFocus": true, "selection": selection }));

    workspace.replace("a.prose", 2, "session \"b\"\n");
    check(
        &lenses(&mut workspace, "a.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            0: ▶ Run session prose.run
        "#]],
    );
    assert_eq!(workspace.execute("prose.showError", argument)["result"], Value::Null);
}

#[test]
fn settings_with_an_error_keep_all_programs_from_being_run() {
    let settings = "# über alles\n[run]\nmax-parallel = 0\n";
    let program = "block sound:\n  session \"a\"\n\nsession \"b\"\n";
    let shows = json!({ "window": { "showDocument": { "support": true } } });
    let mut workspace = Workspace::with(shows, &[("a.prose", program), ("prose.toml", settings)]);
    workspace.open_saved("a.prose");
    check(
        &lenses(&mut workspace, "a.prose"),
        expect![[r#"
        0: Cannot run: error in prose.toml prose.showError
    "#]],
    );
    let argument = lens_argument(&mut workspace, "a.prose", "Cannot run: error in prose.toml");
    assert_eq!(workspace.execute("prose.showError", argument)["result"], Value::Null);
    let shown = workspace.client.wait_for_method("window/showDocument");
    let uri = workspace.uri("prose.toml");
    let selection = range((2, 15), (2, 16));
    assert_eq!(shown["params"], json!({ "uri": uri, "takeFocus": true, "selection": selection }));

    workspace.write_watched("prose.toml", "# über alles\n[run]\nmax-parallel = 2\n");
    check(
        &lenses(&mut workspace, "a.prose"),
        expect![[r#"
            0: ▶ Run program prose.run
            0: Dry run prose.dryRun
            0: ▶ Run block prose.run
            1: ▶ Run session prose.run
            3: ▶ Run session prose.run
        "#]],
    );
}

#[test]
fn a_client_that_shows_no_places_is_told_that_there_are_errors() {
    let mut workspace = Workspace::new(&[("a.prose", "session: nobody\nsession: nothing\n")]);
    workspace.open_saved("a.prose");
    check(
        &lenses(&mut workspace, "a.prose"),
        expect![[r#"
        0: Cannot run: 2 errors 
    "#]],
    );
}

#[test]
fn what_a_run_would_only_find_out_on_its_way_is_refused_before_it_starts() {
    let files = &[
        ("sub/prose.toml", ""),
        ("sub/out.prose", "agent a:\n  persist: \"../notes\"\nsession \"b\"\nsession: a\n  prompt: \"x\"\n"),
        ("call.prose", "use \"./inner.prose\" as find\noutput o = find()\n"),
        ("inner.prose", "input topic: \"What about?\"\noutput o = topic\n"),
    ];
    let mut workspace = Workspace::new(files).opened("sub/out.prose");
    workspace.open_saved("call.prose");
    let folder = workspace.folder.path().to_str().unwrap().to_owned();
    let refused = refusal(&mut workspace, "prose.run", "sub/out.prose", json!({}));
    check(
        &refused.replace(&folder, "FOLDER"),
        expect![
            "`../notes/` is refused: agent `a` would keep its memory outside the project FOLDER/sub. Name a folder inside it, or allow that with the setting `prose.run.allowOutside` of the editor"
        ],
    );
    check(
        &refusal(&mut workspace, "prose.run", "call.prose", json!({})),
        expect!["line 2: missing input `topic` in the call of `find`; pass it in the call: `(name: …)`"],
    );
    let left = [".prose", "sub/.prose"].map(|folder| workspace.folder.path().join(folder).exists());
    assert_eq!(left, [false; 2], "something is left of a run that was refused");

    workspace.configure(json!({ "run": { "allowOutside": true } }));
    run(&mut workspace, "sub/out.prose", json!({}));
    assert_eq!(&message(&mut workspace)[..30], "out.prose is done: 2 sessions.");
    assert!(workspace.folder.path().join("notes/memory.md").is_file());
}

#[test]
fn programs_of_a_workspace_that_is_not_trusted_are_not_run() {
    let settings = json!({ "trusted": false });
    let mut workspace = Workspace::with_settings(json!({}), settings, &[("a.prose", "session \"a\"\n")]);
    workspace.open_saved("a.prose");
    check(
        &refusal(&mut workspace, "prose.run", "a.prose", json!({})),
        expect![
            "`a.prose` is not run, since this workspace is not trusted: its programs tell agents what to do on this machine. Trust the workspace first"
        ],
    );
    workspace.configure(json!({ "trusted": true }));
    run(&mut workspace, "a.prose", json!({}));
    message(&mut workspace);
}
