//! Imports: paths of programs, cycles, and sources of skills.

use std::path::{Component, Path, PathBuf};

use prose_reference::{Invalid, Reference};
use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Diagnostic, Fix, TextEdit};

use super::{Checker, Finding};
use crate::db::{Db, SourceFile};
use crate::imports::{Imported, cycle, import_sites, imported, note, reference};
use crate::location::{Note, Origin};
use crate::model::*;

const SKILL_SCHEMES: &[&str] = &["github", "npm"];

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (_, data) in body.stmts() {
        match data.stmt {
            Stmt::Use { path: Some(path), .. } => checker.program_path(path),
            Stmt::Import { source: Some(source), .. } => checker.skill_source(source),
            _ => {}
        }
    }
}

impl Checker<'_, '_> {
    fn program_path(&mut self, path: ExprId) {
        let body = self.body;
        let Some(text) = body.text(path) else { return };
        let range = body[path].range;
        if let Some(part) = text.interpolations.first() {
            // A name that nothing binds is reported as such.
            if self.resolution.of(part.root).is_found() {
                let message = "the path of a program cannot contain interpolations";
                self.report(Diagnostic::new(Code::E012, part.range, message));
            }
            return;
        }
        let Some(written) = body.string(path) else {
            let message = "the path of a program must be a one-line string: `use \"handle/slug\"`";
            self.report(Diagnostic::new(Code::E012, range, message));
            return;
        };
        match reference(self.db, self.file, written) {
            Err(Invalid::Empty) => {
                let message = "the path is empty; use `handle/slug`, or a file such as `./program.prose`";
                self.report(Diagnostic::new(Code::E011, range, message));
            }
            Err(why) => {
                let fix = probable_path(written).map(|meant| Fix::change(text.content, &meant));
                let message = format!("the path `{written}` {why}");
                self.report(Diagnostic::new(Code::E012, text.content, message).with_fix(fix));
            }
            Ok(reference) => self.program_at(text, written, &reference),
        }
    }

    fn program_at(&mut self, text: &Text, written: &str, reference: &Reference) {
        let note = note(self.db, self.file, written);
        match imported(self.db, self.file, written) {
            Imported::Missing if reference.is_local() => self.no_file(text, written, note.as_deref()),
            Imported::Program(program) => {
                self.note(text, note.as_deref());
                if let Some(way) = cycle(self.db, self.file, program) {
                    self.import_cycle(text, &way);
                }
            }
            Imported::Missing | Imported::Unknown => self.note(text, note.as_deref()),
        }
    }

    fn note(&mut self, text: &Text, note: Option<&Note>) {
        let Some(note) = note else { return };
        let fix = note.better.as_ref().map(|better| Fix::change(text.content, better));
        self.report(Diagnostic::new(note.code, text.content, note.message.clone()).with_fix(fix));
    }

    fn no_file(&mut self, text: &Text, written: &str, note: Option<&Note>) {
        if let Some(note) = note.filter(|note| note.code == Code::E143) {
            let message = format!("`{written}` {}", note.message);
            self.report(Diagnostic::new(note.code, text.content, message));
            return;
        }
        let message = format!("file `{written}` not found");
        let mut diagnostic = Diagnostic::new(Code::E139, text.content, message);
        if let Some(near) = note.and_then(|note| note.better.as_ref()) {
            let folder = written.rfind('/').map_or("", |slash| &written[..=slash]);
            let near = format!("{folder}{near}");
            diagnostic.add_to_message(format!("; did you mean `{near}`?"));
            diagnostic = diagnostic.with_fix(Fix::change(text.content, &near));
        } else if Path::new(written).extension().is_none() {
            let edit = TextEdit::insert(text.content.end(), ".prose");
            diagnostic = diagnostic.with_fix(Fix::suggestion("Add `.prose`", edit));
        }
        self.report(diagnostic);
    }

    /// Reports that an import leads over the programs of `way`, which ends with this one, back to where it stands.
    fn import_cycle(&mut self, text: &Text, way: &[SourceFile]) {
        let here = self.display(self.file);
        if let [_] = way {
            let message = format!("circular import: `{here}` imports itself");
            self.report(Finding::new(Code::E138, text.content, message));
            return;
        }
        let names: Vec<String> = [self.file].iter().chain(way).map(|file| self.display(*file)).collect();
        let message = format!("circular import: {}", names.join(" -> "));
        let finding = Finding::new(Code::E138, text.content, message);
        self.report(with_imports(self.db, finding, self.file, way));
    }

