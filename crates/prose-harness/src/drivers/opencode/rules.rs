//! The permissions of a session in the terms of OpenCode.
//!
//! OpenCode compares its own patterns with paths as the model writes them, so that a symlink or `..` gets around them. Therefore it only has three answers
//! here: a tool is removed, asks before each use, or needs no question. What it asks is decided by [`prose_backends::permissions`].

use std::collections::BTreeSet;

use globset::Glob;
use prose_vm::effect::{Permission, PermissionRule};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::mcp::{AgentServers, McpServer};
use prose_backends::permissions::{About, McpTool};

/// A rule of OpenCode. Of several rules for a tool, the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rule {
    /// The kind of tool, which may have wildcards.
    permission: String,
    /// What the tool is used for, which may have wildcards.
    pattern: String,
    action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Action {
    Allow,
    Ask,
    Deny,
}

/// The rules of OpenCode about files and folders outside of the project.
const OUTSIDE: &str = "external_directory";

/// The tools whose use is understood, with what they need.
const TOOLS: &[(&str, About)] = &[
    ("read", About::Read),
    ("glob", About::Read),
    ("grep", About::Read),
    ("list", About::Read),
    ("skill", About::Read),
    ("edit", About::Write),
    ("bash", About::Execute),
    ("webfetch", About::Network),
    ("websearch", About::Network),
    ("codesearch", About::Network),
];

/// The tools that need no permission.
const FREE_TOOLS: &[&str] = &["todowrite", "todoread"];

/// The question whether a repeated call may go on.
pub(super) const REPEATED_CALL: &str = "doom_loop";

/// The tool by which an answer is bound to a schema.
pub(super) const ANSWER: &str = "StructuredOutput";

/// Tools that need a person or have agents work without these rules.
const REMOVED: &[&str] = &["question", "plan_enter", "plan_exit", "task"];

/// What a session may do without a question.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    /// Whether nothing is restricted, so that tools without a known effect are available.
    is_free: bool,
    asked: Vec<&'static str>,
    removed: Vec<&'static str>,
    /// The MCP servers that may run, those with longer names last, and whether the session may use them.
    servers: Vec<(SmolStr, bool)>,
}

impl Rules {
    /// The rules of a session of an agent with MCP servers. `all` are those of all agents, which sessions share.
    pub(super) fn of_session(permissions: &[Permission], all: &AgentServers, own: &[McpServer]) -> Self {
        let of = |about| {
            permissions.iter().filter(move |it| About::of(&it.about) == Some(about)).map(|it| &it.rule)
        };
        let denies = |about| of(about).any(PermissionRule::denies_all);
        let restricts = |about| of(about).any(|rule| *rule != PermissionRule::Allow);
        let executes = of(About::Execute).next().is_some() && !denies(About::Execute);
        let is_free = executes && permissions.iter().all(|it| it.rule == PermissionRule::Allow);
        let is_asked = |tool: &str, about| match about {
            // The user has installed it. Where files are restricted, nobody knows which ones it needs.
            About::Read if tool == "skill" => restricts(About::Read),
            About::Network => of(About::Network).next().is_some(),
            _ => true,
        };
        let is_removed = |tool: &str, about| match about {
            // Files of the context may always be read.
            About::Read => denies(About::Read) && tool != "read",
            About::Execute => !executes,
            _ => denies(about),
        };
        let named = |is: &dyn Fn(&str, About) -> bool| {
            TOOLS.iter().filter(|(tool, about)| is(tool, *about)).map(|(tool, _)| *tool).collect()
        };
        let mut removed: Vec<_> = named(&is_removed);
        if !is_free {
            removed.extend(REMOVED);
        }
        let is_own = |name: &SmolStr| own.iter().any(|server| server.name == *name);
        let names: BTreeSet<&SmolStr> = all.values().flatten().map(|server| &server.name).collect();
        let mut servers: Vec<_> =
            names.into_iter().map(|name| (name.clone(), is_own(name) && !denies(About::Mcp))).collect();
        servers.sort_by_key(|(name, _)| name.len());
        Self { is_free, asked: named(&is_asked), removed, servers }
    }

