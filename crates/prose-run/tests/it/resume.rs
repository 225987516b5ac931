//! Runs that stopped go on.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use prose_analysis::{AnalysisHost, Text};
use prose_config::{Config, RunConfig};
use prose_run::{
    Grants, Project, Questions, RunFailure, RunHooks, RunRequest, Start, TrustSubject, UserFiles, UserTrust,
    prepare,
};
use prose_state::journal::JOURNAL_FILE;
use prose_state::reader::JournalReader;
use prose_vm::activity::NoApprovals;
use prose_vm::budget::Budget;
use prose_vm::effect::InputRequest;
use prose_vm::event::{EventKind, RunEnd, StateMode};
use prose_vm::harness::HarnessFuture;
use prose_vm::program::Program;
use prose_vm::questions::{AnswerSource, Attribution};
use prose_vm::runner::{Inputs, Limits, NoInputs};
use prose_vm::value::Value;
use tempfile::TempDir;

/// A folder with runs of one program.
struct Runs {
    folder: TempDir,
    /// Where the program lies.
    path: RefCell<&'static str>,
    allows_outside: bool,
}

/// What is known of a run when it has stopped.
#[derive(Debug)]
struct Stopped {
    end: RunEnd,
    reused: u32,
    ran: u32,
    notes: Vec<String>,
}

impl Runs {
    fn new() -> Self {
        Self {
            folder: prose_fixture::tempdir().unwrap(),
            path: RefCell::new("/main.prose"),
            allows_outside: false,
        }
    }

    fn rename(&self, path: &'static str) {
        self.path.replace(path);
    }

    fn execute(
        &self,
        program: &str,
        script: &str,
        start: Start,
        inputs: Arc<dyn Inputs>,
    ) -> Result<Stopped, RunFailure> {
        self.execute_within(program, script, start, inputs, Limits::default())
    }

    fn execute_within(
        &self,
        program: &str,
        script: &str,
        start: Start,
        inputs: Arc<dyn Inputs>,
        limits: Limits,
    ) -> Result<Stopped, RunFailure> {
        let path = self.folder.path().join("answers.toml");
        fs::write(&path, script).unwrap();
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new(*self.path.borrow()), Text::new(program));
        let request = RunRequest {
            program: Program::new(host.db(), file),
            project: Project { allows_outside: self.allows_outside, ..Project::new(self.folder.path()) },
            start,
            part: None,
            id: None,
            state: StateMode::Filesystem,
            harness: Some("script".to_owned()),
            script: Some(path),
            stand_in: None,
            dispatch: None,
            model: None,
            seed: 0,
            delay: Duration::ZERO,
            inputs: Vec::new(),
            config: RunConfig::default(),
            routes: prose_run::Routes::default(),
            grants: Grants::default(),
            limits,
            money: prose_run::Money::default(),
            timeout: None,
            traceparent: None,
            subject: TrustSubject::new(self.folder.path(), &Config::default()),
            trust: UserTrust { files: UserFiles::at(self.folder.path().join("state")), is_trusted: false },
            names_program: false,
        };
        let hooks = RunHooks {
            questions: Questions::answered_by(inputs, Arc::new(NoApprovals)),
            observer: &mut |_, _| {},
            interrupted: Box::pin(std::future::pending()),
            narration: None,
        };
        let prepared = prepare(request)?;
        let notes = prepared.notes.clone();
        let finished = prepared.execute(hooks)?;
        Ok(Stopped { end: finished.end, reused: finished.reused, ran: finished.ran, notes })
    }

    fn run(&self, program: &str, script: &str) -> Stopped {
        self.execute(program, script, Start::New, Arc::new(NoInputs)).unwrap()
    }

    fn resume(&self, program: &str, script: &str, accept_changes: bool) -> Result<Stopped, RunFailure> {
        self.resume_with(program, script, accept_changes, Arc::new(NoInputs))
    }

    fn resume_with(
        &self,
        program: &str,
        script: &str,
        accept_changes: bool,
        inputs: Arc<dyn Inputs>,
    ) -> Result<Stopped, RunFailure> {
        let run = Project::new(self.folder.path()).last_run().unwrap().unwrap().id;
        self.execute(program, script, Start::Resume { run, accept_changes }, inputs)
    }
}

