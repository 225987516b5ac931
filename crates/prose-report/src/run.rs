//! What a report has of one run.

use prose_graph::{flow_of, graph_json};
use prose_state::StateError;
use prose_state::replay::RecordedRun;
use prose_syntax::{LineIndex, TextRange};
use prose_view::{Attempt, Node, SessionFiles, SessionRecords, View};
use prose_vm::effect::RequestId;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::imports::Imports;
use crate::values::Values;

/// How many attempts of sessions a part of the page has. A page reads a part when one of its sessions is shown.
const ATTEMPTS_IN_PART: usize = 64;

/// What a report has of a run.
pub(crate) struct ReportedRun {
    /// What the page reads at its start.
    pub(crate) head: Value,
    /// The number of its sessions.
    pub(crate) sessions: usize,
    /// The attempts with all their texts, as JSON.
    pub(crate) parts: Vec<String>,
}

/// Reads a run. `run` is the exported one, and `original` has the program that the places of the run are in.
pub(crate) fn report_run(
    original: &RecordedRun,
    run: &RecordedRun,
    is_executed: bool,
    files: &dyn SessionFiles,
) -> Result<ReportedRun, StateError> {
    let mut view = View::default();
    let mut records = SessionRecords::default();
    let mut imports = Imports::default();
    let mut values = Values::default();
    for event in run.events()? {
        // The last line of an active run may be incomplete.
        let Ok(event) = event else { break };
        view.apply(&event);
        records.apply(&event);
        imports.apply(&event);
        values.apply(&event, &imports);
    }
    if !is_executed {
        view.interrupt();
    }
    let mut attempts: FxHashMap<RequestId, (&Node, &Attempt)> = FxHashMap::default();
    for (_, node) in view.nodes() {
        for attempt in node.session().into_iter().flat_map(|session| &session.attempts) {
            attempts.insert(attempt.request, (node, attempt));
        }
    }
    let mut requests: Vec<RequestId> = attempts.keys().copied().collect();
    requests.sort_unstable();
    let parts = requests.chunks(ATTEMPTS_IN_PART).map(|part| {
        let details = part.iter().filter_map(|request| {
            Some(records.get(*request)?.details(&view, attempts.get(request).copied(), files))
        });
        serde_json::to_string(&details.collect::<Vec<_>>()).unwrap_or_default()
    });
    let parts = parts.collect();
    let (text, graph) = program(original.program.as_deref(), run.program.as_deref());
    let end = view.end();
    let head = json!({
        "run": run.head.run,
        "program": run.head.program,
        "from": run.head.from,
        "isRedacted": run.is_redacted,
        "view": view.since(0),
        "census": end.is_none().then(|| view.census()),
        "text": text,
        "graph": graph,
        "imports": imports.into_texts(),
        "values": values.into_list(),
        "outputs": end.map(|end| &end.outputs),
        "value": end.map(|end| &end.value),
        "requests": requests,
        "attemptsInPart": ATTEMPTS_IN_PART,
    });
    let sessions = view.nodes().filter(|(_, node)| node.session().is_some()).count();
    Ok(ReportedRun { head, sessions, parts })
}

/// The program with its flow. Places of the run are those of the original text, and texts are those of the redacted one.
fn program(original: Option<&str>, redacted: Option<&str>) -> (Option<String>, Option<Value>) {
    let (Some(original), Some(redacted)) = (original, redacted) else { return (None, None) };
    if original.lines().count() != redacted.lines().count() {
        // The lines of the run are others.
        return (None, None);
    }
    let name = std::path::Path::new("program.prose");
    let places = flow_of(name, original);
    let mut graph = flow_of(name, redacted);
    let is_same =
        |(a, b): (&prose_ide::FlowNode, &prose_ide::FlowNode)| a.kind == b.kind && a.parent == b.parent;
    if places.nodes.len() != graph.nodes.len() || !places.nodes.iter().zip(&graph.nodes).all(is_same) {
        return (Some(redacted.to_owned()), None);
    }
    for (node, place) in graph.nodes.iter_mut().zip(&places.nodes) {
        node.range = place.range;
    }
    let lines = LineIndex::new(original);
    let position = |offset: u32| {
        let line = lines.line(offset as usize);
        json!({ "line": line, "character": offset as usize - lines.range(line).start })
    };
    let range = |range: TextRange| json!({ "start": position(range.start().into()), "end": position(range.end().into()) });
    (Some(redacted.to_owned()), Some(graph_json(&graph, range)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_program_before_its_texts_were_redacted() {
        let original = "session \"Write to Ada Lovelace\"\nsession \"Send it\"\n";
        let redacted = original.replace("Ada Lovelace", "[redacted]");
        let (text, graph) = program(Some(original), Some(&redacted));
        assert_eq!(text.as_deref(), Some(&*redacted));
        let nodes = &graph.unwrap()["nodes"];
        assert_eq!(nodes[0]["detail"], "Write to [redacted]");
        assert_eq!(nodes[1]["bytes"], json!([original.find("session \"Send").unwrap(), original.len() - 1]));
    }

    #[test]
    fn a_program_whose_lines_or_statements_were_redacted_away_is_not_drawn() {
        let original = "session \"a\"\nsession \"b\"\n";
        assert_eq!(program(Some(original), Some("session \"a[redacted]b\"\n")), (None, None));
        let (text, graph) = program(Some(original), Some("[redacted]\nsession \"b\"\n"));
        assert!(text.is_some() && graph.is_none());
    }
}
