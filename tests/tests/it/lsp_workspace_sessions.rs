//! Sessions at random in which files change on the disk and in the editor: in the end the client has got what a server tells that
//! sees nothing but the end.

use std::collections::BTreeMap;
use std::fs;

use prose_tests::workspace::{Workspace, codes};
use serde_json::{Value, json};

const NAMES: &[&str] =
    &["a.prose", "b c.prose", "flows/d.prose", "flows/deep/e.prose", "left-out/f.prose", ".hidden/g.prose"];
/// The last program in the order in which they are published, and what it is when everything before it was published.
const LAST: &str = "zzz.prose";
const WRONG: &str = "session: nobody\n";
const RIGHT: &str = "session \"x\"\n";

/// What a person and other tools do to a folder.
struct Folder {
    workspace: Workspace,
    random: fastrand::Rng,
    open: BTreeMap<&'static str, String>,
    version: i64,
    /// What was done, for who has to find out why the test fails.
    done: Vec<String>,
}

impl Folder {
    fn new(seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        let files = [(".gitignore", "left-out\n"), (LAST, RIGHT)];
        let workspace = Workspace::new(&files);
        Self { workspace, random, open: BTreeMap::new(), version: 1, done: Vec::new() }
    }

    fn program(&mut self) -> String {
        let random = &mut self.random;
        let mut text = String::new();
        for number in 0..random.usize(..3) {
            let name = random.choice(NAMES).unwrap();
            let up = random.choice(["./", "../", "../../"]).unwrap();
            let input = random.choice(["topic", "subject"]).unwrap();
            text += &format!("use \"{up}{name}\" as p{number}\nlet r{number} = p{number}({input}: \"x\")\n");
        }
        let input = random.choice(["topic", "subject"]).unwrap();
        text += &format!("input {input}: \"What\"\noutput found = session \"Find {{{input}}}\"\n");
        if random.u8(..4) == 0 {
            text += WRONG;
        }
        text
    }

    fn step(&mut self) {
        let name = *self.random.choice(NAMES).unwrap();
        let path = self.workspace.folder.path().join(name);
        let away = path.with_extension("away");
        let what = self.random.u8(..9);
        self.done.push(format!("{what} {name}"));
        match what {
            0 | 1 => {
                let text = self.program();
                self.workspace.write_watched(name, &text);
            }
            2 if path.exists() => self.workspace.remove_watched(name),
            3 if path.exists() => {
                fs::rename(&path, &away).unwrap();
                self.workspace.say_changed(name, 3);
            }
            4 if away.exists() => {
                fs::rename(&away, &path).unwrap();
                self.workspace.say_changed(name, 1);
            }
            5 if path.exists() => {
                fs::write(&path, [0xff]).unwrap();
                self.workspace.say_changed(name, 2);
            }
            6 if !self.open.contains_key(name) => {
                let text = self.program();
                self.workspace.open(name, &text);
                self.open.insert(name, text);
            }
            7 if self.open.contains_key(name) => {
                let text = self.program();
                self.version += 1;
                self.workspace.replace(name, self.version, &text);
                self.open.insert(name, text);
            }
            8 if self.open.remove(name).is_some() => self.workspace.close(name),
            _ => {}
        }
    }

    /// The diagnostics that a client got unasked, once the server sends no more.
    fn published(&mut self) -> BTreeMap<String, Vec<String>> {
        while self.workspace.client.request("prose/status", Value::Null)["result"]["scanning"] == true {}
        self.workspace.write_watched(LAST, WRONG);
        let last = self.workspace.uri(LAST);
        let is_told = |message: &Value| {
            let params = &message["params"];
            params["uri"] == last.as_str() && !params["diagnostics"].as_array().unwrap().is_empty()
        };
        let message = self.workspace.client.wait_for(is_told);
        self.workspace.write_watched(LAST, RIGHT);
        let mut published = BTreeMap::new();
        for message in self.workspace.client.take_kept().into_iter().chain([message]) {
            if message["method"] == "textDocument/publishDiagnostics" {
                let params = &message["params"];
                published.insert(params["uri"].as_str().unwrap().to_owned(), codes(&params["diagnostics"]));
            }
        }
        published.retain(|_, codes| !codes.is_empty());
        published
    }

    /// The same of every program, when the client asks.
    fn answered(&mut self) -> BTreeMap<String, Vec<String>> {
        self.workspace.write_watched(LAST, WRONG);
        let params = json!({ "previousResultIds": [] });
        let answer = self.workspace.client.request("workspace/diagnostic", params);
        let reports = answer["result"]["items"].as_array().unwrap().iter();
        let mut found: BTreeMap<String, Vec<String>> = reports
            .map(|report| (report["uri"].as_str().unwrap().to_owned(), codes(&report["items"])))
            .collect();
        for name in self.open.keys() {
            found.insert(self.workspace.uri(name), self.workspace.pulled(name));
        }
        found.retain(|_, codes| !codes.is_empty());
        found
    }

    fn restart(&mut self) {
        self.workspace.write(LAST, RIGHT);
        self.workspace.restart();
        for (name, text) in &self.open {
            self.workspace.open(name, text);
        }
    }
}

#[test]
fn in_the_end_everything_is_published_and_nothing_else() {
    for seed in 0..40 {
        let mut folder = Folder::new(seed);
        for _ in 0..folder.random.usize(..40) {
            folder.step();
        }
        let (published, answered) = (folder.published(), folder.answered());
        let what = format!("in session {seed}, after {:?}", folder.done);
        assert_eq!(published, answered, "{what}");
        folder.restart();
        assert_eq!(published, folder.published(), "{what}");
        assert_eq!(answered, folder.answered(), "{what}");
    }
}
