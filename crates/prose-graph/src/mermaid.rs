//! The drawing as a flowchart of Mermaid.

use std::collections::BTreeSet;
use std::fmt::Write;

use prose_ide::{FlowEdge, FlowEdgeKind, FlowKind, FlowNode};

use crate::drawing::Drawing;
use crate::tree::{Tree, is_within};

/// The drawing as a flowchart of Mermaid.
pub fn mermaid(drawing: &Drawing<'_>) -> String {
    let Drawing { graph, title, .. } = drawing;
    let tree = Tree::new(graph);
    let mut out = format!("---\ntitle: {}\n---\nflowchart TD\n", yaml(title));
    // Nested nodes are not written by recursion: programs may be nested as deep as they like.
    let mut open: Vec<usize> = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        close(&mut open, node.parent, &mut out);
        let indent = "  ".repeat(open.len() + 1);
        if tree.is_frame(index) {
            let _ = writeln!(out, "{indent}subgraph n{index}[\"{}\"]", text(node));
            open.push(index);
        } else {
            let [left, right] = shape(node.kind);
            let _ = writeln!(out, "{indent}n{index}{left}\"{}\"{right}", text(node));
        }
    }
    close(&mut open, None, &mut out);
    // Loops in loops start again at the same statement.
    let mut written = BTreeSet::new();
    for line in graph.edges.iter().filter_map(|edge| edge_line(*edge, drawing, &tree)) {
        if written.insert(line.clone()) {
            out.push_str(&line);
        }
    }
    out
}

/// Ends the subgraphs up to the one that a node is in.
fn close(open: &mut Vec<usize>, parent: Option<usize>, out: &mut String) {
    while open.last().copied() != parent && open.pop().is_some() {
        let _ = writeln!(out, "{}end", "  ".repeat(open.len() + 1));
    }
}

fn edge_line(edge: FlowEdge, Drawing { graph, .. }: &Drawing<'_>, tree: &Tree) -> Option<String> {
    let arrow = match edge.kind {
        // What is in a subgraph is drawn in it.
        FlowEdgeKind::Enter => return None,
        FlowEdgeKind::Next => "-->",
        FlowEdgeKind::Again => "-. again .->",
        FlowEdgeKind::Call => "-. calls .->",
    };
    // A subgraph cannot have an edge to what is in it.
    let target = match is_within(graph, edge.from, edge.to) {
        true => tree.leaf(edge.to, false),
        false => edge.to,
    };
    let source = match is_within(graph, target, edge.from) && target != edge.from {
        true => tree.leaf(edge.from, true),
        false => edge.from,
    };
    Some(format!("  n{source} {arrow} n{target}\n"))
}

fn text(node: &FlowNode) -> String {
    let title = escaped(&node.title());
    match &node.detail {
        Some(detail) => format!("{title}<br/>{}", escaped(detail)),
        None if title.trim().is_empty() => node.kind.name().to_owned(),
        None => title,
    }
}

fn shape(kind: FlowKind) -> [&'static str; 2] {
    match kind {
        FlowKind::Session | FlowKind::Resume => ["(", ")"],
        FlowKind::Input => ["[/", "/]"],
        FlowKind::Output => ["[\\", "\\]"],
        FlowKind::Call | FlowKind::Program | FlowKind::Import => ["[[", "]]"],
        FlowKind::Throw | FlowKind::Return | FlowKind::Break | FlowKind::Continue => ["([", "])"],
        _ => ["[", "]"],
    }
}

/// A text for a label in quotes. Everything that Mermaid or the Markdown in it gives a meaning is written by its number.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => out.push(' '),
            // A number with a point at the start is a list.
            '.' | ')' if out.chars().all(|before| before.is_ascii_digit() || before == ' ') => {
                let _ = write!(out, "#{};", u32::from(character));
            }
            '-' | '+' if out.trim().is_empty() => {
                let _ = write!(out, "#{};", u32::from(character));
            }
            '"' | '#' | '&' | '<' | '>' | '*' | '_' | '`' | '~' | '\\' | ';' | '[' | ']' | '$' => {
                let _ = write!(out, "#{};", u32::from(character));
            }
            character => out.push(character),
        }
    }
    out
}

