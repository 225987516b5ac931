//! Rename.
//!
//! The meaning of a changed text cannot be predicted by simple rules: names are bound by scope and kind, keywords are names in some places, and
//! words in braces are text until something has their name. So a rename is tried on copies first ([`scratch`]), and rejected unless
//! every word means there what it meant before.

mod scratch;
#[cfg(test)]
mod tests;

use std::fmt;

use prose_analysis::imports::{Imported, imported};
use prose_analysis::index::{Site, lookup};
use prose_analysis::location::Origin;
use prose_analysis::model::*;
use prose_analysis::statements::{TopStatement, body, summary};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextEdit, TextRange, TextSize, names};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::element::{Element, ElementKind, Word, element_at};
use crate::entity::{Entity, keys_of_field};
use crate::references::{Mention, mentions_in, speaking_files};

/// A name that can be renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renameable {
    /// The bytes of the word at the cursor.
    pub range: TextRange,
    /// The name.
    pub placeholder: SmolStr,
}

/// The edits of a rename in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdits {
    /// The file. Never one that came from the network.
    pub file: SourceFile,
    /// The edits, in the order of the text.
    pub edits: Vec<TextEdit>,
}

/// Why a rename is rejected, as a message for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A sentence without a full stop.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}

fn refuse<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { reason: reason.into() })
}

/// The name at an offset, if it can be renamed.
pub fn prepare_rename(db: &dyn Db, file: SourceFile, offset: TextSize) -> Result<Renameable, Refusal> {
    let subject = Subject::at(db, file, offset)?;
    Ok(Renameable { range: subject.range, placeholder: subject.name })
}

/// The edits that rename the entity at an offset, in every file that refers to it. Inputs and outputs of a program are renamed in
/// the `programs` that import it, too. No edits if it has that name already.
pub fn rename(
    db: &dyn Db,
    programs: &[SourceFile],
    file: SourceFile,
    offset: TextSize,
    new_name: &str,
) -> Result<Vec<FileEdits>, Refusal> {
    let subject = Subject::at(db, file, offset)?;
    if !names::is_name(new_name) {
        return refuse(format!(
            "`{new_name}` is not a valid name; use letters, digits, `_` and `-`, starting with a letter or `_`"
        ));
    }
    if subject.name == new_name {
        return Ok(Vec::new());
    }
    let spoken = Spoken::of(db, subject.entities, programs.iter().chain([&file]).copied());
    spoken.check_all_can_change(db)?;
    let edits = spoken.edits(db, new_name);
    scratch::check(db, &spoken, &edits, new_name)?;
    Ok(edits)
}

/// What is to be renamed.
struct Subject<'db> {
    /// The bytes of the word at the cursor.
    range: TextRange,
    name: SmolStr,
    entities: Vec<Entity<'db>>,
}

impl<'db> Subject<'db> {
    fn at(db: &'db dyn Db, file: SourceFile, offset: TextSize) -> Result<Self, Refusal> {
        if *file.origin(db) != Origin::Local {
            return refuse("cannot rename in a copy of a program from the network");
        }
        let Some(Element { range, kind }) = element_at(db, file, offset) else {
            return refuse("there is no name here to rename");
        };
        match kind {
            ElementKind::Word(statement, word) => Self::of_word(db, statement, &word, range),
            ElementKind::Path(statement, import) => Self::of_path(db, statement, import, range),
            ElementKind::Keyword(_)
            | ElementKind::Property { .. }
            | ElementKind::Option { .. }
            | ElementKind::OptionValue { .. }
            | ElementKind::PropertyValue { .. } => refuse("keywords of the language cannot be renamed"),
            ElementKind::Model(_) => refuse("names of models cannot be renamed"),
            ElementKind::DiscretionMark { .. } | ElementKind::Text => {
                refuse("text cannot be renamed; only names in braces can")
            }
        }
    }

    fn of_word(
        db: &'db dyn Db,
        statement: TopStatement<'db>,
        word: &Word,
        range: TextRange,
    ) -> Result<Self, Refusal> {
        let entities = Entity::of_word(db, statement, word);
        let Some(first) = entities.first() else {
            return refuse(nothing_is_meant(db, statement, word));
        };
        let is_unwritten =
            |site: &Site<'db>| body(db, site.statement)[site.name].kind == NameKind::ImplicitItem;
        if entities.iter().flat_map(|entity| entity.sites(db)).any(|site| is_unwritten(&site)) {
            return refuse("`item` is the fixed name in `map`, `filter` and `pmap` and cannot be renamed");
        }
        let subject = Subject { range, name: first.name.clone(), entities };
        subject.entities.iter().try_for_each(|entity| check_is_local(db, entity.file, &subject.name))?;
        Ok(subject)
    }

