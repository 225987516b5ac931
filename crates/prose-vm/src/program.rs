//! Programs as they are run: what the analysis resolved, free of its database.

use std::path::Path;
use std::sync::Arc;

use prose_analysis::Db;
use prose_analysis::contract::{Contract, contract};
use prose_analysis::db::SourceFile;
use prose_analysis::imports::{Imported, imported};
use prose_analysis::location::Origin;
use prose_analysis::model::{Body, ExprId, ListId, Modifier, Property, Stmt, StmtId, TextKind};
use prose_analysis::rights::{self, Requests};
use prose_analysis::statements::{body, line_index, statements};
use prose_syntax::ast::{AstNode, Discretion, Part, Str, Template};
use prose_syntax::{LineIndex, SyntaxNode, TextRange, TextSize};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use smol_str::SmolStr;

mod context_files;
mod coverage;
mod description;
mod excerpts;
mod inputs;
mod locations;
mod names;
mod parts;
mod permissions;
mod preconditions;
mod reachable;

pub use self::context_files::ContextFile;
pub use self::coverage::{Coverable, CoverableBranch, Decision};
pub use self::description::{DescribedAgent, FlowStep};
use self::excerpts::Excerpt;
use self::inputs::UnnamedInput;
pub(crate) use self::inputs::is_optional;
pub use self::inputs::unknown_name;
pub use self::locations::{Location, LocationKind};
pub(crate) use self::permissions::rule_of_word;
pub use self::permissions::{SessionPermissions, WrittenPermission};

/// A program that can be run.
#[derive(Debug)]
pub struct Program {
    /// The name of its file, such as `review.prose`.
    pub name: SmolStr,
    /// Where it was read from: a path, a reference or an address.
    pub from: String,
    /// Its identity in the project if it was fetched, and what it asks for (decision 19); none of a local program.
    pub fetched: Option<Requests>,
    /// Its text.
    pub text: Arc<str>,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
    /// What it takes and gives.
    pub contract: Contract,
    /// Its `use` lines in the order of the text.
    pub imports: Vec<Import>,
    /// Its top-level statements.
    pub(crate) statements: Vec<TopLevel>,
    agents: FxHashMap<SmolStr, At>,
    blocks: FxHashMap<SmolStr, At>,
    /// Its inputs without a name, in the order of the text.
    unnamed: Vec<UnnamedInput>,
    /// The models that have a name of their own, with what they stand for (decision 5).
    models: Arc<std::collections::BTreeMap<SmolStr, String>>,
    lines: Arc<LineIndex>,
    /// Its calls of programs that leave out an input, each in words with its line (E026).
    incomplete_calls: Vec<String>,
}

/// A program that another one imports.
#[derive(Debug)]
pub struct Import {
    /// The path as it is written.
    pub path: SmolStr,
    /// The name that it is called by.
    pub alias: SmolStr,
    /// The folder below `imports/` for its files (R93).
    pub folder: SmolStr,
    /// The program; none where `use` names a skill or something that could not be read.
    pub program: Option<Arc<Program>>,
    /// Where it stands.
    pub(crate) at: At,
}

/// A top-level statement.
#[derive(Debug)]
pub(crate) struct TopLevel {
    pub(crate) start: u32,
    pub(crate) body: Body,
    texts: FxHashMap<ExprId, Arc<[Piece]>>,
    /// What events show of its statements, by their numbers.
    excerpts: Box<[Excerpt]>,
}

/// A statement of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct At {
    pub(crate) top: u32,
    pub(crate) stmt: StmtId,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Text as it stands, with escapes replaced.
    Text(Arc<str>),
    /// A reference in braces: its number among those of the text.
    Hole(usize),
}

impl Program {
    /// The program of a file with all its imports that the analysis has. Diagnostics are not looked at: a program with errors is
    /// for the caller to refuse (decision 15).
    pub fn new(db: &dyn Db, file: SourceFile) -> Arc<Self> {
        Self::within(db, file, &mut Vec::new())
    }

