//! `prose fetch`: fetches imported programs into the cache.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use prose_project::imports::{ImportOptions, requested_rights};
use prose_registry::Reference;

use crate::cli::FetchArgs;
use crate::gather::{Gathered, Walked};
use crate::status::Status;
use crate::terminal::{Terminal, one_line};

/// Fetches the imports that the arguments name and reports the results.
pub(crate) fn run(args: &FetchArgs, terminal: &Terminal) -> io::Result<Status> {
    let (paths, references) = sorted(&args.what);
    let mut gathered =
        Gathered::new(&paths, references, ImportOptions { past_vendor: true, ..ImportOptions::default() });
    let walked = gathered.walk();
    let mut is_wrong = false;
    let mut is_empty = true;
    let mut stdout = terminal.stdout();
    for (_, visited) in walked.into_iter().flat_map(|Walked { programs, .. }| programs) {
        is_empty = false;
        is_wrong |= visited.outcome.result.is_err();
        let asked =
            visited.outcome.program().map(|program| requested_rights(&program.text)).unwrap_or_default();
        let asked: Vec<String> = asked.iter().map(|right| format!("`{right}`")).collect();
        let asked = match asked.is_empty() {
            true => String::new(),
            false => format!("; it requests {}", asked.join(", ")),
        };
        writeln!(stdout, "{}", one_line(&format!("{}{asked}", visited.outcome)))?;
    }
    stdout.flush()?;
    if gathered.report(terminal)? {
        return Ok(Status::Trouble);
    }
    if is_empty {
        writeln!(terminal.stderr(), "There are no imports to fetch.")?;
    }
    Ok(if is_wrong { Status::ErrorsFound } else { Status::Clean })
}

/// Splits the arguments into paths and references. An existing file or folder is a path.
fn sorted(what: &[String]) -> (Vec<PathBuf>, Vec<Reference>) {
    let (mut paths, mut references) = (Vec::new(), Vec::new());
    for what in what {
        match Reference::parse(what) {
            Ok(reference) if !reference.is_local() && !Path::new(what).exists() => references.push(reference),
            _ => paths.push(PathBuf::from(what)),
        }
    }
    (paths, references)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_on_this_machine_is_a_path() {
        let what = ["src/main.rs", "src/none", "./none", "https://example.com/a.prose"].map(str::to_owned);
        let (paths, references) = sorted(&what);
        assert_eq!(paths, [Path::new("src/main.rs"), Path::new("./none")]);
        let references: Vec<String> = references.iter().map(ToString::to_string).collect();
        assert_eq!(references, ["src/none", "https://example.com/a.prose"]);
    }
}
