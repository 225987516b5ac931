//! How the programs of agents are started, for every harness that starts one: with which arguments, variables, in which folder and process group.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use prose_harness::permissions::Enforcement;
use prose_harness::registry::{HARNESSES, known_agent};
use prose_tests::prose_binary;
use prose_vm::effect::PermissionRule;
use tempfile::TempDir;

/// A project, and programs in the place of all agents, which record how they are started and exit.
struct Agents {
    folder: TempDir,
}

/// How a program was started.
struct Started {
    arguments: Vec<String>,
    variables: Vec<String>,
    folder: PathBuf,
    group: String,
}

const RECORD: &str = r#"#!/bin/sh
exec >> "$HOME/started"
for argument; do echo "argument $argument" | tr '\n' ' '; echo; done
env | sed 's/^/variable /'
echo "folder $(pwd -P)"
echo "group $(ps -o pgid= -p $$)"
exit 1
"#;

impl Agents {
    fn new() -> Self {
        let folder = prose_fixture::tempdir().unwrap();
        for created in ["project", "home", "programs"] {
            fs::create_dir(folder.path().join(created)).unwrap();
        }
        for agent in HARNESSES.iter().filter_map(|harness| known_agent(harness.name)) {
            let program = folder.path().join("programs").join(agent.program);
            fs::write(&program, RECORD).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder }
    }