    /// `around` are the programs that import this one: a circle ends where it closes.
    fn within(db: &dyn Db, file: SourceFile, around: &mut Vec<SourceFile>) -> Arc<Self> {
        around.push(file);
        let text = file.text(db).shared();
        let placed = &statements(db, file).list;
        let mut program = Self {
            name: file_name(file.path(db)),
            from: match file.origin(db) {
                Origin::Local => file.path(db).display().to_string(),
                Origin::Remote(origin) => origin.url.to_string(),
            },
            fetched: rights::identity(db, file)
                .map(|identity| Requests { identity, rights: rights::asked(db, file) }),
            sha256: hex(&Sha256::digest(text.as_bytes())),
            contract: contract(db, file).clone(),
            imports: Vec::new(),
            statements: Vec::with_capacity(placed.len()),
            agents: FxHashMap::default(),
            blocks: FxHashMap::default(),
            unnamed: Vec::new(),
            models: Arc::clone(&file.project(db).models),
            lines: Arc::clone(line_index(db, file)),
            text,
            incomplete_calls: Vec::new(),
        };
        for placed in placed {
            let body = body(db, placed.statement).clone();
            // A line that is no statement has nothing to execute.
            if body.stmts().next().is_none() {
                continue;
            }
            let top = program.statements.len() as u32;
            let texts = texts(&placed.statement.syntax(db), &body);
            for (stmt, data) in body.stmts() {
                let at = At { top, stmt };
                match &data.stmt {
                    // Definitions are known everywhere, also those inside bodies (R8). The first of several answers.
                    Stmt::Agent { name: Some(name), .. } => {
                        program.agents.entry(body[*name].text.clone()).or_insert(at);
                    }
                    Stmt::Block { name: Some(name), .. } => {
                        program.blocks.entry(body[*name].text.clone()).or_insert(at);
                    }
                    Stmt::Use { path: Some(path), name, .. } => {
                        let Some(path) = body.string(*path).map(SmolStr::new) else { continue };
                        let imported = match imported(db, file, path.clone()) {
                            Imported::Program(imported) if !around.contains(&imported) => {
                                Some(Self::within(db, imported, around))
                            }
                            Imported::Program(_) | Imported::Missing | Imported::Unknown => None,
                        };
                        let alias = name.map_or_else(|| path.clone(), |name| body[name].text.clone());
                        let folder = import_folder(&path);
                        program.imports.push(Import { path, alias, folder, program: imported, at });
                    }
                    _ => {}
                }
            }
            let excerpts = body.stmts().map(|_| Excerpt::default()).collect();
            program.statements.push(TopLevel { start: placed.start, body, texts, excerpts });
        }
        around.pop();
        program.unnamed = program.unnamed_inputs();
        program.incomplete_calls = program.find_incomplete_calls(db, file);
        Arc::new(program)
    }

    /// Every program that is imported, directly or by others, by path and hash in the order in which they are met.
    pub fn imported(&self) -> Vec<(SmolStr, String)> {
        let mut list = Vec::new();
        self.collect_imported(&mut list);
        list
    }

    fn collect_imported(&self, list: &mut Vec<(SmolStr, String)>) {
        for import in &self.imports {
            let Some(program) = &import.program else { continue };
            let entry = (import.path.clone(), program.sha256.clone());
            if !list.contains(&entry) {
                list.push(entry);
                program.collect_imported(list);
            }
        }
    }

    pub(crate) fn agent(&self, name: &str) -> Option<At> {
        self.agents.get(name).copied()
    }

    pub(crate) fn block(&self, name: &str) -> Option<At> {
        self.blocks.get(name).copied()
    }

    pub(crate) fn import(&self, alias: &str) -> Option<(usize, &Import)> {
        self.imports.iter().enumerate().find(|(_, import)| import.alias == alias)
    }

