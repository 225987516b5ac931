//! A program with all that it imports.

use std::collections::HashSet;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use prose_reference::{Invalid, Reference};

use crate::client::{Client, Freshness, Importer};
use crate::outcome::{Found, Outcome, Problem, Refusal};
use crate::program::Program;

/// The maximum number of programs that one walk fetches.
pub const MAX_PROGRAMS: usize = 500;

/// A program on a walk, and the outcome of its look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visited {
    /// The program.
    pub reference: Reference,
    /// Who imports it first: the canonical spelling of a reference; `None` for the roots.
    pub imported_by: Option<String>,
    /// The outcome of its look-up.
    pub outcome: Outcome,
    /// The paths that it imports and that name no program, and why.
    pub invalid: Vec<(String, Invalid)>,
}

impl Visited {
    /// The program under the reference by which it is imported, as it is copied. The error is the outcome in words.
    pub fn into_copy(self) -> Result<Program, String> {
        match self.outcome.result {
            Ok(Found { mut program, .. }) => {
                program.source.reference = self.reference.to_string();
                Ok(program)
            }
            Err(_) => Err(self.outcome.to_string()),
        }
    }
}

impl Client {
    /// Looks up programs and all that they import, each once, and returns them in the order of their references.
    ///
    /// `imports` returns the paths that a text imports, since this crate does not parse the language. At most [`MAX_PROGRAMS`] are
    /// looked up; the others are reported as refused.
    pub async fn walk(
        &self,
        roots: impl IntoIterator<Item = Reference>,
        freshness: Freshness,
        imports: impl Fn(&str) -> Vec<String>,
    ) -> Vec<Visited> {
        let mut seen = HashSet::new();
        let mut under_way = FuturesUnordered::new();
        let mut visited: Vec<Visited> = Vec::new();
        for root in roots {
            if seen.insert(root.clone()) {
                under_way.push(self.visit(root, Importer::Workspace, None, freshness));
            }
        }
        while let Some((mut found, importer)) = under_way.next().await {
            if let Some(program) = found.outcome.program() {
                let base = program.base();
                for path in imports(&program.text) {
                    let reference = match Reference::parse_in(&path, &base) {
                        Ok(reference) => reference,
                        Err(error) => {
                            found.invalid.push((path, error));
                            continue;
                        }
                    };
                    if !seen.insert(reference.clone()) {
                        continue;
                    }
                    let imported_by = Some(found.reference.to_string());
                    if seen.len() > MAX_PROGRAMS {
                        let problem = Problem::Refused(Refusal::TooMany(MAX_PROGRAMS));
                        let outcome = Outcome::new(reference.to_string(), Err(problem));
                        visited.push(Visited { reference, imported_by, outcome, invalid: Vec::new() });
                        continue;
                    }
                    under_way.push(self.visit(reference, importer.of(program), imported_by, freshness));
                }
            }
            visited.push(found);
        }
        visited.sort_by(|a, b| a.reference.cmp(&b.reference));
        visited
    }

    async fn visit(
        &self,
        reference: Reference,
        importer: Importer,
        imported_by: Option<String>,
        freshness: Freshness,
    ) -> (Visited, Importer) {
        let outcome = self.get(&reference, &importer, freshness).await;
        (Visited { reference, imported_by, outcome, invalid: Vec::new() }, importer)
    }
}
