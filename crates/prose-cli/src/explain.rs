//! `prose explain`: the table of diagnostic codes, for users and programs.

#[cfg(test)]
mod document;

use std::io::{self, Write};

use prose_syntax::codes::{CodeInfo, Tag};
use prose_syntax::text::shorten;
use prose_syntax::{Code, Level};
use serde::Serialize;

use crate::cli::{ExplainArgs, ExplainFormat};
use crate::status::Status;
use crate::terminal::{self, BOLD, ERROR, HELP, Terminal, WARNING, one_line};

/// Texts are wrapped at the width of the terminal, up to a readable maximum.
const MAX_WIDTH: usize = 100;

/// A row of the table, as JSON.
#[derive(Serialize)]
struct Row {
    code: &'static str,
    title: &'static str,
    severity: &'static str,
    lenient_severity: &'static str,
    strict_severity: &'static str,
    tag: Option<&'static str>,
    explanation: &'static str,
    wrong: &'static str,
    right: &'static str,
}

/// Explains the code in the arguments, or lists all.
pub(crate) fn run(args: &ExplainArgs, terminal: &Terminal) -> io::Result<Status> {
    let code = match &args.code {
        None => None,
        Some(text) => match text.trim().parse::<Code>() {
            Ok(code) => Some(code),
            Err(unknown) => {
                write_unknown(&unknown.0, &mut terminal.stderr())?;
                return Ok(Status::Trouble);
            }
        },
    };
    let mut out = terminal.stdout();
    match (args.output_format, code) {
        (ExplainFormat::Text, Some(code)) => write_code(code.info(), &mut out)?,
        (ExplainFormat::Text, None) => write_list(&mut out)?,
        (ExplainFormat::Json, Some(code)) => write_json(&row(code), &mut out)?,
        (ExplainFormat::Json, None) => {
            write_json(&Code::ALL.iter().copied().map(row).collect::<Vec<_>>(), &mut out)?;
        }
    }
    out.flush()?;
    Ok(Status::Clean)
}

fn write_json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

fn row(code: Code) -> Row {
    let info = code.info();
    Row {
        code: info.name,
        title: info.title,
        severity: info.default.as_str(),
        lenient_severity: info.lenient.as_str(),
        strict_severity: info.strict.as_str(),
        tag: info.tag.map(Tag::as_str),
        explanation: info.explanation,
        wrong: info.wrong,
        right: info.right,
    }
}

fn write_code(info: &CodeInfo, out: &mut dyn Write) -> io::Result<()> {
    let width = terminal::width().unwrap_or(MAX_WIDTH).clamp(20, MAX_WIDTH);
    writeln!(out, "{BOLD}{}: {}{BOLD:#}\n", info.name, info.title)?;
    writeln!(out, "{}\n", textwrap::fill(&format!("Severity: {}", levels(info)), width))?;
    writeln!(out, "{}\n", textwrap::fill(info.explanation, width))?;
    write_example("Wrong", info.wrong, ERROR, out)?;
    writeln!(out)?;
    write_example("Right", info.right, HELP, out)
}

/// The levels in one phrase: the default profile first, others if they differ.
fn levels(info: &CodeInfo) -> String {
    let mut levels = info.default.to_string();
    if info.lenient != info.default {
        levels.push_str(&format!(", or {} where programs in use show it to be harmless", info.lenient));
    }
    if info.strict != info.default || info.lenient != info.default {
        levels.push_str(&format!("; {} in the strict profile", info.strict));
    }
    levels
}

/// A file of an example.
struct ExampleFile<'a> {
    /// Its path, if the example has several files or is not a program.
    path: Option<&'a str>,
    text: String,
}

/// The maximum number of displayed characters of a line.
const MAX_LINE: usize = 200;

/// The files of an example. A line `//- /path` starts each, unless it is a single program.
fn example_files(example: &str) -> Vec<ExampleFile<'_>> {
    let mut files: Vec<ExampleFile<'_>> = Vec::new();
    for line in example.trim_end().lines() {
        let header = line.strip_prefix("//- ").map(|path| path.trim().trim_start_matches('/'));
        if header.is_some() || files.is_empty() {
            files.push(ExampleFile { path: header, text: String::new() });
        }
        if let (None, Some(file)) = (header, files.last_mut()) {
            // The example of a text that is too long need not be shown completely.
            file.text.extend([&*shorten(line, MAX_LINE), "\n"]);
        }
    }
    files
}

fn write_example(heading: &str, example: &str, style: anstyle::Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{style}{heading}{style:#}")?;
    for ExampleFile { path, text } in example_files(example) {
        match path {
            Some(path) => writeln!(out, "\n  {path}:\n")?,
            None => writeln!(out)?,
        }
        for line in text.lines() {
            let indented = format!("    {line}");
            writeln!(out, "{}", indented.trim_end())?;
        }
    }
    Ok(())
}

fn write_list(out: &mut dyn Write) -> io::Result<()> {
    for code in Code::ALL {
        let info = code.info();
        let style = match info.default {
            Level::Error => ERROR,
            Level::Warning => WARNING,
            Level::Information | Level::Hint | Level::Off => HELP,
        };
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {style}{:<7}{style:#}  {}",
            info.name,
            info.default.as_str(),
            info.title
        )?;
    }
    Ok(())
}

fn write_unknown(text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{ERROR}error{ERROR:#}: `{}` is not a diagnostic code\n", one_line(text))?;
    for code in suggestions(text) {
        writeln!(out, "  {HELP}tip{HELP:#}: did you mean {BOLD}{}{BOLD:#}, {}?", code, code.info().title)?;
    }
    writeln!(out, "  {HELP}tip{HELP:#}: `prose explain` lists every code")
}

/// The suggested codes: those with the text in their title, otherwise the nearest name.
fn suggestions(text: &str) -> Vec<Code> {
    let text = text.trim().to_lowercase();
    let codes = Code::ALL.iter().copied();
    let by_title: Vec<Code> =
        codes.clone().filter(|code| text.len() >= 4 && code.info().title.contains(&text)).take(5).collect();
    if !by_title.is_empty() {
        return by_title;
    }
    codes
        .map(|code| (strsim::damerau_levenshtein(&text, &code.as_str().to_lowercase()), code))
        .min()
        .filter(|&(distance, _)| distance <= 2)
        .map(|(_, code)| vec![code])
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_suggests_the_nearest_code() {
        assert_eq!(suggestions("E01"), [Code::E001]);
        assert_eq!(suggestions("e0002"), [Code::E002]);
        assert_eq!(suggestions("unterminated"), [Code::E001]);
        assert_eq!(suggestions("something else"), []);
    }
}
