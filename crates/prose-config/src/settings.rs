//! The table of settings. What stands here is all there is: how it is read, the JSON schema and the documentation follow from it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use prose_syntax::{Code, Level, Profile};

use crate::agents::{AgentConfigs, JudgeConfig, ProviderConfig};
use crate::limits::{LimitsConfig, Named, PriceConfig};
use crate::mcp::McpServerConfigs;
use crate::permissions::PermissionRules;
use crate::registry_url::RegistryUrl;
use crate::rights::ImportRights;
use crate::setting::settings;
use crate::values::{
    FetchMode, Folder, HarnessName, Isolation, ModelAliases, PerFileIgnores, RunStore, WaitTime, WhenWaiting,
    Word,
};

settings! {
    /// Settings of the OpenProse programs in this folder and the folders below it.
    pub struct Config {
        /// Agents with a backend, MCP servers or skills of their own. The key is the name of the agent in programs.
        agents: AgentConfigs = "agents",
        /// Diagnostics of `prose check` and of editors.
        check: CheckConfig = "check",
        /// The rights of fetched programs in this project. The key is the path in `use`, such as `alice/research`.
        imports: ImportRights = "imports",
        /// What runs may use. A limit that is reached stops the run with status 3; `prose resume` with a higher limit continues it.
        limits: LimitsConfig = "limits",
        /// Programs in Markdown documents: fenced code blocks whose info string starts with `prose`.
        markdown: MarkdownConfig = "markdown",
        /// Servers of the Model Context Protocol (MCP), whose tools agents can use, and what clients of `prose mcp` may do.
        mcp: McpConfig = "mcp",
        /// Names for models, used in programs like `sonnet`, `opus` and `haiku`. The value is the provider's id of the model.
        models: ModelAliases = "models",
        /// Prices of models in US dollars per million tokens. They override the built-in prices and the cost that an agent reports; the key is the provider's id of the model.
        prices: Named<PriceConfig> = "prices",
        /// Where imported programs are fetched from.
        registry: RegistryConfig = "registry",
        /// How programs run.
        run: RunConfig = "run",
    }
}

settings! {
    /// Diagnostics of `prose check` and of editors.
    pub struct CheckConfig {
        /// The base set of severities. `default` reports no errors for programs that work in practice; `strict` uses the severities of the language
        /// reference.
        profile: Profile = "profile",
        /// The level of single codes; overrides the profile. `prose explain` lists the codes.
        levels: BTreeMap<Code, Level> = "levels",
        /// Codes to ignore in some files. The key is a glob as in `.gitignore`, relative to the folder of `prose.toml`: a glob without `/` matches
        /// names in any folder, and a folder matches all files in it. The value is a list of codes; `W0*` matches all codes that start with
        /// `W0`.
        per_file_ignores: PerFileIgnores = "per-file-ignores",
    }
}

settings! {
    /// Programs in Markdown documents: fenced code blocks whose info string starts with `prose`.
    pub struct MarkdownConfig {
        /// Whether editors check, complete and run programs in Markdown documents.
        enabled: bool = "enabled" or true,
        /// Whether `prose check` also checks the programs in all Markdown files of a folder. Programs in a Markdown file that is named on the command
        /// line are always checked.
        check: bool = "check",
    }
}

settings! {
    /// Servers of the Model Context Protocol (MCP), whose tools agents can use, and what clients of `prose mcp` may do.
    pub struct McpConfig {
        /// Whether clients may run programs of this project, with its harness, limits and permissions. Without it they can check, describe and estimate
        /// them. The project must be trusted.
        run: bool = "run",
        /// The servers by name. `mcp` in `[agents.NAME]` gives an agent the tools of some of them.
        servers: McpServerConfigs = "servers",
    }
}

settings! {
    /// Where imported programs are fetched from.
    pub struct RegistryConfig {
        /// The base address of the registry. The path of a program, such as `handle/slug`, is appended to it.
        url: RegistryUrl = "url",
        /// When programs are fetched: `automatic` while you type, `manual` on request, `off` never.
        fetch: FetchMode = "fetch",
        /// The folder with vendored copies of imported programs, relative to the folder of `prose.toml`. Vendored copies are used before any other
        /// source. `prose vendor` writes them.
        vendor: Folder = "vendor",
    }
}

