//! The drawing as SVG.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use prose_ide::{FlowEdgeKind, FlowGraph, FlowKind, FlowNode};
use prose_syntax::text::counted;

use crate::drawing::Drawing;
use crate::layout::{HEADER, Layout, Line, Rect, label, round};
use crate::text::{Style, fitted};

const STYLE: &str = include_str!("../assets/graph.css");

/// The drawing as an SVG document, which needs nothing else and is light or dark as what shows it.
pub fn svg(drawing: &Drawing<'_>) -> String {
    let Drawing { graph, title, .. } = drawing;
    let layout = Layout::new(graph);
    let (width, height) = (round(layout.width), round(layout.height));
    let mut out = String::new();
    // Formatting into a string does not fail.
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" class="prose-flow" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="graphics-document document" aria-labelledby="prose-flow-title" aria-describedby="prose-flow-description">
<title id="prose-flow-title">Flow of {}</title>
<desc id="prose-flow-description">{}</desc>
<style>{STYLE}</style>
<defs><marker id="prose-flow-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 .8L7 4L0 7.2z"/></marker></defs>
<rect class="back" width="100%" height="100%"/>
"##,
        escaped(title),
        escaped(&description(drawing)),
    );
    // Lines lie on frames and below statements.
    nodes(drawing, &layout, true, &mut out);
    for Line { edge, path } in &layout.lines {
        let kind = edge.kind.name();
        let _ =
            writeln!(out, r##"<path class="line {kind}" d="{path}" marker-end="url(#prose-flow-arrow)"/>"##);
    }
    nodes(drawing, &layout, false, &mut out);
    out.push_str("</svg>\n");
    out
}

/// The statements in the order of the program, for those who do not see the drawing.
fn description(drawing: &Drawing<'_>) -> String {
    let Drawing { graph, .. } = drawing;
    if graph.nodes.is_empty() {
        return "The program has no statements.".to_owned();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for node in graph.nodes.iter().filter(|node| node.kind != FlowKind::Way) {
        *counts.entry(noun(node.kind)).or_default() += 1;
    }
    let counts: Vec<String> = counts.into_iter().map(|(noun, count)| counted(count, noun)).collect();
    let mut text = format!("{}.\n", counts.join(", "));
    let mut depths: Vec<usize> = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        let depth = node.parent.map_or(0, |parent| depths[parent] + 1);
        depths.push(depth);
        let _ = writeln!(text, "{}{}", "  ".repeat(depth), spoken(drawing, graph, index, node));
    }
    text
}

/// A node in words, with its call and the loop that it starts again.
fn spoken(drawing: &Drawing<'_>, graph: &FlowGraph, index: usize, node: &FlowNode) -> String {
    let detail = node.detail.as_ref().map_or(String::new(), |detail| format!(": {detail}"));
    let from = graph.edges.iter().filter(|edge| edge.from == index);
    let leads: Vec<String> = from
        .filter_map(|edge| match edge.kind {
            FlowEdgeKind::Call => Some(format!(", calls line {}", (drawing.line)(&graph.nodes[edge.to]))),
            FlowEdgeKind::Again => Some(", then again".to_owned()),
            FlowEdgeKind::Next | FlowEdgeKind::Enter => None,
        })
        .collect();
    format!("line {}: {}{detail}{}", (drawing.line)(node), node.title(), leads.concat())
}

fn noun(kind: FlowKind) -> &'static str {
    match kind {
        FlowKind::Session | FlowKind::Resume => "session",
        FlowKind::Call => "block call",
        FlowKind::Program => "program call",
        FlowKind::ParallelLoop => "parallel loop",
        FlowKind::If => "condition",
        FlowKind::Do => "sequence",
        FlowKind::Other => "other statement",
        kind => kind.name(),
    }
}

fn nodes(drawing: &Drawing<'_>, layout: &Layout, are_frames: bool, out: &mut String) {
    for (node, rect) in drawing.graph.nodes.iter().zip(&layout.boxes) {
        if rect.is_frame == are_frames {
            write_node(drawing, node, *rect, out);
        }
    }
}

