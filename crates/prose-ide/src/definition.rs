//! Go to definition.

use prose_analysis::index::Site;
use prose_analysis::model::NameKind;
use prose_analysis::statements::{TopStatement, body};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextRange, TextSize};
use rustc_hash::FxHashSet;

use crate::element::{Element, ElementKind, Word, element_at};
use crate::entity::{Entity, EntityKind, binding_range, import_site, keys_of_field, name_range, program_of};

/// The definitions of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The bytes of the word.
    pub origin: TextRange,
    /// The targets, each once; never empty.
    pub targets: Vec<NavigationTarget>,
}

impl Definition {
    /// The definitions of a word at some targets, of which each counts once.
    pub(crate) fn of(origin: TextRange, mut targets: Vec<NavigationTarget>) -> Option<Self> {
        let mut seen = FxHashSet::default();
        targets.retain(|target| seen.insert(*target));
        (!targets.is_empty()).then_some(Definition { origin, targets })
    }
}

/// A navigation target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NavigationTarget {
    /// The file.
    pub file: SourceFile,
    /// The range of the whole definition.
    pub range: TextRange,
    /// The range of its name, where the cursor goes; inside `range`.
    pub selection_range: TextRange,
}

/// The definitions of the word at an offset. An imported program is defined by its file, if that is loaded.
pub fn goto_definition(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Definition> {
    let Element { range: origin, kind } = element_at(db, file, offset)?;
    let targets = match &kind {
        ElementKind::Path(statement, import) => {
            let program = program_of(db, import_site(db, *statement, *import)?)?;
            vec![program_start(db, program)]
        }
        ElementKind::Word(statement, word) => word_targets(db, *statement, word),
        _ => return None,
    };
    Definition::of(origin, targets)
}

fn word_targets<'db>(db: &'db dyn Db, statement: TopStatement<'db>, word: &Word) -> Vec<NavigationTarget> {
    let mut entities = Entity::of_word(db, statement, word);
    let mut wanted = match word {
        Word::Argument { .. } => Some(NameKind::Input),
        Word::Field { .. } => Some(NameKind::Output),
        Word::Bound(_) | Word::Used(_) => None,
    };
    if matches!(word, Word::Bound(_)) && entities.len() > 1 {
        // The variable is right here; what is of interest is the output that it is taken from.
        entities.remove(0);
        wanted = Some(NameKind::Output);
    }
    let place = |entity: &Entity<'db>, site| match (entity.kind, program_of(db, site)) {
        (EntityKind::Program, Some(program)) => Some(program_start(db, program)),
        _ => target(db, site),
    };
    let targets = entities.iter().flat_map(|entity| {
        let sites = match entity.kind {
            EntityKind::Program => entity.sites(db),
            _ => sites(db, entity, wanted),
        };
        sites.into_iter().filter_map(move |site| place(entity, site))
    });
    let keys = keys_of_field(db, statement, word).into_iter().filter_map(|(statement, key)| {
        let range = key + statement.start(db)?;
        Some(NavigationTarget { file: statement.file(db), range, selection_range: range })
    });
    targets.chain(keys).collect()
}

/// The places to go to: where a caller names an input or an output, those that make it one, else the declarations.
fn sites<'db>(db: &'db dyn Db, entity: &Entity<'db>, wanted: Option<NameKind>) -> Vec<Site<'db>> {
    let is_wanted = |site: &Site<'db>| Some(body(db, site.statement)[site.name].kind) == wanted;
    let sites: Vec<_> = entity.sites(db).into_iter().filter(is_wanted).collect();
    if sites.is_empty() { entity.declarations(db) } else { sites }
}

pub(crate) fn target<'db>(db: &'db dyn Db, site: Site<'db>) -> Option<NavigationTarget> {
    let selection_range = name_range(db, site)?;
    let range = binding_range(db, site)?.cover(selection_range);
    Some(NavigationTarget { file: site.statement.file(db), range, selection_range })
}

