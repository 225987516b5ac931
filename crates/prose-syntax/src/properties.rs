//! The table of properties of agents and sessions, and the words that they take for values.

use crate::options::Word;

const fn word(name: &'static str, summary: &'static str) -> Word {
    Word { name, summary }
}

/// What has properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// `agent name:`
    Agent,
    /// `session "…"`, `session: agent`
    Session,
    /// `resume: agent`
    Resume,
}

/// A property of an agent or a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property {
    /// The name before the colon.
    pub name: &'static str,
    /// One sentence for hovers and completions.
    pub summary: &'static str,
    /// Where it is of use.
    pub owners: &'static [Owner],
    /// The words that it takes for a value.
    pub words: &'static [Word],
    /// What a value looks like, as a snippet; none where one of the words is it.
    pub value: Option<&'static str>,
}

impl Property {
    /// The word of that name, where it is a value of the property.
    pub fn word(&self, name: &str) -> Option<&'static Word> {
        self.words.iter().find(|word| word.name == name)
    }
}

use Owner::{Agent, Resume, Session};

/// Every property the language knows.
pub const PROPERTIES: &[Property] = &[
    Property {
        name: "model",
        summary: "The model that answers: `sonnet`, `opus`, `haiku`, or a quoted id.",
        owners: &[Agent, Session],
        words: MODELS,
        value: None,
    },
    Property {
        name: "prompt",
        summary: "What the agent is, or what the session is to do.",
        owners: &[Agent, Session, Resume],
        words: &[],
        value: Some("\"$1\""),
    },
    Property {
        name: "context",
        summary: "The values that are passed to the session.",
        owners: &[Session, Resume],
        words: &[],
        value: None,
    },
    Property {
        name: "skills",
        summary: "The skills that the agent may use, as an array of strings.",
        owners: &[Agent],
        words: &[],
        value: Some("[\"$1\"]"),
    },
    Property {
        name: "permissions",
        summary: "What the agent may read, write, run and reach.",
        owners: &[Agent, Session, Resume],
        words: &[],
        value: Some("\n  ${1:read}: [\"${2:**}\"]"),
    },
    Property {
        name: "persist",
        summary: "Where the agent's memory is kept: `true`, `project`, `user` or a path.",
        owners: &[Agent],
        words: PERSISTENCE,
        value: None,
    },
    Property {
        name: "retry",
        summary: "How many times a failed session is tried again.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("${1:3}"),
    },
    Property {
        name: "backoff",
        summary: "How long to wait between retries: `none`, `linear` or `exponential`.",
        owners: &[Session, Resume],
        words: BACKOFFS,
        value: None,
    },
    Property {
        name: "timeout",
        summary: "How long the session may take, as a duration such as `120s`.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("${1:120s}"),
    },
    Property {
        name: "early_exit",
        summary: "A condition on which the session may end before its task is done.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("**$1**"),
    },
];

/// The models that have a name in the language. A file of settings can give others one.
pub const MODELS: &[Word] = &[
    word("sonnet", "The model for most work."),
    word("opus", "The model for hard work that needs thought."),
    word("haiku", "The model for quick and cheap work."),
];

/// Where an agent's memory is kept; a path in quotes is a place of its own.
pub const PERSISTENCE: &[Word] = &[
    word("true", "The memory lasts as long as the run."),
    word("project", "The memory is kept with the project, from run to run."),
    word("user", "The memory is kept with the user, from project to project."),
    word("false", "There is no memory."),
];

/// How long to wait between retries.
pub const BACKOFFS: &[Word] = &[
    word("none", "Every retry starts at once."),
    word("linear", "The wait is the same before every retry."),
    word("exponential", "The wait is twice as long before each further retry."),
];

/// What permissions are for.
pub const PERMISSIONS: &[Word] = &[
    word("read", "Which files may be read, as an array of patterns."),
    word("write", "Which files may be written, as an array of patterns."),
    word("execute", "Which programs may be run, as an array of patterns."),
    word("bash", "Whether commands may be run in a shell."),
    word("network", "Whether the network may be reached, or which addresses."),
];

/// What a permission says, unless it is an array of patterns.
pub const PERMISSION_VALUES: &[Word] = &[
    word("allow", "It is allowed."),
    word("deny", "It is forbidden."),
    word("prompt", "The user is asked each time."),
];

/// The property of that name.
pub fn find(name: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|property| property.name == name)
}

/// The properties that are of use to an owner.
pub fn of(owner: Owner) -> impl Iterator<Item = &'static Property> {
    PROPERTIES.iter().filter(move |property| property.owners.contains(&owner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_has_an_owner_and_every_name_is_there_once() {
        for property in PROPERTIES {
            assert!(!property.owners.is_empty(), "{}", property.name);
            assert_eq!(PROPERTIES.iter().filter(|other| other.name == property.name).count(), 1);
        }
    }

    #[test]
    fn names_and_words_are_found() {
        assert!(find("model").and_then(|model| model.word("opus")).is_some());
        assert!(find("modell").is_none());
        let names = |owner| of(owner).map(|property| property.name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(Owner::Agent), "model prompt skills permissions persist");
        assert_eq!(names(Owner::Resume), "prompt context permissions retry backoff timeout early_exit");
    }
}
