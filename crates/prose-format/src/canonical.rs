//! Programs in the canonical form of the language reference (R126, R127).
//!
//! In that form a program has no comments, arrow chains are expanded to statements, and definitions come first, in the
//! order in which they take effect (R5): imports, inputs, agents, blocks. An agent with a variable stays after the statement that binds it. Agents and
//! blocks that are defined in bodies are visible in the whole program (R8) and move to the others, unless they use names of that body. The rest
//! is formatted. The program runs as before, so prompts and conditions are not changed: a `while` is not
//! converted to an `until` with `not`. A chain that is a branch of a `parallel` becomes a `do:` in it, as several statements would be
//! several branches; a chain that names a branch, or is part of a value, stays a chain.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use prose_syntax::ast::{ArrowChain, AstNode};
use prose_syntax::chains::{as_statements, end};
use prose_syntax::fix::line_ending;
use prose_syntax::lines::{line_end, line_start, size};
use prose_syntax::{Parse, SyntaxKind, SyntaxNode, TextEdit, TextRange, TextSize, parse};

use crate::{apply, format};

/// The canonical form of a program without errors.
pub fn canonical(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // What is moved below relies on levels of two spaces.
    let text = format(&without_comments(&parse(text), text));
    let text = without_chains(without_chains_as_branches(text));
    let text = without_nested_definitions(format(&text));
    format(&with_definitions_first(&parse(&text).syntax(), &text))
}

/// The program without its comments, and without the lines that hold nothing else.
fn without_comments(parsed: &Parse, text: &str) -> String {
    let tokens = parsed.syntax().descendants_with_tokens().filter_map(|element| element.into_token());
    let comments = tokens.filter(|token| token.kind() == SyntaxKind::COMMENT);
    let edits: Vec<TextEdit> =
        comments.map(|comment| TextEdit::replace(lines_of(text, comment.text_range()), "")).collect();
    apply(text, &edits)
}

/// A comment with the blanks before it, or all of its line.
fn lines_of(text: &str, comment: TextRange) -> TextRange {
    let code = text[..usize::from(comment.start())].trim_end_matches([' ', '\t']);
    if !(code.is_empty() || code.ends_with(['\n', '\r'])) {
        return TextRange::new(TextSize::of(code), comment.end());
    }
    TextRange::new(TextSize::of(code), next_line(text, comment.end()))
}

