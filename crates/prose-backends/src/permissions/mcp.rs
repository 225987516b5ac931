//! Which rules cover the tools of MCP servers.

use globset::GlobBuilder;

use super::{About, Decision, Judge};

/// A tool of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpTool {
    /// The name of the server.
    pub server: String,
    /// The name of the tool.
    pub tool: String,
}

impl McpTool {
    /// The tool that an agent names. Agents join the names of server and tool in their own ways.
    pub fn named<'a>(title: &str, servers: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let title = title.trim();
        let parts = |server: &str| -> Option<String> {
            let of_server = title.strip_prefix("mcp__").unwrap_or(title).strip_prefix(server);
            let after = of_server.and_then(|rest| {
                ["__", "_", ".", "/", ": "].iter().find_map(|separator| rest.strip_prefix(separator))
            });
            let before = || {
                let (tool, rest) = title.split_once(" (")?;
                (rest.strip_suffix(')')? == format!("{server} MCP Server")).then_some(tool)
            };
            let tool = after.or_else(before)?;
            // What follows the name are arguments.
            let tool = tool.split([' ', ':', '(']).next().unwrap_or(tool);
            (!tool.is_empty()).then(|| tool.to_owned())
        };
        // Of `files` and `files_2`, the longer name is meant.
        let found = servers.into_iter().filter_map(|server| Some((server, parts(server)?)));
        let (server, tool) = found.max_by_key(|(server, _)| server.len())?;
        Some(Self { server: server.to_owned(), tool })
    }

    /// The name in rules.
    pub fn name(&self) -> String {
        format!("{}/{}", self.server, self.tool)
    }

    /// Whether a list of patterns covers it: one pattern does, and none that starts with `!`. A pattern without `/` is a server.
    fn is_covered(&self, patterns: &[String]) -> bool {
        let name = self.name();
        let matches = |pattern: &str| {
            let text = if pattern.contains('/') { &name } else { &self.server };
            let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(false).build();
            glob.is_ok_and(|glob| glob.compile_matcher().is_match(text))
        };
        let mut excluded = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!'));
        patterns.iter().any(|pattern| !pattern.starts_with('!') && matches(pattern)) && !excluded.any(matches)
    }
}

impl Judge<'_> {
    pub(super) fn mcp_tool(&self, tool: &McpTool) -> Decision {
        if self.rules(About::Mcp).next().is_none() {
            return Decision::doubt(format!(
                "no rule for `mcp`; write `mcp: [\"{}\"]` below `permissions:` of the agent or in `[run.permissions]` in `prose.toml`",
                super::one_line(&tool.server)
            ));
        }
        self.by_rules(About::Mcp, |rule, patterns| match tool.is_covered(patterns) {
            true => Decision::Allow,
            false => Decision::deny(format!("`{rule}` does not cover `{}`", super::one_line(&tool.name()))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_name_tools_in_their_own_ways() {
        let servers = ["files", "files_2"];
        let check = |title: &str, expected: Option<&str>| {
            let found = McpTool::named(title, servers).map(|tool| tool.name());
            assert_eq!(found.as_deref(), expected, "{title}");
        };
        check("mcp__files__read_all", Some("files/read_all"));
        check("files_read", Some("files/read"));
        check("files_2_read", Some("files_2/read"));
        check("files.read", Some("files/read"));
        check("files/read: notes.md", Some("files/read"));
        check("read (files MCP Server)", Some("files/read"));
        check("read (other MCP Server)", None);
        check("mcp__other__read", None);
        check("files", None);
        check("filesystem_read", None);
    }

    #[test]
    fn patterns_name_servers_and_tools() {
        let tool = McpTool { server: "tracker".to_owned(), tool: "search_open".to_owned() };
        let covers = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            tool.is_covered(&patterns)
        };
        assert!(
            covers(&["tracker"]) && covers(&["tracker/*"]) && covers(&["tracker/search_*"]) && covers(&["*"])
        );
        assert!(!covers(&["track"]) && !covers(&["tracker/search"]) && !covers(&["other/*"]));
        assert!(!covers(&["tracker", "!tracker/search_*"]) && covers(&["tracker", "!tracker/delete"]));
    }
}
