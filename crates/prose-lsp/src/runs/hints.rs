//! What is shown behind the statements of a program that runs or ran.

use std::ops::RangeInclusive;
use std::sync::Arc;

use ropey::Rope;
use serde_json::{Value, json};

use super::Runs;
use super::lines::LineMap;
use crate::convert::{Session, end_of_line, size};
use crate::documents::DocumentUri;
use crate::reads::View;

/// How the statements in some lines of the document went.
pub(crate) fn inlay_hints(view: &View<'_>, session: &Session, lines: &RangeInclusive<usize>) -> Vec<Value> {
    let snapshot = view.snapshot;
    if !snapshot.config.client().inlay_hints {
        return Vec::new();
    }
    let converter = view.converter(session);
    let marks = view.runs.marks(&snapshot.name, &snapshot.text);
    let hints = marks.into_iter().filter_map(|(line, label)| {
        let position = converter.position(size(end_of_line(&snapshot.text, line)));
        let is_wanted = lines.contains(&(position.line as usize));
        is_wanted.then(|| json!({ "position": position, "label": label, "paddingLeft": true }))
    });
    hints.collect()
}

impl Runs {
    /// What stands behind which lines of a document. Statements whose line was edited have nothing.
    fn marks(&self, uri: &DocumentUri, now: &Rope) -> Vec<(usize, String)> {
        let marks = self.of_document(uri, |run| (Arc::clone(&run.text), run.trace.marks()));
        let Some((before, marks)) = marks else { return Vec::new() };
        let map = LineMap::new(&before, now);
        let marks = marks.into_iter().filter_map(|(line, mark)| Some((map.line(line)?, mark)));
        // The call that runs a block on its own stands behind the last line of the document, where nothing is written.
        let is_written = |line: usize| {
            let line = now.get_line(line);
            line.is_some_and(|line| line.chars().any(|char| !char.is_whitespace()))
        };
        marks.filter(|(line, mark)| is_written(*line) && !mark.is_empty()).collect()
    }
}
