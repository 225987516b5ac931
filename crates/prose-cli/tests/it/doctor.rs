//! `prose doctor`.

#![cfg(unix)]

use std::fs;

use expect_test::{Expect, expect};

use crate::common::{Run, Workspace};

/// What is found when `PATH` has these programs, and nothing is set that agents need.
fn doctor(workspace: &Workspace, programs: &[(&str, &str)], arguments: &[&str]) -> Run {
    workspace.write("bin/.keep", b"");
    let bin = workspace.path("bin");
    for (name, script) in programs {
        workspace.write(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n").as_bytes());
    }
    let mut command = workspace.command();
    for (name, _) in std::env::vars() {
        if [
            "ANTHROPIC_",
            "CLAUDE_",
            "API_TIMEOUT",
            "OPENAI_",
            "CODEX_",
            "OPENCODE_",
            "GEMINI_",
            "OPENROUTER_",
        ]
        .iter()
        .any(|it| name.starts_with(it))
        {
            command.env_remove(name);
        }
    }
    let mut run = Run::of(command.env("PATH", &bin).arg("doctor").args(arguments));
    let folder = workspace.path("").canonicalize().unwrap();
    for text in [&mut run.stdout, &mut run.stderr] {
        *text = text.replace(&*format!("{}/", workspace.path("").display()).replace("//", "/"), "");
        *text = text.replace(&*format!("{}/", folder.display()), "");
        *text = text.replace(&format!("({}, {})", std::env::consts::OS, std::env::consts::ARCH), "(OS, CPU)");
        *text = text.replace(env!("PROSE_VERSION"), "VERSION");
        // How many sessions there may be depends on the machine.
        let lines = text.split_inclusive('\n').filter(|line| !line.contains("parallel: up to "));
        *text = lines.collect();
        // What each agent enforces is tested with its driver.
        let lines = text.split_inclusive('\n').map(|line| match line.split_once("` enforces ") {
            Some((start, _)) => format!("{start}` enforces …\n"),
            None => line.to_owned(),
        });
        *text = lines.collect();
    }
    run
}

const THIS: (&str, &str) = ("prose", concat!("echo 'prose ", env!("PROSE_VERSION"), "'"));

#[track_caller]
fn check(files: &[(&str, &str)], programs: &[(&str, &str)], expected: Expect) {
    doctor(&Workspace::new(files), programs, &[]).check(expected);
}

/// What is found about some subjects.
#[track_caller]
fn check_about(subjects: &[&str], files: &[(&str, &str)], programs: &[(&str, &str)], expected: Expect) {
    about(subjects, doctor(&Workspace::new(files), programs, &[])).check(expected);
}

/// The lines about some subjects, with their help.
fn about(subjects: &[&str], mut run: Run) -> Run {
    let mut is_shown = false;
    let lines = run.stdout.split_inclusive('\n').filter(|line| {
        let (_, text) = line.split_at(9);
        if !text.starts_with("help: ") {
            is_shown = text.split_once(": ").is_some_and(|(subject, _)| subjects.contains(&subject));
        }
        is_shown
    });
    run.stdout = lines.collect();
    run
}

#[test]
fn a_good_set_up_is_called_good() {
    check(
        &[],
        &[THIS],
        expect![[r#"
            status: 0
            ---- stdout
            ok       version: prose VERSION (OS, CPU)
            ok       editors: `prose` on PATH is prose VERSION
            ok       settings: no prose.toml in this folder or its parents; the default settings apply
            ok       harness: `offline` generates placeholder replies; set an agent with `run.harness` in `prose.toml`
            ok       runs: runs are stored in .prose/runs
            ok       imports: the cache is no-cache
            ---- stderr
            no problems found.
        "#]],
    );
    check(
        &[("prose.toml", "[run]\nharness = \"claude\"\n")],
        &[THIS, ("claude", "echo; echo 2.0.1 '(Claude Code)'")],
        expect![[r#"
            status: 0
            ---- stdout
            ok       version: prose VERSION (OS, CPU)
            ok       editors: `prose` on PATH is prose VERSION
            ok       settings: prose.toml
            ok       harness: `claude`: 2.0.1 (Claude Code)
            ok       harness: `claude` is signed in
            ok       harness: `claude` enforces …
            ok       runs: runs are stored in .prose/runs
            ok       imports: the cache is no-cache
            ---- stderr
            no problems found.
        "#]],
    );
}

#[test]
fn an_agent_that_is_not_signed_in_is_a_problem() {
    check_about(
        &["harness"],
        &[("prose.toml", "[run]\nharness = \"claude\"\n")],
        &[THIS, ("claude", "[ \"$1\" = auth ] && exit 1; echo 2.0.1 '(Claude Code)'")],
        expect![[r#"
            status: 1
            ---- stdout
            ok       harness: `claude`: 2.0.1 (Claude Code)
            problem  harness: `claude` is not signed in, and none of ANTHROPIC_*, CLAUDE_*, API_TIMEOUT_MS is set
                     help: sign in with `claude auth login`, or set `ANTHROPIC_API_KEY`
            ok       harness: `claude` enforces …
            ---- stderr
            1 problem found.
        "#]],
    );
    check_about(
        &["harness"],
        &[("prose.toml", "[run]\nharness = \"codex\"\n")],
        &[THIS, ("codex", "echo codex-cli 0.1")],
        expect![[r#"
            status: 0
            ---- stdout
            ok       harness: `codex`: codex-cli 0.1
            ok       harness: `codex` is signed in
            ok       harness: `codex` enforces …
            note     harness: `codex` uses its default model for `haiku`, `sonnet`, `opus`; set ids for them in `[models]` in `prose.toml`
            ---- stderr
            no problems found.
        "#]],
    );
    check_about(
        &["harness"],
        &[("prose.toml", "[run]\nharness = \"opencode\"\n")],
        &[THIS, ("opencode", "echo 1.0")],
        expect![[r#"
            status: 0
            ---- stdout
            ok       harness: `opencode`: 1.0
            note     harness: none of OPENCODE_*, ANTHROPIC_*, OPENAI_*, GEMINI_*, OPENROUTER_* is set, so `opencode` must be signed in: sign in with `opencode auth login`
            ok       harness: `opencode` enforces …
            note     harness: `opencode` uses its default model for `haiku`, `sonnet`, `opus`; set ids for them in `[models]` in `prose.toml`
            ---- stderr
            no problems found.
        "#]],
    );
}

#[test]
fn the_prose_that_editors_start_is_looked_at() {
    check_about(
        &["editors"],
        &[],
        &[],
        expect![[r#"
            status: 1
            ---- stdout
            problem  editors: `prose` is not on PATH, so editors cannot start the server
                     help: add the folder of this program to PATH, or set its full path in the editor
            ---- stderr
            1 problem found.
        "#]],
    );
    check_about(
        &["editors"],
        &[],
        &[("prose", "echo prose 0.0.1")],
        expect![[r#"
            status: 1
            ---- stdout
            problem  editors: `prose` on PATH is prose 0.0.1, and this is prose VERSION
                     help: editors start the one on PATH; remove it, or put the folder of this one first
            ---- stderr
            1 problem found.
        "#]],
    );
    check_about(
        &["editors"],
        &[],
        &[("prose", "exit 3")],
        expect![[r#"
            status: 1
            ---- stdout
            problem  editors: the `prose` on PATH exits with exit status: 3
                     help: reinstall it, or set the full path of another one in the editor
            ---- stderr
            1 problem found.
        "#]],
    );
}

#[test]
fn what_is_wrong_in_settings_is_told_with_its_line() {
    check_about(
        &["settings"],
        &[("prose.toml", "[run]\nharness = \"claud\"\n\n[chekc]\n")],
        &[THIS],
        expect![[r#"
            status: 1
            ---- stdout
            problem  settings: prose.toml:2: `run.harness` must be `"offline"`, `"script"`, `"claude"`, `"codex"`, `"opencode"`, `"claude-agent-acp"`, `"codex-acp"`, `"gemini"`, `"opencode-acp"`, `"qwen"`, `"acp"`, `"command"` or `"provider"`, not the string "claud"; did you mean "claude"?
                     help: run `prose check prose.toml` for details
            problem  settings: prose.toml:4: `chekc` is not a setting; did you mean `check`?
                     help: run `prose check prose.toml` for details
            ---- stderr
            2 problems found.
        "#]],
    );
}

#[test]
fn an_agent_has_to_be_there_and_to_answer() {
    let settings = [("prose.toml", "[run]\nharness = \"codex\"\nenvironment = [\"NO_SUCH_KEY\"]\n")];
    check_about(
        &["harness"],
        &settings,
        &[THIS],
        expect![[r#"
            status: 1
            ---- stdout
            problem  harness: `codex` starts the program `codex`, which is not on PATH
                     help: install it, for example with `npm install -g @openai/codex`
            problem  harness: `run.environment` contains `NO_SUCH_KEY`, which is not set
                     help: set it before you start `prose` and the editor, or remove it from `prose.toml`
            ---- stderr
            2 problems found.
        "#]],
    );
    check_about(
        &["harness"],
        &settings,
        &[THIS, ("codex", "exit 1")],
        expect![[r#"
            status: 1
            ---- stdout
            problem  harness: `codex --version` exits with exit status: 1
                     help: try it in a terminal; to reinstall it, run `npm install -g @openai/codex`
            problem  harness: `run.environment` contains `NO_SUCH_KEY`, which is not set
                     help: set it before you start `prose` and the editor, or remove it from `prose.toml`
            ---- stderr
            2 problems found.
        "#]],
    );
    check_about(
        &["harness"],
        &settings,
        &[THIS, ("codex", "")],
        expect![[r#"
            status: 1
            ---- stdout
            problem  harness: `codex --version` prints nothing
                     help: try it in a terminal; to reinstall it, run `npm install -g @openai/codex`
            problem  harness: `run.environment` contains `NO_SUCH_KEY`, which is not set
                     help: set it before you start `prose` and the editor, or remove it from `prose.toml`
            ---- stderr
            2 problems found.
        "#]],
    );
}

#[test]
fn the_program_of_a_command_is_not_started() {
    let command = |program: &str| format!("[run]\nharness = \"command\"\ncommand = [\"{program}\"]\n");
    check_about(
        &["harness"],
        &[("prose.toml", &command("my-agent"))],
        &[THIS, ("my-agent", "touch started; exit 1")],
        expect![[r#"
            status: 0
            ---- stdout
            ok       harness: `command`: `my-agent`
            ---- stderr
            no problems found.
        "#]],
    );
    check_about(
        &["harness"],
        &[("prose.toml", &command("your-agent"))],
        &[THIS],
        expect![[r#"
            status: 1
            ---- stdout
            problem  harness: `your-agent` of `run.command` is not installed
                     help: install it; if it is installed, add its folder to PATH or set its full path
            ---- stderr
            1 problem found.
        "#]],
    );
    check_about(
        &["harness"],
        &[("prose.toml", "[run]\nharness = \"command\"\n")],
        &[THIS],
        expect![[r#"
            status: 1
            ---- stdout
            problem  harness: `command` needs `run.command`, which is not set in `prose.toml`
                     help: add, for example, `command = ["my-agent", "--quiet"]` to `[run]`
            ---- stderr
            1 problem found.
        "#]],
    );
}

#[test]
fn folders_that_cannot_be_made_are_told() {
    // A file where a folder should be stops everybody, also those whom no permissions stop.
    check_about(
        &["runs", "imports"],
        &[(".prose", ""), ("no-cache", "")],
        &[THIS],
        expect![[r#"
            status: 1
            ---- stdout
            problem  runs: .prose/runs cannot be written: Not a directory (os error 20)
                     help: make the folder writable, or use `prose run --in-context`, which writes no files
            problem  imports: the cache no-cache cannot be written: Not a directory (os error 20)
                     help: make the folder writable, or set PROSE_CACHE_DIR to another folder
            ---- stderr
            2 problems found.
        "#]],
    );
}

#[test]
fn runs_that_wait_to_be_resumed_and_broken_pins_are_told() {
    let workspace = Workspace::new(&[
        ("fails.prose", "session \"one\"\nthrow \"two\"\n"),
        ("prose.lock", "<<<<<<< ours\n"),
    ]);
    workspace.prose(&["run", "fails.prose", "--quiet"]).ended(1);
    let mut found = doctor(&workspace, &[THIS], &[]);
    let runs = fs::read_dir(workspace.path(".prose/runs")).unwrap();
    for run in runs.map(|run| run.unwrap().file_name().into_string().unwrap()) {
        found.stdout = found.stdout.replace(&run, "RUN");
    }
    about(&["runs", "imports"], found).check(expect![[r#"
        status: 1
        ---- stdout
        ok       runs: runs are stored in .prose/runs
        note     runs: 1 run can be resumed; resume the last one with `prose resume RUN`
        ok       imports: the cache is no-cache
        problem  imports: prose.lock is not a valid lock file; after a merge, keep one side and run `prose lock`: line 1: key with no value, expected `=`
                 help: fix or remove it, then run `prose lock`
        ---- stderr
        1 problem found.
    "#]]);
}

#[test]
fn the_registry_is_asked_only_when_that_is_wanted() {
    let workspace = Workspace::new(&[("prose.toml", "[registry]\nurl = \"http://127.0.0.1:1/\"\n")]);
    about(&["registry"], doctor(&workspace, &[THIS], &[])).check(expect![[r#"
        status: 0
        ---- stderr
        no problems found.
    "#]]);
    about(&["registry"], doctor(&workspace, &[THIS], &["--online"])).check(expect![[r#"
        status: 1
        ---- stdout
        problem  registry: http://127.0.0.1:1/ cannot be reached: cannot be connected to (Connection refused (os error 111))
                 help: check the network, the proxy (HTTPS_PROXY), and `url` in `[registry]` in `prose.toml`
        ---- stderr
        1 problem found.
    "#]]);
}

const SERVER: &str = r#"while read -r line; do
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"search"},{"name":"delete"}]}}' ;;
  esac
done"#;

const SERVERS: &str = "[run]\nharness = \"claude\"\n[agents.writer]\nmcp = [\"tracker\"]\nskills = [\"style\", \"./skills/tables\"]\n[agents.reader]\nharness = \"provider\"\nmcp = [\"tracker\"]\nskills = [\"style\"]\n[mcp.servers.tracker]\ncommand = \"tracker\"\n[mcp.servers.lost]\ncommand = \"no-such-server\"\nenvironment = [\"PROSE_NO_SUCH_TOKEN\"]\n[mcp.servers.docs]\nurl = \"https://docs.example.com/mcp\"\n";

#[test]
fn servers_start_and_skills_are_found() {
    let files = [
        ("prose.toml", SERVERS),
        (".claude/skills/style/SKILL.md", "---\nname: style\n---\n"),
        ("main.prose", "session \"A\"\n"),
    ];
    let programs = [THIS, ("claude", "echo 2.0.1"), ("tracker", SERVER), ("sleep", "exit 1")];
    check_about(
        &["skills", "mcp"],
        &files,
        &programs,
        expect![[r#"
        status: 1
        ---- stdout
        ok       skills: `claude` finds `style`
        problem  skills: agent `reader` has `style`, but harness `provider` loads no skills
                 help: use a harness that does, such as `claude`, or remove the skill
        ok       skills: agent `writer` has `style`
        problem  skills: agent `writer` has `./skills/tables`, but `./skills/tables/SKILL.md` does not exist
                 help: create it, or correct the path in `prose.toml`
        ok       mcp: `docs` is at https://docs.example.com/mcp; no agent uses it
        problem  mcp: `lost` cannot start
                 help: `no-such-server` is not found; install it, add its folder to PATH, or set its path in `command`
        problem  mcp: `lost` cannot start
                 help: the environment variable `PROSE_NO_SUCH_TOKEN` is not set; set it before you start `prose` and the editor
        problem  mcp: agent `reader` has `tracker`, but harness `provider` passes no MCP servers to its agents
                 help: use a harness that does, such as `claude`, or remove the server from `mcp`
        note     mcp: `tracker` is not started, since the project is not trusted; if you trust it, run `prose trust`
        ---- stderr
        6 problems found.
    "#]],
    );
    let workspace = Workspace::new(&files);
    workspace.command().arg("trust").output().unwrap();
    let run = doctor(&workspace, &programs, &[]);
    let started = run.stdout.lines().find(|line| line.contains("`tracker` starts"));
    assert_eq!(
        started,
        Some("ok       mcp: `tracker` starts and has 2 tools: `search`, `delete`; for `reader`, `writer`"),
        "{}",
        run.stdout
    );
}