/// Where the line after that of an offset starts.
fn next_line(text: &str, at: TextSize) -> TextSize {
    let end = line_end(text, at.into());
    let line_break = match &text.as_bytes()[end..] {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    size(end + line_break)
}

/// Whether the meaning of a text depends on its indentation: the texts inside it decide where it ends (L10).
fn has_texts(node: &SyntaxNode) -> bool {
    let mut strings = node.descendants().filter(|node| node.kind() == SyntaxKind::STRING);
    strings.any(|string| string.text().to_string().matches("\"\"\"").count() > 2)
}

/// The program with a `do:` around each arrow chain that is a branch of a `parallel`. One whose value has a name stays: of a `do:`, the last session
/// would have a result of its own.
fn without_chains_as_branches(text: String) -> String {
    let mut edits = Vec::new();
    for chain in parse(&text).syntax().descendants().filter(|node| node.kind() == SyntaxKind::ARROW_CHAIN) {
        let list = chain.parent().filter(|list| list.kind() == SyntaxKind::BLOCK);
        let owner = list.and_then(|list| list.parent());
        if owner.is_none_or(|owner| owner.kind() != SyntaxKind::PARALLEL) || has_texts(&chain) {
            continue;
        }
        let start = chain.text_range().start();
        let indent = &text[line_start(&text, start.into())..start.into()];
        // One space is a level, too, and properties that stand two further right stay below their session.
        edits.push(TextEdit::insert(start, format!("do:{}{indent} ", line_ending(&text))));
    }
    apply(&text, &edits)
}

/// The program with the agents and blocks that are defined in bodies before the statement that they are in, if they mean the same there.
fn without_nested_definitions(text: String) -> String {
    let mut edits = Vec::new();
    let root = parse(&text).syntax();
    let of_program = OnceCell::new();
    for statement in root.children() {
        let around = Around {
            of_program: &of_program,
            of_statement: OnceCell::new(),
            bodies: RefCell::default(),
            statement: &statement,
        };
        let mut hoisted = String::new();
        let mut removed = Vec::new();
        let mut nested = statement.descendants().skip(1).filter(is_definition).peekable();
        while let Some(definition) = nested.next() {
            if !can_be_hoisted(&definition, &around) {
                continue;
            }
            let range = definition.text_range();
            let start = line_start(&text, range.start().into());
            let end = end(&definition);
            // Its lines stay further right than its header, which is all that they have to.
            hoisted += &text[TextRange::new(range.start(), end)];
            hoisted += line_ending(&text);
            removed.push(TextEdit::replace(TextRange::new(size(start), next_line(&text, end)), ""));
            // Definitions inside it are moved once it is at the top level.
            while nested.next_if(|inner| range.contains_range(inner.text_range())).is_some() {}
        }
        if !removed.is_empty() {
            edits.push(TextEdit::insert(statement.text_range().start(), hoisted));
            edits.append(&mut removed);
        }
    }
    if edits.is_empty() { text } else { without_nested_definitions(apply(&text, &edits)) }
}

fn is_definition(node: &SyntaxNode) -> bool {
    matches!(node.kind(), SyntaxKind::AGENT | SyntaxKind::BLOCK_DEF)
}

/// Whether a definition in a body means the same at the top level: it names nothing that the statement around it binds, an agent no variable
/// at all, and its body has something else to do.
fn can_be_hoisted(definition: &SyntaxNode, around: &Around<'_>) -> bool {
    let Some(body) = definition.parent().filter(|body| body.kind() == SyntaxKind::BLOCK) else {
        return false;
    };
    if around.is_alone(body) || has_texts(definition) {
        return false;
    }
    let inside = Names::of(definition);
    let is_agent = definition.kind() == SyntaxKind::AGENT;
    !words(definition).any(|word| around.count(&word, is_agent) > inside.count(&word))
}

/// How often names are bound in some statements. Definitions are visible everywhere, and do not count.
struct Names(HashMap<String, usize>);

impl Names {
    fn of(node: &SyntaxNode) -> Self {
        Self::of_all(std::iter::once(node.clone()))
    }

    fn of_all(nodes: impl Iterator<Item = SyntaxNode>) -> Self {
        let mut names = HashMap::new();
        for name in nodes.flat_map(|node| name_nodes(&node).collect::<Vec<_>>()) {
            if !name.parent().is_some_and(|owner| is_definition(&owner)) {
                *names.entry(name.text().to_string()).or_default() += 1;
            }
        }
        Self(names)
    }

    fn count(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// What is bound in a statement at the top level and in the others, counted on demand.
struct Around<'a> {
    /// In all statements that define nothing.
    of_program: &'a OnceCell<Names>,
    of_statement: OnceCell<Names>,
    /// Whether a body contains definitions only.
    bodies: RefCell<HashMap<SyntaxNode, bool>>,
    statement: &'a SyntaxNode,
}

impl Around<'_> {
    /// Whether a body contains only definitions when a definition is moved out of it.
    fn is_alone(&self, body: SyntaxNode) -> bool {
        let has_definitions_alone = |body: &SyntaxNode| body.children().all(|node| is_definition(&node));
        *self.bodies.borrow_mut().entry(body).or_insert_with_key(has_definitions_alone)
    }

    /// How often a name is bound in the statement, or also in the others, `of_program`.
    fn count(&self, name: &str, of_program: bool) -> usize {
        let in_statement = || self.of_statement.get_or_init(|| Names::of(self.statement)).count(name);
        if !of_program {
            return in_statement();
        }
        let statements = || self.statement.parent().into_iter().flat_map(|root| root.children());
        let names = || Names::of_all(statements().filter(|node| !is_definition(node)));
        let elsewhere = self.of_program.get_or_init(names).count(name);
        elsewhere + if is_definition(self.statement) { in_statement() } else { 0 }
    }
}

/// The program with statements in place of arrow chains.
fn without_chains(mut text: String) -> String {
    loop {
        let root = parse(&text).syntax();
        let mut edits: Vec<TextEdit> = Vec::new();
        for chain in root.descendants().filter_map(ArrowChain::cast) {
            // Chains inside a chain are expanded after it.
            let is_free =
                edits.last().is_none_or(|last| last.range.end() <= chain.syntax().text_range().start());
            edits.extend(as_statements(&chain, &text).filter(|_| is_free).unwrap_or_default());
        }
        if edits.is_empty() {
            return text;
        }
        text = apply(&text, &edits);
    }
}

/// The names that a statement binds, and those that it gives values to.
fn names(statement: &SyntaxNode) -> impl Iterator<Item = String> {
    name_nodes(statement).map(|node| node.text().to_string())
}

fn name_nodes(statement: &SyntaxNode) -> impl Iterator<Item = SyntaxNode> {
    let is_name = |node: &SyntaxNode| match node.kind() {
        SyntaxKind::NAME => true,
        SyntaxKind::NAME_REF => node.parent().is_some_and(|parent| parent.kind() == SyntaxKind::ASSIGNMENT),
        _ => false,
    };
    statement.descendants().filter(is_name)
}

/// All names in a statement.
fn words(statement: &SyntaxNode) -> impl Iterator<Item = String> {
    let tokens = statement.descendants_with_tokens().filter_map(|element| element.into_token());
    tokens.filter(|token| token.kind() == SyntaxKind::IDENT).map(|token| token.text().to_owned())
}

/// The order of statements at the top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Import,
    Input,
    Agent,
    Block,
    Rest,
}

