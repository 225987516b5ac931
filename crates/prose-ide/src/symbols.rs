//! Document symbols.

use prose_syntax::text;
use prose_syntax::{SyntaxKind, SyntaxKind::*, SyntaxNode, TextRange, WalkEvent};

/// A document symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name, or the start of the text of something without a name. Never empty.
    pub name: String,
    /// The detail next to the name.
    pub detail: Option<String>,
    /// What it is.
    pub kind: SymbolKind,
    /// The whole range, which decides which symbol the cursor is in.
    pub range: TextRange,
    /// The range to reveal, usually the name. Inside `range`.
    pub selection_range: TextRange,
    /// The index of its parent, which is smaller than its own.
    pub parent: Option<usize>,
}

/// The kind of a [`Symbol`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    /// `agent name:`
    Agent,
    /// `block name:`
    Block,
    /// `use "…" as name`
    Import,
    /// `input name`
    Input,
    /// `output name = …`, and `output …` without a name.
    Output,
    /// `let name = …` and a named branch of a `parallel`.
    Variable,
    /// `const name = …`
    Constant,
    /// A session whose result has no name.
    Session,
}

/// The symbols of a file in the order of the text.
pub fn document_symbols(root: &SyntaxNode) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut open: Vec<(SyntaxNode, usize)> = Vec::new();
    let mut walk = root.preorder();
    while let Some(event) = walk.next() {
        match event {
            WalkEvent::Enter(node) => {
                if is_leaf(node.kind()) {
                    walk.skip_subtree();
                } else if let Some(symbol) = symbol(&node) {
                    let parent = open.last().map(|(_, index)| *index);
                    open.push((node, symbols.len()));
                    symbols.push(Symbol { parent, ..symbol });
                }
            }
            WalkEvent::Leave(node) => {
                if open.last().is_some_and(|(owner, _)| *owner == node) {
                    open.pop();
                }
            }
        }
    }
    symbols
}

/// Nodes that hold no statement, and so no symbol.
fn is_leaf(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        STRING
            | DISCRETION
            | LITERAL
            | NAME
            | NAME_REF
            | PARAM_LIST
            | MODIFIER_LIST
            | PROPERTY_LIST
            | ARG_LIST
            | ARRAY
            | OBJECT
            | DESTRUCTURING
    )
}

fn symbol(node: &SyntaxNode) -> Option<Symbol> {
    let named = |kind, detail: Option<String>| {
        let name = child(node, NAME)?;
        new_symbol(kind, node, &name, start(&name), detail)
    };
    match node.kind() {
        AGENT => named(SymbolKind::Agent, property(node, "model")),
        BLOCK_DEF => named(SymbolKind::Block, child(node, PARAM_LIST).map(|params| one_line(&params))),
        INPUT => named(
            SymbolKind::Input,
            child(node, STRING).or_else(|| child(node, DISCRETION)).map(|text| inside(&text)),
        ),
        USE | IMPORT => import(node),
        OUTPUT => match child(node, NAME) {
            Some(_) => named(SymbolKind::Output, value(node)),
            None => new_symbol(SymbolKind::Output, node, node, "output".to_owned(), value(node)),
        },
        LET => {
            let is_constant = node.first_token().is_some_and(|token| token.kind() == CONST_KW);
            let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Variable };
            match child(node, DESTRUCTURING) {
                Some(names) => new_symbol(kind, node, &names, one_line(&names), value(node)),
                None => named(kind, value(node)),
            }
        }
        ASSIGNMENT if is_branch(node) => {
            let name = child(node, NAME_REF)?;
            new_symbol(SymbolKind::Variable, node, &name, start(&name), value(node))
        }
        SESSION | RESUME if is_statement(node) => {
            let prompt = property(node, "prompt");
            new_symbol(SymbolKind::Session, node, node, start(node), prompt)
        }
        _ => None,
    }
}

fn new_symbol(
    kind: SymbolKind,
    node: &SyntaxNode,
    selected: &SyntaxNode,
    name: String,
    detail: Option<String>,
) -> Option<Symbol> {
    // Editors refuse an outline with an empty name, which a half-written definition would have.
    (!name.is_empty()).then(|| Symbol {
        name,
        detail: detail.filter(|detail| !detail.is_empty()),
        kind,
        range: node.text_range(),
        selection_range: selected.text_range(),
        parent: None,
    })
}

/// `use "alice/research" as research` is called by its alias, else by the last part of its path; `import "x" from "y"` by what it
/// imports.
fn import(node: &SyntaxNode) -> Option<Symbol> {
    let mut strings = node.children().filter(|child| child.kind() == STRING);
    let first = strings.next()?;
    let text = inside(&first);
    let source = strings.next().map_or_else(|| text.clone(), |source| inside(&source));
    match child(node, NAME) {
        Some(alias) => new_symbol(SymbolKind::Import, node, &alias, start(&alias), Some(source)),
        None => {
            let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            new_symbol(SymbolKind::Import, node, &first, name, Some(source))
        }
    }
}

/// Whether an assignment is a branch of a `parallel`: there it introduces its name, elsewhere it gives a new value to an old one.
fn is_branch(node: &SyntaxNode) -> bool {
    let owner = node.parent().filter(|parent| parent.kind() == BLOCK).and_then(|block| block.parent());
    owner.is_some_and(|owner| owner.kind() == PARALLEL)
}

fn is_statement(node: &SyntaxNode) -> bool {
    let parent = node.parent().map(|parent| match parent.kind() {
        ARROW_CHAIN => parent.parent().map(|parent| parent.kind()),
        kind => Some(kind),
    });
    matches!(parent.flatten(), Some(SOURCE_FILE | BLOCK))
}

