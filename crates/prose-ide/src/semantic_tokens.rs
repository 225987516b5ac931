//! Semantic tokens.

use prose_analysis::index::{Site, lookup};
use prose_analysis::model::{Body, NameKind, RefId, RefKind};
use prose_analysis::resolve::{Resolution, Resolved, resolve};
use prose_analysis::statements::{Placed, body, parse, statements, summary};
use prose_analysis::summary::Persist;
use prose_analysis::{Db, SourceFile};
use prose_syntax::options::{OPTIONS, STRATEGIES, Word};
use prose_syntax::properties;
use prose_syntax::{NodeOrToken, ProseLanguage, SyntaxKind, SyntaxKind::*, TextRange, TextSize};
use rowan::{GreenNodeData, Language};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::cursor::size;
use crate::named::named;
use prose_syntax::lines::{line_end, line_start};

// The names are those of the protocol's own legend, so that themes have colours for them. It has none for escapes; an editor
// that does not know this one leaves them as they are.
named! {
    /// The type of a token.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    TokenKind;
    /// A word that the grammar takes for a keyword
    Keyword = "keyword"
    /// An agent
    Agent = "class"
    /// A block
    Block = "function"
    /// An imported program
    Program = "namespace"
    /// A variable
    Variable = "variable"
    /// A parameter of a block, an input of the program, or the name of an argument
    Parameter = "parameter"
    /// The name of a property or of an option, or what comes after a dot
    Property = "property"
    /// A word that stands for itself: a model, a strategy, a permission
    Value = "enumMember"
    /// Text in quotes
    String = "string"
    /// Text between `**` that a model judges
    Discretion = "regexp"
    /// An escape in a string
    Escape = "escapeSequence"
    /// A number or a duration
    Number = "number"
    /// An operator
    Operator = "operator"
    /// A comment
    Comment = "comment"
}

/// The modifiers of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Modifiers(u32);

impl Modifiers {
    /// The name is bound here.
    pub const DECLARATION: Modifiers = Modifiers(1);
    /// The value cannot be assigned to: a constant, an input or a loop variable.
    pub const READONLY: Modifiers = Modifiers(1 << 1);
    /// The variable is assigned to here.
    pub const MODIFICATION: Modifiers = Modifiers(1 << 2);
    /// The agent has a memory, so that it can be resumed.
    pub const PERSISTENT: Modifiers = Modifiers(1 << 3);
    /// Braces in a text in which nothing is interpolated, since they hold no name.
    pub const UNRESOLVED: Modifiers = Modifiers(1 << 4);

    /// The names of the modifiers in themes, in the order of their bits.
    pub const NAMES: &[&str] = &["declaration", "readonly", "modification", "persistent", "unresolved"];

    /// One bit for each modifier, the first of [`Modifiers::NAMES`] being the lowest.
    pub fn bits(self) -> u32 {
        self.0
    }

    fn and(self, other: Modifiers) -> Modifiers {
        Modifiers(self.0 | other.0)
    }
}

/// A token on one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SemanticToken {
    /// Its bytes.
    pub range: TextRange,
    /// What it is.
    pub kind: TokenKind,
    /// Its modifiers.
    pub modifiers: Modifiers,
}

/// Every token of a file, in the order of the text. No two overlap, and none continues after its line.
pub fn semantic_tokens(db: &dyn Db, file: SourceFile) -> Vec<SemanticToken> {
    tokens_within(db, file, TextRange::up_to(TextSize::of(file.text(db).as_str())))
}

/// The tokens of the lines that a range touches, without visiting the rest of the file.
pub fn semantic_tokens_in(db: &dyn Db, file: SourceFile, range: TextRange) -> Vec<SemanticToken> {
    let text = file.text(db).as_str();
    let at = |offset: TextSize| usize::from(offset).min(text.len());
    // What a name in braces is depends on the whole of the braces, which are on one line.
    let start = line_start(text, at(range.start()));
    let end = line_end(text, at(range.end()));
    tokens_within(db, file, TextRange::new(size(start), size(end)))
}

