//! What a program is made of, without running it: its inputs, its agents, the steps that it takes.

use prose_analysis::model::{Body, ListId, Property, Stmt, StmtId, Value};
use prose_syntax::text::first_line;
use smol_str::SmolStr;

use super::{At, Program, is_definition, property};

/// An agent as a program defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedAgent {
    /// Its name.
    pub name: SmolStr,
    /// The line, from 1.
    pub line: u32,
    /// The model that the program names.
    pub model: Option<SmolStr>,
    /// The first line of its prompt, as it is written.
    pub prompt: Option<String>,
    /// Where its memory is kept, as it is written: `true` for the run, `project`, `user` or a path.
    pub memory: Option<SmolStr>,
    /// What it may use, as it is written, such as `write: ["docs/"]`.
    pub rights: Vec<String>,
    /// Its skills. Those whose names are computed when the program runs are left out.
    pub skills: Vec<SmolStr>,
}

/// A step of a program, or the start of one of the parts of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowStep {
    /// In how many others it is.
    pub depth: usize,
    /// The line, from 1.
    pub line: u32,
    /// Its first line without the colon, such as `parallel` or `else`.
    pub text: SmolStr,
    /// The first line of its prompt, if that is a property.
    pub prompt: Option<String>,
}

impl Program {
    /// The inputs that a run can be given, by their keys, with their prompts as they are written and whether they may be left out.
    pub fn described_inputs(&self) -> Vec<(SmolStr, Option<&str>, bool)> {
        let described = |key: SmolStr| {
            let prompt = self.prompt_of_input(&key);
            (key, prompt, prompt.is_some_and(super::is_optional))
        };
        self.inputs().into_iter().map(described).collect()
    }

    /// The agents in the order of the text.
    pub fn described_agents(&self) -> Vec<DescribedAgent> {
        let agents = self.agents().into_iter();
        agents.map(|(name, at)| self.described_agent(name, at)).collect()
    }

    fn described_agent(&self, name: &SmolStr, at: At) -> DescribedAgent {
        let properties = self.stmt(at).properties().unwrap_or_default();
        let written = |name: &str| {
            let value = property(properties, name)?.value?;
            Some(self.body(at).word(value).unwrap_or_else(|| self.string_or_source(at, value)))
        };
        let rights = self.merged_permissions(None, at, properties, None).into_iter();
        DescribedAgent {
            name: name.clone(),
            line: self.line(self.range(at, self.body(at)[at.stmt].range).start().into()),
            model: written("model").map(SmolStr::new),
            prompt: self.beginning_of_prompt(at, properties),
            memory: written("persist").filter(|memory| *memory != "false").map(SmolStr::new),
            rights: rights.map(|it| it.permission.rule.shown(&it.permission.about)).collect(),
            skills: self
                .written_skills(None, at, properties, None)
                .into_iter()
                .map(|skill| skill.name)
                .collect(),
        }
    }

    /// The first line of the prompt among some properties, as it is written.
    fn beginning_of_prompt(&self, at: At, properties: &[Property]) -> Option<String> {
        let prompt = property(properties, "prompt")?.value?;
        let body = self.body(at);
        let range = body.text(prompt).map_or(body[prompt].range, |text| text.content);
        Some(first_line(self.source(at, range)).to_owned())
    }

    /// The steps of the program in the order of its text.
    pub fn flow(&self) -> Vec<FlowStep> {
        let mut steps = Vec::new();
        self.executed().for_each(|at| self.add_steps(at.top, &mut steps));
        steps
    }

    /// The blocks in the order of the text, each with its header and its steps.
    pub fn block_flows(&self) -> Vec<(SmolStr, Vec<FlowStep>)> {
        let of_block = |(name, at): (&SmolStr, At)| {
            let mut steps = Vec::new();
            self.add_steps(at.top, &mut steps);
            (name.clone(), steps)
        };
        self.blocks().into_iter().filter(|(_, at)| at.stmt == StmtId::ROOT).map(of_block).collect()
    }

    fn add_steps(&self, top: u32, steps: &mut Vec<FlowStep>) {
        let body = &self.statements[top as usize].body;
        for (stmt, data) in body.stmts() {
            let at = At { top, stmt };
            let is_nested_definition = stmt != StmtId::ROOT && is_definition(&data.stmt);
            let is_value = data.list.is_none() && stmt != StmtId::ROOT;
            if is_value || is_nested_definition || matches!(data.stmt, Stmt::Input { .. }) {
                continue;
            }
            let depth = flow_depth(body, stmt);
            if let Some(list) = data.list.filter(|list| body[*list].stmts.first() == Some(&stmt)) {
                steps.extend(self.start_of_list(at, list, depth));
            }
            let line = self.site(0, at).line;
            let value = match &data.stmt {
                Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Output { value, .. } => *value,
                _ => None,
            };
            let asks = match value {
                Some(Value::Stmt(value)) => At { stmt: value, ..at },
                _ => at,
            };
            let properties = self.stmt(asks).properties().unwrap_or_default();
            let prompt = self.beginning_of_prompt(asks, properties);
            steps.push(FlowStep { depth, line, text: self.header(at), prompt });
        }
    }

    /// The line that starts a list of statements, if it is another one than that of the statement around it: `else`, `catch as error`.
    fn start_of_list(&self, at: At, list: ListId, depth: usize) -> Option<FlowStep> {
        let owner = At { stmt: self.body(at)[list].owner, ..at };
        let around = self.site(0, owner);
        let first = self.line(self.range(at, self.body(at)[list].range).start().into());
        let lines: Vec<&str> = self.text.lines().collect();
        let is_written = |line: &u32| {
            let text = lines.get(*line as usize - 1).map_or("", |line| line.trim());
            !text.is_empty() && !text.starts_with('#')
        };
        let line = (around.line..first).rev().find(is_written)?;
        let text = lines.get(line as usize - 1)?.trim();
        (line > around.line).then(|| FlowStep {
            depth: depth.saturating_sub(1),
            line,
            text: text.strip_suffix(':').unwrap_or(text).into(),
            prompt: None,
        })
    }
}

/// In how many steps of a flow a statement is. An option is a step in that of its `choice`.
fn flow_depth(body: &Body, mut stmt: StmtId) -> usize {
    let mut depth = 0;
    while let Some(list) = body[stmt].list {
        stmt = body[list].owner;
        depth += if matches!(body[stmt].stmt, Stmt::Choice { .. }) { 2 } else { 1 };
    }
    depth
}