fn child(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    node.children().find(|child| child.kind() == kind)
}

/// The start of the value that a name is given.
fn value(node: &SyntaxNode) -> Option<String> {
    // The name of an assignment is that of an existing variable, and so of the same kind as a value that is one.
    let names = usize::from(node.kind() == ASSIGNMENT);
    let mut values =
        node.children().skip(names).filter(|child| !matches!(child.kind(), NAME | DESTRUCTURING));
    values.next().map(|value| start(&value))
}

/// The start of the value of a property.
fn property(node: &SyntaxNode, name: &str) -> Option<String> {
    let property = child(node, PROPERTY_LIST)?.children().find(|property| {
        property.kind() == PROPERTY && child(property, NAME).is_some_and(|key| key.text() == name)
    })?;
    let value = property.children().find(|child| child.kind() != NAME)?;
    Some(if value.kind() == STRING { inside(&value) } else { start(&value) })
}

/// The first line of a node; of a text that starts on a line of its own that line, too.
fn start(node: &SyntaxNode) -> String {
    let text = node.text();
    if let Some(string) = child(node, STRING).filter(|_| matches!(node.kind(), SESSION)) {
        let (quotes, text) = ("\"\"\"", string.text().to_string());
        if let Some(text) = text.strip_prefix(quotes).filter(|text| text.starts_with(['\n', '\r'])) {
            return first_line(&format!("session {quotes}{}", text.trim_start().trim_end_matches('"')));
        }
    }
    let end = text.find_char('\n').unwrap_or(text.len());
    first_line(&text.slice(..end).to_string())
}

/// The first line with text of a string or a condition, without quotes or markers.
fn inside(literal: &SyntaxNode) -> String {
    let text = literal.text().to_string();
    first_line(text.trim_matches(['"', '*']))
}

fn one_line(node: &SyntaxNode) -> String {
    label(&text::one_line(&node.text().to_string()))
}

fn first_line(text: &str) -> String {
    label(text::first_line(text))
}

/// A text that fits a line of an outline or a node of a graph.
pub(crate) fn label(text: &str) -> String {
    const MAX_SHOWN: usize = 60;
    text::shorten(text, MAX_SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let symbols = document_symbols(&prose_syntax::parse(text).syntax());
        let mut shown = String::new();
        for symbol in &symbols {
            let depth = std::iter::successors(symbol.parent, |parent| symbols[*parent].parent).count();
            let line = text[..symbol.range.start().into()].matches('\n').count() + 1;
            assert!(symbol.range.contains_range(symbol.selection_range), "{symbol:?}");
            let kind = format!("{:?}", symbol.kind).to_lowercase();
            let detail = symbol.detail.as_deref().map(|detail| format!(" · {detail}")).unwrap_or_default();
            shown += &format!("{}{} {kind} {:?}{detail}\n", "  ".repeat(depth), line, symbol.name);
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_session_is_called_by_the_first_line_of_its_text() {
        check(
            "session \"\"\"\n  Visit the sea,\n  at noon.\n\"\"\"\nsession \"\"\"Go home\"\"\"\n",
            expect![[r#"
            1 session "session \"\"\"Visit the sea,"
            5 session "session \"\"\"Go home\"\"\""
        "#]],
        );
    }

    #[test]
    fn every_definition_is_listed() {
        check(
            r#"use "alice/research" as research
use "./tools/grep.prose"
import "skill" from "github:x/y"
input topic: "What to research"
input style: ***
  how to write
***
input plain
agent writer:
  model: opus
  prompt: "Write"
const limit = 3
let { a, b } = research(topic: topic)
let draft = session: writer
  prompt: "Draft"
output report = draft
output session "Sum up"
"#,
            expect![[r#"
                1 import "research" · alice/research
                2 import "grep.prose" · ./tools/grep.prose
                3 import "skill" · github:x/y
                4 input "topic" · What to research
                5 input "style" · how to write
                8 input "plain"
                9 agent "writer" · opus
                12 constant "limit" · 3
                13 variable "{ a, b }" · research(topic: topic)
                14 variable "draft" · session: writer
                16 output "report" · draft
                17 output "output" · session "Sum up"
            "#]],
        );
    }

    #[test]
    fn what_stands_inside_is_listed_below() {
        check(
            r#"block review(topic,
             depth):
  let found = session "Look"
  parallel:
    a = session "A"
    b = do:
      session "inner"
  if **so**:
    found = session "Look again"
    session: writer
      prompt: """
        Write about it
        at length
      """
let result = parallel:
  left = session "L"
session "one" -> session "two"
resume: writer
"#,
            expect![[r#"
                1 block "review" · (topic, depth)
                  3 variable "found" · session "Look"
                  5 variable "a" · session "A"
                  6 variable "b" · do:
                    7 session "session \"inner\""
                  10 session "session: writer" · Write about it
                15 variable "result" · parallel:
                  16 variable "left" · session "L"
                17 session "session \"one\""
                17 session "session \"two\""
                18 session "resume: writer"
            "#]],
        );
    }

    #[test]
    fn long_texts_are_shortened() {
        check(
            "session \"Find everything that was ever written about the history of the number zero and sum it up\"\n",
            expect![[r#"
                1 session "session \"Find everything that was ever written about the his…"
            "#]],
        );
    }

    #[test]
    fn half_written_definitions_are_left_out() {
        check(
            "agent\nblock :\nlet = 3\nuse \"\"\nsession\noutput\nagent w:\n",
            expect![[r#"
            5 session "session"
            6 output "output"
            7 agent "w"
        "#]],
        );
    }
}
