//! Inlay hints.

use prose_analysis::contract::contract;
use prose_analysis::index::lookup;
use prose_analysis::model::*;
use prose_analysis::resolve::variables;
use prose_analysis::statements::{TopStatement, body, statements, summary};
use prose_analysis::{Db, SourceFile};
use prose_syntax::{TextRange, TextSize};
use smol_str::SmolStr;

use crate::entity::{Entity, EntityKind, program_of};
use crate::signature::of_contract;

/// An inlay hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlayHint {
    /// Its position.
    pub offset: TextSize,
    /// Its label.
    pub label: String,
    /// Its kind.
    pub kind: HintKind,
    /// Its tooltip, as a sentence.
    pub tooltip: String,
}

/// The kind of a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HintKind {
    /// The model that answers a session
    Model,
    /// The parameter that an argument of a block is for
    Parameter,
    /// The inputs and outputs of an imported program
    Contract,
    /// How often a body is repeated
    Iterations,
}

/// The kinds of hints to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintOptions {
    /// Models of sessions.
    pub models: bool,
    /// Parameters of blocks.
    pub parameters: bool,
    /// Contracts of imported programs.
    pub contracts: bool,
    /// How often bodies are repeated.
    pub iterations: bool,
}

impl HintOptions {
    /// All kinds.
    pub const ALL: Self = Self { models: true, parameters: true, contracts: true, iterations: true };
}

impl Default for HintOptions {
    fn default() -> Self {
        Self::ALL
    }
}

/// The hints in a range of a file, in the order of the text. A loop without a bound of its own is repeated `max_iterations` times at most.
pub fn inlay_hints(
    db: &dyn Db,
    file: SourceFile,
    range: TextRange,
    wanted: HintOptions,
    max_iterations: u32,
) -> Vec<InlayHint> {
    let mut hints = Vec::new();
    for placed in &statements(db, file).list {
        let start = TextSize::from(placed.start);
        if placed.statement.range(db, start).intersect(range).is_none() {
            continue;
        }
        let about = About { db, statement: placed.statement, body: body(db, placed.statement), start };
        for (_, data) in about.body.stmts() {
            if wanted.models {
                hints.extend(about.model(data));
            }
            if wanted.parameters {
                hints.extend(about.parameters(data));
            }
            if wanted.contracts {
                hints.extend(about.contract(data));
            }
            if wanted.iterations {
                hints.extend(about.iterations(data, max_iterations));
            }
        }
    }
    hints.retain(|hint| range.contains_inclusive(hint.offset));
    hints.sort_by_key(|hint| hint.offset);
    hints
}

/// A top-level statement that hints are requested for.
struct About<'db> {
    db: &'db dyn Db,
    statement: TopStatement<'db>,
    body: &'db Body,
    start: TextSize,
}

impl<'db> About<'db> {
    fn hint(&self, offset: TextSize, kind: HintKind, label: String, tooltip: String) -> InlayHint {
        InlayHint { offset: offset + self.start, label, kind, tooltip }
    }

    /// The model of a session that has it from its agent, and what an alias stands for.
    fn model(&self, data: &StmtData) -> Option<InlayHint> {
        let (agent, properties) = match &data.stmt {
            Stmt::Session { agent, properties, .. } | Stmt::Resume { agent, properties } => {
                (*agent, properties)
            }
            Stmt::Agent { properties, .. } => (None, properties),
            _ => return None,
        };
        if let Some(own) = properties.iter().find(|property| property.is_or_resembles("model")) {
            let value = own.value?;
            let name = self.body.text(value)?.value.as_ref()?;
            let model = self.aliased(name)?;
            let tooltip = format!("`prose.toml` maps `{name}` to {model}.");
            return Some(self.hint(
                self.body[value].range.end(),
                HintKind::Model,
                format!("= {model}"),
                tooltip,
            ));
        }
        let agent = agent?;
        let entity = Entity::of_ref(self.db, self.statement, agent)
            .filter(|entity| entity.kind == EntityKind::Agent)?;
        let site = *entity.sites(self.db).first()?;
        let name = summary(self.db, site.statement).agent(site.name)?.model.as_ref()?;
        let model = self.aliased(name).unwrap_or(name);
        let tooltip = match model == name.as_str() {
            true => format!("The model of agent {}.", entity.name),
            false => {
                format!("The model of agent {}: `{name}`, which `prose.toml` maps to {model}.", entity.name)
            }
        };
        Some(self.hint(self.body[agent].range.end(), HintKind::Model, model.to_owned(), tooltip))
    }