    fn display(&self, file: SourceFile) -> String {
        display(self.db, self.file, file)
    }

    fn skill_source(&mut self, source: ExprId) {
        let body = self.body;
        let Some(text) = body.text(source) else { return };
        let Some(written) = body.string(source) else { return };
        let is_known = written.starts_with("./")
            || written.split_once(':').is_some_and(|(scheme, _)| SKILL_SCHEMES.contains(&scheme));
        if is_known || !text.interpolations.is_empty() {
            return;
        }
        let message = match text.blank {
            true => "the source of the skill is empty; start it with `github:`, `npm:` or `./`".to_owned(),
            false => {
                format!("unknown skill source `{written}`; start it with `github:`, `npm:` or `./`")
            }
        };
        let range = if text.blank { body[source].range } else { text.content };
        let fix = probable_source(written).map(|meant| Fix::change(text.content, &meant));
        self.report(Diagnostic::new(Code::W006, range, message).with_fix(fix));
    }
}

/// The finding in a file with the imports that lead from one program of a way to the next.
pub(super) fn with_imports<'db>(
    db: &'db dyn Db,
    mut finding: Finding<'db>,
    file: SourceFile,
    way: &[SourceFile],
) -> Finding<'db> {
    for pair in way.windows(2) {
        let [from, to] = pair else { continue };
        let leads_on = import_sites(db, *from)
            .iter()
            .find(|import| imported(db, *from, import.path.clone()) == Imported::Program(*to));
        let site = leads_on.and_then(|import| import.site);
        finding = finding.with_site(site, format!("this imports `{}`", display(db, file, *to)));
    }
    finding
}

/// The path of a program as it is seen from the folder of another one, or what names it in the network.
pub(super) fn display(db: &dyn Db, from: SourceFile, program: SourceFile) -> String {
    if let Origin::Remote(origin) = program.origin(db) {
        return origin.reference.to_string();
    }
    let folder = from.path(db).parent().unwrap_or(Path::new(""));
    relative(folder, program.path(db)).display().to_string()
}

/// The path that was probably meant by one that is invalid.
fn probable_path(written: &str) -> Option<String> {
    let meant = match written.trim() {
        trimmed if trimmed != written && !trimmed.contains(char::is_whitespace) => trimmed.to_owned(),
        trimmed if !trimmed.contains(['/', ':']) && !trimmed.contains(char::is_whitespace) => {
            format!("./{trimmed}.prose")
        }
        trimmed => match trimmed.split_once(char::is_whitespace) {
            Some((handle, slug)) if !trimmed.contains('/') => format!("{handle}/{}", slug.trim()),
            _ => return None,
        },
    };
    Reference::parse(&meant).is_ok().then_some(meant)
}

/// The source of a skill that was probably meant by one that is not known.
fn probable_source(written: &str) -> Option<String> {
    for address in ["https://github.com/", "http://github.com/", "github.com/", "github/"] {
        if let Some(rest) = written.strip_prefix(address).filter(|rest| !rest.is_empty()) {
            return Some(format!("github:{rest}"));
        }
    }
    let (scheme, rest) = written.split_once(':')?;
    let near = nearest(scheme, SKILL_SCHEMES.iter().copied(), |scheme| scheme)?;
    Some(format!("{near}:{rest}"))
}

/// The path from a folder to a file. Both are known to the analysis, so none is relative to something else than the other.
fn relative(folder: &Path, path: &Path) -> PathBuf {
    let common = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_shown_from_the_folder_of_the_importer() {
        let path =
            |folder: &str, path: &str| relative(Path::new(folder), Path::new(path)).display().to_string();
        assert_eq!(path("/flows", "/flows/a.prose"), "a.prose");
        assert_eq!(path("/flows", "/flows/lib/a.prose"), "lib/a.prose");
        assert_eq!(path("/flows", "/a.prose"), "../a.prose");
        assert_eq!(path("", "a.prose"), "a.prose");
    }

    #[test]
    fn paths_that_were_meant_are_guessed() {
        assert_eq!(probable_path(" alice/research ").as_deref(), Some("alice/research"));
        assert_eq!(probable_path("alice research").as_deref(), Some("alice/research"));
        assert_eq!(probable_path("research").as_deref(), Some("./research.prose"));
        assert_eq!(probable_path("a/b/c"), None);
        assert_eq!(probable_source("https://github.com/a/b").as_deref(), Some("github:a/b"));
        assert_eq!(probable_source("githb:a/b").as_deref(), Some("github:a/b"));
        assert_eq!(probable_source("example.com/a"), None);
    }
}