    /// The rules of a question, which can read files only if it names some.
    pub(super) fn of_question(reads: bool) -> Self {
        let is_removed = |tool: &&str| !reads || *tool != "read";
        let removed = TOOLS.iter().map(|(tool, _)| *tool).filter(is_removed);
        let removed = removed.chain([REMOVED, FREE_TOOLS].concat()).collect();
        Self { is_free: false, asked: vec!["read"], removed, servers: Vec::new() }
    }

    /// Whether OpenCode asks before each use of a tool.
    pub(super) fn asks(&self, tool: &str) -> bool {
        let tool = permission_of(tool);
        // Tools without a known effect exist only where nothing is restricted.
        self.asked.contains(&tool) || !self.is_known(tool) && (!self.is_free || self.mcp_tool(tool).is_some())
    }

    /// The tool of an MCP server that a tool is.
    pub(super) fn mcp_tool(&self, tool: &str) -> Option<McpTool> {
        // Of `files` and `files_2`, the longer name is meant, as in the rules.
        self.servers.iter().rev().find_map(|(server, _)| {
            let tool = tool.strip_prefix(server.as_str())?.strip_prefix('_')?;
            Some(McpTool { server: server.to_string(), tool: tool.to_owned() })
        })
    }

    fn is_known(&self, tool: &str) -> bool {
        tool == ANSWER || FREE_TOOLS.contains(&tool) || TOOLS.iter().any(|(known, _)| *known == tool)
    }

    /// The rules in addition to those of the user, who can deny further uses: what the user allows is asked.
    pub(super) fn with(&self, of_user: &[Rule]) -> Vec<Rule> {
        let rule = |permission: &str, pattern: &str, action| Rule {
            permission: permission.to_owned(),
            pattern: pattern.to_owned(),
            action,
        };
        let mut rules = Vec::new();
        if !self.is_free {
            rules.push(rule("*", "*", Action::Deny));
        }
        let known = TOOLS.iter().map(|(tool, _)| *tool).chain(FREE_TOOLS.iter().copied());
        let known: Vec<_> = known.chain([OUTSIDE, REPEATED_CALL]).collect();
        for given in of_user {
            if self.is_free && !known.contains(&given.permission.as_str()) {
                rules.push(given.clone());
            }
            let is_asked = |name: &str| [OUTSIDE, REPEATED_CALL].contains(&name) || self.asks(name);
            let names = known.iter().filter(|name| given.is_about(name));
            rules.extend(names.map(|name| given.for_tools(name, is_asked(name))));
        }
        for (server, is_used) in &self.servers {
            let tools = format!("{server}_*");
            if !is_used {
                rules.push(rule(&tools, "*", Action::Deny));
                continue;
            }
            rules.extend(of_user.iter().filter_map(|given| match given.permission.as_str() {
                _ if given.is_about(&tools) => Some(given.for_tools(&tools, true)),
                some if some.starts_with(tools.trim_end_matches('*')) => Some(given.for_tools(some, true)),
                _ => None,
            }));
        }
        rules.extend(self.removed.iter().map(|tool| rule(tool, "*", Action::Deny)));
        rules.push(rule(ANSWER, "*", Action::Allow));
        rules
    }
}

impl Rule {
    /// What a rule of the user means for these tools: where they are asked, what it allows is asked, too.
    fn for_tools(&self, tools: &str, is_asked: bool) -> Self {
        let action = match self.action {
            Action::Allow if is_asked => Action::Ask,
            action => action,
        };
        Self { permission: tools.to_owned(), pattern: self.pattern.clone(), action }
    }

    fn is_about(&self, name: &str) -> bool {
        self.permission == name
            || Glob::new(&self.permission).is_ok_and(|glob| glob.compile_matcher().is_match(name))
    }
}

