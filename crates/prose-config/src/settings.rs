//! The table of settings. What stands here is all there is: how it is read, the JSON schema and the documentation follow from it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use prose_rights::Right;
use prose_syntax::{Code, Level, Profile};

use crate::rights::ImportRights;
use crate::setting::settings;
use crate::values::{FetchMode, Folder, HarnessName, ModelAliases, PerFileIgnores, RegistryUrl, Word};

settings! {
    /// Settings of the OpenProse programs in this folder and the folders below it.
    pub struct Config {
        /// What is reported about programs, by `prose check` and in editors.
        check: CheckConfig = "check",
        /// What fetched programs may do in this project. The key is the path that a program is imported by, such as `alice/research`.
        imports: ImportRights = "imports",
        /// The programs in Markdown documents: fenced code blocks whose info string starts with `prose`.
        markdown: MarkdownConfig = "markdown",
        /// Names for models, to be used in programs like `sonnet`, `opus` and `haiku`. The value is the id of the model as its provider
        /// knows it.
        models: ModelAliases = "models",
        /// Where imported programs come from.
        registry: RegistryConfig = "registry",
        /// How programs run.
        run: RunConfig = "run",
    }
}

settings! {
    /// What is reported about programs.
    pub struct CheckConfig {
        /// The set of levels to start from. `default` reports no error on a program that works; `strict` takes the language reference at its
        /// word.
        profile: Profile = "profile",
        /// A level for single codes, in place of that of the profile. `prose explain` lists the codes.
        levels: BTreeMap<Code, Level> = "levels",
        /// Codes that are not reported in some files. The key is a glob as in `.gitignore`, relative to the folder of `prose.toml`: one without
        /// `/` is about names in any folder, and a folder stands for all that is in it. The value is a list of codes; `W0*` stands for all codes
        /// that start with `W0`.
        per_file_ignores: PerFileIgnores = "per-file-ignores",
    }
}

settings! {
    /// The programs in Markdown documents: fenced code blocks whose info string starts with `prose`.
    pub struct MarkdownConfig {
        /// Whether editors check them, help to write them and run them.
        enabled: bool = "enabled" or true,
        /// Whether `prose check` looks for them in all Markdown files below the folders that it is given. Those in a file that it is given by name are
        /// checked in any case.
        check: bool = "check",
    }
}

settings! {
    /// What a fetched program may do in this project.
    pub struct ImportConfig {
        /// The rights that the program has besides its inputs and a folder of memory of its own. `files:docs/**` lets it pass on files
        /// (`context:` with `file:`), `memory:project`, `memory:user` and `memory:PATH` let its agents share memories (`persist:`), and
        /// `skills:PATH` lets it name skills by path. Paths are relative to the folder of `prose.toml`.
        allow: Vec<Right> = "allow",
    }
}

settings! {
    /// Where imported programs come from.
    pub struct RegistryConfig {
        /// The address that the paths of programs such as `handle/slug` are appended to.
        url: RegistryUrl = "url",
        /// When programs are fetched: `automatic` while one types, `manual` when one asks for it, `off` never.
        fetch: FetchMode = "fetch",
        /// A folder with copies of imported programs, relative to the folder of `prose.toml`. They come before everything else. `prose vendor`
        /// writes them.
        vendor: Folder = "vendor",
    }
}

settings! {
    /// How programs run.
    pub struct RunConfig {
        /// How many sessions run at the same time, at most.
        max_parallel: NonZeroU32 = "max-parallel" or NonZeroU32::MIN.saturating_add(7),
        /// How often a loop without a `max` of its own is repeated before it fails.
        max_iterations: NonZeroU32 = "max-iterations" or NonZeroU32::MIN.saturating_add(999),
        /// Who answers sessions: `offline` makes plausible answers up without any model, `script` takes them from a file, `claude`, `codex` and
        /// `opencode` start these agents, `command` starts the program of `run.command`.
        harness: HarnessName = "harness",
        /// The program that the harness `command` starts for each session, with its arguments. `{prompt}`, `{system}` and `{model}` stand for what
        /// differs from session to session; without `{prompt}`, the prompt is written to standard input. The reply is what it writes to standard
        /// output.
        command: Vec<Word> = "command",
        /// The variables of the environment that agents get besides those that every program needs, such as keys; `*` at the end of a name stands
        /// for anything.
        environment: Vec<Word> = "environment",
        /// Files such as `.env`, keys and `prose.toml` that local programs may pass on all the same, relative to the folder of `prose.toml`. The
        /// program has to name the file exactly, without `{…}`.
        allow_files: Vec<Word> = "allow-files",
        /// The pause before each retry with `backoff: linear`, and before the first one with `exponential`, in milliseconds.
        backoff_ms: NonZeroU32 = "backoff-ms" or NonZeroU32::MIN.saturating_add(999),
        /// The longest pause before a retry with `backoff: exponential`, in milliseconds.
        backoff_cap_ms: NonZeroU32 = "backoff-cap-ms" or NonZeroU32::MIN.saturating_add(59_999),
    }
}
