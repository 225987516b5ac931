//! Folding ranges.

use prose_syntax::{NodeOrToken, SyntaxKind::*, SyntaxNode, SyntaxToken, TextRange, TextSize, WalkEvent};

/// A folding range. It may be on one line, where there is nothing to fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// The hidden range.
    pub range: TextRange,
    /// Its kind.
    pub kind: FoldKind,
}

/// The kind of a [`Fold`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldKind {
    /// The body or the properties of a statement.
    Block,
    /// The inside of a string, of a condition or of brackets. What closes it stays visible.
    Inside,
    /// Comments on lines of their own, one below the other.
    Comment,
    /// Imports below one another. The first one stays visible.
    Imports,
    /// All between `# region` and `# endregion` on lines of their own.
    Region,
}

/// The folding ranges of a file, in the order of the text, outer ones first.
pub fn folding_ranges(root: &SyntaxNode) -> Vec<Fold> {
    let mut folds = Vec::new();
    let mut comments = CommentRuns::default();
    let mut regions = Vec::new();
    // A body is folded after the header, which ends with the last token before it that is not trivia.
    let mut end_of_code = TextSize::new(0);
    for event in root.preorder_with_tokens() {
        let WalkEvent::Enter(element) = event else { continue };
        match element {
            NodeOrToken::Token(token) => {
                if !token.kind().is_trivia() {
                    end_of_code = token.text_range().end();
                }
                if !comments.after_code && token.kind() == COMMENT {
                    folds.extend(region(&token, &mut regions));
                }
                folds.extend(comments.see(&token));
            }
            NodeOrToken::Node(node) => folds.extend(fold(&node, end_of_code)),
        }
    }
    folds.extend(comments.take_run());
    folds.extend(imports(root));
    folds.sort_by_key(|fold| (fold.range.start(), std::cmp::Reverse(fold.range.end())));
    folds
}

/// The runs of imports with nothing but space between them: a comment may begin a region, which no other fold may cross.
fn imports(root: &SyntaxNode) -> Vec<Fold> {
    let mut runs: Vec<TextRange> = Vec::new();
    let mut goes_on = false;
    for child in root.children_with_tokens() {
        match child.kind() {
            USE | IMPORT => {
                let line = child.text_range();
                match runs.last_mut().filter(|_| goes_on) {
                    Some(run) => *run = TextRange::new(run.start(), line.end()),
                    None => runs.push(TextRange::empty(line.end())),
                }
                goes_on = true;
            }
            kind => goes_on &= kind.is_trivia() && kind != COMMENT,
        }
    }
    let folds = runs.into_iter().filter(|run| !run.is_empty());
    folds.map(|range| Fold { range, kind: FoldKind::Imports }).collect()
}

/// The region that a comment ends. One that begins a region waits in `open` for the comment that ends it.
fn region(comment: &SyntaxToken, open: &mut Vec<TextSize>) -> Option<Fold> {
    let text = comment.text().trim_start_matches('#').trim_start();
    let word = text.split(|c: char| c.is_whitespace() || c == ':').next();
    match word {
        Some("region") => {
            open.push(comment.text_range().end());
            None
        }
        Some("endregion") => {
            let range = TextRange::new(open.pop()?, comment.text_range().end());
            Some(Fold { range, kind: FoldKind::Region })
        }
        _ => None,
    }
}

fn fold(node: &SyntaxNode, end_of_header: TextSize) -> Option<Fold> {
    match node.kind() {
        BLOCK | PROPERTY_LIST if !starts_with_bracket(node) => {
            let range = TextRange::new(end_of_header, node.text_range().end());
            Some(Fold { range, kind: FoldKind::Block })
        }
        STRING | DISCRETION | ARRAY | OBJECT | PAREN | DESTRUCTURING | PARAM_LIST | ARG_LIST
        | MODIFIER_LIST | PROPERTY_LIST => Some(Fold { range: inside(node)?, kind: FoldKind::Inside }),
        _ => None,
    }
}

fn starts_with_bracket(node: &SyntaxNode) -> bool {
    node.first_token().is_some_and(|token| token.kind() == L_PAREN)
}

/// What is between the first and the last token, without the space before the last one.
fn inside(node: &SyntaxNode) -> Option<TextRange> {
    let (first, last) = (node.first_token()?, node.last_token()?);
    let start = first.text_range().end();
    std::iter::successors(last.prev_token(), SyntaxToken::prev_token)
        .take_while(|token| token.text_range().start() >= start)
        .find_map(|token| {
            let content = token.text().trim_end();
            let end = token.text_range().start() + TextSize::of(content);
            (!content.is_empty()).then(|| TextRange::new(start, end))
        })
}

/// Finds comments that are on lines of their own, with nothing between the lines.
#[derive(Default)]
struct CommentRuns {
    /// From the end of the first comment of the run to that of the last one.
    run: Option<TextRange>,
    /// Whether there is code before the present place on its line.
    after_code: bool,
    line_breaks: usize,
}