/// The program with its definitions first.
fn with_definitions_first(root: &SyntaxNode, text: &str) -> String {
    let line_break = line_ending(text);
    let mut placed: Vec<(Rank, String)> = Vec::new();
    let mut has_begun = false;
    let mut bound: HashSet<String> = HashSet::new();
    let mut before = TextSize::new(0);
    for statement in root.children() {
        let rank = match statement.kind() {
            SyntaxKind::USE | SyntaxKind::IMPORT => Rank::Import,
            // An input after a statement that runs is requested at that point (R88).
            SyntaxKind::INPUT if !has_begun => Rank::Input,
            // An agent that interpolates a variable must come after the variable is bound.
            SyntaxKind::AGENT if words(&statement).all(|word| !bound.contains(&word)) => Rank::Agent,
            SyntaxKind::BLOCK_DEF => Rank::Block,
            _ => {
                has_begun |= statement.kind() != SyntaxKind::AGENT;
                bound.extend(names(&statement));
                Rank::Rest
            }
        };
        let range = TextRange::new(statement.text_range().start(), end(&statement));
        let gap = &text[TextRange::new(before, range.start())];
        let lines = gap.matches('\n').count().max(gap.matches('\r').count());
        let is_apart = lines > 1 || matches!(rank, Rank::Agent | Rank::Block);
        let apart = if is_apart { line_break } else { "" };
        placed.push((rank, format!("{apart}{}{line_break}", &text[range])));
        before = range.end();
    }
    placed.sort_by_key(|(rank, _)| *rank);
    let mut result = String::new();
    let mut last = None;
    for (rank, statement) in placed {
        if last.is_some_and(|last| last != rank) {
            result += line_break;
        }
        result += &statement;
        last = Some(rank);
    }
    result.trim_start_matches(['\n', '\r']).to_owned()
}
