//! Go to declaration, type definition and implementation.

use prose_analysis::index::Site;
use prose_analysis::model::*;
use prose_analysis::resolve::definitions;
use prose_analysis::statements::{TopStatement, body, statements};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{SyntaxKind, TextRange, TextSize};
use rustc_hash::FxHashSet;

use crate::definition::{Definition, NavigationTarget, goto_definition, program_start, target};
use crate::element::{Element, ElementKind, Word, element_at};
use crate::entity::{Entity, EntityKind, program_of, programs_of_value};

/// The declaration of the word at an offset: for an imported program its `use`, for anything else its definition.
pub fn goto_declaration(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Definition> {
    let Element { range: origin, kind } = element_at(db, file, offset)?;
    if let ElementKind::Word(statement, word) = &kind {
        let entities = Entity::of_word(db, *statement, word);
        let imports = entities.iter().filter(|entity| entity.kind == EntityKind::Program);
        let sites = imports.flat_map(|entity| entity.sites(db));
        let targets: Vec<_> = sites.filter_map(|site| target(db, site)).collect();
        if !targets.is_empty() {
            return Some(Definition { origin, targets });
        }
    }
    goto_definition(db, file, offset)
}

/// The type definition of a value: the agent whose session produced it, or the block or the program that returned it.
pub fn goto_type_definition(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Definition> {
    let Element { range: origin, kind } = element_at(db, file, offset)?;
    let targets = match &kind {
        ElementKind::Keyword(SyntaxKind::SESSION_KW | SyntaxKind::RESUME_KW) => {
            let (statement, at) = statement_at(db, file, origin)?;
            let mut targets = Vec::new();
            value_types(db, statement, Value::Stmt(at), &mut Seen::default(), &mut targets);
            targets
        }
        ElementKind::Word(statement, word) => {
            let mut seen = Seen::default();
            let mut targets = Vec::new();
            for entity in entities(db, *statement, word) {
                for site in entity.sites(db) {
                    match entity.kind {
                        // A type is its own.
                        EntityKind::Agent | EntityKind::Block => targets.extend(target(db, site)),
                        EntityKind::Program => {
                            targets.extend(program_of(db, site).map(|p| program_start(db, p)))
                        }
                        _ => types(db, site, &mut seen, &mut targets),
                    }
                }
            }
            targets
        }
        _ => Vec::new(),
    };
    Definition::of(origin, targets)
}

/// The statements that compute the value of a variable or an output, through those that only pass it on.
pub fn goto_implementation(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Definition> {
    let Element { range: origin, kind } = element_at(db, file, offset)?;
    let mut targets = Vec::new();
    match &kind {
        ElementKind::Keyword(SyntaxKind::OUTPUT_KW) => {
            let (statement, at) = statement_at(db, file, origin)?;
            if let Stmt::Output { value: Some(value), .. } = body(db, statement)[at].stmt {
                makers(db, statement, value, &mut Seen::default(), &mut targets);
            }
        }
        ElementKind::Word(statement, word) => {
            let mut seen = Seen::default();
            for entity in entities(db, *statement, word) {
                for site in entity.sites(db) {
                    makers_of_site(db, site, &mut seen, &mut targets);
                }
            }
        }
        _ => {}
    }
    Definition::of(origin, targets)
}

/// What a word stands for; of a destructured name what it is taken from, which is what makes it.
fn entities<'db>(db: &'db dyn Db, statement: TopStatement<'db>, word: &Word) -> Vec<Entity<'db>> {
    let mut entities = Entity::of_word(db, statement, word);
    if matches!(word, Word::Bound(_)) && entities.len() > 1 {
        entities.remove(0);
    }
    entities
}

/// The innermost statement that a keyword begins.
fn statement_at(db: &dyn Db, file: SourceFile, keyword: TextRange) -> Option<(TopStatement<'_>, StmtId)> {
    let (statement, start) = statements(db, file).at(keyword.start())?;
    let at = keyword.start().checked_sub(start)?;
    let here = body(db, statement).stmts().filter(|(_, data)| data.range.start() == at);
    Some((statement, here.last()?.0))
}

/// The places that values were followed to.
#[derive(Default)]
struct Seen<'db>(FxHashSet<Site<'db>>);

impl<'db> Seen<'db> {
    /// The maximum number of places that values are followed to, each of which may be one step deeper than the one before.
    const MAX_PLACES: usize = 1000;

    fn insert(&mut self, site: Site<'db>) -> bool {
        self.0.len() < Self::MAX_PLACES && self.0.insert(site)
    }
}

/// The statement that binds a name, the first time that it is come by: variables may be set to each other in a circle.
fn binding<'db>(db: &'db dyn Db, site: Site<'db>, seen: &mut Seen<'db>) -> Option<(&'db Body, StmtId)> {
    if !seen.insert(site) {
        return None;
    }
    let body = body(db, site.statement);
    Some((body, body[site.name].stmt))
}

fn types<'db>(db: &'db dyn Db, site: Site<'db>, seen: &mut Seen<'db>, targets: &mut Vec<NavigationTarget>) {
    let Some((body, stmt)) = binding(db, site, seen) else { return };
    match &body[stmt].stmt {
        Stmt::Session { .. } => value_types(db, site.statement, Value::Stmt(stmt), seen, targets),
        Stmt::Let { value: Some(value), destructured: false, .. }
        | Stmt::Assign { value: Some(value), .. }
        | Stmt::Output { value: Some(value), .. } => {
            value_types(db, site.statement, *value, seen, targets);
            let programs = programs_of_value(db, site).into_iter();
            targets.extend(programs.map(|program| program_start(db, program)));
        }
        _ => {}
    }
}

