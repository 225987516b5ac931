//! Runs in the layout before `.prose/runs` (R105).

use std::fs;
use std::path::Path;

use expect_test::expect;
use prose_state::folder::Project;

use crate::support::{project, tree};

const ID: &str = "run-20260103-143052-a7b3c9";

const TEXT: &str = r#"agent researcher:
  model: sonnet

let research = session: researcher
  prompt: "Research"
session "Tell the team"
const config = session "Settle"
if **it is risky**:
  let care = session "Be careful"
else:
  let speed = session "Be quick"
parallel:
  security = session "Security"
  perf = session "Performance"
loop until **analysis complete** (max: 5):
  let draft = session "Improve"
session "End"
"#;

/// A run that has come to a statement, in the form of the specification.
fn write(project: &Project, statement: u32, files: &[(&str, &str)]) {
    let folder = project.root.join(".prose/execution").join(ID);
    let variable = |name: &str, kind: &str, value: &str| {
        let text = format!(
            "# Variable: {name}\n\n**Type:** {kind}\n**Bound at:** Statement 3\n**Last updated:** Statement 7\n\n## Value\n\n{value}\n"
        );
        (format!("variables/{name}.md"), text)
    };
    let position = format!(
        r#"{{ "session_id": "{ID}", "statement_index": {statement}, "total_statements": 7,
            "started_at": "2026-01-03T14:30:52Z", "last_updated": "2026-01-03T14:32:15Z" }}"#
    );
    let manifest = r#"{ "variables": [ { "name": "research", "type": "let", "file": "research.md" } ] }"#;
    let mut all = vec![
        ("program.prose".to_owned(), TEXT.to_owned()),
        ("position.json".to_owned(), position),
        ("variables/manifest.json".to_owned(), manifest.to_owned()),
        variable("research", "let (mutable)", "Much is known.\n\n## Value\n\nHigh."),
        variable("config", "const (immutable)", "{\"depth\": 3}"),
        variable("speed", "let (mutable)", "Quick."),
    ];
    all.extend(files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    for (name, text) in all {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The trace and the constructs in the `state.md` that is made of a run.
fn state(folder: &Path) -> String {
    let state = fs::read_to_string(folder.join("state.md")).unwrap();
    let start = state.find("let research").unwrap();
    state[start..].to_owned()
}

const STATUS: &str = r#"{ "block_id": "parallel_stmt_5", "strategy": "all", "on_fail": "fail-fast", "branches": [
    { "name": "security", "status": "complete", "file": "security.md" },
    { "name": "perf", "status": "pending", "file": null } ] }"#;

