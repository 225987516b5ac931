//! Rules of permissions with every agent: what becomes of each call of a tool, also where it tries to get around a rule.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use prose_harness::permissions::Enforcement;
use prose_tests::agents::{AgentProject, replies};
use prose_tests::drivers::{Driver, at_once, execute};
use prose_tests::rules::{self, Case};
use prose_tests::tools::AgentModel;
use serde_json::json;

/// What an agent cannot be restricted to, so that a program with the rule is refused before its first session.
const REFUSED: &str = "refused";

/// What an agent has no tool for.
const NO_TOOL: &str = "-";

/// What becomes of each case with an agent.
fn outcomes(driver: &Driver, model: &AgentModel, cases: &[Case]) -> Vec<String> {
    let is_tried = |case: &Case| {
        let rule = rules::permission(case);
        Enforcement::holds(driver.name, &rule.about, &rule.rule) && (model.fetches || !case.3.is_fetch())
    };
    let tried: Vec<Case> = cases.iter().filter(|case| is_tried(case)).copied().collect();
    let project = AgentProject::new(|root| {
        let mut fixtures = rules::fixtures(root, &tried, model.call);
        // Where a call is denied, some turns end, and the session goes on with a prompt that says so.
        fixtures.push(replies("do not allow that", "That is all."));
        // For what an agent asks besides, such as for a title.
        fixtures.push(json!({ "match": {}, "response": { "content": "Tides" } }));
        fixtures
    });
    let outcomes = execute(async {
        let harness = driver.harness(&project, &project.provider.address);
        let outcomes = rules::outcomes(&*harness, &project, model.requests, &tried).await;
        harness.settled().await;
        outcomes
    });
    let mut outcomes = outcomes.into_iter();
    let outcome = |case: &Case| match is_tried(case) {
        true => outcomes.next().unwrap(),
        false if case.3.is_fetch() && !model.fetches => NO_TOOL.to_owned(),
        false => REFUSED.to_owned(),
    };
    cases.iter().map(outcome).collect()
}

/// Compares what becomes of the cases with all agents, or with those that are [chosen](Driver::is_chosen).
#[track_caller]
fn check(cases: &[Case], expected: &Expect) {
    let drivers: Vec<&Driver> = Driver::of_agents().map(|(driver, _)| driver).collect();
    let columns = at_once(&drivers, |driver| outcomes(driver, &driver.model.unwrap(), cases));
    let columns: Vec<Vec<String>> =
        columns.into_iter().map(|column| column.expect("it panics with no agent")).collect();
    let lines = cases.iter().enumerate().map(|(row, case)| {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (driver, column) in drivers.iter().zip(&columns) {
            groups.entry(&column[row]).or_default().push(driver.title);
        }
        let groups = groups.into_iter().map(|(outcome, agents)| shown(outcome, &agents, drivers.len()));
        format!("{} | {}\n", rules::shown(case), groups.collect::<Vec<_>>().join("; "))
    });
    let lines: String = lines.collect();
    if drivers.len() == Driver::all_of_agents().count() {
        expected.assert_eq(&lines);
    } else {
        let titles: Vec<&str> = drivers.iter().map(|driver| driver.title).collect();
        assert_eq!(lines, of_agents(expected.data, &titles));
    }
}

/// An outcome with the agents that it is that of, unless it is that of all.
fn shown(outcome: &str, agents: &[&str], all: usize) -> String {
    match agents.len() == all {
        true => outcome.to_owned(),
        false => format!("{outcome} ({})", agents.join(", ")),
    }
}

/// What is expected of some agents, in lines that say it of all.
fn of_agents(expected: &str, titles: &[&str]) -> String {
    let mut lines = String::new();
    for line in expected.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (case, groups) = line.rsplit_once(" | ").expect("a line has a case and outcomes");
        let groups = groups.split("; ").filter_map(|group| {
            let Some((outcome, agents)) = group.strip_suffix(')').and_then(|group| group.split_once(" ("))
            else {
                return Some(group.to_owned());
            };
            let agents: Vec<&str> = agents.split(", ").filter(|agent| titles.contains(agent)).collect();
            (!agents.is_empty()).then(|| shown(outcome, &agents, titles.len()))
        });
        lines += &format!("{case} | {}\n", groups.collect::<Vec<_>>().join("; "));
    }
    lines
}

