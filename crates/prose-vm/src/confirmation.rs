//! Replies that confirm a result instead of giving it (R31, decision 21).

use crate::effect::SessionTask;
use crate::frame;

/// The lines of a confirmation.
const LINES: [&str; 6] =
    ["Binding written:", "Memory updated:", "Location:", "Execution ID:", "Segment:", "Summary:"];

/// A reply that mentions the file of the result and is no longer than that many bytes is a report about the file.
const MAX_REPORT: usize = 300;

/// Whether a reply, without the memory of its agent, says nothing but that the result is written.
pub(crate) fn is_confirmation(task: &SessionTask, reply: &str) -> bool {
    let result = reply.trim();
    if !task.writes_result {
        // No such line was requested here, so `done` is an answer like any other.
        return has_lines_of_confirmation(result);
    }
    says_only_that_it_is_done(result)
        || has_lines_of_confirmation(result)
        || result.len() <= MAX_REPORT && result.contains(&*task.binding.path)
}

/// Whether a reply has no words but those that say that the result is written, in any order: it is no result of anything.
fn says_only_that_it_is_done(reply: &str) -> bool {
    const DONE: &[&str] = &["done", "finished", "completed", "written", "wrote", "saved"];
    const AROUND: &[&str] = &[
        "i",
        "ve",
        "have",
        "has",
        "been",
        "is",
        "was",
        "it",
        "the",
        "all",
        "and",
        "to",
        "in",
        "task",
        "result",
        "results",
        "output",
        "file",
        "successfully",
        "as",
        "requested",
    ];
    if reply.len() > MAX_REPORT {
        return false;
    }
    let words: Vec<String> = reply
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_of = |list: &[&str], word: &String| list.contains(&word.as_str());
    words.is_empty()
        || words.iter().all(|word| is_of(DONE, word) || is_of(AROUND, word))
            && words.iter().any(|word| is_of(DONE, word))
}

/// A reply at the line where the memory of the agent begins.
pub(crate) fn split<'a>(task: &SessionTask, reply: &'a str) -> (&'a str, &'a str) {
    let line = task.memory.as_ref().map(|_| frame::memory_line(task.mark.as_deref()));
    let memory = line.and_then(|line| frame::split_at_line(reply, &line));
    memory.map_or((reply, ""), |(result, _)| reply.split_at(result.len()))
}

/// Whether a text has the form of R31: its lines, and a summary of any number of lines.
fn has_lines_of_confirmation(text: &str) -> bool {
    let mut lines = text.lines().map(plain).peekable();
    if !lines.peek().is_some_and(|line| LINES[..2].iter().any(|start| line.starts_with(start))) {
        return false;
    }
    let mut is_summary = false;
    lines.all(|line| {
        match LINES.iter().find(|start| line.starts_with(*start)) {
            Some(start) => is_summary = *start == "Summary:",
            None if line.is_empty() => is_summary = false,
            None => return is_summary,
        }
        true
    })
}

/// A line without its markup.
fn plain(line: &str) -> String {
    line.replace("**", "").replace('`', "").trim_start_matches(['-', '*', ' ']).trim_end().to_owned()
}

/// The task of a session that has only confirmed its result, to ask for the result itself.
pub(crate) fn asked_again(task: &SessionTask) -> SessionTask {
    let again = match task.writes_result {
        true => {
            "You were asked this before, and did not write the file. Write the result to it now, or, if you cannot write it, reply with the result itself."
        }
        false => "You were asked this before, and replied with a confirmation. Reply with the result itself.",
    };
    SessionTask { prompt: format!("{}\n\n{again}", task.prompt).into(), ..task.clone() }
}
