//! Long sessions of random messages: after all of them the server knows what a fresh one knows, and holds no more.
//!
//! `PROSE_SESSION_MESSAGES` says how many messages there are, and `PROSE_SESSION_SEED` which ones.

use std::collections::{BTreeMap, HashMap};

use prose_fixture::number;
use prose_tests::lsp::range;
use prose_tests::workspace::Workspace;
use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    (
        "main.prose",
        "use \"./part.prose\"\nagent writer:\n  model: opus\nlet a = part(topic: \"x\")\nsession: writer\n  context: a\n",
    ),
    ("part.prose", "input topic: \"What\"\nuse \"./deep/leaf.prose\"\noutput found = leaf(topic)\n"),
    ("deep/leaf.prose", "input text: \"Text\"\noutput said = session \"Say {text} 😀\"\n"),
    ("alone.prose", "block greet(name):\n  session \"Hello {name}\"\n\ndo greet(\"é\")\n"),
    (
        "guide.md",
        "# Guide 😀\n\n```prose\nuse \"./part.prose\"\nlet b = part(topic: \"y\")\n```\n\n> ```prose\n> session \"quoted\"\n> ```\n",
    ),
    ("prose.toml", "[check]\nprofile = \"strict\"\n"),
];

/// What is typed.
const TYPED: &[&str] = &[
    "\n",
    "  ",
    "\"",
    "\"\"\"\n",
    "session \"one\"\n",
    "agent writer:\n",
    ":",
    "use \"./part.prose\"\n",
    "use \"./gone.prose\"\n",
    "let x = session: writer\n",
    "if **it is**:\n  session \"yes\"\nelse:\n",
    "{text}",
    "é",
    "😀",
    "# comment\n",
    "output found = \"x\"\n",
    "input topic: \"T\"\n",
    "parallel:\n  session \"a\"\n",
    "do greet(\"x\")\n",
    "```prose\n",
    "```\n",
    "loop until **done** (max: 3):\n",
    "part(topic: \"z\")",
    "**",
    "(",
    ")",
    "[",
    "]",
    "writer",
    " # prose: ignore[W113]\n",
];

/// What is asked of a document.
const ASKED: &[&str] = &[
    "textDocument/diagnostic",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/codeLens",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/full/delta",
    "textDocument/documentLink",
    "textDocument/formatting",
    "prose/syntaxTree",
    "workspace/symbol",
    NEWS,
];
/// And of a place in it.
const ASKED_AT: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/typeDefinition",
    "textDocument/implementation",
    "textDocument/prepareCallHierarchy",
    "textDocument/linkedEditingRange",
    "textDocument/inlineValue",
    "textDocument/selectionRange",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/codeAction",
    "textDocument/inlayHint",
    "textDocument/rangeFormatting",
    "textDocument/onTypeFormatting",
    "textDocument/semanticTokens/range",
];

/// Waits for news if there are none.
const NEWS: &str = "workspace/diagnostic";

const NOT_OPEN: i64 = -32602;
const CANCELLED: i64 = -32800;
const MODIFIED: i64 = -32801;
/// Requests that were refused with a reason: a rename, for example.
const REFUSED: i64 = -32803;

struct Session {
    workspace: Workspace,
    random: fastrand::Rng,
    /// What is open: the version, and the text.
    open: BTreeMap<&'static str, (i64, String)>,
    /// What has no answer yet: the method, and whether the document was open.
    pending: HashMap<i64, (String, bool)>,
    version: i64,
}

impl Session {
    fn new(seed: u64) -> Self {
        let capabilities = json!({
            "textDocument": {
                "diagnostic": {},
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            },
            "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true }, "workspaceEdit": { "documentChanges": true } },
            "general": { "positionEncodings": ["utf-16"] },
        });
        Self {
            workspace: Workspace::with(capabilities, FILES),
            random: fastrand::Rng::with_seed(seed),
            open: BTreeMap::new(),
            pending: HashMap::new(),
            version: 0,
        }
    }