#[track_caller]
fn check_refused(result: Result<Stopped, RunFailure>, expected: Expect) {
    let failure = result.unwrap_err().to_string();
    // Ids are made of the time.
    let words = failure.split(' ').map(|word| if word.len() == 22 { "ID" } else { word });
    expected.assert_eq(&words.collect::<Vec<_>>().join(" "));
}

const PROGRAM: &str =
    "let a = session \"First\"\nlet b = session \"Second\"\noutput c = session \"Third {a} {b}\"\n";

const FIRST: &str = "[[session]]\nlabel = \"First\"\nreply = \"one\"\n";

#[test]
fn a_session_that_failed_is_asked_again_and_nothing_else_is() {
    let runs = Runs::new();
    let failing = format!("{FIRST}[[session]]\nlabel = \"Second\"\nfail = \"out of credit\"\n");
    let stopped = runs.run(PROGRAM, &failing);
    assert_eq!(stopped.end.error.unwrap().to_string(), "out of credit");

    // The script does not know the first session any more.
    let rest = "[[session]]\nlabel = \"Second\"\nreply = \"two\"\n[[session]]\npattern = \"Third one two\"\nreply = \"three\"\n";
    let stopped = runs.resume(PROGRAM, rest, false).unwrap();
    assert_eq!(stopped.end.outputs, [("c".into(), Value::from("three"))]);
    assert_eq!(stopped.reused, 1);
    check_refused(
        runs.resume(PROGRAM, rest, false),
        expect![
            "run ID has already completed; start a new run with `prose run`, or change the program and run `prose resume ID --accept-changes` to reuse the results of all unchanged sessions"
        ],
    );
}

/// Sets a variable of the last run at the start of a statement.
fn set(runs: &Runs, source: &str, name: &str, value: &str) {
    let project = Project::new(runs.folder.path());
    let run = project.last_run().unwrap().unwrap();
    let mut events = JournalReader::open(&run.folder.join(JOURNAL_FILE)).unwrap().map(Result::unwrap);
    let start = events.find(|event| {
        matches!(&event.kind, EventKind::StatementStarted { source: started, .. } if started == source)
    });
    let by = Attribution { by: Some("ada".into()), from: AnswerSource::Editor };
    let seq = start.unwrap().seq;
    assert!(project.set_variable(&run.id, seq, (name.into(), value.into()), by, u64::MAX).unwrap());
}

#[test]
fn variables_that_were_set_follow_their_statements_in_an_edited_program() {
    let failing = format!("{FIRST}[[session]]\nlabel = \"Second\"\nfail = \"out of credit\"\n");
    let rest = "[[session]]\nlabel = \"New\"\nreply = \"new\"\n[[session]]\nlabel = \"Second\"\nreply = \"two\"\n\
                [[session]]\npattern = \"Third by hand two\"\nreply = \"three\"\n";
    let edited = format!("session \"New\"\n{PROGRAM}");
    let failing_again = rest.replace("reply = \"two\"", "fail = \"still no credit\"");

    let runs = Runs::new();
    runs.run(PROGRAM, &failing);
    set(&runs, "let b = session \"Second\"", "a", "by hand");
    // The value holds also in the executions after the one with which the program changes, and after another change.
    assert!(runs.resume(&edited, &failing_again, true).unwrap().end.error.is_some());
    assert!(runs.resume(&edited, &failing_again, false).unwrap().end.error.is_some());
    let edited_again = format!("# Again\n{edited}");
    let stopped = runs.resume(&edited_again, rest, true).unwrap();
    assert_eq!(stopped.end.outputs, [("c".into(), Value::from("three"))]);
}

