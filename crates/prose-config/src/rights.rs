//! The rights of fetched programs, as settings grant them.

use std::collections::BTreeMap;

use prose_reference::Reference;
use prose_rights::{Grants, Right};
use prose_syntax::Code;
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;

use crate::setting::{Reader, Setting, settings, shorten};

settings! {
    /// The rights of a fetched program in this project.
    pub struct ImportConfig {
        /// Additional rights of the program; without them, it can use only its inputs and its own memory folder. `files:docs/**` lets it pass on
        /// files (`context:` with `file:`), `memory:project`, `memory:user` and `memory:PATH` let its agents share memory (`persist:`), and
        /// `skills:PATH` lets it use skills by path. `execute:git log*`, `network:https://example.com/*`, `mcp:tracker`, `read:../notes/**` and
        /// `write:../notes/**` let its agents do what its `permissions:` allow with these patterns; `execute:*`, `network:*` and `mcp:*` stand for
        /// everything. Paths are relative to the folder of `prose.toml`.
        allow: Vec<Right> = "allow",
    }
}

/// What fetched programs may do, by the paths that they are imported by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportRights(BTreeMap<String, ImportConfig>);

impl ImportRights {
    /// The entries of the table.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &ImportConfig)> {
        self.0.iter().map(|(path, config)| (path.as_str(), config))
    }

    /// What is granted to which program.
    pub fn grants(&self) -> Grants {
        Grants::of_settings(self.entries().map(|(path, config)| (path, config.allow.as_slice())))
    }
}

impl Setting for ImportRights {
    fn expected() -> String {
        "a table for each program, such as `[imports.\"alice/research\"]`".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": ImportConfig::schema() })
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|(path, config)| (path.clone(), config.to_json())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut imports = BTreeMap::new();
        reader.entries::<Self>(value, |reader, key, value| {
            let path = key.get_ref();
            let problem = match Reference::parse(path) {
                Ok(reference) if !reference.is_local() => {
                    imports
                        .extend(ImportConfig::read(value, reader).map(|config| (path.to_string(), config)));
                    return;
                }
                Ok(_) => format!("`{}` is a local program, and local programs need no rights", shorten(path)),
                Err(why) => format!("`{}` {why}", shorten(path)),
            };
            reader.report(Code::E142, key.span(), problem, None);
        })?;
        Some(Self(imports))
    }
}

impl Setting for Right {
    fn expected() -> String {
        "a right such as \"files:docs/**\"".to_owned()
    }

    fn expected_list() -> String {
        "a list of rights, such as [\"files:docs/**\", \"memory:project\"]".to_owned()
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^(files|memory|skills|execute|bash|network|read|write):.*\\S" })
    }

    fn to_json(&self) -> Value {
        self.to_string().into()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(text) = value.get_ref().as_str() else { return reader.wrong::<Self, _>(value) };
        match text.parse() {
            Ok(right) => Some(right),
            Err(invalid) => {
                let message = format!("`{}`: {invalid}", reader.name());
                reader.report(Code::E142, value.span(), message, None);
                None
            }
        }
    }
}
