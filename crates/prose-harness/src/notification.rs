//! Starts the command that a project has for notifications (`run.notify`) with one of them on its standard input.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use crate::command::environment;
use crate::process::{Change, Endings, LINGER, Process, Program};

/// The most bytes of the standard error of a command that are kept.
const MAX_SAID: u64 = 2_000;

/// The command for notifications.
#[derive(Debug, Clone)]
pub struct NotifyCommand(Program);

impl NotifyCommand {
    /// The command with its arguments, started in a folder with the environment that agents receive: the default variables and additional ones, where a
    /// trailing `*` is a wildcard. `None` without a command.
    pub fn new<'a>(
        mut words: impl Iterator<Item = &'a str>,
        folder: &Path,
        variables: &[String],
    ) -> Option<Self> {
        let program = words.next()?.to_owned();
        Some(Self(Program {
            program,
            arguments: words.map(str::to_owned).collect(),
            folder: folder.to_owned(),
            variables: environment::passed(variables),
            files: Vec::new(),
        }))
    }

    /// Starts the command with a text on its standard input, and waits until it exits. After the time limit it is stopped with its descendants. An error
    /// says what went wrong.
    pub async fn deliver(&self, text: String, limit: Duration) -> Result<(), String> {
        let name = &self.0.program;
        let endings = Arc::<Endings>::default();
        let (mut process, mut input, output) = Process::start(self.0.clone(), None, &endings)
            .map_err(|error| format!("`{name}` cannot be started: {error}"))?;
        // Tasks of their own: a command that reads nothing or leaves its output open must not be waited for.
        tokio::spawn(async move {
            input.write(text.as_bytes()).await;
            input.close().await;
        });
        tokio::spawn(read_to_end(output.stdout));
        let said = tokio::spawn(read_to_end(output.stderr));
        match timeout(limit, process.change()).await {
            Ok(Change::Exited(status)) => {
                process.leave();
                if status.success() {
                    return Ok(());
                }
                let said = timeout(LINGER, said).await.ok().and_then(Result::ok).unwrap_or_default();
                let said = reason(&said);
                Err(format!("`{name}` failed with {status}{said}"))
            }
            Ok(Change::Started) => Ok(()),
            Ok(Change::NotStarted(error) | Change::Lost(error)) => Err(format!("`{name}` failed: {error}")),
            Err(_) => {
                drop(process);
                endings.settled().await;
                Err(format!("`{name}` was stopped, since it took longer than {} seconds", limit.as_secs()))
            }
        }
    }
}

/// The beginning of what a command writes. The rest is read, too, so that the command can end.
async fn read_to_end<R: AsyncRead + Unpin>(from: Option<R>) -> String {
    let Some(mut from) = from else { return String::new() };
    let mut said = Vec::new();
    let _ = (&mut from).take(MAX_SAID).read_to_end(&mut said).await;
    let _ = tokio::io::copy(&mut from, &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&said).into_owned()
}

/// `: ` and the first line of a text, if there is one.
fn reason(text: &str) -> String {
    let line = prose_syntax::text::first_line(text);
    if line.is_empty() { String::new() } else { format!(": {}", prose_syntax::text::shorten(line, 200)) }
}