settings! {
    /// How programs run.
    pub struct RunConfig {
        /// The maximum number of sessions that run at the same time. The default depends on the free memory and the number of cores; memory limits them
        /// in any case.
        max_parallel: Option<NonZeroU32> = "max-parallel",
        /// The maximum number of iterations of a loop without `max:`; more iterations are an error.
        max_iterations: NonZeroU32 = "max-iterations" or NonZeroU32::MIN.saturating_add(999),
        /// The backend that runs sessions: `offline` generates placeholder replies without a model, `script` takes replies from a file, `claude`,
        /// `codex`, `opencode`, `gemini` and others start these agents, `command` starts the command in `run.command`, and `provider` sends prompts to a model of the
        /// provider in `run.provider`.
        harness: HarnessName = "harness",
        /// The command that the harness `command` starts for each session, with its arguments. `{prompt}`, `{system}` and `{model}` are replaced
        /// for each session; without `{prompt}`, the prompt is written to standard input. The reply is read from standard output.
        command: Vec<Word> = "command",
        /// The backend that evaluates conditions and choices, extracts parts of texts and summarizes. The default is the one that runs sessions, with its
        /// cheapest model.
        judge: JudgeConfig = "judge",
        /// The provider of the harness `provider`.
        provider: ProviderConfig = "provider",
        /// Additional environment variables that agents receive, such as API keys; `*` at the end of a name matches any suffix.
        environment: Vec<Word> = "environment",
        /// Protected files, such as `.env`, keys and `prose.toml`, that local programs may pass on, relative to the folder of `prose.toml`. The
        /// program must name the file exactly, without `{…}`.
        allow_files: Vec<Word> = "allow-files",
        /// The permissions of agents where neither a session nor its agent has a rule about the subject: `"allow"`, `"deny"`, `"prompt"` or a list of
        /// patterns for each of `read`, `write`, `execute`, `bash` and `network`. Without a rule, shell commands are denied.
        permissions: PermissionRules = "permissions",
        /// Where branches that run at the same time change files: `none` in the folder of the project, `worktree` each in a git worktree of its own,
        /// which starts with the uncommitted changes of the project; when all branches have ended, their changes are merged in the order of the
        /// text, and a conflict is an error.
        isolation: Isolation = "isolation",
        /// Where new runs keep their state: `filesystem` in files in `.prose/runs`, `sqlite` in a database for each run there, `state.db`, and `postgres` on
        /// the PostgreSQL server that `OPENPROSE_POSTGRES_URL` names; databases can be queried while the run is executed. `prose run --state` overrides it.
        state: RunStore = "state",
        /// What a run does that waits for an input, an approval or a limit when no terminal, editor or client is there to answer and nothing else is at work:
        /// `stop` records the questions and ends the process with status 5, so that `prose runs answer` continues the run at any later time; `stay`
        /// keeps the process until the answer is given.
        when_waiting: WhenWaiting = "when-waiting",
        /// The time without a report of its agent after which a session is reported as stalled, such as `"90s"`, `"10m"` or `"1h"`; `"off"` to report
        /// none. The session continues until its `timeout:`.
        stalled_after: WaitTime = "stalled-after" or WaitTime::minutes(10),
        /// The command that is started, with its arguments and without a shell, when a run starts to wait for a person, fails or ends. It receives the
        /// event as JSON on standard input, may take 10 seconds, and needs trust.
        notify: Vec<Word> = "notify",
        /// The texts that `prose runs export` replaces by `[redacted]`, such as names of customers. `"$NAME"`, or `"${NAME}"`, stands for the value of an environment
        /// variable. The values of variables that look like keys, and of those that agents and servers receive, are always replaced.
        redact: Vec<Word> = "redact",
        /// Whether `prose run` and `prose resume` exit with status 1 if the program completed with failures that it handled by `on-fail`, `catch` or
        /// `retry`.
        strict_exit: bool = "strict-exit",
        /// The delay before each retry with `backoff: linear`, and before the first retry with `exponential`, in milliseconds.
        backoff_ms: NonZeroU32 = "backoff-ms" or NonZeroU32::MIN.saturating_add(999),
        /// The maximum delay before a retry with `backoff: exponential`, in milliseconds.
        backoff_cap_ms: NonZeroU32 = "backoff-cap-ms" or NonZeroU32::MIN.saturating_add(59_999),
    }
}