    /// The model that `prose.toml` has a name for.
    fn aliased(&self, name: &str) -> Option<&'db str> {
        let models = &self.statement.file(self.db).project(self.db).models;
        models.get(name).map(|model| model.as_str()).filter(|model| !model.is_empty())
    }

    /// The parameters that the arguments of a call are for. A block takes them in order (R80).
    fn parameters(&self, data: &StmtData) -> Vec<InlayHint> {
        let Stmt::Call { block: Some(block), arguments } = &data.stmt else { return Vec::new() };
        let name = &self.body[*block].text;
        let named = lookup(self.db, self.statement.file(self.db), name).unwrap_or_default();
        let params = named.blocks.first().and_then(|site| summary(self.db, site.statement).block(site.name));
        let params = params.map(|block| block.params.as_slice()).unwrap_or_default();
        let pairs = params.iter().zip(arguments);
        let hidden =
            pairs.filter(|(param, argument)| argument.name.is_none() && !self.is_called(argument, param));
        hidden
            .map(|(param, argument)| {
                let tooltip = format!("The parameter `{param}` of block {name}.");
                self.hint(argument.range.start(), HintKind::Parameter, format!("{param}:"), tooltip)
            })
            .collect()
    }

    /// Whether an argument is a variable that is called like the parameter, so that the name is there already.
    fn is_called(&self, argument: &Argument, param: &SmolStr) -> bool {
        let Some(Value::Expr(value)) = argument.value else { return false };
        self.body.name_of(value).is_some_and(|name| self.body[name].text == *param)
    }

    fn contract(&self, data: &StmtData) -> Option<InlayHint> {
        let Stmt::Use { name: Some(name), .. } = &data.stmt else { return None };
        let site = prose_analysis::index::Site { statement: self.statement, name: *name };
        let contract = contract(self.db, program_of(self.db, site)?);
        let label = of_contract(String::new(), contract).label;
        let tooltip = "The inputs and outputs of the program.".to_owned();
        Some(self.hint(data.range.end(), HintKind::Contract, label, tooltip))
    }

    fn iterations(&self, data: &StmtData, max: u32) -> Option<InlayHint> {
        match &data.stmt {
            Stmt::Loop { condition, options, index, .. } => {
                let is_bound = |option: &Modifier| option.name.as_ref().is_none_or(|name| name.text == "max");
                if options.iter().any(is_bound) {
                    return None;
                }
                let keyword = data.range.start() + TextSize::of("loop");
                let end = condition.map(|condition| self.body[condition].range.end());
                let end = index.map(|index| self.body[index].range.end()).or(end).unwrap_or(keyword);
                let tooltip = "The loop has no `max:`. A run that exceeds this number fails; set it with \
                               `run.max-iterations` in `prose.toml`.";
                Some(self.hint(end, HintKind::Iterations, format!("at most {max} times"), tooltip.to_owned()))
            }
            Stmt::Repeat { count: Some(count), .. } => match &self.only_value(*count)?.0 {
                Expr::Number(times) => self.repeated(*count, times),
                _ => None,
            },
            Stmt::For { collection: Some(collection), .. } => match &self.only_value(*collection)?.0 {
                Expr::Array(items) => self.repeated(*collection, &items.len().to_string()),
                _ => None,
            },
            _ => None,
        }
    }

    fn repeated(&self, expr: ExprId, times: &str) -> Option<InlayHint> {
        let label = if times == "1" { "once".to_owned() } else { format!("{times} times") };
        let tooltip = "The value is assigned only once, so the number is known before a run.".to_owned();
        Some(self.hint(self.body[expr].range.end(), HintKind::Iterations, label, tooltip))
    }

    /// What a variable is set to, if that is one value that is written in the file.
    fn only_value(&self, expr: ExprId) -> Option<(&'db Expr, &'db Body)> {
        let name = self.body.name_of(expr)?;
        let [only] = &variables(self.db, self.statement, name)[..] else { return None };
        let there = body(self.db, only.site.statement);
        match &there[there[only.site.name].stmt].stmt {
            Stmt::Let { value: Some(Value::Expr(value)), destructured: false, .. } => {
                Some((&there[*value].expr, there))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use prose_analysis::host::Project;

    use super::*;
    use crate::testing::analysed;

    /// Shows the text with the hints of the given kind in it.
    #[track_caller]
    fn check(kind: HintKind, fixture: &str, expected: Expect) {
        let mut at = analysed(fixture);
        let fast = ("fast".to_owned(), "vendor/small-1".to_owned());
        let project = Project::new([(&fast.0, &fast.1)], "https://registry.example/");
        at.host.set_project(at.file, project);
        let text = at.file.text(at.host.db()).as_str();
        let all = TextRange::up_to(TextSize::of(text));
        let hints = inlay_hints(at.host.db(), at.file, all, HintOptions::ALL, 1000);
        let mut shown = text.to_owned();
        for hint in hints.iter().rev().filter(|hint| hint.kind == kind) {
            shown.insert_str(hint.offset.into(), &format!("«{}»", hint.label));
        }
        expected.assert_eq(&shown);
        let nothing = HintOptions { models: false, parameters: false, contracts: false, iterations: false };
        assert_eq!(inlay_hints(at.host.db(), at.file, all, nothing, 1000), []);
    }

    #[test]
    fn sessions_have_the_model_of_their_agent() {
        check(
            HintKind::Model,
            r#"$0agent writer:
  model: opus
agent quick:
  model: fast
agent plain:
  prompt: "x"
session: writer
  prompt: "a"
let x = session: quick
session: writer
  model: haiku
resume: writer
session: plain
session: nobody
"#,
            expect![[r#"
                agent writer:
                  model: opus
                agent quick:
                  model: fast«= vendor/small-1»
                agent plain:
                  prompt: "x"
                session: writer«opus»
                  prompt: "a"
                let x = session: quick«vendor/small-1»
                session: writer
                  model: haiku
                resume: writer«opus»
                session: plain
                session: nobody
            "#]],
        );
    }

    #[test]
    fn arguments_have_the_names_of_parameters() {
        check(
            HintKind::Parameter,
            r#"$0block review(topic, depth):
  session "{topic} {depth}"
let depth = 2
do review("tides", 3)
let x = do review([1], depth)
do review(topic: "tides", 1, 2)
do nothing("x")
"#,
            expect![[r#"
                block review(topic, depth):
                  session "{topic} {depth}"
                let depth = 2
                do review(«topic:»"tides", «depth:»3)
                let x = do review(«topic:»[1], depth)
                do review(topic: "tides", «depth:»1, 2)
                do nothing("x")
            "#]],
        );
    }

    #[test]
    fn imports_show_what_programs_take_and_give() {
        check(
            HintKind::Contract,
            r#"
            //- /main.prose
            $0use "./lib.prose" as lib
            use "./silent.prose"
            use "alice/unknown" as other
            //- /lib.prose
            input topic: "What to read on"
            input style: "Optional: how to write"
            output report = session "{topic} {style}"
            output sources = []
            //- /silent.prose
            session "x"
            "#,
            expect![[r#"
                use "./lib.prose" as lib«(topic, style?) → report, sources»
                use "./silent.prose"«()»
                use "alice/unknown" as other
            "#]],
        );
    }

    #[test]
    fn bounds_that_stand_elsewhere_are_shown() {
        check(
            HintKind::Iterations,
            r#"$0const angles = ["cost", "risk", "time"]
let rounds = 4
let names = session "Name some"
loop until **done**:
  session "a"
loop until **done** as turn:
  session "{turn}"
loop until **done** (max: 3):
  session "a"
loop:
  break
for angle in angles:
  session "{angle}"
parallel for name in names:
  session "{name}"
for n in [1, 2]:
  session "{n}"
repeat rounds:
  session "a"
repeat 2:
  session "a"
"#,
            expect![[r#"
                const angles = ["cost", "risk", "time"]
                let rounds = 4
                let names = session "Name some"
                loop until **done**«at most 1000 times»:
                  session "a"
                loop until **done** as turn«at most 1000 times»:
                  session "{turn}"
                loop until **done** (max: 3):
                  session "a"
                loop«at most 1000 times»:
                  break
                for angle in angles«3 times»:
                  session "{angle}"
                parallel for name in names:
                  session "{name}"
                for n in [1, 2]:
                  session "{n}"
                repeat rounds«4 times»:
                  session "a"
                repeat 2:
                  session "a"
            "#]],
        );
    }

    #[test]
    fn a_value_that_is_set_again_gives_no_bound() {
        check(
            HintKind::Iterations,
            "$0let rounds = 4\nrounds = 5\nrepeat rounds:\n  session \"a\"\n",
            expect![[r#"
                let rounds = 4
                rounds = 5
                repeat rounds:
                  session "a"
            "#]],
        );
    }
}
