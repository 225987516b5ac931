//! The variables whose values are shown inline while a run is paused.

use prose_analysis::model::{NameKind, RefKind};
use prose_analysis::resolve::resolve;
use prose_analysis::statements::{body, statements};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextRange, TextSize};
use smol_str::SmolStr;

use crate::element::is_written;

/// The references to variables in a range, in the order of the text.
pub fn variables_in(db: &dyn Db, file: SourceFile, range: TextRange) -> Vec<(TextRange, SmolStr)> {
    let mut found = Vec::new();
    for placed in &statements(db, file).list {
        let start = TextSize::from(placed.start);
        if placed.statement.range(db, start).intersect(range).is_none() {
            continue;
        }
        let (body, resolution) = (body(db, placed.statement), resolve(db, placed.statement));
        let bound = body.names().filter(|(id, name)| {
            name.kind.is_variable() && name.kind != NameKind::ImplicitItem && is_written(body, *id)
        });
        let bound = bound.map(|(_, name)| (name.range, &name.text));
        let used = body.refs().filter(|(id, used)| {
            matches!(used.kind, RefKind::Variable | RefKind::Write) && resolution.of(*id).is_found()
        });
        let used = used.map(|(_, used)| (used.range, &used.text));
        found.extend(bound.chain(used).map(|(at, name)| (at + start, name.clone())));
    }
    found.retain(|(at, _)| range.contains_range(*at));
    found.sort_by_key(|(at, _)| at.start());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::analysed;

    #[test]
    fn variables_are_named_in_code_and_in_braces() {
        let at = analysed(
            "agent a:\n  model: opus\n$0let x = session: a\n  prompt: \"On {nobody}\"\nfor y in x:\n  session \"{y} {x}\"\nlet z = 1\n",
        );
        let text = at.file.text(at.host.db()).as_str();
        let range = TextRange::new(at.offset, TextSize::new(text.find("let z").unwrap() as u32));
        let found = variables_in(at.host.db(), at.file, range);
        let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["x", "y", "x", "y", "x"]);
        assert!(found.iter().all(|(range, name)| text[*range] == **name));
    }
}
