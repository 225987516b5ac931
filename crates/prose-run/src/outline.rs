//! What the text of a program says about its lines, whether they were executed or not.

use prose_syntax::ast::{AstNode, CatchClause, For, Loop, Name, ParallelFor, PipeStage, Repeat, Statement};
use prose_syntax::{LineIndex, SyntaxKind, SyntaxNode, parse};

/// The text of a program with its statements.
pub(crate) struct Outline {
    tree: SyntaxNode,
    lines: LineIndex,
    text: String,
}

/// A name that belongs to a body and gets its value from what the body belongs to.
pub(crate) struct LocalName {
    /// What it is: `the item of the loop`.
    pub(crate) what: &'static str,
    /// The line that gives it its value, from 1.
    pub(crate) line: u32,
}

impl Outline {
    pub(crate) fn new(text: &str) -> Self {
        Self { tree: parse(text).syntax(), lines: LineIndex::new(text), text: text.to_owned() }
    }

    /// The first line of the innermost statement around a line, both from 1.
    pub(crate) fn statement_at(&self, line: u32) -> Option<u32> {
        let around = self.around(line)?.find(|node| {
            // An option is a part of its choice.
            Statement::can_cast(node.kind()) && node.kind() != SyntaxKind::CHOICE_OPTION
        })?;
        Some(self.line_of(&around))
    }

    /// What gives a name its value in the body that a line is in, if a body does.
    pub(crate) fn local_at(&self, line: u32, name: &str) -> Option<LocalName> {
        self.around(line)?.find_map(|node| {
            let is = |found: Option<Name>| found.is_some_and(|found| found.text() == name);
            let item = "the item of the loop";
            let count = "the count of the loop";
            let (what, of) = if let Some(of) = For::cast(node.clone()) {
                (is(of.item()).then_some(item).or(is(of.index()).then_some(count))?, of.syntax().clone())
            } else if let Some(of) = ParallelFor::cast(node.clone()) {
                (is(of.item()).then_some(item).or(is(of.index()).then_some(count))?, of.syntax().clone())
            } else if let Some(of) = Repeat::cast(node.clone()) {
                (is(of.index()).then_some(count)?, of.syntax().clone())
            } else if let Some(of) = Loop::cast(node.clone()) {
                (is(of.index()).then_some(count)?, of.syntax().clone())
            } else if let Some(of) = CatchClause::cast(node.clone()) {
                (is(of.error()).then_some("the error of the `catch`")?, of.syntax().clone())
            } else {
                let of = PipeStage::cast(node)?;
                let mut params = of.params().into_iter().flat_map(|params| params.params());
                let is_item = name == "item" && of.params().is_none();
                let is_named = params.any(|param| is(param.name()));
                ((is_item || is_named).then_some("the item of the pipeline")?, of.syntax().clone())
            };
            Some(LocalName { what, line: self.line_of(&of) })
        })
    }

    /// The nodes around the first character of a line, the innermost first.
    fn around(&self, line: u32) -> Option<impl Iterator<Item = SyntaxNode>> {
        let range = self.lines.range((line as usize).checked_sub(1)?);
        let written = self.text.get(range.clone())?;
        if written.trim().is_empty() {
            return None;
        }
        let indent = written.len() - written.trim_start().len();
        let start = prose_syntax::lines::size(range.start + indent);
        let token = self.tree.token_at_offset(start).right_biased()?;
        Some(token.parent_ancestors())
    }

    fn line_of(&self, node: &SyntaxNode) -> u32 {
        let start = node.text_range().start();
        self.lines.line(start.into()) as u32 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "\
if **so**:
  let a = session \"A\"
    context: x
else:
  session \"B\"
for item, nth in [1]:
  try:
    session \"C\"
  catch as error:
    session \"D\"

output end = a
";

    #[test]
    fn a_line_belongs_to_the_innermost_statement_around_it() {
        let outline = Outline::new(PROGRAM);
        let lines: Vec<_> = (1..=10).map(|line| outline.statement_at(line)).collect();
        assert_eq!(lines, [1, 2, 2, 1, 5, 6, 7, 8, 7, 10].map(Some));
        // A blank line belongs to none.
        assert_eq!((outline.statement_at(11), outline.statement_at(12)), (None, Some(12)));
    }

    #[test]
    fn names_of_bodies_come_from_their_headers() {
        let outline = Outline::new(PROGRAM);
        let found = |line, name| outline.local_at(line, name).map(|local| (local.what, local.line));
        assert_eq!(found(10, "error"), Some(("the error of the `catch`", 9)));
        assert_eq!(found(10, "item"), Some(("the item of the loop", 6)));
        assert_eq!(found(8, "nth"), Some(("the count of the loop", 6)));
        assert_eq!(found(8, "error"), None);
        assert_eq!(found(12, "item"), None);
    }
}
