//! `check`, `format` and `explain`.

use std::fmt::Write;
use std::path::Path;

use prose_project::checker::{Checker, Context, diagnose};
use prose_project::imports::Imports;
use prose_project::position::{Position, Positions};
use prose_project::{Diagnosed, Rules, Settings};
use prose_syntax::fix::fix_all;
use prose_syntax::text::{counted, one_line};
use prose_syntax::{Code, Fix, FixSafety, Severity, TextRange};
use serde_json::{Value, json};

use super::program::Named;
use super::reply::Reply;
use crate::folder::Folder;

/// The maximum number of diagnostics in a reply. A client that has fixed the first ones asks again.
const MAX_SHOWN: usize = 50;

/// Checks a program, and fixes its text where that is wanted.
pub(super) fn check(folder: &Folder, named: Named, fixes: bool) -> Reply {
    let (path, text) = match named.read(folder) {
        Ok(read) => read,
        Err(reason) => return Reply::error(reason),
    };
    let mut settings = Settings::default();
    let rules = settings.of(&path);
    let failures = settings.take_failures();
    let context = Context::new(settings, Imports::new(folder.import_options()));
    let found = checked(&context, &path, &text, &rules);
    let shown = folder.shown(&path);
    let mut reply = String::new();
    let failures: Vec<String> = failures
        .iter()
        .chain(&context.imports.take_failures())
        .map(|failure| format!("`{}` {}", folder.shown(&failure.path), failure.reason))
        .collect();
    for failure in &failures {
        let _ = writeln!(reply, "warning: {failure}");
    }
    if !fixes {
        reply.push_str(&listing(&shown, &text, &found));
        let mut facts = facts(&shown, &text, &found);
        facts["warnings"] = failures.into();
        return Reply::text(reply).with_facts(facts);
    }
    let fixed = fix_all(&text, |text| checked(&context, &path, text, &rules), FixSafety::Safe);
    let _ = writeln!(reply, "{} applied", counted(fixed.applied.len(), "fix"));
    for (code, title) in &fixed.applied {
        let _ = writeln!(reply, "  {code}: {}", one_line(title));
    }
    reply.push_str(&listing(&shown, &fixed.text, &fixed.remaining));
    if fixed.text != text {
        let _ = write!(reply, "\nThe text with the fixes:\n\n{}", fixed.text);
    }
    let mut facts = facts(&shown, &fixed.text, &fixed.remaining);
    facts["text"] = fixed.text.into();
    facts["fixes"] = fixed.applied.iter().map(|(code, title)| format!("{code}: {title}")).collect();
    facts["warnings"] = failures.into();
    Reply::text(reply).with_facts(facts)
}

/// The diagnostics of a program, after its imports have been fetched.
fn checked(context: &Context, path: &Path, text: &str, rules: &Rules) -> Vec<Diagnosed> {
    if Checker::new(context).note_imports(path, text, rules) {
        context.imports.look_up();
    }
    diagnose(context, path, text, rules)
}

/// A line for each diagnostic, with its fix, and their number.
fn listing(path: &str, text: &str, found: &[Diagnosed]) -> String {
    let positions = Positions::new(text);
    let mut listing = String::new();
    for Diagnosed { diagnostic, severity } in found.iter().take(MAX_SHOWN) {
        let Position { line, column } = positions.position(diagnostic.range.start());
        let (severity, code) = (severity.as_str(), diagnostic.code);
        let message = one_line(&diagnostic.message);
        let _ = writeln!(listing, "{path}:{line}:{column}: {severity}[{code}]: {message}");
        for related in diagnostic.related.iter().filter(|related| related.path.is_none()) {
            let Position { line, column } = positions.position(related.range.start());
            let _ = writeln!(listing, "  {line}:{column}: {}", one_line(&related.message));
        }
        if let Some(fix) = &diagnostic.fix {
            let kind = if fix.safety == FixSafety::Safe { "fix" } else { "possible fix" };
            let _ = writeln!(listing, "  {kind}: {}", one_line(&fix.title));
        }
    }
    if found.len() > MAX_SHOWN {
        let _ = writeln!(listing, "and {} more", found.len() - MAX_SHOWN);
    }
    let count = |severity: Severity| found.iter().filter(|found| found.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let verdict = match (errors, warnings) {
        (0, 0) => "no errors and no warnings".to_owned(),
        (0, _) => format!("no errors, {}; the program can be run", counted(warnings, "warning")),
        _ => format!(
            "{}, {}; a program with errors is not run",
            counted(errors, "error"),
            counted(warnings, "warning")
        ),
    };
    let _ = writeln!(listing, "{verdict}");
    listing
}

/// The diagnostics as JSON. Lines and columns start at 1, and columns count characters.
fn facts(path: &str, text: &str, found: &[Diagnosed]) -> Value {
    let positions = Positions::new(text);
    let range = |range: TextRange| json!({ "start": positions.position(range.start()), "end": positions.position(range.end()) });
    let fix = |fix: &Fix| {
        let edits = fix.edits.iter().map(|edit| json!({ "range": range(edit.range), "text": edit.new_text }));
        json!({
            "title": fix.title,
            "safe": fix.safety == FixSafety::Safe,
            "edits": edits.collect::<Value>(),
        })
    };
    let diagnostics = found.iter().take(MAX_SHOWN).map(|Diagnosed { diagnostic, severity }| {
        json!({
            "code": diagnostic.code.as_str(),
            "severity": severity.as_str(),
            "message": diagnostic.message,
            "range": range(diagnostic.range),
            "fix": diagnostic.fix.as_ref().map(fix),
        })
    });
    let errors = found.iter().filter(|found| found.severity == Severity::Error).count();
    json!({
        "path": path,
        "errors": errors,
        "count": found.len(),
        "diagnostics": diagnostics.collect::<Value>(),
    })
}

/// Formats a program.
pub(super) fn format(folder: &Folder, named: Named) -> Reply {
    let (path, text) = match named.read(folder) {
        Ok(read) => read,
        Err(reason) => return Reply::error(reason),
    };
    if prose_markdown::is_markdown(&path) {
        return Reply::error("pass a `.prose` file, or one program of the document: `document.md#1`");
    }
    Reply::text(prose_format::format(&text))
}

/// Explains the code of a diagnostic.
pub(super) fn explain(code: &str) -> Reply {
    let Ok(code) = code.trim().parse::<Code>() else {
        return Reply::error(format!("`{}` is not the code of a diagnostic", one_line(code)));
    };
    let info = code.info();
    Reply::text(format!(
        "{}: {}\n\nSeverity: {}\n\n{}\n\nWrong:\n\n{}\n\nRight:\n\n{}\n",
        info.name,
        info.title,
        info.default,
        info.explanation,
        info.wrong.trim_end(),
        info.right.trim_end()
    ))
}
