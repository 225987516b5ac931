//! Signature help.

use std::ops::Range;

use prose_analysis::contract::{Contract, contract};
use prose_analysis::index::lookup;
use prose_analysis::statements::summary;
use prose_analysis::{Db, SourceFile};
use prose_syntax::{SyntaxKind::*, TextSize};
use smol_str::SmolStr;

use crate::comments::{comment_above, first_comment};
use crate::cursor::{Cursor, Piece, last_item, open_brackets};
use crate::entity::programs;
use crate::markdown::escaped;

/// What a call takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The label: the call with its parameters.
    pub label: String,
    /// The documentation of the callee, as Markdown.
    pub documentation: Option<String>,
    /// The parameters, in the order of the definition.
    pub parameters: Vec<SignatureParameter>,
    /// The index of the active parameter; none where the call takes no more.
    pub active: Option<usize>,
}

/// A parameter of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureParameter {
    /// Its name.
    pub name: SmolStr,
    /// Its range in the label.
    pub range: Range<usize>,
    /// Its documentation, as Markdown.
    pub documentation: Option<String>,
}

/// The signature of the call around an offset. The call may be incomplete: only the part before its parenthesis must be valid.
pub fn signature_help(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Signature> {
    let cursor = Cursor::new(db, file, offset)?;
    let pieces = &cursor.pieces;
    let (callee, open) = call_around(pieces)?;
    let (name, inside) = (pieces[callee].text.into(), &pieces[open + 1..]);
    match pieces[..callee].last().map(|before| before.kind) {
        Some(DO_KW) => {
            let mut signature = of_block(db, file, &name)?;
            // A block takes its arguments in order, whatever they are called (R80).
            let nth = items_before(inside, last_item(inside)).len();
            signature.active = Some(nth).filter(|nth| *nth < signature.parameters.len());
            Some(signature)
        }
        Some(BLOCK_KW | DOT) => None,
        _ => {
            let mut signature = of_program(db, file, &name)?;
            signature.active = active(&cursor, inside, &signature.parameters);
            Some(signature)
        }
    }
}

/// The innermost call that the pieces leave open: where its name and its parenthesis stand. Lists and objects around the cursor may be
/// its arguments.
fn call_around(pieces: &[Piece<'_>]) -> Option<(usize, usize)> {
    let is_call = |open: &usize| pieces[*open].kind == L_PAREN && *open > 0 && pieces[*open - 1].is_name();
    open_brackets(pieces).into_iter().rev().find(is_call).map(|open| (open - 1, open))
}

fn of_block(db: &dyn Db, file: SourceFile, name: &SmolStr) -> Option<Signature> {
    let site = *lookup(db, file, name)?.blocks.first()?;
    let params = &summary(db, site.statement).block(site.name)?.params;
    let parameters = params.iter().map(|param| (param.clone(), "", None));
    let mut signature = labelled(format!("do {name}"), parameters);
    signature.documentation = some(comment_above(db, site));
    Some(signature)
}

fn of_program(db: &dyn Db, file: SourceFile, name: &SmolStr) -> Option<Signature> {
    let program = programs(db, file, name).next()?;
    let mut signature = of_contract(name.to_string(), contract(db, program));
    signature.documentation = some(first_comment(db, program));
    Some(signature)
}

/// What a program takes and gives, that is called by a name.
pub(crate) fn of_contract(name: String, contract: &Contract) -> Signature {
    let inputs = contract.inputs.iter().map(|input| {
        let mark = if input.is_optional() { "?" } else { "" };
        (input.name.clone(), mark, input.description.as_deref().map(escaped))
    });
    let mut signature = labelled(name, inputs);
    if !contract.outputs.is_empty() {
        signature.label.push_str(&format!(" → {}", contract.outputs.join(", ")));
    }
    signature
}

fn labelled(
    start: String,
    parameters: impl Iterator<Item = (SmolStr, &'static str, Option<String>)>,
) -> Signature {
    let mut label = start + "(";
    let mut listed: Vec<SignatureParameter> = Vec::new();
    for (name, mark, documentation) in parameters {
        if !listed.is_empty() {
            label.push_str(", ");
        }
        let start = label.len();
        label.push_str(&name);
        label.push_str(mark);
        listed.push(SignatureParameter { name, range: start..label.len(), documentation });
    }
    label.push(')');
    Signature { label, documentation: None, parameters: listed, active: None }
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// The parameter that the argument at the cursor is for: the one it names, else the next of those that no argument names.
fn active(cursor: &Cursor<'_>, inside: &[Piece<'_>], parameters: &[SignatureParameter]) -> Option<usize> {
    let named = |name: &str| parameters.iter().position(|parameter| parameter.name == name);
    let item = last_item(inside);
    if let Some(name) = name_of(item) {
        return named(name);
    }
    let word = &cursor.text[cursor.word];
    if item.is_empty() && cursor.after_word().trim_start_matches(' ').starts_with(':') {
        return named(word);
    }
    let before = items_before(inside, item);
    let mut taken: Vec<&str> = before.iter().filter_map(|item| name_of(item)).collect();
    taken.extend(cursor.names_after());
    let unnamed = before.iter().filter(|item| name_of(item).is_none()).count();
    let free = (0..parameters.len()).filter(|index| !taken.contains(&parameters[*index].name.as_str()));
    let next = free.clone().nth(unnamed);
    // The start of a name may be that of any.
    let is_begun = item.is_empty() && !word.is_empty() && cursor.literal.is_none();
    let meant = free.into_iter().find(|index| is_begun && parameters[*index].name.starts_with(word));
    meant.or(next)
}

/// The name that an argument is given by.
fn name_of<'a>(item: &[Piece<'a>]) -> Option<&'a str> {
    match item {
        [name, colon, ..] if name.is_name() && colon.kind == COLON => Some(name.text),
        _ => None,
    }
}