fn write_node(drawing: &Drawing<'_>, node: &FlowNode, rect: Rect, out: &mut String) {
    let detail = node.detail.as_deref().filter(|_| !rect.is_frame);
    let middle = match (rect.is_frame, detail) {
        (true, _) => HEADER / 2.0 + 1.0,
        (false, Some(_)) => 15.0,
        (false, None) => rect.height / 2.0,
    };
    let frame = if rect.is_frame { " frame" } else { "" };
    let (x, y, width, height) = (round(rect.x), round(rect.y), round(rect.width), round(rect.height));
    let radius = if rect.is_frame { 8 } else { 5 };
    let told = node.detail.as_ref().map_or(String::new(), |detail| format!("\n{detail}"));
    let title = format!("{}{told}\nline {}", node.title(), (drawing.line)(node));
    let _ = writeln!(
        out,
        r#"<g class="node kind-{}{frame}" transform="translate({x} {y})" role="graphics-symbol img" aria-label="{}"><title>{}</title><rect class="box" width="{width}" height="{height}" rx="{radius}"/><path class="sign" d="{}" transform="translate(10 {})"/><text class="label" x="28" y="{}">{}</text>{}</g>"#,
        node.kind.name(),
        escaped(&title.replace('\n', ", ")),
        escaped(&title),
        sign(node.kind),
        round(middle) - 6.0,
        round(middle),
        escaped(&fitted(&label(node), rect.width - 36.0, Style::Label)),
        detail.map_or(String::new(), |detail| {
            let shown = fitted(detail, rect.width - 22.0, Style::Detail);
            format!(r#"<text class="detail" x="12" y="31">{}</text>"#, escaped(&shown))
        }),
    );
}

/// A text for XML, without the characters that it cannot contain.
fn escaped(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '&' => Cow::Borrowed("&amp;"),
            '<' => Cow::Borrowed("&lt;"),
            '>' => Cow::Borrowed("&gt;"),
            '"' => Cow::Borrowed("&quot;"),
            '\t' | '\n' => Cow::Owned(character.to_string()),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => Cow::Borrowed("\u{fffd}"),
            character => Cow::Owned(character.to_string()),
        })
        .collect()
}

