//! The rights that are granted to programs.

use std::collections::BTreeMap;

use crate::identity::name;
use crate::{About, Identity, PermissionRule, Right, is_protected};

/// The rights of fetched programs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Grants {
    /// Rights that the user has granted to all programs of a run.
    all: Vec<Right>,
    /// Rights that settings grant to all programs.
    of_project: Vec<Right>,
    /// Rights that settings grant, by the name of the program.
    by_program: BTreeMap<String, Vec<Right>>,
}

impl Grants {
    /// Creates grants from settings, by the paths that programs are imported by.
    pub fn of_settings<'a>(granted: impl IntoIterator<Item = (&'a str, &'a [Right])>) -> Self {
        let mut grants = Self::default();
        for (path, rights) in granted {
            grants.by_program.entry(name(path)).or_default().extend_from_slice(rights);
        }
        grants
    }

    /// The same grants, with these rights for all programs in addition.
    pub fn with_all(mut self, rights: &[Right]) -> Self {
        self.all.extend_from_slice(rights);
        self
    }

    /// The same grants, with rights to what the settings let all agents of the project do.
    pub fn with_rules<'a>(mut self, rules: impl IntoIterator<Item = (&'a str, &'a PermissionRule)>) -> Self {
        let of_rule = |(about, rule)| Some(Right::of_rule(About::of(about)?, rule));
        self.of_project.extend(rules.into_iter().filter_map(of_rule).flatten());
        self
    }

    /// The same grants without those of settings.
    pub fn without_settings(mut self) -> Self {
        self.of_project.clear();
        self.by_program.clear();
        self
    }

    /// Whether settings grant any right.
    pub fn has_settings(&self) -> bool {
        !self.of_project.is_empty() || self.by_program.values().any(|rights| !rights.is_empty())
    }

    /// The rights of a program, by its name.
    pub fn of<'a>(&'a self, program: &str) -> impl Iterator<Item = &'a Right> {
        self.by_program.get(program).into_iter().flatten().chain(&self.of_project).chain(&self.all)
    }

    /// The rights that settings grant to a program.
    pub fn in_settings(&self, program: &str) -> &[Right] {
        self.by_program.get(program).map_or(&[], Vec::as_slice)
    }

    /// Whether a program has a right, or does not need it: its memories for the project and the user are in its own folder without one.
    pub fn permit(&self, program: &Identity, right: &Right) -> bool {
        let is_own = match right {
            Right::Memory(place) => matches!(place.as_str(), "project" | "user") || program.owns(place),
            Right::Files(path) => return !is_protected(path) && self.cover(&program.name, right),
            Right::Skills(_) | Right::Tools(..) => false,
        };
        is_own || self.cover(&program.name, right)
    }

    /// Whether the rights of a program cover a right.
    pub fn cover(&self, program: &str, right: &Right) -> bool {
        self.of(program).any(|granted| granted.covers(right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_belong_to_the_program_that_the_path_names() {
        let docs = [Right::files("docs/**")];
        let grants = Grants::of_settings([("@alice/research", &docs[..])]);
        let asked = Right::files("docs/a.md");
        assert!(grants.cover("alice/research", &asked));
        assert!(!grants.cover("bob/research", &asked));
        assert!(!grants.clone().without_settings().cover("alice/research", &asked));
        assert!(grants.without_settings().with_all(&docs).cover("bob/research", &asked));
    }
}
