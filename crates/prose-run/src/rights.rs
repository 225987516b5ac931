//! The rights of programs that were fetched (decision 19), in words for a person.

use std::fmt;
use std::path::PathBuf;

use prose_analysis::rights::Requests;
use prose_rights::{Grants, Right, is_protected};
use prose_vm::program::Program;

/// What programs ask for and nobody has granted, with the lines of `prose.toml` that grant it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRights {
    /// What can be granted, by program.
    missing: Vec<Missing>,
    /// The protected files that programs ask for, which nobody can grant, by program.
    never: Vec<(String, Vec<String>)>,
    /// The folder of the project whose settings would grant something, if nobody has trusted it.
    untrusted: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Missing {
    program: String,
    rights: Vec<Right>,
    /// What the settings grant already.
    granted: Vec<Right>,
}

impl MissingRights {
    pub(crate) fn new(missing: Vec<Requests>, grants: &Grants, untrusted: Option<PathBuf>) -> Self {
        let mut sorted = Self { missing: Vec::new(), never: Vec::new(), untrusted };
        for Requests { identity, rights } in missing {
            let program = identity.name;
            let is_never = |right: &Right| matches!(right, Right::Files(path) if is_protected(path));
            let (never, rights): (Vec<_>, Vec<_>) = rights.into_iter().partition(is_never);
            if !never.is_empty() {
                sorted.never.push((program.clone(), never.iter().map(ToString::to_string).collect()));
            }
            if !rights.is_empty() {
                let granted = grants.in_settings(&program).to_vec();
                sorted.missing.push(Missing { program, rights, granted });
            }
        }
        sorted
    }
}

impl MissingRights {
    /// What is missing and the lines that grant it, without options of a command line.
    pub fn for_editor(&self) -> String {
        self.text(false)
    }

    fn text(&self, has_options: bool) -> String {
        let mut blocks = Vec::new();
        for (program, rights) in &self.never {
            blocks.push(format!(
                "`{program}` was fetched and asks for {}: no fetched program can pass on files that may hold secrets or decide what programs may do, \
                so it is not run",
                listed(rights)
            ));
        }
        if !self.missing.is_empty() {
            let asked = self.missing.iter().map(|Missing { program, rights, .. }| {
                format!("`{program}` was fetched and asks for {}, which nobody has granted", listed(rights))
            });
            let lines = self.missing.iter().map(|Missing { program, rights, granted }| {
                let rights: Vec<String> = granted.iter().chain(rights).map(quoted).collect();
                format!("[imports.{}]\nallow = [{}]", quoted(program), rights.join(", "))
            });
            let mut options: Vec<String> = Vec::new();
            for right in self.missing.iter().flat_map(|missing| &missing.rights) {
                // The program may have written anything, and a person may copy it into a shell.
                let option = format!("--allow '{}'", right.to_string().replace('\'', r"'\''"));
                if !options.contains(&option) {
                    options.push(option);
                }
            }
            let options = match has_options {
                true => format!("\n\nor allow it for one run with {}", options.join(" ")),
                false => String::new(),
            };
            blocks.push(format!(
                "{}. If it may, add to prose.toml:\n\n{}{options}",
                asked.collect::<Vec<_>>().join("; "),
                lines.collect::<Vec<_>>().join("\n\n"),
            ));
        }
        if let Some(folder) = &self.untrusted {
            blocks.push(format!(
                "`[imports]` of prose.toml grants fetched programs rights, and nobody has trusted the project with that. If you trust it, run \
                `prose trust` in {}",
                folder.display()
            ));
        }
        blocks.join("\n")
    }
}

impl fmt::Display for MissingRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(true))
    }
}

/// What programs of a run that were fetched ask for, one line for each. All of it has been granted.
pub(crate) fn told(program: &Program, grants: &Grants) -> Vec<String> {
    let requests = program.requests().into_iter();
    requests
        .map(|Requests { identity, rights }| {
            let is_shared = |right: &&Right| match right {
                Right::Memory(place) if matches!(place.as_str(), "project" | "user") => {
                    grants.cover(&identity.name, right)
                }
                _ => true,
            };
            let (shared, own): (Vec<&Right>, Vec<&Right>) = rights.iter().partition(is_shared);
            let shared: Vec<String> = shared.iter().map(ToString::to_string).collect();
            let own = match own.is_empty() {
                true => None,
                false => Some(format!("keeps memories in `.prose/agents/{}/`", identity.folder)),
            };
            let shared = (!shared.is_empty()).then(|| format!("may use {}", listed(&shared)));
            let told: Vec<String> = shared.into_iter().chain(own).collect();
            format!("`{}` {}", identity.name, told.join(" and "))
        })
        .collect()
}

fn listed(words: &[impl fmt::Display]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A text as TOML has it between quotes.
fn quoted(text: impl fmt::Display) -> String {
    format!("{:?}", text.to_string())
}
