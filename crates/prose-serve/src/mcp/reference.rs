//! The language reference: the pages of the guide, as resources.

/// A page.
pub(super) struct Topic {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) text: &'static str,
}

const SCHEME: &str = "prose://language/";

macro_rules! topics {
    ($($name:literal: $description:literal,)*) => {
        /// All pages, in reading order.
        pub(super) const TOPICS: &[Topic] = &[$(Topic {
            name: $name,
            description: $description,
            text: include_str!(concat!("../../../../docs/language/", $name, ".md")),
        }),*];
    };
}

topics! {
    "README": "The language in an overview: what a program is, its layout, and which page has what. Read it first.",
    "sessions": "Sessions and agents: prompts, models, permissions, skills, context, retries.",
    "values": "Variables, texts with `{…}`, lists, context.",
    "control-flow": "Conditions that a model evaluates, `if`, `choice`, loops and their limits.",
    "parallel": "Parallel branches and loops, and what happens when one fails.",
    "blocks": "Named parts of a program with parameters, recursion.",
    "composition": "Inputs, outputs, and imported programs.",
    "errors": "Failures: `try`, `catch`, `finally`, `throw`, `retry:`, `timeout:`.",
    "memory": "Agents with a memory: `persist:` and `resume:`.",
    "words": "Every keyword, property and option, with an example.",
}

impl Topic {
    pub(super) fn uri(&self) -> String {
        format!("{SCHEME}{}", self.name)
    }

    /// The first heading.
    pub(super) fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

/// The page of an address.
pub(super) fn topic(uri: &str) -> Option<&'static Topic> {
    let name = uri.strip_prefix(SCHEME)?;
    TOPICS.iter().find(|topic| topic.name == name)
}