#[test]
fn a_variable_whose_statement_is_gone_is_not_set_and_a_note_says_so() {
    let failing = format!("{FIRST}[[session]]\nlabel = \"Second\"\nfail = \"out of credit\"\n");
    let runs = Runs::new();
    runs.run(PROGRAM, &failing);
    set(&runs, "let b = session \"Second\"", "a", "by hand");
    let without = "let a = session \"First\"\noutput c = session \"Third {a}\"\n";
    let rest = "[[session]]\npattern = \"Third one\"\nreply = \"three\"\n";
    let stopped = runs.resume(without, rest, true).unwrap();
    assert_eq!(stopped.end.outputs, [("c".into(), Value::from("three"))]);
    let [note] = stopped.notes.as_slice() else { panic!("{:?}", stopped.notes) };
    assert!(note.starts_with("`a` is not set any more: the statement at line 2 (s1) of run "), "{note}");
}

#[test]
fn a_failure_that_was_caught_stays() {
    let runs = Runs::new();
    let program =
        "try:\n  session \"First\"\ncatch as e:\n  session \"After {e.message}\"\nsession \"Last\"\n";
    let script = r#"
[[session]]
label = "First"
fail = "it broke"
[[session]]
label = "After it broke"
reply = "well"
[[session]]
label = "Last"
fail = "it broke too"
"#;
    runs.run(program, script);
    let rest = "[[session]]\nlabel = \"Last\"\nreply = \"done\"\n";
    let stopped = runs.resume(program, rest, false).unwrap();
    assert_eq!(stopped.end.value, Value::from("done"));
    assert_eq!(stopped.reused, 2);
}

#[test]
fn an_input_that_was_missing_can_be_given_later() {
    struct Given;
    impl Inputs for Given {
        fn give<'a>(&'a self, _: &'a InputRequest) -> HarnessFuture<'a, Value> {
            Box::pin(async { Ok(Value::from("tides")) })
        }
    }
    let runs = Runs::new();
    let program = "session \"First\"\ninput topic: \"What about\"\nsession \"On {topic}\"\n";
    let script = format!("{FIRST}[[session]]\nlabel = \"On tides\"\nreply = \"done\"\n");
    let stopped = runs.run(program, &script);
    expect!["a required input is not given; give it with `--input topic=…`: What about"]
        .assert_eq(&stopped.end.error.unwrap().to_string());
    let stopped = runs.resume_with(program, &script, false, Arc::new(Given)).unwrap();
    assert_eq!(stopped.end.value, Value::from("done"));
}

#[test]
fn a_run_that_failed_by_its_own_program_says_so() {
    let runs = Runs::new();
    let program = "session \"First\"\nthrow \"not today\"\n";
    runs.run(program, FIRST);
    check_refused(
        runs.resume(program, FIRST, false),
        expect![
            "run ID failed at line 2 of its program: not today; to continue, fix the program and resume with `--accept-changes`"
        ],
    );
    let changed = "session \"First\"\n";
    check_refused(
        runs.resume(changed, "", false),
        expect![
            "the program has changed since run ID was started: line 2 was `throw \"not today\"` and is nothing; undo the change, or pass `--accept-changes` to reuse the results of all unchanged sessions"
        ],
    );
    let stopped = runs.resume(changed, "", true).unwrap();
    assert_eq!((stopped.end.value, stopped.reused), (Value::from("one"), 1));
}

#[test]
fn a_failure_inside_an_imported_program_or_a_block_is_found() {
    let runs = Runs::new();
    let program = "block f():\n  session \"Second\"\nsession \"First\"\ndo f()\n";
    let failing = format!("{FIRST}[[session]]\nlabel = \"Second\"\nfail = \"no\"\n");
    runs.run(program, &failing);
    let rest = "[[session]]\nlabel = \"Second\"\nreply = \"two\"\n";
    let stopped = runs.resume(program, rest, false).unwrap();
    assert_eq!((stopped.end.value, stopped.reused), (Value::from("two"), 1));
}

