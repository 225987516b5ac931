//! Runnable blocks: blocks that use only definitions of the file, and no variables of it.

use std::collections::{HashMap, HashSet};

use prose_analysis::model::{Body, NameId, Stmt};
use prose_analysis::resolve::{Resolved, definitions, resolve};
use prose_analysis::statements::{TopStatement, body, statements};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{SyntaxKind, TextRange, TextSize};
use smol_str::SmolStr;

/// A runnable block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnableBlock {
    /// Its name.
    pub name: SmolStr,
    /// The bytes of its name.
    pub range: TextRange,
}

/// The top-level blocks without parameters that use no variable of the file, neither themselves nor through the blocks and agents that they
/// use (R16, R80). In the order of the text.
pub fn runnable_blocks(db: &dyn Db, file: SourceFile) -> Vec<RunnableBlock> {
    let mut found: Vec<RunnableBlock> = Vec::new();
    let mut known: HashSet<&SmolStr> = HashSet::new();
    let bound = not_alone(db, file);
    for placed in &statements(db, file).list {
        let model = body(db, placed.statement);
        let Some((name, params)) = block(model) else { continue };
        let name = &model[name];
        // The first of several of the same name answers (R8).
        if params.is_empty() && !bound.contains(&placed.statement) && known.insert(&name.text) {
            found.push(RunnableBlock {
                name: name.text.clone(),
                range: name.range + TextSize::from(placed.start),
            });
        }
    }
    found
}

/// The program that runs a single block of a file: the definitions that the block needs, each in its line, and a call. The parameters of the block are
/// inputs of the program. None if there is no such block at the top level, or if it needs variables of the whole program.
pub fn block_program(db: &dyn Db, file: SourceFile, name: &str) -> Option<String> {
    let (definition, params) = definition_of(db, file, name)?;
    let needed = needed(db, definition)?;
    let text = file.text(db);
    let text = text.as_str();
    let mut program = String::with_capacity(text.len());
    let mut end = 0;
    for placed in &statements(db, file).list {
        let range = std::ops::Range::<usize>::from(placed.statement.range(db, placed.start.into()));
        program.push_str(text.get(end..range.start)?);
        let statement = text.get(range.clone())?;
        if needed.contains(&placed.statement) {
            program.push_str(statement);
        } else {
            // The lines stay, so that those of errors are those of the file.
            program.extend(statement.chars().filter(|char| ['\n', '\r'].contains(char)));
        }
        end = range.end;
    }
    program.push_str(text.get(end..)?);
    if !program.ends_with(['\n', '\r']) {
        program.push('\n');
    }
    for param in &params {
        program.push_str(&format!("input {param}: \"The parameter `{param}` of the block `{name}`\"\n"));
    }
    let params: Vec<&str> = params.iter().map(|param| param.as_str()).collect();
    match &params[..] {
        [] => program.push_str(&format!("do {name}\n")),
        params => program.push_str(&format!("do {name}({})\n", params.join(", "))),
    }
    Some(program)
}

/// The bytes of the definitions that such a program consists of, in the order of the text; none where there is no such program.
pub fn block_parts(db: &dyn Db, file: SourceFile, name: &str) -> Vec<TextRange> {
    let needed = definition_of(db, file, name).and_then(|(definition, _)| needed(db, definition));
    let needed = needed.unwrap_or_default();
    let parts = statements(db, file).list.iter().filter(|placed| needed.contains(&placed.statement));
    parts.map(|placed| placed.statement.range(db, placed.start.into())).collect()
}

/// The first block of that name at the top level, which answers (R8), and its parameters.
fn definition_of<'db>(
    db: &'db dyn Db,
    file: SourceFile,
    name: &str,
) -> Option<(TopStatement<'db>, Vec<&'db SmolStr>)> {
    statements(db, file).list.iter().find_map(|placed| {
        let model = body(db, placed.statement);
        let (id, params) = block(model)?;
        let params = || params.iter().map(|param| &model[*param].text).collect();
        (model[id].text == name).then(|| (placed.statement, params()))
    })
}

fn is_definition(kind: SyntaxKind) -> bool {
    matches!(kind, SyntaxKind::AGENT | SyntaxKind::BLOCK_DEF | SyntaxKind::USE | SyntaxKind::IMPORT)
}

/// The name and the parameters of a block, if a statement defines one.
fn block(body: &Body) -> Option<(NameId, &[NameId])> {
    match &body[body.root()?].stmt {
        Stmt::Block { name: Some(name), params, .. } => Some((*name, params)),
        _ => None,
    }
}

/// A definition and all others that it uses, directly or through others. None if it uses anything that is not a definition.
fn needed<'db>(db: &'db dyn Db, definition: TopStatement<'db>) -> Option<HashSet<TopStatement<'db>>> {
    let mut seen = HashSet::from([definition]);
    let mut waiting = vec![definition];
    while let Some(statement) = waiting.pop() {
        waiting.extend(used(db, statement)?.into_iter().filter(|used| seen.insert(*used)));
    }
    Some(seen)
}

