//! The table of properties of agents and sessions, and the words that they take for values.

use crate::options::Word;
use crate::suggest;

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
    /// What else is worth knowing, as Markdown; may be empty.
    pub docs: &'static str,
    /// A program that uses it.
    pub example: &'static str,
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
        docs: "A session's own `model:` goes before that of its agent. Without either the host decides. A name of your own stands for a \
        model if `[models]` in `prose.toml` says which one.",
        example: "agent judge:\n  model: opus\n  prompt: \"You weigh both sides.\"\n\nsession: judge\n  prompt: \"Judge the draft\"\n",
    },
    Property {
        name: "prompt",
        summary: "What the agent is, or what the session is to do.",
        owners: &[Agent, Session, Resume],
        words: &[],
        value: Some("\"$1\""),
        docs: "An agent's prompt goes with every task it is given. References in braces in it are filled in where the agent is started. \
        Text of several lines stands between `\"\"\"`.",
        example: "agent poet:\n  prompt: \"You write in short lines.\"\n\nsession: poet\n  prompt: \"\"\"\n    Write about the sea.\n    \
        Do not name it.\n  \"\"\"\n",
    },
    Property {
        name: "context",
        summary: "The values that are passed to the session.",
        owners: &[Session, Resume],
        words: &[],
        value: None,
        docs: "A session sees nothing of the program but its prompt and these values: a variable, a list, or an object in braces that \
        names each. `[]` passes nothing.",
        example: "let facts = session \"Collect facts about tides\"\nlet style = \"plain\"\n\nsession \"Write a report\"\n  context: { facts, \
        style }\n",
    },
    Property {
        name: "skills",
        summary: "The skills that the agent may use, as an array of strings.",
        owners: &[Agent],
        words: &[],
        value: Some("[\"$1\"]"),
        docs: "The host has to know the skills. The list of a session takes the place of its agent's.",
        example: "agent scout:\n  prompt: \"You find sources.\"\n  skills: [\"web-search\", \"summarize\"]\n\nsession: scout\n  prompt: \"Find \
        sources on tides\"\n",
    },
    Property {
        name: "permissions",
        summary: "What the agent may read, write, run and reach.",
        owners: &[Agent, Session, Resume],
        words: &[],
        value: Some("\n  ${1:read}: [\"${2:**}\"]"),
        docs: "Each entry is `allow`, `deny`, `prompt` (ask first) or a list of patterns. A session whose host cannot \
        keep to a rule is not started.",
        example: "agent clerk:\n  prompt: \"You keep the notes.\"\n  permissions:\n    read: [\"notes/**\"]\n    write: [\"notes/**\"]\n    \
        bash: deny\n    network: deny\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "persist",
        summary: "Where the agent's memory is kept: `true`, `project`, `user` or a path.",
        owners: &[Agent],
        words: PERSISTENCE,
        value: None,
        docs: "`session:` starts without what is remembered, `resume:` goes on with it.\n\n\
        | value | the memory lasts as long as |\n|---|---|\n| `true` | the run |\n| `project` | the project, in `.prose/agents/` |\n| `user` \
        | you keep it, in `~/.prose/agents/` |\n| `\"path\"` | the folder at that path |",
        example: "agent tutor:\n  persist: project\n  prompt: \"You teach arithmetic.\"\n\nresume: tutor\n  prompt: \"Go on where we \
        stopped\"\n",
    },
    Property {
        name: "retry",
        summary: "How many times a failed session is tried again.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("${1:3}"),
        docs: "The first attempt does not count: `retry: 2` makes three attempts at most. `backoff:` says how long to wait in between.",
        example: "session \"Fetch the weather report\"\n  retry: 3\n  backoff: exponential\n",
    },
    Property {
        name: "backoff",
        summary: "How long to wait between retries: `none`, `linear` or `exponential`.",
        owners: &[Session, Resume],
        words: BACKOFFS,
        value: None,
        docs: "`linear` waits the same time before each retry, `exponential` twice as long as before the last one. It has an effect only \
        next to `retry:`.",
        example: "session \"Fetch the weather report\"\n  retry: 3\n  backoff: linear\n",
    },
    Property {
        name: "timeout",
        summary: "How long the session may take, as a duration such as `120s`.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("${1:120s}"),
        docs: "The units are `ms`, `s`, `m` and `h`. A session that takes longer fails, and may be tried again with `retry:`.",
        example: "session \"Fetch the weather report\"\n  timeout: 90s\n",
    },
    Property {
        name: "early_exit",
        summary: "A condition on which the session may end before its task is done.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("**$1**"),
        docs: "",
        example: "session \"Search the archive for the missing letter\"\n  early_exit: **the letter was found**\n",
    },
];

/// What `permissions:` has rules for.
pub const PERMISSIONS: &[Property] = &[
    Property {
        name: "read",
        summary: "The files that may be read, as patterns.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    read: [\"notes/**\", \"*.md\"]\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "write",
        summary: "The files that may be written, as patterns.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    write: [\"notes/**\"]\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "execute",
        summary: "The programs that may be run, as patterns.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    execute: [\"scripts/*.sh\"]\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "bash",
        summary: "Whether commands may be run: `allow`, `deny` or `prompt`, which asks first.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    bash: deny\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "network",
        summary: "Whether the network may be reached: `allow`, `deny` or `prompt`, or the addresses that may.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    network: [\"https://example.com/*\"]\n\nsession: clerk\n  prompt: \"Look the address up\"\n",
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

/// The properties that are of use to an owner.
pub fn of(owner: Owner) -> impl Iterator<Item = &'static Property> {
    PROPERTIES.iter().filter(move |property| property.owners.contains(&owner))
}

/// The entry of `permissions:` of that name.
pub fn find_permission(name: &str) -> Option<&'static Property> {
    PERMISSIONS.iter().find(|permission| permission.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;
    use crate::ast::{AstNode, Property as Node};

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

    #[test]
    fn every_example_is_right_and_uses_the_property() {
        for property in PROPERTIES.iter().chain(PERMISSIONS) {
            let parse = crate::parse(property.example);
            let errors: Vec<_> = parse
                .diagnostics()
                .iter()
                .filter(|diagnostic| diagnostic.severity() == Severity::Error)
                .collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", property.name);
            let names = parse.syntax().descendants().filter_map(Node::cast).filter_map(|node| node.name());
            let mut names = names.map(|name| name.text());
            assert!(names.any(|name| name == property.name), "the example of `{}` lacks it", property.name);
        }
    }
}
