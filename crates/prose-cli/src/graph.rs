//! `prose graph`: draws the flow of a program.

use std::io::{self, Write};
use std::path::Path;

use prose_graph::{Drawing, dot, flow_of, mermaid, svg};
use prose_project::load::{ReadProgram, read_file};
use prose_syntax::{LineIndex, Severity, parse};

use crate::cli::{GraphArgs, GraphFormat, STDIN};
use crate::command_error::CommandError;
use crate::status::Status;
use crate::terminal::{self, Terminal, WARNING, one_line};

/// Writes the drawing of a program.
pub(crate) fn run(args: &GraphArgs, terminal: &Terminal) -> io::Result<Status> {
    CommandError::status(draw(args, terminal), terminal)
}

fn draw(args: &GraphArgs, terminal: &Terminal) -> Result<(), CommandError> {
    let is_stdin = args.program.as_os_str() == "-";
    let named = if is_stdin { STDIN.into() } else { args.program.to_string_lossy() };
    let read = read_file(&args.program);
    let ReadProgram { path, text, first_line } = read
        .map_err(|reason| CommandError::Message(format!("`{}` {}", one_line(&named), one_line(&reason))))?;
    if parse(&text).diagnostics().iter().any(|found| found.severity() == Severity::Error) {
        writeln!(
            terminal.stderr(),
            "{WARNING}warning{WARNING:#}: `{}` has errors, so that statements may be missing in the drawing; `prose check` shows them",
            one_line(&named)
        )?;
    }
    let graph = flow_of(&path, &text);
    let lines = LineIndex::new(&text);
    let title =
        args.program.file_name().filter(|_| !is_stdin).map_or(named.clone(), |name| name.to_string_lossy());
    let drawing = Drawing {
        graph: &graph,
        title: &title,
        line: &|node| lines.line(node.range.start().into()) + 1 + first_line,
    };
    let drawn = match args.format.unwrap_or_else(|| format_of(args.output.as_deref())) {
        GraphFormat::Svg => svg(&drawing),
        GraphFormat::Mermaid => mermaid(&drawing),
        GraphFormat::Dot => dot(&drawing),
    };
    match args.output.as_ref().filter(|file| file.as_os_str() != "-") {
        Some(file) => std::fs::write(file, drawn).map_err(|error| {
            CommandError::Message(format!("cannot write `{}`: {error}", one_line(&file.to_string_lossy())))
        }),
        None => {
            let mut out = terminal::raw_stdout();
            out.write_all(drawn.as_bytes())?;
            out.flush().map_err(CommandError::Output)
        }
    }
}

/// The format that the ending of a file stands for.
fn format_of(file: Option<&Path>) -> GraphFormat {
    match file.and_then(Path::extension).and_then(|ending| ending.to_str()) {
        Some("mmd" | "mermaid") => GraphFormat::Mermaid,
        Some("dot" | "gv") => GraphFormat::Dot,
        _ => GraphFormat::Svg,
    }
}
