//! The kinds of tokens and nodes of the syntax tree, and the table of keywords.

macro_rules! syntax_kinds {
    (
        keywords { $($keyword:literal => $kw:ident,)* }
        tokens { $($(#[$token_meta:meta])* $token:ident,)* }
        nodes { $($(#[$node_meta:meta])* $node:ident,)* }
    ) => {
        /// The kind of a token or of a node.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types)]
        #[repr(u16)]
        pub enum SyntaxKind {
            $(#[doc = concat!("The keyword `", $keyword, "`.")] $kw,)*
            $($(#[$token_meta])* $token,)*
            $($(#[$node_meta])* $node,)*
        }

        impl SyntaxKind {
            const ALL: &[SyntaxKind] = &[
                $(SyntaxKind::$kw,)*
                $(SyntaxKind::$token,)*
                $(SyntaxKind::$node,)*
            ];

            /// The contextual keyword that `text` spells. Every keyword is also a valid name (L14).
            pub fn from_keyword(text: &str) -> Option<SyntaxKind> {
                match text {
                    $($keyword => Some(SyntaxKind::$kw),)*
                    _ => None,
                }
            }
        }

        /// Every keyword of the language with its kind, in the order of the reference.
        pub const KEYWORDS: &[(&str, SyntaxKind)] = &[$(($keyword, SyntaxKind::$kw)),*];
    };
}

syntax_kinds! {
    keywords {
        "use" => USE_KW,
        "as" => AS_KW,
        "import" => IMPORT_KW,
        "from" => FROM_KW,
        "input" => INPUT_KW,
        "output" => OUTPUT_KW,
        "agent" => AGENT_KW,
        "block" => BLOCK_KW,
        "let" => LET_KW,
        "const" => CONST_KW,
        "session" => SESSION_KW,
        "resume" => RESUME_KW,
        "do" => DO_KW,
        "parallel" => PARALLEL_KW,
        "repeat" => REPEAT_KW,
        "for" => FOR_KW,
        "in" => IN_KW,
        "loop" => LOOP_KW,
        "until" => UNTIL_KW,
        "while" => WHILE_KW,
        "try" => TRY_KW,
        "catch" => CATCH_KW,
        "finally" => FINALLY_KW,
        "throw" => THROW_KW,
        "choice" => CHOICE_KW,
        "option" => OPTION_KW,
        "if" => IF_KW,
        "elif" => ELIF_KW,
        "else" => ELSE_KW,
        "return" => RETURN_KW,
        "break" => BREAK_KW,
        "continue" => CONTINUE_KW,
        "assert" => ASSERT_KW,
        "map" => MAP_KW,
        "filter" => FILTER_KW,
        "pmap" => PMAP_KW,
        "reduce" => REDUCE_KW,
        "and" => AND_KW,
        "or" => OR_KW,
        "not" => NOT_KW,
        "is" => IS_KW,
        "true" => TRUE_KW,
        "false" => FALSE_KW,
        "null" => NULL_KW,
    }
    tokens {
        /// Spaces and tabs.
        WHITESPACE,
        /// `\n`, `\r\n` or a lone `\r`.
        NEWLINE,
        /// `#` up to the end of the line.
        COMMENT,
        /// A byte order mark at the start of the file.
        BYTE_ORDER_MARK,
        /// A name, with hyphens (L12). A keyword in a name position is an `IDENT` too.
        IDENT,
        /// `3` or `0.5`.
        NUMBER,
        /// `120s`, `2m` (L11).
        DURATION,
        /// `"` at either end of a one-line string.
        QUOTE,
        /// `"""` at either end of a triple-quoted string.
        TRIPLE_QUOTE,
        /// `**` or `***` at either end of a discretion.
        DISCRETION_MARK,
        /// Literal text inside a string or a discretion.
        TEXT,
        /// A known escape inside a string.
        ESCAPE,
        /// `->`
        ARROW,
        /// `==`
        EQ_EQ,
        /// `!=`
        BANG_EQ,
        /// `<=`
        LT_EQ,
        /// `>=`
        GT_EQ,
        /// `<`
        LT,
        /// `>`
        GT,
        /// `=`
        EQ,
        /// `+`
        PLUS,
        /// `-`
        MINUS,
        /// `*`
        STAR,
        /// `/`
        SLASH,
        /// `|`
        PIPE,
        /// `:`
        COLON,
        /// `,`
        COMMA,
        /// `.`
        DOT,
        /// `...`
        ELLIPSIS,
        /// `?`
        QUESTION,
        /// `(`
        L_PAREN,
        /// `)`
        R_PAREN,
        /// `[`
        L_BRACKET,
        /// `]`
        R_BRACKET,
        /// `{`
        L_BRACE,
        /// `}`
        R_BRACE,
        /// A character that starts no token of the language.
        UNKNOWN,
        /// `'text'`, which other languages take for a string.
        SINGLE_QUOTED,
        /// `//` up to the end of the line, which other languages take for a comment.
        SLASH_COMMENT,
        /// A line that is not a part of the program and is in it all the same: a Markdown fence, or a marker of a merge conflict.
        STRAY_LINE,

        // Whole literals as the lexer sees them. The parser splits them into the tokens above, so they are not in the tree.
        /// A one-line string with both quotes.
        STRING_LITERAL,
        /// A one-line string without its closing quote.
        UNTERMINATED_STRING,
        /// A triple-quoted string with both quotes.
        TRIPLE_STRING_LITERAL,
        /// A triple-quoted string without its closing quotes.
        UNTERMINATED_TRIPLE_STRING,
        /// A discretion with both markers.
        DISCRETION_LITERAL,
        /// A discretion without its closing marker.
        UNTERMINATED_DISCRETION,

        // Layout, as the parser sees it. These have no text and are not in the tree.
        /// The end of a logical line.
        LINE_END,
        /// The next line is indented deeper.
        INDENT,
        /// The next line is back at an outer indentation.
        DEDENT,
        /// The end of the file.
        END,
    }
    nodes {
        /// The whole file.
        SOURCE_FILE,
        /// Text that fits no rule of the grammar.
        ERROR,
        /// Statements that are indented together.
        BLOCK,
        /// A name where it is defined.
        NAME,
        /// A name where it is used.
        NAME_REF,

        /// `use "alice/research" as research`
        USE,
        /// `import "skill" from "source"`, the legacy form.
        IMPORT,
        /// `input topic: "What to research"`
        INPUT,
        /// `output report = …`, or `output …` that returns.
        OUTPUT,
        /// `agent researcher:` with its properties.
        AGENT,
        /// `block review(topic):` with its body.
        BLOCK_DEF,
        /// `(topic, depth)` of a block.
        PARAM_LIST,
        /// One parameter.
        PARAM,
        /// `(max: 3)`, `("first", on-fail: "continue")`
        MODIFIER_LIST,
        /// One of a modifier list.
        MODIFIER,
        /// `let x = …` and `const x = …`
        LET,
        /// `{ a, b }` of a `let`.
        DESTRUCTURING,
        /// `x = …`, also a branch of a `parallel`.
        ASSIGNMENT,
        /// An expression as a statement: a call or a pipeline.
        EXPR_STMT,
        /// `...` where a sketch leaves something out.
        PLACEHOLDER,

        /// `session "…"`, `session: agent`, with its properties.
        SESSION,
        /// `resume: agent`, with its properties.
        RESUME,
        /// `session "a" -> session "b"`
        ARROW_CHAIN,
        /// The indented properties of an agent or a session, or those in parentheses after a session.
        PROPERTY_LIST,
        /// `model: opus`
        PROPERTY,
        /// `do review("x")`
        DO_CALL,
        /// `do:` with its body.
        DO_BLOCK,
        /// `("x", depth: 3)`
        ARG_LIST,
        /// One argument.
        ARG,
        /// `parallel:` with its branches.
        PARALLEL,
        /// `parallel for x in xs:`
        PARALLEL_FOR,
        /// `repeat 3 as i:`
        REPEAT,
        /// `for x, i in xs:`
        FOR,
        /// `loop until **done** (max: 5) as i:`
        LOOP,
        /// `try:` with its clauses.
        TRY,
        /// `catch as error:`
        CATCH_CLAUSE,
        /// `finally:`
        FINALLY_CLAUSE,
        /// `choice **which**:` with its options.
        CHOICE,
        /// `option "label":`
        CHOICE_OPTION,
        /// `if **so**:` with its clauses.
        IF,
        /// `elif **so**:`
        ELIF_CLAUSE,
        /// `else:`
        ELSE_CLAUSE,
        /// `throw "message"`
        THROW,
        /// `return x`
        RETURN,
        /// `break`
        BREAK,
        /// `continue`
        CONTINUE,
        /// `assert x: "message"`
        ASSERT,
        /// `xs | map: … | reduce(a, b): …`
        PIPELINE,
        /// `| map:` with its body.
        PIPE_STAGE,

        /// A string of either kind.
        STRING,
        /// `**condition**` or `***condition***`
        DISCRETION,
        /// `{name}`, `{a.b[0]}` inside a string or a discretion.
        INTERPOLATION,
        /// A number, a duration, `true`, `false` or `null`.
        LITERAL,
        /// `[a, b]`
        ARRAY,
        /// `{ a, key: b }`
        OBJECT,
        /// One entry of an object.
        OBJECT_ENTRY,
        /// `f(x)`, with an optional `from "…"`
        CALL,
        /// `a.b`
        FIELD,
        /// `a[0]`
        INDEX,
        /// `a + b`, `a and b`, `a == b`
        BINARY,
        /// `not a`, `-a`
        UNARY,
        /// `a ? b : c`
        TERNARY,
        /// `(a)`
        PAREN,
        /// `input "…"` as a value.
        INPUT_VALUE,
    }
}

use SyntaxKind::*;

impl SyntaxKind {
    /// Whether the kind is a token that the grammar does not see.
    pub fn is_trivia(self) -> bool {
        matches!(self, WHITESPACE | NEWLINE | COMMENT | BYTE_ORDER_MARK)
    }

    /// Whether the kind is a keyword of [`KEYWORDS`].
    pub fn is_keyword(self) -> bool {
        (self as u16) < KEYWORDS.len() as u16
    }

    /// Whether a token can be a name. All keywords can (L14).
    pub(crate) fn is_name(self) -> bool {
        self == IDENT || self.is_keyword()
    }

    /// Whether a token is a string, closed or not.
    pub(crate) fn is_string(self) -> bool {
        matches!(
            self,
            STRING_LITERAL
                | UNTERMINATED_STRING
                | TRIPLE_STRING_LITERAL
                | UNTERMINATED_TRIPLE_STRING
                | SINGLE_QUOTED
        )
    }

    /// Whether a token is a condition between `**`, closed or not.
    pub(crate) fn is_discretion(self) -> bool {
        matches!(self, DISCRETION_LITERAL | UNTERMINATED_DISCRETION)
    }

    /// Whether a token is a string or a condition between `**`.
    pub(crate) fn is_literal(self) -> bool {
        self.is_string() || self.is_discretion()
    }
}

impl From<SyntaxKind> for rowan::SyntaxKind {
    fn from(kind: SyntaxKind) -> Self {
        rowan::SyntaxKind(kind as u16)
    }
}

impl From<rowan::SyntaxKind> for SyntaxKind {
    fn from(raw: rowan::SyntaxKind) -> Self {
        // Trees are built from `SyntaxKind` alone, so the number is always in the table.
        SyntaxKind::ALL[raw.0 as usize]
    }
}

/// The language tag of the rowan tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProseLanguage {}

impl rowan::Language for ProseLanguage {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        raw.into()
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        kind.into()
    }
}

/// A node of the tree.
pub type SyntaxNode = rowan::SyntaxNode<ProseLanguage>;
/// A token of the tree.
pub type SyntaxToken = rowan::SyntaxToken<ProseLanguage>;
/// A node or a token of the tree.
pub type SyntaxElement = rowan::SyntaxElement<ProseLanguage>;
