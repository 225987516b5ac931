//! Texts of sessions and prompts of agents: empty or very long ones, and sessions without any.

use prose_syntax::{Code, Diagnostic, TextRange, TextSize};

use super::{Checker, Finding};
use crate::model::*;

/// Longer prompts are worth a warning.
const MAX_PROMPT: u32 = 10_000;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (id, data) in body.stmts() {
        let Some(properties) = data.stmt.properties() else { continue };
        if let Stmt::Session { text: Some(text), .. } = data.stmt {
            checker.session_text(text, properties);
        }
        // One that is given again is another mistake.
        if let Some(prompt) = properties.iter().find(|property| property.name.text == "prompt") {
            checker.prompt_text(&data.stmt, properties, prompt);
        }
        checker.prompt_missing(id, &data.stmt, properties);
    }
    for (_, data) in body.exprs() {
        if let Expr::Text(Text { nested_quotes: Some(at), .. }) = &data.expr {
            let range = TextRange::at(*at, TextSize::of("\"\"\""));
            let message = "these quotes are read as text; another interpreter may end the string here";
            checker.report(Diagnostic::new(Code::W140, range, message));
        }
    }
}

impl Checker<'_, '_> {
    fn session_text(&mut self, expr: ExprId, properties: &[Property]) {
        let Some(text) = self.body.text(expr) else { return };
        let range = self.body[expr].range;
        if text.blank {
            let (code, what) = match text.chars {
                0 => (Code::W001, "is empty"),
                _ => (Code::W002, "is only whitespace"),
            };
            let message = match properties.iter().any(|property| property.name.text == "prompt") {
                true => {
                    format!("the text of the session {what}; write here what the `prompt:` below is about")
                }
                false => format!("the text of the session {what}; describe the task"),
            };
            self.report(Diagnostic::new(code, range, message));
        }
        self.length(text, range);
    }

    fn prompt_text(&mut self, stmt: &Stmt, properties: &[Property], property: &Property) {
        let Some(expr) = property.value else { return };
        let Some(text) = self.body.text(expr) else { return };
        let range = self.body[expr].range;
        if text.blank {
            let message = match stmt {
                Stmt::Agent { .. } => "the prompt is empty; describe the agent and how it works",
                _ => "the prompt is empty; describe the task of the session",
            };
            let finding = Finding::new(Code::W004, range, message);
            let finding = self.with_removal(finding, properties, property, "Remove `prompt`".into());
            self.report(finding);
        }
        self.length(text, range);
    }

    fn length(&mut self, text: &Text, range: TextRange) {
        if text.chars <= MAX_PROMPT {
            return;
        }
        // The mark is at the opening quotes: marking all of a long text is not useful.
        let opening = TextRange::new(range.start(), text.content.start());
        let message = format!(
            "prompt of {} characters, more than {}; split the task, or move material to `context:`",
            grouped(text.chars),
            grouped(MAX_PROMPT)
        );
        self.report(Diagnostic::new(Code::W003, opening, message));
    }

    fn prompt_missing(&mut self, id: StmtId, stmt: &Stmt, properties: &[Property]) {
        let Stmt::Session { text: None, name, agent, .. } = stmt else { return };
        if self.body[id].lost_property || properties.iter().any(|property| property.is_or_resembles("prompt"))
        {
            return;
        }
        match (agent, name) {
            (Some(agent), _) => {
                let Some((site, facts)) = self.agent_facts(*agent) else { return };
                if facts.has_prompt {
                    return;
                }
                let data = &self.body[*agent];
                let message = format!("neither this session nor agent `{}` has a `prompt:`", data.text);
                let finding = Finding::new(Code::W126, data.range, message);
                self.report(finding.with_site(Some(site), format!("`{}` has no `prompt:`", data.text)));
            }
            // The agent may be left out of `session name:`, but not what to do as well.
            (None, Some(name)) => {
                let data = &self.body[*name];
                let message = format!("session `{0}` has neither an agent nor a `prompt:`", data.text);
                self.report(Diagnostic::new(Code::E003, data.range, message));
            }
            (None, None) => {}
        }
    }
}

/// `12,345`
fn grouped(number: u32) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}
