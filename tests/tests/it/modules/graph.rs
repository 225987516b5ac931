//! The graph of a crate's modules: which module imports something of which other one.
//!
//! The sources are read as tokens, so that paths inside macros count too. What is compiled for tests alone does not count.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree, token_stream};

/// A path as it is written: `crate::a::B`, `super::b`.
type Segments = Vec<String>;

/// One module of a crate.
#[derive(Debug, Default)]
struct Module {
    /// `runs::history`; `crate` for the root.
    name: String,
    parent: usize,
    children: BTreeMap<String, usize>,
    /// The names that it defines.
    items: BTreeSet<String>,
    /// The names that it imports or exports again, with their paths.
    imported: BTreeMap<String, Segments>,
    globs: Vec<Segments>,
    /// All paths in it, in any expression, type or import.
    paths: BTreeSet<Segments>,
}

/// What a path leads to: a module, or something in a module.
#[derive(Debug, Clone, Copy)]
struct Target {
    module: usize,
    is_item: bool,
}

/// The modules of a crate.
pub(super) struct ModuleGraph {
    modules: Vec<Module>,
    /// For each module those that it imports from, each with one of the paths that do.
    edges: Vec<BTreeMap<usize, String>>,
}

/// Which cycles are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// None.
    Nothing,
    /// Those between a module and the modules inside it.
    ParentAndChild,
}

impl ModuleGraph {
    /// Reads a crate from the file of its root.
    pub(super) fn of_crate(root: &Path) -> Self {
        Self::read(root, &|path| std::fs::read_to_string(path).ok())
    }

    /// Reads a crate whose files `text` gives.
    pub(super) fn read(root: &Path, text: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut reader = Reader { modules: Vec::new(), text };
        let source = text(root).unwrap_or_else(|| panic!("{} can be read", root.display()));
        let folder = root.parent().expect("a file lies in a folder").to_owned();
        reader.file("crate".to_owned(), 0, &source, root, &folder);
        let mut graph = Self { edges: vec![BTreeMap::new(); reader.modules.len()], modules: reader.modules };
        for module in 0..graph.modules.len() {
            for path in graph.modules[module].paths.clone() {
                if let Some(target) = graph.resolve(module, &path, 0).filter(|to| to.module != module) {
                    graph.edges[module].entry(target.module).or_insert_with(|| path.join("::"));
                }
            }
        }
        graph
    }

    /// The cycles, the shortest one of each knot of modules, as text.
    pub(super) fn cycles(&self, allowed: Allowed) -> Vec<String> {
        let edges: Vec<Vec<usize>> = (0..self.modules.len())
            .map(|from| {
                let targets = self.edges[from].keys().copied();
                targets.filter(|to| allowed == Allowed::Nothing || !self.are_related(from, *to)).collect()
            })
            .collect();
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        let mut cycles: Vec<Vec<usize>> =
            (0..self.modules.len()).filter_map(|start| shortest_cycle(start, &edges)).collect();
        cycles.sort_by_key(Vec::len);
        for cycle in cycles {
            // A knot has many cycles; each module is named in one of them.
            if cycle.iter().any(|module| known.contains(module)) {
                continue;
            }
            known.extend(cycle.iter().copied());
            found.push(self.shown(&cycle));
        }
        found.sort();
        found
    }

    fn shown(&self, cycle: &[usize]) -> String {
        // Wherever it was found first, it is shown from the module that comes first in the alphabet.
        let first = (0..cycle.len()).min_by_key(|at| &self.modules[cycle[*at]].name).unwrap_or(0);
        let mut text = self.modules[cycle[first]].name.clone();
        for step in 0..cycle.len() {
            let (from, to) = (cycle[(first + step) % cycle.len()], cycle[(first + step + 1) % cycle.len()]);
            text += &format!(" -> {} ({})", self.modules[to].name, self.edges[from][&to]);
        }
        text
    }

