//! The settings of a project: `prose.toml`.
//!
//! Reading never fails. [`Config::parse`] returns the settings that the text says, and diagnostics where it says something else; one
//! wrong key leaves every other in effect. All settings stand in one table, in `settings.rs`, from which reading, the JSON schema
//! ([`Config::schema`]) and the documentation are made.

mod agents;
mod document;
mod file;
mod limits;
mod mcp;
mod permissions;
mod project;
mod registry_url;
mod rights;
mod setting;
mod settings;
mod values;

pub use agents::{AgentConfig, AgentConfigs, JudgeConfig, ProviderConfig, SkillName};
pub use file::{FILE_NAME, find, find_accepted, programs_in};
pub use limits::{Dollars, LimitConfig, LimitsConfig, Named, PriceConfig};
pub use mcp::{Headers, McpServerConfig, McpServerConfigs, ServerName, ServerUrl, variables};
pub use permissions::PermissionRules;
pub use project::{Overrides, Project, Projects};
pub use registry_url::RegistryUrl;
pub use rights::{ImportConfig, ImportRights};
pub use setting::NamedInSettings;
pub use settings::{CheckConfig, Config, MarkdownConfig, McpConfig, RegistryConfig, RunConfig};
pub use values::{
    CodePattern, FetchMode, FileIgnore, Folder, HarnessName, Isolation, ModelAliases, PerFileIgnores,
    ProviderName, RunStore, Variable, WaitTime, WhenWaiting, Word,
};

use std::path::Path;

use prose_rights::Grants;
use prose_syntax::{Code, Diagnostic, Level, Profile, Severity};
use serde_json::Value;

use crate::setting::Setting;

impl Config {
    /// Reads the text of a `prose.toml`. What is wrong is reported, in the order of the text, and has no effect.
    pub fn parse(text: &str) -> (Config, Vec<Diagnostic>) {
        let (config, problems, _) = document::read(text);
        (config, problems.into_iter().map(|problem| problem.diagnostic).collect())
    }

    /// What is granted to fetched programs: to each of them, and what the project lets all agents do.
    pub fn grants(&self) -> Grants {
        self.imports.grants().with_rules(self.run.permissions.iter())
    }

    /// The JSON schema of `prose.toml`, for editors.
    pub fn schema() -> Value {
        let mut schema = <Config as Setting>::schema();
        schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
        schema["title"] = "prose.toml".into();
        schema
    }
}

impl CheckConfig {
    /// How grave a finding is, or `None` if it is not reported.
    ///
    /// A level set for its code comes before that of the profile; the ignores of its file, whose `path` is relative to the folder of
    /// `prose.toml`, come before both. For `lenient` see [`Diagnostic::lenient`].
    pub fn level(&self, code: Code, lenient: bool, path: Option<&Path>) -> Option<Severity> {
        if path.is_some_and(|path| self.per_file_ignores.ignores(path, code)) {
            return None;
        }
        self.level_in(self.profile, code, lenient).severity()
    }

    /// The level of a code, where `profile` is asked for what is not set for the code itself.
    fn level_in(&self, profile: Profile, code: Code, lenient: bool) -> Level {
        self.levels.get(&code).copied().unwrap_or_else(|| code.info().level(profile, lenient))
    }
}
