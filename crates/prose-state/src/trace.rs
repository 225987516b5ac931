//! The execution trace of `state.md`: the text of the program with what happened to its statements as comments (R100).

use std::collections::BTreeMap;
use std::fmt::Write;

use prose_syntax::text::one_line;
use prose_view::{Outcome, Statement, View};
use rustc_hash::FxHashMap;

use crate::binding_file::fence_for;
use crate::program::Program;

/// The column at which comments start where the line is short enough, as in the specification.
const COMMENT_COLUMN: usize = 45;

/// What happened to the statement that starts in a line. The same statement may be executed several times, also at the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Whether an execution of it runs now, other than one that waits for statements inside it.
    is_running: bool,
    /// The attempt and how many there may be, while it is tried again.
    retrying: Option<(u32, u32)>,
    /// How its last execution ended.
    ended: Option<End>,
    /// The file that it has written last.
    file: Option<String>,
}

/// How an execution of a statement ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Complete,
    Failed(String),
    Skipped,
}

/// What the view of a run says of the lines of a program.
pub(crate) fn marks(view: &View, program: u32, own_path: impl Fn(&str) -> String) -> BTreeMap<u32, Mark> {
    let mut lines: BTreeMap<u32, Vec<&Statement>> = BTreeMap::new();
    for statement in view.statements(program) {
        lines.entry(statement.site.line).or_default().push(statement);
    }
    let mark = |statements: Vec<&Statement>| {
        // What happened in earlier iterations of a loop is no longer so.
        let ended = statements.iter().filter(|statement| statement.ended_at > statement.iteration_at);
        let files = statements.iter().filter_map(|statement| {
            let (path, bound_at) = statement.file.as_ref()?;
            (*bound_at > statement.iteration_at).then_some((*bound_at, path))
        });
        Mark {
            is_running: statements.iter().any(|statement| statement.innermost > 0),
            retrying: statements.iter().find_map(|statement| statement.retrying),
            ended: ended.max_by_key(|statement| statement.ended_at).and_then(|statement| End::of(statement)),
            file: files.max_by_key(|(bound_at, _)| *bound_at).map(|(_, path)| own_path(path)),
        }
    };
    lines.into_iter().map(|(line, statements)| (line, mark(statements))).collect()
}

impl End {
    fn of(statement: &Statement) -> Option<Self> {
        Some(match statement.outcome.as_ref()? {
            Outcome::Done { .. } => End::Complete,
            Outcome::Failed { error, .. } => {
                let message = error.as_ref().map_or("no reason given", |error| error.message.as_str());
                End::Failed(message.to_owned())
            }
            Outcome::Stopped => End::Skipped,
        })
    }
}

/// Writes the code block, and returns the last line that it shows.
pub(crate) fn write(
    program: &mut Program,
    marks: &BTreeMap<u32, Mark>,
    position: u32,
    out: &mut String,
) -> u32 {
    let cut = program.cut_behind(position);
    let mut comments: FxHashMap<u32, String> = FxHashMap::default();
    for (&line, mark) in marks {
        if let Some(comment) = mark.comment() {
            add_comment(&mut comments, program.comment_line(line), comment);
        }
    }
    let mut inside = 0;
    let mut has_next = false;
    for statement in program.statements_between(position, cut) {
        if statement.line <= inside {
            continue;
        }
        if statement.has_body {
            inside = statement.last_line;
            let line = program.comment_line(statement.line);
            add_comment(&mut comments, line, "[not yet entered]".to_owned());
        } else if !has_next {
            has_next = true;
            let line = program.comment_line(statement.line);
            add_comment(&mut comments, line, "[...next...]".to_owned());
        }
    }
    let fence = fence_for(program.text());
    out.push_str(&fence);
    out.push_str("prose\n");
    let is_blank = |line: &u32| program.line(*line).trim().is_empty();
    let last = (1..=cut).rev().find(|line| !is_blank(line)).unwrap_or(0);
    for number in 1..=last {
        let line = program.line(number);
        match comments.get(&number) {
            None => out.push_str(line),
            Some(comment) => {
                let width = line.chars().count();
                let pad = COMMENT_COLUMN.saturating_sub(width).max(2);
                let _ = write!(out, "{line}{:pad$}# {comment}", "");
            }
        }
        out.push('\n');
    }
    out.push_str(&fence);
    out.push('\n');
    cut
}

/// Lines inside a string take no comment, so that several may be after its end.
fn add_comment(comments: &mut FxHashMap<u32, String>, line: u32, comment: String) {
    let all = comments.entry(line).or_default();
    if !all.is_empty() {
        all.push_str("; ");
    }
    all.push_str(&comment);
}

