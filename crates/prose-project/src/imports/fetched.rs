//! What a look-up gave, in the words of the analysis.

use std::path::Path;
use std::sync::Arc;

use prose_analysis::location::{Fetched, FetchedProgram, Note, Origin, Remote, RemoteOrigin};
use prose_reference::Reference;
use prose_registry::{Client, Found, Importer, LockMismatch, Outcome, Problem, Program, Provenance, Refusal};
use prose_syntax::Code;

/// Who asks, as the client of registries has to know to refuse what is not safe.
pub fn importer(asker: &Origin) -> Importer {
    match asker {
        Origin::Local => Importer::Workspace,
        Origin::Remote(origin) => Importer::Remote { url: origin.url.clone(), depth: origin.depth },
    }
}

/// What a look-up gave: the program with a file that shows it, and what there is to say about it.
pub fn fetched(remote: &Remote, asker: &Origin, outcome: &Outcome, client: &Client) -> Fetched {
    let program = outcome.program().map(|program| {
        let by = outcome.result.as_ref().ok().map(|found| found.by);
        FetchedProgram {
            path: client.show(program, by).unwrap_or_else(|| unwritten(program)),
            text: Arc::clone(&program.text),
            origin: Arc::new(origin(remote.reference.clone(), asker.depth() + 1, program, by)),
        }
    });
    Fetched { program, note: note(outcome).map(Arc::new) }
}

/// What there is to say about a program that is not known, and that is looked up only when a person asks for it.
pub fn not_fetched(remote: &Remote) -> Fetched {
    unknown(format!(
        "`{}` was not fetched yet, since `registry.fetch` is \"manual\"; the action \"Fetch\" and `prose fetch` do it",
        remote.reference
    ))
}

/// What there is to say about a program that is not known, and that must not be looked up; and why that is so.
pub fn not_requested(remote: &Remote, why: &str) -> Fetched {
    unknown(format!("`{}` is not known, and nothing is fetched here: {why}", remote.reference))
}

fn unknown(message: String) -> Fetched {
    Fetched { program: None, note: Some(Arc::new(Note { code: Code::W143, message, better: None })) }
}

/// What there is to say about one program more than are fetched for programs of the network.
pub fn too_many_programs(remote: &Remote, most: usize) -> Fetched {
    without_program(remote, Problem::Refused(Refusal::TooMany(most)))
}

/// What there is to say about a program whose text is not the one in the lock file.
pub(crate) fn refused(remote: &Remote, mismatch: Box<LockMismatch>) -> Fetched {
    without_program(remote, Problem::Locked(mismatch))
}

fn without_program(remote: &Remote, problem: Problem) -> Fetched {
    let note = note(&Outcome::new(remote.reference.to_string(), Err(problem)));
    Fetched { program: None, note: note.map(Arc::new) }
}

/// What is known without a request.
pub(crate) fn known(remote: &Remote, asker: &Origin, found: Found, client: &Client) -> Fetched {
    fetched(remote, asker, &Outcome::new(remote.reference.to_string(), Ok(found)), client)
}

/// Where a program of the network came from.
pub(crate) fn origin(
    reference: Reference,
    depth: usize,
    program: &Program,
    by: Option<Provenance>,
) -> RemoteOrigin {
    let source = &program.source;
    let vouched = match by {
        // The age would change with every look-up, and have everything analysed again.
        Some(Provenance::Vendored) => "vendored".to_owned(),
        _ => format!("fetched {}", source.fetched),
    };
    RemoteOrigin {
        reference,
        base: program.base(),
        url: source.final_url.clone(),
        depth,
        version: format!("{}, {vouched}, SHA-256 {:.12}", source.final_url, source.sha256.to_string()),
    }
}

/// The name of a program that could be written into no file. Nothing lies there; the analysis needs names that differ.
fn unwritten(program: &Program) -> std::path::PathBuf {
    let root = if cfg!(windows) { Path::new("C:\\") } else { Path::new("/") };
    root.join("prose-in-memory").join(format!("{}.prose", program.source.sha256))
}

fn note(outcome: &Outcome) -> Option<Note> {
    let (code, better) = match &outcome.result {
        Ok(_) => {
            let url = outcome.moved_to()?;
            // How old the text is would change with every look-up.
            let message = format!("`{}` has moved permanently to {url}", outcome.reference);
            return Some(Note { code: Code::W144, message, better: Some(url.as_str().into()) });
        }
        Err(Problem::NotFound { near, .. }) => (Code::E139, near.first().cloned()),
        Err(Problem::NotAProgram { .. }) => (Code::E143, None),
        Err(Problem::Unreachable { .. }) => (Code::W143, None),
        Err(Problem::Refused(Refusal::NotEncrypted(url))) => {
            let encrypted = url.as_str().replacen("http://", "https://", 1);
            (Code::E144, outcome.reference.starts_with("http://").then_some(encrypted))
        }
        Err(Problem::Refused(_)) => (Code::E144, None),
        Err(Problem::Locked(_)) => (Code::E146, None),
    };
    Some(Note { code, message: outcome.to_string(), better: better.map(Into::into) })
}
