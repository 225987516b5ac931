//! Paths of imported programs, and the programs that local ones lead to.

use std::path::{Component, Path, PathBuf};

use prose_reference::Invalid;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::db::{Content, Db, SourceFile};
use crate::index::{Site, Symbol};
use crate::statements::{sequence, summary};

/// The path of a `use` as decision 16 reads it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reference {
    /// `handle/slug`, `@handle/slug`
    Registry,
    /// `https://…`
    Url,
    /// `github.com/owner/repo/path.prose`
    GitHost,
    /// `./other.prose`
    Local(PathBuf),
    /// Nothing between the quotes
    Empty,
    /// None of these; why, as the rest of a sentence.
    Invalid(String),
}

impl Reference {
    /// Reads the path of a `use`.
    pub fn parse(path: &str) -> Self {
        match prose_reference::Reference::parse(path) {
            Ok(prose_reference::Reference::Registry(_)) => Reference::Registry,
            Ok(prose_reference::Reference::Url(_)) => Reference::Url,
            Ok(prose_reference::Reference::Git(_)) => Reference::GitHost,
            Ok(prose_reference::Reference::Local(path)) => Reference::Local(PathBuf::from(path)),
            Err(Invalid::Empty) => Reference::Empty,
            Err(why) => Reference::Invalid(why.to_string()),
        }
    }
}

/// What an imported path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, salsa::SalsaValue)]
pub enum Imported {
    /// A program that is known.
    Program(SourceFile),
    /// No file.
    Missing,
    /// Something that is not known, or not yet.
    Unknown,
}

/// The file that a local path means in a file.
pub fn local_path(importer: &Path, path: &Path) -> PathBuf {
    normalized(&importer.parent().unwrap_or(Path::new("")).join(path))
}

/// The path without `.` and `..`, as far as that can be told from the path alone.
pub fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(parts.components().next_back(), Some(Component::Normal(_))) => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts
}

/// What an imported path leads to from a file.
pub fn imported(db: &dyn Db, file: SourceFile, path: impl Into<SmolStr>) -> Imported {
    target(db, Symbol::new(db, file, path.into()))
}

#[salsa::tracked(returns(copy))]
fn target<'db>(db: &'db dyn Db, path: Symbol<'db>) -> Imported {
    match Reference::parse(path.text(db)) {
        Reference::Local(local) => {
            let wanted = local_path(path.file(db).path(db), &local);
            // A program that is in no file yet has no folder that paths could start from.
            if !wanted.has_root() {
                return Imported::Unknown;
            }
            match db.place(wanted).content(db) {
                Content::Program(program) => Imported::Program(program),
                Content::Missing => Imported::Missing,
                Content::Unknown => Imported::Unknown,
            }
        }
        _ => Imported::Unknown,
    }
}

/// The local programs that a file imports, as far as they are known.
#[salsa::tracked(returns(ref))]
pub fn imported_programs(db: &dyn Db, file: SourceFile) -> Vec<SourceFile> {
    import_paths(db, file)
        .into_iter()
        .filter_map(|path| match imported(db, file, path) {
            Imported::Program(program) => Some(program),
            Imported::Missing | Imported::Unknown => None,
        })
        .collect()
}

/// The paths that a file imports, as they are written.
pub fn import_paths(db: &dyn Db, file: SourceFile) -> Vec<SmolStr> {
    import_sites(db, file).iter().map(|import| import.path.clone()).collect()
}

/// A path that a file imports.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct ImportSite<'db> {
    /// The path as it is written.
    pub path: SmolStr,
    /// Where the name of the program is bound.
    pub site: Option<Site<'db>>,
}

/// The paths that a file imports. The places of the statements in the text are no part of it.
#[salsa::tracked(returns(ref))]
pub fn import_sites(db: &dyn Db, file: SourceFile) -> Vec<ImportSite<'_>> {
    let mut sites = Vec::new();
    for &statement in &sequence(db, file).list {
        for import in &summary(db, statement).imports {
            if let Some(path) = import.path.clone() {
                let site = import.name.map(|name| Site { statement, name });
                sites.push(ImportSite { path, site });
            }
        }
    }
    sites
}

/// The way from a file back to itself through an import of `program`, if there is one: the files in between, `program` first.
pub fn cycle(db: &dyn Db, file: SourceFile, program: SourceFile) -> Option<Vec<SourceFile>> {
    // Who imports each program on the way, as it was found.
    let mut importers: FxHashMap<SourceFile, SourceFile> = FxHashMap::default();
    let mut waiting = vec![program];
    while let Some(last) = waiting.pop() {
        if last == file {
            let mut way = vec![file];
            while let Some(importer) =
                way.last().filter(|last| **last != program).and_then(|last| importers.get(last))
            {
                way.push(*importer);
            }
            way.reverse();
            return Some(way);
        }
        for next in imported_programs(db, last) {
            if *next != program && !importers.contains_key(next) {
                importers.insert(*next, last);
                waiting.push(*next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_take_the_forms_of_decision_16() {
        let kind = |path: &str| match Reference::parse(path) {
            Reference::Registry => "registry".to_owned(),
            Reference::Url => "url".to_owned(),
            Reference::GitHost => "git".to_owned(),
            Reference::Local(path) => format!("local {}", path.display()),
            Reference::Empty => "empty".to_owned(),
            Reference::Invalid(why) => why,
        };
        assert_eq!(kind("alice/research"), "registry");
        assert_eq!(kind("@alice/research"), "registry");
        assert_eq!(kind("https://example.com/a.prose"), "url");
        assert_eq!(kind("github.com/owner/repo/a.prose@v1"), "git");
        assert_eq!(kind("./a.prose"), "local ./a.prose");
        assert_eq!(kind("flows/a.prose"), "local flows/a.prose");
        assert_eq!(kind(""), "empty");
        assert_eq!(kind("alice research"), "has a space in it");
        assert_eq!(kind("research"), "has no `/`: a program in a registry is `handle/slug`");
        assert_eq!(
            kind("alice/"),
            "is no `handle/slug`: each of the two is made of letters, digits, `-`, `_` and `.`"
        );
        assert_eq!(
            kind("github.com/owner"),
            "needs an owner, a repository and a file: `github.com/owner/repo/program.prose`"
        );
        assert_eq!(
            kind("ftp://example.com/a"),
            "starts with `ftp://`; only `https://` and `http://` are fetched"
        );
    }

    #[test]
    fn local_paths_start_from_the_folder_of_the_importer() {
        let path = |importer: &str, path: &str| {
            local_path(Path::new(importer), Path::new(path)).display().to_string()
        };
        assert_eq!(path("/flows/main.prose", "./a.prose"), "/flows/a.prose");
        assert_eq!(path("/flows/main.prose", "../lib/./a.prose"), "/lib/a.prose");
        assert_eq!(path("/flows/main.prose", "/a.prose"), "/a.prose");
        assert_eq!(path("main.prose", "../a.prose"), "../a.prose");
    }
}
