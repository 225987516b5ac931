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
    }
    nodes {
        /// The whole file.
        SOURCE_FILE,
        /// Text that fits no rule of the grammar.
        ERROR,
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
}

/// The language tag of the rowan tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProseLanguage {}

impl rowan::Language for ProseLanguage {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        // Trees are built from `SyntaxKind` alone, so the number is always in the table.
        SyntaxKind::ALL[raw.0 as usize]
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

/// A node of the tree.
pub type SyntaxNode = rowan::SyntaxNode<ProseLanguage>;
/// A token of the tree.
pub type SyntaxToken = rowan::SyntaxToken<ProseLanguage>;
/// A node or a token of the tree.
pub type SyntaxElement = rowan::SyntaxElement<ProseLanguage>;
