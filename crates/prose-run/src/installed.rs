//! Whether the programs of agents are installed, to be reported before a run needs them.

use std::path::Path;

use prose_config::RunConfig;
use prose_harness::mcp::is_installed;
use prose_harness::registry::{agent_command, known_agent, used_harnesses};

use crate::Routes;
use crate::origin::backends;

/// The first program that a run of the settings would start and that is not installed, as a sentence with the solution. `root` is the folder of the project.
pub fn missing_program(config: &RunConfig, routes: &Routes, root: &Path) -> Option<String> {
    let settings = backends(config, routes);
    used_harnesses(config.harness.as_str(), &settings).into_iter().find_map(|harness| {
        if matches!(harness, "command" | "acp") && settings.command.is_none() {
            return Some(format!("`{harness}` needs `run.command`, which is not set"));
        }
        let started = agent_command(harness, &settings).filter(|started| !started.is_address)?;
        let program = started.command.first().filter(|program| !is_installed(program, root))?;
        Some(match known_agent(harness) {
            Some(agent) => format!(
                "`{harness}` starts the program `{program}`, which is not on PATH; install it, for example with `{}`",
                agent.install
            ),
            None => format!("`{program}` of `run.command` is not installed; install it, or set its full path"),
        })
    })
}

#[cfg(test)]
mod tests {
    use prose_config::{Config, HarnessName, Word};

    use super::*;

    #[track_caller]
    fn check(harness: HarnessName, command: &[&str], expected: Option<&str>) {
        let folder = prose_fixture::tempdir().unwrap();
        let mut config = Config::default();
        config.run.harness = harness;
        config.run.command = command.iter().filter_map(|word| Word::new(word)).collect();
        let missing = missing_program(&config.run, &Routes::of(&config), folder.path());
        assert_eq!(missing.as_deref(), expected);
    }

    #[test]
    fn programs_that_are_not_installed_are_named_with_the_solution() {
        check(HarnessName::Offline, &[], None);
        check(HarnessName::Command, &[], Some("`command` needs `run.command`, which is not set"));
        check(HarnessName::Command, &["sh", "-c", "true"], None);
        check(
            HarnessName::Command,
            &["no-such-agent"],
            Some("`no-such-agent` of `run.command` is not installed; install it, or set its full path"),
        );
    }
}
