//! The rules of the language, one function each, in the shape of the EBNF of the reference.

mod conditions;
mod control;
mod definitions;
mod expressions;
mod foreign;
mod foreign_statements;
mod loops;
mod modifiers;
mod pipelines;
mod property_lists;
mod recovery;
mod sessions;
mod unindented;
mod unknown;
mod yaml;

use rowan::TextRange;

use crate::codes::Code;
use crate::diagnostic::{FixSafety, TextEdit};
use crate::parser::{Parser, fix};
use crate::syntax_kind::SyntaxKind::{self, *};

/// What a list of statements is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parent {
    File,
    Body,
    Choice,
    /// Below a line that was reported: the kind of the lines here is unknown, so properties, options and clauses are as
    /// good as statements (decision 8).
    Unknown,
}

pub(crate) fn source_file(p: &mut Parser<'_>) {
    p.start_root();
    yaml::front_matter(p);
    while !p.at(END) {
        statements(p, Parent::File);
        // Only text that is indented although nothing opens a block ends the list early.
        p.eat(DEDENT);
    }
    p.finish_root();
}

fn statements(p: &mut Parser<'_>, parent: Parent) {
    let mut after_error = parent == Parent::Unknown;
    loop {
        match p.kind() {
            END | DEDENT => break,
            LINE_END => p.bump(),
            INDENT => {
                recovery::indented(p, after_error || p.line_above_has_error);
                after_error = true;
            }
            _ => after_error = listed_statement(p, parent, after_error),
        }
    }
}

/// One of a list of statements. Returns whether what follows may belong to something that was not understood.
fn listed_statement(p: &mut Parser<'_>, parent: Parent, after_error: bool) -> bool {
    // Several clauses can belong to one statement.
    let continues = matches!(p.kind(), ELIF_KW | ELSE_KW | CATCH_KW | FINALLY_KW | PIPE | ARROW);
    let before = p.diagnostic_count();
    let line_end = p.rest_of_line_range().end();
    let handlerless_try = p.handlerless_try.take();
    let outer = std::mem::take(&mut p.clause_has_error);
    let is_outer_unknown = std::mem::replace(&mut p.is_place_unknown, parent == Parent::Unknown);
    statement(p, parent, after_error);
    unindented::report(p);
    p.is_place_unknown = is_outer_unknown;
    let clause_has_error = std::mem::replace(&mut p.clause_has_error, outer);
    let has_error = p.has_error_up_to(line_end, before);
    if let Some(index) = handlerless_try
        && has_error
    {
        // The line that was to hold the handler is reported itself.
        p.retract(index);
    }
    has_error
        || clause_has_error
        || parent == Parent::Unknown
        || (after_error && continues && !p.at(OPTION_KW))
}

fn statement(p: &mut Parser<'_>, parent: Parent, after_error: bool) {
    if recovery::is_too_deep(p) {
        return;
    }
    p.depth += 1;
    let start = p.position();
    statement_at(p, parent, after_error);
    if p.position() == start {
        // No rule took the token, so it is passed here: parsing always gets on.
        recovery::unexpected(p);
        p.skip_line();
        p.eat(LINE_END);
    }
    p.depth -= 1;
}

fn statement_at(p: &mut Parser<'_>, parent: Parent, after_error: bool) {
    foreign::words_of_waiting(p);
    if let Some(keyword) = statement_keyword(p) {
        if parent == Parent::Choice && !is_clause(keyword) {
            p.note(
                Code::W102,
                p.range(),
                "only options are allowed in a `choice`; put this under an `option \"label\":`",
                None,
            );
        }
        keyword_statement(p, keyword, parent, after_error);
        return;
    }
    match p.kind() {
        SESSION_KW | RESUME_KW if sessions::has_equals_sign(p) => {
            keyword_statement(p, p.kind(), parent, after_error);
        }
        kind if kind.is_name() => match p.nth(1) {
            EQ => definitions::assignment(p),
            L_BRACE if p.nth_is_glued(1) => definitions::assignment_to_pattern(p),
            COLON if parent == Parent::Unknown => property_lists::property(p),
            L_PAREN if foreign::is_header_with_parentheses(p) => {
                unknown::unknown_statement(p, parent, after_error);
            }
            PLUS | MINUS if p.nth(2) == EQ && p.nth_is_glued(2) => unknown::compound_assignment(p),
            DOT | L_PAREN | L_BRACKET | PIPE | PLUS | MINUS | STAR | SLASH | EQ_EQ | BANG_EQ | LT | GT
            | LT_EQ | GT_EQ | QUESTION => expression_statement(p, parent),
            LINE_END if p.nth(2) == PIPE || (p.nth(2) == INDENT && p.nth(3) == PIPE) => {
                expression_statement(p, parent)
            }
            COLON if parent == Parent::Choice && p.nth(2) == LINE_END => control::option_without_keyword(p),
            _ => unknown::unknown_statement(p, parent, after_error),
        },
        ELLIPSIS => {
            p.start(PLACEHOLDER);
            p.bump();
            p.finish();
            end_of_statement(p);
        }
        PIPE | ARROW => unknown::orphan_continuation(p, after_error),
        MINUS | SLASH if foreign::comment(p) => end_of_statement(p),
        DISCRETION_LITERAL if p.nth(1) == COLON => keyword_statement(p, IF_KW, parent, after_error),
        kind if kind.is_string() && p.nth(1) == EQ => definitions::assignment(p),
        kind if kind.is_string() && p.nth(1) == COLON && parent == Parent::Choice => {
            control::option_without_keyword(p);
        }
        _ => expression_statement(p, parent),
    }
}

