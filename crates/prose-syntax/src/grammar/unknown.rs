//! Lines that are not statements: what they were probably meant to be, and how they are passed.

use rowan::TextRange;

use super::recovery::{shorten, skip_block};
use super::{
    Parent, end_of_statement, expressions, foreign_statements, keyword_statement, pipelines, property_lists,
    yaml,
};
use crate::codes::Code;
use crate::diagnostic::{FixSafety, NameRole, TextEdit, Undecided, UndecidedName};
use crate::parser::{Parser, fix};
use crate::properties;
use crate::suggest;
use crate::syntax_kind::{
    KEYWORDS,
    SyntaxKind::{self, *},
};

/// A line that starts with a word that starts no statement.
pub(super) fn unknown_statement(p: &mut Parser<'_>, parent: Parent, after_error: bool) {
    let range = p.range();
    let word = p.token_text();
    if p.nth(1) == COLON && properties::find(word).is_some() {
        let message = format!("`{word}:` is a property; indent it below its `agent` or `session`");
        p.error(Code::E004, range, message);
        return property_lists::property(p);
    }
    if p.nth(1) == COLON && p.kind().is_name() && matches!(p.nth(2), SESSION_KW | RESUME_KW | DO_KW) {
        let colon = p.nth_range(1);
        let after_name = TextRange::new(range.end(), colon.end());
        let fix = fix("Change `:` to `=`", FixSafety::Safe, TextEdit::replace(after_name, " ="));
        p.error_with_fix(
            Code::E005,
            colon,
            format!("expected `=` after `{}`, found `:`", shorten(word)),
            fix,
        );
        p.skip_line();
        property_lists::properties_below(p);
        end_of_statement(p);
        return;
    }
    if p.nth(1) == COLON && p.nth(2) == EQ && p.nth_is_glued(2) {
        let sign = p.nth_range(1).cover(p.nth_range(2));
        let name = shorten(word);
        let message =
            format!("unexpected `:=`; declare a variable with `let {name} = …` and assign to it with `=`");
        let fix = fix("Change `:=` to `=`", FixSafety::Safe, TextEdit::replace(sign, "="));
        p.error_with_fix(Code::E108, sign, message, fix);
        p.start(ASSIGNMENT);
        super::name_ref(p);
        p.bump_error(2);
        super::right_hand_side(p);
        p.finish();
        end_of_statement(p);
        return;
    }
    if foreign_statements::statement(p, parent, after_error) {
        return;
    }
    if yaml::definitions(p) {
        return;
    }
    if p.nth(1) == COLON && yaml::is_list_below(p, 2) && p.nth(3) == INDENT {
        p.error(
            Code::E108,
            range,
            "a program is not YAML; write its statements one per line, without `-` and without a key",
        );
        p.bump_as(IDENT);
        p.bump();
        p.bump();
        let before = p.diagnostic_count();
        skip_block(p);
        p.retract_since(before);
        return;
    }
    if let Some((keyword, kind)) = nearest_keyword(p, parent) {
        let message = format!("unknown statement `{}`; did you mean `{keyword}`?", shorten(word));
        let fix = fix(format!("Change to `{keyword}`"), FixSafety::Safe, TextEdit::replace(range, keyword));
        p.undecided_error(Code::E107, range, message, fix, Undecided::Line);
        return keyword_statement(p, kind, parent, after_error);
    }
    if p.is_among_items && matches!((p.nth(1), p.nth(2)), (LINE_END, _) | (COMMA, LINE_END)) {
        p.skip_line();
        end_of_statement(p);
        return;
    }
    if p.nth(1) == L_PAREN {
        let message = format!("expected `block` before a definition: `block {}(…):`", shorten(word));
        let fix = fix("Insert `block`", FixSafety::Unsafe, TextEdit::insert(range.start(), "block "));
        p.error_with_fix(Code::E005, range, message, fix);
        p.skip_line();
        end_of_statement(p);
        return;
    }
    let word = shorten(word);
    if p.nth(1) == LINE_END {
        let message =
            format!("`{word}` is not a statement; a statement starts with a keyword such as `session`");
        let name = UndecidedName { range, role: NameRole::Statement };
        p.undecided_error(Code::E107, range, message, None, Undecided::Name(name));
    } else {
        p.undecided_error(Code::E107, range, format!("unknown statement `{word}`"), None, Undecided::Line);
    }
    p.skip_line();
    end_of_statement(p);
}

/// The statement keyword that the current word was probably meant to be, where what follows fits it.
fn nearest_keyword(p: &Parser<'_>, parent: Parent) -> Option<(&'static str, SyntaxKind)> {
    let candidates = KEYWORDS
        .iter()
        .copied()
        .filter(|&(_, kind)| parent == Parent::Choice || kind != OPTION_KW || p.nth(1).is_string())
        .filter(|&(_, kind)| fits(p, kind));
    suggest::nearest(p.token_text(), candidates, |&(keyword, _)| keyword)
}

