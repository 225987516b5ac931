//! Lists of runs.

use std::fmt::Write;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use expect_test::{Expect, expect};
use prose_state::StateError;
use prose_state::folder::Project;
use prose_vm::effect::RequestId;
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::{EventKind, RunEnd, RunStatus};
use prose_vm::value::Value;

use crate::support::{Driver, project};

const TEXT: &str = "let a = session \"A\"\n";

/// Lists the runs of a project, with the folder of the project left out.
fn check(project: &Project, expected: Expect) {
    let mut text = String::new();
    for run in project.list_runs().unwrap() {
        let started =
            run.started.map(|at| humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(at)));
        let duration = run.work().map(|duration| format!("{} s", duration / 1000));
        let _ = writeln!(
            text,
            "{}: {}, {}, {}, {} sessions{}",
            run.program.as_deref().unwrap_or("?"),
            run.status.name(),
            started.map_or("?".to_owned(), |started| started.to_string()),
            duration.as_deref().unwrap_or("?"),
            run.sessions.map_or("?".to_owned(), |sessions| sessions.to_string()),
            run.error.map_or(String::new(), |error| format!("\n  {error}")),
        );
    }
    expected.assert_eq(&text.replace(&project.root.display().to_string(), "PROJECT"));
}

#[test]
fn runs_in_all_states() {
    let (_folder, project) = project();
    check(&project, expect![""]);
    let mut run = Driver::start(&project, "completed.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    run.end(RunStatus::Completed);
    drop(run);
    let mut run = Driver::start(&project, "failed.prose", TEXT);
    let error = RuntimeError::new(ErrorKind::Session, "the agent is gone");
    let outputs = vec![("report".into(), Value::text("x".repeat(100_000)))];
    let end = RunEnd { status: RunStatus::Failed, outputs, error: Some(error.into()), ..RunEnd::default() };
    run.tell("", 0, EventKind::RunEnded(end));
    drop(run);
    let mut killed = Driver::start(&project, "killed.prose", TEXT);
    killed.session("s1", 1, "a", "First.");
    let torn = killed.store.folder().join("journal.jsonl");
    drop(killed);
    let bytes = fs::read(&torn).unwrap();
    fs::write(&torn, &bytes[..bytes.len() - 10]).unwrap();
    let running = Driver::start(&project, "running.prose", TEXT);

    let folder = project.runs();
    for (name, file, text) in [
        (
            "20240101-000000-aaaaaa",
            "state.md",
            "# Execution State\n\nrun: x\nprogram: foreign.prose\nstarted: 2024-01-01T00:00:00Z\nupdated: 2024-01-01T00:01:00Z\n",
        ),
        ("20240101-000001-bbbbbb", "other", ""),
        ("20240101-000002-cccccc", "journal.jsonl", "nonsense\n"),
        ("20240101-000003-dddddd", "journal.jsonl", "{\"event\":\"run-started\",\"version\":9}\n"),
    ] {
        fs::create_dir(folder.join(name)).unwrap();
        fs::write(folder.join(name).join(file), text).unwrap();
    }
    fs::write(folder.join("a-file"), "").unwrap();
    let mut runs = project.list_runs().unwrap();
    runs.retain(|run| run.started > Some(1_750_000_000_000));
    let mut names: Vec<_> =
        runs.iter().map(|run| (run.program.clone().unwrap(), run.status.name(), run.sessions)).collect();
    names.sort();
    expect![[r#"
        ("completed.prose", "completed", Some(1))
        ("failed.prose", "failed", Some(0))
        ("killed.prose", "interrupted", Some(1))
        ("running.prose", "running", Some(0))
    "#]]
    .assert_eq(&names.iter().map(|name| format!("{name:?}\n")).collect::<String>());
    assert_eq!(project.last_run().unwrap().as_ref(), runs.first());
    let failed = runs.iter().find(|run| run.program.as_deref() == Some("failed.prose")).unwrap();
    assert_eq!(failed.error.as_deref(), Some("the agent is gone"));
    assert_eq!(failed.work(), Some(1000));

    let id = running.store.run();
    let error = project.remove_run(id).unwrap_err();
    assert!(matches!(error, StateError::Locked { .. }));
    for run in runs.iter().filter(|run| run.id != id) {
        project.remove_run(&run.id).unwrap();
        assert!(!run.folder.exists());
    }
    let id = id.to_owned();
    drop(running);
    project.remove_run(&id).unwrap();
    check(
        &project,
        expect![[r#"
            ?: newer, 2024-01-01T00:00:03Z, ?, ? sessions
              PROJECT/.prose/runs/20240101-000003-dddddd/journal.jsonl has version 9, but this `prose` supports versions up to 2; use the `prose` that wrote it, or a newer one
            ?: damaged, 2024-01-01T00:00:02Z, ?, ? sessions
              line 1 of PROJECT/.prose/runs/20240101-000002-cccccc/journal.jsonl is not a line of a journal
            ?: damaged, 2024-01-01T00:00:01Z, ?, ? sessions
              PROJECT/.prose/runs/20240101-000001-bbbbbb has neither a journal nor state.md; delete the folder
            foreign.prose: foreign, 2024-01-01T00:00:00Z, 60 s, ? sessions
        "#]],
    );
}

#[test]
fn a_run_that_has_waited_for_an_input_does_no_work_meanwhile() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "asks.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    let before = run.events.last().unwrap().at;
    let asked =
        EventKind::InputAsked { request: RequestId(9), name: Some("topic".into()), prompt: "Which?".into() };
    run.tell("s2", 2, asked);
    let asked_at = run.events.last().unwrap().at;
    run.tell("s2", 2, EventKind::InputGiven { name: Some("topic".into()), value: Value::text("tides") });
    let given_at = run.events.last().unwrap().at;
    run.end(RunStatus::Completed);
    let ended_at = run.events.last().unwrap().at;
    assert!(before < asked_at && asked_at < given_at && given_at < ended_at);
    let listed = project.list_runs().unwrap();
    let whole = listed[0].last.unwrap() - listed[0].started.unwrap();
    assert_eq!(listed[0].work(), Some(whole - (given_at - asked_at)));
}

#[test]
fn a_run_is_found_by_any_part_of_its_id() {
    let (_folder, project) = project();
    for id in ["20260115-143052-a7b3c9", "20260115-143052-b00000", "20260116-000000-c00000"] {
        fs::create_dir_all(project.runs().join(id)).unwrap();
    }
    let find = |start: &str| project.find_run(start).map_err(|error| error.to_string());
    assert_eq!(find("20260116"), Ok("20260116-000000-c00000".into()));
    assert_eq!(find("20260115-143052-a7b3c9"), Ok("20260115-143052-a7b3c9".into()));
    assert_eq!(
        find("20260115"),
        Err("`20260115` matches several runs: 20260115-143052-a7b3c9, 20260115-143052-b00000; use a longer part of the id".into())
    );
    assert_eq!(find("b00"), Ok("20260115-143052-b00000".into()));
    assert_eq!(find("0000-c"), Ok("20260116-000000-c00000".into()));
    assert!(find("-00").is_ok() && find("0").is_err());
    // What ids start with comes before what they contain.
    fs::create_dir_all(project.runs().join("20270101-202601-164305")).unwrap();
    assert_eq!(find("202601").unwrap_err().matches("2027").count(), 0);
    assert!(find("2028").unwrap_err().starts_with("run `2028` does not exist in "));
    assert!(find("").is_err());
    assert!(find("../runs").is_err());
}

#[test]
fn a_run_shows_its_head_its_end_and_its_bindings() {
    let (_folder, project) = project();
    let mut run = Driver::start(&project, "shown.prose", TEXT);
    run.session("s1", 1, "a", "First.");
    run.bind("s1", 1, "b", "Second.");
    run.end(RunStatus::Completed);
    let id = run.store.run().to_owned();
    fs::write(run.store.folder().join("bindings/by_hand.md"), "no head").unwrap();
    let details = project.show_run(&id).unwrap();
    assert_eq!(details.head.unwrap().harness, "offline");
    assert_eq!(details.end.unwrap().sessions, 1);
    let bindings: Vec<_> =
        details.bindings.iter().map(|file| (file.name.as_str(), file.kind.as_deref())).collect();
    assert_eq!(bindings, [("a", Some("let")), ("b", Some("let")), ("by_hand", None)]);
}
