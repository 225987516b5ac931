//! Call hierarchy of blocks and programs.

use std::collections::HashMap;

use prose_analysis::imports::imported_programs;
use prose_analysis::index::lookup;
use prose_analysis::model::RefKind;
use prose_analysis::statements::{TopStatement, body, statements, summary};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextRange, TextSize};
use smol_str::SmolStr;

use crate::entity::{EntityKind, binding_range, name_range, program_of, programs};
use crate::references::entities_at;

/// An item of the call hierarchy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Callable {
    /// A block of a file
    Block(SourceFile, SmolStr),
    /// A program: its statements outside of blocks
    Program(SourceFile),
}

impl Callable {
    /// The file that contains it.
    pub fn file(&self) -> SourceFile {
        match self {
            Callable::Block(file, _) | Callable::Program(file) => *file,
        }
    }

    /// Its range, and that of its name; none for a block that no longer exists.
    pub fn place(&self, db: &dyn Db) -> Option<(TextRange, TextRange)> {
        match self {
            Callable::Block(file, name) => {
                let site = *lookup(db, *file, name)?.blocks.first()?;
                let name = name_range(db, site)?;
                Some((binding_range(db, site)?.cover(name), name))
            }
            Callable::Program(file) => {
                let text = TextRange::up_to(TextSize::of(file.text(db).as_str()));
                Some((text, TextRange::empty(0.into())))
            }
        }
    }
}

/// A caller or a callee, with the calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The caller or the callee.
    pub other: Callable,
    /// The ranges of the names in the calls, in the file of the caller.
    pub ranges: Vec<TextRange>,
}

/// The block or the program that the word at an offset refers to. None for a program that is not loaded.
pub fn callables(db: &dyn Db, file: SourceFile, offset: TextSize) -> Vec<Callable> {
    let mut found: Vec<Callable> = Vec::new();
    for entity in entities_at(db, file, offset) {
        match entity.kind {
            EntityKind::Block => found.push(Callable::Block(entity.file, entity.name)),
            EntityKind::Program => {
                let sites = entity.sites(db).into_iter();
                found.extend(sites.filter_map(|site| program_of(db, site)).map(Callable::Program));
            }
            _ => {}
        }
    }
    found.dedup();
    found
}

/// The callers of a block or a program, in its own file and in those of the candidates that import the program.
pub fn incoming_calls(db: &dyn Db, callee: &Callable, candidates: &[SourceFile]) -> Vec<Calls> {
    let files: Vec<SourceFile> = match callee {
        Callable::Block(file, _) => vec![*file],
        Callable::Program(program) => {
            let imports = |file: &SourceFile| imported_programs(db, *file).contains(program);
            candidates.iter().copied().filter(imports).collect()
        }
    };
    let calls = files.into_iter().flat_map(|file| calls_in(db, file));
    grouped(calls.filter(|call| call.callee == *callee).map(|call| (call.caller, call.range)))
}

/// The callees of a block or a program.
pub fn outgoing_calls(db: &dyn Db, caller: &Callable) -> Vec<Calls> {
    let calls = calls_in(db, caller.file()).into_iter().filter(|call| call.caller == *caller);
    grouped(calls.map(|call| (call.callee, call.range)))
}

fn grouped(calls: impl Iterator<Item = (Callable, TextRange)>) -> Vec<Calls> {
    let mut groups: Vec<Calls> = Vec::new();
    let mut known: HashMap<Callable, usize> = HashMap::new();
    for (other, range) in calls {
        match known.get(&other) {
            Some(at) => groups[*at].ranges.push(range),
            None => {
                known.insert(other.clone(), groups.len());
                groups.push(Calls { other, ranges: vec![range] });
            }
        }
    }
    groups
}

struct Call {
    caller: Callable,
    callee: Callable,
    /// The bytes of the name that is called.
    range: TextRange,
}

/// The calls of a file whose callee is known, in the order of the text.
fn calls_in(db: &dyn Db, file: SourceFile) -> Vec<Call> {
    let mut calls = Vec::new();
    for placed in &statements(db, file).list {
        let (statement, start) = (placed.statement, TextSize::from(placed.start));
        for used in &summary(db, statement).uses {
            let Some(callee) = callee(db, statement, used.kind, &used.text) else { continue };
            // A block without a name cannot be called, and its calls belong to no block.
            let Some(caller) = caller(db, statement, used.block) else { continue };
            calls.push(Call { caller, callee, range: body(db, statement)[used.id].range + start });
        }
    }
    calls
}

