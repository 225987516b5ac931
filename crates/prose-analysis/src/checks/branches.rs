//! Branches of a `parallel`: they run at once, so none of them sees what another makes.

use prose_syntax::{Code, Diagnostic};
use rustc_hash::FxHashSet;

use super::Checker;
use crate::model::*;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (_, data) in body.stmts() {
        if let Stmt::Parallel { body: Some(list), .. } = data.stmt
            // The round before may have bound any of the names.
            && !body.is_in_loop(data.scope)
        {
            checker.branches(list);
        }
    }
}

impl Checker<'_, '_> {
    fn branches(&mut self, list: ListId) {
        let body = self.body;
        let list = &body[list];
        // The branch that a part of the text is in.
        let branch = |at| {
            let behind = list.stmts.partition_point(|stmt| body[*stmt].range.end() <= at);
            list.stmts.get(behind).copied()
        };
        let mut reported = FxHashSet::default();
        for (_, data) in body.refs_in(list.range) {
            if data.kind != RefKind::Variable
                || matches!(data.place, Place::Agent { .. })
                || !list.range.contains_range(data.range)
            {
                continue;
            }
            let Some(reader) = branch(data.range.start()) else { continue };
            let Some(maker) = self.bound_in_list(list, data) else { continue };
            let Some(writer) = branch(body[maker].range.start()) else { continue };
            if reader == writer || !reported.insert((reader, &data.text)) {
                continue;
            }
            let message =
                format!("`{}` is bound by another branch of this `parallel`, so it is empty here", data.text);
            // In a block, an earlier call may have bound the name.
            let is_certain = !data.place.is_text() && body.frame(data.scope) == ScopeId(0);
            let code = if is_certain { Code::E150 } else { Code::W125 };
            let diagnostic = Diagnostic::new(code, data.range, message)
                .with_related(body[maker].range, "bound by the other branch here");
            self.report(diagnostic);
        }
    }

    /// The place in a list where a name gets its first value, if nothing before the list or in another frame, whose variables may be
    /// seen at run time, binds it.
    fn bound_in_list(&self, list: &ListData, data: &RefData) -> Option<NameId> {
        let named = self.look_up(&data.text)?;
        if named.lost {
            return None;
        }
        // The sites are in the order of the text.
        let first = named.variables.first()?;
        if first.site.statement != self.statement {
            return None;
        }
        let bound = &self.body[first.site.name];
        (list.range.contains_range(bound.range)
            && self.body.frame(bound.scope) == self.body.frame(data.scope)
            && !self.is_local_there(data)
            && named.is_of_one_block())
        .then_some(first.site.name)
    }

    /// Whether a loop, catch or pipeline variable answers to a use.
    fn is_local_there(&self, data: &RefData) -> bool {
        let answer = self.body.answer_around(data.scope, &data.text);
        answer.is_some_and(|name| self.body[name].kind.is_local())
    }
}