/// A text in quotes of YAML.
fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::{EVERYTHING, drawn};

    #[test]
    fn a_program_is_a_flowchart_with_a_subgraph_for_each_frame() {
        expect![[r##"
            ---
            title: "it.prose"
            ---
            flowchart TD
              n0[["use #34;./tool.prose#34; as tool"]]
              n1[/"topic = input<br/>What about?"/]
              n2("draft = session writer<br/>Write about {topic}")
              n3("resume writer<br/>Improve it")
              n4["limit = 3"]
              subgraph n5["session #34;one#34; -#62; session #34;two#34;"]
                n6("session<br/>one")
                n7("session<br/>two")
              end
              subgraph n8["parallel (on-fail: #34;continue#34;)"]
                n9("facts = session<br/>Look for facts")
                subgraph n10["do"]
                  n11("session<br/>Write")
                  n12("session<br/>Check")
                end
              end
              subgraph n13["parallel for item in #91;#34;x#34;, #34;y#34;#93;"]
                n14("session<br/>Do {item}")
              end
              subgraph n15["loop until #42;#42;it is good#42;#42; (max: 3)"]
                n16("session<br/>Improve")
                subgraph n17["if #42;#42;hopeless#42;#42;"]
                  subgraph n18["#42;#42;hopeless#42;#42;"]
                    n19(["break"])
                  end
                  subgraph n20["#42;#42;nearly #34;done#34;#42;#42;"]
                    n21(["continue"])
                  end
                  subgraph n22["else"]
                    n23[["call review"]]
                  end
                end
              end
              subgraph n24["choice #42;#42;what next#42;#42;"]
                subgraph n25["publish"]
                  n26("session<br/>Publish")
                end
                subgraph n27["drop"]
                  n28(["throw #34;dropped#34;"])
                end
              end
              subgraph n29["try"]
                subgraph n30["try"]
                  n31("session<br/>Risky")
                end
                subgraph n32["catch err"]
                  n33("session<br/>Recover from {err}")
                end
                subgraph n34["finally"]
                  n35("session<br/>Clean up")
                end
              end
              subgraph n36["all = #91;#34;a#34;, #34;b#34;#93;"]
                subgraph n37["map"]
                  n38("session<br/>Look at {item}")
                end
              end
              subgraph n39["block review(text)"]
                n40("found = session<br/>Review {text}")
                subgraph n41["if #42;#42;more#42;#42;"]
                  subgraph n42["#42;#42;more#42;#42;"]
                    n43[["call review"]]
                  end
                end
                n44(["return<br/>found"])
              end
              n45[["used = tool(text: draft)"]]
              n46[\"result = output draft"\]
              n1 --> n2
              n2 --> n3
              n3 --> n4
              n6 --> n7
              n4 --> n5
              n11 --> n12
              n5 --> n8
              n8 --> n13
              n16 --> n17
              n17 -. again .-> n16
              n13 --> n15
              n15 --> n24
              n24 --> n29
              n29 --> n36
              n40 --> n41
              n41 --> n44
              n36 --> n45
              n45 --> n46
              n23 -. calls .-> n39
              n43 -. calls .-> n40
              n45 -. calls .-> n0
        "##]]
        .assert_eq(&drawn(EVERYTHING, mermaid));
    }

    #[test]
    fn what_has_a_meaning_in_labels_is_written_by_its_number() {
        assert_eq!(
            escaped("say \"hi\" & <b>*go*</b> #1"),
            "say #34;hi#34; #38; #60;b#62;#42;go#42;#60;/b#62; #35;1"
        );
        assert_eq!(escaped("1. first"), "1#46; first");
        assert_eq!(escaped("- first\nthen"), "#45; first then");
        assert_eq!(escaped("e.g. this (that)"), "e.g. this (that)");
    }

    #[test]
    fn no_edge_leads_from_a_subgraph_to_what_is_in_it_or_back() {
        let chart = drawn("loop:\n  loop:\n    session \"a\"\nblock b():\n  do b()\n", mermaid);
        expect![[r#"
            ---
            title: "it.prose"
            ---
            flowchart TD
              subgraph n0["loop"]
                subgraph n1["loop"]
                  n2("session<br/>a")
                end
              end
              subgraph n3["block b()"]
                n4[["call b"]]
              end
              n2 -. again .-> n2
              n4 -. calls .-> n4
        "#]]
        .assert_eq(&chart);
    }
}