impl CommentRuns {
    /// Adds the next token; returns a run that ends before it.
    fn see(&mut self, token: &SyntaxToken) -> Option<Fold> {
        match token.kind() {
            WHITESPACE | BYTE_ORDER_MARK => None,
            NEWLINE => {
                self.after_code = false;
                self.line_breaks += 1;
                None
            }
            COMMENT if !self.after_code => {
                let end = token.text_range().end();
                let is_below_the_last = std::mem::take(&mut self.line_breaks) == 1;
                match &mut self.run {
                    Some(run) if is_below_the_last => {
                        *run = TextRange::new(run.start(), end);
                        None
                    }
                    _ => {
                        let fold = self.take_run();
                        self.run = Some(TextRange::empty(end));
                        fold
                    }
                }
            }
            _ => {
                self.after_code = true;
                self.take_run()
            }
        }
    }

    fn take_run(&mut self) -> Option<Fold> {
        let range = self.run.take()?;
        (!range.is_empty()).then_some(Fold { range, kind: FoldKind::Comment })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use expect_test::{Expect, expect};

    use super::*;

    /// Shows the text with a tag around every fold that spans lines.
    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let parse = prose_syntax::parse(text);
        let mut marks: Vec<(usize, String)> = Vec::new();
        for fold in folding_ranges(&parse.syntax()) {
            if !text[fold.range].contains('\n') {
                continue;
            }
            let name = match fold.kind {
                FoldKind::Block => "block",
                FoldKind::Inside => "inside",
                FoldKind::Comment => "comment",
                FoldKind::Imports => "imports",
                FoldKind::Region => "region",
            };
            marks.push((fold.range.start().into(), format!("<{name}>")));
            marks.push((fold.range.end().into(), format!("</{name}>")));
        }
        marks.sort_by_key(|(offset, _)| *offset);
        let mut shown = String::new();
        let mut at = 0;
        for (offset, mark) in marks {
            write!(shown, "{}{mark}", &text[at..offset]).unwrap();
            at = offset;
        }
        shown.push_str(&text[at..]);
        expected.assert_eq(&shown);
    }

    #[test]
    fn imports_below_one_another_fold() {
        check(
            r#"use "a/b" as b

use "c/d"
import "web" from "x"
# region more
use "e/f"
use "g/h"
# endregion
let x = 1
use "i/j"
"#,
            expect![[r#"
                use "a/b" as b<imports>

                use "c/d"
                import "web" from "x"</imports>
                # region more<region>
                use "e/f"<imports>
                use "g/h"</imports>
                # endregion</region>
                let x = 1
                use "i/j"
            "#]],
        );
    }

    #[test]
    fn bodies_and_properties_fold_after_their_header() {
        check(
            r#"agent writer: # who writes
  model: opus
  permissions:
    read: ["*.md"]

block review(topic):
  session: writer
    prompt: "Write"
  # the end

session "after"
"#,
            expect![[r#"
                agent writer:<block> # who writes
                  model: opus
                  permissions:<block>
                    read: ["*.md"]</block></block>

                block review(topic):<block>
                  session: writer<block>
                    prompt: "Write"</block>
                  # the end</block>

                session "after"
            "#]],
        );
    }

    #[test]
    fn every_clause_folds_alone() {
        check(
            r#"if **so**:
  session "one"
elif **other**:
  session "two"
else:
  session "three"
"#,
            expect![[r#"
                if **so**:<block>
                  session "one"</block>
                elif **other**:<block>
                  session "two"</block>
                else:<block>
                  session "three"</block>
            "#]],
        );
    }

    #[test]
    fn the_closing_line_of_strings_conditions_and_brackets_stays() {
        check(
            r#"session """
  one
  {two}
"""
session """one
  two"""
loop until **this
  or that** (max: 3):
  session "x"
let list = [
  1, # first
  [2,
   3],
]
"#,
            expect![[r#"
                session """<inside>
                  one
                  {two}</inside>
                """
                session """<inside>one
                  two</inside>"""
                loop until **<inside>this
                  or that</inside>** (max: 3):<block>
                  session "x"</block>
                let list = [<inside>
                  1, # first
                  [<inside>2,
                   3</inside>],</inside>
                ]
            "#]],
        );
    }

    #[test]
    fn comments_fold_where_they_stand_one_below_the_other() {
        check(
            "\u{feff}# one\n# two\n\n# alone\n\nsession \"a\" # beside\n# three\n  # four\nsession \"b\"\n# five\n# six",
            expect![[r#"
                ﻿# one<comment>
                # two</comment>

                # alone

                session "a" # beside
                # three<comment>
                  # four</comment>
                session "b"
                # five<comment>
                # six</comment>"#]],
        );
    }

    #[test]
    fn regions_fold_with_what_stands_in_them() {
        check(
            r#"# region The agents
agent writer:
  model: opus

#region inner
session "a" # endregion is only said here
# endregion
# endregion: the agents
# endregion
# regional
session "b"
# region never closed
session "c"
"#,
            expect![[r##"
                # region The agents<region>
                agent writer:<block>
                  model: opus</block>

                #region inner<region>
                session "a" # endregion is only said here
                # endregion</region><comment>
                # endregion: the agents</region>
                # endregion
                # regional</comment>
                session "b"
                # region never closed
                session "c"
            "##]],
        );
    }

    #[test]
    fn broken_programs_fold_as_far_as_they_go() {
        check(
            "agent :\n  model: opus\nlet x = [\n  1,\nsession \"\"\"\n  text\n",
            expect![[r#"
                agent :<block>
                  model: opus</block>
                let x = [<block>
                  1,</block>
                session """
                  text
            "#]],
        );
    }
}