pub(crate) fn program_start(db: &dyn Db, program: SourceFile) -> NavigationTarget {
    let length = TextSize::of(program.text(db).as_str());
    NavigationTarget {
        file: program,
        range: TextRange::up_to(length),
        selection_range: TextRange::empty(0.into()),
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
        let shown = match goto_definition(at.host.db(), at.file, at.offset) {
            None => "nothing\n".to_owned(),
            Some(definition) => {
                let mut shown = format!("from {}\n", at.show(at.file, definition.origin));
                for target in &definition.targets {
                    assert!(target.range.contains_range(target.selection_range), "{target:?}");
                    shown += &format!("to   {}\n", at.show(target.file, target.selection_range));
                }
                shown
            }
        };
        expect_lines(&shown, &expected);
    }

    #[test]
    fn agents_and_blocks_are_found_after_their_uses() {
        check(
            "agent writer:\n  model: opus\nsession: writer$0\n  prompt: \"a\"\n",
            expect![[r#"
            from /main.prose:3: session: «writer»
            to   /main.prose:1: agent «writer»:
        "#]],
        );
        check(
            "do $0review(\"x\")\nblock review(text):\n  session \"{text}\"\n",
            expect![[r#"
            from /main.prose:1: do «review»("x")
            to   /main.prose:2: block «review»(text):
        "#]],
        );
        check(
            "agent a:\n  model: opus\nagent a:\n  model: haiku\nresume: a$0\n",
            expect![[r#"
            from /main.prose:5: resume: «a»
            to   /main.prose:1: agent «a»:
            to   /main.prose:3: agent «a»:
        "#]],
        );
    }

    #[test]
    fn a_variable_is_where_it_is_declared() {
        check(
            "let x = 1\nx = 2\nx$0 = 3\nsession \"{x}\"\n",
            expect![[r#"
            from /main.prose:3: «x» = 3
            to   /main.prose:1: let «x» = 1
        "#]],
        );
        check(
            "x = 1\nx = 2\nsession \"{x$0}\"\n",
            expect![[r#"
            from /main.prose:3: session "{«x»}"
            to   /main.prose:1: «x» = 1
            to   /main.prose:2: «x» = 2
        "#]],
        );
        check(
            "if **a**:\n  let x = 1\nelse:\n  let x = 2\noutput x = x$0\n",
            expect![[r#"
            from /main.prose:5: output x = «x»
            to   /main.prose:2: let «x» = 1
            to   /main.prose:4: let «x» = 2
        "#]],
        );
    }

    #[test]
    fn words_in_braces_work_like_code() {
        check(
            "input topic: \"a\"\nagent a:\n  prompt: \"\"\"\n    On {top$0ic}.\n  \"\"\"\n",
            expect![[r#"
            from /main.prose:4: On {«topic»}.
            to   /main.prose:1: input «topic»: "a"
        "#]],
        );
        check(
            "input topic: \"a\"\nloop until **{topic$0} is done** (max: 3):\n  session \"a\"\n",
            expect![[r#"
            from /main.prose:2: loop until **{«topic»} is done** (max: 3):
            to   /main.prose:1: input «topic»: "a"
        "#]],
        );
        check(
            "let dir = \"a\"\nagent a:\n  permissions:\n    read: [\"{$0dir}/x\", dir]\n",
            expect![[r#"
            from /main.prose:4: read: ["{«dir»}/x", dir]
            to   /main.prose:1: let «dir» = "a"
        "#]],
        );
        check(
            "let xs = [1]\nfor x, i in xs:\n  session \"{xs[$0i]}\"\n",
            expect![[r#"
            from /main.prose:3: session "{xs[«i»]}"
            to   /main.prose:2: for x, «i» in xs:
        "#]],
        );
        check("session \"\"\"\n  {topi$0c}\n\"\"\"\n", expect!["nothing"]);
    }

    #[test]
    fn parts_of_objects_are_their_entries() {
        check(
            "let depth = 1\nconst config = { style: \"plain\", depth }\nsession \"{config.dep$0th}\"\n",
            expect![[r#"
            from /main.prose:3: session "{config.«depth»}"
            to   /main.prose:2: const config = { style: "plain", «depth» }
        "#]],
        );
        check("const config = { style: 1 }\nif config.dep$0th == 1:\n  session \"a\"\n", expect!["nothing"]);
    }

    #[test]
    fn names_of_bodies_are_found() {
        check(
            "try:\n  session \"a\"\ncatch as problem:\n  session \"{problem$0.message}\"\n",
            expect![[r#"
            from /main.prose:4: session "{«problem».message}"
            to   /main.prose:3: catch as «problem»:
        "#]],
        );
        check(
            "repeat 3 as turn:\n  session \"{tur$0n}\"\n",
            expect![[r#"
            from /main.prose:2: session "{«turn»}"
            to   /main.prose:1: repeat 3 as «turn»:
        "#]],
        );
        check(
            "let x = [1] | pmap:\n  session \"{ite$0m}\"\n",
            expect![[r#"
            from /main.prose:2: session "{«item»}"
            to   /main.prose:1: let x = [1] | «pmap»:
        "#]],
        );
        check(
            "let x = [1] | reduce(sum, it):\n  session \"{s$0um} {it}\"\n",
            expect![[r#"
            from /main.prose:2: session "{«sum»} {it}"
            to   /main.prose:1: let x = [1] | reduce(«sum», it):
        "#]],
        );
        check(
            "block b(text):\n  for text in [text$0]:\n    session \"{text}\"\n",
            expect![[r#"
            from /main.prose:2: for text in [«text»]:
            to   /main.prose:1: block b(«text»):
        "#]],
        );
        check(
            "let r = parallel:\n  a = session \"a\"\n  b = session \"b\"\nsession \"{r.b$0}\"\n",
            expect![[r#"
                from /main.prose:4: session "{r.«b»}"
                to   /main.prose:3: «b» = session "b"
            "#]],
        );
    }

    const RESEARCH: &str = r#"
            //- /lib/research.prose
            # How to research.
            input topic: "What to research"
            let findings = session "Research {topic}"
            output findings = findings
"#;

    #[track_caller]
    fn check_import(main: &str, expected: Expect) {
        check(&format!("{RESEARCH}            //- /main.prose\n            {main}\n"), expected);
    }

    #[test]
    fn imports_lead_to_their_programs() {
        check_import(
            r#"use "./lib/rese$0arch.prose" as research"#,
            expect![[r#"
            from /main.prose:1: use «"./lib/research.prose"» as research
            to   /lib/research.prose:1: «»# How to research.
        "#]],
        );
        check_import(
            r#"use "./lib/research.prose" as resear$0ch"#,
            expect![[r#"
            from /main.prose:1: use "./lib/research.prose" as «research»
            to   /lib/research.prose:1: «»# How to research.
        "#]],
        );
        check_import(
            "use \"./lib/research.prose\"\n            let r = resea$0rch(topic: \"x\")",
            expect![[r#"
            from /main.prose:2: let r = «research»(topic: "x")
            to   /lib/research.prose:1: «»# How to research.
        "#]],
        );
    }

    #[test]
    fn arguments_and_results_lead_into_the_program() {
        let main = "use \"./lib/research.prose\"\n            ";
        check_import(
            &format!("{main}let r = research(top$0ic: \"x\")"),
            expect![[r#"
            from /main.prose:2: let r = research(«topic»: "x")
            to   /lib/research.prose:2: input «topic»: "What to research"
        "#]],
        );
        check_import(
            &format!("{main}let r = research(topic: \"x\")\n            session \"{{r.find$0ings}}\""),
            expect![[r#"
                from /main.prose:3: session "{r.«findings»}"
                to   /lib/research.prose:4: output «findings» = findings
            "#]],
        );
        check_import(
            &format!("{main}let r = research(topic: \"x\")\n            output all = r.findings$0"),
            expect![[r#"
                from /main.prose:3: output all = r.«findings»
                to   /lib/research.prose:4: output «findings» = findings
            "#]],
        );
        check_import(
            &format!("{main}let {{ findi$0ngs }} = research(topic: \"x\")"),
            expect![[r#"
            from /main.prose:2: let { «findings» } = research(topic: "x")
            to   /lib/research.prose:4: output «findings» = findings
        "#]],
        );
        check_import(
            &format!(
                "{main}let {{ findings }} = research(topic: \"x\")\n            session \"{{findi$0ngs}}\""
            ),
            expect![[r#"
                from /main.prose:3: session "{«findings»}"
                to   /main.prose:2: let { «findings» } = research(topic: "x")
            "#]],
        );
        check_import(&format!("{main}let r = research(tropic$0: \"x\")"), expect!["nothing"]);
    }

    #[test]
    fn a_program_that_is_not_known_is_its_import() {
        check(
            "use \"alice/research\" as read\nlet r = re$0ad(topic: \"x\")\n",
            expect![[r#"
            from /main.prose:2: let r = «read»(topic: "x")
            to   /main.prose:1: use "alice/research" as «read»
        "#]],
        );
        check("use \"alice/rese$0arch\" as read\n", expect!["nothing"]);
        check(
            "use \"./missing.prose\"\nlet r = missin$0g(topic: \"x\")\n",
            expect![[r#"
            from /main.prose:2: let r = «missing»(topic: "x")
            to   /main.prose:1: use "«./missing.prose»"
        "#]],
        );
    }

    #[test]
    fn programs_that_import_each_other_end() {
        check(
            r#"
            //- /a.prose
            use "./b.prose" as b
            input x: "x"
            output y = b$0(x: x)
            //- /b.prose
            use "./a.prose" as a
            input x: "x"
            output y = a(x: x)
            "#,
            expect![[r#"
                from /a.prose:3: output y = «b»(x: x)
                to   /b.prose:1: «»use "./a.prose" as a
            "#]],
        );
    }
}
