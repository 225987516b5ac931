//! `prose runs answer`: answers a question of a run that waits, and resumes the run.

use std::io::{self, Write};

use prose_run::Project;
use prose_run::control::{Client, ControlError};
use prose_run::questions::{resolve, user};
use prose_state::runs::RunSummary;
use prose_vm::questions::{AnswerSource, OpenQuestion};
use prose_vm::runner;

use crate::cli::run::{AnswerArgs, ResumeArgs};
use crate::run::ended::Ended;
use crate::run::project::present_project;
use crate::run::waiting::shown;
use crate::terminal::{ERROR, Terminal, one_line};

/// Records an answer, or passes it to the process of the run, and resumes a run without a process.
pub(crate) fn run(args: &AnswerArgs, terminal: &Terminal) -> io::Result<Ended> {
    let project = Project { allows_outside: args.runner.allow_outside, ..present_project() };
    let answered = match crate::runs::details(&project, Some(&args.run)) {
        Ok(details) => answer(&project, &details.summary, args, terminal),
        Err(message) => Err(message),
    };
    let run = match answered {
        Ok(Some(run)) if !args.no_resume => run,
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
        inputs: Vec::new(),
        runner: args.runner.clone(),
    };
    crate::run::resume(&resume, terminal)
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
    if run.status.is_executed() {
        return answer_in_process(run, question, value).map(|()| None);
    }
    let asked = find(run, &run.waiting, question)?;
    let value = resolve(asked, value).map_err(|error| error.to_string())?;
    let left = project
        .record_answer(&run.id, asked.id, value.clone(), user(AnswerSource::CommandLine), runner::now())
        .map_err(|error| error.to_string())?;
    let mut stderr = terminal.stderr();
    let written = writeln!(stderr, "answered {}: {}", shown(asked), one_line(&value.to_string()));
    let written = written.and_then(|()| {
        left.iter().filter(|_| args.no_resume).try_for_each(|open| writeln!(stderr, "open: {}", shown(open)))
    });
    // The answer is recorded, whether that can be reported or not.
    let _ = written;
    Ok(Some(run.id.to_string()))
}

/// Passes an answer to the process that executes a run.
fn answer_in_process(run: &RunSummary, question: Option<&str>, value: &str) -> Result<(), String> {
    let words = |error: ControlError| format!("run {}: {error}", run.id);
    let mut client = Client::connect(&run.folder).map_err(words)?;
    let open = client.questions().map_err(words)?;
    let asked = find(run, &open, question)?;
    client.answer(Some(asked.id), value, &user(AnswerSource::CommandLine)).map_err(words)
}

/// The question that is answered: the one with a number or the name of its input, or the only one.
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
                open.id.to_string() == wanted || open.input().is_some_and(|name| name == wanted)
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
