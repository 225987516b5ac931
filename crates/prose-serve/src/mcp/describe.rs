//! `describe`: what a program takes, gives and does.

use std::fmt::Write;

use prose_analysis::contract::contract;
use prose_analysis::imports::import_paths;
use prose_analysis::{AnalysisHost, Text};
use prose_ide::{FlowGraph, FlowKind, Symbol, SymbolKind};
use prose_syntax::LineIndex;
use prose_syntax::text::{beginning, one_line};

use super::program::Named;
use super::reply::Reply;
use crate::folder::Folder;

/// The longest prompt in the flow, in characters.
const MAX_PROMPT: usize = 100;

pub(super) fn describe(folder: &Folder, named: Named) -> Reply {
    let (path, text) = match named.read(folder) {
        Ok(read) => read,
        Err(reason) => return Reply::error(reason),
    };
    if prose_markdown::is_markdown(&path) {
        return Reply::error("name one program of the document, such as `document.md#1`");
    }
    let mut host = AnalysisHost::default();
    let file = host.set_text(&path, Text::new(text.as_str()));
    let db = host.db();
    let contract = contract(db, file);
    let mut report = format!("{}\n", folder.shown(&path));
    report.push_str("\ninputs:\n");
    for input in &contract.inputs {
        let optional = if input.is_optional() { " (optional)" } else { "" };
        let description = input.description.as_deref().unwrap_or_default();
        let _ = writeln!(report, "  {}{optional}: {}", input.name, one_line(description));
    }
    if contract.inputs.is_empty() {
        report.push_str("  none\n");
    }
    report.push_str("\noutputs:\n");
    for output in &contract.outputs {
        let _ = writeln!(report, "  {output}");
    }
    match (contract.outputs.is_empty(), contract.returns) {
        (true, true) => report.push_str("  the value of `return`\n"),
        (true, false) => report.push_str("  none\n"),
        _ => {}
    }
    let imports = import_paths(db, file);
    if !imports.is_empty() {
        report.push_str("\nimports:\n");
        for import in imports {
            let _ = writeln!(report, "  {}", one_line(&import));
        }
    }
    let lines = LineIndex::new(&text);
    let symbols = prose_ide::document_symbols(&prose_syntax::parse(&text).syntax());
    definitions(&symbols, &lines, &mut report);
    flow(&prose_ide::flow_graph(db, file), &lines, &mut report);
    Reply::text(report)
}

fn definitions(symbols: &[Symbol], lines: &LineIndex, report: &mut String) {
    for (kind, title) in [(SymbolKind::Agent, "agents"), (SymbolKind::Block, "blocks")] {
        let mut defined = symbols.iter().filter(|symbol| symbol.kind == kind).peekable();
        if defined.peek().is_some() {
            let _ = writeln!(report, "\n{title}:");
        }
        for symbol in defined {
            let line = lines.line(symbol.range.start().into()) + 1;
            let detail =
                symbol.detail.as_deref().map_or(String::new(), |detail| format!(" ({})", one_line(detail)));
            let _ = writeln!(report, "  line {line}: {}{detail}", symbol.name);
        }
    }
}

/// The statements as a tree, with the beginnings of prompts.
fn flow(graph: &FlowGraph, lines: &LineIndex, report: &mut String) {
    if graph.nodes.is_empty() {
        return;
    }
    report.push_str("\nflow:\n");
    let mut depths: Vec<usize> = Vec::new();
    for node in &graph.nodes {
        let depth = node.parent.and_then(|parent| depths.get(parent)).map_or(0, |depth| depth + 1);
        depths.push(depth);
        // They have a list of their own.
        if node.kind == FlowKind::Import {
            continue;
        }
        let line = lines.line(node.range.start().into()) + 1;
        let name = node.name.as_ref().map_or(String::new(), |name| format!("{name} = "));
        let kind = match node.kind {
            FlowKind::Way | FlowKind::Other => String::new(),
            // The label of a loop and of a session without an agent starts with its keyword.
            kind if node.label.split([' ', ':']).next() == Some(kind.name()) => String::new(),
            kind => format!("{} ", kind.name()),
        };
        let detail = node
            .detail
            .as_deref()
            .map_or(String::new(), |detail| format!(" {:?}", beginning(&one_line(detail), MAX_PROMPT)));
        let indent = "  ".repeat(depth + 1);
        let _ = writeln!(report, "{indent}line {line}: {name}{kind}{}{detail}", one_line(&node.label));
    }
}
