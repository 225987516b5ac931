//! `prose init` sets a project up, and never changes what is there.

use std::process::Command;

use expect_test::{Expect, expect};

use crate::common::{Run, Workspace};

/// A workspace whose machine has these programs, and no others.
fn machine(files: &[(&str, &str)], programs: &[&str]) -> Workspace {
    let workspace = Workspace::new(files);
    for program in programs {
        // Nothing is started.
        workspace.write(&format!("bin/{program}{}", std::env::consts::EXE_SUFFIX), b"");
    }
    workspace
}

fn command(workspace: &Workspace, arguments: &[&str]) -> Command {
    let mut command = workspace.command();
    command.args(arguments).env("PATH", workspace.path("bin"));
    command
}

fn prose(workspace: &Workspace, arguments: &[&str]) -> Run {
    Run::of(&mut command(workspace, arguments))
}

/// The files of the project with their texts.
fn files(workspace: &Workspace) -> Vec<(String, String)> {
    fn collect(folder: &std::path::Path, root: &std::path::Path, files: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, root, files);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    collect(&workspace.path(""), &workspace.path(""), &mut found);
    found.retain(|(name, _)| !name.starts_with("bin/"));
    found.sort();
    found
}

#[track_caller]
fn check_file(workspace: &Workspace, name: &str, expected: Expect) {
    expected.assert_eq(&workspace.read(name));
}