    pub(crate) fn agents(&self) -> Vec<(&SmolStr, At)> {
        in_order(&self.agents)
    }

    pub(crate) fn blocks(&self) -> Vec<(&SmolStr, At)> {
        in_order(&self.blocks)
    }

    /// Whether a statement defines something and does nothing where it stands.
    pub(crate) fn is_definition(&self, at: At) -> bool {
        is_definition(self.stmt(at))
    }

    /// The first lines of the top-level statements that are executed, in the order in which
    /// [`StatementStarted`](crate::event::EventKind::StatementStarted) numbers them from 1.
    pub fn outline(&self) -> Vec<SmolStr> {
        self.executed().map(|at| self.header(at)).collect()
    }

    /// The top-level statements that are executed.
    pub(crate) fn executed(&self) -> impl Iterator<Item = At> {
        let tops = (0..self.statements.len() as u32).map(|top| At { top, stmt: StmtId::ROOT });
        tops.filter(|at| !self.is_definition(*at))
    }

    /// The programs that it imports, as far as they could be read.
    pub(crate) fn imported_programs(&self) -> impl Iterator<Item = &Arc<Program>> {
        self.imports.iter().filter_map(|import| import.program.as_ref())
    }

    /// The statements at all depths, with the bodies that they are in.
    pub(crate) fn stmts(&self) -> impl Iterator<Item = (&Body, &Stmt)> {
        self.statements.iter().flat_map(|top| top.body.stmts().map(|(_, data)| (&top.body, &data.stmt)))
    }

    pub(crate) fn body(&self, at: At) -> &Body {
        &self.statements[at.top as usize].body
    }

    pub(crate) fn stmt(&self, at: At) -> &Stmt {
        &self.body(at)[at.stmt].stmt
    }

    pub(crate) fn list(&self, at: At, list: ListId) -> &[StmtId] {
        &self.body(at)[list].stmts
    }

    pub(crate) fn texts(&self, at: At, expr: ExprId) -> Option<&Arc<[Piece]>> {
        self.statements[at.top as usize].texts.get(&expr)
    }

    /// What a model of that name stands for (decision 5).
    pub(crate) fn model(&self, name: &str) -> SmolStr {
        self.models.get(name).map_or_else(|| name.into(), Into::into)
    }

    /// The bytes of a part of a statement, in the text of the program.
    pub(crate) fn range(&self, at: At, range: TextRange) -> TextRange {
        range + TextSize::from(self.statements[at.top as usize].start)
    }

    /// The text of a part of a statement.
    pub(crate) fn source(&self, at: At, range: TextRange) -> &str {
        self.text.get(std::ops::Range::<usize>::from(self.range(at, range))).unwrap_or_default()
    }

    /// What a string says, or how another expression is written.
    pub(crate) fn string_or_source(&self, at: At, expr: ExprId) -> &str {
        let body = self.body(at);
        body.string(expr).unwrap_or_else(|| self.source(at, body[expr].range))
    }

    /// The line of a byte, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.lines.line(offset as usize) as u32 + 1
    }

    /// How large the program is, by the measures that decide whether narration alone can be its state (R106).
    pub fn size(&self) -> ProgramSize {
        let mut size = ProgramSize { imports: self.imports.len(), ..ProgramSize::default() };
        for top in &self.statements {
            for (id, data) in top.body.stmts() {
                let is_definition = is_definition(&data.stmt);
                size.statements += usize::from(!is_definition && (data.list.is_some() || id == StmtId::ROOT));
                if let Stmt::Parallel { body: Some(list), .. } = &data.stmt {
                    size.branches = size.branches.max(top.body[*list].stmts.len());
                }
                size.nesting = size.nesting.max(nesting(&top.body, id));
            }
        }
        size
    }
}