#[test]
fn r105_a_run_in_the_layout_before_is_brought_into_the_present_one() {
    let (_folder, project) = project();
    let branch = [
        ("parallel/parallel_stmt_5/status.json", STATUS),
        ("parallel/parallel_stmt_5/security.md", "Safe.\n"),
    ];
    write(&project, 5, &branch);
    let run = project.adopt_run(ID).unwrap();
    assert_eq!(run, "20260103-143052-a7b3c9");
    let folder = project.runs().join(run.as_str());
    expect![[r#"
        bindings/
          config.md
          research.md
          security.md
          speed.md
        program.prose
        state.md
    "#]]
    .assert_eq(&tree(&folder));
    expect![[r#"
        # research

        kind: let

        source:
        ```prose
        let research = session: researcher
        ```

        ---

        Much is known.

        ## Value

        High.
    "#]]
    .assert_eq(&fs::read_to_string(folder.join("bindings/research.md")).unwrap());
    expect![[r##"
        # Execution State

        run: 20260103-143052-a7b3c9
        program: program.prose
        started: 2026-01-03T14:30:52Z
        updated: 2026-01-03T14:32:15Z

        ## Execution Trace

        ```prose
        agent researcher:
          model: sonnet

        let research = session: researcher  # --> bindings/research.md (complete)
          prompt: "Research"
        session "Tell the team"  # (complete)
        const config = session "Settle"  # --> bindings/config.md (complete)
        if **it is risky**:  # (complete)
          let care = session "Be careful"
        else:
          let speed = session "Be quick"  # --> bindings/speed.md (complete)
        parallel:  # <-- EXECUTING
          security = session "Security"  # [...next...]
          perf = session "Performance"  # [...next...]
        loop until **analysis complete** (max: 5):  # [...next...]
          let draft = session "Improve"  # [...next...]
        session "End"  # [...next...]
        ```

        ## Active Constructs

        ### Parallel (lines 12-14)

        - security: complete
        - perf: pending
    "##]]
    .assert_eq(&fs::read_to_string(folder.join("state.md")).unwrap());
    let security = fs::read_to_string(folder.join("bindings/security.md")).unwrap();
    assert!(security.ends_with("---\n\nSafe.\n"), "{security}");
    // The run of the layout before stays as it is, and is not brought over what the new one has done since.
    fs::write(folder.join("bindings/research.md"), "Better.").unwrap();
    assert_eq!(project.adopt_run(ID).unwrap(), run);
    assert_eq!(fs::read_to_string(folder.join("bindings/research.md")).unwrap(), "Better.");
    assert_eq!(project.adopt_run(&run).unwrap(), run);
}

#[test]
fn r105_a_loop_is_entered_again_where_its_conditions_tell() {
    let check = |current: u32, results: &[bool], expected: &str| {
        let (_folder, project) = project();
        let history: Vec<String> = (1..)
            .zip(results)
            .map(|(iteration, result)| {
                format!(r#"{{ "iteration": {iteration}, "result": {result}, "reason": "so" }}"#)
            })
            .collect();
        let found = format!(
            r#"{{ "loop_id": "loop_stmt_6", "type": "until", "condition": "**analysis complete**", "max": 5,
                "current_iteration": {current}, "condition_history": [{}] }}"#,
            history.join(",")
        );
        write(&project, 6, &[("loops/loop_stmt_6.json", found.as_str()), ("variables/draft.md", "Draft.")]);
        let run = project.adopt_run(ID).unwrap();
        let state = state(&project.runs().join(run.as_str()));
        assert!(state.contains(expected), "{state}");
    };
    check(2, &[false], "- iteration: 2\n");
    check(2, &[false, false], "- iteration: 3\n");
    // It has ended, so the statement behind it is executed.
    check(2, &[false, true], "session \"End\"  # <-- EXECUTING\n");
    check(2, &[false, true], "let draft = session \"Improve\"  # --> bindings/draft.md (complete)\n");
}

#[test]
fn r105_definitions_may_be_counted() {
    let (_folder, project) = project();
    write(&project, 3, &[]);
    let path = project.root.join(".prose/execution").join(ID).join("position.json");
    let position = fs::read_to_string(&path).unwrap();
    fs::write(&path, position.replace("\"total_statements\": 7", "\"total_statements\": 8")).unwrap();
    let run = project.adopt_run(ID).unwrap();
    let state = state(&project.runs().join(run.as_str()));
    assert!(state.contains("session \"Tell the team\"  # <-- EXECUTING\n"), "{state}");
}

#[test]
fn r105_runs_of_the_layout_before_are_listed_until_they_are_brought_into_the_present_one() {
    let (_folder, project) = project();
    write(&project, 5, &[]);
    let listed = || {
        let runs = project.list_runs().unwrap();
        runs.iter().map(|run| (run.id.to_string(), run.status.name(), run.work())).collect::<Vec<_>>()
    };
    assert_eq!(listed(), [(ID.to_owned(), "foreign", Some(83_000))]);
    assert_eq!(project.find_run("run-2026").unwrap(), ID);
    assert!(project.show_run(ID).unwrap().summary.status.can_be_resumed());
    project.adopt_run(ID).unwrap();
    assert_eq!(listed(), [(ID["run-".len()..].to_owned(), "foreign", Some(83_000))]);
}

#[test]
fn r105_what_is_damaged_is_told() {
    let (_folder, project) = project();
    write(&project, 5, &[("position.json", "{ \"statement_index\": ")]);
    let error = project
        .adopt_run(ID)
        .unwrap_err()
        .to_string()
        .replace(&project.root.display().to_string(), "PROJECT");
    expect!["cannot read PROJECT/.prose/execution/run-20260103-143052-a7b3c9/position.json: EOF while parsing a value at line 1 column 21; fix the file, or its content is taken from the other files"].assert_eq(&error);
    let runs = project.list_runs().unwrap();
    assert_eq!(runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), [ID]);
    assert!(project.adopt_run("run-../../x").is_err());
    // Without it, every variable that has a file is taken for finished.
    fs::remove_file(project.root.join(".prose/execution").join(ID).join("position.json")).unwrap();
    let run = project.adopt_run(ID).unwrap();
    assert!(!project.runs().join(run.as_str()).join("state.md").exists());
}
