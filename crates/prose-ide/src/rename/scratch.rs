//! Checking a rename on copies of the programs.

use std::path::Path;
use std::sync::Arc;

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::host::{LoadError, Loader};
use prose_analysis::location::{Fetched, FetchedProgram, Location, Origin, Remote};
use prose_analysis::model::{Body, NameKind, RefKind};
use prose_analysis::statements::{body, statements};
use prose_analysis::{AnalysisHost, Db, SourceFile, Text};
use prose_syntax::{Diagnostic, Fix, Severity, SyntaxKind, TextEdit, TextSize, fix};
use rustc_hash::FxHashSet;

use super::{FileEdits, Refusal, Spoken, Subject, refuse};
use crate::element::{Word, words};
use crate::lines::line_number;
use crate::references::Mention;

/// Refuses a rename after which words would mean something else, or the programs had more errors.
pub(super) fn check(
    db: &dyn Db,
    spoken: &Spoken<'_>,
    edits: &[FileEdits],
    new_name: &str,
) -> Result<(), Refusal> {
    let edits: Vec<&[TextEdit]> = spoken.files.iter().map(|file| edits_in(edits, *file)).collect();
    let moves: Vec<Moves> = edits.iter().map(|edits| Moves::of(edits)).collect();
    let mut copies = Copies::of(db, &spoken.files);
    let before = copies.facts();
    copies.edit(&edits);
    let after = copies.facts();
    let mut facts = before.iter().zip(&after).zip(&moves);
    let is_reread = facts.clone().any(|((before, after), moves)| before.moved_words(moves) != after.words);
    if is_reread && SyntaxKind::from_keyword(new_name).is_some() {
        return refuse(format!(
            "`{new_name}` is a keyword and would be parsed as one in place of `{}`",
            spoken.name()
        ));
    }
    if is_reread && new_name.contains('-') {
        return refuse(format!(
            "`{new_name}` has a hyphen, which is not allowed in some uses of `{}`; use `{}`",
            spoken.name(),
            new_name.replace('-', "_")
        ));
    }
    Trial { db, copies: &copies, spoken, moves: &moves, new_name }.check_meaning()?;
    if is_reread {
        return refuse(format!("the name `{new_name}` would change how the program is parsed"));
    }
    let error = facts.find_map(|((before, after), moves)| after.new_error(before, moves));
    match error {
        Some(error) => refuse(format!("the name `{new_name}` would be an error: {}", error.message)),
        None => Ok(()),
    }
}

fn edits_in(edits: &[FileEdits], file: SourceFile) -> &[TextEdit] {
    edits.iter().find(|edits| edits.file == file).map_or(&[], |edits| edits.edits.as_slice())
}

/// Where the text goes that edits leave as it is.
struct Moves {
    /// Where each edit ends, and there in the edited text.
    ends: Vec<(TextSize, TextSize)>,
    /// Where each edit starts in the edited text.
    starts: FxHashSet<TextSize>,
}

impl Moves {
    /// Those of edits in the order of the text.
    fn of(edits: &[TextEdit]) -> Self {
        let mut moves = Moves { ends: Vec::with_capacity(edits.len()), starts: FxHashSet::default() };
        for edit in edits {
            let start = moves.moved(edit.range.start());
            moves.starts.insert(start);
            moves.ends.push((edit.range.end(), start + TextSize::of(edit.new_text.as_str())));
        }
        moves
    }

    /// Where an offset is once the edits are made; after what is inserted there.
    fn moved(&self, offset: TextSize) -> TextSize {
        match self.ends[..self.ends.partition_point(|(end, _)| *end <= offset)].last() {
            Some((end, moved)) => *moved + (offset - *end),
            None => offset,
        }
    }
}

/// Copies of programs, analysed apart from them.
struct Copies {
    host: AnalysisHost,
    files: Vec<SourceFile>,
}

impl Copies {
    fn of(db: &dyn Db, originals: &[SourceFile]) -> Self {
        let mut host = AnalysisHost::default();
        let copy = |original: &SourceFile| {
            let file = host.set_text(original.path(db), Text::new(original.text(db).shared()));
            host.set_project(file, original.project(db).clone());
            host.set_lines_above(file, original.lines_above(db));
            file
        };
        let files: Vec<SourceFile> = originals.iter().map(copy).collect();
        for file in &files {
            host.load_imports_with(*file, &mut Known(db));
        }
        Self { host, files }
    }

    fn edit(&mut self, edits: &[&[TextEdit]]) {
        for (file, edits) in self.files.clone().into_iter().zip(edits) {
            let edits = Fix::safe("Rename", edits.to_vec());
            let text = fix::apply(file.text(self.host.db()).as_str(), [&edits]).text;
            let path = Arc::clone(file.path(self.host.db()));
            self.host.set_text(&path, Text::new(text));
        }
    }

    fn facts(&self) -> Vec<Facts> {
        self.files.iter().map(|file| Facts::of(self.host.db(), *file)).collect()
    }
}

/// The imported programs, as far as they are loaded.
struct Known<'a>(&'a dyn Db);

impl Loader for Known<'_> {
    fn file(&mut self, path: &Path) -> Result<String, LoadError> {
        let program = self.0.place(Location::File(path.to_owned())).program(self.0);
        program.map(|program| program.text(self.0).as_str().to_owned()).ok_or(LoadError::Missing)
    }

    fn remote(&mut self, remote: &Remote, _: &Origin) -> Option<Fetched> {
        let program = self.0.place(Location::Remote(remote.clone())).program(self.0)?;
        let Origin::Remote(origin) = program.origin(self.0) else { return None };
        let fetched = FetchedProgram {
            path: program.path(self.0).to_path_buf(),
            text: program.text(self.0).shared(),
            origin: Arc::clone(origin),
        };
        Some(Fetched { program: Some(fetched), note: None })
    }
}

