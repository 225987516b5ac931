//! Code actions at the sessions of the last run: run again from there, or with another reply.

use prose_analysis::location::Origin;
use serde_json::{Value, json};

use crate::protocol::lsp;
use crate::protocol::uri::uri_of_path;
use crate::reads::views::View;
use crate::runs::history::{AskedSession, LastRun};
use crate::runs::lines::line_map;
use crate::runs::project::project_of;
use crate::runs::requests::FORK;

/// The title of a fork at a statement.
pub(super) const RUN_FROM_HERE: &str = "Run again from here";

/// The client's command to edit a reply, with which a fork continues.
const EDIT_REPLY: &str = "prose.editReply";

/// The actions at a line of the document.
pub(super) fn fork_actions(view: &View<'_>, range: lsp::Range) -> Vec<Value> {
    found(view, range).unwrap_or_default()
}

fn found(view: &View<'_>, range: lsp::Range) -> Option<Vec<Value>> {
    let (db, snapshot) = (view.db, view.snapshot);
    let (last, session) = last_session(view, range.start.line)?;
    let summary = &last.details.summary;
    if summary.status.is_executed() || !snapshot.config.errors(db, snapshot.file).is_empty() {
        return None;
    }
    let mut argument = last.argument(&snapshot.name);
    argument["line"] = json!(range.start.line + 1);
    let mut actions = vec![action(RUN_FROM_HERE, FORK, &argument)];
    if view.session.edits_replies {
        let argument = json!({
            "uri": &*snapshot.name,
            "run": summary.id,
            "folder": uri_of_path(&summary.folder).as_deref(),
            "at": session.place,
            "request": session.request,
        });
        actions.push(action("What if it had replied …", EDIT_REPLY, &argument));
    }
    Some(actions)
}

/// The session that the last run of the program asked at a line of the document, from 0.
pub(super) fn last_session(view: &View<'_>, line: u32) -> Option<(LastRun, AskedSession)> {
    let (db, snapshot) = (view.db, view.snapshot);
    let path = snapshot.file.path(db);
    let origin = snapshot.file.origin(db);
    let project =
        project_of(path, origin, &snapshot.config, view.session).filter(|_| *origin == Origin::Local)?;
    let last = view.runs.last_runs(&project, path).into_iter().find(|last| last.block.is_none())?;
    let line = (line as usize).checked_sub(snapshot.shown.first_line())?;
    let before = line_map(&last.program()?, &snapshot.text).nearest_before(u32::try_from(line).ok()?) + 1;
    let asked = view.runs.asked_sessions(&last);
    // Of several sessions around a line, the shortest is the innermost.
    let around = asked.iter().filter(|session| session.lines.contains(&before));
    let session = around.min_by_key(|session| session.lines.end() - session.lines.start())?.clone();
    Some((last, session))
}

fn action(title: &str, command: &str, argument: &Value) -> Value {
    json!({ "title": title, "command": { "title": title, "command": command, "arguments": [argument] } })
}
