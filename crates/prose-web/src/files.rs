//! The files of a page: programs, and scripts for their runs.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use prose_analysis::{AnalysisHost, Database, SourceFile, Text};
use ropey::Rope;

use crate::places::Places;

/// The folder of all files. A page has no other.
const ROOT: &str = "/";

/// The files of a page.
#[derive(Default)]
pub(crate) struct Files {
    host: AnalysisHost,
    texts: BTreeMap<String, Arc<str>>,
}

/// A program of a page.
pub(crate) struct Opened<'a> {
    pub(crate) db: &'a Database,
    pub(crate) file: SourceFile,
    pub(crate) text: &'a str,
    pub(crate) places: Places,
}

impl Files {
    /// Adds or replaces a file.
    pub(crate) fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let path = path_of(name)?;
        self.texts.insert(name.to_owned(), text.into());
        if is_program(name) {
            self.host.set_text(&path, Text::new(text.to_owned()));
        }
        self.load_imports();
        Ok(())
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, name: &str) -> Result<(), String> {
        self.texts.remove(name).ok_or_else(|| unknown(name))?;
        self.host.remove(&path_of(name)?);
        self.load_imports();
        Ok(())
    }

    /// The text of a file.
    pub(crate) fn text(&self, name: &str) -> Result<&str, String> {
        self.texts.get(name).map(|text| &**text).ok_or_else(|| unknown(name))
    }

    /// A program.
    pub(crate) fn program(&self, name: &str) -> Result<Opened<'_>, String> {
        let text = self.text(name)?;
        let file = self
            .host
            .file(&path_of(name)?)
            .ok_or_else(|| format!("`{name}` is not a program; the names of programs end with `.prose`"))?;
        Ok(Opened { db: self.host.db(), file, text, places: Places::new(Rope::from_str(text)) })
    }

    /// The name and the places of a program that analysis has found; none if the page does not have it.
    pub(crate) fn named(&self, file: SourceFile) -> Option<(String, Places)> {
        let name = name_of(file.path(self.host.db()))?;
        let text = self.texts.get(&name)?;
        Some((name, Places::new(Rope::from_str(text))))
    }

    /// The program at a path of a related place.
    pub(crate) fn at(&self, path: &str) -> Option<SourceFile> {
        self.host.file(Path::new(path))
    }

    fn load_imports(&mut self) {
        for name in self.texts.keys() {
            let file = path_of(name).ok().and_then(|path| self.host.file(&path));
            if let Some(file) = file {
                let texts = &self.texts;
                self.host.load_imports(file, |path| Some(texts.get(&name_of(path)?)?.to_string()));
            }
        }
    }
}

fn is_program(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "prose")
}

fn unknown(name: &str) -> String {
    format!("there is no file `{name}`")
}

/// The path of a file, for the analysis.
fn path_of(name: &str) -> Result<PathBuf, String> {
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !is_inside {
        return Err(format!(
            "`{name}` cannot be the name of a file; use a relative path without `..`, such as `main.prose`"
        ));
    }
    Ok(Path::new(ROOT).join(name))
}

fn name_of(path: &Path) -> Option<String> {
    path.strip_prefix(ROOT).ok()?.to_str().map(str::to_owned)
}
