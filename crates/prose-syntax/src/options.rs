//! The tables of options, strategies and policies in the parentheses of a header.

/// A header that takes options between parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// `parallel ("any", count: 2):`
    Parallel,
    /// `loop (max: 5):`
    Loop,
    /// `block review(topic) (max_depth: 5):`
    Block,
}

impl Header {
    /// The keyword it starts with.
    pub fn keyword(self) -> &'static str {
        match self {
            Header::Parallel => "parallel",
            Header::Loop => "loop",
            Header::Block => "block",
        }
    }

    /// The options it takes.
    pub fn options(self) -> impl Iterator<Item = &'static HeaderOption> {
        OPTIONS.iter().filter(move |option| option.header == self)
    }
}

/// An option with a name, such as `max: 5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderOption {
    /// The name before the colon.
    pub name: &'static str,
    /// The header that takes it.
    pub header: Header,
    /// The kind of its value.
    pub value: OptionValue,
    /// One sentence for hovers and completions.
    pub summary: &'static str,
}

/// The kind of value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionValue {
    /// A whole number, at least 1.
    Count,
    /// One of [`FAILURE_POLICIES`].
    FailurePolicy,
}

impl OptionValue {
    /// The words that the value is one of, in quotes; none where it is a number.
    pub fn words(self) -> &'static [Word] {
        match self {
            OptionValue::Count => &[],
            OptionValue::FailurePolicy => FAILURE_POLICIES,
        }
    }
}

/// Every option with a name.
pub const OPTIONS: &[HeaderOption] = &[
    HeaderOption {
        name: "on-fail",
        header: Header::Parallel,
        value: OptionValue::FailurePolicy,
        summary: "What happens to the other branches when one fails: `\"fail-fast\"`, `\"continue\"` or `\"ignore\"`.",
    },
    HeaderOption {
        name: "count",
        header: Header::Parallel,
        value: OptionValue::Count,
        summary: "The number of successful branches that the strategy `\"any\"` waits for.",
    },
    HeaderOption {
        name: "max",
        header: Header::Loop,
        value: OptionValue::Count,
        summary: "The maximum number of iterations.",
    },
    HeaderOption {
        name: "max_depth",
        header: Header::Block,
        value: OptionValue::Count,
        summary: "The maximum depth of recursive calls.",
    },
];

/// A word with a meaning of its own as the value of an option or of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// One sentence for hovers and completions.
    pub summary: &'static str,
}

impl Word {
    /// Whether a word is one of those of a table.
    pub fn is_one_of(word: &str, words: &[Word]) -> bool {
        words.iter().any(|known| known.name == word)
    }
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        self.name
    }
}

/// What a `parallel` waits for, as its option without a name.
pub const STRATEGIES: &[Word] = &[
    Word { name: "all", summary: "Waits for every branch. This is the default." },
    Word { name: "first", summary: "Waits for the first branch that ends, and cancels the others." },
    Word { name: "any", summary: "Waits for one branch that succeeds, or for `count` branches." },
];

/// What a `parallel` does when a branch fails, as its option `on-fail`.
pub const FAILURE_POLICIES: &[Word] = &[
    Word { name: "fail-fast", summary: "Cancels the other branches and fails. This is the default." },
    Word {
        name: "continue",
        summary: "Lets the other branches finish, and continues with the error as the value of the failed one.",
    },
    Word { name: "ignore", summary: "Continues as if the branch had not failed; its value is `null`." },
];

/// The option of that name.
pub fn find(header: Header, name: &str) -> Option<&'static HeaderOption> {
    header.options().find(|option| option.name == name)
}