fn tokens_within(db: &dyn Db, file: SourceFile, within: TextRange) -> Vec<SemanticToken> {
    let mut walk = Walk { within, names: Vec::new(), next_name: 0, tokens: Vec::new() };
    let mut namer = Namer { db, file, within, known: FxHashMap::default() };
    let mut placed = statements(db, file).list.iter();
    let mut start = TextSize::new(0);
    for child in parse(db, file).green().children() {
        if start >= within.end() {
            break;
        }
        let end = start + child.text_len();
        match child {
            NodeOrToken::Node(node) => {
                // The statements of a file are the nodes of its root.
                let statement = placed.next();
                if end > within.start() {
                    walk.names = statement.map(|placed| namer.names(placed)).unwrap_or_default();
                    walk.next_name = 0;
                    walk.node(node, SOURCE_FILE, start);
                }
            }
            NodeOrToken::Token(token) if end > within.start() => {
                walk.token(kind_of(token.kind()), token.text(), SOURCE_FILE, SOURCE_FILE, start);
            }
            NodeOrToken::Token(_) => {}
        }
        start = end;
    }
    walk.tokens
}

fn kind_of(raw: rowan::SyntaxKind) -> SyntaxKind {
    ProseLanguage::kind_from_raw(raw)
}

type Meaning = (TokenKind, Modifiers);

/// A name of a statement with what it stands for.
struct NameToken {
    start: TextSize,
    meaning: Meaning,
}

/// Finds what the names of statements stand for.
struct Namer<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    within: TextRange,
    /// The variables of the file that were met already: most are used more than once.
    known: FxHashMap<SmolStr, Meaning>,
}

impl Namer<'_> {
    /// The names of a statement that mean something, in the order of the text.
    fn names(&mut self, placed: &Placed<'_>) -> Vec<NameToken> {
        let start = TextSize::from(placed.start);
        let body = body(self.db, placed.statement);
        let resolution = resolve(self.db, placed.statement);
        let within = self.within;
        let is_within = |range: TextRange| within.contains_range(range + start);
        let bound = body.names().filter(|(_, name)| is_within(name.range)).map(|(id, name)| {
            let how = match name.kind {
                NameKind::Assigned => Modifiers::MODIFICATION,
                _ => Modifiers::DECLARATION,
            };
            let (kind, modifiers) = match name.kind {
                NameKind::Agent => agent(self.db, Site { statement: placed.statement, name: id }),
                kind => meaning(kind),
            };
            NameToken { start: name.range.start() + start, meaning: (kind, modifiers.and(how)) }
        });
        let mut names: Vec<NameToken> = bound.collect();
        for (id, used) in body.refs().filter(|(_, used)| is_within(used.range)) {
            let meaning = self.used(body, resolution, id);
            names.extend(meaning.map(|meaning| NameToken { start: used.range.start() + start, meaning }));
        }
        names.sort_by_key(|name| name.start);
        names
    }

    fn used(&mut self, body: &Body, resolution: &Resolution, id: RefId) -> Option<Meaning> {
        let data = &body[id];
        let plain = |kind| Some((kind, Modifiers::default()));
        let (kind, modifiers) = match resolution.of(id) {
            Resolved::Local(name) => meaning(body[name].kind),
            Resolved::Root | Resolved::Elsewhere => self.variable(&data.text),
            Resolved::Agent | Resolved::AgentAsValue => {
                let named = lookup(self.db, self.file, &data.text).unwrap_or_default();
                let first = named.agents.first().map(|site| agent(self.db, *site));
                return first.or_else(|| plain(TokenKind::Agent));
            }
            Resolved::Block => return plain(TokenKind::Block),
            Resolved::Program => return plain(TokenKind::Program),
            Resolved::Literal => return None,
            // What is not found is still what its place makes of it, but in braces it is text.
            Resolved::Lost | Resolved::Undefined => match data.kind {
                RefKind::Agent => return plain(TokenKind::Agent),
                RefKind::Block | RefKind::Callee => return plain(TokenKind::Block),
                RefKind::Variable | RefKind::Write
                    if data.place.is_text() && resolution.of(id) == Resolved::Undefined =>
                {
                    return None;
                }
                RefKind::Variable | RefKind::Write => (TokenKind::Variable, Modifiers::default()),
            },
        };
        match data.kind {
            RefKind::Write => Some((kind, modifiers.and(Modifiers::MODIFICATION))),
            _ => Some((kind, modifiers)),
        }
    }

    /// What a variable of the file is, or one of another block.
    fn variable(&mut self, text: &SmolStr) -> Meaning {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let named = lookup(self.db, self.file, text).unwrap_or_default();
        let first = named.root_variables().next().or(named.variables.first());
        let meaning =
            first.map_or((TokenKind::Variable, Modifiers::default()), |variable| meaning(variable.kind));
        self.known.insert(text.clone(), meaning);
        meaning
    }
}