    /// Whether one module lies in the other one.
    fn are_related(&self, a: usize, b: usize) -> bool {
        let is_in = |inner: usize, outer: usize| {
            let mut at = inner;
            while at != 0 && at != outer {
                at = self.modules[at].parent;
            }
            at == outer
        };
        is_in(a, b) || is_in(b, a)
    }

    /// What a path in a module leads to; none for one that leads out of the crate.
    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<Target> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Target { module: 0, is_item: false },
            "self" => Target { module, is_item: false },
            "super" => Target { module: self.modules[module].parent, is_item: false },
            _ => {
                rest = path;
                Target { module, is_item: false }
            }
        };
        let is_local = rest.len() == path.len();
        for (step, name) in rest.iter().enumerate() {
            if at.is_item {
                break;
            }
            let here = &self.modules[at.module];
            at = if name == "super" {
                Target { module: here.parent, is_item: false }
            } else if let Some(child) = here.children.get(name) {
                Target { module: *child, is_item: false }
            } else if let Some(imported) = here.imported.get(name).filter(|_| depth < 20) {
                self.resolve(at.module, imported, depth + 1)?
            } else if is_local && step == 0 && !here.items.contains(name) {
                // The name of another crate, or of the language.
                return None;
            } else {
                let of_glob = (!here.items.contains(name) && depth < 20).then(|| {
                    let mut targets =
                        here.globs.iter().filter_map(|glob| self.resolve(at.module, glob, depth + 1));
                    targets.find(|target| self.modules[target.module].items.contains(name))
                });
                of_glob
                    .flatten()
                    .map_or(Target { is_item: true, ..at }, |target| Target { is_item: true, ..target })
            };
        }
        Some(at)
    }
}

fn shortest_cycle(start: usize, edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for &to in &edges[at] {
            if to == start {
                let mut cycle = vec![at];
                while *cycle.last()? != start {
                    cycle.push(before[cycle.last()?]);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if let std::collections::btree_map::Entry::Vacant(entry) = before.entry(to) {
                entry.insert(at);
                open.push_back(to);
            }
        }
    }
    None
}

/// Reads modules, each from the tokens of its file.
struct Reader<'a> {
    modules: Vec<Module>,
    text: &'a dyn Fn(&Path) -> Option<String>,
}

type Tokens = Peekable<token_stream::IntoIter>;

