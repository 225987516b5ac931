//! Checks an agent: whether it is installed and signed in, and which permissions and models it supports.

use std::io;
use std::path::Path;

use prose_harness::drivers::KnownAgent;
use prose_harness::faults;
use prose_harness::registry::{HarnessSettings, harness};
use prose_vm::effect::PermissionRule;
use prose_vm::harness::{Harness, RunFolders};

use super::machine::{Answer, asked_for_version, is_set, succeeds};
use super::report::Report;

const ABOUT: &str = "harness";

/// Checks the agent of a harness.
pub(super) fn check(agent: &KnownAgent, name: &str, root: &Path, report: &mut Report<'_>) -> io::Result<()> {
    let KnownAgent { program, install, unknown_models: unknown, .. } = agent;
    match asked_for_version(program) {
        Answer::Version(version) => report.good(ABOUT, format_args!("`{name}`: {version}"))?,
        Answer::NotFound => {
            return report.problem(
                ABOUT,
                format_args!("`{name}` starts the program `{program}`, which is not on PATH"),
                format_args!("install it, for example with `{install}`"),
            );
        }
        Answer::Failed(reason) => {
            return report.problem(
                ABOUT,
                format_args!("`{program} --version` {reason}"),
                format_args!("try it in a terminal; to reinstall it, run `{install}`"),
            );
        }
    }
    signed_in(agent, name, report)?;
    let root = root.to_owned();
    if let Ok(harness) = harness(name, &HarnessSettings::new(RunFolders { root, run: None })) {
        report.good(ABOUT, format_args!("`{name}` {}", enforced(harness.as_ref())))?;
    }
    if !unknown.is_empty() {
        let models = unknown.iter().map(|model| format!("`{model}`")).collect::<Vec<_>>().join(", ");
        report.note(
            ABOUT,
            format_args!(
                "`{name}` uses its default model for {models}; set ids for them in `[models]` in `prose.toml`"
            ),
        )?;
    }
    Ok(())
}

fn signed_in(agent: &KnownAgent, name: &str, report: &mut Report<'_>) -> io::Result<()> {
    let KnownAgent { program, variables, .. } = agent;
    let sign_in = faults::sign_in(name);
    // The agent uses them instead of an account.
    if variables.iter().any(|name| is_set(name)) {
        return Ok(());
    }
    let names = variables.join(", ");
    match agent.sign_in_status.and_then(|arguments| succeeds(program, arguments)) {
        Some(true) => report.good(ABOUT, format_args!("`{program}` is signed in")),
        Some(false) => report.problem(
            ABOUT,
            format_args!("`{program}` is not signed in, and none of {names} is set"),
            format_args!("{sign_in}"),
        ),
        None => report
            .note(ABOUT, format_args!("none of {names} is set, so `{program}` must be signed in: {sign_in}")),
    }
}

/// The permissions that a harness can enforce, as the rest of a sentence.
fn enforced(harness: &dyn Harness) -> String {
    let patterns = PermissionRule::Patterns(vec!["docs/**".to_owned()]);
    let rules = [("deny", PermissionRule::Deny), ("prompt", PermissionRule::Prompt), ("patterns", patterns)];
    let kinds: Vec<String> = rules
        .iter()
        .filter_map(|(name, rule)| {
            let mut subjects = vec!["read", "write", "execute", "network", "mcp"];
            subjects.retain(|about| harness.enforces(about, rule));
            (!subjects.is_empty()).then(|| format!("`{name}` for {}", subjects.join(", ")))
        })
        .collect();
    match kinds.is_empty() {
        true => "enforces no permissions".to_owned(),
        false => format!("enforces {}", kinds.join("; ")),
    }
}
