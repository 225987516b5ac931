//! The values that a shell offers for arguments: runs, sessions, names of a program, harnesses, codes.
//!
//! They are read while somebody types, maybe in a project that nobody trusts. So nothing is written, started, fetched or connected to, and what cannot be read
//! has no candidates.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use prose_analysis::{AnalysisHost, Text};
use prose_harness::registry::HARNESSES;
use prose_markdown::is_markdown;
use prose_project::files::read_import;
use prose_project::parts::{document_of, part};
use prose_state::folder::PROGRAM_FILE;
use prose_state::names::NamedRun;
use prose_state::reader::JournalReader;
use prose_syntax::{Code, Level};
use prose_view::{RequestStatus, Requests, View};
use prose_vm::event::Event;
use prose_vm::program::Program;

use crate::run::project::present_project;
use crate::terminal::{first_line, one_line};

/// How many runs are offered: of more, the beginning of an id is typed.
const MAX_RUNS: usize = 200;

/// The longest journal that is read for its sessions. A longer one would let the person wait.
const MAX_JOURNAL: u64 = 8 << 20;

/// Programs and Markdown documents.
pub(crate) fn programs() -> ArgValueCompleter {
    ArgValueCompleter::new(program_paths())
}

fn program_paths() -> PathCompleter {
    PathCompleter::any().filter(|path| is_markdown(path) || has_extension(path, "prose"))
}

/// Programs, Markdown documents, settings and folders.
pub(crate) fn sources() -> ArgValueCompleter {
    ArgValueCompleter::new(PathCompleter::any().filter(|path| {
        let is_settings = path.file_name() == Some(OsStr::new(prose_config::FILE_NAME));
        path.is_dir() || is_markdown(path) || has_extension(path, "prose") || is_settings
    }))
}

/// Programs, test files and folders.
pub(crate) fn tests() -> ArgValueCompleter {
    ArgValueCompleter::new(PathCompleter::any().filter(|path| {
        let is_test = path.to_string_lossy().ends_with(".test.toml");
        path.is_dir() || is_test || has_extension(path, "prose")
    }))
}

/// Runs of the project of the current folder.
pub(crate) fn runs() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| runs_with(typed))
}

/// The same, and files of exported runs.
pub(crate) fn runs_and_files() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut found = runs_with(typed);
        found.extend(PathCompleter::file().complete(typed));
        found
    })
}

/// The sessions at work of the run that the command line names.
pub(crate) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let requests = named_run().and_then(|run| requests(&run)).unwrap_or_default();
        let at_work = requests
            .all()
            .iter()
            .filter(|request| request.kind == "session" && request.status == RequestStatus::Running);
        let mut found = Vec::new();
        let mut agents = Vec::new();
        for request in at_work {
            found.push((request.request.0.to_string(), first_line(&request.label)));
            agents.extend(request.agent.as_deref());
        }
        agents.sort_unstable();
        agents.dedup();
        found.extend(agents.into_iter().map(|agent| (agent.to_owned(), format!("agent {agent}"))));
        starting(typed, found)
    })
}

/// `topic=` for each input of the program that the command line names.
pub(crate) fn inputs() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some(program) = named_program() else { return Vec::new() };
        let described = program.described_inputs();
        let names = program.inputs().into_iter().map(|name| {
            let description = described.iter().find(|(known, ..)| *known == name);
            let description = description.and_then(|(_, description, _)| *description).unwrap_or("input");
            (format!("{name}="), first_line(description))
        });
        starting(typed, names)
    })
}

/// The named outputs of the program.
pub(crate) fn outputs() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some(program) = named_program() else { return Vec::new() };
        starting(typed, program.outputs().iter().map(|name| (name.to_string(), "output".to_owned())))
    })
}

/// The lines of the program that can run alone.
pub(crate) fn parts() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| starting(typed, lines_of_parts()))
}

/// Where a run can be forked, as far as the command line names places: `failure` and lines.
pub(crate) fn fork_points() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let failure = ("failure".to_owned(), "the statement that failed".to_owned());
        starting(typed, std::iter::once(failure).chain(lines_of_parts()))
    })
}

/// `topic=` for each variable that has a value in the run that the command line names.
pub(crate) fn variables() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let Some(view) = named_run().and_then(|run| view(&run)) else { return Vec::new() };
        let names = view.program(0).map(|program| program.names.as_slice()).unwrap_or_default();
        let names =
            names.iter().map(|bound| (format!("{}=", bound.binding.name), first_line(&bound.binding.source)));
        starting(typed, names)
    })
}

/// What answers the questions of the run that the command line names: the answers that its only question offers, or the numbers of its questions.
pub(crate) fn answers() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let view = named_run().and_then(|run| view(&run));
        match view.as_ref().and_then(View::end).map(|end| end.waiting.as_slice()) {
            Some([only]) => {
                let choices = only.choices.iter();
                starting(typed, choices.map(|choice| (choice.value.to_string(), choice.title.to_string())))
            }
            Some(several) => {
                let questions = several.iter();
                starting(typed, questions.map(|open| (open.id.to_string(), first_line(&open.summary()))))
            }
            None => Vec::new(),
        }
    })
}

fn lines_of_parts() -> Vec<(String, String)> {
    let Some(program) = named_program() else { return Vec::new() };
    let lines = program.lines_of_parts().into_iter();
    lines
        .filter_map(|line| {
            Some((line.to_string(), first_line(&program.header_of_part(&program.part_at(line)?)?)))
        })
        .collect()
}