/// The name of the rules for a tool.
fn permission_of(tool: &str) -> &str {
    match tool {
        "write" | "multiedit" | "patch" | "apply_patch" => "edit",
        tool => tool,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::*;
    use crate::mcp::Transport;

    /// The rules of a session for a user with these rules, in the form `ACTION TOOL PATTERN`. Its agent has the servers `files` and `tracker`, another one
    /// `files_2`.
    fn check(permissions: &[(&str, PermissionRule)], of_user: Value, expected: Expect) {
        let permissions = permissions.iter();
        let permissions: Vec<_> = permissions
            .map(|(about, rule)| Permission { about: (*about).into(), rule: rule.clone() })
            .collect();
        let of_user: Vec<Rule> = serde_json::from_value(of_user).unwrap();
        let server = |name: &str| {
            let transport = Transport::Http { url: String::new(), headers: BTreeMap::new() };
            McpServer { name: name.into(), transport }
        };
        let own = vec![server("files"), server("tracker")];
        let servers = AgentServers::new(BTreeMap::from([
            ("writer".into(), own.clone()),
            ("other".into(), vec![server("files_2"), server("files")]),
        ]));
        let rules = Rules::of_session(&permissions, &servers, &own).with(&of_user);
        let shown = rules.iter().map(|rule| {
            let action = format!("{:?}", rule.action).to_lowercase();
            format!("{action} {} {}\n", rule.permission, rule.pattern)
        });
        expected.assert_eq(&shown.collect::<String>());
    }

    fn allowing_all() -> Value {
        json!([{ "permission": "*", "pattern": "*", "action": "allow" }])
    }

    #[test]
    fn without_permissions_files_are_asked_and_commands_removed() {
        check(
            &[],
            allowing_all(),
            expect![[r#"
                deny * *
                ask read *
                ask glob *
                ask grep *
                ask list *
                allow skill *
                ask edit *
                ask bash *
                allow webfetch *
                allow websearch *
                allow codesearch *
                allow todowrite *
                allow todoread *
                ask external_directory *
                ask doom_loop *
                ask files_* *
                deny files_2_* *
                ask tracker_* *
                deny bash *
                deny question *
                deny plan_enter *
                deny plan_exit *
                deny task *
                allow StructuredOutput *
            "#]],
        );
    }

    #[test]
    fn tools_belong_to_the_server_with_the_longest_name() {
        let servers = ["files", "tracker", "files_2"].map(|name| (name.into(), true)).into();
        let rules = Rules { servers, ..Rules::of_question(false) };
        let named = |tool| rules.mcp_tool(tool).map(|tool| tool.name());
        assert_eq!(named("files_read").as_deref(), Some("files/read"));
        assert_eq!(named("files_2_read").as_deref(), Some("files_2/read"));
        assert_eq!(named("tracker__hidden").as_deref(), Some("tracker/_hidden"));
        assert_eq!(named("read"), None);
    }

    #[test]
    fn what_the_user_denies_stays_denied() {
        use PermissionRule::Allow;

        check(
            &[("bash", Allow)],
            json!([
                { "permission": "*", "pattern": "*", "action": "allow" },
                { "permission": "bash", "pattern": "rm *", "action": "deny" },
                { "permission": "files_*", "pattern": "*", "action": "deny" },
                { "permission": "tracker_delete", "pattern": "*", "action": "deny" },
                { "permission": "mine_*", "pattern": "*", "action": "deny" },
            ]),
            expect![[r#"
                allow * *
                ask read *
                ask glob *
                ask grep *
                ask list *
                allow skill *
                ask edit *
                ask bash *
                allow webfetch *
                allow websearch *
                allow codesearch *
                allow todowrite *
                allow todoread *
                ask external_directory *
                ask doom_loop *
                deny bash rm *
                deny files_* *
                deny tracker_delete *
                deny mine_* *
                ask files_* *
                deny files_* *
                deny files_2_* *
                ask tracker_* *
                deny tracker_delete *
                allow StructuredOutput *
            "#]],
        );
    }

    #[test]
    fn tools_that_are_denied_as_a_whole_are_removed() {
        use PermissionRule::{Allow, Deny, Prompt};

        check(
            &[
                ("read", Deny),
                ("write", PermissionRule::Patterns(Vec::new())),
                ("network", Prompt),
                ("bash", Allow),
                ("mcp", Deny),
            ],
            allowing_all(),
            expect![[r#"
                deny * *
                ask read *
                ask glob *
                ask grep *
                ask list *
                ask skill *
                ask edit *
                ask bash *
                ask webfetch *
                ask websearch *
                ask codesearch *
                allow todowrite *
                allow todoread *
                ask external_directory *
                ask doom_loop *
                deny files_* *
                deny files_2_* *
                deny tracker_* *
                deny glob *
                deny grep *
                deny list *
                deny skill *
                deny edit *
                deny question *
                deny plan_enter *
                deny plan_exit *
                deny task *
                allow StructuredOutput *
            "#]],
        );
    }
}