    /// A program that has its name from its path gets another one with `as`.
    fn of_path(
        db: &'db dyn Db,
        statement: TopStatement<'db>,
        import: StmtId,
        range: TextRange,
    ) -> Result<Self, Refusal> {
        let body = body(db, statement);
        let Stmt::Use { name: Some(name), has_alias, .. } = body[import].stmt else {
            return refuse("a path cannot be renamed; add `as` and a name after it");
        };
        let text = body[name].text.clone();
        if has_alias {
            return refuse(format!("a path cannot be renamed; rename `{text}` after `as` instead"));
        }
        let source = &statement.file(db).text(db).as_str()[range];
        let part = source.rfind(text.as_str()).map_or(range, |at| {
            // The name is a part of a text that has a place.
            TextRange::at(range.start() + TextSize::new(at as u32), TextSize::of(text.as_str()))
        });
        Ok(Subject { range: part, name: text, entities: vec![Entity::of_site(db, Site { statement, name })] })
    }
}

fn check_is_local(db: &dyn Db, file: SourceFile, name: &str) -> Result<(), Refusal> {
    match file.origin(db) {
        Origin::Local => Ok(()),
        Origin::Remote(origin) => refuse(format!(
            "`{name}` is used in `{}`, which came from the network and cannot be changed",
            origin.reference
        )),
    }
}

/// Why a word stands for nothing that could have another name.
fn nothing_is_meant<'db>(db: &'db dyn Db, statement: TopStatement<'db>, word: &Word) -> String {
    let body = body(db, statement);
    match word {
        Word::Bound(name) => format!("`{}` is not defined", body[*name].text),
        Word::Used(id) => format!("`{}` is not defined in this program", body[*id].text),
        Word::Argument { callee, name } => format!(
            "`{name}` is an input of `{}`, which is not loaded or has no such input",
            body[*callee].text
        ),
        Word::Field { name, .. } if !keys_of_field(db, statement, word).is_empty() => {
            format!("`{name}` is a key of an object, and other uses of the object are not known")
        }
        Word::Field { name, .. } => format!("the object that `{name}` belongs to is not known"),
    }
}

/// Everything that speaks of some things, and of those that have to keep the same name: a destructured variable is called like the
/// output that it is taken from.
struct Spoken<'db> {
    /// The things; never empty.
    entities: Vec<Entity<'db>>,
    /// The places, each once.
    mentions: Vec<Mention<'db>>,
    places: FxHashSet<(SourceFile, TextRange)>,
    /// Every file that could refer to them.
    files: Vec<SourceFile>,
}

impl<'db> Spoken<'db> {
    fn of(
        db: &'db dyn Db,
        entities: Vec<Entity<'db>>,
        candidates: impl IntoIterator<Item = SourceFile> + Clone,
    ) -> Self {
        let mut spoken =
            Spoken { entities, mentions: Vec::new(), places: FxHashSet::default(), files: Vec::new() };
        let mut next = 0;
        while let Some(entity) = spoken.entities.get(next).cloned() {
            next += 1;
            for file in speaking_files(db, &entity, candidates.clone()) {
                if !spoken.files.contains(&file) {
                    spoken.files.push(file);
                }
                for mention in mentions_in(db, file, &entity) {
                    spoken.add(mention);
                }
            }
        }
        spoken.mentions.sort_by_key(|mention| mention.reference.range.start());
        spoken
    }

    fn add(&mut self, mention: Mention<'db>) {
        if !self.places.insert((mention.reference.file, mention.reference.range)) {
            return;
        }
        for entity in &mention.meant {
            if !self.entities.contains(entity) {
                self.entities.push(entity.clone());
            }
        }
        self.mentions.push(mention);
    }

    /// Refuses what is also called so in a program that is not there to be changed, or where no name can be written yet.
    fn check_all_can_change(&self, db: &'db dyn Db) -> Result<(), Refusal> {
        let files = self.entities.iter().map(|entity| entity.file);
        let files = files.chain(self.mentions.iter().map(|mention| mention.reference.file));
        for file in files {
            check_is_local(db, file, self.name())?;
        }
        for mention in &self.mentions {
            let behind =
                &mention.reference.file.text(db).as_str()[usize::from(mention.reference.range.end())..];
            if !mention.is_written && !behind.starts_with('"') {
                return refuse(format!(
                    "the path that names `{}` is not closed; add a `\"` after it first",
                    self.name()
                ));
            }
            if let Some(program) = unknown_source(db, mention) {
                return refuse(format!(
                    "`{0}` is an output of `{program}`, which is not loaded; bind the result with `let` and use `result.{0}`",
                    self.name()
                ));
            }
        }
        Ok(())
    }

