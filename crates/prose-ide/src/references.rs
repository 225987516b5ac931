//! References to an entity, in its own file and in the programs that import it.

use std::collections::HashSet;

use prose_analysis::imports::imported_programs;
use prose_analysis::index::Site;
use prose_analysis::model::{Body, NameData, NameKind, RefKind};
use prose_analysis::statements::{TopStatement, body, statements};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextRange, TextSize};
use smol_str::SmolStr;

use crate::element::{ElementKind, Word, element_at, is_written, words};
use crate::entity::{Entity, EntityKind, import_site};

/// A reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The file.
    pub file: SourceFile,
    /// The bytes of the word.
    pub range: TextRange,
    /// Whether the value is read or written.
    pub access: Access,
    /// Whether it is a declaration.
    pub is_declaration: bool,
}

/// The access to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// The value is read.
    Read,
    /// The value is written.
    Write,
}

/// All references to the entity at an offset. Inputs and outputs of a program are searched in `candidates` too, as far as they
/// import the program; other names only in their own file. Sorted by file, that of the definition first, and by position.
pub fn references(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
    include_declaration: bool,
    candidates: &[SourceFile],
) -> Option<Vec<Reference>> {
    let entities = entities_at(db, file, offset);
    let files = speaking_files(db, entities.first()?, candidates.iter().chain([&file]).copied());
    let mut found: Vec<Reference> = Vec::new();
    for file in files {
        found.extend(entities.iter().flat_map(|entity| references_in(db, file, entity)));
    }
    found.dedup();
    found.retain(|reference| include_declaration || !reference.is_declaration);
    Some(found)
}

/// The files that can refer to an entity: its own, and for an input or an output those of the candidates that import its program.
pub(crate) fn speaking_files<'db>(
    db: &'db dyn Db,
    entity: &Entity<'db>,
    candidates: impl IntoIterator<Item = SourceFile>,
) -> Vec<SourceFile> {
    let mut files = vec![entity.file];
    if entity.is_in_contract(db) {
        for importer in candidates {
            if !files.contains(&importer) && imported_programs(db, importer).contains(&entity.file) {
                files.push(importer);
            }
        }
    }
    files
}

