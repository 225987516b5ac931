//! The programs of a run as an editor knows them: files, programs in Markdown documents, and recorded texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::{AnalysisHost, Text};
use prose_markdown::program_at_path;
use prose_project::parts::part;
use prose_vm::program::{Location, LocationKind, Program};
use smol_str::SmolStr;

/// A program of a run.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Its name, such as `review.prose`.
    pub(crate) name: SmolStr,
    /// What the run names it by: a path or an address.
    pub(crate) from: String,
    /// The text that the run executes, if it is known.
    pub(crate) text: Option<Arc<str>>,
    /// Its file, or the document that it is in.
    pub(crate) path: Option<PathBuf>,
    /// The number of lines before it in the document.
    pub(crate) offset: u32,
    /// Whether the file has another text now.
    pub(crate) is_changed: bool,
}

/// The programs of a run. Their numbers start at 1.
#[derive(Debug, Default)]
pub(crate) struct Sources(Vec<Source>);

impl Sources {
    /// Adds a program, or its text. Returns whether anything is new.
    pub(crate) fn add(&mut self, name: &str, from: &str, text: Option<&Arc<str>>, root: &Path) -> bool {
        let known = self.0.iter_mut().find(|known| known.from == from);
        match known {
            Some(known) if known.text.is_some() || text.is_none() => return false,
            Some(known) => *known = Source::new(name, from, text, root),
            None => self.0.push(Source::new(name, from, text, root)),
        }
        true
    }

    /// Adds a program with all that it imports.
    pub(crate) fn add_program(&mut self, program: &Program, root: &Path) {
        self.add(&program.name, &program.from, Some(&program.text), root);
        for import in &program.imports {
            if let Some(imported) = &import.program {
                self.add_program(imported, root);
            }
        }
    }

    /// The program that the run names so, with its number.
    pub(crate) fn find(&self, from: &str) -> Option<(usize, &Source)> {
        let nth = self.0.iter().position(|source| source.from == from)?;
        Some((nth + 1, &self.0[nth]))
    }

    /// The program with a number.
    pub(crate) fn get(&self, number: usize) -> Option<&Source> {
        self.0.get(number.checked_sub(1)?)
    }

    /// All programs, with their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, &Source)> {
        (1..).zip(&self.0)
    }

    /// The programs in a file, in the order of its lines.
    pub(crate) fn in_file(&self, path: &Path) -> Vec<(usize, &Source)> {
        let path = identity(path);
        let mut found: Vec<_> =
            self.all().filter(|(_, source)| source.path.as_ref() == Some(&path)).collect();
        found.sort_by_key(|(_, source)| source.offset);
        found
    }
}

impl Source {
    fn new(name: &str, from: &str, text: Option<&Arc<str>>, root: &Path) -> Self {
        let mut source = Self {
            name: name.into(),
            from: from.to_owned(),
            text: text.cloned(),
            path: None,
            offset: 0,
            is_changed: false,
        };
        if from.is_empty() || from.contains("://") {
            return source;
        }
        let path = if Path::new(from).is_absolute() { PathBuf::from(from) } else { root.join(from) };
        let (document, number) = match program_at_path(&path).filter(|_| !path.exists()) {
            Some((document, number)) => (document, Some(number)),
            None => (path, None),
        };
        let Ok(file) = std::fs::read_to_string(&document) else {
            source.is_changed = true;
            return source;
        };
        match part(&document, &file, number) {
            Ok(found) => {
                source.is_changed = text.is_some_and(|text| **text != *found.text());
                source.text.get_or_insert_with(|| found.text().into());
                if let prose_project::parts::Part::Fenced(_, fence) = &found {
                    let start = usize::from(fence.in_document(0.into()));
                    source.offset = file.get(..start).map_or(0, |before| before.matches('\n').count() as u32);
                }
            }
            Err(_) => source.is_changed = true,
        }
        source.path = Some(identity(&document));
        source
    }

    /// The line in the file of a line of the program.
    pub(crate) fn line_in_file(&self, line: u32) -> u32 {
        if self.is_changed { line } else { line + self.offset }
    }

    /// The line of the program of a line in the file; `None` before its first line.
    pub(crate) fn line_in_program(&self, line: u32) -> Option<u32> {
        line.checked_sub(self.offset).filter(|line| *line > 0)
    }

    /// The program, without what it imports.
    fn program(&self) -> Option<Arc<Program>> {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/program.prose"), Text::new(&**self.text.as_ref()?));
        Some(Program::new(host.db(), file))
    }

    /// The place of a breakpoint at a line of the program.
    pub(crate) fn location_at(&self, line: u32) -> Option<Location> {
        self.program()?.location_at(line)
    }

    /// The lines at which breakpoints can be set, of a range of lines of the program.
    pub(crate) fn lines(&self, from: u32, to: u32) -> Vec<u32> {
        let locations = self.program().map(|program| program.locations()).unwrap_or_default();
        let mut lines: Vec<u32> = locations
            .iter()
            .filter(|location| !matches!(location.kind, LocationKind::Session { .. }))
            .map(|location| location.line)
            .filter(|line| (from..=to).contains(line))
            .collect();
        lines.dedup();
        lines
    }

    /// The names of its blocks and agents.
    pub(crate) fn functions(&self) -> Vec<String> {
        self.program().map(|program| program.functions().map(str::to_owned).collect()).unwrap_or_default()
    }
}

/// A path by which files are compared.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}