/// The keyword of the statement that starts here, if the keyword is one in this place: every keyword is also a name (L14).
fn statement_keyword(p: &Parser<'_>) -> Option<SyntaxKind> {
    let keyword = p.kind();
    let starts = match p.nth(1) {
        // A definition whose name is missing.
        L_PAREN if keyword == BLOCK_KW => p.nth(p.rest_of_line() - 1) == COLON,
        next => starts_statement(keyword, next),
    };
    (starts && is_statement(keyword)).then_some(keyword)
}

/// Whether a keyword starts a statement or a clause of one.
fn is_statement(keyword: SyntaxKind) -> bool {
    is_clause(keyword) || is_definition(keyword) || may_stand_in_body(keyword)
}

/// Whether a keyword starts a part of the statement above.
fn is_clause(keyword: SyntaxKind) -> bool {
    matches!(keyword, CATCH_KW | FINALLY_KW | OPTION_KW | ELIF_KW | ELSE_KW)
}

fn is_definition(keyword: SyntaxKind) -> bool {
    matches!(keyword, USE_KW | IMPORT_KW | INPUT_KW | AGENT_KW | BLOCK_KW)
}

/// Definitions and clauses belong to no body above them, as the other statements may.
fn may_stand_in_body(keyword: SyntaxKind) -> bool {
    matches!(
        keyword,
        OUTPUT_KW
            | LET_KW
            | CONST_KW
            | SESSION_KW
            | RESUME_KW
            | DO_KW
            | PARALLEL_KW
            | REPEAT_KW
            | FOR_KW
            | LOOP_KW
            | TRY_KW
            | THROW_KW
            | CHOICE_KW
            | IF_KW
            | RETURN_KW
            | BREAK_KW
            | CONTINUE_KW
            | ASSERT_KW
    )
}

/// Whether `keyword` is one before `next`, and not the name of a variable or a block.
fn starts_statement(keyword: SyntaxKind, next: SyntaxKind) -> bool {
    match next {
        DOT | PIPE | EQ_EQ | BANG_EQ | LT_EQ | GT_EQ | QUESTION | COMMA => false,
        EQ => matches!(keyword, LET_KW | CONST_KW | OUTPUT_KW),
        L_PAREN => matches!(
            keyword,
            PARALLEL_KW
                | LOOP_KW
                | IF_KW
                | ELIF_KW
                | FOR_KW
                | THROW_KW
                | RETURN_KW
                | ASSERT_KW
                | OUTPUT_KW
                | REPEAT_KW
                | SESSION_KW
        ),
        L_BRACKET => matches!(keyword, OUTPUT_KW | RETURN_KW | THROW_KW | FOR_KW),
        _ => true,
    }
}

/// A statement that starts with `keyword`, or with a word that is taken for it.
fn keyword_statement(p: &mut Parser<'_>, keyword: SyntaxKind, parent: Parent, after_error: bool) {
    match keyword {
        USE_KW => definitions::use_statement(p),
        IMPORT_KW => definitions::import_statement(p),
        INPUT_KW => definitions::input(p),
        OUTPUT_KW => definitions::output(p),
        AGENT_KW => definitions::agent(p),
        BLOCK_KW => definitions::block(p),
        LET_KW | CONST_KW => definitions::binding(p, keyword),
        THROW_KW => control::throw(p),
        RETURN_KW => control::return_statement(p),
        BREAK_KW | CONTINUE_KW => control::jump(p, keyword, parent),
        ASSERT_KW => control::assert(p),
        OPTION_KW => control::option(p, parent, after_error),
        ELIF_KW | ELSE_KW | CATCH_KW | FINALLY_KW => control::orphan_clause(p, keyword, parent, after_error),
        _ => {
            let checkpoint = p.checkpoint();
            block_expression(p, keyword);
            if keyword == DO_KW {
                pipelines::pipeline(p, checkpoint);
            }
            end_of_statement(p);
        }
    }
}

