//! What the schema of test files says of a key.

use std::sync::LazyLock;

use serde_json::Value;

use crate::schema::schema;

static SCHEMA: LazyLock<Value> = LazyLock::new(schema);

/// A part of the schema: what a value may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node(&'static Value);

/// A table that has a header of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// `[case.expect]`
    Table,
    /// `[[case.session]]`
    List,
}

impl Node {
    /// What the value of the last of these keys may be. A list is what its items may be, too.
    pub(super) fn at(path: &[String]) -> Vec<Self> {
        let mut nodes = Self(&SCHEMA).alternatives();
        for key in path {
            let next = nodes.iter().filter_map(|node| node.key(key));
            nodes = next.flat_map(Self::alternatives).collect();
        }
        nodes
    }

    fn key(self, key: &str) -> Option<Self> {
        let named = self.0.get("properties").and_then(|properties| properties.get(key));
        named.or_else(|| self.0.get("additionalProperties").filter(|any| any.is_object())).map(Self)
    }

    /// It and what it refers to.
    fn alternatives(self) -> Vec<Self> {
        let mut found = vec![self];
        let name = self.0["$ref"].as_str().and_then(|name| name.strip_prefix("#/"));
        let referred = name.and_then(|name| SCHEMA.pointer(&format!("/{name}")));
        let others =
            self.0["anyOf"].as_array().into_iter().flatten().chain(self.0.get("items")).chain(referred);
        found.extend(others.flat_map(|other| Self(other).alternatives()));
        found
    }

    /// The keys of the table that it may be, in alphabetical order.
    pub(super) fn keys(self) -> impl Iterator<Item = (&'static str, Self)> {
        let properties = self.0.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(key, node)| (key.as_str(), Self(node)))
    }

    /// The words that it may be.
    pub(super) fn words(self) -> impl Iterator<Item = &'static str> {
        self.0["enum"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// The truth values that it may be.
    pub(super) fn truth_values(self) -> &'static [bool] {
        if self.0["type"] == "boolean" {
            &[true, false]
        } else if self.0["const"] == true {
            &[true]
        } else {
            &[]
        }
    }

    /// What it is for.
    pub(super) fn about(self) -> Option<&'static str> {
        self.0["description"].as_str()
    }

    /// The header of the table that it is.
    pub(super) fn header(self) -> Option<Header> {
        if self.0["type"] == "object" {
            Some(Header::Table)
        } else if self.0["items"]["properties"].is_object() {
            Some(Header::List)
        } else {
            None
        }
    }
}

/// All tables with headers of their own: the keys of each, and what it is for.
pub(super) fn headers() -> Vec<(Vec<&'static str>, Header, Option<&'static str>)> {
    let mut found = Vec::new();
    collect(&Node(&SCHEMA), &[], &mut found);
    found
}

fn collect(
    node: &Node,
    path: &[&'static str],
    found: &mut Vec<(Vec<&'static str>, Header, Option<&'static str>)>,
) {
    for (key, node) in node.keys() {
        let Some(header) = node.header() else { continue };
        let path = [path, &[key]].concat();
        found.push((path.clone(), header, node.about()));
        let table = if header == Header::List { Node(&node.0["items"]) } else { node };
        collect(&table, &path, found);
    }
}