impl Mark {
    fn comment(&self) -> Option<String> {
        if self.is_running {
            return Some(match self.retrying {
                Some((attempt, retries)) => format!("<-- RETRYING (attempt {attempt}/{retries})"),
                None => "<-- EXECUTING".to_owned(),
            });
        }
        let file = self.file.as_ref().map(|file| format!("--> {file}"));
        match &self.ended {
            None => file,
            Some(End::Complete) => Some(file.map_or("(complete)".to_owned(), |file| file + " (complete)")),
            Some(End::Skipped) => Some("(skipped)".to_owned()),
            Some(End::Failed(message)) => {
                let message = one_line(message);
                Some(match message.chars().nth(80) {
                    None => format!("(failed: {message})"),
                    Some(_) => format!("(failed: {}...)", message.chars().take(77).collect::<String>()),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use prose_syntax::Severity;

    use super::*;

    /// Executes all statements of a program in the order of the text, and has the trace read back by the parser at each step.
    #[track_caller]
    fn check(text: &str, path: &Path) -> usize {
        let is_sound = |text: &str| {
            let parse = prose_syntax::parse(text);
            let mut errors = parse.diagnostics().iter().filter(|found| found.severity() == Severity::Error);
            errors.next().map(|error| format!("{}: {}", error.code, error.message))
        };
        if let Some(error) = is_sound(text) {
            assert!(path.is_absolute(), "{error}");
            return 0;
        }
        let mut program = Program::new(text);
        let mut marks = BTreeMap::<u32, Mark>::new();
        let mut position = 0;
        let statements: Vec<_> =
            program.statements_between(0, u32::MAX).map(|statement| statement.line).collect();
        for (index, &line) in statements.iter().enumerate() {
            position = position.max(line);
            let mark = marks.entry(line).or_default();
            mark.is_running = true;
            match index % 4 {
                0 => mark.file = Some(format!("bindings/x_{index}.md")),
                1 => mark.retrying = Some((2, 3)),
                _ => {}
            }
            check_block(&mut program, (&marks, position), text, path, &is_sound);
            let end = match index % 3 {
                0 => End::Complete,
                1 => End::Failed("it said \"\"\"no\"\"\" **twice**\nand #more".to_owned()),
                _ => End::Skipped,
            };
            let mark = marks.entry(line).or_default();
            (mark.is_running, mark.retrying, mark.ended) = (false, None, Some(end));
        }
        check_block(&mut program, (&marks, position), text, path, &is_sound);
        statements.len()
    }

    #[track_caller]
    fn check_block(
        program: &mut Program,
        (marks, position): (&BTreeMap<u32, Mark>, u32),
        text: &str,
        path: &Path,
        errors: &impl Fn(&str) -> Option<String>,
    ) {
        let mut out = String::new();
        let shown = write(program, marks, position, &mut out);
        let mut lines: Vec<&str> = out.lines().collect();
        let fence = lines.pop().unwrap();
        assert_eq!(lines.remove(0), format!("{fence}prose"));
        assert!(lines.iter().all(|line| *line != fence), "{}", path.display());
        let block = lines.join("\n") + "\n";
        if let Some(error) = errors(&block) {
            panic!("{}, up to line {shown}: {error}\n{block}", path.display());
        }
        // Nothing of the program is missing or changed but for the comments.
        for (line, shown) in text.trim_start_matches('\u{feff}').lines().zip(lines) {
            assert!(shown.starts_with(line), "{}: {line:?} is shown as {shown:?}", path.display());
        }
    }

    /// The programs below a folder.
    fn programs(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                found.extend(programs(&path));
            } else if path.extension().is_some_and(|extension| extension == "prose") {
                found.push(path);
            }
        }
        found
    }

    #[track_caller]
    fn check_programs(folder: &Path, least: usize) {
        let statements: usize = programs(folder)
            .iter()
            .filter_map(|path| Some(check(&fs::read_to_string(path).ok()?, path)))
            .sum();
        assert!(statements >= least, "{statements} statements in {}", folder.display());
    }

    #[test]
    fn r100_the_trace_of_the_examples_is_a_program() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        check_programs(&root.join("examples"), 50);
        check_programs(&root.join("crates/prose-syntax/tests/programs"), 100);
    }

    #[test]
    #[ignore = "needs the official programs"]
    fn r100_the_trace_of_official_programs_is_a_program() {
        let folder = std::env::var_os("PROSE_OFFICIAL_PROGRAMS")
            .expect("PROSE_OFFICIAL_PROGRAMS names the folder of the official programs");
        check_programs(Path::new(&folder), 1000);
    }

    #[test]
    fn r100_strings_of_all_kinds_take_no_comment_inside() {
        let text = "\u{feff}let a = session \"\"\"\n```\n# no comment\n```\n\"\"\"\nif ***\n  two\n  lines\n***:\n  \
                    session \"X\"\nlet l = [\n  \"a\",\n  \"b\"\n]\r\nlet o = { a: 1,\n  b: 2 }\nsession \"Y\" # mine\n\n\n";
        assert_eq!(check(text, Path::new("strings.prose")), 6);
        assert_eq!(check("", Path::new("empty.prose")), 0);
    }
}
