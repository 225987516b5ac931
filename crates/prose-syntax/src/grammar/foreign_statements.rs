//! Statements of other languages and dialects, which are answered with what to write instead (decision 6).

use rowan::{TextRange, TextSize};

use super::{Parent, end_of_statement, expressions, keyword_statement, loops, recovery};
use crate::codes::Code;
use crate::diagnostic::{Fix, FixSafety, TextEdit};
use crate::parser::{Parser, fix, safe_if};
use crate::properties;
use crate::syntax_kind::SyntaxKind::{self, *};

/// A word that starts a statement elsewhere.
struct Foreign {
    word: &'static str,
    /// What follows the word where it is that statement.
    followed: Followed,
    /// What to write instead, as the second clause of the message.
    advice: &'static str,
    /// The keyword that takes its place, where the rest of the line can stay.
    replacement: Option<(&'static str, SyntaxKind)>,
}

#[derive(Clone, Copy)]
enum Followed {
    Name,
    NameOrParenthesis,
    Condition,
    Error,
    Handler,
    Text,
    Colon,
    Anything,
}

const fn replaced(
    word: &'static str,
    followed: Followed,
    advice: &'static str,
    keyword: &'static str,
    kind: SyntaxKind,
) -> Foreign {
    Foreign { word, followed, advice, replacement: Some((keyword, kind)) }
}

const fn refused(word: &'static str, followed: Followed, advice: &'static str) -> Foreign {
    Foreign { word, followed, advice, replacement: None }
}

const FOREIGN: &[Foreign] = &[
    replaced("foreach", Followed::NameOrParenthesis, "use `for` to iterate over a collection", "for", FOR_KW),
    replaced("var", Followed::Name, "use `let` to declare a variable", "let", LET_KW),
    replaced("val", Followed::Name, "use `const` to declare a constant", "const", CONST_KW),
    replaced("set", Followed::Name, "use `let` to declare a variable", "let", LET_KW),
    replaced("def", Followed::Name, "use `block` to define reusable statements", "block", BLOCK_KW),
    replaced("function", Followed::Name, "use `block` to define reusable statements", "block", BLOCK_KW),
    replaced("func", Followed::Name, "use `block` to define reusable statements", "block", BLOCK_KW),
    replaced("fn", Followed::Name, "use `block` to define reusable statements", "block", BLOCK_KW),
    replaced("call", Followed::Name, "use `do` to call a block", "do", DO_KW),
    replaced("elsif", Followed::Condition, "use `elif` for another condition", "elif", ELIF_KW),
    replaced("elseif", Followed::Condition, "use `elif` for another condition", "elif", ELIF_KW),
    replaced("when", Followed::Condition, "use `if` to test a condition", "if", IF_KW),
    replaced("unless", Followed::Condition, "use `if not` to negate a condition", "if not", IF_KW),
    replaced("switch", Followed::Condition, "use `choice` to choose between options", "choice", CHOICE_KW),
    replaced("match", Followed::Condition, "use `choice` to choose between options", "choice", CHOICE_KW),
    replaced("case", Followed::Text, "use `option` for a label of a `choice`", "option", OPTION_KW),
    replaced("raise", Followed::Error, "use `throw` to raise an error", "throw", THROW_KW),
    replaced("except", Followed::Handler, "use `catch` to handle errors", "catch", CATCH_KW),
    replaced("rescue", Followed::Colon, "use `catch` to handle errors", "catch", CATCH_KW),
    replaced("ensure", Followed::Colon, "use `finally` for what always runs", "finally", FINALLY_KW),
    replaced("spawn", Followed::Text, "use `session` to run an agent", "session", SESSION_KW),
    replaced("task", Followed::Text, "use `session` to run an agent", "session", SESSION_KW),
    replaced("print", Followed::Text, "use `session` to give a text to a model", "session", SESSION_KW),
    refused("fixed_loop", Followed::Anything, "use `repeat 3:` for a fixed number of iterations"),
    refused("gate", Followed::Name, "ask with `input name: \"question\"` and test the answer with `if`"),
    refused(
        "approve",
        Followed::Anything,
        "ask with `input name: \"question\"` and test the answer with `if`",
    ),
    refused("exec", Followed::Text, "use a `session` with `permissions:` for `bash` to run a command"),
    refused("from", Followed::Name, "import programs with `use \"path\"` or `use \"path\" as name`"),
    refused("class", Followed::Name, "define an `agent name:` or a `block name:`"),
    refused("pass", Followed::Anything, "leave the empty block out"),
    refused("end", Followed::Anything, "a block ends where its indentation ends"),
];

impl Foreign {
    fn fits(&self, p: &Parser<'_>) -> bool {
        let next = p.nth(1);
        match self.followed {
            Followed::Name => next.is_name(),
            Followed::NameOrParenthesis => next.is_name() || next == L_PAREN,
            Followed::Error => next.is_string() || next.is_name() || next == LINE_END,
            Followed::Condition => next.is_discretion() || next.is_name(),
            Followed::Handler => next.is_name() || next == COLON,
            Followed::Text => next.is_string(),
            Followed::Colon => matches!(next, COLON | AS_KW),
            Followed::Anything => true,
        }
    }
}

/// Parses the current line as what it stands for in another language, if it is such a line.
pub(super) fn statement(p: &mut Parser<'_>, parent: Parent, after_error: bool) -> bool {
    let word = p.token_text();
    if matches!(word, "while" | "until") && !matches!(p.nth(1), COLON | LINE_END) {
        bare_while(p);
        return true;
    }
    let Some(foreign) = FOREIGN.iter().find(|foreign| foreign.word == word && foreign.fits(p)) else {
        return false;
    };
    let range = p.range();
    let message = format!("unknown statement `{word}`; {}", foreign.advice);
    match foreign.replacement {
        Some((keyword, kind)) => {
            p.error_with_fix(
                Code::E108,
                range,
                message,
                Some(Fix::new(
                    format!("Change to `{keyword}`"),
                    // What is in parentheses may have to be written in another way too.
                    safe_if(
                        p.nth(1) != L_PAREN && !(word == "except" && p.nth(1).is_name() && p.nth(1) != AS_KW),
                    ),
                    std::iter::once(TextEdit::replace(range, keyword))
                        .chain(raised_text(p))
                        .collect::<Vec<_>>(),
                )),
            );
            keyword_statement(p, kind, parent, after_error);
        }
        None => {
            p.error_with_fix(Code::E108, range, message, refused_fix(p, word));
            p.skip_line();
            end_of_statement(p);
        }
    }
    true
}

/// The text alone, in place of the error that is made of it: `raise ValueError("message")`.
fn raised_text(p: &Parser<'_>) -> Option<TextEdit> {
    let is_object =
        p.token_text() == "raise" && p.nth(2) == L_PAREN && p.nth(3).is_string() && p.nth(4) == R_PAREN;
    is_object.then(|| TextEdit::replace(p.nth_range(1).cover(p.nth_range(4)), p.nth_text(3)))
}

/// What to put in place of a line whose statement has no counterpart of the same form.
fn refused_fix(p: &Parser<'_>, word: &str) -> Option<Fix> {
    let line = p.rest_of_line_range();
    match word {
        "fixed_loop" => {
            let count =
                (1..p.rest_of_line()).find(|&ahead| p.nth(ahead) == NUMBER).map(|at| p.nth_text(at))?;
            fix("Change to `repeat`", FixSafety::Safe, TextEdit::replace(line, format!("repeat {count}:")))
        }
        "gate" => {
            let name = p.nth_text(1);
            let header = p.rest_of_line();
            let (range, question) = if p.nth(header + 1) == INDENT {
                // An `input` has no properties: a prompt becomes its description, and for others there is no place.
                let is_prompt = p.nth_text(header + 2) == "prompt"
                    && p.nth(header + 3) == COLON
                    && p.nth(header + 4) == STRING_LITERAL
                    && p.nth(header + 5) == LINE_END
                    && p.nth(header + 6) == DEDENT;
                if !is_prompt {
                    return None;
                }
                (line.cover(p.nth_range(header + 4)), p.nth_text(header + 4).to_owned())
            } else {
                (line, format!("\"Approve {name}?\""))
            };
            let edit = TextEdit::replace(range, format!("input {name}: {question}"));
            fix("Change to `input`", FixSafety::Unsafe, edit)
        }
        "approve" => {
            let question = if p.nth(1).is_string() { p.nth_text(1) } else { "\"Approve?\"" };
            let edit = TextEdit::replace(line, format!("input approval: {question}"));
            fix("Change to `input`", FixSafety::Unsafe, edit)
        }
        "exec" => {
            let command = p.nth_text(1).trim_start_matches('"');
            let edit = TextEdit::replace(line, format!("session \"Run this command: {command}"));
            fix("Change to `session`", FixSafety::Unsafe, edit)
        }
        "pass" | "end" if p.rest_of_line() == 1 => {
            fix(format!("Remove `{word}`"), FixSafety::Safe, TextEdit::delete(line))
        }
        _ => None,
    }
}

/// `while **so**:` without `loop`.
fn bare_while(p: &mut Parser<'_>) {
    let range = p.range();
    let word = p.token_text();
    if word == "while" && matches!(p.nth_text(1), "True" | "true") && p.nth(2) == COLON {
        let header = range.cover(p.nth_range(1));
        p.error_with_change(
            Code::E108,
            header,
            "loop",
            FixSafety::Safe,
            "an infinite loop is written `loop:`",
        );
    }
    let fix = fix("Insert `loop`", FixSafety::Safe, TextEdit::insert(range.start(), "loop "));
    p.error_with_fix(Code::E108, range, format!("expected `loop` before `{word}`"), fix);
    loops::bare_while(p);
    end_of_statement(p);
}

/// `session("text")`
pub(super) fn session_call(p: &mut Parser<'_>) {
    let open = p.range();
    let close = (0..p.rest_of_line()).rev().find(|&ahead| p.nth(ahead) == R_PAREN).map(|at| p.nth_range(at));
    let is_plain = p.nth(1).is_string() && p.nth(2) == R_PAREN;
    p.error_with_fix(
        Code::E108,
        open,
        "unexpected parentheses around the text of a session: `session \"what to do\"`",
        close.filter(|_| is_plain).map(|close| {
            Fix::safe("Remove the parentheses", vec![TextEdit::replace(open, " "), TextEdit::delete(close)])
        }),
    );
    expressions::arguments(p);
}

/// `session "text" with { a: b }`, `session "text" as name`
pub(super) fn after_session(p: &mut Parser<'_>, session: TextRange) {
    let range = p.range();
    match p.token_text() {
        "with" => {
            let message =
                "unexpected `with`; indent properties below the session, such as `context: research`";
            p.error_with_fix(Code::E108, range, message, properties_of_object(p));
        }
        "as" if p.nth(1).is_name() => {
            let name = p.nth_text(1);
            let quick_fix = (p.rest_of_line() == 2).then(|| as_binding(p, session)).flatten();
            let message = format!("unexpected `as`; bind the result with `let {name} = session …`");
            p.error_with_fix(Code::E108, range, message, quick_fix);
        }
        "then" if matches!(p.nth(1), SESSION_KW | RESUME_KW) => {
            let message = "unexpected `then`; chain sessions with `->`";
            p.error_with_change(Code::E108, range, "->", FixSafety::Safe, message);
        }
        word if properties::find(word).is_some() && expressions::starts_value(p.nth(1)) => {
            let fix = fix("Insert `:`", FixSafety::Safe, TextEdit::insert(range.end(), ":"));
            let message = format!("expected `:` after `{word}`");
            p.error_with_fix(Code::E005, TextRange::empty(range.end()), message, fix);
        }
        _ => recovery::unexpected(p),
    }
    p.skip_line();
}

/// `session "text" as name` as `let name = session "text"`, where the session starts its line.
fn as_binding(p: &Parser<'_>, session: TextRange) -> Option<Fix> {
    let before = p.text_at(TextRange::up_to(session.start()));
    let starts_line =
        before.trim_end_matches([' ', '\t']).ends_with(['\n', '\r']) || before.trim().is_empty();
    let behind = TextRange::new(p.previous_end(), p.nth_range(1).end());
    starts_line.then(|| {
        Fix::safe(
            format!("Bind it to `{}`", p.nth_text(1)),
            vec![
                TextEdit::insert(session.start(), format!("let {} = ", p.nth_text(1))),
                TextEdit::delete(behind),
            ],
        )
    })
}

/// `with { a: b, c: d }` as indented properties.
fn properties_of_object(p: &Parser<'_>) -> Option<Fix> {
    let count = p.rest_of_line();
    if p.nth(1) != L_BRACE || p.nth(count - 1) != R_BRACE {
        return None;
    }
    let indent = format!("\n{}  ", p.indentation_at(p.range().start()));
    let mut lines = String::new();
    let mut open = 0;
    let mut entry_start = 2;
    for ahead in 2..count {
        match p.nth(ahead) {
            L_PAREN | L_BRACKET | L_BRACE => open += 1,
            R_PAREN | R_BRACKET | R_BRACE if open > 0 => open -= 1,
            COMMA | R_BRACE if open == 0 && ahead > entry_start => {
                let entry = p.nth_range(entry_start).cover(p.nth_range(ahead - 1));
                if p.nth(entry_start + 1) != COLON {
                    return None;
                }
                lines.push_str(&indent);
                lines.push_str(p.text_at(entry));
                entry_start = ahead + 1;
            }
            _ => {}
        }
    }
    let range = TextRange::new(p.previous_end(), p.rest_of_line_range().end());
    fix("Move the properties below", FixSafety::Unsafe, TextEdit::replace(range, lines))
        .filter(|_| !p.at_line_end())
}

/// `one if condition else other`, whose first part starts at `start` and has been passed.
pub(super) fn conditional_value(p: &mut Parser<'_>, start: TextSize) {
    if !p.at(IF_KW) {
        return;
    }
    let count = p.rest_of_line();
    let Some(otherwise) = (1..count).find(|&ahead| p.nth(ahead) == ELSE_KW) else { return };
    if otherwise < 2 || otherwise + 1 == count || p.line_has_error() {
        return;
    }
    let first = TextRange::new(start, p.previous_end());
    let condition = p.nth_range(1).cover(p.nth_range(otherwise - 1));
    let other = p.nth_range(otherwise + 1).cover(p.nth_range(count - 1));
    let range = first.cover(other);
    let [first, condition, other] = [first, condition, other].map(|part| p.text_at(part));
    let is_clear = (1..count).all(|ahead| !matches!(p.nth(ahead), COMMA | UNKNOWN | PIPE | COLON));
    p.error_with_fix(
        Code::E108,
        range,
        "unexpected `if` in a value; use `condition ? one : other`",
        fix(
            "Rewrite with `?` and `:`",
            safe_if(is_clear),
            TextEdit::replace(range, format!("{condition} ? {first} : {other}")),
        ),
    );
    // The names in it are used all the same.
    p.start(ERROR);
    p.bump();
    expressions::expression(p);
    if p.eat(ELSE_KW) {
        expressions::expression(p);
    }
    p.finish();
}

/// `throw new Error("message")`. Returns whether there is one.
pub(super) fn thrown_object(p: &mut Parser<'_>) -> bool {
    let class = usize::from(p.token_text() == "new");
    let ends = |ahead: usize| p.nth(ahead) == LINE_END || p.nth(ahead) == END;
    let is_object = p.nth(class).is_name()
        && p.nth(class + 1) == L_PAREN
        && p.nth(class + 2).is_string()
        && p.nth(class + 3) == R_PAREN
        && ends(class + 4);
    if !is_object {
        return false;
    }
    let object = p.rest_of_line_range();
    let message = p.nth_text(class + 2);
    let fix = fix("Throw the text", FixSafety::Safe, TextEdit::replace(object, message));
    p.error_with_fix(Code::E108, object, "`throw` takes a text: `throw \"what went wrong\"`", fix);
    p.start(ERROR);
    for _ in 0..class + 2 {
        p.bump();
    }
    expressions::string(p);
    p.bump();
    p.finish();
    true
}
