//! The table of properties of agents and sessions.

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

/// The property of that name.
pub fn find(name: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|property| property.name == name)
}
