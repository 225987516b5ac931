//! The tables of the properties of agents and sessions, and of the words that are their values.

use crate::suggest;

/// A property of an agent or a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property {
    /// The name before the colon.
    pub name: &'static str,
    /// One sentence for hovers and completions.
    pub summary: &'static str,
}

/// Every property the language knows.
pub const PROPERTIES: &[Property] = &[
    Property { name: "model", summary: "The model that answers: `sonnet`, `opus`, `haiku`, or a quoted id." },
    Property { name: "prompt", summary: "What the agent is, or what the session is to do." },
    Property { name: "context", summary: "The values that are passed to the session." },
    Property { name: "skills", summary: "The skills that the agent may use, as an array of strings." },
    Property { name: "permissions", summary: "What the agent may read, write, run and reach." },
    Property {
        name: "persist",
        summary: "Where the agent's memory is kept: `true`, `project`, `user` or a path.",
    },
    Property { name: "retry", summary: "How many times a failed session is tried again." },
    Property {
        name: "backoff",
        summary: "How long to wait between retries: `none`, `linear` or `exponential`.",
    },
    Property { name: "timeout", summary: "How long the session may take, as a duration such as `120s`." },
    Property {
        name: "early_exit",
        summary: "A condition on which the session may end before its task is done.",
    },
];

/// The models that have a name in the language.
pub const MODELS: &[&str] = &["sonnet", "opus", "haiku"];

/// How long to wait between retries.
pub const BACKOFFS: &[&str] = &["none", "linear", "exponential"];

/// Where the memory of an agent is kept, unless a path says it.
pub const MEMORIES: &[&str] = &["true", "false", "project", "user"];

/// The kinds of permission that the reference knows.
pub const PERMISSION_KINDS: &[&str] = &["read", "write", "execute", "bash", "network"];

/// What a permission says where it gives no patterns.
pub const PERMISSION_VALUES: &[&str] = &["allow", "deny", "prompt"];

/// The property of that name.
pub fn find(name: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|property| property.name == name)
}

/// What some properties are called elsewhere.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("system", "prompt"),
    ("system_prompt", "prompt"),
    ("instructions", "prompt"),
    ("retries", "retry"),
    ("max_retries", "retry"),
    ("attempts", "retry"),
    ("memory", "persist"),
    ("persistent", "persist"),
];

/// The property that is probably meant by a name: the one of that name, the one that is called so elsewhere, or the nearest one.
pub fn meant(name: &str) -> Option<&'static Property> {
    let elsewhere = || OTHER_NAMES.iter().find(|(other, _)| *other == name).and_then(|(_, name)| find(name));
    find(name).or_else(elsewhere).or_else(|| suggest::nearest(name, PROPERTIES, |property| property.name))
}
