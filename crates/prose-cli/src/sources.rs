//! The texts that a file's findings are placed in: its own, and those of the files they refer to.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use prose_project::Diagnosed;
use prose_project::files::read_program;
use prose_project::position::Positions;
use prose_syntax::Related;

use crate::terminal::one_line;

/// The texts of the files that diagnostics refer to, other than their own.
#[derive(Default)]
pub(crate) struct OtherTexts(HashMap<Arc<str>, String>);

/// Every file that a set of diagnostics is about, ready to be looked things up in.
pub(crate) struct Sources<'a> {
    /// The file that was checked.
    pub(crate) own: Source<'a>,
    others: HashMap<&'a str, Source<'a>>,
}

/// One file.
pub(crate) struct Source<'a> {
    /// The name as it is shown.
    pub(crate) name: Cow<'a, str>,
    pub(crate) text: &'a str,
    pub(crate) index: Positions<'a>,
}

impl OtherTexts {
    /// Reads each file once. One that has gone meanwhile is as good as empty.
    pub(crate) fn read(diagnosed: &[Diagnosed]) -> Self {
        Self::of(diagnosed, |path| read_program(Path::new(path)).unwrap_or_default())
    }

    /// Gets the text of each file once.
    pub(crate) fn of(diagnosed: &[Diagnosed], text_of: impl Fn(&str) -> String) -> Self {
        let mut texts = HashMap::new();
        let related = diagnosed.iter().flat_map(|diagnosed| &diagnosed.diagnostic.related);
        for path in related.filter_map(|related| related.path.as_ref()) {
            texts.entry(path.clone()).or_insert_with(|| text_of(path));
        }
        Self(texts)
    }
}

impl<'a> Sources<'a> {
    pub(crate) fn new(name: &'a str, text: &'a str, others: &'a OtherTexts) -> Self {
        let others = others.0.iter().map(|(path, text)| (&**path, Source::new(path, text)));
        Self { own: Source::new(name, text), others: others.collect() }
    }

    /// The file that a related place is in.
    pub(crate) fn of(&self, related: &Related) -> &Source<'a> {
        let other = related.path.as_ref().and_then(|path| self.others.get(&**path));
        other.unwrap_or(&self.own)
    }
}

impl<'a> Source<'a> {
    fn new(name: &'a str, text: &'a str) -> Self {
        Self { name: one_line(name), text, index: Positions::new(text) }
    }
}
