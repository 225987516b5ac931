//! The table of properties of agents and sessions, and the words that they take for values.

use crate::options::Word;
use crate::suggest;

const fn word(name: &'static str, summary: &'static str) -> Word {
    Word { name, summary }
}

/// A statement that has properties.
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
    /// The statements that take it.
    pub owners: &'static [Owner],
    /// The words that are values of it.
    pub words: &'static [Word],
    /// A snippet of a value; `None` if one of the words is the value.
    pub value: Option<&'static str>,
    /// Details, as Markdown; may be empty.
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

/// Every property of the language.
pub const PROPERTIES: &[Property] = &[
    Property {
        name: "model",
        summary: "The model that runs the session: `sonnet`, `opus`, `haiku`, or a quoted id.",
        owners: &[Agent, Session],
        words: MODELS,
        value: None,
        docs: "The `model:` of a session overrides that of its agent. Without both, the harness uses its default model. `[models]` in `prose.toml` \
        defines names for other models.",
        example: "agent judge:\n  model: opus\n  prompt: \"You weigh both sides.\"\n\nsession: judge\n  prompt: \"Judge the draft\"\n",
    },
    Property {
        name: "prompt",
        summary: "The role of the agent, or the task of the session.",
        owners: &[Agent, Session, Resume],
        words: &[],
        value: Some("\"$1\""),
        docs: "The prompt of an agent is sent with each of its tasks. `{names}` in it are replaced when a session with the agent starts. \
        Write a text of several lines between `\"\"\"`.",
        example: "agent poet:\n  prompt: \"You write in short lines.\"\n\nsession: poet\n  prompt: \"\"\"\n    Write about the sea.\n    \
        Do not name it.\n  \"\"\"\n",
    },
    Property {
        name: "context",
        summary: "The values that are passed to the session.",
        owners: &[Session, Resume],
        words: &[],
        value: None,
        docs: "A session sees only its prompt and these values: a variable, a list, or an object in braces that names each value. `[]` passes \
        nothing.",
        example: "let facts = session \"Collect facts about tides\"\nlet style = \"plain\"\n\nsession \"Write a report\"\n  context: { facts, \
        style }\n",
    },
    Property {
        name: "skills",
        summary: "The skills that the agent may use, as an array of strings.",
        owners: &[Agent],
        words: &[],
        value: Some("[\"$1\"]"),
        docs: "The harness must support the skills. The list of a session replaces the list of its agent.",
        example: "agent scout:\n  prompt: \"You find sources.\"\n  skills: [\"web-search\", \"summarize\"]\n\nsession: scout\n  prompt: \"Find \
        sources on tides\"\n",
    },
    Property {
        name: "permissions",
        summary: "The files, commands and addresses that the agent may use.",
        owners: &[Agent, Session, Resume],
        words: &[],
        value: Some("\n  ${1:read}: [\"${2:**}\"]"),
        docs: "Each entry is `allow`, `deny`, `prompt` (ask first) or a list of patterns. If the harness cannot enforce an entry, the session \
        does not start.",
        example: "agent clerk:\n  prompt: \"You keep the notes.\"\n  permissions:\n    read: [\"notes/**\"]\n    write: [\"notes/**\"]\n    \
        bash: deny\n    network: deny\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "persist",
        summary: "Where the agent's memory is stored: `true`, `project`, `user` or a path.",
        owners: &[Agent],
        words: PERSISTENCE,
        value: None,
        docs: "`session:` starts without the memory, `resume:` with it.\n\n\
        | value | scope of the memory |\n|---|---|\n| `true` | this run |\n| `project` | this project, in `.prose/agents/` |\n| `user` \
        | all projects of the user, in `~/.prose/agents/` |\n| `\"path\"` | the folder at that path |",
        example: "agent tutor:\n  persist: project\n  prompt: \"You teach arithmetic.\"\n\nresume: tutor\n  prompt: \"Go on where we \
        stopped\"\n",
    },
    Property {
        name: "retry",
        summary: "The number of retries of a failed session.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("${1:3}"),
        docs: "The first attempt does not count: `retry: 2` makes at most three attempts. `backoff:` sets the delay between attempts.",
        example: "session \"Fetch the weather report\"\n  retry: 3\n  backoff: exponential\n",
    },
    Property {
        name: "backoff",
        summary: "The delay between retries: `none`, `linear` or `exponential`.",
        owners: &[Session, Resume],
        words: BACKOFFS,
        value: None,
        docs: "`linear` waits the same time before each retry, `exponential` twice as long each time. It has an effect only together with \
        `retry:`.",
        example: "session \"Fetch the weather report\"\n  retry: 3\n  backoff: linear\n",
    },
    Property {
        name: "timeout",
        summary: "The time limit of the session, as a duration such as `120s`.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("${1:120s}"),
        docs: "The units are `ms`, `s`, `m` and `h`. A session that takes longer fails, and `retry:` can run it again.",
        example: "session \"Fetch the weather report\"\n  timeout: 90s\n",
    },
    Property {
        name: "early_exit",
        summary: "A condition on which the session may end before its task is complete.",
        owners: &[Session, Resume],
        words: &[],
        value: Some("**$1**"),
        docs: "",
        example: "session \"Search the archive for the missing letter\"\n  early_exit: **the letter was found**\n",
    },
];