impl Reader<'_> {
    /// Reads a file; `folder` is the one that its child modules lie in.
    fn file(&mut self, name: String, parent: usize, source: &str, path: &Path, folder: &Path) -> usize {
        let tokens: TokenStream =
            source.parse().unwrap_or_else(|error| panic!("{} is not Rust: {error}", path.display()));
        self.module(name, parent, tokens, folder)
    }

    fn module(&mut self, name: String, parent: usize, tokens: TokenStream, folder: &Path) -> usize {
        let module = self.modules.len();
        self.modules.push(Module { name, parent, ..Module::default() });
        self.tokens(module, tokens, folder);
        module
    }

    fn tokens(&mut self, module: usize, tokens: TokenStream, folder: &Path) {
        let mut tokens: Tokens = tokens.into_iter().peekable();
        // Whether the token before makes a name one of a field, a method or the rest of a path.
        let mut continues = false;
        while let Some(token) = tokens.next() {
            let continued = std::mem::take(&mut continues);
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    if matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '!') {
                        tokens.next();
                    }
                    if let Some(TokenTree::Group(attribute)) = tokens.next()
                        && is_for_tests(&attribute.stream())
                    {
                        skip_item(&mut tokens);
                    }
                }
                TokenTree::Punct(punct) => {
                    let is_colon = punct.as_char() == ':';
                    let follows =
                        matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
                    continues = match punct.as_char() {
                        '.' => true,
                        ':' if is_colon && follows => {
                            tokens.next();
                            true
                        }
                        _ => false,
                    };
                }
                TokenTree::Group(group) => self.tokens(module, group.stream(), folder),
                TokenTree::Literal(_) => {}
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    match word.as_str() {
                        "mod" => self.child(module, &mut tokens, folder),
                        "use" => {
                            let tree = tokens.by_ref().take_while(|token| !is_punct(token, ';'));
                            self.import(module, &mut Vec::new(), tree.collect());
                        }
                        "pub" => {
                            if matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
                            {
                                tokens.next();
                            }
                        }
                        "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static" => {
                            if let Some(TokenTree::Ident(name)) = tokens.peek() {
                                let name = name.to_string();
                                self.modules[module].items.insert(name);
                            }
                        }
                        _ if continued => {}
                        _ => {
                            let path = rest_of_path(word, &mut tokens);
                            if path.len() > 1 {
                                self.modules[module].paths.insert(path);
                            }
                        }
                    }
                }
            }
        }
    }

    /// `mod name;` or `mod name { … }`
    fn child(&mut self, module: usize, tokens: &mut Tokens, folder: &Path) {
        let Some(TokenTree::Ident(name)) = tokens.next() else { return };
        let name = name.to_string();
        let full = match self.modules[module].name.as_str() {
            "crate" => name.clone(),
            outer => format!("{outer}::{name}"),
        };
        let inner = folder.join(&name);
        let child = match tokens.next() {
            Some(TokenTree::Group(group)) => self.module(full, module, group.stream(), &inner),
            _ => {
                let files: [PathBuf; 2] = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
                let found = files.iter().find_map(|path| Some((path, (self.text)(path)?)));
                let (path, source) = found.unwrap_or_else(|| panic!("the file of `{full}` can be read"));
                self.file(full, module, &source, path, &inner)
            }
        };
        self.modules[module].children.insert(name, child);
    }

    /// The tree of an import, behind `use` and what stands before the braces around it.
    fn import(&mut self, module: usize, before: &mut Segments, tree: Vec<TokenTree>) {
        let mut path = before.clone();
        let mut name = None;
        let mut tokens = tree.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(ident) if ident == "as" => {
                    name = tokens.next().map(|alias| alias.to_string());
                }
                TokenTree::Ident(ident) => path.push(ident.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    self.modules[module].paths.insert(path.clone());
                    self.modules[module].globs.push(path);
                    return;
                }
                TokenTree::Group(group) => {
                    let parts: Vec<TokenTree> = group.stream().into_iter().collect();
                    for part in parts.split(|token| is_punct(token, ',')).filter(|part| !part.is_empty()) {
                        self.import(module, &mut path, part.to_vec());
                    }
                    return;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        // `use a::b::{self, c}`
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let Some(name) = name.or_else(|| path.last().cloned()) else { return };
        self.modules[module].paths.insert(path.clone());
        // An import that only names another crate binds nothing that leads somewhere.
        if path.first().is_some_and(|first| *first != name) || path.len() > 1 {
            self.modules[module].imported.insert(name, path);
        }
    }
}

/// The names behind a first one, as far as `::` follows.
fn rest_of_path(first: String, tokens: &mut Tokens) -> Segments {
    let mut path = vec![first];
    loop {
        // A single colon belongs to a type or a field; looking behind it takes a second iterator.
        let mut ahead = tokens.clone();
        let is_colon = |token: Option<TokenTree>| token.is_some_and(|token| is_punct(&token, ':'));
        if !is_colon(ahead.next()) || !is_colon(ahead.next()) {
            return path;
        }
        let Some(TokenTree::Ident(next)) = ahead.next() else { return path };
        path.push(next.to_string());
        *tokens = ahead;
    }
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// `cfg(test)`, also with more conditions.
fn is_for_tests(attribute: &TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// Skips what an attribute stands at: an item up to its `;` or its braces, or an element up to its `,`.
fn skip_item(tokens: &mut Tokens) {
    let mut is_import = false;
    for token in tokens.by_ref() {
        match &token {
            TokenTree::Ident(ident) if ident == "use" => is_import = true,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !is_import => return,
            token if is_punct(token, ';') || (is_punct(token, ',') && !is_import) => return,
            _ => {}
        }
    }
}