/// The backends of sessions.
pub(crate) fn harnesses() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        starting(typed, HARNESSES.iter().map(|info| (info.name.to_owned(), info.description.to_owned())))
    })
}

/// The codes of diagnostics.
pub(crate) fn codes() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| starting(typed, named_codes("")))
}

/// `W101=off` and `W*=off`.
pub(crate) fn levels() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| match typed.to_str().and_then(|typed| typed.split_once('=')) {
        Some((code, _)) => {
            let levels = Level::ALL.iter().map(|level| (format!("{code}={}", level.as_str()), String::new()));
            starting(typed, levels)
        }
        None => {
            let all = [("E*=", "all errors"), ("W*=", "all warnings")];
            let all = all.map(|(pattern, what)| (pattern.to_owned(), what.to_owned()));
            starting(typed, all.into_iter().chain(named_codes("=")))
        }
    })
}

fn named_codes(end: &'static str) -> impl Iterator<Item = (String, String)> {
    Code::ALL.iter().map(move |code| (format!("{code}{end}"), code.info().title.to_owned()))
}

/// The kinds of rights of fetched programs.
pub(crate) fn rights() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let kinds = [
            "files:",
            "memory:project",
            "memory:user",
            "skills:",
            "execute:",
            "network:",
            "mcp:",
            "read:",
            "write:",
        ];
        starting(typed, kinds.map(|kind| (kind.to_owned(), String::new())))
    })
}

/// A value of a list of names with their descriptions.
pub(crate) fn of(names: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| starting(typed, names()))
}

/// Those of the values that start with what is typed.
fn starting(typed: &OsStr, values: impl IntoIterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting = values.into_iter().filter(|(value, _)| value.starts_with(&*typed));
    fitting.map(|(value, help)| candidate(&value, &help)).collect()
}

/// Texts of programs and names of files may contain anything, and a shell shows them as they are.
fn candidate(value: &str, help: &str) -> CompletionCandidate {
    let help = one_line(help).into_owned();
    CompletionCandidate::new(one_line(value).into_owned()).help((!help.is_empty()).then(|| help.into()))
}

/// The runs whose id starts with what is typed, otherwise those that contain it.
fn runs_with(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let mut runs = present_project().named_runs(MAX_RUNS);
    runs.retain(|run| run.id.contains(&*typed));
    if runs.iter().any(|run| run.id.starts_with(&*typed)) {
        runs.retain(|run| run.id.starts_with(&*typed));
    }
    runs.iter().map(|run| candidate(&run.id, run.program.as_deref().unwrap_or("run"))).collect()
}

/// The words of the command line that this process completes. Completers receive only the word at the cursor.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps the words of the command line, which name the program and the run that candidates are from.
pub(crate) fn keep_words(words: &[OsString]) {
    WORDS.get_or_init(|| words.to_owned());
}

fn words() -> impl Iterator<Item = &'static OsString> {
    WORDS.get().into_iter().flatten()
}

/// The run that a word names, otherwise the last one.
fn named_run() -> Option<NamedRun> {
    let runs = present_project().named_runs(MAX_RUNS);
    let named = words().skip(2).find_map(|word| {
        let word = word.to_str().filter(|word| !word.is_empty() && !word.starts_with('-'))?.to_owned();
        let mut found = runs.iter().filter(|run| run.id.contains(&word));
        found.next().filter(|_| found.next().is_none()).cloned()
    });
    named.or_else(|| runs.into_iter().next())
}

fn requests(run: &NamedRun) -> Option<Requests> {
    let mut requests = Requests::default();
    read_journal(run, |event| requests.apply(event))?;
    Some(requests)
}

fn view(run: &NamedRun) -> Option<View> {
    let mut view = View::default();
    read_journal(run, |event| view.apply(event))?;
    Some(view)
}

/// Reads the events of a run, unless there are too many.
fn read_journal(run: &NamedRun, mut read: impl FnMut(&Event)) -> Option<()> {
    let journal = run.journal_file()?;
    if journal.metadata().ok()?.len() > MAX_JOURNAL {
        return None;
    }
    JournalReader::open(&journal).ok()?.map_while(Result::ok).for_each(|event| read(&event));
    Some(())
}

/// The program that a word names; of commands about runs, that of the run.
fn named_program() -> Option<Arc<Program>> {
    let by_word = words().skip(1).find_map(|word| program(Path::new(word)));
    let is_about_runs = || matches!(words().nth(1)?.to_str()?, "runs" | "resume").then_some(());
    by_word.or_else(|| is_about_runs().and_then(|()| program(&named_run()?.folder.join(PROGRAM_FILE))))
}

/// The program at a path, without what it imports.
fn program(path: &Path) -> Option<Arc<Program>> {
    let (path, number) = match document_of(path) {
        Some((document, number)) => (document, Some(number)),
        None => (path.to_owned(), None),
    };
    if !path.is_file() || !is_markdown(&path) && !has_extension(&path, "prose") {
        return None;
    }
    let text = read_import(&path).ok()?;
    let part = part(&path, &text, number).ok()?;
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/program.prose"), Text::new(part.text()));
    Some(Program::new(host.db(), file))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension() == Some(OsStr::new(extension))
}
