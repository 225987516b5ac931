//! The tables of what stands between the parentheses of a header: options, strategies and policies.

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
    /// What it is set to.
    pub value: OptionValue,
    /// One sentence for hovers and completions.
    pub summary: &'static str,
}

/// What an option is set to.
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
        summary: "What becomes of the other branches when one fails: `\"fail-fast\"`, `\"continue\"` or `\"ignore\"`.",
    },
    HeaderOption {
        name: "count",
        header: Header::Parallel,
        value: OptionValue::Count,
        summary: "How many branches the strategy `\"any\"` waits for.",
    },
    HeaderOption {
        name: "max",
        header: Header::Loop,
        value: OptionValue::Count,
        summary: "The most iterations that the loop makes.",
    },
    HeaderOption {
        name: "max_depth",
        header: Header::Block,
        value: OptionValue::Count,
        summary: "How deep the block may call itself.",
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
    Word { name: "all", summary: "Waits for every branch; this is so without a strategy too." },
    Word { name: "first", summary: "Goes on with the first branch that ends, and drops the others." },
    Word { name: "any", summary: "Waits for one branch that succeeds, or for as many as `count` says." },
];

/// What a `parallel` does when a branch fails, as its option `on-fail`.
pub const FAILURE_POLICIES: &[Word] = &[
    Word {
        name: "fail-fast",
        summary: "Ends the other branches and fails; this is so without a policy too.",
    },
    Word {
        name: "continue",
        summary: "Lets the other branches end, and goes on with an error in place of the value.",
    },
    Word { name: "ignore", summary: "Goes on as if the branch had not failed." },
];

/// The option of that name.
pub fn find(header: Header, name: &str) -> Option<&'static HeaderOption> {
    header.options().find(|option| option.name == name)
}