/// The agent of a session, the block of a call, or what a variable has that is passed on.
fn value_types<'db>(
    db: &'db dyn Db,
    statement: TopStatement<'db>,
    value: Value,
    seen: &mut Seen<'db>,
    targets: &mut Vec<NavigationTarget>,
) {
    let body = body(db, statement);
    let stmt = match value {
        Value::Stmt(stmt) => stmt,
        Value::Expr(expr) => {
            let sites = body.name_of(expr).map(|name| definitions(db, statement, name)).unwrap_or_default();
            return sites.into_iter().for_each(|site| types(db, site, seen, targets));
        }
    };
    let name = match &body[stmt].stmt {
        Stmt::Session { agent, .. } | Stmt::Resume { agent, .. } => *agent,
        Stmt::Call { block, .. } => *block,
        // The result of a chain is that of its last session.
        Stmt::Chain(sessions) => {
            if let Some(last) = sessions.last() {
                value_types(db, statement, Value::Stmt(*last), seen, targets);
            }
            return;
        }
        _ => None,
    };
    let sites = name.map(|name| definitions(db, statement, name)).unwrap_or_default();
    targets.extend(sites.into_iter().filter_map(|site| target(db, site)));
}

fn makers_of_site<'db>(
    db: &'db dyn Db,
    site: Site<'db>,
    seen: &mut Seen<'db>,
    targets: &mut Vec<NavigationTarget>,
) {
    let Some((body, stmt)) = binding(db, site, seen) else { return };
    match &body[stmt].stmt {
        Stmt::Let { value: Some(value), .. }
        | Stmt::Assign { value: Some(value), .. }
        | Stmt::Output { value: Some(value), .. } => makers(db, site.statement, *value, seen, targets),
        Stmt::Session { .. } => targets.extend(part(db, site.statement, body[stmt].range)),
        _ => {}
    }
}

fn makers<'db>(
    db: &'db dyn Db,
    statement: TopStatement<'db>,
    value: Value,
    seen: &mut Seen<'db>,
    targets: &mut Vec<NavigationTarget>,
) {
    let body = body(db, statement);
    let passed_on = match value {
        Value::Expr(expr) => body.name_of(expr),
        Value::Stmt(_) => None,
    };
    let sites = passed_on.map(|name| definitions(db, statement, name)).unwrap_or_default();
    if sites.is_empty() {
        targets.extend(part(db, statement, body.value_range(value)));
    }
    for site in sites {
        makers_of_site(db, site, seen, targets);
    }
}