    fn name(&mut self) -> &'static str {
        FILES[self.random.usize(..FILES.len())].0
    }

    fn step(&mut self) {
        match self.random.u32(..100) {
            0..50 => self.edit(),
            50..80 => self.ask(),
            80..84 => self.cancel(),
            84..88 => {
                let name = self.name();
                self.close(name);
            }
            88..94 => self.open(),
            94..96 => self.write(),
            96 => {
                let name = self.name();
                self.workspace.save(name);
            }
            97 => {
                let profile = ["strict", "default"][self.random.usize(..2)];
                self.workspace.configure(json!({ "prose": { "check": { "profile": profile } } }));
            }
            98 => {
                let (old, new) = (self.name(), self.name());
                let uris = json!([{ "oldUri": self.workspace.uri(old), "newUri": self.workspace.uri(new) }]);
                let id =
                    self.workspace.client.send_request("workspace/willRenameFiles", json!({ "files": uris }));
                self.pending.insert(id, ("workspace/willRenameFiles".to_owned(), true));
            }
            _ => {
                let id = self.workspace.client.send_request("prose/status", Value::Null);
                self.pending.insert(id, ("prose/status".to_owned(), true));
            }
        }
    }

    fn open(&mut self) {
        let name = self.name();
        self.open_file(name);
    }

    fn open_file(&mut self, name: &'static str) {
        if self.open.contains_key(name) {
            return;
        }
        let text = FILES.iter().find(|(other, _)| *other == name).unwrap().1.to_owned();
        self.version += 1;
        let language = match name.rsplit('.').next() {
            Some("md") => "markdown",
            Some("toml") => "toml",
            _ => "prose",
        };
        let document = json!({ "uri": self.workspace.uri(name), "languageId": language, "version": self.version, "text": text });
        self.workspace.client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.open.insert(name, (self.version, text));
    }

    fn close(&mut self, name: &'static str) {
        if self.open.remove(name).is_some() {
            self.workspace.close(name);
        }
    }

    /// A place in a text, as bytes and as a position.
    fn place(&mut self, text: &str) -> (usize, (usize, usize)) {
        let mut at = self.random.usize(..=text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
        (at, (text[..at].matches('\n').count(), text[start..at].encode_utf16().count()))
    }

    fn edit(&mut self) {
        let name = self.name();
        let Some((_, mut text)) = self.open.get(name).cloned() else { return self.open() };
        let mut changes = Vec::new();
        for _ in 0..self.random.usize(1..4) {
            let typed = TYPED[self.random.usize(..TYPED.len())];
            // Texts stay about as long as they are.
            if text.len() > 2000 || self.random.u32(..20) == 0 {
                text = FILES.iter().find(|(other, _)| *other == name).unwrap().1.to_owned();
                changes.push(json!({ "text": text }));
                continue;
            }
            let (from, start) = self.place(&text);
            let (to, end) = match self.random.bool() {
                true => (from, start),
                false => self.place(&text),
            };
            let ((from, start), (to, end)) =
                if from <= to { ((from, start), (to, end)) } else { ((to, end), (from, start)) };
            text.replace_range(from..to, typed);
            changes.push(json!({ "range": range(start, end), "text": typed }));
        }
        self.version += 1;
        let uri = self.workspace.uri(name);
        self.workspace.client.change(&uri, self.version, json!(changes));
        self.open.insert(name, (self.version, text));
    }

    fn ask(&mut self) {
        let name = self.name();
        let is_open = self.open.contains_key(name);
        let text = self.open.get(name).map_or(String::new(), |(_, text)| text.clone());
        let (_, (line, column)) = self.place(&text);
        // Some places are nowhere.
        let (line, column) =
            if self.random.u32(..20) == 0 { (line + 1000, column + 1000) } else { (line, column) };
        let all = ASKED.len() + ASKED_AT.len();
        let method = *ASKED.iter().chain(ASKED_AT).nth(self.random.usize(..all)).unwrap();
        let params = params(&self.workspace.uri(name), (line, column));
        let id = self.workspace.client.send_request(method, params);
        self.pending.insert(id, (method.to_owned(), is_open));
    }

    fn cancel(&mut self) {
        // Some of these were answered long ago, or never sent.
        let known: Vec<i64> = self.pending.keys().copied().collect();
        let id = known.get(self.random.usize(..=known.len())).copied().unwrap_or(999_999_999);
        self.workspace.client.notify("$/cancelRequest", json!({ "id": id }));
    }

    fn write(&mut self) {
        let name = self.name();
        let original = FILES.iter().find(|(other, _)| *other == name).unwrap().1;
        let text = match self.random.u32(..4) {
            0 if self.workspace.folder.path().join(name).exists() => {
                return self.workspace.remove_watched(name);
            }
            0 => original.to_owned(),
            1 => String::new(),
            2 => original.replacen("input", "let", 1),
            _ => original.to_owned(),
        };
        self.workspace.write_watched(name, &text);
    }

    /// Looks at what the server has answered by now.
    fn look(&mut self) {
        for message in self.workspace.client.take_all() {
            self.check(&message);
        }
    }

    fn check(&mut self, message: &Value) {
        if message.get("method").is_some() {
            return;
        }
        let id = message["id"].as_i64().unwrap();
        let (method, is_open) =
            self.pending.remove(&id).unwrap_or_else(|| panic!("answered twice: {message}"));
        let Some(error) = message.get("error") else { return };
        let code = error["code"].as_i64().unwrap();
        let is_fine = [CANCELLED, MODIFIED].contains(&code)
            || code == REFUSED && method.ends_with("ename")
            || code == NOT_OPEN && !is_open;
        assert!(is_fine, "{method}: {message}");
    }

    /// Waits until everything is answered.
    fn settle(&mut self) {
        self.look();
        for (id, _) in self.pending.iter().filter(|(_, (method, _))| method == NEWS) {
            self.workspace.client.notify("$/cancelRequest", json!({ "id": id }));
        }
        for id in self.pending.keys().copied().collect::<Vec<_>>() {
            let answer = self.workspace.client.answer(&json!(id));
            self.check(&answer);
        }
        // Settings are as in a fresh server.
        self.workspace.configure(json!({ "prose": {} }));
    }

    /// All answers about what is open.
    fn answers(&mut self) -> Vec<(String, Value)> {
        let mut answers = Vec::new();
        for (name, (_, text)) in self.open.clone() {
            let uri = self.workspace.uri(name);
            let lines = text.matches('\n').count() + 1;
            // What has changed depends on what was asked before.
            for method in ASKED.iter().filter(|method| !method.ends_with("/delta")) {
                answers.push((format!("{name} {method}"), params(&uri, (0, 0)), *method));
            }
            for line in 0..lines.min(12) {
                for method in ASKED_AT {
                    answers.push((format!("{name} {method} {line}"), params(&uri, (line, 5)), *method));
                }
            }
        }
        let ask = |(what, params, method): (String, Value, &str)| {
            let mut answer = self.workspace.client.request(method, params);
            answer["id"].take();
            // The number of an answer is each server's own.
            if let Some(result) = answer["result"].as_object_mut() {
                result.remove("resultId");
            }
            (what, answer)
        };
        answers.into_iter().map(ask).collect()
    }

    fn memory(&mut self) -> Option<u64> {
        let status = self.workspace.client.request("prose/status", Value::Null);
        assert_eq!(status["result"]["documents"], json!([]));
        assert_eq!(status["result"]["pendingRequests"], 0);
        let statm =
            std::fs::read_to_string(format!("/proc/{}/statm", self.workspace.client.process_id())).ok()?;
        let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
        Some(pages * 4096)
    }
}