fn callee(db: &dyn Db, statement: TopStatement<'_>, kind: RefKind, name: &SmolStr) -> Option<Callable> {
    let file = statement.file(db);
    match kind {
        RefKind::Block => {
            let is_known = lookup(db, file, name).is_some_and(|named| !named.blocks.is_empty());
            is_known.then(|| Callable::Block(file, name.clone()))
        }
        RefKind::Callee => programs(db, file, name).next().map(Callable::Program),
        RefKind::Agent | RefKind::Variable | RefKind::Write => None,
    }
}

fn caller(db: &dyn Db, statement: TopStatement<'_>, block: Option<u32>) -> Option<Callable> {
    let file = statement.file(db);
    let Some(block) = block else { return Some(Callable::Program(file)) };
    let summary = summary(db, statement);
    let name = summary.name(summary.blocks.get(block as usize)?.name?)?;
    Some(Callable::Block(file, name.text.clone()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::{Analysed, analysed};

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let at = analysed(fixture);
        let db = at.host.db();
        let name = |callable: &Callable| match callable {
            Callable::Block(_, name) => format!("block {name}"),
            Callable::Program(file) => format!("program {}", file.path(db).display()),
        };
        let listed = |at: &Analysed, arrow: &str, calls: Vec<Calls>, caller: Option<SourceFile>| {
            let mut shown = String::new();
            for call in calls {
                assert!(call.other.place(db).is_some());
                shown += &format!("{arrow} {}\n", name(&call.other));
                for range in call.ranges {
                    shown += &format!("     {}\n", at.show(caller.unwrap_or(call.other.file()), range));
                }
            }
            shown
        };
        let mut shown = String::new();
        for callable in callables(db, at.file, at.offset) {
            shown += &format!("{}\n", name(&callable));
            shown += &listed(&at, "  <-", incoming_calls(db, &callable, &at.files), None);
            shown += &listed(&at, "  ->", outgoing_calls(db, &callable), Some(callable.file()));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn blocks_call_blocks() {
        check(
            r#"
            block draft(topic):
              session "{topic}"
              do check(topic)
            block check$0(text):
              if **{text} is wrong**:
                do draft(text)
              do check(text)
            do check("a")
            let x = do check("b")
            do missing("x")
            "#,
            expect![[r#"
                block check
                  <- block draft
                     /main.prose:3: do «check»(topic)
                  <- block check
                     /main.prose:7: do «check»(text)
                  <- program /main.prose
                     /main.prose:8: do «check»("a")
                     /main.prose:9: let x = do «check»("b")
                  -> block draft
                     /main.prose:6: do «draft»(text)
                  -> block check
                     /main.prose:7: do «check»(text)
            "#]],
        );
    }

    #[test]
    fn programs_call_programs() {
        check(
            r#"
            //- /main.prose
            use "./lib.prose" as li$0b
            block twice(topic):
              output a = lib(topic: topic)
            do twice("x")
            //- /lib.prose
            use "./deep.prose"
            input topic: "x"
            output y = deep(topic: topic)
            //- /deep.prose
            input topic: "x"
            output z = topic
            //- /other.prose
            use "./lib.prose"
            let a = lib(topic: "1")
            let b = lib(topic: "2")
            "#,
            expect![[r#"
                program /lib.prose
                  <- block twice
                     /main.prose:3: output a = «lib»(topic: topic)
                  <- program /other.prose
                     /other.prose:2: let a = «lib»(topic: "1")
                     /other.prose:3: let b = «lib»(topic: "2")
                  -> program /deep.prose
                     /lib.prose:3: output y = «deep»(topic: topic)
            "#]],
        );
    }

    #[test]
    fn nothing_else_calls() {
        check("agent a$0:\n  model: opus\nsession: a\n", expect![[""]]);
        check("use \"alice/unkno$0wn\" as u\n", expect![[""]]);
        check("do missin$0g(1)\n", expect![[""]]);
    }
}
