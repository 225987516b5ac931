//! The permissions of a project's agents (`run.permissions`).

use std::collections::BTreeMap;

use prose_rights::PermissionRule;
use prose_syntax::properties::PERMISSIONS;
use prose_syntax::text::enumerated;
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::DeValue;

use crate::setting::{Reader, Setting};
use crate::values::Word;

/// The rules for subjects about which neither a session nor its agent has one, by subject.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PermissionRules(BTreeMap<String, PermissionRule>);

impl PermissionRules {
    /// The rules, by subject.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PermissionRule)> {
        self.0.iter().map(|(about, rule)| (about.as_str(), rule))
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Setting for PermissionRules {
    fn expected() -> String {
        "a table of permissions, such as `bash = \"deny\"`".to_owned()
    }

    fn schema() -> Value {
        let mut properties = serde_json::Map::new();
        for permission in PERMISSIONS {
            let mut schema = PermissionRule::schema();
            schema["description"] = permission.summary.into();
            properties.insert(permission.name.to_owned(), schema);
        }
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    fn to_json(&self) -> Value {
        self.0.iter().map(|(about, rule)| (about.clone(), rule.to_json())).collect()
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let mut rules = BTreeMap::new();
        reader.entries::<Self>(value, |reader, key, value| {
            let about = key.get_ref();
            if PERMISSIONS.iter().any(|permission| permission.name == about) {
                rules.extend(PermissionRule::read(value, reader).map(|rule| (about.to_string(), rule)));
            } else {
                reader.unknown_key::<Self>(key, value);
            }
        })?;
        Some(Self(rules))
    }
}

/// The words of rules.
const WORDS: [(&str, PermissionRule); 3] =
    [("allow", PermissionRule::Allow), ("deny", PermissionRule::Deny), ("prompt", PermissionRule::Prompt)];

impl Setting for PermissionRule {
    fn expected() -> String {
        let words = enumerated(WORDS.iter().map(|(word, _)| format!("`\"{word}\"`")), "or");
        format!("{words}, or a list of patterns such as `[\"docs/**\"]`")
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "enum": WORDS.map(|(word, _)| word) }, Vec::<Word>::schema()] })
    }

    fn to_json(&self) -> Value {
        match self {
            PermissionRule::Patterns(patterns) => patterns.as_slice().into(),
            rule => WORDS.iter().find(|(_, known)| known == rule).map(|(word, _)| *word).into(),
        }
    }

    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        match value.get_ref() {
            DeValue::Array(_) => {
                let patterns = Vec::<Word>::read(value, reader)?;
                Some(PermissionRule::Patterns(patterns.iter().map(|word| word.as_str().to_owned()).collect()))
            }
            DeValue::String(text) => {
                let known = WORDS.iter().find(|(word, _)| text == word).map(|(_, rule)| rule.clone());
                known.or_else(|| reader.wrong::<Self, _>(value))
            }
            _ => reader.wrong::<Self, _>(value),
        }
    }
}
