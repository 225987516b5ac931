//! `prose runs answer`: answers a question of a run that waits, and resumes the run.

use std::io::{self, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use prose_run::Project;
use prose_run::control::{Client, ControlError, START_TIME};
use prose_run::questions::{resolve, user};
use prose_state::StateError;
use prose_state::lock::RunLock;
use prose_state::runs::RunSummary;
use prose_vm::command::CommandError;
use prose_vm::questions::{AnswerSource, OpenQuestion};
use prose_vm::runner;
use prose_vm::value::Value;

use crate::cli::run::{ResumeArgs, RunnerArgs};
use crate::cli::runs::AnswerArgs;
use crate::cluster::server::mirror;
use crate::run::ended::{Ended, refuse};
use crate::run::project::present_project;
use crate::run::waiting::shown;
use crate::terminal::{ERROR, Terminal, one_line};

/// Records an answer, or passes it to the process of the run, and resumes a run without a process.
pub(crate) fn run(args: &AnswerArgs, on: Option<&str>, terminal: &Terminal) -> io::Result<Ended> {
    let mirror = match on.map(|on| mirror(on, None)).transpose() {
        Ok(mirror) => mirror,
        Err(error) => return refuse(terminal, &error.to_string()),
    };
    let project = match &mirror {
        Some(mirror) => mirror.project.clone(),
        None => Project { allows_outside: args.runner.allow_outside, ..present_project() },
    };
    let answered = match crate::runs::details(&project, Some(&args.run)) {
        Ok(details) => answer(&project, &details.summary, args, terminal),
        Err(message) => Err(message),
    };
    let run = match answered {
        Ok(Some(run)) if !args.no_resume && mirror.is_none() => run,
        Ok(_) => return Ok(Ended::Completed),
        Err(message) => {
            writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&message))?;
            return Ok(Ended::Refused);
        }
    };
    let resume = ResumeArgs {
        run: Some(run),
        program: args.program.clone(),
        accept_changes: false,
        transcript: None,
        on: None,
        inputs: Vec::new(),
        runner: RunnerArgs { has_answered: true, ..args.runner.clone() },
    };
    crate::run::resume(&resume, terminal)
}

/// How often a run that another process is about to execute, or to release, is looked at again.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long a run that stops may take to end its agents.
const STOP_TIME: Duration = Duration::from_secs(60);

/// Why a question is not answered yet.
enum Unanswered {
    /// It cannot be answered.
    Refused(String),
    /// Another process has just taken the run, or releases it: it is worth to try again for a moment.
    Busy(String),
}

/// Answers a question. Returns the run if it has to be resumed.
fn answer(
    project: &Project,
    run: &RunSummary,
    args: &AnswerArgs,
    terminal: &Terminal,
) -> Result<Option<String>, String> {
    let (question, value) = match args.answer.as_slice() {
        [question, value] => (Some(question.as_str()), value),
        [value] => (None, value),
        _ => return Err("pass the answer".to_owned()),
    };
    let mut deadline = Instant::now() + START_TIME;
    let mut run = run.clone();
    let mut wanted = Wanted { question, asked: None, is_sent: false };
    loop {
        // A process that ends with the answer may be gone before it confirms it.
        if wanted.is_sent && !run.status.is_executed() && wanted.find(&run, &run.waiting).is_err() {
            return Ok(None);
        }
        let answered = match run.status.is_executed() {
            true => answer_in_process(&run, &mut wanted, value).map(|()| None),
            false => answer_in_files(project, &run, &mut wanted, value).map(Some),
        };
        match answered {
            Ok(None) => return Ok(None),
            Ok(Some((asked, value, left))) => {
                let mut stderr = terminal.stderr();
                let written =
                    writeln!(stderr, "answered {}: {}", shown(&asked), one_line(&value.to_string()));
                let written = written.and_then(|()| {
                    left.iter()
                        .filter(|_| args.no_resume)
                        .try_for_each(|open| writeln!(stderr, "open: {}", shown(open)))
                });
                // The answer is recorded, whether that can be reported or not.
                let _ = written;
                return Ok(Some(run.id.to_string()));
            }
            Err(Unanswered::Busy(message)) => {
                sleep(INTERVAL);
                let before = run.status;
                run = project.show_run(&run.id).map_err(|error| error.to_string())?.summary;
                // Each process gets its time to start, and what it leaves is looked at.
                if run.status != before {
                    deadline = Instant::now() + START_TIME;
                } else if Instant::now() >= deadline {
                    return Err(message);
                }
            }
            Err(Unanswered::Refused(message)) => return Err(message),
        }
    }
}

