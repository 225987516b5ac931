//! OpenProse for Zed: finds the language server and tells it what the settings say.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{
    Command, Extension, LanguageServerId, Result, Worktree, register_extension, serde_json,
};

struct OpenProse;

impl Extension for OpenProse {
    fn new() -> Self {
        Self
    }

    /// The program of the setting `lsp.prose.binary`, else `prose` on `PATH`. Nothing is ever downloaded.
    fn language_server_command(&mut self, server: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let binary = LspSettings::for_worktree(server.as_ref(), worktree)?.binary;
        let (path, arguments, environment) =
            binary.map_or((None, None, None), |binary| (binary.path, binary.arguments, binary.env));
        let command = path.or_else(|| worktree.which("prose")).ok_or(
            "the program `prose` is not on PATH. Install it, or name it in the settings: \
             \"lsp\": { \"prose\": { \"binary\": { \"path\": \"/path/to/prose\" } } }",
        )?;
        let mut variables = worktree.shell_env();
        variables.extend(environment.into_iter().flatten());
        Ok(Command { command, args: arguments.unwrap_or_else(|| vec!["lsp".to_owned()]), env: variables })
    }

    /// What stands in `lsp.prose.initialization_options`.
    fn language_server_initialization_options(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }

    /// What stands in `lsp.prose.settings`.
    fn language_server_workspace_configuration(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(server.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| serde_json::json!({ "prose": settings })))
    }
}

register_extension!(OpenProse);
