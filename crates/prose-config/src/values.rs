//! The types of settings that have rules of their own.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use globset::{Glob, GlobBuilder, GlobMatcher};
use prose_syntax::text::enumerated;
use prose_syntax::{Code, Level, Profile};
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;

use crate::registry_url::RegistryUrl;
use crate::setting::{Reader, Setting, shorten};

/// Declares a setting whose values are a few words, of which the first is the default, or makes a setting of types of that kind.
macro_rules! words {
    (
        $(#[doc = $doc:literal])*
        pub enum $type:ident { $($(#[doc = $about:literal])* $value:ident = $word:literal,)* }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[doc = $about])* $value,)* }

        impl $type {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$value),*];

            /// The word used in settings.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)*
                }
            }
        }

        impl Default for $type {
            fn default() -> Self {
                Self::ALL[0]
            }
        }

        words!($type);
    };
    ($($type:ty)*) => {
        $(impl Setting for $type {
            fn expected() -> String {
                enumerated(Self::ALL.iter().map(|value| format!("`\"{}\"`", value.as_str())), "or")
            }

            fn schema() -> Value {
                json!({ "enum": Self::ALL.iter().map(|value| value.as_str()).collect::<Vec<_>>() })
            }

            fn to_json(&self) -> Value {
                self.as_str().into()
            }

            fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
                reader.word(value, Self::ALL, Self::as_str)
            }
        })*
    };
}

words!(Profile Level);

words! {
    /// When imported programs are fetched.
    pub enum FetchMode {
        /// While one types, in the background.
        Automatic = "automatic",
        /// When one asks for it.
        Manual = "manual",
        /// Never.
        Off = "off",
    }
}

words! {
    /// Who answers sessions.
    pub enum HarnessName {
        /// Answers are generated.
        Offline = "offline",
        /// Answers come from a file.
        Script = "script",
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// OpenCode.
        OpenCode = "opencode",
        /// Claude Code by the Agent Client Protocol.
        ClaudeAgentAcp = "claude-agent-acp",
        /// Codex by the Agent Client Protocol.
        CodexAcp = "codex-acp",
        /// Gemini CLI.
        Gemini = "gemini",
        /// OpenCode by the Agent Client Protocol.
        OpenCodeAcp = "opencode-acp",
        /// Qwen Code.
        Qwen = "qwen",
        /// Any agent of the Agent Client Protocol.
        Acp = "acp",
        /// Any program.
        Command = "command",
        /// A model of a provider.
        Provider = "provider",
    }
}

words! {
    /// In which folder branches that run at the same time change files.
    pub enum Isolation {
        /// All in the folder of the project.
        None = "none",
        /// Each in a working tree of git.
        Worktree = "worktree",
    }
}

words! {
    /// Where a run keeps its state.
    pub enum RunStore {
        /// In files.
        Filesystem = "filesystem",
        /// In a database of SQLite.
        Sqlite = "sqlite",
        /// In the database of a PostgreSQL server.
        Postgres = "postgres",
    }
}

words! {
    /// What a run does that waits for an answer when no one is there to give it and nothing else is at work.
    pub enum WhenWaiting {
        /// It records what it waits for and ends its process.
        Stop = "stop",
        /// Its process stays until the answer is given.
        Stay = "stay",
    }
}

words! {
    /// A provider of models, or a kind of server that has its API.
    pub enum ProviderName {
        /// Anthropic.
        Anthropic = "anthropic",
        /// OpenAI.
        OpenAi = "openai",
        /// Google Gemini.
        Google = "google",
        /// Ollama.
        Ollama = "ollama",
        /// vLLM.
        Vllm = "vllm",
        /// Any server with the API of OpenAI.
        Compatible = "compatible",
    }
}

/// The name of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable(String);

impl Variable {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for Variable {
    fn expected() -> String {
        "the name of an environment variable, such as \"MY_API_KEY\"".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" })
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let name = value.get_ref().as_str().filter(|name| is_name(name) && !name.contains('-'));
        name.map(|name| Self(name.to_owned())).or_else(|| reader.wrong_secret::<Self, _>(value))
    }
}

/// A time to wait for something; none to wait without an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTime {
    /// In seconds.
    seconds: Option<u64>,
}

/// The units of times, and their seconds.
const UNITS: [(&str, u64); 3] = [("h", 3600), ("m", 60), ("s", 1)];

impl WaitTime {
    /// A number of minutes.
    pub(crate) const fn minutes(minutes: u64) -> Self {
        Self { seconds: Some(60 * minutes) }
    }

    /// The time; `None` for `"off"`.
    pub fn duration(self) -> Option<Duration> {
        self.seconds.map(Duration::from_secs)
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "off" {
            return Some(Self { seconds: None });
        }
        let (count, seconds) =
            UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))?;
        let count: u64 = count.parse().ok().filter(|count| (1..1_000_000).contains(count))?;
        Some(Self { seconds: Some(count * seconds) })
    }
}

impl Setting for WaitTime {
    fn expected() -> String {
        "a time such as \"90s\", \"10m\" or \"1h\", or \"off\"".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^([1-9][0-9]{0,5}[smh]|off)$" })
    }

