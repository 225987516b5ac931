//! Real editors: Neovim of several versions, with the plugin of this repository, as a user meets it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use prose_tests::{in_trixie, prose_binary, repository};
use serde_json::{Value, json};

/// The driver gives up on each of its steps long before that, and says which.
const PATIENCE: Duration = Duration::from_secs(120);

/// A version of Neovim. Each starts servers in another way.
#[derive(Debug, Clone, Copy)]
enum Version {
    /// The one on `PATH`, such as 0.7 of Debian bookworm, which has the bare language client.
    Installed,
    /// 0.10 of Debian trixie, with `vim.lsp.start`.
    Trixie,
    /// 0.11, with `vim.lsp.config`.
    Newest,
}

impl Version {
    fn command(self) -> Command {
        match self {
            Self::Installed => Command::new("nvim"),
            Self::Trixie => {
                let mut command = in_trixie(&[prose_binary().parent().unwrap()]);
                command.arg("nvim");
                command
            }
            Self::Newest => Command::new(repository().join("tests/.cache/neovim-0.11/bin/nvim")),
        }
    }
}

const EVERY_VERSION: [Version; 3] = [Version::Installed, Version::Trixie, Version::Newest];

/// A program to run, and answers that take longer than anybody waits.
const PROGRAM: &str = r#"# Two opinions, for whom it may concern.
input topic: "What is it about?"

agent writer:
  model: sonnet
  prompt: "Write warmly"

let draft = session: writer
  prompt: "Write about {topic}"

parallel:
  a = session "Check the spelling"
    context: draft
  b = session "Check the facts"
    context: draft

output reply = session "Put it together"
  context: [a, b]
"#;

const SLOW_ANSWERS: &str = r#"
[[session]]
agent = "writer"
reply = "Tides come and go."

[[session]]
label = "Check the spelling"
reply = "No mistake."

[[session]]
label = "Check the facts"
reply = "All true."

[[session]]
label = "Put it together"
delay = "10m"
reply = "This is never said."
"#;