    fn name(&self) -> &str {
        self.entities.first().map_or("", |entity| entity.name.as_str())
    }

    fn edits(&self, db: &'db dyn Db, new_name: &str) -> Vec<FileEdits> {
        let mut edits: Vec<FileEdits> = Vec::new();
        let mut keys = Keys::default();
        for mention in &self.mentions {
            let file = mention.reference.file;
            let index = edits.iter().position(|edits| edits.file == file).unwrap_or_else(|| {
                edits.push(FileEdits { file, edits: Vec::new() });
                edits.len() - 1
            });
            edits[index].edits.extend(edits_of(db, mention, new_name, &mut keys));
        }
        for file in &mut edits {
            file.edits.sort_by_key(|edit| (edit.range.start(), edit.range.end()));
        }
        edits.sort_by_key(|edits| self.files.iter().position(|file| *file == edits.file));
        edits
    }

    /// What the things are called in messages.
    fn noun(&self, db: &'db dyn Db) -> &'static str {
        let entity = self.entities.first();
        let site = entity.and_then(|entity| entity.declarations(db).first().copied());
        site.map_or("name", |site| body(db, site.statement)[site.name].kind.noun())
    }
}

fn edits_of<'db>(
    db: &'db dyn Db,
    mention: &Mention<'db>,
    new_name: &str,
    keys: &mut Keys<'db>,
) -> Vec<TextEdit> {
    let range = mention.reference.range;
    if !mention.is_written {
        // After the quote that ends the path.
        let end = range.end() + TextSize::of('"');
        return vec![TextEdit::insert(end, format!(" as {new_name}"))];
    }
    let mut edits = vec![TextEdit::replace(range, new_name)];
    edits.extend(kept_key(db, mention, keys));
    edits
}

/// The entries of the objects in statements, by the places of their keys.
type Keys<'db> = FxHashMap<TopStatement<'db>, FxHashMap<TextRange, &'db Entry>>;

/// What keeps the key of an entry: `{ a }` is short for `{ a: a }`, and becomes `{ a: b }`. What is given to a session below `context:` is
/// labelled like its variable (C15), so there the key goes along.
fn kept_key<'db>(db: &'db dyn Db, mention: &Mention<'db>, keys: &mut Keys<'db>) -> Option<TextEdit> {
    let body = body(db, mention.statement);
    let start = mention.statement.start(db)?;
    let range = mention.reference.range.checked_sub(start)?;
    let keys = keys.entry(mention.statement).or_insert_with(|| {
        let entries = body.exprs().flat_map(|(_, data)| match &data.expr {
            Expr::Object(entries) => entries.as_slice(),
            _ => &[],
        });
        entries.filter_map(|entry| Some((entry.key.as_ref()?.range, entry))).collect()
    });
    let Entry { key: Some(key), value: Some(Value::Expr(value)) } = keys.get(&range)? else {
        return None;
    };
    let value = body[*value].range;
    let is_in_context =
        body.refs_in(value).any(|(_, data)| value.contains_range(data.range) && data.place == Place::Context);
    // A key that is written itself is not a mention.
    let is_value = value.contains_range(range);
    (is_value && !is_in_context).then(|| TextEdit::insert(value.start() + start, format!("{}: ", key.text)))
}

/// The imported program that a destructured name is taken from, if the outputs of that program are unknown.
fn unknown_source<'db>(db: &'db dyn Db, mention: &Mention<'db>) -> Option<SmolStr> {
    let file = mention.reference.file;
    let body = body(db, mention.statement);
    let start = mention.statement.start(db)?;
    let range = mention.reference.range.checked_sub(start)?;
    let (_, data) = body.names_in(range).find(|(_, data)| data.range == range)?;
    let Stmt::Let { value: Some(Value::Expr(value)), destructured: true, .. } = &body[data.stmt].stmt else {
        return None;
    };
    let Expr::Call { callee: Some(callee), .. } = &body[*value].expr else { return None };
    let callee = &body[body.name_of(*callee)?].text;
    let imports = lookup(db, file, callee)?.imports.clone();
    let is_unknown = |site: &Site<'db>| {
        let import = summary(db, site.statement).import(site.name);
        let path = import.and_then(|import| import.path.clone());
        path.is_some_and(|path| imported(db, file, path) == Imported::Unknown)
    };
    imports.iter().any(is_unknown).then(|| callee.clone())
}
