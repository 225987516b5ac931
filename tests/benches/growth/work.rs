//! What is done with the programs.

use std::any::Any;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::statements::parse;
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_ide::{HintOptions, PathCandidates};
use prose_syntax::{SyntaxKind, TextRange, TextSize};

use crate::machine;

/// Work that is ready to be done, and what comes of it, which is thrown away later.
pub(crate) type Ready = Box<dyn FnOnce() -> Box<dyn Any>>;

/// A kind of work.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Prepares the work for a program.
    pub(crate) prepare: fn(&str) -> Ready,
    /// Whether the program has to run to its end for it.
    pub(crate) runs: bool,
}

/// All kinds.
pub(crate) const KINDS: &[Kind] = &[
    Kind { name: "parse", prepare: parsing, runs: false },
    Kind { name: "check", prepare: checking, runs: false },
    Kind { name: "fmt", prepare: formatting, runs: false },
    Kind { name: "compile", prepare: compiling, runs: false },
    Kind { name: "edit", prepare: editing, runs: false },
    Kind { name: "whole file", prepare: asking_of_the_file, runs: false },
    Kind { name: "names", prepare: asking_of_names, runs: false },
    Kind { name: "rename", prepare: renaming, runs: false },
    Kind { name: "run", prepare: running, runs: true },
];

fn ready<T: 'static>(work: impl FnOnce() -> T + 'static) -> Ready {
    Box::new(|| Box::new(black_box(work())))
}

fn parsing(text: &str) -> Ready {
    let text = text.to_owned();
    ready(move || prose_syntax::parse(&text))
}

/// A program that nobody has asked anything about.
fn opened(text: &str) -> (AnalysisHost, SourceFile) {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/program.prose"), Text::new(text));
    (host, file)
}

/// A program with known diagnostics.
fn checked(text: &str) -> (AnalysisHost, SourceFile) {
    let (host, file) = opened(text);
    diagnostics(host.db(), file);
    (host, file)
}

fn checking(text: &str) -> Ready {
    let (host, file) = opened(text);
    ready(move || {
        diagnostics(host.db(), file);
        host
    })
}

fn formatting(text: &str) -> Ready {
    let text = text.to_owned();
    let parsed = prose_syntax::parse(&text);
    ready(move || (prose_format::edits(&parsed, &text), parsed))
}

fn compiling(text: &str) -> Ready {
    let text = text.to_owned();
    ready(move || prose_format::canonical(&text))
}

/// The line in the middle becomes a comment, and the diagnostics after that.
fn editing(text: &str) -> Ready {
    let (mut host, file) = checked(text);
    let mut text = text.to_owned();
    ready(move || {
        let middle = text.floor_char_boundary(text.len() / 2);
        let at = text[middle..].find('\n').map_or(0, |at| middle + at + 1);
        text.insert(at, '#');
        let before = Arc::clone(parse(host.db(), file));
        let at = TextRange::empty(TextSize::new(at as u32));
        let edited = Text::edited(&*text, before, at, TextSize::new(1));
        host.set_text(Path::new("/program.prose"), edited);
        diagnostics(host.db(), file);
        host
    })
}

/// What an editor shows of a file.
fn asking_of_the_file(text: &str) -> Ready {
    let (host, file) = checked(text);
    let all = TextRange::up_to(TextSize::of(text));
    ready(move || {
        let db = host.db();
        let root = parse(db, file).syntax();
        black_box((
            prose_ide::semantic_tokens(db, file).len(),
            prose_ide::folding_ranges(&root).len(),
            prose_ide::document_symbols(&root).len(),
            prose_ide::inlay_hints(db, file, all, HintOptions::ALL, 10).len(),
            prose_ide::document_links(db, file, |_| true).len(),
            prose_ide::runnable_blocks(db, file).len(),
            prose_ide::variables_in(db, file, all).len(),
            prose_ide::flow_graph(db, file).nodes.len(),
        ));
        host
    })
}

/// Some of the names of a program, from its whole length.
fn places(text: &str) -> Vec<TextSize> {
    let root = prose_syntax::parse(text).syntax();
    let tokens = root.descendants_with_tokens().filter_map(|element| element.into_token());
    let names: Vec<TextSize> = tokens
        .filter(|token| token.kind() == SyntaxKind::IDENT)
        .map(|token| token.text_range().start())
        .collect();
    let middle = TextSize::new(text.floor_char_boundary(text.len() / 2) as u32);
    let named = [0, names.len() / 3, names.len() / 2, names.len().saturating_sub(1)];
    named.into_iter().filter_map(|at| names.get(at).copied()).chain([middle, TextSize::of(text)]).collect()
}

/// What an editor asks for at some of the names.
fn asking_of_names(text: &str) -> Ready {
    let (host, file) = checked(text);
    let places = places(text);
    let paths = PathCandidates::default();
    ready(move || {
        let db = host.db();
        for at in places {
            black_box((
                prose_ide::hover(db, file, at).is_some(),
                prose_ide::goto_definition(db, file, at).is_some(),
                prose_ide::goto_declaration(db, file, at).is_some(),
                prose_ide::goto_type_definition(db, file, at).is_some(),
                prose_ide::goto_implementation(db, file, at).is_some(),
                prose_ide::document_highlights(db, file, at).len(),
                prose_ide::references(db, file, at, true, &[file]).is_some(),
                prose_ide::completions(db, file, at, &paths).len(),
                prose_ide::signature_help(db, file, at).is_some(),
                prose_ide::assists(db, file, TextRange::empty(at)).len(),
                prose_ide::selection_ranges(&parse(db, file).syntax(), at).len(),
            ));
            for callable in prose_ide::callables(db, file, at) {
                black_box((
                    prose_ide::incoming_calls(db, &callable, &[file]).len(),
                    prose_ide::outgoing_calls(db, &callable).len(),
                ));
            }
        }
        host
    })
}

/// A new name for some of the names.
fn renaming(text: &str) -> Ready {
    let (host, file) = checked(text);
    let places = places(text);
    ready(move || {
        for at in places {
            black_box(prose_ide::rename(host.db(), &[file], file, at, "another_name").is_ok());
        }
        host
    })
}

/// A run with agents that answer at once.
fn running(text: &str) -> Ready {
    let (host, file) = checked(text);
    ready(move || machine::run(&host, file))
}
