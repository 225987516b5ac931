//! Imports, inputs, outputs, agents, blocks and bindings.

use rowan::TextRange;

use super::{
    body, end_of_statement, expect_name, expressions, foreign, header_end, modifiers, name, name_ref,
    property_lists, recovery, right_hand_side,
};
use crate::codes::Code;
use crate::diagnostic::{FixSafety, TextEdit};
use crate::names;
use crate::parser::{Parser, fix, safe_if};
use crate::syntax_kind::SyntaxKind::{self, *};

/// `use "path" [as name]`
pub(super) fn use_statement(p: &mut Parser<'_>) {
    p.start(USE);
    p.bump_as(USE_KW);
    if p.at(COLON) && p.nth(1).is_string() {
        recovery::superfluous_colon(p, "use", FixSafety::Safe);
    }
    if p.at_string() {
        expressions::string(p);
        if p.eat(AS_KW) {
            expect_name(p, Code::E005, "a name after `as`");
        } else if p.at_name() {
            let edit = TextEdit::insert(p.range().start(), "as ");
            let fix = fix("Insert `as`", safe_if(p.rest_of_line() == 1), edit);
            p.error_with_fix(Code::E005, p.range(), "expected `as` before the name", fix);
            name(p);
        }
    } else {
        bare_path(p);
    }
    p.finish();
    end_of_statement(p);
}

/// A path without quotes: `use alice/research as research`.
fn bare_path(p: &mut Parser<'_>) {
    if p.at_line_end() {
        return p.expected(Code::E106, "expected the path of a program: `use \"handle/slug\"`");
    }
    let words = (0..p.rest_of_line()).take_while(|&ahead| p.nth(ahead) != AS_KW).count().max(1);
    let range = p.range().cover(p.nth_range(words - 1));
    let path = p.text_at(range).to_owned();
    p.error_with_fix(
        Code::E106,
        range,
        "the path of a program must be in quotes",
        program_path(&path).and_then(|meant| {
            let title = if meant == path {
                "Put the path in quotes".to_owned()
            } else {
                format!("Change to `\"{meant}\"`")
            };
            fix(title, safe_if(meant == path), TextEdit::replace(range, format!("\"{meant}\"")))
        }),
    );
    p.bump_error(words);
    if p.eat(AS_KW) {
        expect_name(p, Code::E005, "a name after `as`");
    }
}

