//! Completion and documentation in test files, for editors: keys and values from the table of keys, and the names of the program that is tested.

mod names;
mod node;
mod position;

use prose_syntax::{TextRange, TextSize};
use prose_vm::program::Program;

use self::names::Name;
use self::node::{Header, Node, headers};
use self::position::{Place, Position, position};

/// Something that can be written at a place of a test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// What lists show.
    pub label: String,
    /// The kind of thing.
    pub kind: ProposalKind,
    /// What it replaces.
    pub range: TextRange,
    /// What is written.
    pub text: String,
    /// What it is for.
    pub about: Option<String>,
}

/// Kinds of proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalKind {
    /// A key.
    Key,
    /// The header of a table.
    Header,
    /// A value of a key.
    Value,
    /// A name of the program.
    Name,
}

/// What can be written at a place, with the names of the program if it can be loaded.
pub fn completions(text: &str, offset: TextSize, program: Option<&Program>) -> Vec<Proposal> {
    let Some(at) = position(text, offset) else { return Vec::new() };
    match at.place {
        Place::Key { starts_line } => {
            let mut proposals = keys(&at, program, has_value(text, at.range));
            if starts_line {
                proposals.extend(all_headers(at.range));
            }
            proposals
        }
        Place::Header { is_list } => parts_of_headers(&at, is_list),
        Place::Value => values(&at, program),
    }
}

/// The documentation of the key or the name at a place, in Markdown.
pub fn hover(text: &str, offset: TextSize, program: Option<&Program>) -> Option<(TextRange, String)> {
    let at = position(text, offset).filter(|at| !at.range.is_empty())?;
    let written = text.get(std::ops::Range::<usize>::from(at.range))?;
    let written = written.trim_matches(['"', '\'']);
    let find = |names: Vec<Name>| names.into_iter().find(|name| name.name == written).map(|name| name.about);
    let of_program = program.and_then(|program| match at.place {
        Place::Value => find(names::values(&at.path, program)),
        _ => find(names::keys(&at.path, program)),
    });
    let of_key = || {
        let mut path = at.path.clone();
        if at.place != Place::Value {
            path.push(written.to_owned());
        }
        let about = Node::at(&path).into_iter().find_map(Node::about)?;
        Some(format!("`{}`\n\n{about}", path.join(".")))
    };
    Some((at.range, of_program.or_else(of_key)?))
}

fn keys(at: &Position, program: Option<&Program>, has_value: bool) -> Vec<Proposal> {
    let proposal = |label: String, kind, is_table: bool, about| {
        let key = written_key(&label);
        let text = if is_table || has_value { key } else { format!("{key} = ") };
        Proposal { label, kind, range: at.range, text, about }
    };
    let named = program.map(|program| names::keys(&at.path, program)).unwrap_or_default();
    let named =
        named.into_iter().map(|Name { name, about }| proposal(name, ProposalKind::Name, false, Some(about)));
    let known = Node::at(&at.path).into_iter().flat_map(Node::keys).filter(|(_, node)| {
        // A list of tables is written with headers.
        node.header() != Some(Header::List)
    });
    let known = known.map(|(key, node)| {
        let about = node.about().map(str::to_owned);
        proposal(key.to_owned(), ProposalKind::Key, node.header().is_some(), about)
    });
    without_repetitions(named.chain(known).filter(|proposal| !at.known.contains(&proposal.label)))
}

/// The headers of all tables.
fn all_headers(range: TextRange) -> impl Iterator<Item = Proposal> {
    headers().into_iter().map(move |(path, header, about)| {
        let path = path.join(".");
        let label = match header {
            Header::Table => format!("[{path}]"),
            Header::List => format!("[[{path}]]"),
        };
        let about = about.map(str::to_owned);
        Proposal { text: label.clone(), label, kind: ProposalKind::Header, range, about }
    })
}

fn parts_of_headers(at: &Position, is_list: bool) -> Vec<Proposal> {
    let depth = at.path.len();
    without_repetitions(headers().into_iter().filter_map(|(path, header, about)| {
        let is_meant = (header == Header::List) == is_list || path.len() > depth + 1;
        let is_below = path.len() > depth && path.iter().zip(&at.path).all(|(key, written)| key == written);
        let part = path.get(depth).filter(|_| is_meant && is_below)?;
        let about = about.filter(|_| path.len() == depth + 1).map(str::to_owned);
        let (label, text) = ((*part).to_owned(), (*part).to_owned());
        Some(Proposal { label, kind: ProposalKind::Header, range: at.range, text, about })
    }))
}

fn values(at: &Position, program: Option<&Program>) -> Vec<Proposal> {
    let proposal = |label: String, kind, text, about| Proposal { label, kind, range: at.range, text, about };
    let named = program.map(|program| names::values(&at.path, program)).unwrap_or_default();
    let named = named.into_iter().map(|Name { name, about }| {
        let text = quoted(&name);
        proposal(name, ProposalKind::Name, text, Some(about))
    });
    let nodes = Node::at(&at.path);
    let words = nodes.iter().flat_map(|node| node.words()).map(|word| (word.to_owned(), quoted(word)));
    let truths = nodes.iter().flat_map(|node| node.truth_values());
    let truths = truths.map(|truth| (truth.to_string(), truth.to_string()));
    let known = words.chain(truths).map(|(label, text)| proposal(label, ProposalKind::Value, text, None));
    without_repetitions(named.chain(known))
}

fn without_repetitions(all: impl IntoIterator<Item = Proposal>) -> Vec<Proposal> {
    let mut proposals: Vec<Proposal> = Vec::new();
    for proposal in all {
        if proposals.iter().all(|other| other.label != proposal.label) {
            proposals.push(proposal);
        }
    }
    proposals
}

/// Whether a value follows a key, so that only the key is replaced.
fn has_value(text: &str, key: TextRange) -> bool {
    let after = text.get(usize::from(key.end())..).unwrap_or_default();
    after.trim_start_matches([' ', '\t']).starts_with(['=', '.'])
}

fn written_key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { key.to_owned() } else { quoted(key) }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