/// What is at an offset: one thing, unless a word may mean several.
pub(crate) fn entities_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Vec<Entity<'_>> {
    let Some(element) = element_at(db, file, offset) else { return Vec::new() };
    match element.kind {
        ElementKind::Word(statement, word) => {
            let mut entities = Entity::of_word(db, statement, &word);
            if matches!(word, Word::Bound(_)) {
                // A destructured name is that of the new variable first.
                entities.truncate(1);
            }
            entities
        }
        ElementKind::Path(statement, import) => {
            let site = import_site(db, statement, import);
            site.map(|site| Entity::of_site(db, site)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The references to an entity in a file, in the order of the text.
pub(crate) fn references_in<'db>(db: &'db dyn Db, file: SourceFile, entity: &Entity<'db>) -> Vec<Reference> {
    mentions_in(db, file, entity).into_iter().map(|mention| mention.reference).collect()
}

/// A reference to an entity, with all entities that it refers to.
#[derive(Debug, Clone)]
pub(crate) struct Mention<'db> {
    pub(crate) reference: Reference,
    /// The statement that it is a part of.
    pub(crate) statement: TopStatement<'db>,
    /// Whether the name is there. One that a program has from its path does not.
    pub(crate) is_written: bool,
    /// What the word stands for, the thing itself among it.
    pub(crate) meant: Vec<Entity<'db>>,
}

/// The references to an entity in a file, in the order of the text, with all entities that each refers to.
pub(crate) fn mentions_in<'db>(db: &'db dyn Db, file: SourceFile, entity: &Entity<'db>) -> Vec<Mention<'db>> {
    let declarations: HashSet<Site<'_>> = entity.declarations(db).into_iter().collect();
    let mut found = Vec::new();
    for placed in &statements(db, file).list {
        let statement = placed.statement;
        let body = body(db, statement);
        let place = |range: TextRange, access, is_declaration| {
            let range = range + TextSize::from(placed.start);
            Reference { file, range, access, is_declaration }
        };
        for (range, word) in words(body) {
            if *word_text(body, &word) != entity.name {
                continue;
            }
            let meant = Entity::of_word(db, statement, &word);
            let Some(nth) = meant.iter().position(|meant| meant.may_be(entity)) else { continue };
            let is_declaration =
                matches!(word, Word::Bound(name) if declarations.contains(&Site { statement, name }));
            // A destructured name sets its variable to what it reads from an output.
            let is_source = nth > 0 && matches!(word, Word::Bound(_));
            let access = if is_source { Access::Read } else { access(body, &word) };
            let reference = place(range, access, is_declaration);
            found.push(Mention { reference, statement, is_written: true, meant });
        }
        if entity.kind == EntityKind::Program && entity.file == file {
            // Without `as` the program has its name from its path.
            for data in unwritten_imports(body).filter(|data| data.text == entity.name) {
                let reference = place(data.range, Access::Write, true);
                let meant = vec![entity.clone()];
                found.push(Mention { reference, statement, is_written: false, meant });
            }
        }
    }
    found.sort_by_key(|mention| (mention.reference.range.start(), mention.reference.range.end()));
    found
}

fn unwritten_imports(body: &Body) -> impl Iterator<Item = &NameData> {
    let imports = body.names().filter(|(_, data)| data.kind == NameKind::Import);
    imports.filter(|(id, _)| !is_written(body, *id)).map(|(_, data)| data)
}

fn word_text<'a>(body: &'a Body, word: &'a Word) -> &'a SmolStr {
    match word {
        Word::Bound(name) => &body[*name].text,
        Word::Used(id) => &body[*id].text,
        Word::Argument { name, .. } | Word::Field { name, .. } => name,
    }
}

fn access(body: &Body, word: &Word) -> Access {
    match word {
        // An argument gives an input its value.
        Word::Bound(_) | Word::Argument { .. } => Access::Write,
        Word::Used(id) if body[*id].kind == RefKind::Write => Access::Write,
        Word::Used(_) | Word::Field { .. } => Access::Read,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::{analysed, expect_lines};

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let at = analysed(fixture);
        let found = references(at.host.db(), at.file, at.offset, true, &at.files);
        let shown: String = match &found {
            None => "nothing\n".to_owned(),
            Some(found) => found
                .iter()
                .map(|reference| {
                    let access = format!("{:?}", reference.access).to_lowercase();
                    let declares = if reference.is_declaration { " declaration" } else { "" };
                    format!("{access}{declares} {}\n", at.show(reference.file, reference.range))
                })
                .collect(),
        };
        expect_lines(&shown, &expected);
        let uses = references(at.host.db(), at.file, at.offset, false, &at.files);
        let wanted = found.map(|found| found.into_iter().filter(|reference| !reference.is_declaration));
        assert_eq!(uses, wanted.map(Iterator::collect));
    }

    #[test]
    fn a_variable_is_found_in_code_texts_and_conditions() {
        check(
            r#"
            agent writer:
              prompt: "You write about {topic}"
            input $0topic: "What about"
            session "Read on {topic}"
              context: topic
            if **{topic} is known**:
              topic = session "Narrow {topic.part[0]} down, not {tonic}"
            session: writer
              permissions:
                read: ["notes/{topic}/**"]
              prompt: """
                Now {topic} and {other}
              """
            "#,
            expect![[r#"
                read /main.prose:2: prompt: "You write about {«topic»}"
                write declaration /main.prose:3: input «topic»: "What about"
                read /main.prose:4: session "Read on {«topic»}"
                read /main.prose:5: context: «topic»
                read /main.prose:6: if **{«topic»} is known**:
                write /main.prose:7: «topic» = session "Narrow {topic.part[0]} down, not {tonic}"
                read /main.prose:7: topic = session "Narrow {«topic».part[0]} down, not {tonic}"
                read /main.prose:10: read: ["notes/{«topic»}/**"]
                read /main.prose:12: Now {«topic»} and {other}
            "#]],
        );
    }

    #[test]
    fn an_assignment_in_a_block_is_one_of_the_file() {
        check(
            r#"
            let count = 1
            block step(topic):
              count = count + 1
              let own = topic
            block other():
              let count = 3
              session "{count}"
            session "{co$0unt}"
            "#,
            expect![[r#"
                write declaration /main.prose:1: let «count» = 1
                write /main.prose:3: «count» = count + 1
                read /main.prose:3: count = «count» + 1
                read /main.prose:8: session "{«count»}"
            "#]],
        );
    }

    #[test]
    fn each_block_has_variables_of_its_own() {
        check(
            r#"
            block first(topic):
              let found = session "{topic}"
              session "{$0found}"
            block second(topic):
              let found = session "{topic}"
              session "{found}"
            "#,
            expect![[r#"
                write declaration /main.prose:2: let «found» = session "{topic}"
                read /main.prose:3: session "{«found»}"
            "#]],
        );
        check(
            r#"
            block first(topic):
              let found = session "{topic}"
            do first("x")
            session "{f$0ound}"
            "#,
            expect![[r#"
                write declaration /main.prose:2: let «found» = session "{topic}"
                read /main.prose:4: session "{«found»}"
            "#]],
        );
    }

    #[test]
    fn loop_variables_hide_others() {
        check(
            r#"
            let item = "a"
            for item, i in ["b", "c"]:
              session "{$0item} {i}"
              item = session "next"
            session "{item}"
            "#,
            expect![[r#"
                write declaration /main.prose:2: for «item», i in ["b", "c"]:
                read /main.prose:3: session "{«item»} {i}"
                write /main.prose:4: «item» = session "next"
            "#]],
        );
        check(
            r#"
            let all = ["a"] | map:
              session "Do {i$0tem}"
            session "{item}"
            "#,
            expect![[r#"read /main.prose:2: session "Do {«item»}""#]],
        );
    }

    #[test]
    fn agents_and_variables_do_not_mix() {
        check(
            r#"
            agent critic:
              persist: true
            let critic = session: critic
            resume: cri$0tic
              context: critic
            "#,
            expect![[r#"
                write declaration /main.prose:1: agent «critic»:
                read /main.prose:3: let critic = session: «critic»
                read /main.prose:4: resume: «critic»
            "#]],
        );
    }

    #[test]
    fn an_input_is_found_in_the_programs_that_give_it() {
        check(
            r#"
            //- /research.prose
            input to$0pic: "What to research"
            output findings = session "Research {topic}"
            //- /main.prose
            use "./research.prose" as research
            use "./research.prose"
            let topic = "Zero"
            let r = research(topic: topic)
            //- /unrelated.prose
            let topic = other(topic: "x")
            "#,
            expect![[r#"
                write declaration /research.prose:1: input «topic»: "What to research"
                read /research.prose:2: output findings = session "Research {«topic»}"
                write /main.prose:4: let r = research(«topic»: topic)
            "#]],
        );
    }

    #[test]
    fn an_output_is_found_in_the_programs_that_take_it() {
        check(
            r#"
            //- /research.prose
            input topic: "What to research"
            output findings = session "Research {topic}"
            //- /main.prose
            use "./research.prose"
            let r = research(topic: "zero")
            session "Sum up {r.findi$0ngs} and {r.sources}"
              context: { r.findings, r }
            let direct = research(topic: "one").findings
            let { findings } = research(topic: "two")
            session "{findings}"
            "#,
            expect![[r#"
                write declaration /research.prose:2: output «findings» = session "Research {topic}"
                read /main.prose:3: session "Sum up {r.«findings»} and {r.sources}"
                read /main.prose:4: context: { r.«findings», r }
                read /main.prose:5: let direct = research(topic: "one").«findings»
                read /main.prose:6: let { «findings» } = research(topic: "two")
            "#]],
        );
    }

    #[test]
    fn arguments_and_results_of_blocks_are_found() {
        check(
            r#"
            block review($0text, depth):
              output verdict = session "Judge {text}"
              output reason = session "Why"
            let r = do review(text: "x", depth: 2)
            session "{r.verdict}"
            "#,
            expect![[r#"
                write declaration /main.prose:1: block review(«text», depth):
                read /main.prose:2: output verdict = session "Judge {«text»}"
                write /main.prose:4: let r = do review(«text»: "x", depth: 2)
            "#]],
        );
        check(
            r#"
            block review(text):
              output verdict = session "Judge {text}"
              output reason = session "Why"
            let r = do review("x")
            session "{r.ver$0dict}"
            "#,
            expect![[r#"
                write declaration /main.prose:2: output «verdict» = session "Judge {text}"
                read /main.prose:5: session "{r.«verdict»}"
            "#]],
        );
    }

    #[test]
    fn an_import_is_found_by_its_alias_and_its_path() {
        check(
            r#"
            use "./re$0search.prose"
            let r = research(topic: "zero")
            "#,
            expect![[r#"
                write declaration /main.prose:1: use "«./research.prose»"
                read /main.prose:2: let r = «research»(topic: "zero")
            "#]],
        );
        check(
            r#"
            use "alice/research" as re$0ad
            let r = read(topic: "zero")
            let s = read(topic: r)
            "#,
            expect![[r#"
                write declaration /main.prose:1: use "alice/research" as «read»
                read /main.prose:2: let r = «read»(topic: "zero")
                read /main.prose:3: let s = «read»(topic: r)
            "#]],
        );
    }

    #[test]
    fn where_nothing_is_meant_nothing_is_found() {
        check("let x = nob$0ody\n", expect!["nothing"]);
        check("session \"\"\"Say {nob$0ody}\"\"\"\n", expect!["nothing"]);
        check("session \"a\" # com$0ment\n", expect!["nothing"]);
        check("$0", expect!["nothing"]);
    }
}