/// The path of a program that `written` is or was probably meant to be: a single word is taken for a file next to this one.
/// What names no program (E012) would be a fix that makes another error, so there is none for the source of a skill.
fn program_path(written: &str) -> Option<String> {
    let is_plain = |text: &str| {
        !text.is_empty()
            && !text.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\\' | '{'))
    };
    let is_slug = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let is_path = match written.split_once('/') {
        Some((handle, slug)) => {
            (is_slug(handle) && is_slug(slug)) || (is_plain(written) && written.ends_with(".prose"))
        }
        None => false,
    };
    if is_path {
        return Some(written.to_owned());
    }
    let stem = written.strip_suffix(".prose").unwrap_or(written);
    is_slug(stem).then(|| format!("./{stem}.prose"))
}

/// `import "skill" from "source"`: legacy, and the `import` of other languages.
pub(super) fn import_statement(p: &mut Parser<'_>) {
    let keyword = p.range();
    let line = p.rest_of_line_range();
    p.start(IMPORT);
    p.bump_as(IMPORT_KW);
    let skill = p.at_string().then(|| p.token_text().trim_matches(['"', '\'']).to_owned());
    if p.at_string() {
        expressions::string(p);
    } else if !p.at(FROM_KW) {
        p.start(ERROR);
        while !(p.at_line_end() || p.at(FROM_KW) && p.nth(1).is_string()) {
            p.bump();
        }
        p.finish();
    }
    let source = if p.eat(FROM_KW) && p.at_string() {
        let text = p.token_text().trim_matches(['"', '\'']).to_owned();
        expressions::string(p);
        Some(text)
    } else {
        None
    };
    let replacement = match (&skill, &source) {
        // What worked as the source of a skill is taken for a program only where it can be nothing else.
        (Some(skill), Some(source)) => {
            program_path(source).filter(|path| path == source).map(|path| match names::is_name(skill) {
                true => format!("use \"{path}\" as {skill}"),
                false => format!("use \"{path}\""),
            })
        }
        (None, Some(path)) | (Some(path), None) => program_path(path).map(|path| format!("use \"{path}\"")),
        (None, None) => None,
    };
    let quick_fix =
        replacement.and_then(|text| fix("Change to `use`", FixSafety::Unsafe, TextEdit::replace(line, text)));
    if skill.is_some() && source.is_some() {
        let message =
            "`import … from` is deprecated and only names a skill; import programs with `use \"path\"`";
        p.note(Code::W103, keyword, message, quick_fix);
    } else {
        let message = "import programs with `use \"path\"` or `use \"path\" as name`";
        p.error_with_fix(Code::E108, keyword, message, quick_fix);
    }
    p.finish();
    end_of_statement(p);
}

/// `input name: "description"`
pub(super) fn input(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(INPUT);
    p.bump_as(INPUT_KW);
    match p.kind() {
        kind if kind.is_string() && p.nth(1) != COLON => {
            expressions::string(p);
        }
        COLON | LINE_END => {
            let message = "`input` needs a name: `input topic: \"what it is for\"`";
            let fix = fix("Name it `topic`", FixSafety::Unsafe, TextEdit::insert(keyword.end(), " topic"));
            p.error_with_fix(Code::E020, keyword, message, fix);
            p.eat(COLON);
            prompt(p);
        }
        _ => {
            if expect_name(p, Code::E020, "an input name") {
                if p.eat(COLON) {
                    if p.at_line_end() {
                        recovery::missing_value(p);
                    } else if p.at_name() {
                        let message = "the description of an input must be in quotes";
                        recovery::unquoted_text(p, Code::E004, p.rest_of_line_range(), message);
                    }
                    prompt(p);
                } else if p.at(EQ) {
                    let message = "expected `:` and a description, found `=`; the caller provides the value of an input";
                    p.wrong_sign(p.range(), ":", FixSafety::Unsafe, message);
                    p.skip_line();
                } else if p.at_string() || p.kind().is_discretion() {
                    let message = "expected `:` between the name of an input and its description";
                    p.missing(":", FixSafety::Safe, message);
                    prompt(p);
                }
            }
        }
    }
    p.finish();
    end_of_statement(p);
}

fn prompt(p: &mut Parser<'_>) {
    if p.at_string() {
        expressions::string(p);
    } else if p.kind().is_discretion() {
        p.bump();
    }
}

/// `output name = value`, or `output value`, which returns
pub(super) fn output(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(OUTPUT);
    p.bump_as(OUTPUT_KW);
    match p.nth(1) {
        EQ if p.at_name() || p.at_string() => {
            expect_name(p, Code::E005, "an output name");
            p.bump();
            right_hand_side(p);
        }
        _ if p.at(COLON) && p.nth(1) != LINE_END => {
            recovery::superfluous_colon(p, "output", FixSafety::Unsafe);
            right_hand_side(p);
        }
        _ if p.at(EQ) => {
            let message = "`output` needs a name before `=`: `output report = …`";
            let fix = fix("Name it `result`", FixSafety::Unsafe, TextEdit::insert(keyword.end(), " result"));
            p.error_with_fix(Code::E023, keyword, message, fix);
            p.bump();
            right_hand_side(p);
        }
        COLON if p.at_name() && super::block_expression_keyword(p).is_none() => {
            name(p);
            let message = "expected `=` after the name of an output, found `:`";
            p.wrong_sign(p.range(), " =", FixSafety::Safe, message);
            p.bump();
            right_hand_side(p);
        }
        _ if p.at_line_end() => recovery::missing_value(p),
        _ => right_hand_side(p),
    }
    p.finish();
    end_of_statement(p);
}

/// `agent name:` with its properties
pub(super) fn agent(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(AGENT);
    p.bump_as(AGENT_KW);
    recovery::misplaced_colon(p, "agent");
    expect_name(p, Code::E005, "an agent name");
    if p.at(L_PAREN) {
        foreign::parameters_of_agent(p);
    }
    header_end(p, "agent");
    let has_error = p.is_line_reported || p.is_place_unknown;
    if p.at_line_end() && !property_lists::properties(p, "agent") && !has_error {
        p.note(Code::W101, keyword, "`agent` has no properties", None);
    }
    p.finish();
    end_of_statement(p);
}

/// `block name(parameters) (max_depth: 5):` with its body
pub(super) fn block(p: &mut Parser<'_>) {
    let keyword = p.range();
    p.start(BLOCK_DEF);
    p.bump_as(BLOCK_KW);
    recovery::misplaced_colon(p, "block");
    expect_name(p, Code::E005, "a block name");
    if p.at(L_PAREN) && !is_modifier_list(p) {
        expressions::list(p, PARAM_LIST, R_PAREN, |p| {
            p.start(PARAM);
            let found = expect_name(p, Code::E005, "a parameter name");
            p.finish();
            found && foreign::type_or_default(p)
        });
    }
    if p.at(L_PAREN) {
        modifiers::modifiers(p);
    }
    if p.at(ARROW) && p.nth(1).is_name() {
        let result = TextRange::new(p.previous_end(), p.nth_range(1).end());
        let fix = fix("Remove the return type", FixSafety::Safe, TextEdit::delete(result));
        p.error_with_fix(Code::E108, p.range().cover(p.nth_range(1)), "a block takes no return type", fix);
        p.bump_error(2);
    }
    modifiers::bare_modifiers(p, "block");
    header_end(p, "block");
    let loops = std::mem::take(&mut p.loops);
    body(p, keyword, "block");
    p.loops = loops;
    p.finish();
    end_of_statement(p);
}

fn is_modifier_list(p: &Parser<'_>) -> bool {
    p.nth(1).is_name() && p.nth(2) == COLON && !foreign::is_type(p.nth_text(3))
}

/// `let name = value`, `const { a, b } = value`
pub(super) fn binding(p: &mut Parser<'_>, keyword: SyntaxKind) {
    let word = p.token_text();
    p.start(LET);
    p.bump_as(keyword);
    if p.at(L_BRACE) {
        expressions::list(p, DESTRUCTURING, R_BRACE, |p| expect_name(p, Code::E005, "a name to bind"));
    } else if p.at_name() && p.nth(1) == L_BRACE && p.nth_is_glued(1) {
        name_with_braces(p);
    } else {
        expect_name(p, Code::E005, &format!("a name after `{word}`"));
    }
    if p.eat(EQ) {
        right_hand_side(p);
    } else if p.at_line_end() {
        p.expected(Code::E005, format!("expected `=` and a value: `{word} name = …`"));
    } else if matches!(p.kind(), COLON | EQ_EQ)
        || super::block_expression_keyword(p).is_some()
        || p.at_string()
    {
        missing_equals(p);
        right_hand_side(p);
    }
    p.finish();
    end_of_statement(p);
}

fn missing_equals(p: &mut Parser<'_>) {
    if p.at(COLON) && p.nth(2) == EQ {
        let annotation = p.range().cover(p.nth_range(1));
        let fix = fix("Remove the type", FixSafety::Safe, TextEdit::delete(annotation));
        p.error_with_fix(Code::E108, annotation, "variables have no types", fix);
        p.bump_error(3);
        return;
    }
    if matches!(p.kind(), COLON | EQ_EQ) {
        let sign = match p.nth(1) {
            EQ => p.range().cover(p.nth_range(1)),
            _ => p.range(),
        };
        let message = format!("expected `=` after the name of a variable, found `{}`", p.text_at(sign));
        p.wrong_sign(sign, " =", FixSafety::Safe, message);
        p.start(ERROR);
        p.bump();
        p.eat(EQ);
        p.finish();
        return;
    }
    p.missing(" =", FixSafety::Safe, "expected `=` between a variable and its value");
}

/// `name = value`
pub(super) fn assignment(p: &mut Parser<'_>) {
    p.start(ASSIGNMENT);
    if p.at_name() {
        name_ref(p);
    } else {
        expect_name(p, Code::E005, "a variable name");
    }
    p.bump();
    right_hand_side(p);
    p.finish();
    end_of_statement(p);
}

/// `report_{item} = …`, which is not a name.
pub(super) fn assignment_to_pattern(p: &mut Parser<'_>) {
    p.start(ASSIGNMENT);
    name_with_braces(p);
    if p.eat(EQ) {
        right_hand_side(p);
    }
    p.finish();
    end_of_statement(p);
}

fn name_with_braces(p: &mut Parser<'_>) {
    let words = (0..p.rest_of_line())
        .take_while(|&ahead| p.nth(ahead) != EQ && (ahead == 0 || p.nth_is_glued(ahead)))
        .count();
    let range = p.range().cover(p.nth_range(words - 1));
    let plain: String = p.text_at(range).chars().filter(|c| !matches!(c, '{' | '}')).collect();
    p.error_with_fix(
        Code::E115,
        range,
        "a name cannot contain braces; to keep one result per item, collect them in an array",
        fix(format!("Rename to `{plain}`"), FixSafety::Unsafe, TextEdit::replace(range, &plain))
            .filter(|_| names::is_name(&plain)),
    );
    p.bump_error(words);
}