fn part(db: &dyn Db, statement: TopStatement<'_>, range: TextRange) -> Option<NavigationTarget> {
    let file = statement.file(db);
    let range = range + statement.start(db)?;
    Some(NavigationTarget { file, range, selection_range: TextRange::empty(range.start()) })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::{analysed, expect_lines};

    type Goto = fn(&dyn Db, SourceFile, TextSize) -> Option<Definition>;

    #[track_caller]
    fn check(goto: Goto, fixture: &str, expected: Expect) {
        let at = analysed(fixture);
        let targets = goto(at.host.db(), at.file, at.offset).map(|found| found.targets).unwrap_or_default();
        let shown: String =
            targets.iter().map(|target| at.show(target.file, target.selection_range) + "\n").collect();
        expect_lines(&shown, &expected);
    }

    const LIB: &str = "//- /lib.prose\ninput topic: \"x\"\nlet draft = session \"Write {topic}\"\ndraft = session \"Polish\"\noutput report = draft\n//- /main.prose\nuse \"./lib.prose\" as lib\n";

    #[test]
    fn an_imported_program_is_declared_by_its_use() {
        check(
            goto_declaration,
            &format!("{LIB}let r = l$0ib(topic: 1)\n"),
            expect![[r#"/main.prose:1: use "./lib.prose" as «lib»"#]],
        );
        check(
            goto_declaration,
            "let x = 1\nx = 2\nsession \"{$0x}\"\n",
            expect!["/main.prose:1: let «x» = 1"],
        );
    }

    #[test]
    fn a_session_leads_to_its_agent() {
        let program = "agent writer:\n  model: opus\nlet a = session: writer\nlet b = a\nsess$0ion: writer\n";
        check(goto_type_definition, program, expect!["/main.prose:1: agent «writer»:"]);
        let program = "agent writer:\n  model: opus\nlet a = session: writer\nsession \"{a$0}\"\n";
        check(goto_type_definition, program, expect!["/main.prose:1: agent «writer»:"]);
        let program =
            "agent writer:\n  model: opus\nlet a = session \"x\" -> resume: writer\noutput b = a$0\n";
        check(goto_type_definition, program, expect!["/main.prose:1: agent «writer»:"]);
    }

    #[test]
    fn a_value_that_is_passed_on_keeps_its_agent() {
        let agent = "agent writer:\n  model: opus\n";
        check(
            goto_type_definition,
            &format!("{agent}let a = session: writer\nlet b = a\noutput c$0 = b\n"),
            expect!["/main.prose:1: agent «writer»:"],
        );
        check(goto_type_definition, "a = b\nb = a\noutput c$0 = a\n", expect![[""]]);
        // The agent of a session is its type already.
        check(
            goto_type_definition,
            &format!("{agent}let a = session: wri$0ter\n"),
            expect!["/main.prose:1: agent «writer»:"],
        );
    }

    #[test]
    fn results_lead_to_what_gave_them() {
        check(
            goto_type_definition,
            &format!("{LIB}let r = lib(topic: 1)\noutput s = r$0\n"),
            expect![[r#"/lib.prose:1: «»input topic: "x""#]],
        );
        check(
            goto_type_definition,
            "block b:\n  session \"x\"\nlet r$0 = do b\n",
            expect!["/main.prose:1: block «b»:"],
        );
        check(goto_type_definition, "let r$0 = session \"x\"\n", expect![[""]]);
    }

    #[test]
    fn an_output_leads_to_the_statements_that_make_it() {
        let program = "let a = session \"x\"\na = session \"y\"\noutput$0 b = a\n";
        check(
            goto_implementation,
            program,
            expect![[r#"
            /main.prose:1: let a = «»session "x"
            /main.prose:2: a = «»session "y"
        "#]],
        );
        check(
            goto_implementation,
            &format!("{LIB}let r = lib(topic: 1)\noutput s = r.rep$0ort\n"),
            expect![[r#"
            /lib.prose:2: let draft = «»session "Write {topic}"
            /lib.prose:3: draft = «»session "Polish"
        "#]],
        );
        check(
            goto_implementation,
            &format!("{LIB}let {{ rep$0ort }} = lib(topic: 1)\n"),
            expect![[r#"
            /lib.prose:2: let draft = «»session "Write {topic}"
            /lib.prose:3: draft = «»session "Polish"
        "#]],
        );
        check(goto_implementation, "output b$0 = [1, 2]\n", expect!["/main.prose:1: output b = «»[1, 2]"]);
        check(goto_implementation, "a = b\nb = a\noutput c$0 = a\n", expect![[""]]);
    }

    /// Threads have small stacks.
    #[test]
    fn a_value_that_is_passed_on_very_often_is_followed_so_far() {
        let names = 100_000;
        let mut text = "let v0 = session \"Go\"\n".to_owned();
        for name in 0..names {
            text += &format!("let v{} = v{name}\n", name + 1);
        }
        let mut host = prose_analysis::AnalysisHost::default();
        let file = host.set_text(std::path::Path::new("/a.prose"), prose_analysis::Text::new(&*text));
        let last = TextSize::of(text.as_str()) - TextSize::new(3);
        for goto in [goto_type_definition, goto_implementation] {
            assert_eq!(goto(host.db(), file, last), None);
        }
        let early = TextSize::new(text.find("v9\n").expect("the variable is passed on") as u32);
        assert!(goto_implementation(host.db(), file, early).is_some());
    }
}
