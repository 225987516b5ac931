//! What `prose graph` draws, in the tools that its formats are for.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use prose_tests::{collect, prose_binary, repository};
use serde_json::json;

/// Texts and nestings that tools are particular about.
const HOSTILE: &str = r##"let a = session "1. say \"hi\" <b>&amp;</b> [x] {y} `z` | --> end %% #35; \\N ünï 世界"
session "- a list"
session "```js"
session "end"
if **is "it" so; or <not>**:
  session "graph TD; A-->B"
loop:
  loop until **done**:
    parallel:
      session "x"
      block nested(x):
        do nested(x)
  break
block recursive(n):
  do recursive(n)
do recursive(1)
parallel:
try:
  throw "$HOME $$x^2$$"
catch:
choice **"which"**:
  option "":
    session ""
"##;

/// Programs with their names.
fn programs() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    collect(&repository().join("examples"), "prose", &mut paths);
    paths.sort();
    let read = |path: &Path| (path.display().to_string(), fs::read_to_string(path).unwrap());
    let mut programs: Vec<_> = paths.iter().map(|path| read(path)).collect();
    assert!(programs.len() > 5);
    programs.push(("hostile".to_owned(), HOSTILE.to_owned()));
    programs.push(("empty".to_owned(), String::new()));
    // As deep as programs get.
    let deep = (0..40).map(|depth| format!("{}loop:\n", "  ".repeat(depth)));
    programs
        .push(("deep".to_owned(), format!("{}{}session \"x\"\n", deep.collect::<String>(), "  ".repeat(40))));
    programs
}

fn drawn(program: &str, format: &str) -> String {
    piped(Command::new(prose_binary()).args(["graph", "-", "--format", format]), program)
}

/// What a command writes, which must succeed without a word about a problem, apart from errors of the program.
#[track_caller]
fn piped(command: &mut Command, input: &str) -> String {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let text = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_clean = errors.lines().all(|line| line.starts_with("warning: `<stdin>` has errors, "));
    assert!(output.status.success() && is_clean, "{command:?}: {errors}\n{input}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "needs graphviz"]
fn graphviz_draws_every_program_without_a_warning() {
    for (name, program) in programs() {
        let drawing = piped(Command::new("dot").arg("-Tsvg"), &drawn(&program, "dot"));
        assert!(drawing.contains("</svg>"), "{name}");
        let sessions = program.matches("session").count();
        assert!(drawing.matches("class=\"node\"").count() >= sessions / 2, "{name}: {drawing}");
    }
}

#[test]
#[ignore = "needs mermaid and chromium"]
fn mermaid_draws_every_program() {
    let programs = programs();
    let charts: Vec<_> =
        programs.iter().map(|(name, program)| json!([name, drawn(program, "mermaid")])).collect();
    let mermaid = fs::read_to_string(repository().join("tests/.cache/mermaid/mermaid.min.js"));
    let mermaid = mermaid.expect("tests/install/mermaid fetches it").replace("</script", "<\\/script");
    let charts = json!(charts).to_string().replace('<', "\\u003c");
    let script = "(async () => {
        const found = [];
        mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', maxEdges: 5000, maxTextSize: 1e6 });
        let id = 0;
        for (const [name, chart] of charts) {
            try {
                const { svg } = await mermaid.render('chart' + id++, chart);
                const text = new DOMParser().parseFromString(svg, 'text/html').body.textContent;
                found.push([name, null, text]);
            } catch (error) { found.push([name, String(error), '']); }
        }
        document.body.replaceChildren(Object.assign(document.createElement('pre'), { id: 'found', textContent: JSON.stringify(found) }));
    })();";
    let page = format!(
        "<!doctype html><meta charset=utf-8><body><script>{mermaid}</script><script>const charts = {charts}; {script}</script>"
    );
    let folder = prose_fixture::tempdir().unwrap();
    let path = folder.path().join("page.html");
    fs::write(&path, page).unwrap();
    let profile = folder.path().join("profile");
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args(["--virtual-time-budget=60000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("tests/install/chromium installs it");
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom.split_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (found, _) = found.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let entities = [("&nbsp;", "\u{a0}"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    let found = entities.iter().fold(found.to_owned(), |text, (entity, shown)| text.replace(entity, shown));
    let found: Vec<(String, Option<String>, String)> = serde_json::from_str(&found).unwrap();
    assert_eq!(found.len(), programs.len());
    for (name, error, text) in &found {
        assert_eq!(error.as_deref(), None, "{name}");
        assert!(!text.contains("Unsupported markdown"), "{name}: {text}");
    }
    // Texts are shown as they are.
    let hostile = &found.iter().find(|(name, ..)| name == "hostile").unwrap().2;
    for shown in ["1. say", "<b>&amp;</b> [x] {y}", "graph TD; A-->B", "- a list"] {
        assert!(hostile.contains(shown), "{shown}: {hostile}");
    }
}

#[test]
fn a_program_in_a_document_has_the_lines_of_the_document() {
    let folder = prose_fixture::tempdir().unwrap();
    let path = folder.path().join("guide.md");
    fs::write(&path, "# Guide\n\n```prose\nsession \"one\"\n```\n\n```prose\nsession \"two\"\n```\n")
        .unwrap();
    let drawn = |program: &str| {
        let output =
            Command::new(prose_binary()).args(["graph", program]).current_dir(folder.path()).output();
        let output = output.unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (status, svg, _) = drawn("guide.md#2");
    assert_eq!(status, Some(0));
    assert!(svg.contains("line 8: session: two"), "{svg}");
    let (status, _, error) = drawn("guide.md");
    assert_eq!(status, Some(2));
    assert!(error.contains("has several programs; choose one of"), "{error}");
    assert_eq!(drawn("missing.prose").0, Some(2));
}