/// A statement that has a value, and so can also come after `=`.
fn block_expression(p: &mut Parser<'_>, keyword: SyntaxKind) {
    match keyword {
        SESSION_KW | RESUME_KW => sessions::session_chain(p, keyword),
        DO_KW => sessions::do_statement(p),
        PARALLEL_KW => loops::parallel(p),
        REPEAT_KW => loops::repeat(p),
        FOR_KW => loops::for_statement(p),
        LOOP_KW => loops::loop_statement(p),
        TRY_KW => control::try_statement(p),
        CHOICE_KW => control::choice(p),
        _ => control::if_statement(p),
    }
}

/// The keyword of the block expression that starts here, if one does.
fn block_expression_keyword(p: &Parser<'_>) -> Option<SyntaxKind> {
    let next = p.nth(1);
    let is_header_without_colon = next == LINE_END && p.nth(2) == INDENT && !p.in_expression;
    let starts = match p.kind() {
        SESSION_KW if next == L_PAREN => p.nth(2).is_string(),
        SESSION_KW => next.is_string() || next.is_name() || matches!(next, COLON | LINE_END),
        RESUME_KW => next.is_name() || next == COLON,
        DO_KW => next.is_name() || next == COLON,
        PARALLEL_KW => matches!(next, COLON | L_PAREN | FOR_KW) || is_header_without_colon,
        REPEAT_KW => matches!(next, NUMBER) || next.is_name(),
        FOR_KW => next.is_name(),
        LOOP_KW => matches!(next, COLON | UNTIL_KW | WHILE_KW | L_PAREN) || is_header_without_colon,
        TRY_KW => (next == COLON && matches!(p.nth(2), LINE_END)) || is_header_without_colon,
        CHOICE_KW | IF_KW => {
            matches!(next, DISCRETION_LITERAL | UNTERMINATED_DISCRETION | NOT_KW) || next.is_name()
        }
        _ => false,
    };
    starts.then(|| p.kind())
}

/// What comes after `=`, `output` and `return`: a block expression, or an expression with its pipeline.
fn right_hand_side(p: &mut Parser<'_>) {
    if yaml::is_list_below(p, 0) {
        return yaml::list(p, false);
    }
    foreign::words_of_waiting(p);
    let checkpoint = p.checkpoint();
    if block_expression_keyword(p).is_none()
        && let Some((keyword, kind)) = unknown::nearest_value_keyword(p)
    {
        let word = recovery::shorten(p.token_text());
        let message = format!("unknown keyword `{word}`; did you mean `{keyword}`?");
        p.error_with_change(Code::E107, p.range(), keyword, FixSafety::Safe, message);
        return block_expression(p, kind);
    }
    match block_expression_keyword(p) {
        Some(keyword) => {
            block_expression(p, keyword);
            if keyword == DO_KW {
                pipelines::pipeline(p, checkpoint);
            }
        }
        None => {
            let start = p.range();
            let kind = expressions::expression(p);
            recovery::text_without_quotes(p, start, kind);
            if kind != ERROR {
                foreign_statements::conditional_value(p, start.start());
            }
            pipelines::pipeline(p, checkpoint);
        }
    }
}

/// A call or a pipeline; anything else has no effect, and is reported (E1).
fn expression_statement(p: &mut Parser<'_>, parent: Parent) {
    let start = p.range();
    let checkpoint = p.checkpoint();
    foreign::call_that_prints(p);
    let kind = expressions::expression(p);
    let has_effect = pipelines::pipeline(p, checkpoint)
        || kind == CALL
        || p.line_has_error()
        || p.is_among_items
        || (parent == Parent::Unknown && kind == STRING);
    p.start_at(checkpoint, EXPR_STMT);
    p.finish();
    if !has_effect && p.at_line_end() {
        unknown::value_without_effect(p, kind, start.cover(p.previous_range()));
    }
    end_of_statement(p);
}

/// Passes the end of the line; what still comes before it is reported.
fn end_of_statement(p: &mut Parser<'_>) {
    if p.is_past_line() || (p.one_line && p.at(PIPE)) {
        return;
    }
    if p.is_among_items && p.at(COMMA) && p.nth(1) == LINE_END {
        p.bump();
    }
    if !p.at_line_end() {
        recovery::unexpected(p);
        p.skip_line();
    }
    if !p.one_line {
        p.eat(LINE_END);
    }
}