/// What is highlighted for the name of an agent.
fn agent(db: &dyn Db, site: Site<'_>) -> Meaning {
    let facts = summary(db, site.statement).agent(site.name);
    let persists = facts.is_some_and(|facts| matches!(facts.persist, Persist::Run | Persist::Longer));
    (TokenKind::Agent, if persists { Modifiers::PERSISTENT } else { Modifiers::default() })
}

/// What is highlighted for a name of a kind.
fn meaning(kind: NameKind) -> Meaning {
    let none = Modifiers::default();
    match kind {
        NameKind::Agent => (TokenKind::Agent, none),
        NameKind::Block => (TokenKind::Block, none),
        NameKind::Import => (TokenKind::Program, none),
        NameKind::Input => (TokenKind::Parameter, Modifiers::READONLY),
        NameKind::Param => (TokenKind::Parameter, none),
        NameKind::Const
        | NameKind::Item
        | NameKind::Index
        | NameKind::ImplicitItem
        | NameKind::PipelineItem => (TokenKind::Variable, Modifiers::READONLY),
        NameKind::Output
        | NameKind::Let
        | NameKind::Assigned
        | NameKind::Branch
        | NameKind::Session
        | NameKind::Error
        | NameKind::Accumulator => (TokenKind::Variable, none),
    }
}

/// Walks through a statement. It goes over the tree that has no places, since making those costs more than all the rest.
struct Walk {
    within: TextRange,
    names: Vec<NameToken>,
    next_name: usize,
    tokens: Vec<SemanticToken>,
}

impl Walk {
    fn node(&mut self, node: &GreenNodeData, parent: SyntaxKind, start: TextSize) {
        let kind = kind_of(node.kind());
        match kind {
            STRING | DISCRETION => return self.text(node, start, TokenKind::String, kind),
            INTERPOLATION if self.name_at(start + TextSize::of('{')).is_none() => {
                let inside = if parent == DISCRETION { TokenKind::Discretion } else { TokenKind::String };
                return self.push(TextRange::at(start, node.text_len()), inside, Modifiers::UNRESOLVED);
            }
            _ => {}
        }
        let words = words_of(node, kind);
        let mut at = start;
        for child in node.children() {
            if at >= self.within.end() {
                return;
            }
            let end = at + child.text_len();
            if end > self.within.start() {
                match child {
                    NodeOrToken::Node(text) if kind_of(text.kind()) == STRING && is_word(text, words) => {
                        self.text(text, at, TokenKind::Value, STRING);
                    }
                    NodeOrToken::Node(node) => self.node(node, kind, at),
                    NodeOrToken::Token(token) => {
                        self.token(kind_of(token.kind()), token.text(), kind, parent, at);
                    }
                }
            }
            at = end;
        }
    }

    /// A string or a discretion; `inside` is what the text of a string is.
    fn text(&mut self, node: &GreenNodeData, start: TextSize, inside: TokenKind, kind: SyntaxKind) {
        let (marks, inside) = match kind {
            DISCRETION => (TokenKind::Discretion, TokenKind::Discretion),
            _ => (TokenKind::String, inside),
        };
        let mut at = start;
        for child in node.children() {
            let range = TextRange::at(at, child.text_len());
            match child {
                NodeOrToken::Node(part) => self.node(part, kind, at),
                NodeOrToken::Token(token) => match kind_of(token.kind()) {
                    TEXT => self.lines(token.text(), range, inside),
                    ESCAPE => self.push(range, TokenKind::Escape, Modifiers::default()),
                    _ => self.push(range, marks, Modifiers::default()),
                },
            }
            at = range.end();
        }
    }

    /// The lines of a text, each without the space that indents it.
    fn lines(&mut self, text: &str, range: TextRange, kind: TokenKind) {
        let mut at = range.start();
        for (index, line) in text.split(['\n', '\r']).enumerate() {
            let shown = if index == 0 { line } else { line.trim_start() };
            let indent = TextSize::of(line) - TextSize::of(shown);
            if !shown.is_empty() {
                self.push(TextRange::at(at + indent, TextSize::of(shown)), kind, Modifiers::default());
            }
            at += TextSize::of(line) + TextSize::of('\n');
            if at >= self.within.end() {
                break;
            }
        }
    }

