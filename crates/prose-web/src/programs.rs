//! What an editor asks about a program.

use prose_analysis::diagnostics::diagnostics as diagnostics_of;
use prose_analysis::statements::parse;
use prose_graph::graph_json;
use prose_ide::semantic_tokens::Modifiers;
use prose_ide::{CompletionKind, FoldKind, NavigationTarget, PathCandidates, SymbolKind};
use prose_syntax::codes::Profile;
use prose_syntax::{Diagnostic, Fix, FixSafety, Severity, TextRange};
use prose_vm::program::Program;
use serde::Serialize;
use serde_json::{Value, json};

use crate::files::{Files, Opened};
use crate::places::{Edit, Places, Span};

/// A part of one of the files.
#[derive(Serialize)]
pub(crate) struct Place {
    name: String,
    #[serde(flatten)]
    span: Span,
}

/// The severity of a diagnostic. A page has no settings, so it is that of the default profile.
pub(crate) fn severity(diagnostic: &Diagnostic) -> Option<Severity> {
    diagnostic.code.info().level(Profile::default(), diagnostic.lenient).severity()
}

pub(crate) fn diagnostics(files: &Files, name: &str) -> Result<Vec<Value>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let shown = diagnostics_of(db, file);
    let shown = shown.iter().filter_map(|diagnostic| {
        let severity = match severity(diagnostic)? {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        };
        let Span { from, to } = places.span(diagnostic.range);
        let fixes = diagnostic.fix.iter().chain(&diagnostic.other_fixes);
        let related = diagnostic.related.iter().filter_map(|related| {
            let place = match &related.path {
                Some(path) => place(files, files.at(path)?, related.range)?,
                None => Place { name: name.to_owned(), span: places.span(related.range) },
            };
            let Place { name, span: Span { from, to } } = place;
            Some(json!({ "name": name, "from": from, "to": to, "message": related.message }))
        });
        Some(json!({
            "from": from,
            "to": to,
            "severity": severity,
            "code": diagnostic.code.as_str(),
            "message": diagnostic.message,
            "tag": diagnostic.code.info().tag.map(|tag| tag.as_str()),
            "fixes": fixes.map(|fix| shown_fix(fix, &places)).collect::<Vec<_>>(),
            "related": related.collect::<Vec<_>>(),
        }))
    });
    Ok(shown.collect())
}

fn shown_fix(fix: &Fix, places: &Places) -> Value {
    let is_safe = fix.safety == FixSafety::Safe;
    json!({ "title": fix.title, "isSafe": is_safe, "edits": places.edits(&fix.edits) })
}

fn place(files: &Files, file: prose_analysis::SourceFile, range: TextRange) -> Option<Place> {
    let (name, places) = files.named(file)?;
    Some(Place { name, span: places.span(range) })
}

pub(crate) fn completions(files: &Files, name: &str, offset: usize) -> Result<Vec<Value>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let local = db.programs().into_iter().filter(|program| *program != file);
    let local = local.map(|program| program.path(db).to_path_buf()).collect();
    let candidates = PathCandidates { local, known: Vec::new() };
    let mut completions = prose_ide::completions(db, file, places.offset(offset), &candidates);
    completions.sort_by_key(|completion| completion.order);
    let shown = completions.into_iter().map(|completion| {
        let Span { from, to } = places.span(completion.range);
        json!({
            "from": from,
            "to": to,
            "label": completion.label,
            "kind": completion_kind(completion.kind),
            "detail": completion.detail,
            "documentation": completion.documentation,
            "insert": completion.text,
            "snippet": completion.snippet,
            "filter": completion.filter,
            "continues": completion.continues,
        })
    });
    Ok(shown.collect())
}

fn completion_kind(kind: CompletionKind) -> &'static str {
    match kind {
        CompletionKind::Keyword => "keyword",
        CompletionKind::Agent => "agent",
        CompletionKind::Block => "block",
        CompletionKind::Program => "program",
        CompletionKind::Variable => "variable",
        CompletionKind::Constant => "constant",
        CompletionKind::Parameter => "parameter",
        CompletionKind::Property => "property",
        CompletionKind::Value => "value",
        CompletionKind::Field => "field",
        CompletionKind::File => "file",
        CompletionKind::Snippet => "snippet",
    }
}

pub(crate) fn hover(files: &Files, name: &str, offset: usize) -> Result<Option<Value>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    Ok(prose_ide::hover(db, file, places.offset(offset)).map(|hover| {
        let Span { from, to } = places.span(hover.range);
        json!({ "from": from, "to": to, "markdown": hover.markdown })
    }))
}

pub(crate) fn definition(files: &Files, name: &str, offset: usize) -> Result<Vec<Place>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let found = prose_ide::goto_definition(db, file, places.offset(offset));
    let targets = found.into_iter().flat_map(|definition| definition.targets);
    let place = |NavigationTarget { file, selection_range, .. }| place(files, file, selection_range);
    Ok(targets.filter_map(place).collect())
}

