//! The parts of a program that a run can execute alone, and the values that they need.

use prose_analysis::model::{Body, NameKind, RefId, RefKind, ScopeKind, Stmt};
use prose_analysis::parts::{Part, PartKind, parts};
use prose_syntax::suggest::nearest;
use prose_syntax::{TextRange, TextSize};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::{At, Program};
use crate::part::RunPart;

impl Program {
    /// The part at a line, from 1: the one that starts there, otherwise the innermost one around the line. A block is meant by its first line alone.
    pub fn part_at(&self, line: u32) -> Option<RunPart> {
        let mut innermost: Option<(TextSize, RunPart)> = None;
        for (at, part) in self.parts() {
            let range = self.range(at, part.range);
            let first = self.line(range.start().into());
            // The bytes of a statement may end with its line break.
            let last = self.line(u32::from(range.end()).saturating_sub(1)).max(first);
            let is_here = match part.kind {
                PartKind::Block => first == line,
                _ => (first..=last).contains(&line),
            };
            let length = range.len();
            if is_here && innermost.as_ref().is_none_or(|(known, _)| length < *known) {
                innermost = Some((length, self.run_part(at, part, first)));
            }
        }
        innermost.map(|(_, part)| part)
    }

    /// The lines that [`Program::part_at`] has a part for, where one starts.
    pub fn lines_of_parts(&self) -> Vec<u32> {
        let start = |(at, part): (At, Part)| self.line(self.range(at, part.range).start().into());
        let mut lines: Vec<u32> = self.parts().map(start).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The error for a value that a part cannot use; `None` if it can. A decision considers every variable of the program.
    pub fn refusal_of_value(&self, name: &str, part: &RunPart) -> Option<String> {
        let name = SmolStr::new(name);
        let considers_all = matches!(part.noun.as_str(), "condition" | "choice");
        if part.needs.contains(&name) || considers_all && self.variable_of_part(part, &name) {
            return None;
        }
        let RunPart { noun, line, needs, .. } = part;
        let hint = match (nearest(&name, needs, |known| known), needs.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "it needs no value".to_owned(),
            (None, needs) => format!("it needs `{}`", needs.join("`, `")),
        };
        Some(format!("the {noun} at line {line} does not use `{name}`; {hint}"))
    }

    /// The error for a named output that a part does not set; `None` if it does. A block returns its outputs as its value.
    pub fn refusal_of_output_of_part(&self, name: &str, part: &RunPart) -> Option<String> {
        let (at, _) = self.part_of(part)?;
        let set = match self.stmt(at) {
            Stmt::Output { name: Some(name), .. } => Some(&self.body(at)[*name].text),
            _ => None,
        };
        let hint = match set {
            Some(set) if *set == name => return None,
            Some(set) => format!("it sets `{set}`"),
            None => "without `--output`, its value is printed".to_owned(),
        };
        let RunPart { noun, line, .. } = part;
        Some(format!("the {noun} at line {line} sets no output `{name}`; {hint}"))
    }

    fn variable_of_part(&self, part: &RunPart, name: &SmolStr) -> bool {
        self.part_of(part).is_some_and(|(at, _)| self.variable_at(at, name).is_some())
    }

    fn run_part(&self, at: At, part: Part, line: u32) -> RunPart {
        let start = self.range(at, part.range).start().into();
        RunPart { start, line, noun: part.kind.noun().into(), needs: self.needs(at, part), from: None }
    }

    fn parts(&self) -> impl Iterator<Item = (At, Part)> {
        (0..).zip(&self.statements).flat_map(|(top, statement)| {
            parts(&statement.body).into_iter().map(move |part| (At { top, stmt: part.stmt }, part))
        })
    }

    /// The part that starts at a byte.
    pub(crate) fn part_of(&self, part: &RunPart) -> Option<(At, Part)> {
        let is_meant = |(at, found): &(At, Part)| {
            u32::from(self.range(*at, found.range).start()) == part.start && found.kind.noun() == part.noun
        };
        self.parts().find(is_meant)
    }

    /// The first line of the statement of a part, as events show it.
    pub fn header_of_part(&self, part: &RunPart) -> Option<SmolStr> {
        self.part_of(part).map(|(at, _)| self.header(at))
    }

    /// Whether a part is a block or in the body of one, so that it sees parameters.
    pub fn is_in_block(&self, part: &RunPart) -> bool {
        self.part_of(part)
            .is_some_and(|(at, found)| found.kind == PartKind::Block || self.block_around(at).is_some())
    }

    /// The kind of the variable of that name that a statement sees, and whether it belongs to the block around the statement; `None` if the program binds none.
    pub(crate) fn variable_at(&self, at: At, name: &SmolStr) -> Option<(NameKind, bool)> {
        let body = self.body(at);
        let mut scopes = body.scopes_around(body[at.stmt].scope);
        let own = scopes.find_map(|scope| {
            let is_root = body[scope].kind == ScopeKind::Root;
            let id = body.answer(scope, name).filter(|_| !is_root)?;
            Some((body[id].kind, true))
        });
        own.or_else(|| self.root_variable(name, None).map(|kind| (kind, false)))
    }

    /// The block around a statement.
    pub(crate) fn block_around(&self, at: At) -> Option<(SmolStr, At)> {
        let body = self.body(at);
        let mut stmt = at.stmt;
        loop {
            if let Stmt::Block { name: Some(name), .. } = &body[stmt].stmt
                && stmt != at.stmt
            {
                return Some((body[*name].text.clone(), At { stmt, ..at }));
            }
            stmt = body[body[stmt].list?].owner;
        }
    }

    /// The variables that a part reads and does not bind, also through the agents and blocks that it uses, in the order in which they are met.
    fn needs(&self, at: At, part: Part) -> Vec<SmolStr> {
        let mut needs = Vec::new();
        if let Stmt::Block { params, .. } = self.stmt(at) {
            let body = self.body(at);
            needs.extend(params.iter().map(|param| body[*param].text.clone()));
        }
        self.collect_needs(at, part.range, &mut FxHashSet::from_iter([at]), &mut needs);
        needs
    }

    fn collect_needs(&self, at: At, range: TextRange, seen: &mut FxHashSet<At>, needs: &mut Vec<SmolStr>) {
        let body = self.body(at);
        for (id, used) in body.refs_in(range) {
            let definition = match used.kind {
                RefKind::Agent => self.agent(&used.text),
                RefKind::Block => self.block(&used.text),
                RefKind::Callee => None,
                RefKind::Variable | RefKind::Write => {
                    if !needs.contains(&used.text) && self.is_bound_elsewhere(at.top, body, id, range) {
                        needs.push(used.text.clone());
                    }
                    None
                }
            };
            if let Some(definition) = definition.filter(|definition| seen.insert(*definition)) {
                let range = self.body(definition)[definition.stmt].range;
                self.collect_needs(definition, range, seen, needs);
            }
        }
    }

    /// Whether a used name is that of a variable that is bound outside of a range of its top-level statement.
    fn is_bound_elsewhere(&self, top: u32, body: &Body, id: RefId, range: TextRange) -> bool {
        match body.local(id) {
            Some(name) => !range.contains_range(body[name].range),
            None => self.root_variable(&body[id].text, Some((top, range))).is_some(),
        }
    }

    /// The kind of a variable of the program itself, unless only a range of a top-level statement binds it.
    fn root_variable(&self, name: &SmolStr, but: Option<(u32, TextRange)>) -> Option<NameKind> {
        (0..).zip(&self.statements).find_map(|(top, statement)| {
            let body = &statement.body;
            let mut names = body.names().map(|(_, data)| data);
            let is_it = names.find(|data| {
                data.text == *name
                    && data.kind.is_variable()
                    && body[body.frame(data.scope)].kind == ScopeKind::Root
                    && !data.kind.is_local()
                    && but.is_none_or(|(other, range)| other != top || !range.contains_range(data.range))
            });
            is_it.map(|data| data.kind)
        })
    }
}