    fn token(
        &mut self,
        token: SyntaxKind,
        text: &str,
        parent: SyntaxKind,
        grandparent: SyntaxKind,
        start: TextSize,
    ) {
        let kind = match token {
            // Words of a line that was not understood are nothing.
            _ if token.is_keyword() && parent != ERROR => TokenKind::Keyword,
            IDENT => {
                let meaning = self
                    .name_at(start)
                    .or_else(|| Some((name_without_meaning(parent, grandparent)?, Modifiers::default())));
                if let Some((kind, modifiers)) = meaning {
                    self.push(TextRange::at(start, TextSize::of(text)), kind, modifiers);
                }
                return;
            }
            COMMENT | SLASH_COMMENT => TokenKind::Comment,
            NUMBER | DURATION => TokenKind::Number,
            ARROW | EQ_EQ | BANG_EQ | LT_EQ | GT_EQ | LT | GT | EQ | PLUS | MINUS | STAR | SLASH | PIPE
            | QUESTION | ELLIPSIS => TokenKind::Operator,
            _ => return,
        };
        self.push(TextRange::at(start, TextSize::of(text)), kind, Modifiers::default());
    }

    /// What the name at an offset stands for. Offsets are asked for in the order of the text.
    fn name_at(&mut self, offset: TextSize) -> Option<Meaning> {
        while self.names.get(self.next_name).is_some_and(|name| name.start < offset) {
            self.next_name += 1;
        }
        self.names.get(self.next_name).filter(|name| name.start == offset).map(|name| name.meaning)
    }

    fn push(&mut self, range: TextRange, kind: TokenKind, modifiers: Modifiers) {
        if range.intersect(self.within).is_none_or(|shared| shared.is_empty()) {
            return;
        }
        let is_text = matches!(kind, TokenKind::String | TokenKind::Discretion);
        match self.tokens.last_mut() {
            // Quotes and text make one token.
            Some(last)
                if is_text
                    && (last.kind, last.modifiers) == (kind, modifiers)
                    && last.range.end() == range.start() =>
            {
                last.range = last.range.cover(range);
            }
            _ => self.tokens.push(SemanticToken { range, kind, modifiers }),
        }
    }
}

/// What a word is that is neither bound nor looked up.
fn name_without_meaning(parent: SyntaxKind, grandparent: SyntaxKind) -> Option<TokenKind> {
    match (parent, grandparent) {
        (NAME, PROPERTY | MODIFIER | OBJECT_ENTRY) | (FIELD | INTERPOLATION, _) => Some(TokenKind::Property),
        (NAME, ARG) => Some(TokenKind::Parameter),
        (NAME_REF, PROPERTY | MODIFIER) => Some(TokenKind::Value),
        _ => None,
    }
}

/// The words that a string below a property or an option may be one of.
fn words_of(node: &GreenNodeData, kind: SyntaxKind) -> &'static [Word] {
    if !matches!(kind, PROPERTY | MODIFIER) {
        return &[];
    }
    let name = node.children().find_map(|child| match child {
        NodeOrToken::Node(name) if kind_of(name.kind()) == NAME => token_text(name),
        _ => None,
    });
    match (kind, name) {
        (PROPERTY, Some(name)) => properties::find(name).map_or(&[], |property| property.words),
        (MODIFIER, Some(name)) => {
            OPTIONS.iter().find(|option| option.name == name).map_or(&[], |option| option.value.words())
        }
        (MODIFIER, None) => STRATEGIES,
        _ => &[],
    }
}

fn token_text(node: &GreenNodeData) -> Option<&str> {
    node.children().find_map(|child| child.into_token()).map(|token| token.text())
}

/// Whether a string is one of the words.
fn is_word(string: &GreenNodeData, words: &[Word]) -> bool {
    if words.is_empty() {
        return false;
    }
    let mut texts = string.children().filter_map(|child| child.into_token());
    texts.any(|token| kind_of(token.kind()) == TEXT && words.iter().any(|word| word.name == token.text()))
}
