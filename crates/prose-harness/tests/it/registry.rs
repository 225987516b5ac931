//! Harnesses by name.

use std::fs;

use expect_test::{Expect, expect};
use prose_harness::command::CommandSettings;
use prose_harness::drivers::provider::PROVIDERS;
use prose_harness::registry::{HARNESSES, HarnessSettings, harness};
use prose_rights::{Enforcement, PermissionRule};
use prose_vm::harness::RunFolders;

use crate::support::*;

fn settings() -> HarnessSettings {
    HarnessSettings::new(RunFolders { root: ".".into(), run: None })
}

#[track_caller]
fn check_error(name: &str, settings: &HarnessSettings, expected: Expect) {
    let error = harness(name, settings).err().expect("it cannot be made");
    expected.assert_eq(&error.to_string());
}

#[tokio::test]
async fn every_harness_is_made_by_its_name() {
    let script = tempfile::NamedTempFile::new().unwrap();
    fs::write(&script, "[[session]]\nreply = \"from the script\"").unwrap();
    let mut settings = settings();
    settings.script = Some(script.path().to_owned());
    settings.command = Some(CommandSettings::new("cat"));
    for info in HARNESSES {
        assert_eq!(harness(info.name, &settings).unwrap().name(), info.name);
    }
    let scripted = harness("script", &settings).unwrap();
    assert_eq!(said(&*scripted, &session("s1", "Go")).await, "from the script");
    assert_eq!(HARNESSES[0].name, "offline");
}

/// Settings name them, and must not know how they are made.
#[test]
fn every_harness_can_be_set_in_prose_toml() {
    let names: Vec<_> = HARNESSES.iter().map(|info| info.name).collect();
    let settable: Vec<_> = prose_config::HarnessName::ALL.iter().map(|name| name.as_str()).collect();
    assert_eq!(names, settable);
}

/// The analysis reports rules that the harness of a project cannot enforce, and must not know how harnesses are made.
#[test]
fn the_table_of_enforced_permissions_agrees_with_every_harness() {
    let script = tempfile::NamedTempFile::new().unwrap();
    let mut settings = settings();
    settings.script = Some(script.path().to_owned());
    settings.command = Some(CommandSettings::new("cat"));
    let rules =
        [PermissionRule::Deny, PermissionRule::Prompt, PermissionRule::Patterns(vec!["x".to_owned()])];
    for info in HARNESSES {
        let harness = harness(info.name, &settings).unwrap();
        let table = Enforcement::of(info.name).unwrap_or_else(|| panic!("{} is not in the table", info.name));
        for about in ["read", "write", "execute", "bash", "network", "database"] {
            for rule in &rules {
                let is_enforced = table.covers(about, rule.kind().unwrap());
                assert_eq!(
                    harness.enforces(about, rule),
                    is_enforced,
                    "{}: {}",
                    info.name,
                    rule.shown(about)
                );
            }
            assert!(harness.enforces(about, &PermissionRule::Allow));
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn agents_get_the_variables_that_the_project_names() {
    let mut settings = settings();
    let command = CommandSettings::from_words(["sh", "-c", "echo $CARGO_PKG_NAME"]).unwrap();
    settings.command = Some(command);
    let asked = session("s1", "Go");
    assert_eq!(said(&*harness("command", &settings).unwrap(), &asked).await, "");
    settings.environment.push("CARGO_PKG_*".to_owned());
    assert_eq!(said(&*harness("command", &settings).unwrap(), &asked).await, "prose-harness");
}

#[tokio::test]
async fn the_seed_is_that_of_the_run() {
    let asked = session("s1", "Research tidal power stations in Brittany and Wales");
    let mut settings = settings();
    let first = said(&*harness("offline", &settings).unwrap(), &asked).await;
    settings.seed = 5;
    let second = said(&*harness("offline", &settings).unwrap(), &asked).await;
    assert_ne!(first, second);
    assert_eq!(second, said(&prose_harness::offline::Offline::new(5), &asked).await);
}

#[test]
fn what_cannot_be_made_is_explained() {
    let mut settings = settings();
    check_error("ofline", &settings, expect!["harness `ofline` does not exist; did you mean `offline`?"]);
    check_error(
        "gpt",
        &settings,
        expect![
            "harness `gpt` does not exist; use one of `offline`, `script`, `claude`, `codex`, `opencode`, `claude-agent-acp`, `codex-acp`, `gemini`, `opencode-acp`, `qwen`, `acp`, `command`, `provider`"
        ],
    );
    check_error(
        "script",
        &settings,
        expect!["harness `script` needs a script; pass it with `--script FILE.toml`"],
    );
    check_error(
        "command",
        &settings,
        expect![[
            r#"harness `command` needs a program to start; set it in `run.command` in `prose.toml`, such as `command = ["my-agent", "--quiet"]`"#
        ]],
    );
    settings.script = Some("no-such-file.toml".into());
    let error = harness("script", &settings).err().unwrap().to_string();
    assert_eq!(error, "the script `no-such-file.toml` does not exist");
    let script = tempfile::NamedTempFile::new().unwrap();
    fs::write(&script, "[[sesion]]").unwrap();
    settings.script = Some(script.path().to_owned());
    let error = harness("script", &settings).err().unwrap().to_string();
    assert!(error.ends_with(":1:3: a script has no `sesion`; did you mean `session`?"), "{error}");
}

/// Settings name them, and must not know how they are asked.
#[test]
fn every_provider_can_be_set_in_prose_toml() {
    let names: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
    let settable: Vec<_> = prose_config::ProviderName::ALL.iter().map(|name| name.as_str()).collect();
    assert_eq!(names, settable);
}