/// Records an answer while no process executes the run. Returns the question, the value and the questions that are left.
fn answer_in_files(
    project: &Project,
    run: &RunSummary,
    wanted: &mut Wanted<'_>,
    value: &str,
) -> Result<(OpenQuestion, Value, Vec<OpenQuestion>), Unanswered> {
    let asked = wanted.find(run, &run.waiting).map_err(Unanswered::Refused)?.clone();
    wanted.asked = Some(asked.clone());
    let value = resolve(&asked, value).map_err(|error| Unanswered::Refused(error.to_string()))?;
    let by = user(AnswerSource::CommandLine);
    match project.record_answer(&run.id, asked.id, value.clone(), by, runner::now()) {
        Ok(left) => Ok((asked, value, left)),
        Err(error @ (StateError::Locked { .. } | StateError::NotOpen { .. })) => {
            Err(Unanswered::Busy(error.to_string()))
        }
        Err(error) => Err(Unanswered::Refused(error.to_string())),
    }
}

/// Passes an answer to the process that executes a run.
fn answer_in_process(run: &RunSummary, wanted: &mut Wanted<'_>, value: &str) -> Result<(), Unanswered> {
    let failed = |error: ControlError| {
        let message = format!("run {}: {error}", run.id);
        match error {
            ControlError::NoChannel(None)
            | ControlError::NotRunning
            | ControlError::Closed
            | ControlError::Rejected(CommandError::Ended) => Unanswered::Busy(message),
            _ => Unanswered::Refused(message),
        }
    };
    let mut client = Client::connect(&run.folder).map_err(failed)?;
    let open = unless_stopping(&mut client, Client::questions).map_err(failed)?;
    // A process that has just started comes to the questions of the run in a moment.
    let since = RunLock::taken_at(&run.folder).unwrap_or_default();
    let is_new = runner::now().saturating_sub(since) < START_TIME.as_millis() as u64;
    let missing = if is_new { Unanswered::Busy } else { Unanswered::Refused };
    let asked = wanted.find(run, &open).map_err(missing)?.clone();
    let (id, by) = (asked.id, user(AnswerSource::CommandLine));
    (wanted.asked, wanted.is_sent) = (Some(asked), true);
    let answered = unless_stopping(&mut client, |client| client.answer(Some(id), value, &by));
    wanted.is_sent = !matches!(answered, Err(ControlError::Rejected(_)));
    answered.map_err(failed)
}

/// Sends a request to a run. One that stops takes no answer, and is waited for: its files take it then.
fn unless_stopping<T>(
    client: &mut Client,
    send: impl FnOnce(&mut Client) -> Result<T, ControlError>,
) -> Result<T, ControlError> {
    let sent = send(client);
    if let Err(ControlError::Rejected(CommandError::Ended)) = sent {
        client.wait_for_end(STOP_TIME);
    }
    sent
}

/// The question that is answered.
struct Wanted<'a> {
    /// Its number, or the name of its input; `None` for the only one.
    question: Option<&'a str>,
    /// The question itself once it is known: another process may ask it with another number.
    asked: Option<OpenQuestion>,
    /// Whether a process was sent the answer.
    is_sent: bool,
}

impl Wanted<'_> {
    /// The question among those that are open.
    fn find<'a>(&self, run: &RunSummary, open: &'a [OpenQuestion]) -> Result<&'a OpenQuestion, String> {
        let Some(asked) = &self.asked else { return find(run, open, self.question) };
        open.iter().find(|open| open.is_same(asked)).ok_or_else(|| {
            format!("run {} does not ask {} any more; it was answered meanwhile", run.id, shown(asked))
        })
    }
}

/// The question that is meant: the one with a number or the name of its input, or the only one.
fn find<'a>(
    run: &RunSummary,
    open: &'a [OpenQuestion],
    question: Option<&str>,
) -> Result<&'a OpenQuestion, String> {
    match (question, open) {
        (_, []) => Err(format!("run {} ({}) does not wait for an answer", run.id, run.status.name())),
        (None, [only]) => Ok(only),
        (None, _) => {
            let list: Vec<String> = open.iter().map(shown).collect();
            Err(format!(
                "run {} waits for {} answers; name the question by its number: {}",
                run.id,
                open.len(),
                list.join("; ")
            ))
        }
        (Some(wanted), _) => {
            let is_wanted = |open: &&OpenQuestion| {
                let names = [open.input(), open.key.as_ref()];
                open.id.to_string() == wanted || names.into_iter().flatten().any(|name| name == wanted)
            };
            open.iter().find(is_wanted).ok_or_else(|| {
                format!(
                    "run {} has no open question `{wanted}`; `prose runs show` lists its questions",
                    run.id
                )
            })
        }
    }
}