/// How large a program is (R106).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProgramSize {
    /// Statements, without definitions and with those inside of others.
    pub statements: usize,
    /// The most branches of a `parallel`.
    pub branches: usize,
    /// `use` lines.
    pub imports: usize,
    /// How deep bodies are nested.
    pub nesting: usize,
}

fn is_definition(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Agent { .. } | Stmt::Block { .. } | Stmt::Use { .. } | Stmt::Import { .. })
}

/// How many bodies lie around a statement.
fn nesting(body: &Body, mut stmt: StmtId) -> usize {
    let mut depth = 0;
    while let Some(list) = body[stmt].list {
        depth += 1;
        stmt = body[list].owner;
    }
    depth
}

fn in_order(map: &FxHashMap<SmolStr, At>) -> Vec<(&SmolStr, At)> {
    let mut list: Vec<_> = map.iter().map(|(name, at)| (name, *at)).collect();
    list.sort_by_key(|(_, at)| (at.top, at.stmt));
    list
}

fn file_name(path: &Path) -> SmolStr {
    path.file_name().map_or_else(|| "program.prose".into(), |name| name.to_string_lossy().as_ref().into())
}

/// The property of that name among those of a statement.
pub(crate) fn property<'a>(properties: &'a [Property], name: &str) -> Option<&'a Property> {
    properties.iter().find(|property| property.name.text == name)
}

/// Whether an option has that name.
pub(crate) fn is_named(option: &Modifier, name: &str) -> bool {
    option.name.as_ref().is_some_and(|word| word.text == name)
}

/// The folder of an imported program's files (R93, B13): `{handle}--{slug}`; the host and the stem of the file for an address, and the
/// folder and the stem for a file.
fn import_folder(path: &str) -> SmolStr {
    let without_scheme = path.split_once("://").map_or(path, |(_, rest)| rest);
    let plain = without_scheme.split(['?', '#']).next().unwrap_or_default();
    let mut parts: Vec<String> = plain.split('/').map(safe_part).filter(|part| !part.is_empty()).collect();
    let slug = parts.pop().unwrap_or_else(|| "program".to_owned());
    let slug = slug.strip_suffix(".prose").unwrap_or(&slug).to_owned();
    match parts.first() {
        Some(handle) => format!("{handle}--{slug}").into(),
        None => slug.into(),
    }
}

/// A part of a path as a part of the name of a folder: nothing in it leads anywhere else (decision 14).
fn safe_part(part: &str) -> String {
    let part = part.trim_start_matches('@').trim_matches('.');
    let mut safe: String =
        part.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    safe.truncate(safe.floor_char_boundary(80));
    safe
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The texts of a statement in pieces.
fn texts(node: &SyntaxNode, body: &Body) -> FxHashMap<ExprId, Arc<[Piece]>> {
    let wanted: FxHashMap<TextRange, ExprId> = body
        .exprs()
        .filter(|(id, data)| body.text(*id).is_some_and(|text| text.content != data.range))
        .map(|(id, data)| (data.range, id))
        .collect();
    let mut texts = FxHashMap::default();
    if wanted.is_empty() {
        return texts;
    }
    for node in node.descendants() {
        let Some(&id) = wanted.get(&node.text_range()) else { continue };
        let Some(text) = body.text(id) else { continue };
        let pieces = match (Str::cast(node.clone()), Discretion::cast(node)) {
            (Some(text), _) => pieces(&text),
            (None, Some(text)) => pieces(&text),
            (None, None) => continue,
        };
        let pieces = match text.kind {
            TextKind::Triple => dedented(pieces),
            TextKind::Discretion => trimmed(pieces),
            TextKind::OneLine => pieces,
        };
        texts.insert(id, pieces.into());
    }
    texts
}

fn pieces(text: &impl Template) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open = String::new();
    let mut holes = 0;
    for part in text.parts() {
        match part {
            // How the lines of the file end is no part of what is said.
            Part::Text(token) if token.text().contains('\r') => {
                open.push_str(&token.text().replace("\r\n", "\n"))
            }
            Part::Text(token) => open.push_str(token.text()),
            Part::Escape(token) => open.push_str(prose_syntax::ast::unescape(token.text())),
            // One without a name to look up is text, as it is in the model.
            Part::Interpolation(node) if node.root().and_then(|root| root.token()).is_none() => {
                open.push_str(&node.syntax().text().to_string());
            }
            Part::Interpolation(_) => {
                if !open.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut open).into()));
                }
                pieces.push(Piece::Hole(holes));
                holes += 1;
            }
        }
    }
    if !open.is_empty() {
        pieces.push(Piece::Text(open.into()));
    }
    pieces
}