#[test]
#[ignore = "needs Neovim, on PATH and in tests/.cache"]
fn a_missing_quote_is_shown_and_goes_when_it_is_typed() {
    for version in EVERY_VERSION {
        let seen = edit(version, "session \"Say hello\n", r#"A"<Esc>"#);

        assert_eq!(seen["filetype"], "prose");
        assert_eq!(seen["commentstring"], "# %s");
        assert_eq!(seen["shiftwidth"], 2);
        assert_eq!(seen["expandtab"], true);
        assert_eq!(seen["session_is_highlighted_as"], "proseSession");

        let (broken, fixed) = ("session \"Say hello", "session \"Say hello\"");
        assert_eq!(texts(&seen), [broken, fixed, broken, fixed]);
        assert_one_unterminated_literal(&seen, "opened", 0, 8);
        assert_clear(&seen, "fixed");
        assert_one_unterminated_literal(&seen, "undone", 0, 8);
        assert_clear(&seen, "redone");
    }
}

/// The server counts columns in UTF-16 by default, the editor in bytes; the wave is two units there and four bytes here.
#[test]
#[ignore = "needs Neovim, on PATH and in tests/.cache"]
fn positions_are_right_after_text_that_is_not_ascii() {
    let program = "# Grüße\nagent writer:\n  prompt: \"Write warmly\"\n\noutput reply = \"👋\" + \"Say hello\nsession: writer\n";
    for version in EVERY_VERSION {
        let seen = edit(version, program, r#"/hello<CR>A"<Esc>"#);

        assert_one_unterminated_literal(&seen, "opened", 4, "output reply = \"👋\" + ".len());
        assert_clear(&seen, "fixed");
        assert_one_unterminated_literal(&seen, "undone", 4, "output reply = \"👋\" + ".len());
        assert_clear(&seen, "redone");
    }
}

#[test]
#[ignore = "needs Neovim on PATH"]
fn a_program_is_run_stopped_and_resumed_by_the_installed_version() {
    run(Version::Installed);
}

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn a_program_is_run_stopped_and_resumed_in_0_10() {
    run(Version::Trixie);
}

#[test]
#[ignore = "needs Neovim 0.11 in tests/.cache"]
fn a_program_is_run_stopped_and_resumed_in_0_11() {
    run(Version::Newest);
}

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn programs_are_highlighted_completed_and_explained_in_0_10() {
    look(Version::Trixie);
}

#[test]
#[ignore = "needs Neovim 0.11 in tests/.cache"]
fn programs_are_highlighted_completed_and_explained_in_0_11() {
    look(Version::Newest);
}

/// The name that a refactoring makes up is the user's to choose, from where it stands.
#[test]
#[ignore = "needs Neovim, on PATH and in tests/.cache"]
fn a_made_up_name_is_asked_for() {
    for version in EVERY_VERSION {
        let folder = prose_fixture::tempdir().unwrap();
        let seen = play(version, folder.path(), PROGRAM, "names", "");

        assert_eq!((&seen["asked"], &seen["cursor"]), (&json!("new_agent"), &json!("11:7")), "{version:?}");
        let text = seen["text"].as_str().unwrap();
        assert!(text.contains("agent critic:\n  prompt: \"Check the spelling\"\n"), "{version:?}: {text}");
        assert!(text.contains("  a = session: critic\n    context: draft\n"), "{version:?}: {text}");
    }
}

#[test]
#[ignore = "needs Debian trixie in tests/.cache"]
fn test_files_are_checked_and_run_in_0_10() {
    test_files(Version::Trixie);
}

#[test]
#[ignore = "needs Neovim 0.11 in tests/.cache"]
fn test_files_are_checked_and_run_in_0_11() {
    test_files(Version::Newest);
}

const TESTED: &str = "input topic: \"What about\"\noutput text = session \"Write about {topic}\"\n";

const TESTS: &str = r#"
[[case]]
name = "writes"
inputs.topic = "tides"
[[case.session]]
reply = "Tides"

[[case]]
name = "writes otherwise"
[case.matrix]
inputs.topic = ["winds", "storms"]
[[case.session]]
reply = "Winds"
[case.expect]
outputs.text = "Storms"
"#;

/// Looks at a test file, runs it by the server, and by the adapter for neotest.
#[track_caller]
fn test_files(version: Version) {
    let folder = prose_fixture::tempdir().unwrap();
    fs::write(folder.path().join("program.test.toml"), TESTS).unwrap();
    let seen = play(version, folder.path(), TESTED, "testing", "");

    assert_eq!(seen["lenses"], json!(["▶ Run all tests", "▶ Run test", "▶ Run test"]));
    let mistake = &seen["mistakes"][0];
    assert_eq!((&mistake["code"], &mistake["line"]), (&json!("E151"), &json!(3)), "{}", seen["mistakes"]);
    assert_eq!(seen["run_by_server"], json!([1, 2]));
    let failure = &seen["failures"][0];
    assert_eq!((&failure["source"], &failure["line"]), (&json!("prose test"), &json!(14)), "{failure}");
    assert_eq!(seen["results"][4], "✗ 2 of 2 failed", "{}", seen["results"]);

    assert_eq!(seen["is_test_file"], json!([true, false]));
    assert_eq!(
        seen["positions"],
        json!([
            "file program.test.toml at 0 0 15 0",
            "test writes at 1 0 5 15",
            "namespace writes otherwise at 7 0 14 23",
            "test writes otherwise [topic=winds] at nowhere",
            "test writes otherwise [topic=storms] at nowhere",
        ])
    );
    let difference = "14: output `text` differs from the expected value\nexpected: Storms\nactual: Winds";
    let failed = [difference, difference];
    let names = ["writes otherwise [topic=storms] failed", "writes otherwise [topic=winds] failed"];
    let matrix = [&failed[..], &names].concat();
    assert_eq!(seen["matrix"], json!(matrix));
    assert_eq!(seen["all"], json!([&failed[..], &names, &["writes passed"]].concat()));
    assert_eq!(seen["one"], json!(["writes passed"]));
    assert_eq!(seen["debugged"], json!(["prose", "launch", "program.prose", "tides"]));
    assert_eq!(seen["script"], json!(["[[session]]", "reply = \"Tides\"", ""]));
    let broken = seen["broken"].as_array().unwrap();
    assert!(broken[0].as_str().unwrap().starts_with("2: a `[[case]]` has no `naem`"), "{broken:?}");
    assert_eq!(broken.last().unwrap(), "writes failed");
}

/// Runs the program, which asks for its input; stops it, resumes it, and looks at what stays of it.
#[track_caller]
fn run(version: Version) {
    let folder = prose_fixture::tempdir().unwrap();
    fs::write(folder.path().join("slow.toml"), SLOW_ANSWERS).unwrap();
    let seen = play(version, folder.path(), PROGRAM, "runs", "");

    assert_eq!(
        seen["commands"],
        json!([
            "attach",
            "cancel",
            "continue",
            "describe",
            "diff",
            "dry-run",
            "fork",
            "install-parser",
            "log",
            "pause",
            "prompt",
            "resume",
            "retry",
            "run",
            "run-line",
            "runs",
            "skip"
        ])
    );
    let options = seen["options"].as_array().unwrap();
    assert!(
        options.contains(&json!("--harness=claude")) && options.contains(&json!("topic=")),
        "{options:?}"
    );
    // Numbers of references come when they are resolved.
    let lenses = seen["lenses"].as_array().unwrap();
    assert_eq!(lenses[..2], [json!("▶ Run program"), json!("Dry run")]);
    assert!(lenses.contains(&json!("▶ Run session")), "{lenses:?}");
    let question = seen["question"].as_str().unwrap();
    // What is asked cannot be looked at in old versions.
    assert!(["topic: What is it about? ", "asked"].contains(&question), "{question}");

    check(
        &seen["withdrawn"],
        expect![[r#"
            Run ID of program.prose with script
            ? topic: What is it about?

            interrupted after TIME, 0 sessions; `:Prose resume` continues it
              stopped in the editor
        "#]],
    );
    check(
        &seen["running"],
        expect![[r#"
            Run ID of program.prose with script
            ✓ topic = high tides
            ✓ writer: Write about high tides (TIME) → Tides come and go.
              parallel: 2 branches, all
            ✓   Check the spelling (TIME) → No mistake.
            ✓   Check the facts (TIME) → All true.
            ⟳ Put it together
        "#]],
    );
    assert_eq!(seen["cursor_stays"], true);
    assert_eq!(seen["live"].as_array().unwrap().len(), 1);
    let paused = seen["paused"].as_str().unwrap();
    assert!(paused.lines().any(|line| line.starts_with("paused")), "{paused}");
    assert!(seen["sessions"].as_array().unwrap().contains(&json!("reply")), "{}", seen["sessions"]);
    let several = seen["several"].as_str().unwrap();
    assert!(
        several.starts_with("`nobody` names not exactly one open session; name one of these: "),
        "{several}"
    );
    assert!(seen["stopped"].as_str().unwrap().contains("■ Put it together"), "{}", seen["stopped"]);
    check(
        &seen["resumed"],
        expect![[r#"
            Run ID of program.prose with script
            ✓ topic = high tides
            ✓ writer: Write about high tides (TIME) → Tides come and go.
              parallel: 2 branches, all
            ✓   Check the spelling (TIME) → No mistake.
            ✓   Check the facts (TIME) → All true.
            ✓ Put it together (TIME) → REPLY
            The run resumes; recorded results are reused.

            completed after TIME, 4 sessions

            reply:
              REPLY
        "#]],
    );
    assert_eq!(seen["statement"], "output reply = session \"Put it together\"");
    assert!(seen["state"].as_str().unwrap().starts_with("# Execution State"), "{}", seen["state"]);

    let mut runs: Vec<_> = seen["runs"].as_array().unwrap().iter().map(normal).collect();
    runs.sort_unstable();
    assert_eq!(
        runs,
        ["ID  completed  4 sessions  program.prose", "ID  interrupted  0 sessions  program.prose"]
    );
    assert_eq!(seen["log"], seen["withdrawn"], "a run is told the same from its journal");
    let dry_run = seen["dry_run"].as_str().unwrap();
    assert!(
        dry_run.starts_with("# Prompt 1, line 8, agent writer, model sonnet\n\nWrite warmly\n\n"),
        "{dry_run}"
    );
    assert!(dry_run.contains("\n\nWrite about [topic]\n"), "{dry_run}");
    assert!(dry_run.contains("# Prompt 4, line 17\n\nPut it together"), "{dry_run}");
    let plan = seen["plan"].as_str().unwrap();
    assert!(plan.starts_with("Fork of run ") && plan.contains(" before line 17 "), "{plan}");
    assert!(plan.contains("\nreuses 3 sessions and 0 decisions\nasks offline"), "{plan}");
    let fork = seen["fork"].as_str().unwrap();
    assert!(fork.contains("Tides come and go.") && fork.contains("completed after"), "{fork}");
    assert_eq!(seen["reply"], "Tides come and go.");
    assert!(seen["plan_of_reply"].as_str().unwrap().contains("\nreplaces the reply of the session at "));
    let [before, now] = [0, 1].map(|side| seen["diff"][side].as_str().unwrap());
    assert!(before.contains("    Tides come and go.") && !before.contains("high tide."), "{before}");
    assert!(now.contains("    It is high tide."), "{now}");
    assert_eq!(
        seen["mistaken"],
        "unknown command `:Prose rnu`; expected attach, cancel, continue, describe, diff, dry-run, fork, install-parser, log, pause, prompt, resume, retry, run, run-line, runs, skip"
    );
}

#[track_caller]
fn check(seen: &Value, expected: Expect) {
    expected.assert_eq(&(normal(seen) + "\n"));
}

/// A text without what differs from run to run.
#[track_caller]
fn normal(text: &Value) -> String {
    let made_up = |word: &str| word.ends_with("[offline]") || word.contains('…');
    let mut lines = Vec::new();
    for line in text.as_str().unwrap().lines() {
        let mut line = line.to_owned();
        if let Some(start) = line.find(" → ").map(|at| at + " → ".len()).filter(|at| made_up(&line[*at..]))
        {
            line.replace_range(start.., "REPLY");
        } else if line.starts_with("  ") && made_up(&line) {
            line = "  REPLY".to_owned();
        }
        if let Some(start) = line.find(" after ").map(|at| at + " after ".len()) {
            let end = start + line[start..].find(',').unwrap();
            line.replace_range(start..end, "TIME");
        }
        if let Some((start, end)) = line.rfind(" (").zip(line.find(" s)").or_else(|| line.find(" ms)"))) {
            line.replace_range(start + 2..end + line[end..].find(')').unwrap(), "TIME");
        }
        let is_id =
            |word: &&str| word.len() == 22 && word.as_bytes()[8] == b'-' && word.as_bytes()[15] == b'-';
        if let Some(id) = line.split(' ').find(is_id).map(str::to_owned) {
            line = line.replace(&id, "ID");
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Looks at what the editor makes of the program without running it.
#[track_caller]
fn look(version: Version) {
    let folder = prose_fixture::tempdir().unwrap();
    fs::write(folder.path().join("notes.md"), "# Notes\n\n```prose\nsession \"Say hello\n```\n").unwrap();
    let seen = play(version, folder.path(), PROGRAM, "features", "");

    let captures = seen["captures"].as_object().unwrap().iter();
    let captures: String = captures.map(|(text, captures)| format!("{text} -> {captures}\n")).collect();
    expect![[r##"
        "Write warmly -> ["prose.string"]
        # Two -> ["prose.comment","prose.spell"]
        a =  -> ["prose.variable"]
        for whom -> ["prose.comment","prose.spell"]
        parallel -> ["prose.keyword.coroutine"]
        session: -> ["prose.keyword.function"]
        topic} -> ["prose.string","prose.variable","prose.variable"]
        writer: -> ["prose.variable","prose.type.definition"]
    "##]]
    .assert_eq(&captures);
    assert_eq!(seen["misfits"], json!([]));
    assert_eq!(seen["fold_levels"], json!([0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 2, 2, 2, 2, 0, 1, 1]));
    assert_eq!(seen["fence"], json!(["markdown.markup.raw.block", "prose.keyword.function"]));
    assert_eq!(seen["fence_diagnostics"][0]["code"], "E001", "{}", seen["fence_diagnostics"]);
    assert_eq!(seen["fence_diagnostics"][0]["line"], 3);
    let hover =
        "```prose\nagent writer:\n```\n\n- Model: `sonnet`\n\n```text\nWrite warmly\n```\n\nUsed in line 8";
    assert_eq!(seen["hover"], hover);
    assert!(seen["completion"].as_array().unwrap().contains(&json!("topic}")), "{}", seen["completion"]);
    assert_eq!(seen["indented"], "  a");
    let page = seen["description"].as_str().unwrap();
    assert!(page.contains("\n### writer (line ") && page.contains("\n## Flow\n"), "{page}");
    let tags = seen["tags"].as_array().unwrap();
    assert!(tags.contains(&json!(":Prose")) && tags.contains(&json!("prose-keys")), "{tags:?}");
    assert!(seen["help"].as_str().unwrap().contains("*:Prose*"), "{}", seen["help"]);
    let health = seen["health"].as_str().unwrap();
    assert!(!health.contains("ERROR") && !health.contains("WARNING"), "{health}");
    for part in ["prose 0.", "root folder", "prose.so", "queries/prose/highlights.scm", "harness: offline"] {
        assert!(health.contains(part), "`{part}` is not in:\n{health}");
    }
}

/// Opens the program in Neovim, types the keys of the fix once a mistake is shown, undoes and redoes it. Gives what the editor
/// showed at each step.
#[track_caller]
fn edit(version: Version, program: &str, fix: &str) -> Value {
    let folder = prose_fixture::tempdir().unwrap();
    play(version, folder.path(), program, "fix", fix)
}

/// Plays a scene of `editor_neovim` with a program, and gives what was seen in it.
#[track_caller]
fn play(version: Version, folder: &Path, program: &str, scene: &str, fix: &str) -> Value {
    let file = folder.join("program.prose");
    let seen = folder.join("seen.json");
    fs::write(&file, program).unwrap();

    let mut neovim = Neovim::start(version, folder, &file, &seen, scene, fix);
    let status = neovim.wait();
    let seen = fs::read_to_string(&seen).unwrap_or_else(|error| {
        panic!("{version:?}: Neovim ended, {status}, before anything was noted: {error}\n{}", neovim.output())
    });
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert!(
        seen.get("problem").is_none(),
        "{version:?}: {}\nseen so far: {:#}\nmessages: {}\nlog: {}",
        seen["problem"].as_str().unwrap_or_default(),
        seen,
        seen["messages"].as_str().unwrap_or_default(),
        seen["log"].as_str().unwrap_or_default(),
    );
    assert!(status.success(), "{version:?}: Neovim ended with {status}\n{}", neovim.output());
    if let Some(process) = seen["server_process"].as_u64() {
        assert_ends(process);
    }
    seen
}

struct Neovim {
    process: Child,
    output: PathBuf,
}

impl Neovim {
    fn start(version: Version, folder: &Path, file: &Path, seen: &Path, scene: &str, fix: &str) -> Self {
        let scenes = repository().join("tests/tests/editors/neovim");
        let output = folder.join("output");
        let stderr = fs::File::create(&output).unwrap();
        let mut command = version.command();
        command.args(["--headless", "-n", "-i", "NONE", "-u"]).arg(scenes.join("init.lua"));
        command.arg("-S").arg(scenes.join(scene).with_extension("lua")).arg(file);
        // Nothing of the user's configuration or state is read or written.
        for home in [
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
            "XDG_STATE_HOME",
            "XDG_CACHE_HOME",
            "XDG_RUNTIME_DIR",
        ] {
            let home_folder = folder.join(home);
            fs::create_dir(&home_folder).unwrap();
            command.env(home, home_folder);
        }
        command.env_remove("NVIM").env_remove("NVIM_LISTEN_ADDRESS").env_remove("NVIM_LOG_FILE");
        command.env_remove("VIMINIT").env_remove("EXINIT").env_remove("NVIM_APPNAME");
        command.env("PROSE_SCENES", &scenes);
        command.env("PROSE_PLUGIN", repository().join("editors/neovim"));
        command.env("PROSE_SERVER", prose_binary());
        command.env("PROSE_FIX", fix);
        command.env("PROSE_SEEN", seen);
        let process = command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .expect("`nvim` is there; `tests/install` installs it");
        Self { process, output }
    }

    #[track_caller]
    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "Neovim does not end\n{}", self.output());
            sleep(Duration::from_millis(20));
        }
    }

    fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap_or_default()
    }
}

impl Drop for Neovim {
    fn drop(&mut self) {
        // An error means that it has ended already, as it should. A server without an editor ends by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The server goes with its editor.
#[track_caller]
fn assert_ends(process: u64) {
    let entry = PathBuf::from(format!("/proc/{process}"));
    let deadline = Instant::now() + Duration::from_secs(60);
    while entry.exists() {
        assert!(Instant::now() < deadline, "the server, process {process}, outlives the editor");
        sleep(Duration::from_millis(20));
    }
}

fn texts(seen: &Value) -> Vec<&str> {
    seen["steps"].as_array().unwrap().iter().map(|step| step["text"].as_str().unwrap()).collect()
}

#[track_caller]
fn step<'a>(seen: &'a Value, name: &str) -> &'a Value {
    let steps = seen["steps"].as_array().unwrap();
    steps.iter().find(|step| step["step"] == name).unwrap_or_else(|| panic!("no step {name} in {seen:#}"))
}

#[track_caller]
fn assert_one_unterminated_literal(seen: &Value, name: &str, line: usize, column: usize) {
    let diagnostics = &step(seen, name)["diagnostics"];
    let place: Vec<_> = diagnostics
        .as_array()
        .unwrap_or_else(|| panic!("{name}: nothing is shown"))
        .iter()
        .map(|one| json!([one["code"], one["severity"], one["line"], one["column"]]))
        .collect();
    assert_eq!(place, [json!(["E001", "ERROR", line, column])], "{name}: {diagnostics:#}");
}

#[track_caller]
fn assert_clear(seen: &Value, name: &str) {
    let diagnostics = &step(seen, name)["diagnostics"];
    assert_eq!(diagnostics, &json!({}), "{name}: something is still shown");
}
