//! `prose graph`.

use std::fs;
use std::process::Command;

use expect_test::{expect, expect_file};

use crate::common::{Run, Workspace};

const PROGRAM: &str = "\
use \"./lib.prose\" as lib
agent writer:
  prompt: \"You write\"
let draft = session: writer
  prompt: \"Write\"
loop until **it is good** (max: 3):
  session \"Improve\"
output text = lib(draft: draft)
";

#[test]
fn the_picture_of_the_documentation_is_what_is_drawn() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_prose"));
    let run = Run::of(command.current_dir(root).args(["graph", "examples/code-review.prose"])).ended(0);
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures/graph.svg")]
        .assert_eq(&run.stdout);
}

#[test]
fn a_flow_is_drawn_in_each_format() {
    let workspace = Workspace::new(&[("main.prose", PROGRAM)]);
    workspace.prose(&["graph", "main.prose", "--format", "mermaid"]).check(expect![[r#"
            status: 0
            ---- stdout
            ---
            title: "main.prose"
            ---
            flowchart TD
              n0[["use #34;./lib.prose#34; as lib"]]
              n1("draft = session writer<br/>Write")
              subgraph n2["loop until #42;#42;it is good#42;#42; (max: 3)"]
                n3("session<br/>Improve")
              end
              n4[["text = lib(draft: draft)"]]
              n3 -. again .-> n3
              n1 --> n2
              n2 --> n4
              n4 -. calls .-> n0
        "#]]);
    workspace.prose(&["graph", "main.prose", "--format", "dot"]).check(expect![[r##"
            status: 0
            ---- stdout
            digraph "main.prose" {
              label="main.prose";
              labelloc=t;
              compound=true;
              newrank=true;
              node [shape=box, style=rounded, fontname="sans-serif", fontsize=11];
              edge [fontname="sans-serif", fontsize=9];
              graph [fontname="sans-serif", fontsize=11];
              n0 [label="use \"./lib.prose\" as lib", shape=note, style=solid];
              n1 [label="draft = session writer\nWrite", color="#0969da"];
              subgraph cluster_2 {
                label="loop until **it is good** (max: 3)"; labeljust=l; style=rounded;
                n3 [label="session\nImprove", color="#0969da"];
              }
              n4 [label="text = lib(draft: draft)", peripheries=2, style=solid];
              n3 -> n3 [style=dashed, constraint=false, label="again"];
              n1 -> n3 [lhead=cluster_2];
              n3 -> n4 [ltail=cluster_2];
              n4 -> n0 [style=dashed, constraint=false, label="calls"];
            }
        "##]]);
}

#[test]
fn the_ending_of_the_file_decides_the_format() {
    let workspace = Workspace::new(&[("main.prose", PROGRAM)]);
    let starts = [
        ("a.svg", "<svg xmlns="),
        ("a.mmd", "---\ntitle: \"main.prose\"\n---\nflowchart TD\n"),
        ("a.gv", "digraph \"main.prose\" {"),
        ("a", "<svg "),
    ];
    for (file, start) in starts {
        workspace.prose(&["graph", "main.prose", "-o", file]).ended(0);
        assert!(workspace.read(file).starts_with(start), "{file}");
    }
    workspace.prose(&["graph", "main.prose", "-o", "b.svg", "--format", "dot"]).ended(0);
    assert!(workspace.read("b.svg").starts_with("digraph"));
    assert!(workspace.prose(&["graph", "main.prose", "-o", "-"]).ended(0).stdout.starts_with("<svg "));
    assert!(!fs::exists(workspace.path(".prose")).unwrap(), "a drawing writes no other file");
}

#[test]
fn programs_that_are_half_written_are_drawn_and_missing_ones_are_named() {
    let workspace = Workspace::new(&[("half.prose", "parallel:\n  a = session\nif\nlet x =\n")]);
    let run = workspace.prose(&["graph", "half.prose"]).ended(0);
    assert!(run.stdout.contains("kind-parallel"), "{run:?}");
    assert_eq!(
        run.stderr,
        "warning: `half.prose` has errors, so that statements may be missing in the drawing; `prose check` shows them\n"
    );
    workspace.prose(&["graph", "missing.prose"]).check(expect![[r#"
            status: 2
            ---- stderr
            error: `missing.prose` does not exist
        "#]]);
    let run = workspace.prose(&["graph", "half.prose", "-o", "none/a.svg"]).ended(2);
    // The rest is what the system calls it.
    assert!(run.stderr.contains("\nerror: cannot write `none/a.svg`: "), "{run:?}");
    let run = workspace.prose_with_input(&["graph", "-"], b"session \"hi\"\n").ended(0);
    assert!(run.stdout.contains("<title id=\"prose-flow-title\">Flow of &lt;stdin&gt;</title>"), "{run:?}");
}
