//! Messages about the rights of fetched programs (decision 19).

use std::fmt;
use std::path::PathBuf;

use prose_analysis::rights::Requests;
use prose_rights::{Grants, Right, is_protected};
use prose_vm::program::Program;

/// The rights that programs request and that are not granted, with the lines of `prose.toml` that grant them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRights {
    /// The rights that can be granted, by program.
    missing: Vec<Missing>,
    /// The requested protected files, which cannot be granted, by program.
    never: Vec<(String, Vec<String>)>,
    /// The folder of the project if its settings would grant rights, but it is not trusted.
    untrusted: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Missing {
    program: String,
    rights: Vec<Right>,
    /// The rights that the settings already grant.
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
    /// The missing rights and the lines that grant them, without command-line options.
    pub fn for_editor(&self) -> String {
        self.text(false)
    }

    fn text(&self, has_options: bool) -> String {
        let mut blocks = Vec::new();
        for (program, rights) in &self.never {
            blocks.push(format!(
                "the fetched program `{program}` requests {}; fetched programs cannot pass on files that may contain secrets or control what \
                programs may do",
                listed(rights)
            ));
        }
        if !self.missing.is_empty() {
            let requested = self.missing.iter().map(|Missing { program, rights, .. }| {
                format!("the fetched program `{program}` requests {}, which is not granted", listed(rights))
            });
            let lines = self.missing.iter().map(|Missing { program, rights, granted }| {
                let rights: Vec<String> = granted.iter().chain(rights).map(quoted).collect();
                format!("[imports.{}]\nallow = [{}]", quoted(program), rights.join(", "))
            });
            let mut options: Vec<String> = Vec::new();
            for right in self.missing.iter().flat_map(|missing| &missing.rights) {
                // The text comes from the program, and a user may paste the option into a shell.
                let option = format!("--allow '{}'", right.to_string().replace('\'', r"'\''"));
                if !options.contains(&option) {
                    options.push(option);
                }
            }
            let options = match has_options {
                true => format!("\n\nor pass {} to grant it for one run", options.join(" ")),
                false => String::new(),
            };
            blocks.push(format!(
                "{}; to grant it, add to `prose.toml`:\n\n{}{options}",
                requested.collect::<Vec<_>>().join("; "),
                lines.collect::<Vec<_>>().join("\n\n"),
            ));
        }
        if let Some(folder) = &self.untrusted {
            blocks.push(format!(
                "`prose.toml` grants rights to fetched programs, but the project is not trusted; if you trust it, run \
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

/// The rights of the fetched programs of a run, one line each. All of them are granted.
pub(crate) fn describe(program: &Program, grants: &Grants) -> Vec<String> {
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
                false => Some(format!("stores memories in `.prose/agents/{}/`", identity.folder)),
            };
            let shared = (!shared.is_empty()).then(|| format!("may use {}", listed(&shared)));
            let parts: Vec<String> = shared.into_iter().chain(own).collect();
            format!("`{}` {}", identity.name, parts.join(" and "))
        })
        .collect()
}

fn listed(words: &[impl fmt::Display]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A TOML string literal.
fn quoted(text: impl fmt::Display) -> String {
    format!("{:?}", text.to_string())
}