    fn to_json(&self) -> Value {
        let Some(seconds) = self.seconds else { return "off".into() };
        let unit = UNITS.iter().find(|(_, unit)| seconds % unit == 0);
        unit.map_or(Value::Null, |(name, unit)| format!("{}{name}", seconds / unit).into())
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parsed(value, Self::parse)
    }
}

impl Setting for BTreeMap<Code, Level> {
    fn expected() -> String {
        "a table of codes and levels, such as `W101 = \"off\"`".to_owned()
    }

    fn schema() -> Value {
        let mut properties = serde_json::Map::new();
        for code in Code::ALL {
            let mut schema = Level::schema();
            schema["description"] = code.info().title.into();
            properties.insert(code.to_string(), schema);
        }
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    fn to_json(&self) -> Value {
        self.iter().map(|(code, level)| (code.to_string(), level.as_str())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut levels = BTreeMap::new();
        reader.entries::<Self>(value, |reader, key, value| {
            let name = key.get_ref();
            match code(name) {
                Some(code) => levels.extend(Level::read(value, reader).map(|level| (code, level))),
                None => {
                    let (message, meant) = unknown_code(name);
                    let fix = meant.and_then(|meant| reader.rename(key, meant));
                    reader.report(Code::W141, key.span(), message, fix);
                }
            }
        })?;
        Some(levels)
    }
}

/// The code of exactly that name. Other spellings are not taken, so that no code has two keys.
fn code(name: &str) -> Option<Code> {
    name.parse().ok().filter(|code: &Code| code.as_str() == name)
}

/// What to say of a name that is no code, and the code that was probably meant.
fn unknown_code(name: &str) -> (String, Option<&'static str>) {
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let meant = prose_syntax::suggest::nearest(name, codes, |code| code);
    let hint = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "list all codes with `prose explain`".to_owned(),
    };
    (format!("`{}` is not a diagnostic code; {hint}", shorten(name)), meant)
}

/// Which codes are not reported in which files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PerFileIgnores(Vec<FileIgnore>);

/// Codes that are not reported in the files that a glob describes.
#[derive(Debug, Clone)]
pub struct FileIgnore {
    glob: String,
    matcher: GlobMatcher,
    codes: Vec<CodePattern>,
}

/// A code, or all codes that start with some text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodePattern {
    /// This code.
    Code(Code),
    /// All codes that start like this code, up to so many bytes.
    StartingLike(Code, usize),
}

impl PerFileIgnores {
    /// The entries of the table.
    pub fn entries(&self) -> &[FileIgnore] {
        &self.0
    }

    /// Whether `code` is not reported in the file at `path`, which is relative to the folder of `prose.toml`.
    pub fn ignores(&self, path: &Path, code: Code) -> bool {
        self.0
            .iter()
            .any(|entry| entry.codes.iter().any(|pattern| pattern.matches(code)) && entry.matches(path))
    }
}

impl FileIgnore {
    fn new(glob: &str, codes: Vec<CodePattern>) -> Result<Self, globset::Error> {
        let trimmed = glob.strip_prefix("./").unwrap_or(glob);
        let trimmed = trimmed.strip_suffix('/').unwrap_or(trimmed);
        let anchored = match trimmed.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if trimmed.contains('/') => trimmed.to_owned(),
            None => format!("**/{trimmed}"),
        };
        let compiled: Glob =
            GlobBuilder::new(&anchored).literal_separator(true).backslash_escape(true).build()?;
        Ok(Self { glob: glob.to_owned(), matcher: compiled.compile_matcher(), codes })
    }

    /// The glob as it is written.
    pub fn glob(&self) -> &str {
        &self.glob
    }

    /// The codes, and beginnings of codes.
    pub fn codes(&self) -> &[CodePattern] {
        &self.codes
    }

    /// Whether the glob describes the file, or a folder that it is in.
    fn matches(&self, path: &Path) -> bool {
        let path = path.strip_prefix(".").unwrap_or(path);
        path.ancestors().any(|part| !part.as_os_str().is_empty() && self.matcher.is_match(part))
    }
}

/// The matcher follows from the glob.
impl PartialEq for FileIgnore {
    fn eq(&self, other: &Self) -> bool {
        self.glob == other.glob && self.codes == other.codes
    }
}

impl Eq for FileIgnore {}

impl CodePattern {
    /// Reads a code, or the beginning of codes followed by a `*`. None if no code is like this.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('*') {
            None => code(text).map(CodePattern::Code),
            Some(start) => {
                let first = Code::ALL.iter().find(|code| code.as_str().starts_with(start))?;
                Some(CodePattern::StartingLike(*first, start.len()))
            }
        }
    }

    /// The codes, in the order of the table.
    pub fn codes(self) -> impl Iterator<Item = Code> {
        Code::ALL.iter().copied().filter(move |code| self.matches(*code))
    }

    /// Whether the code is one of those.
    pub fn matches(self, code: Code) -> bool {
        match self {
            CodePattern::Code(this) => this == code,
            CodePattern::StartingLike(like, bytes) => code.as_str().starts_with(&like.as_str()[..bytes]),
        }
    }
}