/// The keyword of a block expression that the current word was probably meant to be, after a `=`.
pub(super) fn nearest_value_keyword(p: &Parser<'_>) -> Option<(&'static str, SyntaxKind)> {
    // With parentheses after it the word is most likely the name of a program.
    if !p.at(IDENT) || p.nth(1) == L_PAREN {
        return None;
    }
    nearest_keyword(p, Parent::File)
        .filter(|(_, kind)| matches!(kind, SESSION_KW | RESUME_KW | DO_KW | PARALLEL_KW | LOOP_KW | TRY_KW))
}

/// Whether what follows the current word would fit a statement of this keyword.
fn fits(p: &Parser<'_>, keyword: SyntaxKind) -> bool {
    let (next, second) = (p.nth(1), p.nth(2));
    let is_header = p.nth(p.rest_of_line().saturating_sub(1)) == COLON;
    let condition = next.is_discretion() || (next.is_name() && is_header);
    match keyword {
        USE_KW | IMPORT_KW | OPTION_KW => next.is_string(),
        INPUT_KW => {
            let is_session = matches!(next, SESSION_KW | RESUME_KW);
            next.is_name() && (second == COLON || second.is_string()) && !is_session
        }
        AGENT_KW => next.is_name() && matches!(second, COLON | LINE_END),
        BLOCK_KW => next.is_name() && matches!(second, COLON | L_PAREN | LINE_END),
        FOR_KW => next.is_name() && matches!(second, IN_KW | COMMA),
        OUTPUT_KW => {
            (next.is_name() && second == EQ)
                || matches!(next, SESSION_KW | RESUME_KW | DO_KW | L_BRACE)
                || next.is_string()
        }
        LET_KW | CONST_KW => (next.is_name() && second == EQ) || next == L_BRACE,
        SESSION_KW => next.is_string() || next == COLON,
        RESUME_KW => next == COLON,
        DO_KW => (next.is_name() && matches!(second, L_PAREN | LINE_END)) || next == COLON,
        PARALLEL_KW => matches!(next, COLON | FOR_KW | L_PAREN),
        REPEAT_KW => (next == NUMBER || next.is_name()) && is_header,
        LOOP_KW => matches!(next, COLON | UNTIL_KW | WHILE_KW | L_PAREN),
        TRY_KW | FINALLY_KW | ELSE_KW => next == COLON,
        CATCH_KW => matches!(next, COLON | AS_KW),
        CHOICE_KW => next.is_discretion(),
        IF_KW | ELIF_KW => condition,
        THROW_KW => next.is_string() || next == LINE_END,
        ASSERT_KW => condition,
        BREAK_KW | CONTINUE_KW | RETURN_KW => next == LINE_END,
        _ => false,
    }
}

/// A value stands where a statement should.
pub(super) fn value_without_effect(p: &mut Parser<'_>, kind: SyntaxKind, range: TextRange) {
    match kind {
        STRING => {
            let message = "a text has no effect by itself; put `session` before it to run it";
            let edit = TextEdit::insert(range.start(), "session ");
            p.error_with_fix(Code::E004, range, message, fix("Insert `session`", FixSafety::Unsafe, edit));
        }
        ERROR => {}
        _ => {
            let message = match kind {
                DISCRETION => {
                    "a condition has no effect by itself; use it after `if`, `loop until` or `choice`"
                }
                _ => "unused value; bind it with `let name = …` or return it with `output …`",
            };
            p.error(Code::E004, range, message);
        }
    }
}

/// `x += 1`
pub(super) fn compound_assignment(p: &mut Parser<'_>) {
    let (name, operator) = (p.token_text(), p.nth_text(1));
    let both = p.nth_range(1).cover(p.nth_range(2));
    let message = format!("unknown operator `{operator}=`; write `{name} = {name} {operator} …`");
    let edit = TextEdit::replace(both, format!("= {name} {operator}"));
    p.error_with_fix(Code::E108, both, message, fix("Expand the assignment", FixSafety::Safe, edit));
    p.skip_line();
    end_of_statement(p);
}

/// A line that starts with `|` or `->` where there is nothing to continue.
pub(super) fn orphan_continuation(p: &mut Parser<'_>, after_error: bool) {
    if !after_error {
        let message = format!("unexpected `{}`; there is nothing above to continue", p.token_text());
        p.error(Code::E004, p.range(), message);
    }
    if p.at(PIPE) {
        pipelines::stage(p);
    } else {
        p.start(ARROW_CHAIN);
        while p.eat(ARROW) {
            expressions::expression(p);
        }
        p.finish();
    }
    end_of_statement(p);
}