/// Without what only serves the layout of the program: the line break after the opening marks, the indentation that all lines have, and the
/// last line before the closing marks if it is blank (E1).
fn dedented(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let is_block = matches!(pieces.first(), Some(Piece::Text(text)) if first_line_is_blank(text));
    if !is_block {
        return pieces;
    }
    let mut indent: Option<usize> = None;
    let count = pieces.len();
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Text(text) = piece else { continue };
        let mut lines = text.split('\n');
        // What stands before the first line break continues with a line that started in an earlier piece.
        lines.next();
        let mut lines = lines.peekable();
        while let Some(line) = lines.next() {
            let content = line.trim_start_matches([' ', '\t']);
            // A line that ends with the piece continues after a reference, unless it is the last one of the text.
            let goes_on = lines.peek().is_none() && at + 1 < count;
            if !content.trim().is_empty() || goes_on {
                let width = line.len() - content.len();
                indent = Some(indent.map_or(width, |indent| indent.min(width)));
            }
        }
    }
    let indent = indent.unwrap_or(0);
    for (at, piece) in pieces.iter_mut().enumerate() {
        let Piece::Text(text) = piece else { continue };
        let mut out = String::with_capacity(text.len());
        for (line_at, line) in text.split('\n').enumerate() {
            if at == 0 && line_at == 0 {
                continue;
            }
            if line_at > usize::from(at == 0) {
                out.push('\n');
            }
            let margin = if line_at == 0 { 0 } else { indent };
            let spaces = line.len() - line.trim_start_matches([' ', '\t']).len();
            out.push_str(&line[spaces.min(margin)..]);
        }
        *piece = Piece::Text(out.into());
    }
    if let Some(Piece::Text(text)) = pieces.last_mut()
        && let Some((before, last)) = text.rsplit_once('\n')
        && last.trim().is_empty()
    {
        *text = before.into();
    }
    pieces
}

fn first_line_is_blank(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(first, _)| first.trim().is_empty())
}

/// Without blanks around it, and with those inside folded: a discretion that goes over several lines is one sentence.
fn trimmed(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let count = pieces.len();
    for (at, piece) in pieces.iter_mut().enumerate() {
        let Piece::Text(text) = piece else { continue };
        let mut out = String::with_capacity(text.len());
        if at > 0 && text.starts_with(char::is_whitespace) {
            out.push(' ');
        }
        for (nth, word) in text.split_whitespace().enumerate() {
            if nth > 0 {
                out.push(' ');
            }
            out.push_str(word);
        }
        if at + 1 < count && text.ends_with(char::is_whitespace) && !out.ends_with(' ') {
            out.push(' ');
        }
        *piece = Piece::Text(out.into());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_imports_are_named_after_handle_and_slug() {
        assert_eq!(import_folder("@alice/research"), "alice--research");
        assert_eq!(import_folder("alice/research"), "alice--research");
        assert_eq!(import_folder("https://example.com/flows/deep/review.prose?v=2"), "example.com--review");
        assert_eq!(import_folder("./lib/review.prose"), "lib--review");
        assert_eq!(import_folder("../../etc/passwd"), "etc--passwd");
        assert_eq!(import_folder("review.prose"), "review");
    }
}