impl Setting for PerFileIgnores {
    fn expected() -> String {
        "a table of globs and lists of codes, such as `\"examples/**\" = [\"W101\"]`".to_owned()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[^!]" },
            "additionalProperties": Vec::<CodePattern>::schema(),
        })
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|entry| (entry.glob.clone(), entry.codes.to_json())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut entries = Vec::new();
        reader.entries::<Self>(value, |reader, key, value| {
            let glob = key.get_ref();
            let codes = Vec::<CodePattern>::read(value, reader);
            let problem = match FileIgnore::new(glob, codes.unwrap_or_default()) {
                _ if glob.is_empty() => "an empty glob matches no file".to_owned(),
                _ if glob.starts_with('!') => "a glob cannot be negated with `!`".to_owned(),
                Ok(entry) => return entries.push(entry),
                Err(error) => format!("`{}` is not a valid glob: {}", shorten(glob), error.kind()),
            };
            reader.report(Code::E142, key.span(), problem, None);
        })?;
        Some(Self(entries))
    }
}

impl fmt::Display for CodePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodePattern::Code(code) => f.write_str(code.as_str()),
            CodePattern::StartingLike(code, bytes) => write!(f, "{}*", &code.as_str()[..*bytes]),
        }
    }
}

impl Setting for CodePattern {
    fn expected() -> String {
        "a code or a prefix, such as \"W101\" or \"W0*\"".to_owned()
    }

    fn expected_list() -> String {
        "a list of codes, such as `[\"W101\", \"W0*\"]`".to_owned()
    }

    fn schema() -> Value {
        let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        json!({ "anyOf": [{ "enum": codes }, { "type": "string", "pattern": "^([EW][0-9]{0,3})?\\*$" }] })
    }

    fn to_json(&self) -> Value {
        self.to_string().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(text) = value.get_ref().as_str() else {
            return reader.wrong::<Self, _>(value);
        };
        let pattern = CodePattern::parse(text);
        if pattern.is_none() {
            let (message, meant) = match text.strip_suffix('*') {
                Some(start) => (format!("no code starts with `{}`", shorten(start)), None),
                None => unknown_code(text),
            };
            let fix = meant.map(|meant| reader.exchange(value.span(), meant, true, text));
            reader.report(Code::W141, value.span(), message, fix);
        }
        pattern
    }
}

/// Names for models and the ids that they stand for.
pub type ModelAliases = BTreeMap<String, String>;

impl Setting for ModelAliases {
    fn expected() -> String {
        "a table of names and ids of models, such as `fast = \"provider/model\"`".to_owned()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$" },
            "additionalProperties": String::schema(),
        })
    }

    fn to_json(&self) -> Value {
        self.iter().map(|(name, id)| (name.clone(), id.as_str())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut aliases = BTreeMap::new();
        reader.entries::<Self>(value, |reader, key, value| {
            let name = key.get_ref();
            if is_name(name) {
                // A name with a wrong value is a name all the same: that programs use it is no second mistake.
                aliases.insert(name.to_string(), String::read(value, reader).unwrap_or_default());
            } else {
                let message = format!(
                    "`{}` cannot be used in a program; a name is made of the letters a–z and A–Z, digits, `_` and `-`, and starts \
                     with a letter or `_`",
                    shorten(name)
                );
                reader.report(Code::E142, key.span(), message, None);
            }
        })?;
        Some(aliases)
    }
}

/// Whether a program can have this name for something.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The id of a model.
impl Setting for String {
    fn expected() -> String {
        "the id of a model in quotes, without spaces, such as \"provider/model\"".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^[^\\s-]\\S*$" })
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let is_id = |id: &str| !id.is_empty() && !id.contains(char::is_whitespace) && !id.starts_with('-');
        reader.parsed(value, |id| is_id(id).then(|| id.to_owned()))
    }
}

impl Setting for RegistryUrl {
    fn expected() -> String {
        "a URL such as \"https://prose.example.com/\", without credentials and query".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "format": "uri", "pattern": r"^https?://[^\s/:?#@\\][^\s?#@\\]*$" })
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parsed(value, Self::parse).or_else(|| Some(Self::unknown()))
    }
}

/// A folder, relative to that of `prose.toml`; or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folder(Option<String>);

impl Folder {
    /// The folder, as it is written.
    pub fn as_path(&self) -> Option<&Path> {
        self.0.as_deref().map(Path::new)
    }
}

impl Setting for Folder {
    fn expected() -> String {
        "the path of a folder, such as \"vendor\"".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }

    fn to_json(&self) -> Value {
        self.0.clone().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parsed(value, |path| (!path.is_empty()).then(|| Self(Some(path.to_owned()))))
    }
}

/// A text, such as a program or one of its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word(String);

impl Word {
    /// The text as a word; none if there is nothing in it.
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for Word {
    fn expected() -> String {
        "a string of at least one character".to_owned()
    }

    fn expected_list() -> String {
        "a list of strings, such as [\"my-agent\", \"--quiet\"]".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parsed(value, Self::new)
    }
}