/// The definitions that one uses itself. None if it uses anything that is not a definition.
fn used<'db>(db: &'db dyn Db, statement: TopStatement<'db>) -> Option<Vec<TopStatement<'db>>> {
    let mut used = Vec::new();
    let resolution = resolve(db, statement);
    for (id, _) in body(db, statement).refs() {
        match resolution.of(id) {
            Resolved::Local(_) | Resolved::Literal => {}
            Resolved::Agent | Resolved::Block | Resolved::Program | Resolved::AgentAsValue => {
                for site in definitions(db, statement, id) {
                    if !is_definition(site.statement.kind(db)) {
                        return None;
                    }
                    used.push(site.statement);
                }
            }
            Resolved::Root | Resolved::Elsewhere | Resolved::Lost | Resolved::Undefined => return None,
        }
    }
    Some(used)
}

/// The definitions that use, directly or through others, anything that is not a definition: [`needed`] has nothing for them, which is found
/// here for all of them at once.
fn not_alone(db: &dyn Db, file: SourceFile) -> HashSet<TopStatement<'_>> {
    let mut users: HashMap<TopStatement<'_>, Vec<TopStatement<'_>>> = HashMap::new();
    let mut waiting = Vec::new();
    for statement in statements(db, file).list.iter().map(|placed| placed.statement) {
        if !is_definition(statement.kind(db)) {
            continue;
        }
        match used(db, statement) {
            Some(used) => used.into_iter().for_each(|used| users.entry(used).or_default().push(statement)),
            None => waiting.push(statement),
        }
    }
    let mut found: HashSet<TopStatement<'_>> = waiting.iter().copied().collect();
    while let Some(statement) = waiting.pop() {
        let users = users.get(&statement).into_iter().flatten().copied();
        waiting.extend(users.filter(|user| found.insert(*user)));
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use prose_analysis::Text;
    use prose_analysis::diagnostics::error_count;

    use super::*;
    use crate::testing::{Analysed, analysed};

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let at = analysed(fixture);
        let blocks = runnable_blocks(at.host.db(), at.file);
        let shown: String = blocks.iter().map(|block| at.show(at.file, block.range) + "\n").collect();
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_block_that_needs_a_parameter_or_a_variable_of_the_file_cannot_be_run_alone() {
        check(
            r#"$0
let topic = "tides"

agent plain:
  prompt: "Be brief"

agent bound:
  prompt: "You know {topic}"

block alone:
  let draft = session "Write"
  session: plain
    prompt: "Polish {draft}"
  do through

block through:
  session "Think"

block given(what):
  session "Write {what}"

block reads:
  session "Write about {topic}"

block by_agent:
  session: bound

block by_block:
  do reads
"#,
            expect![[r#"
                /main.prose:10: block «alone»:
                /main.prose:16: block «through»:
            "#]],
        );
    }

    #[test]
    fn the_program_of_a_block_keeps_what_it_needs_in_its_lines() {
        let at = analysed(
            r#"$0use "./other.prose" as other
let a = session """
  long
"""
# about the block
block one:
  session "1"

do one
agent writer:
  prompt: "x"
block two:
  session: writer
  do one"#,
        );
        let program = block_program(at.host.db(), at.file, "two").unwrap();
        expect![[r#"




            # about the block
            block one:
              session "1"


            agent writer:
              prompt: "x"
            block two:
              session: writer
              do one
            do two
        "#]]
        .assert_eq(&program);
        assert_eq!(block_program(at.host.db(), at.file, "three"), None);
    }

    #[test]
    fn the_program_of_a_block_has_no_errors() {
        let Analysed { mut host, file, .. } = analysed(
            r#"$0let topic = session "Choose"
agent writer:
  prompt: "You write."
block deep(what, depth) (max_depth: 3):
  let draft = session: writer
    prompt: "Write about {what}"
  choice **{draft} is good**:
    option "yes":
      output draft
    option "no":
      do deep(what, depth)
block both:
  parallel:
    a = do deep("tides", 1)
    b = session: writer
      context: a
block bound:
  session "Write about {topic}"
do both
"#,
        );
        for block in ["deep", "both"] {
            let program = block_program(host.db(), file, block).unwrap();
            let alone = host.set_text(std::path::Path::new("/alone.prose"), Text::new(program.as_str()));
            assert_eq!(error_count(host.db(), alone), 0, "{program}");
        }
        assert_eq!(block_program(host.db(), file, "bound"), None);
    }

    #[test]
    fn parameters_of_a_block_are_inputs_of_its_program() {
        let at = analysed("$0block given(what, how):\n  session \"Write {what} {how}\"\n");
        let program = block_program(at.host.db(), at.file, "given").unwrap();
        expect![[r#"
            block given(what, how):
              session "Write {what} {how}"
            input what: "The parameter `what` of the block `given`"
            input how: "The parameter `how` of the block `given`"
            do given(what, how)
        "#]]
        .assert_eq(&program);
    }
}
