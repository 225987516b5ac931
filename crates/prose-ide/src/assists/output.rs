//! Converting `let` to `output`.

use prose_syntax::ast::{AstNode, Let};
use prose_syntax::{SyntaxKind, TextEdit, TextRange};

use super::Assist;
use super::source::Source;

/// Turns a variable of the program into an output. A variable that is assigned later is left alone: the caller would get
/// its last value.
pub(super) fn to_output(source: &Source<'_>) -> Option<Assist> {
    let node: Let = source.node()?;
    let syntax = node.syntax();
    let name = node.name()?;
    let is_top_level = syntax.parent().is_some_and(|parent| parent.kind() == SyntaxKind::SOURCE_FILE);
    if !is_top_level || !source.is_in_header(syntax) || source.has_errors(syntax.text_range()) {
        return None;
    }
    node.value()?;
    let names = source.names();
    let range = name.syntax().text_range();
    let bound = names.bound.iter().find(|bound| range.contains_range(bound.range))?;
    let same = names.bound.iter().filter(|other| other.entity.may_be(&bound.entity));
    if same.count() > 1 {
        return None;
    }
    let start = syntax.text_range().start();
    let edit = TextEdit::replace(TextRange::new(start, range.start()), "output ");
    Some(Assist::rewrite(format!("Make `{}` an output of the program", bound.entity.name), vec![edit]))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check, check_none};

    const LABEL: &str = "Make `report` an output";

    #[test]
    fn a_variable_of_the_program_becomes_an_output() {
        check(
            LABEL,
            "let rep$0ort = session \"x\"  # the result\n  model: opus\nsession \"{report}\"\n",
            expect![[r#"
                output report = session "x"  # the result
                  model: opus
                session "{report}"
            "#]],
        );
    }

    #[test]
    fn others_stay() {
        for text in [
            "block b:\n  let rep$0ort = session \"x\"\n",
            "let rep$0ort = session \"x\"\nreport = session \"y\"\n",
            "let { rep$0ort } = do b()\nblock b:\n  output report = 1\n  output other = 2\n",
            "if **x**:\n  let rep$0ort = session \"x\"\n",
        ] {
            check_none(LABEL, text);
        }
    }
}
