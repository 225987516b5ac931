//! Conditions in words without `**` markers: `if it is nice:`.

use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Diagnostic, Fix, TextEdit, TextRange};
use rustc_hash::FxHashMap;

use super::Checker;
use crate::model::*;
use crate::resolve::Resolved;

/// The conditions that were looked at, since each unknown name in one asks for it.
#[derive(Default)]
pub(super) struct Conditions {
    /// The conditions of statements, in the order of the text.
    of_stmts: FxHashMap<StmtId, Vec<TextRange>>,
    /// Whether a condition consists of words without markers.
    in_words: FxHashMap<TextRange, bool>,
}

impl Checker<'_, '_> {
    /// The condition that a name is in, if it consists of several words that name nothing, as in `it is nice`, or that describe a variable, as in
    /// `draft is good`.
    pub(super) fn condition_in_words(&self, data: &RefData, known: &mut Conditions) -> Option<TextRange> {
        if data.kind != RefKind::Variable {
            return None;
        }
        let of_stmt = known.of_stmts.entry(data.stmt).or_insert_with(|| {
            let conditions = self.body[data.stmt].stmt.conditions();
            conditions.map(|condition| self.body[condition].range).collect()
        });
        let nearest = of_stmt.partition_point(|range| range.end() < data.range.end());
        let condition = *of_stmt.get(nearest).filter(|range| range.contains_range(data.range))?;
        let is_in_words = *known.in_words.entry(condition).or_insert_with(|| self.is_in_words(condition));
        is_in_words.then_some(condition)
    }

    fn is_in_words(&self, condition: TextRange) -> bool {
        let source = self.source(condition);
        let is_word =
            |word: &str| word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        let has_words = source.contains(' ') && source.split(' ').all(is_word);
        if !has_words {
            return false;
        }
        let is_nothing = |id: RefId| self.resolution.of(id) == Resolved::Undefined;
        let inside =
            || self.body.refs_in(condition).filter(|(_, other)| condition.contains_range(other.range));
        // `draft is good` describes `draft`, unless another variable is meant.
        let describes_variable = || {
            let unknown: Vec<&RefData> =
                inside().filter(|(id, _)| is_nothing(*id)).map(|(_, other)| other).collect();
            let follows_is = |other: &&RefData| {
                let before = self.source(TextRange::new(condition.start(), other.range.start()));
                before.ends_with(" is ") || before.ends_with(" is not ")
            };
            let is_near =
                |other: &&RefData| nearest(&other.text, self.visible_variables(other), |name| name).is_some();
            unknown.iter().any(follows_is) && !unknown.iter().any(is_near)
        };
        inside().all(|(id, _)| is_nothing(id)) || describes_variable()
    }

    pub(super) fn words_without_markers(&mut self, condition: TextRange) {
        let message = "a condition in words must be between `**` markers";
        let edits = vec![TextEdit::insert(condition.start(), "**"), TextEdit::insert(condition.end(), "**")];
        let fix = Fix::safe("Put the condition between `**`", edits);
        self.report(Diagnostic::new(Code::E113, condition, message).with_fix(fix));
    }

    /// Whether a range is a whole condition of the statement.
    pub(super) fn is_condition(&self, stmt: StmtId, range: TextRange) -> bool {
        match &self.body[stmt].stmt {
            Stmt::If { branches, .. } => {
                // Those that are missing have no place; few are.
                let start = |at: usize| branches[at..].iter().find_map(|branch| branch.condition);
                let (mut first, mut end) = (0, branches.len());
                while first < end {
                    let middle = first + (end - first) / 2;
                    match start(middle).map(|condition| self.body[condition].range) {
                        Some(found) if found == range => return true,
                        Some(found) if found.end() <= range.start() => first = middle + 1,
                        _ => end = middle,
                    }
                }
                false
            }
            stmt => stmt.conditions().any(|condition| self.body[condition].range == range),
        }
    }
}
