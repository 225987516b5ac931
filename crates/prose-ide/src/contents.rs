//! The definitions and outputs of a program, for what is shown above their lines.

use prose_analysis::model::{NameKind, ScopeId, ScopeKind, Stmt};
use prose_analysis::parts::{PartKind, parts};
use prose_analysis::statements::{body, statements};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextRange, TextSize};
use smol_str::SmolStr;

/// The name of an agent, a block or an input where it is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDefinition {
    /// What is defined.
    pub kind: NameKind,
    /// The name.
    pub name: SmolStr,
    /// The bytes of the name.
    pub range: TextRange,
}

/// An output of a program, where it gets its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    /// The name; none for the unnamed output.
    pub name: Option<SmolStr>,
    /// The bytes of the statement.
    pub range: TextRange,
}

/// A part of a program that can be executed alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutablePart {
    /// The kind.
    pub kind: PartKind,
    /// The bytes of what is executed: the statement, the condition, the criterion, or the block.
    pub range: TextRange,
    /// The name of a block.
    pub block: Option<SmolStr>,
}

/// The parts of a program that can be executed alone, in the order of the text.
pub fn executable_parts(db: &dyn Db, file: SourceFile) -> Vec<ExecutablePart> {
    let mut found = Vec::new();
    for placed in &statements(db, file).list {
        let body = body(db, placed.statement);
        found.extend(parts(body).into_iter().map(|part| ExecutablePart {
            kind: part.kind,
            range: part.range + TextSize::from(placed.start),
            block: match &body[part.stmt].stmt {
                Stmt::Block { name: Some(name), .. } => Some(body[*name].text.clone()),
                _ => None,
            },
        }));
    }
    found
}

/// The agents, blocks and inputs of a program, in the order of the text.
pub fn definitions(db: &dyn Db, file: SourceFile) -> Vec<NamedDefinition> {
    let mut found = Vec::new();
    for placed in &statements(db, file).list {
        let names = body(db, placed.statement).names();
        let defined = names
            .filter(|(_, name)| matches!(name.kind, NameKind::Agent | NameKind::Block | NameKind::Input));
        found.extend(defined.map(|(_, name)| NamedDefinition {
            kind: name.kind,
            name: name.text.clone(),
            range: name.range + TextSize::from(placed.start),
        }));
    }
    found
}

/// The statements that give the outputs of a program, in the order of the text. Those of its blocks are not among them.
pub fn outputs(db: &dyn Db, file: SourceFile) -> Vec<ProgramOutput> {
    let mut found = Vec::new();
    for placed in &statements(db, file).list {
        let body = body(db, placed.statement);
        let is_of_program = |scope: ScopeId| body[body.frame(scope)].kind == ScopeKind::Root;
        for (_, data) in body.stmts() {
            let Stmt::Output { name, .. } = &data.stmt else { continue };
            if is_of_program(data.scope) {
                let name = name.map(|name| body[name].text.clone());
                found.push(ProgramOutput { name, range: data.range + TextSize::from(placed.start) });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::analysed;

    #[test]
    fn definitions_and_outputs_are_found_where_they_stand() {
        let at = analysed(
            r#"$0
input topic: "What"
agent writer:
  prompt: "x"
block review(text):
  output session "Review {text}"
let x = do review(topic)
if **good**:
  output good = x
output x
"#,
        );
        let (db, file) = (at.host.db(), at.file);
        let text = file.text(db).as_str();
        let mut shown = String::new();
        for definition in definitions(db, file) {
            shown.push_str(&format!("{} {}\n", definition.kind.noun(), &text[definition.range]));
        }
        for output in outputs(db, file) {
            shown.push_str(&format!("output {:?}: {}\n", output.name, &text[output.range]));
        }
        expect![[r#"
            input topic
            agent writer
            block review
            output Some("good"): output good = x
            output None: output x
        "#]]
        .assert_eq(&shown);
    }
}