fn params(uri: &str, (line, column): (usize, usize)) -> Value {
    json!({
        "textDocument": { "uri": uri },
        "position": { "line": line, "character": column },
        "range": range((line, 0), (line + 2, 0)),
        "positions": [{ "line": line, "character": column }],
        "context": {
            "diagnostics": [],
            "includeDeclaration": true,
            "frameId": 1,
            "stoppedLocation": range((line, 0), (line, 1)),
        },
        "options": { "tabSize": 2, "insertSpaces": true },
        "newName": "renamed",
        "ch": "\n",
        "query": "a",
        "previousResultId": "1",
        // What is gone is always news, so that there is an answer at once.
        "previousResultIds": [{ "uri": "file:///gone.prose", "value": "1" }],
    })
}

/// How often everything is closed.
const PHASES: usize = 4;

#[test]
fn after_a_long_session_the_server_has_the_state_of_a_fresh_one() {
    let messages: u64 = number("PROSE_SESSION_MESSAGES").unwrap_or(3000);
    let seed: u64 = number("PROSE_SESSION_SEED").unwrap_or(1);
    eprintln!("PROSE_SESSION_SEED={seed} PROSE_SESSION_MESSAGES={messages}");
    let mut session = Session::new(seed);
    let mut memory = Vec::new();
    for _ in 0..PHASES {
        for step in 0..messages / PHASES as u64 {
            session.step();
            if step % 64 == 0 {
                session.look();
            }
            // Some clients wait for answers; those that never do have most of them ended by their next edit.
            if session.pending.len() > session.random.usize(1..100) {
                session.settle();
            }
        }
        session.settle();
        // A program that was open or imported once stays known, for references and completion, and a fresh server has to know it, too.
        for (name, _) in FILES {
            session.open_file(name);
        }
        let after = session.answers();
        let mut fresh = Session::new(seed);
        std::mem::swap(&mut fresh.workspace.folder, &mut session.workspace.folder);
        fresh.workspace.restart_killed();
        for (name, (version, text)) in &session.open {
            let language = if name.ends_with(".md") {
                "markdown"
            } else if name.ends_with(".toml") {
                "toml"
            } else {
                "prose"
            };
            let document = json!({ "uri": fresh.workspace.uri(name), "languageId": language, "version": version, "text": text });
            fresh.workspace.client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        }
        fresh.open = session.open.clone();
        let expected = fresh.answers();
        assert_eq!(after.len(), expected.len());
        let answered = after.iter().filter(|(_, answer)| !answer["result"].is_null()).count();
        assert!(answered >= after.len() / 4, "only {answered} of {} answers say something", after.len());
        for (after, expected) in after.iter().zip(&expected) {
            assert_eq!(after, expected, "the long session is on the left");
        }
        std::mem::swap(&mut fresh.workspace.folder, &mut session.workspace.folder);
        for (name, _) in FILES {
            session.close(name);
        }
        memory.extend(session.memory());
        eprintln!("memory: {memory:?}");
    }
    // What is learnt once, such as words, stays; after that nothing is added.
    if let [_, second, .., last] = memory[..] {
        assert!(last < second + second / 4 + (8 << 20), "memory grows: {memory:?}");
    }
    session.workspace.client.shut_down();
}