/// The colon that ends a header such as `repeat 3`.
fn header_end(p: &mut Parser<'_>, header: &str) {
    if p.eat(COLON) {
        return;
    }
    if p.at_line_end() {
        let at = p.previous_end();
        p.error_with_fix(
            Code::E005,
            TextRange::empty(at),
            format!("expected `:` at the end of the `{header}` line"),
            fix("Insert `:`", FixSafety::Safe, TextEdit::insert(at, ":"))
                .filter(|_| p.text_at(p.previous_range()) != ":"),
        );
        return;
    }
    if block_expression_keyword(p).is_some() {
        // The body is on the line of the header.
        p.missing(":", FixSafety::Safe, format!("expected `:` before the body of `{header}`"));
        return;
    }
    recovery::braces_around_body(p);
    if p.token_text() == "then" && matches!(p.nth(1), COLON | LINE_END) {
        let colon = if p.nth(1) == COLON { "" } else { ":" };
        let message = format!("unexpected `then`; a `{header}` line ends with `:`");
        let edit = TextEdit::replace(p.range_after_previous(), colon);
        p.error_with_fix(Code::E108, p.range(), message, fix("Remove `then`", FixSafety::Safe, edit));
    }
    recovery::unexpected(p);
    p.start(ERROR);
    while !(p.at_line_end() || p.at(COLON) && p.nth(1) == LINE_END) {
        p.bump();
    }
    p.finish();
    p.eat(COLON);
}

/// The statements below a header, or the one on its line.
fn body(p: &mut Parser<'_>, header: TextRange, owner: &str) {
    body_of(p, header, owner, Parent::Body);
}

fn body_of(p: &mut Parser<'_>, header: TextRange, owner: &str, parent: Parent) {
    if p.at_lines_below() {
        // A header that was not understood may have been any.
        block_of(p, if p.line_has_error() { Parent::Unknown } else { parent });
    } else if p.at_line_end() {
        let (is_body, looked) = unindented::is_body_below(p, parent);
        if is_body {
            unindented::body(p, owner, parent);
            p.looked_ahead(header.start(), 0);
            return;
        }
        p.looked_ahead(header.start(), looked);
        // Lines that are indented without reason may have been its body.
        // The analysis reports a choice without options.
        if !p.is_line_reported && !p.is_place_unknown && !matches!(parent, Parent::Choice) {
            p.note(Code::W101, header, format!("`{owner}` has an empty body"), None);
        }
    } else {
        let one_line = std::mem::replace(&mut p.one_line, true);
        p.start(BLOCK);
        statement(p, parent, p.line_has_error());
        p.finish();
        p.one_line = one_line;
    }
}

/// The indented lines that begin after the current line end.
fn block_of(p: &mut Parser<'_>, parent: Parent) {
    let one_line = std::mem::replace(&mut p.one_line, false);
    p.eat(LINE_END);
    p.handlerless_try = None;
    indented_lines(p, BLOCK, parent == Parent::Unknown, |p| statements(p, parent));
    p.one_line = one_line;
}

/// The lines from an `INDENT` to its `DEDENT`.
fn indented_lines(
    p: &mut Parser<'_>,
    kind: SyntaxKind,
    is_parent_unknown: bool,
    lines: impl FnOnce(&mut Parser<'_>),
) {
    let is_outer_among_items = std::mem::replace(&mut p.is_among_items, p.is_below_open_bracket);
    p.bump();
    let column = p.column();
    let loops = p.loops;
    if is_parent_unknown {
        // The line above may have been that of a loop.
        p.loops += 1;
    }
    p.start(kind);
    lines(p);
    p.finish_block(column);
    p.loops = loops;
    p.eat(DEDENT);
    p.is_among_items = is_outer_among_items;
}

/// A name that is defined here.
fn name(p: &mut Parser<'_>) {
    p.start(NAME);
    p.bump_as(IDENT);
    p.finish();
}

/// A name that is used here.
fn name_ref(p: &mut Parser<'_>) {
    p.start(NAME_REF);
    p.bump_as(IDENT);
    p.finish();
}

/// The name that a definition must have.
fn expect_name(p: &mut Parser<'_>, code: Code, what: &str) -> bool {
    if p.at_name() {
        name(p);
        return true;
    }
    let (range, message) = match p.kind() {
        UNKNOWN => return recovery::invalid_name(p),
        NUMBER | DURATION => (p.range(), format!("{what} cannot start with a digit")),
        kind if kind.is_string() => return recovery::quoted_name(p, NAME, code, what),
        _ => (p.missing_at(), format!("expected {what}")),
    };
    p.error(code, range, message);
    false
}