#[test]
fn r105_a_run_in_the_layout_before_goes_on_as_a_new_one() {
    let runs = Runs::new();
    let program = r#"
let research = session "Research"
session "Tell the team"
parallel:
  security = session "Security"
  perf = session "Performance"
let again = session "Again"
output report = "{research} {security} {perf} {again}"
"#;
    let folder = runs.folder.path().join(".prose/execution/run-20260103-143052-a7b3c9");
    let head = "**Type:** let (mutable)\n**Bound at:** Statement 1\n**Last updated:** Statement 1";
    for (file, text) in [
        ("program.prose", program.to_owned()),
        ("position.json", r#"{ "statement_index": 3, "total_statements": 5 }"#.to_owned()),
        ("variables/research.md", format!("# Variable: research\n\n{head}\n\n## Value\n\nMuch.\n")),
        // It has been bound, but not by the statement that the program comes to.
        ("variables/again.md", format!("# Variable: again\n\n{head}\n\n## Value\n\nBefore.\n")),
        ("parallel/parallel_stmt_3/security.md", "Safe.\n".to_owned()),
        (
            "parallel/parallel_stmt_3/status.json",
            r#"{ "branches": [{ "name": "security", "status": "complete" }, { "name": "perf", "status": "pending" }] }"#
                .to_owned(),
        ),
    ] {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // Another session than these two has no answer, which would be an error.
    let script = "[[session]]\nlabel = \"Performance\"\nreply = \"Fast.\"\n[[session]]\nlabel = \"Again\"\nreply = \"New.\"\n";
    let stopped = runs.resume(program, script, false).unwrap();
    assert_eq!(stopped.end.error, None);
    assert_eq!(stopped.end.outputs, [("report".into(), Value::text("Much. Safe. Fast. New."))]);
    assert_eq!(stopped.reused, 3);
    let listed = Project::new(runs.folder.path()).list_runs().unwrap();
    let listed: Vec<_> = listed.iter().map(|run| (run.id.as_str(), run.status.name())).collect();
    assert_eq!(listed, [("20260103-143052-a7b3c9", "completed")]);
}

#[test]
fn a_run_goes_on_with_the_files_that_it_has_read() {
    let runs = Runs::new();
    let notes = runs.folder.path().join("notes.md");
    let program = "session \"First\"\n  context:\n    file: \"notes.md\"\n    file: \"gone.md\"\nsession \"Second\"\n  context:\n    file: \"notes.md\"\n";
    let failing = format!("{FIRST}[[session]]\nlabel = \"Second\"\nfail = \"no\"\n");
    fs::write(&notes, "Of the first time.").unwrap();
    runs.run(program, &failing);
    // Were they read again, the run would not go the way it went before.
    fs::write(&notes, "Of another time.").unwrap();
    fs::write(runs.folder.path().join("gone.md"), "Back again.").unwrap();
    runs.resume(program, &failing, false).unwrap();
    fs::remove_file(&notes).unwrap();
    let rest = "[[session]]\nlabel = \"Second\"\nreply = \"two\"\n";
    let stopped = runs.resume(program, rest, false).unwrap();
    assert_eq!((stopped.end.value, stopped.end.error, stopped.reused), (Value::from("two"), None, 1));
    let journal = Project::new(runs.folder.path()).last_run().unwrap().unwrap().folder.join("journal.jsonl");
    let journal = fs::read_to_string(journal).unwrap();
    assert!(journal.contains("Of the first time.") && !journal.contains("Of another time."));
    assert!(!journal.contains("Back again."));
}

#[test]
fn a_file_outside_the_project_can_be_allowed_when_the_run_goes_on() {
    let outside = prose_fixture::tempdir().unwrap();
    let path = outside.path().join("notes.md");
    fs::write(&path, "Of elsewhere.").unwrap();
    let mut runs = Runs::new();
    let program = format!("session \"First\"\n  context:\n    file: {path:?}\n");
    let stopped = runs.run(&program, FIRST);
    let error = stopped.end.error.unwrap();
    assert!(error.message.contains("is outside of the project"), "{error}");
    assert_eq!((error.line, error.statement.as_str()), (1, "session \"First\""));
    runs.allows_outside = true;
    let stopped = runs.resume(&program, FIRST, false).unwrap();
    assert_eq!(stopped.end.value, Value::from("one"));
}

#[test]
fn a_run_goes_on_whose_agent_sent_its_memory_along() {
    let runs = Runs::new();
    let program = "agent m:\n  persist: true\n  prompt: \"You remember\"\nlet a = session: m\n  prompt: \"First\"\nsession \"Second\"\n";
    let script = r#"
[[session]]
label = "First"
reply = """
one, and a line with === MEMORY === in it

=== MEMORY ===
# Agent Memory: m

## Current Understanding

much
=== SEGMENT ===
- Found: one"""
[[session]]
label = "Second"
fail = "not now"
"#;
    runs.run(program, script);
    let rest = "[[session]]\nlabel = \"Second\"\nreply = \"two\"\n";
    let stopped = runs.resume(program, rest, false).unwrap();
    assert_eq!((stopped.end.value, stopped.reused), (Value::from("two"), 1));
    let run = Project::new(runs.folder.path()).last_run().unwrap().unwrap().folder;
    let read = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    assert!(read("bindings/a.md").trim_end().ends_with("one, and a line with === MEMORY === in it"));
    assert_eq!(read("agents/m/memory.md"), "# Agent Memory: m\n\n## Current Understanding\n\nmuch\n");
}

#[test]
fn a_run_gets_on_with_fewer_sessions_than_branches() {
    let runs = Runs::new();
    let program = "parallel:\n  a = session \"A\"\n  b = session \"B\"\n  c = session \"C\"\n";
    let script = "[[session]]\nreply = \"done\"\ndelay = \"20ms\"\n";
    let limits = Limits { budget: Budget::sessions(2), ..Limits::default() };
    let stopped = runs.execute_within(program, script, Start::New, Arc::new(NoInputs), limits).unwrap();
    expect!["the limit of 2 sessions is reached (`--max-sessions`)"]
        .assert_eq(&stopped.end.error.unwrap().to_string());
    assert_eq!(stopped.end.sessions, 2);
    let stopped = runs.resume(program, script, false).unwrap();
    assert_eq!((stopped.end.sessions, stopped.reused), (3, 2));
}

#[test]
fn a_run_goes_on_from_a_program_of_another_name() {
    let runs = Runs::new();
    let failing = format!("{FIRST}[[session]]\nfail = \"no\"\n");
    runs.run(PROGRAM, &failing);
    runs.rename("/moved.prose");
    let stopped = runs.resume(PROGRAM, "[[session]]\nreply = \"more\"\n", false).unwrap();
    assert_eq!(stopped.reused, 1);
}

/// Changes the lines of the journal of the only run as an earlier version would have written them.
fn rewrite(runs: &Runs, change: impl Fn(&mut serde_json::Value)) {
    let id = Project::new(runs.folder.path()).last_run().unwrap().unwrap().id;
    let path = runs.folder.path().join(format!(".prose/runs/{id}/journal.jsonl"));
    let journal = fs::read_to_string(&path).unwrap();
    let mut written = String::new();
    for (number, line) in journal.lines().enumerate() {
        let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
        event.as_object_mut().unwrap().remove("crc");
        change(&mut event);
        let rest = event.to_string().split_off(1);
        let seed = if number == 0 { 0 } else { crc32fast::hash(id.as_bytes()) };
        let mut sum = crc32fast::Hasher::new_with_initial(seed);
        sum.update(rest.as_bytes());
        written.push_str(&format!("{{\"crc\":\"{:08x}\",{rest}\n", sum.finalize()));
    }
    fs::write(path, written).unwrap();
}

#[test]
fn a_run_of_a_version_without_marks_goes_on() {
    let program = "agent a:\n  persist: true\n  prompt: \"A\"\nlet x = session: a\nlet y = resume: a\n  prompt: \"More\"\nlet z = session \"Sum up\"\n  context: { x, y }\noutput r = session \"End {x}\"\n";
    let memory = "one\\ntwo\\n=== MEMORY ===\\nI know.\\n=== SEGMENT ===\\n- s";
    let known = format!(
        "[[session]]\nlabel = \"A\"\nreply = \"{memory}\"\n[[session]]\nlabel = \"More\"\nreply = \"{memory}\"\n[[session]]\nlabel = \"Sum up\"\nreply = \"sum\"\n"
    );
    let runs = Runs::new();
    let failing = format!("{known}[[session]]\npattern = \"End\"\nfail = \"out of credit\"\n");
    assert_eq!(runs.run(program, &failing).end.status, prose_vm::event::RunStatus::Failed);
    let marks = std::cell::Cell::new(0);
    rewrite(&runs, |event| {
        let text = event.to_string();
        // As long as there were no marks, neither the prompts nor the replies had any.
        let mark = ["/task/mark", "/outcome/reply/mark"]
            .iter()
            .find_map(|at| Some(event.pointer(at)?.as_str()?.to_owned()));
        let Some(mark) = mark else { return };
        marks.set(marks.get() + 1);
        *event = serde_json::from_str(&text.replace(&format!(" {mark}"), "")).unwrap();
        for at in ["/task", "/outcome/reply"] {
            let _ = event.pointer_mut(at).map(|at| at.as_object_mut().unwrap().remove("mark"));
        }
    });
    assert_eq!(marks.get(), 5, "three prompts and two replies");
    let rest = "[[session]]\npattern = \"End one\\ntwo$\"\nreply = \"end\"\n";
    let stopped = runs.resume(program, rest, false).unwrap();
    assert_eq!(stopped.end.outputs, [("r".into(), Value::from("end"))]);
    assert_eq!(stopped.reused, 3);
}

#[test]
fn with_any_one_line_damaged_the_figures_say_what_was_used_and_what_was_asked() {
    let program = "input topic: \"What about\"\nparallel:\n  a = session \"First\"\n  b = session \"Second\"\nlet c = session \"Third\"\n  context: { a, b }\nif **{c} will do**:\n  session \"Fourth\"\nelse:\n  session \"Fourth\"\noutput d = session \"Fifth\"\n  context: c\n";
    let answers = "unmatched = \"offline\"\n";
    struct Given;
    impl Inputs for Given {
        fn give<'a>(&'a self, _: &'a InputRequest) -> HarnessFuture<'a, Value> {
            Box::pin(async { Ok(Value::from("tides")) })
        }
    }
    let runs = Runs::new();
    let limits = Limits { budget: Budget::sessions(4), ..Limits::default() };
    runs.execute_within(program, answers, Start::New, Arc::new(Given), limits).unwrap();
    let run = Project::new(runs.folder.path()).last_run().unwrap().unwrap();
    let path = run.folder.join("journal.jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    let whole = runs.resume_with(program, answers, false, Arc::new(Given)).unwrap();
    assert_eq!((whole.reused, whole.ran), (5, 1));
    let lines: Vec<&str> = journal.lines().collect();
    for (nth, line) in lines.iter().enumerate() {
        for entry in fs::read_dir(&run.folder).unwrap().flatten() {
            if entry.file_name().to_string_lossy().contains("kept") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        let mut damaged: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        damaged[nth] = line.replacen("\"seq\":", "\"seq\" :", 1);
        fs::write(&path, damaged.join("\n") + "\n").unwrap();
        let stopped = runs.resume_with(program, answers, false, Arc::new(Given)).unwrap();
        assert_eq!(stopped.end.outputs, whole.end.outputs, "line {}", nth + 1);
        let is_answer = line.contains("\"event\":\"effect\"") && !line.contains("\"effect\":\"input\"");
        let lost = u32::from(is_answer);
        assert_eq!((stopped.reused, stopped.ran), (5 - lost, 1 + lost), "line {}: {line}", nth + 1);
    }
}