    /// Runs a program in the project with a harness.
    fn output(&self, harness: &str, program: &str, variables: &[(&str, &str)]) -> Output {
        let path = |name: &str| self.folder.path().join(name);
        fs::write(path("project/main.prose"), program).unwrap();
        let programs = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>();
        Command::new(prose_binary())
            .args(["run", "main.prose", "--trust", "--harness", harness])
            .env_clear()
            .envs(variables.iter().copied())
            .env("HOME", path("home"))
            .env("PATH", std::env::join_paths(std::iter::once(path("programs")).chain(programs)).unwrap())
            .current_dir(path("project"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// How the agent of a harness is started for a program.
    fn run(&self, harness: &str, program: &str, variables: &[(&str, &str)]) -> Started {
        let record = self.folder.path().join("home/started");
        let _ = fs::remove_file(&record);
        let output = self.output(harness, program, variables);
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = fs::read_to_string(record).unwrap_or_else(|_| panic!("{harness}: {errors}"));
        let lines = |kind: &str| -> Vec<String> {
            text.lines()
                .filter_map(|line| line.strip_prefix(kind))
                .map(|line| line.trim().to_owned())
                .collect()
        };
        Started {
            arguments: lines("argument "),
            variables: lines("variable "),
            folder: lines("folder ").remove(0).into(),
            group: lines("group ").remove(0),
        }
    }
}

/// The harnesses that start the program of a known agent.
fn harnesses() -> impl Iterator<Item = &'static str> {
    HARNESSES.iter().map(|harness| harness.name).filter(|name| known_agent(name).is_some())
}

/// A program whose texts name what it could be made to do.
fn program(model: &str, system: &str, prompt: &str) -> String {
    format!(
        "agent writer:\n  model: \"{model}\"\n  prompt: \"{system}\"\n\nlet text = session: writer\n  prompt: \"{prompt}\"\n"
    )
}

#[test]
fn nothing_of_a_program_becomes_an_option_or_a_word_of_a_command_line() {
    let agents = Agents::new();
    for harness in harnesses() {
        let expected = agents.run(harness, &program("tides-1", "You write.", "Write"), &[]).arguments;
        for model in
            ["tides-1 --dangerously-skip-permissions", "$(touch stolen)", "a'; touch stolen; '", "a,b=c"]
        {
            let system = "--dangerously-bypass-approvals-and-sandbox $(touch stolen)";
            let found = agents.run(harness, &program(model, system, "--yolo; touch stolen"), &[]).arguments;
            assert_eq!(found.len(), expected.len(), "{harness}: {found:?}");
            for argument in found {
                // The value of an option is part of its argument.
                let rest = argument.replace(&format!("={model}"), "");
                let is_of_program = ["dangerously", "stolen", "yolo"].iter().any(|word| rest.contains(word));
                assert!(!is_of_program, "{harness}: {argument}");
            }
        }
    }
    assert!(!agents.folder.path().join("project/stolen").exists());
}

#[test]
fn a_model_that_looks_like_an_option_is_refused_before_an_agent_starts() {
    let agents = Agents::new();
    for model in ["--dangerously-skip-permissions", "-c", "--model"] {
        let output = agents.output("claude", &program(model, "You write.", "Write"), &[]);
        assert_eq!(output.status.code(), Some(2), "{model}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("would be read as an option"), "{model}");
    }
    assert!(!agents.folder.path().join("home/started").exists());
}

#[test]
fn decision_13_a_rule_that_an_agent_cannot_hold_is_an_error_before_it_starts() {
    let agents = Agents::new();
    let rules = [
        ("deny", PermissionRule::Deny),
        ("prompt", PermissionRule::Prompt),
        ("[\"docs/\"]", PermissionRule::Patterns(vec!["docs/".to_owned()])),
    ];
    for harness in harnesses() {
        let all = ["read", "write", "execute", "network", "mcp"];
        let all =
            all.into_iter().flat_map(|about| rules.iter().map(move |(written, rule)| (about, written, rule)));
        for (about, written, _) in all.filter(|(about, _, rule)| !Enforcement::holds(harness, about, rule)) {
            let program = format!(
                "agent writer:\n  permissions:\n    {about}: {written}\n\nsession: writer\n  prompt: \"Write\"\n"
            );
            let output = agents.output(harness, &program, &[]);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{harness}, {about}: {written}: {errors}");
            assert!(errors.contains(&format!("`{about}: ")), "{harness}, {about}: {errors}");
        }
    }
    assert!(!agents.folder.path().join("home/started").exists());
}

#[test]
fn agents_work_in_the_project_in_a_group_of_their_own() {
    let agents = Agents::new();
    let ours =
        Command::new("ps").args(["-o", "pgid=", "-p", &std::process::id().to_string()]).output().unwrap();
    let ours = String::from_utf8(ours.stdout).unwrap().trim().to_owned();
    for harness in harnesses() {
        let started = agents.run(harness, "session \"Write\"\n", &[]);
        assert_eq!(started.folder, agents.folder.path().join("project").canonicalize().unwrap(), "{harness}");
        assert_ne!(started.group, ours, "{harness}");
    }
}

#[test]
fn agents_get_no_keys_but_their_own() {
    let keys: BTreeMap<&str, &str> = BTreeMap::from([
        ("ANTHROPIC_API_KEY", "claude claude-agent-acp opencode opencode-acp"),
        ("OPENAI_API_KEY", "codex codex-acp opencode opencode-acp qwen"),
        ("GEMINI_API_KEY", "gemini opencode opencode-acp"),
        ("DASHSCOPE_API_KEY", "qwen"),
        ("AWS_SECRET_ACCESS_KEY", ""),
        ("GITHUB_TOKEN", ""),
        ("PROSE_REGISTRY_TOKENS", ""),
        ("SSH_AUTH_SOCK", ""),
    ]);
    let variables: Vec<(&str, &str)> = keys.keys().map(|name| (*name, "planted")).collect();
    let agents = Agents::new();
    for harness in harnesses() {
        let found = agents.run(harness, "session \"Write\"\n", &variables).variables;
        let found: Vec<&str> = found.iter().filter_map(|line| line.strip_suffix("=planted")).collect();
        for (name, receivers) in &keys {
            let receives = receivers.split(' ').any(|receiver| receiver == harness);
            assert_eq!(found.contains(name), receives, "{harness} and {name}");
        }
    }
}
