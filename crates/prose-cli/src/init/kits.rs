//! The kits for coding agents, which are folders of `editors/agents`: what of them goes into a project.

use super::step::{FileKind, ProjectFile};
use crate::cli::init::AgentName;

macro_rules! kit_file {
    ($path:literal, $kind:ident, $source:literal) => {
        ProjectFile {
            path: $path,
            text: include_str!(concat!("../../../../editors/agents/", $source)),
            kind: FileKind::$kind,
        }
    };
}

/// The files that connect an agent to a project. Files of several agents are the same.
pub(super) fn files(agent: AgentName) -> &'static [ProjectFile] {
    match agent {
        AgentName::Claude => CLAUDE,
        AgentName::Codex => CODEX,
        AgentName::Gemini => GEMINI,
        AgentName::OpenCode => OPENCODE,
    }
}

const CLAUDE: &[ProjectFile] = &[
    kit_file!(".mcp.json", Json, "claude-code/.mcp.json"),
    kit_file!(".claude/settings.json", Json, "claude-code/hooks/hooks.json"),
    kit_file!(".claude/skills/openprose/SKILL.md", Whole, "claude-code/skills/openprose/SKILL.md"),
    kit_file!(".claude/commands/openprose/check.md", Whole, "claude-code/commands/check.md"),
    kit_file!(".claude/commands/openprose/estimate.md", Whole, "claude-code/commands/estimate.md"),
    kit_file!(".claude/commands/openprose/run.md", Whole, "claude-code/commands/run.md"),
];

/// The folder of skills that several agents read.
const SHARED_SKILL: ProjectFile =
    kit_file!(".agents/skills/openprose/SKILL.md", Whole, "claude-code/skills/openprose/SKILL.md");

const SHARED_INSTRUCTIONS: ProjectFile = kit_file!("AGENTS.md", Section, "instructions.md");

const CODEX: &[ProjectFile] =
    &[kit_file!(".codex/config.toml", Toml, "codex/config.toml"), SHARED_SKILL, SHARED_INSTRUCTIONS];

const GEMINI: &[ProjectFile] = &[
    kit_file!(".gemini/settings.json", Json, "gemini-cli/settings.json"),
    kit_file!(".gemini/commands/openprose/check.toml", Whole, "gemini-cli/commands/openprose/check.toml"),
    kit_file!(
        ".gemini/commands/openprose/estimate.toml",
        Whole,
        "gemini-cli/commands/openprose/estimate.toml"
    ),
    kit_file!(".gemini/commands/openprose/run.toml", Whole, "gemini-cli/commands/openprose/run.toml"),
    SHARED_SKILL,
    kit_file!("GEMINI.md", Section, "instructions.md"),
];

const OPENCODE: &[ProjectFile] = &[
    kit_file!("opencode.json", Json, "opencode/opencode.json"),
    kit_file!(".opencode/commands/openprose/check.md", Whole, "claude-code/commands/check.md"),
    kit_file!(".opencode/commands/openprose/estimate.md", Whole, "claude-code/commands/estimate.md"),
    kit_file!(".opencode/commands/openprose/run.md", Whole, "claude-code/commands/run.md"),
    SHARED_SKILL,
    SHARED_INSTRUCTIONS,
];

#[cfg(test)]
mod tests {
    use super::*;

    const REMAKE: &str = "-p prose-cli kits";

    /// Extensions and plugins are installed from their folders, so each needs a skill of its own.
    #[test]
    fn the_skill_is_the_same_everywhere() {
        prose_fixture::check_page(
            "editors/agents/gemini-cli/skills/openprose/SKILL.md",
            SHARED_SKILL.text,
            REMAKE,
        );
        prose_fixture::check_page("editors/agents/gemini-cli/GEMINI.md", SHARED_INSTRUCTIONS.text, REMAKE);
    }

    /// Settings of a project have in one file what an extension has in two.
    #[test]
    fn the_extension_of_gemini_has_the_settings_of_projects() {
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let settings = json(GEMINI[0].text);
        let extension = json(include_str!("../../../../editors/agents/gemini-cli/gemini-extension.json"));
        let hooks = json(include_str!("../../../../editors/agents/gemini-cli/hooks/hooks.json"));
        assert_eq!(settings["mcpServers"], extension["mcpServers"]);
        assert_eq!(settings["hooks"], hooks["hooks"]);
    }

    #[test]
    fn commands_of_gemini_are_made_from_those_of_claude() {
        for name in ["check", "estimate", "run"] {
            let path = format!(".claude/commands/openprose/{name}.md");
            let source = CLAUDE.iter().find(|file| file.path == path).unwrap().text;
            let (head, prompt) = source.trim_start_matches("---\n").split_once("---\n\n").unwrap();
            let description = head.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
            let prompt = prompt.replace("$ARGUMENTS", "{{args}}");
            assert!(!prompt.contains(['\\', '"']) && !description.contains(['\\', '"']), "{source}");
            prose_fixture::check_page(
                &format!("editors/agents/gemini-cli/commands/openprose/{name}.toml"),
                &format!("description = \"{description}\"\nprompt = \"\"\"\n{prompt}\"\"\"\n"),
                REMAKE,
            );
        }
    }

    /// A token of a model is at least two bytes of English text and code on average, mostly four.
    #[test]
    fn the_skill_has_less_than_4000_tokens() {
        let bytes = SHARED_SKILL.text.len();
        assert!(bytes < 8_000, "{bytes} bytes");
    }
}