/// What a rename leaves as it is in a file.
struct Facts {
    /// Where each word starts, and what kind of word it is.
    words: Vec<(TextSize, Kind)>,
    errors: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bound(NameKind),
    Used(RefKind),
    Argument,
    Field,
}

impl Kind {
    /// The kind of a word; none for the name of an imported program, which may be there only once it has another one.
    fn of(body: &Body, word: &Word) -> Option<Self> {
        match word {
            Word::Bound(name) => {
                Some(Kind::Bound(body[*name].kind)).filter(|kind| *kind != Kind::Bound(NameKind::Import))
            }
            Word::Used(id) => Some(Kind::Used(body[*id].kind)),
            Word::Argument { .. } => Some(Kind::Argument),
            Word::Field { .. } => Some(Kind::Field),
        }
    }
}

impl Facts {
    fn of(db: &dyn Db, file: SourceFile) -> Self {
        let mut kinds = Vec::new();
        for placed in &statements(db, file).list {
            let body = body(db, placed.statement);
            let of_word = |(range, word): (prose_syntax::TextRange, Word)| {
                Some((range.start() + TextSize::from(placed.start), Kind::of(body, &word)?))
            };
            kinds.extend(words(body).filter_map(of_word));
        }
        kinds.sort_by_key(|(start, _)| *start);
        let errors = diagnostics(db, file).iter();
        let errors = errors.filter(|found| found.severity() == Severity::Error).cloned().collect();
        Self { words: kinds, errors }
    }

    fn moved_words(&self, moves: &Moves) -> Vec<(TextSize, Kind)> {
        self.words.iter().map(|(start, kind)| (moves.moved(*start), *kind)).collect()
    }

    /// An error that is told of one of the changed words, and was not before. Errors elsewhere may come and go: what is told of a word that
    /// means nothing depends on the names that are near to it.
    fn new_error(&self, before: &Facts, moves: &Moves) -> Option<&Diagnostic> {
        let known: FxHashSet<TextSize> =
            before.errors.iter().map(|error| moves.moved(error.range.start())).collect();
        self.errors.iter().find(|error| {
            let start = error.range.start();
            moves.starts.contains(&start) && !known.contains(&start)
        })
    }
}

/// A rename that was made on copies.
struct Trial<'a, 'db> {
    db: &'a dyn Db,
    copies: &'a Copies,
    spoken: &'a Spoken<'db>,
    moves: &'a [Moves],
    new_name: &'a str,
}

impl Trial<'_, '_> {
    /// Refuses the rename unless the words that have the new name now, and no others, mean the thing.
    fn check_meaning(&self) -> Result<(), Refusal> {
        let wanted: Vec<(SourceFile, TextSize)> =
            self.spoken.mentions.iter().map(|mention| self.place_of(mention)).collect();
        let Some(&(file, offset)) = wanted.first() else { return Ok(()) };
        let db = self.copies.host.db();
        let Ok(subject) = Subject::at(db, file, offset) else { return self.is_hidden(0) };
        let found = Spoken::of(db, subject.entities, self.copies.files.iter().copied());
        let place = |mention: &Mention<'_>| (mention.reference.file, mention.reference.range.start());
        let allowed: FxHashSet<(SourceFile, TextSize)> = wanted.iter().copied().collect();
        if let Some(extra) = found.mentions.iter().find(|mention| !allowed.contains(&place(mention))) {
            return self.is_taken(extra);
        }
        let places: FxHashSet<(SourceFile, TextSize)> = found.mentions.iter().map(place).collect();
        match wanted.iter().position(|place| !places.contains(place)) {
            Some(missing) => self.is_hidden(missing),
            None => Ok(()),
        }
    }

    /// Where the new name of a mention starts in the copies.
    fn place_of(&self, mention: &Mention<'_>) -> (SourceFile, TextSize) {
        let file = mention.reference.file;
        // Mentions are of files that were looked through.
        let index = self.spoken.files.iter().position(|original| *original == file).unwrap_or_default();
        let range = mention.reference.range;
        let start = match mention.is_written {
            true => self.moves[index].moved(range.start()),
            // After the quote that ends the path.
            false => self.moves[index].moved(range.end() + TextSize::of('"')) - TextSize::of(self.new_name),
        };
        (self.copies.files[index], start)
    }

    fn is_taken(&self, other: &Mention<'_>) -> Result<(), Refusal> {
        let db = self.copies.host.db();
        let place = self.line(db, other.reference.file, other.reference.range.start());
        let (noun, new_name) = (self.spoken.noun(self.db), self.new_name);
        match other.reference.is_declaration {
            true => refuse(format!("`{new_name}` is the name of something else already, in {place}")),
            false => refuse(format!("`{new_name}` in {place} would then mean this {noun}")),
        }
    }

    fn is_hidden(&self, mention: usize) -> Result<(), Refusal> {
        let mention = &self.spoken.mentions[mention].reference;
        let place = self.line(self.db, mention.file, mention.range.start());
        let (noun, new_name) = (self.spoken.noun(self.db), self.new_name);
        refuse(format!(
            "something else is called `{new_name}` in {place} already, and would hide this {noun} there"
        ))
    }

    fn line(&self, db: &dyn Db, file: SourceFile, offset: TextSize) -> String {
        let line = line_number(db, file, offset);
        let path = file.path(db);
        match self.spoken.entities.first().is_none_or(|entity| entity.file.path(self.db) == path) {
            true => format!("line {line}"),
            false => format!("line {line} of `{}`", path.display()),
        }
    }
}
