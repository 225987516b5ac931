//! `textDocument/codeLens`: lenses to run programs and blocks, and what the last runs returned.

use std::borrow::Cow;

use prose_analysis::location::Origin;
use prose_analysis::model::NameKind;
use prose_analysis::statements::statements;
use prose_ide::{definitions, executable_parts, outputs};
use prose_run::asks_model;
use prose_syntax::TextRange;
use prose_syntax::text::counted;
use prose_test::test_file_of;
use serde::Serialize;
use serde_json::{Value, json};

use crate::features::fork_actions::RUN_FROM_HERE;
use crate::features::lens_resolution::Unresolved;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp;
use crate::protocol::position::size;
use crate::protocol::uri::uri_of_path;
use crate::reads::views::View;
use crate::runs::history::LastRun;
use crate::runs::lines::line_map;
use crate::runs::project::project_of;
use crate::runs::requests::{CANCEL, DRY_RUN, FORK, RESUME, RUN, SHOW_ERROR};
use crate::testing::commands::TEST;

/// The answer to `textDocument/codeLens`.
pub(crate) fn code_lenses(view: &View<'_>) -> Json {
    text(&lenses(view))
}

/// The same as code actions, for clients that show no lenses: those of the program anywhere in it, and those of a block on its first line.
pub(crate) fn run_actions(view: &View<'_>, range: lsp::Range) -> Vec<Value> {
    if view.session.shows_lenses {
        return Vec::new();
    }
    let top = view.converter().top();
    let is_here = |lens: &Lens<'_>| lens.range == top || lens.range.start.line == range.start.line;
    let action = |lens: Lens<'_>| {
        // There is an action for each session of the last run.
        let command = lens.command.filter(|command| !["", FORK].contains(&command.command))?;
        Some(json!({ "title": command.title, "command": command }))
    };
    lenses(view).into_iter().filter(is_here).filter_map(action).collect()
}

/// The command of a client that starts the debugger.
const DEBUG: &str = "prose.debugProgram";

/// A lens as the protocol has it. A long program has thousands, so that they are not built as values of JSON first.
#[derive(Serialize)]
struct Lens<'a> {
    range: lsp::Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Command<'a>>,
    /// What its command is computed from when it becomes visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

