//! The drawing in the DOT language of Graphviz.

use std::fmt::Write;

use prose_ide::{FlowEdge, FlowEdgeKind, FlowKind, FlowNode};

use crate::drawing::Drawing;
use crate::tree::{Tree, is_within};

/// The drawing in the DOT language of Graphviz.
pub fn dot(drawing: &Drawing<'_>) -> String {
    let Drawing { graph, title, .. } = drawing;
    let tree = Tree::new(graph);
    let mut out = format!(
        "digraph {} {{\n  label={};\n  labelloc=t;\n  compound=true;\n  newrank=true;\n  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", fontsize=9];\n  graph [fontname=\"sans-serif\", fontsize=11];\n",
        quoted(title),
        quoted(title),
    );
    let mut open: Vec<usize> = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        close(&mut open, node.parent, &mut out);
        let indent = "  ".repeat(open.len() + 1);
        let label = text(node);
        if tree.is_frame(index) {
            let style = if node.kind == FlowKind::Way { "\"rounded,dashed\"" } else { "rounded" };
            let _ = writeln!(out, "{indent}subgraph cluster_{index} {{");
            let _ = writeln!(out, "{indent}  label={label}; labeljust=l; style={style};");
            open.push(index);
        } else {
            let _ = writeln!(out, "{indent}n{index} [label={label}{}];", look(node.kind));
        }
    }
    close(&mut open, None, &mut out);
    for edge in &graph.edges {
        write_edge(*edge, drawing, &tree, &mut out);
    }
    out.push_str("}\n");
    out
}

/// Ends the clusters up to the one that a node is in.
fn close(open: &mut Vec<usize>, parent: Option<usize>, out: &mut String) {
    while open.last().copied() != parent && open.pop().is_some() {
        let _ = writeln!(out, "{}}}", "  ".repeat(open.len() + 1));
    }
}

/// An edge between clusters is one between nodes in them, which is cut off at their borders.
fn write_edge(edge: FlowEdge, Drawing { graph, .. }: &Drawing<'_>, tree: &Tree, out: &mut String) {
    let kind = match edge.kind {
        // What is in a cluster is drawn in it.
        FlowEdgeKind::Enter => return,
        FlowEdgeKind::Next => "",
        FlowEdgeKind::Again => "style=dashed, constraint=false, label=\"again\"",
        FlowEdgeKind::Call => "style=dashed, constraint=false, label=\"calls\"",
    };
    let (from, to) = (tree.leaf(edge.from, true), tree.leaf(edge.to, false));
    let mut attributes: Vec<String> = Vec::new();
    let mut cut = |end: &str, node: usize, other: usize| {
        if tree.is_frame(node) && !is_within(graph, other, node) {
            attributes.push(format!("{end}=cluster_{node}"));
        }
    };
    cut("ltail", edge.from, to);
    cut("lhead", edge.to, from);
    attributes.extend(Some(kind.to_owned()).filter(|kind| !kind.is_empty()));
    let attributes = match attributes.is_empty() {
        true => String::new(),
        false => format!(" [{}]", attributes.join(", ")),
    };
    let _ = writeln!(out, "  n{from} -> n{to}{attributes};");
}

fn text(node: &FlowNode) -> String {
    match &node.detail {
        Some(detail) => quoted(&format!("{}\n{detail}", node.title())),
        None => quoted(&node.title()),
    }
}

fn look(kind: FlowKind) -> &'static str {
    match kind {
        FlowKind::Session | FlowKind::Resume => ", color=\"#0969da\"",
        FlowKind::Input => ", shape=parallelogram, style=solid",
        FlowKind::Output => ", shape=invhouse, style=solid",
        FlowKind::Call | FlowKind::Program => ", peripheries=2, style=solid",
        FlowKind::Import => ", shape=note, style=solid",
        FlowKind::Throw | FlowKind::Return | FlowKind::Break | FlowKind::Continue => {
            ", shape=oval, style=solid"
        }
        _ => "",
    }
}

