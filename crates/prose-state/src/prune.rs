//! Which runs of a project are removed together, and which stay although they are old.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use crate::error::StateError;
use crate::folder::Project;
use crate::runs::{RunState, RunSummary};

/// Which runs are removed: those that all of these apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneRules {
    /// Only runs whose last event was recorded at least so long ago.
    pub older: Option<Duration>,
    /// Only runs that failed.
    pub failed: bool,
    /// How many of the latest runs stay.
    pub keep: usize,
}

/// The runs that rules select, the latest first.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Pruned {
    /// The runs to remove.
    pub removed: Vec<RunSummary>,
    /// The runs that stay nevertheless, with the reasons.
    pub kept: Vec<(RunSummary, KeptBecause)>,
}

/// Why a run stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptBecause {
    /// A process executes it.
    Executed,
    /// It waits for a person.
    Waiting,
    /// A run that stays has taken outcomes from it: a fork or a replay.
    Forked(SmolStr),
    /// A later version wrote it, so that its state is unknown.
    Newer,
}

impl fmt::Display for KeptBecause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeptBecause::Executed => formatter.write_str("it is being executed"),
            KeptBecause::Waiting => formatter.write_str("it waits for an answer"),
            KeptBecause::Forked(by) => write!(formatter, "run {by} continues from it"),
            KeptBecause::Newer => formatter.write_str("a later version of `prose` wrote it"),
        }
    }
}

impl Project {
    /// The runs that rules select at a time. Nothing is removed yet.
    pub fn prunable(&self, rules: &PruneRules, now: SystemTime) -> Result<Pruned, StateError> {
        Ok(select(self.list_runs()?, rules, now))
    }
}

fn select(runs: Vec<RunSummary>, rules: &PruneRules, now: SystemTime) -> Pruned {
    let is_old = |run: &RunSummary| {
        rules.older.is_none_or(|age| {
            let latest = now.checked_sub(age).unwrap_or(UNIX_EPOCH);
            let last = run.last.or(run.started);
            last.is_some_and(|last| UNIX_EPOCH + Duration::from_millis(last) <= latest)
        })
    };
    let is_meant = |run: &RunSummary| (!rules.failed || run.status == RunState::Failed) && is_old(run);
    let mut pruned = Pruned::default();
    // The run that each run which stays has taken outcomes from.
    let mut needed: Vec<(SmolStr, SmolStr)> = Vec::new();
    for (index, run) in runs.into_iter().enumerate() {
        if index < rules.keep || !is_meant(&run) {
            needed.extend(run.earlier.map(|earlier| (earlier, run.id)));
            continue;
        }
        let reason = match run.status {
            status if status.is_executed() => KeptBecause::Executed,
            RunState::Waiting => KeptBecause::Waiting,
            // Its process was killed while it asked; an answer continues it all the same.
            RunState::Interrupted if !run.waiting.is_empty() => KeptBecause::Waiting,
            RunState::Newer => KeptBecause::Newer,
            _ => {
                pruned.removed.push(run);
                continue;
            }
        };
        needed.extend(run.earlier.clone().map(|earlier| (earlier, run.id.clone())));
        pruned.kept.push((run, reason));
    }
    // A run that stays because of a fork may be a fork itself.
    let mut seen = FxHashSet::default();
    while let Some((earlier, by)) = needed.pop() {
        if !seen.insert(earlier.clone()) {
            continue;
        }
        if let Some(index) = pruned.removed.iter().position(|run| run.id == earlier) {
            let run = pruned.removed.remove(index);
            needed.extend(run.earlier.clone().map(|earlier| (earlier, run.id.clone())));
            pruned.kept.push((run, KeptBecause::Forked(by)));
        }
    }
    pruned.kept.sort_by(|(a, _), (b, _)| (b.started, &b.id).cmp(&(a.started, &a.id)));
    pruned
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const DAY: u64 = 24 * 60 * 60 * 1000;

    fn run(id: &str, status: RunState, days: u64, earlier: Option<&str>) -> RunSummary {
        let at = Some(100 * DAY - days * DAY);
        RunSummary {
            id: id.into(),
            status,
            started: at,
            last: at,
            earlier: earlier.map(SmolStr::new),
            ..RunSummary::default()
        }
    }

    #[track_caller]
    fn check(rules: PruneRules, expected: Expect) {
        let runs = vec![
            run("now", RunState::Running(None), 0, None),
            run("fork", RunState::Completed, 1, Some("middle")),
            run("wait", RunState::Waiting, 40, None),
            run("middle", RunState::Completed, 41, Some("first")),
            run("bad", RunState::Failed, 42, None),
            run("first", RunState::Interrupted, 43, None),
            run("newer", RunState::Newer, 44, None),
            run("alone", RunState::Completed, 45, None),
        ];
        let now = UNIX_EPOCH + Duration::from_millis(100 * DAY);
        let pruned = select(runs, &rules, now);
        let removed: Vec<&str> = pruned.removed.iter().map(|run| run.id.as_str()).collect();
        let kept: Vec<String> = pruned.kept.iter().map(|(run, why)| format!("\n{}: {why}", run.id)).collect();
        expected.assert_eq(&format!("removed {}{}\n", removed.join(" "), kept.concat()));
    }

    #[test]
    fn a_run_whose_process_was_killed_while_it_asked_waits() {
        let question = serde_json::json!({ "id": 1, "about": "input", "name": "go", "prompt": "Go?", "since": 0, "asked_at": "s1" });
        let waiting = vec![serde_json::from_value(question).unwrap()];
        let runs = vec![RunSummary { waiting, ..run("killed", RunState::Interrupted, 3, None) }];
        let rules = PruneRules { older: None, failed: false, keep: 0 };
        let pruned = select(runs, &rules, UNIX_EPOCH + Duration::from_millis(100 * DAY));
        assert_eq!((pruned.removed.len(), &pruned.kept[0].1), (0, &KeptBecause::Waiting));
    }

    fn days(days: u64) -> Option<Duration> {
        Some(Duration::from_millis(days * DAY))
    }

    #[test]
    fn runs_that_are_needed_stay() {
        check(
            PruneRules { older: days(30), failed: false, keep: 0 },
            expect![[r#"
            removed bad alone
            wait: it waits for an answer
            middle: run fork continues from it
            first: run middle continues from it
            newer: a later version of `prose` wrote it
        "#]],
        );
        // The fork goes as well, so that nothing needs what it continues from.
        check(
            PruneRules { older: None, failed: false, keep: 0 },
            expect![[r#"
            removed fork middle bad first alone
            now: it is being executed
            wait: it waits for an answer
            newer: a later version of `prose` wrote it
        "#]],
        );
    }

    #[test]
    fn all_rules_apply_together() {
        check(
            PruneRules { older: None, failed: true, keep: 0 },
            expect![[r#"
            removed bad
        "#]],
        );
        check(
            PruneRules { older: days(42), failed: false, keep: 5 },
            expect![[r#"
            removed alone
            first: run middle continues from it
            newer: a later version of `prose` wrote it
        "#]],
        );
        check(
            PruneRules { older: days(43), failed: true, keep: 0 },
            expect![[r#"
            removed 
        "#]],
        );
    }
}
