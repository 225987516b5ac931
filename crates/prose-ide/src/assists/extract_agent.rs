//! Extracting a prompt to an agent.

use prose_analysis::resolve::Resolved;
use prose_syntax::ast::{AstNode, Property, PropertyList, Session};
use prose_syntax::{SyntaxNode, TextEdit, TextRange};

use super::source::{INDENT, Source, end};
use super::{Assist, AssistKind};
use crate::entity::EntityKind;

/// Turns a session without an agent into one with an agent, which takes the prompt, the model, the skills and the permissions. A session without
/// a prompt uses that of its agent (R25), so the same prompt is sent.
pub(super) fn extract_agent(source: &Source<'_>) -> Option<Assist> {
    let session: Session = source.node()?;
    let node = session.syntax();
    if session.agent().is_some() || session.name().is_some() || source.has_errors(node.text_range()) {
        return None;
    }
    let properties: Vec<Property> = session.properties().collect();
    let named = |name: &'static str| {
        properties.iter().filter(move |property| property.name().is_some_and(|found| found.text() == name))
    };
    // Of a text and a prompt, an agent can have one.
    let prompt = session.text().filter(|_| named("prompt").next().is_none())?.syntax().clone();
    // Properties on the line of the session have forms that those of an agent's session do not.
    let mut lists = node.children().filter_map(PropertyList::cast);
    if lists.next().is_some_and(|list| source.indent(list.syntax()).is_none()) || lists.next().is_some() {
        return None;
    }
    let moved: Vec<&Property> = ["model", "skills", "permissions"].into_iter().flat_map(named).collect();
    let parts: Vec<SyntaxNode> =
        moved.iter().map(|property| property.syntax().clone()).chain([prompt.clone()]).collect();
    if !are_of_the_file(source, &parts) {
        return None;
    }
    let line_break = source.line_break();
    let name = source.free_name("new_agent");
    let at = source.start_with_comments(&source.top_level(node)?);
    let gap = source.gap_above(at);
    let mut agent = format!("{gap}agent {name}:{line_break}");
    let mut edits = Vec::new();
    for property in &moved {
        let property = property.syntax();
        let range = TextRange::new(property.text_range().start(), source.line_end(end(property)));
        agent += &source.moved(range, source.indent(property)?, INDENT)?;
        agent += line_break;
        edits.push(TextEdit::replace(line_of(source, property), ""));
    }
    agent += &format!("{INDENT}prompt: {}{line_break}{line_break}", source.code(&prompt));
    let session = TextRange::new(node.text_range().start(), end(&prompt));
    edits.push(TextEdit::replace(session, format!("session: {name}")));
    edits.sort_by_key(|edit| edit.range.start());
    edits.insert(0, TextEdit::insert(at, agent));
    let assist = Assist::new("Extract the prompt to an agent", AssistKind::Extract, edits);
    Some(assist.naming(0, gap.len() + "agent ".len(), &name))
}

/// Whether all names in some parts of a session mean the same in an agent, whose texts see no more than the variables of the file.
fn are_of_the_file(source: &Source<'_>, parts: &[SyntaxNode]) -> bool {
    let is_inside = |range: TextRange| parts.iter().any(|part| part.text_range().contains_range(range));
    let names = source.names();
    let used = || names.used.iter().filter(|used| is_inside(used.range));
    // What has the name of a variable of the file may be hidden by one of a block that has the session.
    let is_hidden = |name: &str| {
        names.bound.iter().any(|bound| bound.entity.name == name && bound.entity.kind != EntityKind::Root)
    };
    used().all(|used| match used.resolved {
        Resolved::Root => !is_hidden(&used.name),
        Resolved::Literal => true,
        _ => false,
    })
}

/// The lines of a property.
fn line_of(source: &Source<'_>, property: &SyntaxNode) -> TextRange {
    TextRange::new(source.line_start(property.text_range().start()), source.next_line(end(property)))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const LABEL: &str = "Extract the prompt";

    #[test]
    fn a_text_becomes_an_agent() {
        check(
            LABEL,
            r#"
            input topic: "What about"

            # Writes it.
            block b:
              # Now
              let x = session "Write $0about {topic}"  # here
                model: opus  # the best
                # Try hard
                retry: 2
                permissions:
                  read: ["*.md"]
                context: topic
            do b
            "#,
            expect![[r#"
                input topic: "What about"

                agent «new_agent»:
                  model: opus  # the best
                  permissions:
                    read: ["*.md"]
                  prompt: "Write about {topic}"

                # Writes it.
                block b:
                  # Now
                  let x = session: new_agent  # here
                    # Try hard
                    retry: 2
                    context: topic
                do b
            "#]],
        );
    }

    #[test]
    fn a_prompt_keeps_its_text() {
        check(
            LABEL,
            "session \"\"\"\r\n    a\r\n  b$0\r\n  \"\"\"\r\n  retry: 1\r\n",
            expect![[r#"
                agent «new_agent»:␍
                  prompt: """␍
                    a␍
                  b␍
                  """␍
                ␍
                session: new_agent␍
                  retry: 1␍
            "#]],
        );
        check(
            LABEL,
            "session $0\"a\" -> session \"b\"\n",
            expect![[r#"
                agent «new_agent»:
                  prompt: "a"

                session: new_agent -> session "b"
            "#]],
        );
    }

    #[test]
    fn what_an_agent_cannot_express_stays() {
        for text in [
            "for x in [1]:\n  session \"of $0{x}\"\n",
            "block b(x):\n  session \"of $0{x}\"\n",
            "let x = 1\nblock b(x):\n  session \"a\"\n  session \"of $0{x}\"\n",
            "session \"a$0\"\n  prompt: \"b\"\n",
            "agent w:\n  prompt: \"w\"\nsession$0: w\n  prompt: \"b\"\n",
            "session \"a$0\" (retry: 2)\n",
        ] {
            check_none(LABEL, text);
        }
    }
}