/// The entries of `permissions:`.
pub const PERMISSIONS: &[Property] = &[
    Property {
        name: "read",
        summary: "The files that the agent may read, as patterns.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    read: [\"notes/**\", \"*.md\"]\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "write",
        summary: "The files that the agent may write, as patterns.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    write: [\"notes/**\"]\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "execute",
        summary: "The programs that the agent may run, as patterns.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    execute: [\"scripts/*.sh\"]\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "bash",
        summary: "Whether the agent may run shell commands: `allow`, `deny` or `prompt`, which asks first.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    bash: deny\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "network",
        summary: "Whether the agent may use the network: `allow`, `deny`, `prompt`, or a list of allowed addresses.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    network: [\"https://example.com/*\"]\n\nsession: clerk\n  prompt: \"Look the address up\"\n",
    },
    Property {
        name: "mcp",
        summary: "The tools of MCP servers that the agent may use: `allow`, `deny`, `prompt`, or a list of servers and tools such as `tracker` and `tracker/search_*`.",
        owners: &[Agent, Session, Resume],
        words: PERMISSION_VALUES,
        value: None,
        docs: "",
        example: "agent clerk:\n  permissions:\n    mcp: [\"tracker\"]\n\nsession: clerk\n  prompt: \"List the open issues\"\n",
    },
];

/// The models that have a name in the language. `[models]` in `prose.toml` defines others.
pub const MODELS: &[Word] = &[
    word("sonnet", "The model for most work."),
    word("opus", "The model for difficult work."),
    word("haiku", "The model for fast and cheap work."),
];

/// The scopes of an agent's memory; a quoted path names a folder instead.
pub const PERSISTENCE: &[Word] = &[
    word("true", "The memory lasts as long as the run."),
    word("project", "The memory is kept in the project, across runs."),
    word("user", "The memory is kept for the user, across projects."),
    word("false", "The agent has no memory."),
];

/// The delays between retries.
pub const BACKOFFS: &[Word] = &[
    word("none", "Every retry starts immediately."),
    word("linear", "The delay is the same before every retry."),
    word("exponential", "The delay doubles with every retry."),
];

/// The values of a permission, apart from lists of patterns.
pub const PERMISSION_VALUES: &[Word] =
    &[word("allow", "Allowed."), word("deny", "Denied."), word("prompt", "The user is asked each time.")];

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
pub fn nearest_property(name: &str) -> Option<&'static Property> {
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
