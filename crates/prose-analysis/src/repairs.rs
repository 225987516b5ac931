//! Fixes that edit more than the statement of the diagnostic.

use std::cell::{Cell, OnceCell};

use prose_syntax::fix::line_ending;
use prose_syntax::lines::{indentation, line_start, size};
use prose_syntax::{Fix, SyntaxKind, TextEdit, TextRange, TextSize};
use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
use crate::index::Site;
use crate::model::{Stmt, StmtData, StmtId};
use crate::statements::{TopStatement, body, statements};

/// A fix whose edits depend on the whole file.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub enum Repair<'db> {
    /// Adds `persist:` to an agent.
    AddPersist {
        /// The agent.
        agent: Site<'db>,
    },
    /// Defines an agent.
    AddAgent {
        /// Its name.
        name: SmolStr,
    },
    /// Defines a block.
    AddBlock {
        /// Its name.
        name: SmolStr,
        /// Its parameters.
        params: Vec<SmolStr>,
    },
    /// Declares an input.
    AddInput {
        /// Its name.
        name: SmolStr,
    },
    /// Changes `const` to `let`.
    ChangeConst {
        /// One of the names that its declaration binds.
        name: Site<'db>,
    },
    /// Passes values to a session.
    PassContext {
        /// The session.
        session: StmtId,
        /// The variables that hold the values.
        names: Vec<SmolStr>,
        /// Statements whose results get a name for it, in the order of the text.
        captured: Vec<ResultToCapture<'db>>,
    },
    /// Removes the statement and those after it.
    RemoveStatements {
        /// The last one to go.
        until: TopStatement<'db>,
    },
    /// Removes the lines of a part of the statement that is never reached.
    RemoveUnreachable(TextRange),
    /// Removes the lines of a part of the statement.
    RemoveLines {
        /// The title of the fix.
        title: String,
        /// The part, relative to the statement.
        range: TextRange,
    },
}

/// Facts about a text that fixes need, computed once for all of them.
pub(crate) struct Surroundings<'a> {
    text: &'a str,
    newline: &'static str,
    /// The place where the comments begin that are above the place that was last asked about.
    above_comments: Cell<Option<(TextSize, TextSize)>>,
    /// Where inputs go that are added: above the first statement that imports nothing.
    inputs: OnceCell<Option<TextSize>>,
}

impl<'a> Surroundings<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let (above_comments, inputs) = (Cell::new(None), OnceCell::new());
        Self { text, newline: line_ending(text), above_comments, inputs }
    }

    /// The start of the comment lines directly above a line, or of the line itself.
    fn above_comments(&self, at: TextSize) -> TextSize {
        match self.above_comments.get() {
            Some((place, above)) if place == at => above,
            _ => {
                let above = above_comments(self.text, at);
                self.above_comments.set(Some((at, above)));
                above
            }
        }
    }

    /// Where an input goes that is added; none if nothing but imports is there.
    fn inputs(&self, db: &dyn Db, file: SourceFile) -> Option<TextSize> {
        *self.inputs.get_or_init(|| {
            let is_import = |kind| matches!(kind, SyntaxKind::USE | SyntaxKind::IMPORT);
            let list = &statements(db, file).list;
            let first = list.iter().find(|placed| !is_import(placed.statement.kind(db)));
            first.map(|placed| above_comments(self.text, placed.start.into()))
        })
    }
}

/// A statement whose result gets a name.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct ResultToCapture<'db> {
    /// The top-level statement that it is part of.
    pub statement: TopStatement<'db>,
    /// The statement.
    pub stmt: StmtId,
    /// The name.
    pub name: SmolStr,
}