/// A text in quotes, in which nothing is an escape of a label or an entity of HTML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => out.push(' '),
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::{EVERYTHING, drawn};

    #[test]
    fn a_program_is_a_graph_with_a_cluster_for_each_frame() {
        expect![[r##"
            digraph "it.prose" {
              label="it.prose";
              labelloc=t;
              compound=true;
              newrank=true;
              node [shape=box, style=rounded, fontname="sans-serif", fontsize=11];
              edge [fontname="sans-serif", fontsize=9];
              graph [fontname="sans-serif", fontsize=11];
              n0 [label="use \"./tool.prose\" as tool", shape=note, style=solid];
              n1 [label="topic = input\nWhat about?", shape=parallelogram, style=solid];
              n2 [label="draft = session writer\nWrite about {topic}", color="#0969da"];
              n3 [label="resume writer\nImprove it", color="#0969da"];
              n4 [label="limit = 3"];
              subgraph cluster_5 {
                label="session \"one\" -> session \"two\""; labeljust=l; style=rounded;
                n6 [label="session\none", color="#0969da"];
                n7 [label="session\ntwo", color="#0969da"];
              }
              subgraph cluster_8 {
                label="parallel (on-fail: \"continue\")"; labeljust=l; style=rounded;
                n9 [label="facts = session\nLook for facts", color="#0969da"];
                subgraph cluster_10 {
                  label="do"; labeljust=l; style=rounded;
                  n11 [label="session\nWrite", color="#0969da"];
                  n12 [label="session\nCheck", color="#0969da"];
                }
              }
              subgraph cluster_13 {
                label="parallel for item in [\"x\", \"y\"]"; labeljust=l; style=rounded;
                n14 [label="session\nDo {item}", color="#0969da"];
              }
              subgraph cluster_15 {
                label="loop until **it is good** (max: 3)"; labeljust=l; style=rounded;
                n16 [label="session\nImprove", color="#0969da"];
                subgraph cluster_17 {
                  label="if **hopeless**"; labeljust=l; style=rounded;
                  subgraph cluster_18 {
                    label="**hopeless**"; labeljust=l; style="rounded,dashed";
                    n19 [label="break", shape=oval, style=solid];
                  }
                  subgraph cluster_20 {
                    label="**nearly \"done\"**"; labeljust=l; style="rounded,dashed";
                    n21 [label="continue", shape=oval, style=solid];
                  }
                  subgraph cluster_22 {
                    label="else"; labeljust=l; style="rounded,dashed";
                    n23 [label="call review", peripheries=2, style=solid];
                  }
                }
              }
              subgraph cluster_24 {
                label="choice **what next**"; labeljust=l; style=rounded;
                subgraph cluster_25 {
                  label="publish"; labeljust=l; style="rounded,dashed";
                  n26 [label="session\nPublish", color="#0969da"];
                }
                subgraph cluster_27 {
                  label="drop"; labeljust=l; style="rounded,dashed";
                  n28 [label="throw \"dropped\"", shape=oval, style=solid];
                }
              }
              subgraph cluster_29 {
                label="try"; labeljust=l; style=rounded;
                subgraph cluster_30 {
                  label="try"; labeljust=l; style="rounded,dashed";
                  n31 [label="session\nRisky", color="#0969da"];
                }
                subgraph cluster_32 {
                  label="catch err"; labeljust=l; style="rounded,dashed";
                  n33 [label="session\nRecover from {err}", color="#0969da"];
                }
                subgraph cluster_34 {
                  label="finally"; labeljust=l; style="rounded,dashed";
                  n35 [label="session\nClean up", color="#0969da"];
                }
              }
              subgraph cluster_36 {
                label="all = [\"a\", \"b\"]"; labeljust=l; style=rounded;
                subgraph cluster_37 {
                  label="map"; labeljust=l; style="rounded,dashed";
                  n38 [label="session\nLook at {item}", color="#0969da"];
                }
              }
              subgraph cluster_39 {
                label="block review(text)"; labeljust=l; style=rounded;
                n40 [label="found = session\nReview {text}", color="#0969da"];
                subgraph cluster_41 {
                  label="if **more**"; labeljust=l; style=rounded;
                  subgraph cluster_42 {
                    label="**more**"; labeljust=l; style="rounded,dashed";
                    n43 [label="call review", peripheries=2, style=solid];
                  }
                }
                n44 [label="return\nfound", shape=oval, style=solid];
              }
              n45 [label="used = tool(text: draft)", peripheries=2, style=solid];
              n46 [label="result = output draft", shape=invhouse, style=solid];
              n1 -> n2;
              n2 -> n3;
              n3 -> n4;
              n6 -> n7;
              n4 -> n6 [lhead=cluster_5];
              n11 -> n12;
              n7 -> n9 [ltail=cluster_5, lhead=cluster_8];
              n12 -> n14 [ltail=cluster_8, lhead=cluster_13];
              n16 -> n19 [lhead=cluster_17];
              n23 -> n16 [ltail=cluster_17, style=dashed, constraint=false, label="again"];
              n14 -> n16 [ltail=cluster_13, lhead=cluster_15];
              n23 -> n26 [ltail=cluster_15, lhead=cluster_24];
              n28 -> n31 [ltail=cluster_24, lhead=cluster_29];
              n35 -> n38 [ltail=cluster_29, lhead=cluster_36];
              n40 -> n43 [lhead=cluster_41];
              n43 -> n44 [ltail=cluster_41];
              n38 -> n45 [ltail=cluster_36];
              n45 -> n46;
              n23 -> n40 [lhead=cluster_39, style=dashed, constraint=false, label="calls"];
              n43 -> n40 [style=dashed, constraint=false, label="calls"];
              n45 -> n0 [style=dashed, constraint=false, label="calls"];
            }
        "##]]
        .assert_eq(&drawn(EVERYTHING, dot));
    }

    #[test]
    fn texts_have_no_escapes_of_labels() {
        assert_eq!(quoted(r#"a "b" \N &lt; c"#), r#""a \"b\" \\N &amp;lt; c""#);
    }
}
