//! The kinds of mistakes, each defined by the construct that it is made in.

use prose_syntax::SyntaxKind::{self, *};
use prose_syntax::{SyntaxNode, SyntaxToken};

use super::program::{Plant, Program, child, end, misspelt, name, range, start, token};

/// A kind of mistake, and every way to make it in a program.
pub(crate) type Kind = (&'static str, fn(&Program) -> Vec<Plant>);

const HEADERS: &[SyntaxKind] =
    &[AGENT, BLOCK_DEF, PARALLEL, PARALLEL_FOR, REPEAT, FOR, LOOP, TRY, CHOICE, IF];
const CLAUSES: &[SyntaxKind] = &[CATCH_CLAUSE, FINALLY_CLAUSE, ELIF_CLAUSE, ELSE_CLAUSE, CHOICE_OPTION];
const SIMPLE: &[SyntaxKind] = &[SESSION, LET, OUTPUT, INPUT, THROW, RESUME, DO_CALL, USE, RETURN];

pub(crate) const KINDS: &[Kind] = &[
    ("misspelt keyword of a statement with a body", |p| misspelt_keywords(p, HEADERS)),
    ("misspelt keyword of a clause", |p| misspelt_keywords(p, CLAUSES)),
    ("misspelt keyword of a statement", |p| misspelt_keywords(p, SIMPLE)),
    ("keyword with a capital letter", |p| {
        let keywords = p.nodes(SIMPLE).filter_map(|node| keyword(p, &node));
        keywords.map(|keyword| p.replace(range(&keyword), capitalised(keyword.text()))).collect()
    }),
    ("misspelt agent", |p| {
        let references = p.nodes(&[SESSION, RESUME]).filter_map(|node| child(&node, NAME_REF));
        misspelt_names(p, references)
    }),
    ("misspelt block", |p| misspelt_names(p, p.nodes(&[DO_CALL]).filter_map(|node| child(&node, NAME_REF)))),
    ("misspelt variable in a context", |p| {
        let contexts = properties(p, "context").into_iter();
        misspelt_names(p, contexts.flat_map(|context| context.descendants()).filter(is_reference))
    }),
    ("misspelt variable in a collection", |p| {
        misspelt_names(p, p.nodes(&[FOR, PARALLEL_FOR]).filter_map(|node| child(&node, NAME_REF)))
    }),
    ("misspelt variable as a value", |p| {
        misspelt_names(p, p.nodes(&[OUTPUT, ARG, RETURN]).filter_map(|node| child(&node, NAME_REF)))
    }),
    ("misspelt variable in a one-line string", |p| {
        misspelt_names(p, p.short_strings().flat_map(|string| string.descendants()).filter(is_reference))
    }),
    ("undefined variable in a one-line string", |p| {
        prompts(p).map(|string| p.replace(end(&string) - 1..end(&string) - 1, " {nowhere}")).collect()
    }),
    ("unknown escape in a one-line string", |p| {
        prompts(p).map(|string| p.replace(end(&string) - 1..end(&string) - 1, "\\q")).collect()
    }),
    ("misspelt property", |p| {
        let lists = p.nodes(&[SESSION, AGENT]).filter_map(|node| child(&node, PROPERTY_LIST));
        misspelt_names(p, lists.flat_map(|list| list.children()).filter_map(|property| name(&property)))
    }),
    ("misspelt model", |p| {
        let models = properties(p, "model").into_iter().filter_map(|property| child(&property, NAME_REF));
        misspelt_names(p, models)
    }),
    ("misspelt option", |p| misspelt_names(p, p.nodes(&[MODIFIER]).filter_map(|option| name(&option)))),
    ("unknown backoff", |p| {
        let values = properties(p, "backoff").into_iter().filter_map(|property| property.last_child());
        let texts = values.flat_map(|value| value.descendants_with_tokens().collect::<Vec<_>>());
        let words = texts.filter_map(|element| element.into_token());
        words
            .filter(|token| matches!(token.kind(), TEXT | IDENT))
            .map(|token| p.replace(range(&token), misspelt(token.text())))
            .collect()
    }),
    ("missing colon of a header", |p| {
        let headers = p.nodes(HEADERS).chain(p.nodes(CLAUSES));
        headers.filter_map(|node| token(&node, COLON)).map(|colon| p.delete(range(&colon))).collect()
    }),
    ("missing colon of a property", |p| {
        p.nodes(&[PROPERTY])
            .filter_map(|node| token(&node, COLON))
            .map(|colon| p.delete(range(&colon)))
            .collect()
    }),
    ("missing colon before an agent", |p| {
        p.nodes(&[SESSION, RESUME])
            .filter_map(|node| token(&node, COLON))
            .map(|colon| p.delete(range(&colon)))
            .collect()
    }),
    ("missing closing quote", |p| {
        p.short_strings().map(|string| p.delete(end(&string) - 1..end(&string))).collect()
    }),
    ("missing opening quote", |p| {
        prompts(p).map(|string| p.delete(start(&string)..start(&string) + 1)).collect()
    }),
    ("single quotes", |p| requoted(p, "'", "'")),
    ("typographic quotes", |p| requoted(p, "\u{201c}", "\u{201d}")),
    ("missing closing bracket", |p| {
        let brackets = p.tokens(&[R_PAREN, R_BRACKET, R_BRACE]).filter(is_on_one_line);
        brackets.map(|bracket| p.delete(range(&bracket))).collect()
    }),
    ("missing opening bracket", |p| {
        let brackets = p.tokens(&[L_PAREN, L_BRACKET, L_BRACE]).filter(is_on_one_line);
        brackets.map(|bracket| p.delete(range(&bracket))).collect()
    }),
    ("missing closing marker", |p| conditions(p).map(|node| p.delete(end(&node) - 2..end(&node))).collect()),
    ("missing opening marker", |p| {
        conditions(p).map(|node| p.delete(start(&node)..start(&node) + 2)).collect()
    }),
    ("condition without markers", |p| {
        // A comparison is a condition without markers, too.
        let conditions = conditions(p).filter(|node| {
            parent_is(node, &[IF, ELIF_CLAUSE])
                && !node.text().to_string().contains(['<', '>', '=', '.', '_'])
        });
        let bare = |node: &SyntaxNode| node.text().to_string().trim_matches('*').to_owned();
        conditions.map(|node| p.replace(start(&node)..end(&node), bare(&node))).collect()
    }),
    ("empty condition", |p| conditions(p).map(|node| p.replace(start(&node)..end(&node), "** **")).collect()),
    ("line indented too far", |p| {
        let below_another = p.short_statements().filter(|node| {
            node.prev_sibling().is_some_and(|before| !before.text().to_string().contains('\n'))
        });
        below_another.map(|node| p.replace(start(&node)..start(&node), "  ")).collect()
    }),
    ("line indented by one space less", |p| {
        let last = p
            .short_statements()
            .filter(|node| node.prev_sibling().is_some() && node.next_sibling().is_none());
        last.map(|node| p.delete(start(&node) - 1..start(&node))).collect()
    }),
    ("tab in the indentation", |p| {
        let indentations = p.short_statements().map(|node| p.line_start(start(&node))..start(&node));
        indentations.map(|range| p.replace(range.clone(), "\t".repeat(range.len() / 2))).collect()
    }),
    ("variable declared twice", |p| {
        let names = p
            .places()
            .filter(|node| node.kind() == LET)
            .filter_map(|node| Some((name(&node)?, node.next_sibling()?)));
        names
            .filter(|(_, next)| p.begins_line(start(next)))
            .map(|(name, next)| p.insert_lines(&next, &format!("let {name} = session \"Once more\"")))
            .collect()
    }),
    ("constant changed", |p| inserted(p, "const most_tries = 3\n!most_tries = 4")),
    ("property given twice", |p| {
        let lists = p.nodes(&[SESSION, AGENT]).filter_map(|node| child(&node, PROPERTY_LIST));
        lists
            .flat_map(|list| list.children())
            .filter(|property| !property.text().to_string().contains('\n') && p.begins_line(start(property)))
            .filter(|property| name(property).is_some_and(|name| name.text() != "context"))
            .map(|property| {
                let line = p.line(start(&property));
                let plant = p.replace(line.end..line.end, &p.text[line.clone()]);
                Plant { line: p.line_number(start(&property)) + 1, ..plant }
            })
            .collect()
    }),
    ("agent defined twice", |p| again(p, AGENT, |name| format!("agent {name}:\n  prompt: \"Another\""))),
    ("block defined twice", |p| again(p, BLOCK_DEF, |name| format!("block {name}:\n  session \"Another\""))),
    ("input declared twice", |p| again(p, INPUT, |name| format!("input {name}: \"Once more\""))),
    ("one argument too many", |p| {
        let calls = p.nodes(&[DO_CALL]).filter(|call| is_call_of_block(p, call));
        let last = calls.filter_map(|call| child(&call, ARG_LIST)?.children().last());
        last.map(|last| p.replace(end(&last)..end(&last), ", \"one more\"")).collect()
    }),
    ("count of zero", |p| {
        let counts = p.nodes(&[REPEAT]).filter_map(|node| child(&node, LITERAL));
        let options = p.nodes(&[MODIFIER]).filter_map(|node| child(&node, LITERAL));
        let retries = properties(p, "retry").into_iter().filter_map(|node| child(&node, LITERAL));
        counts.chain(options).chain(retries).map(|node| p.replace(start(&node)..end(&node), "0")).collect()
    }),
    ("unknown strategy or policy", |p| {
        let options = p.nodes(&[MODIFIER]).filter_map(|option| child(&option, STRING));
        options
            .filter_map(|string| token(&string, TEXT))
            .map(|text| p.replace(range(&text), misspelt(text.text())))
            .collect()
    }),
    ("else without if", |p| inserted(p, "!else:\n  session \"Or not\"")),
    ("catch without try", |p| inserted(p, "!catch as problem:\n  session \"Report {problem}\"")),
    ("option without choice", |p| inserted(p, "!option \"Go on\":\n  session \"Go on\"")),
    ("try without handler", |p| inserted(p, "!try:\n  session \"Deploy\"")),
    ("missing equals sign", |p| {
        p.nodes(&[LET]).filter_map(|node| token(&node, EQ)).map(|equals| p.delete(range(&equals))).collect()
    }),
    ("missing value", |p| {
        // Without the value, the names in it are used no more.
        let is_plain = |node: &SyntaxNode| !node.descendants().any(|node| node.kind() == NAME_REF);
        let lets = p.nodes(&[LET]).filter(|node| !node.text().to_string().contains('\n') && is_plain(node));
        lets.filter_map(|node| Some((token(&node, EQ)?, node)))
            .map(|(equals, node)| p.delete(range(&equals).end..end(&node)))
            .collect()
    }),
    ("session without text", |p| {
        prompts(p).map(|string| p.delete(start(&string) - 1..end(&string))).collect()
    }),
    ("empty prompt", |p| prompts(p).map(|string| p.delete(start(&string) + 1..end(&string) - 1)).collect()),
    ("input without name", |p| {
        p.nodes(&[INPUT])
            .filter_map(|node| name(&node))
            .map(|name| p.delete(start(&name) - 1..end(&name)))
            .collect()
    }),
    ("agent that keeps no memory resumed", |p| {
        inserted(
            p,
            "agent forgetter:\n  prompt: \"Forget\"\nsession: forgetter\n!resume: forgetter\n  prompt: \"Go on\"",
        )
    }),
    ("skills that are no array", |p| {
        let arrays = properties(p, "skills").into_iter().filter_map(|property| child(&property, ARRAY));
        arrays
            .filter(|array| array.children().count() == 1)
            .map(|array| p.replace(start(&array)..end(&array), &p.text[start(&array) + 1..end(&array) - 1]))
            .collect()
    }),
    ("unknown permission", |p| {
        let lists =
            properties(p, "permissions").into_iter().filter_map(|property| child(&property, PROPERTY_LIST));
        misspelt_names(p, lists.flat_map(|list| list.children()).filter_map(|property| name(&property)))
    }),
    ("empty path", |p| uses(p, "\"\"")),
    ("path with a space", |p| uses(p, "\"alice research\"")),
    ("call of a program that is not imported", |p| {
        inserted(p, "let found = nowhere(topic: \"Tides\")\noutput found")
    }),
    ("throw without message outside of a handler", |p| inserted(p, "if **it fails**:\n!  throw")),
    ("loop without a bound", |p| inserted(p, "loop:\n  session \"Try\"")),
    ("break outside of a loop", |p| inserted(p, "break")),
    ("else if", |p| {
        p.nodes(&[ELIF_CLAUSE])
            .filter_map(|node| token(&node, ELIF_KW))
            .map(|keyword| p.replace(range(&keyword), "else if"))
            .collect()
    }),
    ("while loop", |p| inserted(p, "while **it fails**:\n  session \"Try\"")),
    ("loop of so many times", |p| inserted(p, "loop 3 times:\n  session \"Try\"")),
    ("loop over a collection in parentheses", |p| {
        inserted(p, "for (place in [\"a\", \"b\"]):\n  session \"Go to {place}\"")
    }),
    ("session with a colon behind its text", |p| inserted(p, "session \"Say hello\":\n  model: opus")),
    ("session with properties in braces", |p| inserted(p, "session \"Say hello\" with { model: opus }")),
    ("function of another language", |p| inserted(p, "function greet():\n  session \"Say hello\"")),
    ("call of another language", |p| inserted(p, "print(\"hello\")")),
    ("comment of another language", |p| inserted(p, "// Say hello")),
    ("statement of another dialect", |p| inserted(p, "exec \"ls\"")),
    ("gate of another dialect", |p| inserted(p, "gate \"Is it right?\"")),
    ("semicolon at the end", |p| {
        let lines = p.short_statements().filter(|node| node.kind() == SESSION);
        lines.map(|node| p.replace(end(&node)..end(&node), ";")).collect()
    }),
    ("name with braces", |p| inserted(p, "report_{item} = session \"Report\"")),
    ("sentence without quotes", |p| inserted(p, "Please sum up the findings")),
    ("rubbish", |p| inserted(p, "@@ %% ^^")),
];

fn misspelt_keywords(p: &Program, kinds: &[SyntaxKind]) -> Vec<Plant> {
    let keywords = p.nodes(kinds).filter_map(|node| keyword(p, &node));
    keywords.map(|keyword| p.replace(range(&keyword), misspelt(keyword.text()))).collect()
}

/// The keyword that begins a statement and its line.
fn keyword(p: &Program, node: &SyntaxNode) -> Option<SyntaxToken> {
    node.first_token().filter(|token| token.kind().is_keyword() && p.begins_line(start(node)))
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// Names of less than four letters have no near miss that is not another name.
fn misspelt_names(p: &Program, names: impl Iterator<Item = SyntaxNode>) -> Vec<Plant> {
    let names = names.map(|node| (start(&node)..end(&node), node.text().to_string()));
    names
        .filter(|(_, name)| name.len() >= 4 || name == "max")
        .map(|(range, name)| p.replace(range, misspelt(&name)))
        .collect()
}

fn is_reference(node: &SyntaxNode) -> bool {
    node.kind() == NAME_REF && node.parent().is_none_or(|parent| parent.kind() != CALL)
}

fn parent_is(node: &SyntaxNode, kinds: &[SyntaxKind]) -> bool {
    node.parent().is_some_and(|parent| kinds.contains(&parent.kind()))
}

/// The properties with a key.
fn properties(p: &Program, key: &str) -> Vec<SyntaxNode> {
    p.nodes(&[PROPERTY]).filter(|property| name(property).is_some_and(|name| name.text() == key)).collect()
}

/// The one-line texts of sessions that end their line.
fn prompts(p: &Program) -> impl Iterator<Item = SyntaxNode> {
    p.short_strings()
        .filter(|string| parent_is(string, &[SESSION]) && p.text[end(string)..].starts_with('\n'))
}

fn requoted(p: &Program, opening: &str, closing: &str) -> Vec<Plant> {
    let plain = prompts(p).filter(|string| !string.text().to_string().contains(['\'', '\\', '{']));
    plain
        .map(|string| {
            let text = string.text().to_string();
            let inner = text.trim_matches('"');
            p.replace(start(&string)..end(&string), format!("{opening}{inner}{closing}"))
        })
        .collect()
}

/// The conditions between two asterisks, on one line.
fn conditions(p: &Program) -> impl Iterator<Item = SyntaxNode> {
    p.nodes(&[DISCRETION]).filter(|node| {
        let text = node.text().to_string();
        !text.starts_with("***") && !text.contains('\n')
    })
}

/// Whether a bracket and its partner stand on one line, outside of strings.
fn is_on_one_line(bracket: &SyntaxToken) -> bool {
    let parent = bracket.parent();
    parent.is_some_and(|node| node.kind() != INTERPOLATION && !node.text().to_string().contains('\n'))
}

/// Lines that are inserted between the statements of a program.
fn inserted(p: &Program, lines: &str) -> Vec<Plant> {
    p.places().map(|place| p.insert_lines(&place, lines)).collect()
}

/// A second definition of a name, below the first.
fn again(p: &Program, kind: SyntaxKind, definition: impl Fn(&str) -> String) -> Vec<Plant> {
    let next = |node: &SyntaxNode| p.places().find(|place| start(place) >= end(node));
    p.nodes(&[kind])
        .filter_map(|node| Some((name(&node)?.text().to_string(), next(&node)?)))
        .map(|(name, next)| p.insert_lines(&next, &definition(&name)))
        .collect()
}

/// Whether a block of the program is called, and not something that only an interpreter knows.
fn is_call_of_block(p: &Program, call: &SyntaxNode) -> bool {
    let Some(called) = child(call, NAME_REF) else { return false };
    p.nodes(&[BLOCK_DEF]).filter_map(|block| name(&block)).any(|name| name.text() == called.text())
}

fn uses(p: &Program, path: &str) -> Vec<Plant> {
    let paths = p.nodes(&[USE]).filter_map(|node| child(&node, STRING));
    let existing = paths.map(|string| p.replace(start(&string)..end(&string), path));
    let new = format!("use {path} as helper\noutput helper(topic: \"Tides\")");
    existing.chain(inserted(p, &new)).collect()
}