#[test]
fn a_new_project_runs_and_is_clean() {
    let workspace = machine(&[], &[]);
    prose(&workspace, &["init"]).check(expect![[r#"
        status: 0
        ---- stdout
             created prose.toml
             created main.prose
             created main.test.toml
             created .gitignore

        Next:
          prose run main.prose  run the first program; no model is asked
          prose test            test it with fixed replies
    "#]]);
    prose(&workspace, &["check", "--max-warnings", "0"]).check(expect![[r#"
        status: 0
        ---- stderr
        1 file is clean.
    "#]]);
    prose(&workspace, &["fmt", "--check"]).check(expect![[r#"
        status: 0
        ---- stderr
        1 program already formatted.
    "#]]);
    prose(&workspace, &["run", "main.prose"]).ended(0);
    let run = prose(&workspace, &["test"]).ended(0);
    assert!(run.stdout.contains("\n2 passed in "), "{run:?}");
}

#[test]
fn the_examples_in_the_settings_are_valid() {
    let workspace = machine(&[], &[]);
    assert_eq!(prose(&workspace, &["init"]).status, 0);
    let settings = workspace.read("prose.toml");
    let is_example = |line: &str| line.starts_with('#') && !line.starts_with("# ");
    let lines = settings.lines().map(|line| if is_example(line) { &line[1..] } else { line });
    let all = lines.collect::<Vec<_>>().join("\n");
    assert!(all.contains("\n[mcp]\nrun = true"), "{all}");
    workspace.write("prose.toml", all.as_bytes());
    prose(&workspace, &["check", "--max-warnings", "0"]).check(expect![[r#"
        status: 0
        ---- stderr
        1 file is clean.
    "#]]);
}

#[test]
fn running_it_again_changes_nothing() {
    let workspace = machine(&[], &[]);
    let arguments = ["init", "--agents", "claude", "codex", "gemini", "opencode"];
    assert_eq!(prose(&workspace, &arguments).status, 0);
    let before = files(&workspace);
    prose(&workspace, &arguments).check(expect![[r#"
        status: 0
        ---- stdout
           unchanged prose.toml
           unchanged main.prose
           unchanged main.test.toml
           unchanged .gitignore
           unchanged .mcp.json
           unchanged .claude/settings.json
           unchanged .claude/skills/openprose/SKILL.md
           unchanged .claude/commands/openprose/check.md
           unchanged .claude/commands/openprose/estimate.md
           unchanged .claude/commands/openprose/run.md
           unchanged .codex/config.toml
           unchanged .agents/skills/openprose/SKILL.md
           unchanged AGENTS.md
           unchanged .gemini/settings.json
           unchanged .gemini/commands/openprose/check.toml
           unchanged .gemini/commands/openprose/estimate.toml
           unchanged .gemini/commands/openprose/run.toml
           unchanged GEMINI.md
           unchanged opencode.json
           unchanged .opencode/commands/openprose/check.md
           unchanged .opencode/commands/openprose/estimate.md
           unchanged .opencode/commands/openprose/run.md
    "#]]);
    assert_eq!(files(&workspace), before);
}

#[test]
fn a_dry_run_writes_nothing() {
    let workspace = machine(&[(".gitignore", "/target\n")], &["codex"]);
    let before = files(&workspace);
    prose(&workspace, &["init", "--agents", "--dry-run"]).check(expect![[r#"
        status: 0
        ---- stdout
        would create prose.toml
        would create main.prose
        would create main.test.toml
        would extend .gitignore
        would create .codex/config.toml
        would create .agents/skills/openprose/SKILL.md
        would create AGENTS.md
    "#]]);
    prose(&workspace, &["init", "tides", "--dry-run"]).check(expect![[r#"
        status: 0
        ---- stdout
        would create prose.toml
        would create main.prose
        would create main.test.toml
        would create .gitignore
    "#]]);
    assert_eq!(files(&workspace), before);
    assert!(!workspace.path("tides").exists());
}

#[test]
fn what_is_there_is_never_overwritten() {
    let mine = [
        ("prose.toml", "[run]\nharness = \"claude\"\n"),
        ("review.prose", "session \"Review\"\n"),
        (".gitignore", "/target"),
        (".claude/skills/openprose/SKILL.md", "mine\n"),
        (".mcp.json", "{\n  \"mcpServers\": {\n    \"prose\": { \"command\": \"/opt/prose\" }\n  }\n}\n"),
        (".codex/config.toml", "mcp_servers = { tracker = { command = \"npx\" } } # mine\n"),
        (".gemini/settings.json", "{\n  \"ui\": { \"theme\": \"dark\" }\n}\n"),
        ("AGENTS.md", "# Rules\n\nBe kind.\n"),
        ("opencode.json", "{\n  // mine\n  \"model\": \"large\"\n}\n"),
    ];
    let workspace = machine(&mine, &[]);
    prose(&workspace, &["init", "--agents=claude,codex,gemini,opencode"]).check(expect![[r#"
        status: 1
        ---- stdout
                left prose.toml: it exists with another content
                left main.prose: the folder has programs
            extended .gitignore
                left .mcp.json: it has other values for `mcpServers.prose`
             created .claude/settings.json
                left .claude/skills/openprose/SKILL.md: it exists with another content
             created .claude/commands/openprose/check.md
             created .claude/commands/openprose/estimate.md
             created .claude/commands/openprose/run.md
                left .codex/config.toml: its form cannot be extended; add this by hand:
                     [mcp_servers.prose]
                     command = "prose"
                     args = ["mcp"]
                     # A run is waited for up to ten minutes; after that, `status` shows how it stands.
                     tool_timeout_sec = 660
             created .agents/skills/openprose/SKILL.md
            extended AGENTS.md
            extended .gemini/settings.json
             created .gemini/commands/openprose/check.toml
             created .gemini/commands/openprose/estimate.toml
             created .gemini/commands/openprose/run.toml
             created GEMINI.md
                left opencode.json: it has comments or is not JSON; add this by hand:
                     {
                       "$schema": "https://opencode.ai/config.json",
                       "mcp": {
                         "prose": { "type": "local", "command": ["prose", "mcp"] }
                       },
                       "lsp": {
                         "prose": { "command": ["prose", "lsp"], "extensions": [".prose"] }
                       }
                     }
             created .opencode/commands/openprose/check.md
             created .opencode/commands/openprose/estimate.md
             created .opencode/commands/openprose/run.md

        Next:
          prose trust  with `run = true` in `[mcp]` of `prose.toml`: let agents run programs
    "#]]);
    for name in [
        "prose.toml",
        "review.prose",
        ".claude/skills/openprose/SKILL.md",
        ".mcp.json",
        ".codex/config.toml",
        "opencode.json",
    ] {
        let (_, text) = mine.iter().find(|(other, _)| *other == name).unwrap();
        assert_eq!(workspace.read(name), *text, "{name}");
    }
    check_file(
        &workspace,
        ".gitignore",
        expect![[r#"
        /target
        .prose/runs/
        .prose/.env
    "#]],
    );
    check_file(
        &workspace,
        ".gemini/settings.json",
        expect![[r#"
        {
          "ui": { "theme": "dark" },
          "mcpServers": {
            "prose": { "command": "prose", "args": ["mcp"] }
          },
          "hooks": {
            "AfterTool": [
              {
                "matcher": "write_file|replace",
                "hooks": [{ "name": "prose-check", "type": "command", "command": "prose check --hook" }]
              }
            ]
          }
        }
    "#]],
    );
    assert!(workspace.read("AGENTS.md").starts_with("# Rules\n\nBe kind.\n\n## OpenProse programs\n"));
}

#[test]
fn an_agent_that_does_not_exist_is_reported() {
    let run = prose(&machine(&[], &[]), &["init", "--agents", "cursor"]);
    run.check(expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'cursor' for '--agents [<NAME>...]'
          [possible values: claude, codex, gemini, opencode]

        For more information, try '--help'.
    "#]]);
}

#[test]
fn a_machine_without_agents_is_reported() {
    let workspace = machine(&[], &[]);
    let run = prose(&workspace, &["init", "--agents"]);
    assert_eq!(run.status, 0, "{run:?}");
    expect![[r#"
        warning: no coding agent is on PATH: `claude`, `codex`, `gemini`, `opencode`
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn a_file_is_no_folder_of_a_project() {
    prose(&machine(&[("notes", "")], &[]), &["init", "notes"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `notes` is not a folder
    "#]]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_project_only() {
    use std::os::unix::fs::symlink;

    let outside = prose_fixture::tempdir().unwrap();
    let rules = outside.path().join("AGENTS.md");
    std::fs::write(&rules, "mine\n").unwrap();
    let workspace = machine(&[("CLAUDE.md", "# Rules\n")], &[]);
    symlink(&rules, workspace.path("GEMINI.md")).unwrap();
    symlink(outside.path(), workspace.path(".agents")).unwrap();
    symlink("CLAUDE.md", workspace.path("AGENTS.md")).unwrap();
    let run = prose(&workspace, &["init", "--agents", "codex", "gemini"]);
    assert_eq!(run.status, 1, "{run:?}");
    let left: Vec<&str> = run.stdout.lines().map(str::trim).filter(|line| line.contains("link")).collect();
    expect![[r#"
        left .agents/skills/openprose/SKILL.md: it is reached by a link that leads out of the project
        left GEMINI.md: it is reached by a link that leads out of the project; add this by hand:"#]]
    .assert_eq(&left.join("\n"));
    assert_eq!(std::fs::read_to_string(&rules).unwrap(), "mine\n");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    assert!(workspace.path("AGENTS.md").is_symlink());
    assert!(workspace.read("CLAUDE.md").starts_with("# Rules\n\n## OpenProse programs\n"));
}

#[cfg(unix)]
#[test]
fn a_person_at_a_terminal_is_asked_about_the_agents_on_the_machine() {
    use crate::terminal::answered;

    let question = "Install the kits for Codex and OpenCode, so that they can check and run programs? [y/N] ";
    for (answer, is_installed) in [("\n", false), ("y\n", true)] {
        let workspace = machine(&[], &["codex", "opencode"]);
        let (status, shown) = answered(&mut command(&workspace, &["init"]), &[(question, answer)]);
        assert_eq!(status, 0, "{shown}");
        assert_eq!(workspace.path("opencode.json").exists(), is_installed, "{shown}");
        assert_eq!(workspace.path(".codex/config.toml").exists(), is_installed, "{shown}");
        assert!(!workspace.path(".mcp.json").exists(), "{shown}");
    }
}

#[test]
fn a_new_folder_becomes_a_project() {
    let workspace = machine(&[("full/a.txt", ""), ("file", "")], &[]);
    std::fs::create_dir(workspace.path("empty")).unwrap();
    prose(&workspace, &["new", "my tides"]).check(expect![[r#"
        status: 0
        ---- stdout
             created prose.toml
             created main.prose
             created main.test.toml
             created .gitignore

        Next:
          cd 'my tides'
          prose run main.prose  run the first program; no model is asked
          prose test            test it with fixed replies
    "#]]);
    prose(&workspace, &["new", "--", "-x"]).check(expect![[r#"
        status: 0
        ---- stdout
             created prose.toml
             created main.prose
             created main.test.toml
             created .gitignore

        Next:
          cd ./-x
          prose run main.prose  run the first program; no model is asked
          prose test            test it with fixed replies
    "#]]);
    prose(&workspace, &["new", "empty"]).ended(0);
    assert!(workspace.path("empty/main.prose").exists());
    prose(&workspace, &["new", "my tides"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `my tides` is not empty; set up a project there with `prose init 'my tides'`
    "#]]);
    prose(&workspace, &["new", "full", "--dry-run"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `full` is not empty; set up a project there with `prose init full`
    "#]]);
    prose(&workspace, &["new", "file"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `file` is not a folder
    "#]]);
    prose(&workspace, &["new", "gone/deep", "--dry-run"]).ended(0);
    assert!(!workspace.path("gone").exists());
}
