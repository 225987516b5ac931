//! The table of properties of agents and sessions.

/// A property of an agent or a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Property {
    /// The name before the colon.
    pub name: &'static str,
    /// One sentence for hovers and completions.
    pub summary: &'static str,
    /// What else is worth knowing, as Markdown; may be empty.
    pub docs: &'static str,
    /// A program that uses it.
    pub example: &'static str,
}

/// Every property the language knows.
pub const PROPERTIES: &[Property] = &[
    Property {
        name: "model",
        summary: "The model that answers: `sonnet`, `opus`, `haiku`, or a quoted id.",
        docs: "A session's own `model:` goes before that of its agent. Without either the host decides. A name of your own stands for a \
        model if `[models]` in `prose.toml` says which one.",
        example: "agent judge:\n  model: opus\n  prompt: \"You weigh both sides.\"\n\nsession: judge\n  prompt: \"Judge the draft\"\n",
    },
    Property {
        name: "prompt",
        summary: "What the agent is, or what the session is to do.",
        docs: "An agent's prompt goes with every task it is given. References in braces in it are filled in where the agent is started. \
        Text of several lines stands between `\"\"\"`.",
        example: "agent poet:\n  prompt: \"You write in short lines.\"\n\nsession: poet\n  prompt: \"\"\"\n    Write about the sea.\n    \
        Do not name it.\n  \"\"\"\n",
    },
    Property {
        name: "context",
        summary: "The values that are passed to the session.",
        docs: "A session sees nothing of the program but its prompt and these values: a variable, a list, or an object in braces that \
        names each. `[]` passes nothing.",
        example: "let facts = session \"Collect facts about tides\"\nlet style = \"plain\"\n\nsession \"Write a report\"\n  context: { facts, \
        style }\n",
    },
    Property {
        name: "skills",
        summary: "The skills that the agent may use, as an array of strings.",
        docs: "The host has to know the skills. The list of a session takes the place of its agent's.",
        example: "agent scout:\n  prompt: \"You find sources.\"\n  skills: [\"web-search\", \"summarize\"]\n\nsession: scout\n  prompt: \"Find \
        sources on tides\"\n",
    },
    Property {
        name: "permissions",
        summary: "What the agent may read, write, run and reach.",
        docs: "Each entry is `allow`, `deny`, `prompt` (ask first) or a list of patterns. A program whose host cannot keep to a rule is \
        not run.",
        example: "agent clerk:\n  prompt: \"You keep the notes.\"\n  permissions:\n    read: [\"notes/**\"]\n    write: [\"notes/**\"]\n    \
        bash: deny\n    network: deny\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "persist",
        summary: "Where the agent's memory is kept: `true`, `project`, `user` or a path.",
        docs: "`session:` starts without what is remembered, `resume:` goes on with it.\n\n\
        | value | the memory lasts as long as |\n|---|---|\n| `true` | the run |\n| `project` | the project, in `.prose/agents/` |\n| `user` \
        | you keep it, in `~/.prose/agents/` |\n| `\"path\"` | the folder at that path |",
        example: "agent tutor:\n  persist: project\n  prompt: \"You teach arithmetic.\"\n\nresume: tutor\n  prompt: \"Go on where we \
        stopped\"\n",
    },
    Property {
        name: "retry",
        summary: "How many times a failed session is tried again.",
        docs: "The first attempt does not count: `retry: 2` makes three attempts at most. `backoff:` says how long to wait in between.",
        example: "session \"Fetch the weather report\"\n  retry: 3\n  backoff: exponential\n",
    },
    Property {
        name: "backoff",
        summary: "How long to wait between retries: `none`, `linear` or `exponential`.",
        docs: "`linear` waits the same time before each retry, `exponential` twice as long as before the last one. It has an effect only \
        next to `retry:`.",
        example: "session \"Fetch the weather report\"\n  retry: 3\n  backoff: linear\n",
    },
    Property {
        name: "timeout",
        summary: "How long the session may take, as a duration such as `120s`.",
        docs: "The units are `ms`, `s`, `m` and `h`. A session that takes longer fails, and may be tried again with `retry:`.",
        example: "session \"Fetch the weather report\"\n  timeout: 90s\n",
    },
    Property {
        name: "early_exit",
        summary: "A condition on which the session may end before its task is done.",
        docs: "",
        example: "session \"Search the archive for the missing letter\"\n  early_exit: **the letter was found**\n",
    },
];

/// What `permissions:` has rules for.
pub const PERMISSIONS: &[Property] = &[
    Property {
        name: "read",
        summary: "The files that may be read, as patterns.",
        docs: "",
        example: "agent clerk:\n  permissions:\n    read: [\"notes/**\", \"*.md\"]\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "write",
        summary: "The files that may be written, as patterns.",
        docs: "",
        example: "agent clerk:\n  permissions:\n    write: [\"notes/**\"]\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "bash",
        summary: "Whether commands may be run: `allow`, `deny` or `prompt`, which asks first.",
        docs: "",
        example: "agent clerk:\n  permissions:\n    bash: deny\n\nsession: clerk\n  prompt: \"Sort the notes\"\n",
    },
    Property {
        name: "network",
        summary: "Whether the network may be reached: `allow`, `deny` or `prompt`, or the addresses that may.",
        docs: "",
        example: "agent clerk:\n  permissions:\n    network: [\"https://example.com/*\"]\n\nsession: clerk\n  prompt: \"Look the address up\"\n",
    },
];

/// The property of that name.
pub fn find(name: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|property| property.name == name)
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
