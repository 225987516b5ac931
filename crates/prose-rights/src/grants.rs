//! The rights that are granted to programs.

use std::collections::BTreeMap;

use prose_reference::{GitProgram, Reference};

use crate::Right;

/// The rights of fetched programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants {
    /// Rights that the user has granted to all programs of a run.
    all: Vec<Right>,
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

    /// The same grants without those of settings.
    pub fn without_settings(mut self) -> Self {
        self.by_program.clear();
        self
    }

    /// Whether settings grant any right.
    pub fn has_settings(&self) -> bool {
        self.by_program.values().any(|rights| !rights.is_empty())
    }

    /// The rights of a program, by its name.
    pub fn of<'a>(&'a self, program: &str) -> impl Iterator<Item = &'a Right> {
        self.by_program.get(program).into_iter().flatten().chain(&self.all)
    }

    /// The rights that settings grant to a program.
    pub fn in_settings(&self, program: &str) -> &[Right] {
        self.by_program.get(program).map_or(&[], Vec::as_slice)
    }

    /// Whether the rights of a program cover a right.
    pub fn cover(&self, program: &str, right: &Right) -> bool {
        self.of(program).any(|granted| granted.covers(right))
    }
}

/// The name of the program that a path names: its canonical spelling, without the `@` that some write, and without a revision.
pub(crate) fn name(path: &str) -> String {
    match Reference::parse(path) {
        Ok(Reference::Registry(program)) => format!("{}/{}", program.handle, program.slug),
        Ok(Reference::Git(program)) => Reference::Git(GitProgram { revision: None, ..program }).to_string(),
        Ok(reference) => reference.to_string(),
        Err(_) => path.to_owned(),
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
