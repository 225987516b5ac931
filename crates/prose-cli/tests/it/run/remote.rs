//! Programs from registries and addresses.

use crate::common::{Server, Workspace};

const RESEARCH: &str = "input topic: \"What about\"\noutput found = session \"Research {topic}\"\n";

/// A registry of the folder `registry`, which the settings name.
pub(crate) fn serve(workspace: &Workspace) -> Server {
    let mut server = Server::start(workspace);
    server.url.truncate(server.url.trim_end_matches('/').len());
    workspace.write("prose.toml", format!("[registry]\nurl = \"{}\"\n", server.url).as_bytes());
    server
}

fn workspace() -> (Workspace, Server) {
    let workspace = Workspace::new(&[
        ("registry/alice/research.prose", RESEARCH),
        ("registry/alice/wrong.prose", "sesion \"x\"\n"),
    ]);
    let registry = serve(&workspace);
    (workspace, registry)
}

#[test]
fn a_program_is_run_by_its_name_and_by_its_address() {
    let (workspace, registry) = workspace();
    let address = format!("{}/alice/research", registry.url);
    let by_name = workspace.prose(&["run", "alice/research", "-i", "topic=tides", "-q"]);
    let by_address = workspace.prose(&["run", &address, "-i", "topic=tides", "-q"]);
    assert_eq!((by_name.status, by_address.status), (0, 0), "{by_name:?} {by_address:?}");
    assert_eq!(by_name.stdout, by_address.stdout);
    workspace.prose(&["run", "alice/research", "-i", "topic=tides", "-q", "--max-sessions", "0"]).ended(3);
    let resumed = workspace.prose(&["resume", "--max-sessions", "9", "-q"]);
    assert_eq!((resumed.status, resumed.stdout), (0, by_name.stdout));
}

#[test]
fn what_cannot_be_had_is_refused_with_the_reason() {
    let (workspace, registry) = workspace();
    let refused = |arguments: &[&str], reason: &str| {
        let run = workspace.prose(&[&["run"], arguments].concat()).ended(2);
        assert!(run.stderr.contains(reason), "{run:?}");
    };
    refused(&["alice/none"], "was not found at");
    refused(&["alice/wrong"], "has an error");
    refused(&["alice/research", "-i", "topik=x"], "did you mean `topic`?");
    refused(&["alice/other", "--offline"], "fetching is disabled");
    drop(registry);
    refused(&["alice/other"], "cannot be connected to");
    workspace.write("main.prose", b"use \"alice/other\" as other\nsession \"First\"\noutput o = other()\n");
    refused(&["main.prose"], "cannot be connected to");
    assert!(workspace.runs().is_empty());
}

#[test]
fn with_locked_a_text_that_is_not_the_pinned_one_is_refused() {
    let (workspace, _registry) = workspace();
    workspace.write("main.prose", b"use \"alice/research\" as r\noutput o = r(topic: \"x\")\n");
    let arguments = ["run", "main.prose", "-q", "--locked"];
    assert!(workspace.prose(&arguments).stderr.contains("is not in prose.lock"));
    workspace.prose(&["lock"]).ended(0);
    workspace.prose(&arguments).ended(0);
    workspace.write("registry/alice/research.prose", RESEARCH.replace("Research", "Search").as_bytes());
    workspace.prose(&["cache", "clean"]);
    let run = workspace.prose(&arguments).ended(2);
    assert!(run.stderr.contains("prose.lock"), "{run:?}");
}