pub(crate) fn references(files: &Files, name: &str, offset: usize) -> Result<Vec<Place>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let found = prose_ide::references(db, file, places.offset(offset), true, &db.programs());
    let found = found.into_iter().flatten();
    Ok(found.filter_map(|reference| place(files, reference.file, reference.range)).collect())
}

pub(crate) fn renameable(files: &Files, name: &str, offset: usize) -> Result<Value, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let found =
        prose_ide::prepare_rename(db, file, places.offset(offset)).map_err(|refusal| refusal.to_string())?;
    let Span { from, to } = places.span(found.range);
    Ok(json!({ "from": from, "to": to, "placeholder": &*found.placeholder }))
}

/// The edits of a file.
#[derive(Serialize)]
pub(crate) struct FileEdits {
    name: String,
    edits: Vec<Edit>,
}

pub(crate) fn rename(
    files: &Files,
    name: &str,
    offset: usize,
    new_name: &str,
) -> Result<Vec<FileEdits>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let renamed = prose_ide::rename(db, &db.programs(), file, places.offset(offset), new_name);
    let renamed = renamed.map_err(|refusal| refusal.to_string())?;
    let shown = renamed.into_iter().filter_map(|changed| {
        let (name, places) = files.named(changed.file)?;
        Some(FileEdits { name, edits: places.edits(&changed.edits) })
    });
    Ok(shown.collect())
}

/// A symbol with those inside of it.
#[derive(Serialize)]
pub(crate) struct Symbol {
    #[serde(flatten)]
    span: Span,
    name: String,
    detail: Option<String>,
    kind: &'static str,
    selection: Span,
    children: Vec<Symbol>,
}

pub(crate) fn symbols(files: &Files, name: &str) -> Result<Vec<Symbol>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let mut roots = Vec::new();
    let mut open: Vec<(usize, Symbol)> = Vec::new();
    let mut close_above = |open: &mut Vec<(usize, Symbol)>, parent: Option<usize>| {
        while open.last().is_some_and(|(index, _)| Some(*index) != parent) {
            let Some((_, closed)) = open.pop() else { break };
            open.last_mut().map_or(&mut roots, |(_, above)| &mut above.children).push(closed);
        }
    };
    // The symbols inside of one follow it directly.
    for (index, symbol) in prose_ide::document_symbols(&parse(db, file).syntax()).into_iter().enumerate() {
        close_above(&mut open, symbol.parent);
        let shown = Symbol {
            span: places.span(symbol.range),
            name: symbol.name,
            detail: symbol.detail,
            kind: symbol_kind(symbol.kind),
            selection: places.span(symbol.selection_range),
            children: Vec::new(),
        };
        open.push((index, shown));
    }
    close_above(&mut open, None);
    Ok(roots)
}

fn symbol_kind(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Agent => "agent",
        SymbolKind::Block => "block",
        SymbolKind::Import => "import",
        SymbolKind::Input => "input",
        SymbolKind::Output => "output",
        SymbolKind::Variable => "variable",
        SymbolKind::Constant => "constant",
        SymbolKind::Session => "session",
    }
}

pub(crate) fn tokens(files: &Files, name: &str) -> Result<Vec<Value>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let tokens = prose_ide::semantic_tokens(db, file);
    let shown = tokens.into_iter().map(|token| {
        let Span { from, to } = places.span(token.range);
        let bits = token.modifiers.bits();
        let modifiers = Modifiers::NAMES.iter().enumerate();
        let modifiers: Vec<&str> =
            modifiers.filter(|(bit, _)| bits & (1 << bit) != 0).map(|(_, name)| *name).collect();
        json!({ "from": from, "to": to, "type": token.kind.name(), "modifiers": modifiers })
    });
    Ok(shown.collect())
}

pub(crate) fn folds(files: &Files, name: &str) -> Result<Vec<Value>, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    let folds = prose_ide::folding_ranges(&parse(db, file).syntax());
    let shown = folds.into_iter().map(|fold| {
        let Span { from, to } = places.span(fold.range);
        let kind = match fold.kind {
            FoldKind::Block => "block",
            FoldKind::Inside => "inside",
            FoldKind::Comment => "comment",
            FoldKind::Imports => "imports",
            FoldKind::Region => "region",
        };
        json!({ "from": from, "to": to, "kind": kind })
    });
    Ok(shown.collect())
}

pub(crate) fn format(files: &Files, name: &str) -> Result<Vec<Edit>, String> {
    let Opened { db, file, text, places } = files.program(name)?;
    Ok(places.edits(&prose_format::edits(parse(db, file), text)))
}

pub(crate) fn graph(files: &Files, name: &str) -> Result<Value, String> {
    let Opened { db, file, places, .. } = files.program(name)?;
    Ok(graph_json(&prose_ide::flow_graph(db, file), |range| places.range(range)))
}

pub(crate) fn inputs(files: &Files, name: &str) -> Result<Vec<Value>, String> {
    let Opened { db, file, .. } = files.program(name)?;
    let program = Program::new(db, file);
    let inputs = program.inputs();
    let shown = inputs
        .iter()
        .map(|input| json!({ "name": input, "prompt": program.prompt_of_input(input).unwrap_or_default() }));
    Ok(shown.collect())
}