#[derive(Serialize)]
struct Command<'a> {
    title: Cow<'static, str>,
    /// Empty for a text that can be read and does nothing.
    command: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<[Argument<'a>; 1]>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Argument<'a> {
    /// The program in a document.
    Program {
        uri: &'a str,
    },
    /// The part of a program that starts in a line, counted from 1.
    Part {
        uri: &'a str,
        line: u32,
    },
    Other(Value),
}

fn lenses<'a>(view: &'a View<'_>) -> Vec<Lens<'a>> {
    let (db, snapshot) = (view.db, view.snapshot);
    let file = snapshot.file;
    // Fetched programs are read-only; they run through programs that import them.
    if statements(db, file).list.is_empty() || *file.origin(db) != Origin::Local {
        return Vec::new();
    }
    let uri = &*snapshot.name;
    let path = file.path(db);
    let project = project_of(path, &Origin::Local, &snapshot.config, view.session);
    let last = project.as_ref().map_or_else(Vec::new, |project| view.runs.last_runs(project, path));
    let options = snapshot.config.client().lenses;
    let converter = view.converter();
    let top = converter.top();
    let errors = snapshot.config.errors(db, file);
    let has_sound_settings = snapshot.config.check_settings().is_ok();
    let can_run = has_sound_settings && errors.is_empty();
    let mut is_estimated = false;
    let first_line = snapshot.shown.first_line();
    let mut lenses = Lenses { view, uri, can_run, first_line, list: Vec::new() };
    if !can_run {
        let why = match has_sound_settings {
            true => counted(errors.len(), "error"),
            false => format!("error in {}", prose_config::FILE_NAME),
        };
        // Without a command it can be read and does nothing.
        let command = if view.session.shows_documents { SHOW_ERROR } else { "" };
        lenses.add(top, format!("Cannot run: {why}"), command, Argument::Program { uri });
    } else {
        if project.is_some() {
            lenses.add(top, "▶ Run program", RUN, Argument::Program { uri });
            if view.session.debugs_programs {
                lenses.add(top, "Debug program", DEBUG, Argument::Program { uri });
            }
        }
        lenses.add(top, "Dry run", DRY_RUN, Argument::Program { uri });
        // While the program runs, hints show what it uses.
        let is_running = !view.runs.live(&snapshot.name).is_empty();
        // A run that asks no model costs nothing.
        is_estimated = project.is_some()
            && snapshot.config.client().estimates
            && !is_running
            && asks_model(snapshot.config.run().harness.as_str());
        if is_estimated {
            lenses.add_unresolved(top, Unresolved::Estimate { block: None });
        }
    }
    let is_alone = !snapshot.shown.is_in_fence() && errors.is_empty();
    if let Some(tests) = test_file_of(path).filter(|tests| is_alone && tests.is_file())
        && let Some(uri) = uri_of_path(&tests)
    {
        lenses.add(top, "▶ Run tests", TEST, Argument::Other(json!({ "uri": &*uri })));
    }
    for run in view.runs.live(&snapshot.name) {
        lenses.add(top, "■ Stop", CANCEL, Argument::Other(json!({ "uri": uri, "run": run })));
    }
    let of_program = last.iter().find(|last| last.block.is_none());
    lenses.add_last(top, of_program);
    lenses.add_failure(of_program);
    let blocks = if project.is_some() { prose_ide::runnable_blocks(db, file) } else { Vec::new() };
    for block in &blocks {
        // An error elsewhere in the program is none of the block's.
        lenses.can_run = can_run
            || has_sound_settings && {
                let parts = prose_ide::block_parts(db, file, &block.name);
                !errors
                    .iter()
                    .any(|error| parts.iter().any(|part| part.intersect(error.diagnostic.range).is_some()))
            };
        let range = converter.range(block.range);
        if lenses.can_run {
            let argument = json!({ "uri": uri, "block": block.name });
            lenses.add(range, "▶ Run block", RUN, Argument::Other(argument));
        }
        let of_block = last.iter().find(|last| last.block.as_ref() == Some(&block.name));
        lenses.add_last(range, of_block);
        lenses.add_failure(of_block);
    }
    if can_run && options.parts && project.is_some() {
        for part in executable_parts(db, file) {
            let is_runnable =
                part.block.as_ref().is_some_and(|name| blocks.iter().any(|block| block.name == *name));
            if !is_runnable {
                let range = converter.range(part.range);
                let argument = Argument::Part { uri, line: range.start.line + 1 };
                lenses.add(range, format!("▶ Run {}", part.kind.noun()), RUN, argument);
            }
        }
    }
    for definition in definitions(db, file) {
        let range = converter.range(definition.range);
        if is_estimated && definition.kind == NameKind::Block {
            lenses.add_unresolved(range, Unresolved::Estimate { block: Some(definition.name) });
        }
        if options.references {
            lenses.add_unresolved(range, Unresolved::References);
        }
    }
    if let Some(last) = of_program.filter(|_| options.outputs) {
        for output in outputs(db, file) {
            if let Some(title) = last.output(output.name.as_deref()) {
                lenses.add_text(converter.range(output.range), title);
            }
        }
    }
    lenses.list
}

struct Lenses<'a, 'v> {
    view: &'a View<'v>,
    uri: &'a str,
    /// Whether there is no error in what the next lenses are about.
    can_run: bool,
    first_line: usize,
    list: Vec<Lens<'a>>,
}

impl<'a> Lenses<'a, '_> {
    fn add(
        &mut self,
        range: lsp::Range,
        title: impl Into<Cow<'static, str>>,
        command: &'static str,
        argument: Argument<'a>,
    ) {
        let command = Command { title: title.into(), command, arguments: Some([argument]) };
        self.list.push(Lens { range, command: Some(command), data: None });
    }

    fn add_unresolved(&mut self, range: lsp::Range, unresolved: Unresolved) {
        self.list.push(Lens { range, command: None, data: Some(unresolved.data(self.view)) });
    }

    /// Adds a text without a command, which can be read and does nothing.
    fn add_text(&mut self, range: lsp::Range, title: String) {
        let command = Command { title: title.into(), command: "", arguments: None };
        self.list.push(Lens { range, command: Some(command), data: None });
    }

    /// Adds a fork at the statement where a run failed.
    fn add_failure(&mut self, last: Option<&LastRun>) {
        let Some(last) = last.filter(|_| self.can_run) else { return };
        let (Some(line), Some(before)) = (last.failed_line(), last.program()) else { return };
        let text = &self.view.snapshot.text;
        let line = line_map(&before, text).nearest_now(line - 1);
        if line >= text.len_lines() {
            return;
        }
        let start = size(text.line_to_byte(line));
        let range = self.view.converter().range(TextRange::empty(start));
        let mut argument = last.argument(self.uri);
        argument["from"] = json!("failure");
        self.add(range, RUN_FROM_HERE, FORK, Argument::Other(argument));
    }

    fn add_last(&mut self, range: lsp::Range, last: Option<&LastRun>) {
        let Some(last) = last else { return };
        if self.can_run && last.can_be_resumed() {
            let argument = Argument::Other(last.argument(self.uri));
            self.add(range, "Resume last run", RESUME, argument);
        }
        if let Some(result) = last.result(self.first_line) {
            self.add_text(range, result);
        }
    }
}
