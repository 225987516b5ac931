//! Servers of the Model Context Protocol, whose tools agents can use.

use std::collections::BTreeMap;

use prose_syntax::Code;
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;

use crate::setting::{Reader, Setting, settings, shorten};
use crate::values::{Variable, Word, is_name};

settings! {
    /// A server of the Model Context Protocol: a program that each session starts (`command`), or an address (`url`).
    pub struct McpServerConfig {
        /// The program, without arguments. It is searched in `PATH`, or in the folder of `prose.toml` if it starts with `./`.
        command: Option<Word> = "command",
        /// The arguments of the program.
        args: Vec<Word> = "args",
        /// The environment variables that the program receives in addition to the default ones, such as `TRACKER_TOKEN`. Their values are read from
        /// the environment of `prose`.
        environment: Vec<Variable> = "environment",
        /// The address of a server that speaks streamable HTTP.
        url: Option<ServerUrl> = "url",
        /// The headers of requests to the address. `${NAME}` is replaced by the value of an environment variable, such as
        /// `Authorization = "Bearer ${TRACKER_TOKEN}"`, so that no key is in the file.
        headers: Headers = "headers",
    }
}

/// The servers by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct McpServerConfigs(pub BTreeMap<String, McpServerConfig>);

impl Setting for McpServerConfigs {
    fn expected() -> String {
        "a table for each server, such as `[mcp.servers.tracker]`".to_owned()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$" },
            "additionalProperties": McpServerConfig::schema(),
        })
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|(name, config)| (name.clone(), config.to_json())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut servers = BTreeMap::new();
        reader.entries::<Self>(value, |reader, key, value| {
            let name = key.get_ref();
            if !is_name(name) || name.contains("__") {
                let message = format!(
                    "`{}` cannot be the name of a server; use letters, digits, `-` and single `_`",
                    shorten(name)
                );
                return reader.report(Code::E142, key.span(), message, None);
            }
            let before = reader.problems.len();
            let Some(server) = McpServerConfig::read(value, reader) else { return };
            let problem = match (&server.command, &server.url) {
                (Some(_), Some(_)) => Some("has both `command` and `url`; remove one of them"),
                (None, None) => Some("needs `command` or `url`"),
                (Some(_), None) if !server.headers.0.is_empty() => {
                    Some("has `headers`, which only a server with `url` receives")
                }
                (None, Some(_)) if !server.args.is_empty() || !server.environment.is_empty() => {
                    Some("has `args` or `environment`, which only a server with `command` receives")
                }
                _ => None,
            };
            match problem {
                // A value that was reported is missing because of that.
                Some(problem) if reader.problems.len() == before => {
                    reader.report(Code::E142, key.span(), format!("`{}` {problem}", reader.name()), None);
                }
                _ => {}
            }
            servers.insert(name.to_string(), server);
        })?;
        Some(Self(servers))
    }
}

/// The name of a server in `[mcp.servers]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName(String);

impl ServerName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for ServerName {
    fn expected() -> String {
        "the name of a server in `[mcp.servers]`".to_owned()
    }

    fn expected_list() -> String {
        "a list of servers in `[mcp.servers]`, such as `[\"tracker\"]`".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$" })
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let name = reader.parsed(value, |name| Some(Self(name.to_owned())))?;
        // The table of servers may come later.
        reader.named_servers.push((value.span(), name.0.clone()));
        Some(name)
    }
}

/// Reports servers that agents name and that do not exist.
pub(crate) fn check_names(servers: &McpServerConfigs, reader: &mut Reader<'_>) {
    for (span, name) in std::mem::take(&mut reader.named_servers) {
        if servers.0.contains_key(&name) {
            continue;
        }
        let meant = prose_syntax::suggest::nearest(&name, servers.0.keys(), |name| name);
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("add `[mcp.servers.{}]`", shorten(&name)),
        };
        let fix = meant.map(|meant| reader.exchange(span.clone(), meant, true, &name));
        reader.report_about_runs(span, format!("server `{}` is not configured; {hint}", shorten(&name)), fix);
    }
}

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for ServerUrl {
    fn expected() -> String {
        "a URL such as \"https://mcp.example.com/mcp\", without credentials".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "format": "uri", "pattern": r"^https?://[^\s/:?#@\\][^\s#@\\]*$" })
    }

    fn to_json(&self) -> Value {
        self.as_str().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let url = value.get_ref().as_str().filter(|url| {
            let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            rest.is_some_and(|rest| {
                rest.starts_with(|c: char| !matches!(c, '/' | ':' | '?'))
                    && !rest.contains(|c: char| {
                        c.is_whitespace() || c.is_control() || matches!(c, '#' | '@' | '\\')
                    })
            })
        });
        url.map(|url| Self(url.to_owned())).or_else(|| reader.wrong_secret::<Self, _>(value))
    }
}

/// Headers of requests, with `${NAME}` for environment variables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers(pub BTreeMap<String, String>);

/// Headers with keys, whose values are only read from the environment.
const SECRET_HEADERS: [&str; 4] = ["authorization", "api-key", "token", "cookie"];

impl Setting for Headers {
    fn expected() -> String {
        "a table of headers, such as `Authorization = \"Bearer ${TRACKER_TOKEN}\"`".to_owned()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z0-9-]+$" },
            "additionalProperties": { "type": "string", "minLength": 1 },
        })
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|(name, value)| (name.clone(), value.as_str())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut headers = BTreeMap::new();
        reader.entries::<Self>(value, |reader, key, value| {
            let name = key.get_ref();
            let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            if !is_name {
                let message = format!("`{}` is not the name of a header", shorten(name));
                return reader.report(Code::E142, key.span(), message, None);
            }
            let Some(text) = value.get_ref().as_str().filter(|text| !text.is_empty()) else {
                reader.wrong::<Word, ()>(value);
                return;
            };
            let lower = name.to_ascii_lowercase();
            let is_secret = SECRET_HEADERS.iter().any(|known| lower.ends_with(known));
            // A key that was written in its place is not repeated.
            let problem = if text.chars().any(char::is_control) {
                "must be in one line"
            } else if variables(text).is_none() {
                "has `${` without the name of an environment variable and `}`"
            } else if is_secret && variables(text).is_some_and(|names| names.is_empty()) {
                "must take its key from the environment, such as \"Bearer ${TRACKER_TOKEN}\""
            } else {
                headers.insert(name.to_string(), text.to_owned());
                return;
            };
            reader.report(Code::E142, value.span(), format!("`{}` {problem}", reader.name()), None);
        })?;
        Some(Self(headers))
    }
}

/// The variables of the placeholders `${NAME}` in a text; `None` if one is incomplete.
pub fn variables(text: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}')?;
        if !is_name(name) || name.contains('-') {
            return None;
        }
        names.push(name);
        rest = after;
    }
    Some(names)
}