#[test]
fn what_is_expected_of_all_agents_says_what_is_of_some() {
    let of_all = "
        write: deny | touch made | denied (codex, gemini); not done (claude)
        read: docs/ | read seen | done (claude, codex); refused (gemini)
        write: allow | touch made | done
    ";
    let check = |titles: &[&str], expected: &Expect| expected.assert_eq(&of_agents(of_all, titles));
    check(
        &["claude", "codex"],
        &expect![[r#"
            write: deny | touch made | denied (codex); not done (claude)
            read: docs/ | read seen | done
            write: allow | touch made | done
        "#]],
    );
    check(
        &["gemini"],
        &expect![[r#"
            write: deny | touch made | denied
            read: docs/ | read seen | refused
            write: allow | touch made | done
        "#]],
    );
}

#[test]
#[ignore = "needs npm"]
fn rules_hold_whatever_the_model_tries() {
    let cases = [
        rules::WRITES,
        rules::READS,
        rules::COMMANDS,
        rules::WRITING_COMMANDS,
        rules::READING_COMMANDS,
        rules::PAGES,
        rules::NETWORK_COMMANDS,
    ];
    check(
        &cases.concat(),
        &expect![[r#"
        write: allow | write docs/made | done
        write: deny | write docs/made | denied (codex, opencode, opencode-acp, claude-agent-acp, codex-acp, gemini, qwen); not done (claude)
        write: docs/ | write docs/made | done
        write: docs/ | write made | denied
        write: docs/ | write docs/../made | denied
        write: docs/ | write docs/link/made | denied
        write: docs/ | write ../made | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, codex-acp, qwen); not done (gemini)
        write: prompt, allowed | write docs/made | done
        write: prompt, denied | write docs/made | denied
        write: prompt | write docs/made | stopped
        read: allow | read docs/seen | done
        read: deny | read docs/seen | denied (codex, opencode, claude-agent-acp); not done (claude); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | read docs/seen | done (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | read seen | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | read docs/../seen | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | read docs/link/seen | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | read ../seen | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: prompt, allowed | read docs/seen | denied (codex); done (claude, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: prompt, denied | read docs/seen | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: prompt | read docs/seen | denied (codex); refused (opencode-acp, codex-acp, gemini, qwen); stopped (claude, opencode, claude-agent-acp)
        execute: allow | touch made | done (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (codex-acp)
        execute: deny | touch made | denied (codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (claude); refused (codex-acp)
        execute: touch * | touch made | done (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); refused (codex-acp)
        execute: echo * | touch made | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); refused (codex-acp)
        execute: echo * | echo tides; touch made | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); refused (codex-acp)
        execute: echo * | echo $(touch made) | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); refused (codex-acp)
        execute: sort * | sort --output=made /dev/null | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); refused (codex-acp)
        execute: prompt, allowed | touch made | done (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); refused (codex-acp)
        execute: prompt, denied | touch made | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); refused (codex-acp)
        execute: prompt | touch made | refused (codex-acp); stopped (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen)
        execute: deny | cat docs/seen | denied (opencode, opencode-acp, claude-agent-acp, gemini, qwen); done (codex); not done (claude); refused (codex-acp)
        execute: cat * | cat docs/seen | done (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); refused (codex-acp)
        read: docs/ | cat docs/seen | done (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | cat docs/link/seen | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        write: docs/ | echo tides > made | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (codex-acp)
        write: docs/ | uniq /dev/null made | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (codex-acp)
        write: docs/ | sort --output=made /dev/null | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (codex-acp)
        write: docs/ | echo tides | tee made | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (codex-acp)
        write: docs/ | sh -c 'touch made' | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (codex-acp)
        write: docs/ | cd docs && touch ../made | denied (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (codex-acp)
        write: deny | uniq /dev/null made | denied (opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (claude, codex, codex-acp)
        write: deny | touch "$PWD/made" | denied (opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (claude, codex, codex-acp)
        write: deny | touch docs/link/../made | denied (opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (claude, codex, codex-acp)
        write: deny | python3 -c 'open("made", "w")' | denied (opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (claude, codex, codex-acp)
        read: docs/ | cat docs/../elsewhere/seen | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | (cd elsewhere && cat seen) | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | head < elsewhere/seen | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        read: docs/ | python3 -c 'print(open("elsewhere/seen").read())' | denied (claude, codex, opencode, claude-agent-acp); refused (opencode-acp, codex-acp, gemini, qwen)
        network: allow | fetch http://127.0.0.1:9/docs/ | - (codex, codex-acp); done (claude, opencode, opencode-acp); not done (claude-agent-acp, gemini, qwen)
        network: deny | fetch http://127.0.0.1:9/docs/ | - (codex, codex-acp); denied (opencode, opencode-acp, claude-agent-acp); not done (claude); refused (gemini, qwen)
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/docs/ | - (codex, codex-acp); done (claude, opencode, opencode-acp); not done (claude-agent-acp); refused (gemini, qwen)
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/ | - (codex, codex-acp); denied (claude, opencode, opencode-acp, claude-agent-acp); refused (gemini, qwen)
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9/docs/../ | - (codex, codex-acp); denied (claude, opencode, opencode-acp, claude-agent-acp); refused (gemini, qwen)
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9@localhost:9/docs/ | - (codex, codex-acp); denied (claude, opencode, opencode-acp, claude-agent-acp); refused (gemini, qwen)
        network: http://127.0.0.1:9/docs/* | fetch http://127.0.0.1:9.example.com/docs/ | - (codex, codex-acp); denied (opencode, opencode-acp); not done (claude, claude-agent-acp); refused (gemini, qwen)
        network: prompt, allowed | fetch http://127.0.0.1:9/docs/ | - (codex, codex-acp); done (claude, opencode, opencode-acp); not done (claude-agent-acp); refused (gemini, qwen)
        network: prompt, denied | fetch http://127.0.0.1:9/docs/ | - (codex, codex-acp); denied (claude, opencode, opencode-acp, claude-agent-acp); refused (gemini, qwen)
        network: prompt | fetch http://127.0.0.1:9/docs/ | - (codex, codex-acp); refused (gemini, qwen); stopped (claude, opencode, opencode-acp, claude-agent-acp)
        network: allow | curl -sS -o made {url} | done (claude, codex, opencode, opencode-acp, claude-agent-acp, gemini, qwen); not done (codex-acp)
        network: deny | curl -sS -o made {url} | denied (opencode, opencode-acp, claude-agent-acp); not done (claude, codex, codex-acp); refused (gemini, qwen)
        network: deny | sh -c 'curl -sS -o made {url}' | denied (opencode, opencode-acp, claude-agent-acp); not done (claude, codex, codex-acp); refused (gemini, qwen)
        network: deny | echo tides && curl -sS -o made {url} | denied (opencode, opencode-acp, claude-agent-acp); not done (claude, codex, codex-acp); refused (gemini, qwen)
        network: https://example.com/* | curl -sS -o made {url} | denied (claude, codex, opencode, opencode-acp, claude-agent-acp); refused (codex-acp, gemini, qwen)
        network: prompt, allowed | curl -sS -o made {url} | done (claude, opencode, opencode-acp, claude-agent-acp); not done (codex); refused (codex-acp, gemini, qwen)
        network: prompt, denied | curl -sS -o made {url} | denied (claude, codex, opencode, opencode-acp, claude-agent-acp); refused (codex-acp, gemini, qwen)
        network: prompt | curl -sS -o made {url} | denied (claude, codex, opencode, opencode-acp, claude-agent-acp); refused (codex-acp, gemini, qwen)
    "#]],
    );
}