/// The arguments before the last one.
fn items_before<'p, 'a>(inside: &'p [Piece<'a>], last: &[Piece<'a>]) -> Vec<&'p [Piece<'a>]> {
    let mut items = Vec::new();
    let mut rest = inside.get(..(inside.len() - last.len()).saturating_sub(1)).unwrap_or_default();
    while !rest.is_empty() {
        let item = last_item(rest);
        items.push(item);
        rest = &rest[..(rest.len() - item.len()).saturating_sub(1)];
    }
    items
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::analysed;

    /// Shows the call with the active parameter between `«` and `»`.
    #[track_caller]
    fn shown(fixture: &str) -> String {
        let at = analysed(fixture);
        match signature_help(at.host.db(), at.file, at.offset) {
            None => "nothing\n".to_owned(),
            Some(signature) => {
                let mut label = signature.label.clone();
                let active = signature.active.map(|active| &signature.parameters[active]);
                if let Some(parameter) = active {
                    label.insert(parameter.range.end, '»');
                    label.insert(parameter.range.start, '«');
                }
                let about = active.and_then(|parameter| parameter.documentation.clone());
                let lines = [Some(label), about, signature.documentation];
                lines.into_iter().flatten().map(|line| line + "\n").collect()
            }
        }
    }

    const BLOCK: &str = "# Looks twice.\nblock review(topic, depth):\n  session \"{topic} {depth}\"\n";

    /// A call on the last line of a program with a block.
    #[track_caller]
    fn check_block(call: &str, label: &str) {
        assert_eq!(shown(&format!("{BLOCK}{call}")), format!("{label}\nLooks twice.\n"), "{call}");
    }

    /// A call on the last line of a program that imports another.
    #[track_caller]
    fn check_program(call: &str, expected: Expect) {
        let fixture = format!(
            "//- /lib.prose\n# Finds sources.\ninput topic: \"What to read on\"\ninput style: \"Optional: how to write\"\n\
             output report = session \"{{topic}} {{style}}\"\n//- /main.prose\nuse \"./lib.prose\" as lib\n{call}"
        );
        expected.assert_eq(&shown(&fixture));
    }

    #[test]
    fn arguments_of_blocks_are_taken_in_order() {
        check_block("do review($0", "do review(«topic», depth)");
        check_block("do review(\"a\", $0)", "do review(topic, «depth»)");
        check_block("let x = do review(\"a, b\", [1, 2], $0", "do review(topic, depth)");
        check_block("do review(1$02)", "do review(«topic», depth)");
    }

    #[test]
    fn a_text_and_a_list_are_still_arguments() {
        check_block("do review(\"some te$0xt\", 3)", "do review(«topic», depth)");
        check_block("do review(\"a\", [1, { b: $0", "do review(topic, «depth»)");
        check_block("do review(\n  \"a\",\n  $0", "do review(topic, «depth»)");
    }

    #[test]
    fn a_block_takes_arguments_in_order_whatever_they_are_called() {
        check_block("do review(topic: \"a\", depth: $0", "do review(topic, «depth»)");
        check_block("do review(depth: 1$0", "do review(«topic», depth)");
    }

    #[test]
    fn inputs_of_programs_may_come_in_any_order() {
        for call in [
            "lib(style: $0",
            "lib(style: \"so$0",
            "lib(topic: 1, $0",
            "lib($0, topic: \"a\")",
            "lib(sty$0le: 1)",
            "lib(st$0",
            "lib(\"a\", $0",
        ] {
            check_program(
                &format!("let r = {call}"),
                expect![[r#"
                    lib(topic, «style?») → report
                    Optional: how to write
                    Finds sources.
                "#]],
            );
        }
    }

    #[test]
    fn programs_are_shown_with_what_they_give() {
        check_program(
            "let r = lib($0",
            expect![[r#"
                lib(«topic», style?) → report
                What to read on
                Finds sources.
            "#]],
        );
        check_program(
            "session \"x\"\n  context: [lib(topic: \"a\", style: \"b$0",
            expect![[r#"
                lib(topic, «style?») → report
                Optional: how to write
                Finds sources.
            "#]],
        );
        check_program(
            "let r = lib(topic: lib(style: 1, $0), style: 2)",
            expect![[r#"
                lib(«topic», style?) → report
                What to read on
                Finds sources.
            "#]],
        );
    }

    #[test]
    fn nothing_else_is_a_call() {
        for call in [
            "do review$0",
            "do review(\"a\")$0",
            "parallel ($0):",
            "block review($0",
            "do unknown($0",
            "do review( # why$0",
            "let x = session \"do review($0\"",
        ] {
            assert_eq!(shown(&format!("{BLOCK}{call}")), "nothing\n", "{call}");
        }
    }
}
