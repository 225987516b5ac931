//! Finds files that sessions change at the same time.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::activity::{ToolKind, ToolStatus, ToolUse};
use crate::effect::RequestId;
use crate::place::NamedLine;

/// The files that sessions have changed, as far as their backends report it.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    /// The last session that changed a file, by working tree and path. Files in different trees are different ones.
    last: BTreeMap<(Option<SmolStr>, SmolStr), (RequestId, NamedLine)>,
    /// The files that a warning names already.
    warned: BTreeSet<SmolStr>,
}

impl Writers {
    /// Adds a tool call of a session. Returns a warning if another session that is at work has changed one of its files; one for each file.
    pub(crate) fn add(
        &mut self,
        tool: &ToolUse,
        (request, line, folder): (RequestId, &NamedLine, Option<&str>),
        is_at_work: impl Fn(RequestId) -> bool,
    ) -> Option<String> {
        let changes = matches!(tool.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
            && matches!(tool.status, ToolStatus::Running | ToolStatus::Completed);
        if !changes {
            return None;
        }
        let mut warning = None;
        for path in &tool.paths {
            let path = SmolStr::from(path.strip_prefix("./").unwrap_or(path));
            let before = self.last.insert((folder.map(Into::into), path.clone()), (request, line.clone()));
            let Some((_, before)) = before.filter(|(other, _)| *other != request && is_at_work(*other))
            else {
                continue;
            };
            if self.warned.insert(path.clone()) {
                let (first, second) = match before.line <= line.line {
                    true => (&before, line),
                    false => (line, &before),
                };
                let lines = match first == second {
                    true => format!("two sessions at {first}"),
                    false => format!("the sessions at {first} and {second}"),
                };
                warning.get_or_insert(format!(
                    "{lines} change `{path}` at the same time, so that one may overwrite the other; run them one after the other"
                ));
            }
        }
        warning
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: u32) -> NamedLine {
        NamedLine { program: None, line }
    }

    fn tool(kind: ToolKind, status: ToolStatus, path: &str) -> ToolUse {
        ToolUse { id: "1".into(), kind, title: "".into(), paths: vec![path.into()], status }
    }

    #[test]
    fn two_sessions_at_work_that_change_a_file_are_warned_of_once() {
        let mut writers = Writers::default();
        let edit = |path: &str| tool(ToolKind::Edit, ToolStatus::Running, path);
        let (first, second) = ((RequestId(1), &line(4), None), (RequestId(2), &line(9), None));
        assert_eq!(writers.add(&edit("notes.md"), first, |_| true), None);
        assert_eq!(writers.add(&edit("other.md"), second, |_| true), None);
        // Its own file, again.
        assert_eq!(writers.add(&edit("notes.md"), first, |_| true), None);
        let read = tool(ToolKind::Read, ToolStatus::Completed, "notes.md");
        assert_eq!(writers.add(&read, second, |_| true), None);
        let denied = tool(ToolKind::Edit, ToolStatus::Denied, "notes.md");
        assert_eq!(writers.add(&denied, second, |_| true), None);
        assert_eq!(
            writers.add(&edit("./notes.md"), second, |_| true).as_deref(),
            Some(
                "the sessions at line 4 and line 9 change `notes.md` at the same time, so that one may overwrite the other; run them one after the other"
            )
        );
        assert_eq!(writers.add(&edit("notes.md"), first, |_| true), None);
    }

    #[test]
    fn a_session_after_another_may_change_the_same_file() {
        let mut writers = Writers::default();
        let edit = tool(ToolKind::Edit, ToolStatus::Completed, "notes.md");
        assert_eq!(writers.add(&edit, (RequestId(1), &line(4), None), |_| true), None);
        assert_eq!(writers.add(&edit, (RequestId(2), &line(9), None), |_| false), None);
    }

    #[test]
    fn files_in_different_working_trees_are_different_files() {
        let mut writers = Writers::default();
        let edit = tool(ToolKind::Edit, ToolStatus::Running, "notes.md");
        assert_eq!(writers.add(&edit, (RequestId(1), &line(4), Some("trees/1-a")), |_| true), None);
        assert_eq!(writers.add(&edit, (RequestId(2), &line(9), Some("trees/2-b")), |_| true), None);
    }
}
