//! Runs in the layout that the language had before `.prose/runs` (R105): `.prose/execution/run-{date}-{time}-{random}/`.
//!
//! Such a run is brought into the present form before it continues, as a run of another machine ([`crate::foreign`]): what it states is written to
//! a folder below `.prose/runs`, and its own folder stays as it is. The layout states nothing of calls, so sessions inside of blocks
//! are run again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prose_files::{Limit, read};
use prose_vm::effect::{Binding, BindingKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use smol_str::SmolStr;

use crate::binding_file::{self, fence_for};
use crate::error::StateError;
use crate::folder::{PROGRAM_FILE, PROSE_FOLDER, Project};
use crate::program::{Program, bound_name};
use crate::source::journal_of;
use crate::state_file::STATE_FILE;

/// The folder of such runs, below `.prose`.
const LEGACY_FOLDER: &str = "execution";

/// How far a run has come.
const POSITION_FILE: &str = "position.json";

/// What ids start with in this layout, and not in the present one (R96).
const PREFIX: &str = "run-";

/// `position.json`
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Position {
    /// The statement that is executed, from 1: the folder of a parallel block that is executed is called `parallel_stmt_5` when it is 5.
    statement_index: usize,
    total_statements: usize,
    pub(crate) started_at: String,
    pub(crate) last_updated: String,
}

/// `parallel/{block}/status.json`
#[derive(Debug, Deserialize)]
struct Parallel {
    branches: Vec<Branch>,
}

#[derive(Debug, Deserialize)]
struct Branch {
    name: String,
    status: String,
}

/// `loops/{loop}.json`
#[derive(Debug, Deserialize)]
struct Loop {
    #[serde(rename = "type", default)]
    kind: String,
    current_iteration: usize,
    #[serde(default)]
    condition_history: Vec<Judged>,
}

#[derive(Debug, Deserialize)]
struct Judged {
    result: bool,
}

impl Loop {
    /// The iteration that it was in; none if its condition has ended it.
    fn iteration(&self) -> Option<usize> {
        // In this layout a condition is judged after the iteration whose number it has.
        let judged = self.condition_history.get(..self.current_iteration).and_then(<[_]>::last);
        match judged {
            Some(judged) if judged.result == (self.kind != "while") => None,
            Some(_) => Some(self.current_iteration + 1),
            None => Some(self.current_iteration),
        }
    }
}

/// Whether a folder holds a run in this layout.
pub(crate) fn is_legacy(folder: &Path) -> bool {
    let has = |file: &str| folder.join(file).exists();
    (has(POSITION_FILE) || has("variables")) && !has(STATE_FILE) && !journal_of(folder).exists()
}

/// How far the run in a folder has come; none if it does not say so.
pub(crate) fn position(folder: &Path) -> Result<Option<Position>, StateError> {
    read_json(&folder.join(POSITION_FILE))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StateError> {
    let bytes = match read(path, Limit::STATE) {
        Ok(bytes) => bytes,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(StateError::io("read", path)(error.into())),
    };
    let parsed = serde_json::from_slice(&bytes).map(Some);
    parsed.map_err(|error| {
        let why = format!("{error}; fix the file, or its content is taken from the other files");
        StateError::io("read", path)(io::Error::new(io::ErrorKind::InvalidData, why))
    })
}

impl Project {
    /// The folder of a run in the layout before `.prose/runs`, whether it exists or not.
    pub(crate) fn legacy_run(&self, id: &str) -> PathBuf {
        self.root.join(PROSE_FOLDER).join(LEGACY_FOLDER).join(id)
    }

    /// The runs in the layout before `.prose/runs` that have not been brought into the present one, with their folders.
    pub(crate) fn legacy_runs(&self) -> Vec<(SmolStr, PathBuf)> {
        fs::read_dir(self.legacy_run(""))
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| {
                let id = entry.file_name().into_string().ok()?;
                let is_open = is_legacy(&entry.path()) && !self.runs().join(present_id(&id)).exists();
                is_open.then(|| (id.into(), entry.path()))
            })
            .collect()
    }

    /// Brings a run of the layout before `.prose/runs` into the present one, so that it can continue, and says under which id. A run that is in the
    /// present one stays as it is.
    pub fn adopt_run(&self, id: &str) -> Result<SmolStr, StateError> {
        let from = self.existing_run(id)?;
        let present = present_id(id);
        let folder = self.run(present)?;
        if !is_legacy(&from) || folder == from {
            return Ok(id.into());
        }
        if !folder.exists() {
            let path = from.join(PROGRAM_FILE);
            let text =
                read(&path, Limit::PROGRAM).map_err(|error| StateError::io("read", &path)(error.into()))?;
            let program = Program::new(&String::from_utf8_lossy(&text));
            let values = values(&from, &program)?;
            let state = state(present, &from, &program, &values)?;
            // The folder appears as a whole: half of one would pass for a run that has come to another place.
            let around = from.parent().unwrap_or(&from);
            let unfinished = tempfile::Builder::new()
                .prefix(".adopted-")
                .tempdir_in(around)
                .map_err(StateError::io("create a folder in", around))?;
            let tree = self.run_tree(unfinished.path())?;
            tree.write(PROGRAM_FILE, &text)?;
            tree.make_folder("bindings")?;
            for (name, binding) in &values {
                tree.write(&format!("bindings/{name}.md"), binding.as_bytes())?;
            }
            if let Some(state) = state {
                tree.write(STATE_FILE, state.as_bytes())?;
            }
            let runs = self.make_prose_folder()?.folder().make_folder(Path::new("runs"))?;
            if let Err(error) = fs::rename(unfinished.path(), runs.path().join(present)) {
                // Another process was faster.
                if !folder.exists() {
                    return Err(StateError::io("make", &folder)(error));
                }
            }
        }
        Ok(present.into())
    }
}

fn present_id(id: &str) -> &str {
    id.strip_prefix(PREFIX).unwrap_or(id)
}

/// The files of bindings by name, made of those of variables and of branches. `manifest.json` says nothing of a variable that its own file does
/// not say too.
fn values(from: &Path, program: &Program) -> Result<BTreeMap<String, String>, StateError> {
    let mut folders: Vec<PathBuf> = fs::read_dir(from.join("parallel"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    // A variable has the last word: it may have got another value since the branch ended.
    folders.push(from.join("variables"));
    let mut values = BTreeMap::new();
    for entry in folders.iter().flat_map(fs::read_dir).flatten().flatten() {
        let Ok(file) = entry.file_name().into_string() else { continue };
        let Some(name) = file.strip_suffix(".md").filter(|name| !name.starts_with('.')) else { continue };
        let path = entry.path();
        let bytes = read(&path, Limit::STATE).map_err(|error| StateError::io("read", &path)(error.into()))?;
        let text = String::from_utf8_lossy(&bytes);
        let source = statements(program).find(|(line, _)| bound_name(program.line(*line)) == Some(name));
        let binding = Binding {
            name: name.into(),
            kind: kind(&text),
            frame: 0,
            path: format!("bindings/{file}").into(),
            source: source.map_or("", |(line, _)| program.line(line).trim()).into(),
        };
        values.insert(name.to_owned(), binding_file::write(&binding, value(&text)));
    }
    Ok(values)
}

/// The value in the file of a variable. What a branch or a model has written without a head is a value as a whole.
fn value(text: &str) -> &str {
    const TITLE: &str = "\n## Value";
    let below = text.starts_with("# Variable:").then(|| text.find(TITLE)).flatten();
    let value = below.map_or(text, |start| text[start + TITLE.len()..].trim_start_matches(['\r', '\n']));
    value.strip_suffix('\n').unwrap_or(value)
}

/// What `**Type:** let (mutable)` says.
fn kind(text: &str) -> BindingKind {
    let named = text.lines().take(10).find_map(|line| line.strip_prefix("**Type:**"));
    let word = named.and_then(|named| named.split_whitespace().next());
    let kinds = [BindingKind::Input, BindingKind::Output, BindingKind::Const];
    kinds.into_iter().find(|kind| Some(kind.name()) == word).unwrap_or(BindingKind::Let)
}

/// The first and the last line of every statement at all depths.
fn statements(program: &Program) -> impl Iterator<Item = (u32, u32)> {
    program.statements_between(0, u32::MAX).map(|statement| (statement.line, statement.last_line))
}

/// What `state.md` says of the run; none if the run does not say how far it has come.
fn state(
    run: &str,
    from: &Path,
    program: &Program,
    values: &BTreeMap<String, String>,
) -> Result<Option<String>, StateError> {
    let Some(position) = position(from)? else { return Ok(None) };
    let index = position.statement_index;
    let parallel: Option<Parallel> =
        read_json(&from.join(format!("parallel/parallel_stmt_{index}/status.json")))?;
    let found: Option<Loop> = read_json(&from.join(format!("loops/loop_stmt_{index}.json")))?;
    let iteration = found.as_ref().map(Loop::iteration);
    let has_ended = iteration == Some(None);
    // The file does not state whether definitions are counted, but the number of all statements shows it.
    let counted: Vec<(u32, u32)> = match program.top_level() {
        all if all.len() == position.total_statements => all.to_vec(),
        _ => statements(program).filter(|(line, _)| program.headers_around(*line).next().is_none()).collect(),
    };
    let at = index.saturating_sub(1) + usize::from(has_ended);
    let end = program.line_count() + 1;
    let (first, last) = counted.get(at).copied().unwrap_or((end, end));

    let mut marks: BTreeMap<u32, String> = BTreeMap::new();
    for (line, _) in statements(program) {
        let mark = match bound_name(program.line(line)) {
            _ if line == first => "<-- EXECUTING".to_owned(),
            // That includes what is inside of the statement that is executed, but for what branches and earlier iterations gave.
            _ if line > first => "[...next...]".to_owned(),
            Some(name) if values.contains_key(name) => format!("--> bindings/{name}.md (complete)"),
            // A branch that was not taken has bound nothing.
            Some(_) if program.headers_around(line).next().is_some() => continue,
            _ => "(complete)".to_owned(),
        };
        marks.entry(program.comment_line(line)).or_insert(mark);
    }
    let fence = fence_for(program.text());
    // Writing to a string cannot fail.
    let mut text = format!(
        "# Execution State\n\nrun: {run}\nprogram: {PROGRAM_FILE}\nstarted: {}\nupdated: {}\n\n## Execution Trace\n\n{fence}prose\n",
        position.started_at, position.last_updated
    );
    for line in 1..=program.line_count() {
        text.push_str(program.line(line));
        if let Some(mark) = marks.get(&line) {
            let _ = write!(text, "  # {mark}");
        }
        text.push('\n');
    }
    let _ = write!(text, "{fence}\n\n## Active Constructs\n");
    if let Some(Parallel { branches }) = parallel {
        let _ = writeln!(text, "\n### Parallel (lines {first}-{last})\n");
        for Branch { name, status } in branches {
            let _ = writeln!(text, "- {name}: {status}");
        }
    }
    if let Some(Some(iteration)) = iteration {
        let _ = write!(
            text,
            "\n### Loop (lines {first}-{last})\n\n- status: executing\n- iteration: {iteration}\n"
        );
    }
    Ok(Some(text))
}