/// The sign of a kind, of 12 by 12 pixels.
pub(crate) fn sign(kind: FlowKind) -> &'static str {
    match kind {
        FlowKind::Session => "M1.5 2.5h9v6h-5l-2.5 2v-2h-1.5z",
        FlowKind::Resume => "M1.5 2.5h9v6h-5l-2.5 2v-2h-1.5zM4 5.5h4",
        FlowKind::Input => "M6 1.5v6M3 5l3 3 3-3M1.5 10.5h9",
        FlowKind::Output => "M6 8v-6M3 4.5l3-3 3 3M1.5 10.5h9",
        FlowKind::Binding => "M2 4.5h8M2 7.5h8",
        FlowKind::Call => "M2 6h7M6.5 3l3 3-3 3",
        FlowKind::Program | FlowKind::Import => "M2.5 1.5h7v9h-7zM4.5 4h3M4.5 6h3",
        FlowKind::Block => "M1.5 2.5h9v7h-9zM1.5 5h9",
        FlowKind::Do => "M3 1.5v9M6 3h4M6 6h4M6 9h4",
        FlowKind::Chain => "M1 6h3M5 6h2M8 6h3M9.5 4.5l1.5 1.5-1.5 1.5",
        FlowKind::Parallel | FlowKind::ParallelLoop => "M3 1.5v9M6 1.5v9M9 1.5v9",
        FlowKind::Loop => "M9.7 4.5a4 4 0 1 0 .3 2.4M10 2v2.7h-2.7",
        FlowKind::If => "M6 1l5 5-5 5-5-5z",
        FlowKind::Choice => "M6 1l5 5-5 5-5-5zM6 4v4",
        FlowKind::Try => "M6 1.2l4.2 1.8v3c0 2.5-1.8 4-4.2 5-2.4-1-4.2-2.5-4.2-5v-3z",
        FlowKind::Pipeline => "M1 3h4l2 6h4M9 7l2 2-2 2",
        FlowKind::Way => "M3 3v6M3 6h6M7 4l2 2-2 2",
        FlowKind::Throw => "M6.5 1l-4 6h3l-.5 4 4-6h-3z",
        FlowKind::Return => "M10 3v4h-7M5.5 4.5l-2.5 2.5 2.5 2.5",
        FlowKind::Break => "M2.5 2.5h7v7h-7z",
        FlowKind::Continue => "M3 2.5l4 3.5-4 3.5M8.5 2.5v7",
        FlowKind::Other => "M6 4.5a1.5 1.5 0 1 0 .01 0",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{EVERYTHING, drawn};

    #[test]
    fn the_description_has_the_statements_in_their_order() {
        let svg = drawn(EVERYTHING, svg);
        let (_, rest) = svg.split_once(r#"<desc id="prose-flow-description">"#).unwrap();
        let (description, _) = rest.split_once("</desc>").unwrap();
        expect![[r#"
            1 binding, 1 block, 2 block calls, 1 break, 1 chain, 1 choice, 2 conditions, 1 continue, 1 import, 1 input, 1 loop, 1 output, 1 parallel, 1 parallel loop, 1 pipeline, 1 program call, 1 return, 1 sequence, 15 sessions, 1 throw, 1 try.
            line 1: use &quot;./tool.prose&quot; as tool
            line 4: topic = input: What about?
            line 5: draft = session writer: Write about {topic}
            line 7: resume writer: Improve it
            line 9: limit = 3
            line 10: session &quot;one&quot; -&gt; session &quot;two&quot;
              line 10: session: one
              line 10: session: two
            line 11: parallel (on-fail: &quot;continue&quot;)
              line 12: facts = session: Look for facts
              line 13: do
                line 14: session: Write
                line 15: session: Check
            line 16: parallel for item in [&quot;x&quot;, &quot;y&quot;]
              line 17: session: Do {item}
            line 18: loop until **it is good** (max: 3)
              line 19: session: Improve
              line 20: if **hopeless**, then again
                line 21: **hopeless**
                  line 21: break
                line 23: **nearly &quot;done&quot;**
                  line 23: continue
                line 25: else
                  line 25: call review, calls line 40
            line 26: choice **what next**
              line 28: publish
                line 28: session: Publish
              line 30: drop
                line 30: throw &quot;dropped&quot;
            line 31: try
              line 32: try
                line 32: session: Risky
              line 34: catch err
                line 34: session: Recover from {err}
              line 36: finally
                line 36: session: Clean up
            line 37: all = [&quot;a&quot;, &quot;b&quot;]
              line 38: map
                line 39: session: Look at {item}
            line 40: block review(text)
              line 41: found = session: Review {text}
              line 42: if **more**
                line 43: **more**
                  line 43: call review, calls line 40
              line 44: return: found
            line 45: used = tool(text: draft), calls line 1
            line 46: result = output draft
        "#]].assert_eq(description);
    }

    #[test]
    fn a_drawing_has_a_name_themes_and_nothing_that_is_loaded_or_executed() {
        let svg = drawn("session \"Say <b>hello</b> & \\\"bye\\\"\"\n", svg);
        assert!(svg.contains("<title id=\"prose-flow-title\">Flow of it.prose</title>"), "{svg}");
        assert!(svg.contains("prefers-color-scheme: dark"), "{svg}");
        assert!(svg.contains("Say &lt;b&gt;hello"), "{svg}");
        for found in ["<b>", "<script", "href", "url(http", "@import"] {
            assert!(!svg.contains(found), "{found}: {svg}");
        }
    }

    #[test]
    fn the_same_program_always_has_the_same_drawing() {
        assert_eq!(drawn(EVERYTHING, svg), drawn(EVERYTHING, svg));
    }

    proptest! {
        #[test]
        fn any_text_is_well_formed(text in "\\PC{0,40}", name in any::<String>()) {
            let program = format!("session {text:?}\nlet x = \"{text}\"\nif **{text}**:\n  session \"{text}\"\n");
            let svg = crate::testing::drawn_as(&program, &name, svg);
            // Selectors of the style have `>` as well.
            let svg = svg.replace(STYLE, "");
            let forbidden = |character: char| matches!(character, '\0'..='\u{8}' | '\u{b}'..='\u{1f}');
            prop_assert!(!svg.contains(forbidden), "{svg}");
            prop_assert_eq!(svg.matches('<').count(), svg.matches('>').count());
            prop_assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
            prop_assert_eq!(svg.matches("<text ").count(), svg.matches("</text>").count());
        }
    }
}
