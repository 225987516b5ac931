//! `textDocument/codeLens`: lenses to run programs and blocks, and what the last runs returned.

use prose_analysis::location::Origin;
use prose_analysis::model::NameKind;
use prose_analysis::statements::statements;
use prose_ide::{definitions, executable_parts, outputs};
use prose_run::asks_model;
use prose_syntax::TextRange;
use prose_syntax::text::counted;
use prose_test::test_file_of;
use serde_json::{Value, json};

use crate::features::fork_actions::RUN_FROM_HERE;
use crate::features::lens_resolution::Unresolved;
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
pub(crate) fn code_lenses(view: &View<'_>) -> Vec<Value> {
    let lens = |Lens { range, content }: Lens| match content {
        Content::Command(command) => json!({ "range": range, "command": command }),
        Content::Unresolved(unresolved) => json!({ "range": range, "data": unresolved.data(view) }),
    };
    lenses(view).into_iter().map(lens).collect()
}

/// The same as code actions, for clients that show no lenses: those of the program anywhere in it, and those of a block on its first line.
pub(crate) fn run_actions(view: &View<'_>, range: lsp::Range) -> Vec<Value> {
    if view.session.shows_lenses {
        return Vec::new();
    }
    let top = view.converter().top();
    let is_here = |lens: &Lens| lens.range == top || lens.range.start.line == range.start.line;
    let action = |lens: Lens| match lens.content {
        // There is an action for each session of the last run.
        Content::Command(command) if command["command"] != "" && command["command"] != FORK => {
            Some(json!({ "title": command["title"], "command": command }))
        }
        _ => None,
    };
    lenses(view).into_iter().filter(is_here).filter_map(action).collect()
}

/// The command of a client that starts the debugger.
const DEBUG: &str = "prose.debugProgram";

struct Lens {
    range: lsp::Range,
    content: Content,
}

enum Content {
    Command(Value),
    /// Computed when the lens becomes visible.
    Unresolved(Unresolved),
}

fn lenses(view: &View<'_>) -> Vec<Lens> {
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
    let mut lenses = Lenses { uri, can_run, first_line: snapshot.shown.first_line(), list: Vec::new() };
    if !can_run {
        let why = match has_sound_settings {
            true => counted(errors.len(), "error"),
            false => format!("error in {}", prose_config::FILE_NAME),
        };
        // Without a command it can be read and does nothing.
        let command = if view.session.shows_documents { SHOW_ERROR } else { "" };
        lenses.add(top, &format!("Cannot run: {why}"), command, json!({ "uri": uri }));
    } else {
        if project.is_some() {
            lenses.add(top, "▶ Run program", RUN, json!({ "uri": uri }));
            if view.session.debugs_programs {
                lenses.add(top, "Debug program", DEBUG, json!({ "uri": uri }));
            }
        }
        lenses.add(top, "Dry run", DRY_RUN, json!({ "uri": uri }));
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
        lenses.add(top, "▶ Run tests", TEST, json!({ "uri": &*uri }));
    }
    for run in view.runs.live(&snapshot.name) {
        lenses.add(top, "■ Stop", CANCEL, json!({ "uri": uri, "run": run }));
    }
    let of_program = last.iter().find(|last| last.block.is_none());
    lenses.add_last(top, of_program);
    lenses.add_failure(view, of_program);
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
            lenses.add(range, "▶ Run block", RUN, json!({ "uri": uri, "block": block.name }));
        }
        let of_block = last.iter().find(|last| last.block.as_ref() == Some(&block.name));
        lenses.add_last(range, of_block);
        lenses.add_failure(view, of_block);
    }
    if can_run && options.parts && project.is_some() {
        for part in executable_parts(db, file) {
            let is_runnable =
                part.block.as_ref().is_some_and(|name| blocks.iter().any(|block| block.name == *name));
            if !is_runnable {
                let range = converter.range(part.range);
                let argument = json!({ "uri": uri, "line": range.start.line + 1 });
                lenses.add(range, &format!("▶ Run {}", part.kind.noun()), RUN, argument);
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
                lenses.add_text(converter.range(output.range), &title);
            }
        }
    }
    lenses.list
}

struct Lenses<'a> {
    uri: &'a str,
    /// Whether there is no error in what the next lenses are about.
    can_run: bool,
    first_line: usize,
    list: Vec<Lens>,
}

impl Lenses<'_> {
    fn add(&mut self, range: lsp::Range, title: &str, command: &str, argument: Value) {
        let command = json!({ "title": title, "command": command, "arguments": [argument] });
        self.list.push(Lens { range, content: Content::Command(command) });
    }

    fn add_unresolved(&mut self, range: lsp::Range, unresolved: Unresolved) {
        self.list.push(Lens { range, content: Content::Unresolved(unresolved) });
    }

    /// Adds a text without a command, which can be read and does nothing.
    fn add_text(&mut self, range: lsp::Range, title: &str) {
        self.list.push(Lens { range, content: Content::Command(json!({ "title": title, "command": "" })) });
    }

    /// Adds a fork at the statement where a run failed.
    fn add_failure(&mut self, view: &View<'_>, last: Option<&LastRun>) {
        let Some(last) = last.filter(|_| self.can_run) else { return };
        let (Some(line), Some(before)) = (last.failed_line(), last.program()) else { return };
        let text = &view.snapshot.text;
        let line = line_map(&before, text).nearest_now(line - 1);
        if line >= text.len_lines() {
            return;
        }
        let start = size(text.line_to_byte(line));
        let range = view.converter().range(TextRange::empty(start));
        let mut argument = last.argument(self.uri);
        argument["from"] = json!("failure");
        self.add(range, RUN_FROM_HERE, FORK, argument);
    }

    fn add_last(&mut self, range: lsp::Range, last: Option<&LastRun>) {
        let Some(last) = last else { return };
        if self.can_run && last.can_be_resumed() {
            self.add(range, "Resume last run", RESUME, last.argument(self.uri));
        }
        if let Some(result) = last.result(self.first_line) {
            self.add_text(range, &result);
        }
    }
}