/// The fix; none where the place it should go to is not there.
pub(crate) fn edits<'db>(
    db: &'db dyn Db,
    file: SourceFile,
    surroundings: &Surroundings<'_>,
    start: TextSize,
    repair: &Repair<'db>,
) -> Option<Fix> {
    let Surroundings { text, newline, .. } = *surroundings;
    let lines = |lines: &[&str]| lines.iter().flat_map(|line| [*line, newline]).collect::<String>();
    // A definition goes to the top level, above the statement that needs it and the comment above that.
    let above = || surroundings.above_comments(start);
    Some(match repair {
        Repair::AddPersist { agent } => {
            let start = agent.statement.start(db)?;
            let body = body(db, agent.statement);
            let name = &body[agent.name].text;
            let stmt = &body[body[agent.name].stmt];
            let Stmt::Agent { properties, .. } = &stmt.stmt else { return None };
            let title = format!("Add `persist: true` to `{name}`");
            let edit = match properties.first() {
                Some(first) => {
                    let at = first.range.start() + start;
                    TextEdit::insert(at, format!("persist: true{newline}{}", indentation_at(text, at)))
                }
                None => {
                    let at = stmt.range.end() + start;
                    let indentation = indentation_at(text, stmt.range.start() + start);
                    TextEdit::insert(at, format!("{newline}{indentation}  persist: true"))
                }
            };
            Fix::suggestion(title, edit)
        }
        Repair::AddAgent { name } => Fix::suggestion(
            format!("Add an agent `{name}`"),
            TextEdit::insert(above(), lines(&[&format!("agent {name}:"), "  prompt: \"\"", ""])),
        ),
        Repair::AddBlock { name, params } => {
            let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
            let header = format!("block {name}{params}:");
            Fix::suggestion(
                format!("Add a block `{name}`"),
                TextEdit::insert(above(), lines(&[&header, "  session \"\"", ""])),
            )
        }
        Repair::AddInput { name } => {
            let at = surroundings.inputs(db, file).unwrap_or_else(above);
            Fix::suggestion(
                format!("Add an input `{name}`"),
                TextEdit::insert(
                    at,
                    lines(&[&format!("input {name}: \"{}\"", name.replace(['_', '-'], " ")), ""]),
                ),
            )
        }
        Repair::ChangeConst { name } => {
            let start = name.statement.start(db)?;
            let body = body(db, name.statement);
            let stmt = &body[body[name.name].stmt];
            let Stmt::Let { is_const: true, .. } = stmt.stmt else { return None };
            let keyword = TextRange::at(stmt.range.start() + start, TextSize::of("const"));
            Fix::suggestion("Declare it with `let`", TextEdit::replace(keyword, "let"))
        }
        Repair::PassContext { session, names, captured } => {
            let mut edits = Vec::new();
            for ResultToCapture { statement, stmt, name } in captured {
                let start = statement.start(db)?;
                let at = body(db, *statement)[*stmt].range.start() + start;
                edits.push(TextEdit::insert(at, format!("let {name} = ")));
            }
            let context = match names.as_slice() {
                [name] => format!("context: {name}"),
                names => format!("context: {{ {} }}", names.join(", ")),
            };
            let passed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let title = match captured.as_slice() {
                [] => format!("Pass {passed}"),
                _ => format!("Keep the result as {passed} and pass it"),
            };
            let here = statements(db, file).at(start)?.0;
            edits.push(context_edit(text, start, &body(db, here)[*session], &context)?);
            Fix::suggestion(title, edits)
        }
        Repair::RemoveStatements { until } => {
            let end = until.range(db, until.start(db)?).end();
            remove_unreachable(whole_lines(text, TextRange::new(start, end)))
        }
        Repair::RemoveUnreachable(range) => remove_unreachable(whole_lines(text, *range + start)),
        Repair::RemoveLines { title, range } => {
            let lines = whole_lines(text, *range + start);
            // The comment above a statement of the file is about that; what is left of a statement keeps its own.
            let is_statement = range.start() == TextSize::new(0);
            let first = if is_statement { surroundings.above_comments(lines.start()) } else { lines.start() };
            Fix::suggestion(title.clone(), TextEdit::delete(TextRange::new(first, lines.end())))
        }
    })
}

/// The edit that adds a property to a session which begins its line, or is the value of one that does.
fn context_edit(text: &str, start: TextSize, session: &StmtData, context: &str) -> Option<TextEdit> {
    let newline = line_ending(text);
    let range = session.range + start;
    let indentation = indentation_at(text, range.start());
    let Stmt::Session { properties, .. } = &session.stmt else { return None };
    if let Some(last) = properties.last() {
        let at = last.range.end() + start;
        let first = last.range.start() + start;
        let line = line_start(text, first.into());
        let before = &text[line..first.into()];
        return before.trim().is_empty().then(|| TextEdit::insert(at, format!("{newline}{before}{context}")));
    }
    let line = line_start(text, range.start().into());
    let before = text[line..usize::from(range.start())].trim();
    let is_first = before.is_empty() || before.ends_with('=') || matches!(before, "output" | "return");
    // Properties belong to the last session of a chain.
    let end = usize::from(range.end());
    let rest = text[end..].split(['\n', '\r']).next().unwrap_or_default();
    let is_last = rest.trim().is_empty() || rest.trim_start().starts_with('#');
    let at = size(end + rest.trim_end().len());
    (is_first && is_last).then(|| TextEdit::insert(at, format!("{newline}{indentation}  {context}")))
}

fn indentation_at(text: &str, at: TextSize) -> &str {
    indentation(&text[line_start(text, at.into())..])
}

/// The start of the comment lines directly above a line, or of the line itself.
fn above_comments(text: &str, at: TextSize) -> TextSize {
    let mut start = line_start(text, at.into());
    while start > 0 {
        let before = text[..start].trim_end_matches(['\n', '\r']);
        // An empty line between is the end of the comment.
        if text[before.len()..start].matches('\n').count() > 1 {
            break;
        }
        let line = line_start(text, before.len());
        if !before[line..].starts_with('#') {
            break;
        }
        start = line;
    }
    size(start)
}

/// The range with the rest of its first and its last line, if nothing else is on them.
fn whole_lines(text: &str, range: TextRange) -> TextRange {
    let start = line_start(text, range.start().into());
    if !text[start..usize::from(range.start())].trim().is_empty() {
        return range;
    }
    let rest = &text[usize::from(range.end())..];
    let end = usize::from(range.end()) + indentation(rest).len();
    let newline =
        if text[end..].starts_with("\r\n") { 2 } else { usize::from(text[end..].starts_with(['\n', '\r'])) };
    if newline == 0 && end < text.len() {
        return range;
    }
    TextRange::new(size(start), size(end + newline))
}

fn remove_unreachable(lines: TextRange) -> Fix {
    Fix::suggestion("Remove the unreachable statements", TextEdit::delete(lines))
}
