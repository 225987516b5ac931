//! Converting between `session: agent` and `resume: agent` (R43).

use prose_syntax::ast::{Agent, AstNode, Resume, Session};
use prose_syntax::{SyntaxKind, SyntaxNode, TextEdit};

use super::Assist;
use super::source::{Source, has_memory};

/// Replaces `session:` by `resume:` for an agent with a memory, and back.
pub(super) fn resume(source: &Source<'_>) -> Option<Assist> {
    if let Some(session) = source.node::<Session>() {
        let is_plain = session.text().is_none() && session.name().is_none();
        let agent = session.agent().filter(|_| is_plain)?.text();
        remembers(source, &agent).then_some(())?;
        let label = format!("Resume `{agent}` with its memory");
        return replaced(source, session.syntax(), SyntaxKind::SESSION_KW, "resume", label);
    }
    let resume: Resume = source.node()?;
    let agent = resume.agent()?.text();
    let label = format!("Start `{agent}` without its memory");
    replaced(source, resume.syntax(), SyntaxKind::RESUME_KW, "session", label)
}

fn replaced(
    source: &Source<'_>,
    node: &SyntaxNode,
    keyword: SyntaxKind,
    new: &str,
    label: String,
) -> Option<Assist> {
    if !source.is_in_header(node) || source.has_errors(node.text_range()) {
        return None;
    }
    let keyword = node.children_with_tokens().find(|child| child.kind() == keyword)?;
    Some(Assist::rewrite(label, vec![TextEdit::replace(keyword.text_range(), new)]))
}

/// Whether an agent keeps a memory. The first of several of the same name answers (R8).
fn remembers(source: &Source<'_>, name: &str) -> bool {
    let mut agents = source.root.descendants().filter_map(Agent::cast);
    let agent = agents.find(|agent| agent.name().is_some_and(|found| found.text() == name));
    agent.is_some_and(|agent| has_memory(&agent))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    #[test]
    fn a_session_of_an_agent_that_remembers_is_resumed_and_back() {
        check(
            "Resume `w`",
            r#"
            agent w:
              prompt: "w"
              persist: true
            let x = ses$0sion: w  # again
              prompt: "Go on"
            "#,
            expect![[r#"
                agent w:
                  prompt: "w"
                  persist: true
                let x = resume: w  # again
                  prompt: "Go on"
            "#]],
        );
        check(
            "Start `w`",
            "agent w:\n  prompt: \"w\"\n  persist: true\nresume$0: w\n",
            expect![[r#"
                agent w:
                  prompt: "w"
                  persist: true
                session: w
            "#]],
        );
    }

    #[test]
    fn nothing_else_is_resumed() {
        for text in [
            "agent w:\n  prompt: \"w\"\nsession$0: w\n",
            "session$0 \"x\"\n",
            "agent w:\n  prompt: \"w\"\n  persist: true\nsession a$0: w\n",
            "agent w:\n  prompt: \"w\"\n  persist: true\nsession: w\n  prompt: \"$0\"\n",
        ] {
            check_none("Resume", text);
        }
    }
}
