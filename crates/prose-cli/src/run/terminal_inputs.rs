//! Inputs asked of the person at the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use prose_vm::effect::{Failure, InputRequest};
use prose_vm::error::ErrorKind;
use prose_vm::harness::HarnessFuture;
use prose_vm::value::Value;

use super::progress::Bars;
use crate::terminal::one_line;

/// The person at the terminal.
pub(crate) struct TerminalInputs {
    bars: Bars,
}

/// Lets one question at a time be asked: branches may ask at once.
pub(crate) static ASKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

impl TerminalInputs {
    /// The person, if standard input comes from one.
    pub(crate) fn new(bars: Bars) -> Option<Self> {
        io::stdin().is_terminal().then(|| Self { bars })
    }

    /// Asks for an input. An empty line gives none where the input is optional, and asks again where it is not.
    pub(crate) fn give<'a>(&'a self, input: &'a InputRequest) -> HarnessFuture<'a, Value> {
        Box::pin(async move {
            let _turn = ASKING.lock().await;
            let name = input.name.as_deref().unwrap_or("input");
            let optional = if input.optional { " (empty for none)" } else { "" };
            let question = format!("{} — {}{optional}: ", one_line(name), one_line(&input.prompt));
            let bars = self.bars.clone();
            let optional = input.optional;
            let mut open = QuestionLine(true);
            let asked = tokio::task::spawn_blocking(move || bars.hidden(|| ask(&question, optional))).await;
            open.0 = false;
            match asked {
                Ok(Ok(Some(line))) => Ok(Value::text(line)),
                Ok(Ok(None)) if input.optional => Ok(Value::Null),
                _ => Err(Failure {
                    kind: ErrorKind::MissingInput,
                    message: format!("input `{name}` was not given: standard input was closed"),
                }),
            }
        })
    }
}

/// A line with a question that waits for its answer. It is ended when the answer is not awaited any more.
pub(crate) struct QuestionLine(pub(crate) bool);

impl Drop for QuestionLine {
    fn drop(&mut self) {
        if self.0 {
            // Who cannot be written to does not look at the line either.
            _ = writeln!(io::stderr());
        }
    }
}

pub(crate) fn ask(question: &str, optional: bool) -> io::Result<Option<String>> {
    loop {
        let mut stderr = io::stderr().lock();
        stderr.write_all(question.as_bytes())?;
        stderr.flush()?;
        drop(stderr);
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            // The line of the question was not ended.
            writeln!(io::stderr())?;
            return Ok(None);
        }
        let line = line.trim_end_matches(['\n', '\r']);
        if !line.trim().is_empty() {
            return Ok(Some(line.to_owned()));
        }
        if optional {
            return Ok(None);
        }
    }
}
