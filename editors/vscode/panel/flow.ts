// The page with the flow of a program while it is edited.

import type { FromFlowPanel, ToFlowPanel } from "../src/runs/messages";
import { Run } from "../src/runs/run";
import { button, element, panelOf, roving, setText } from "./dom";
import { Graph } from "./graph";
import type { FlowNode } from "./layout";

interface Editor {
  postMessage(message: FromFlowPanel): void;
}

declare function acquireVsCodeApi(): Editor;

const editor = acquireVsCodeApi();
const name = element("h1");
const show = (node: FlowNode, keepsFocus: boolean): void => editor.postMessage({ type: "show", range: node.range, keepsFocus });
const graph = new Graph({ select: (node) => show(node, true), reveal: show }, "This program has no statements yet.");
const tools = element(
  "div",
  "tools",
  button("minus", "Zoom out", () => graph.zoom(1 / 1.15)),
  button("plus", "Zoom in", () => graph.zoom(1.15)),
  button("fit", "Show the whole flow", () => graph.fit()),
);
tools.setAttribute("role", "toolbar");
tools.setAttribute("aria-label", "View");
roving(tools);
const page = panelOf(document);
page.classList.add("flow");
page.append(element("header", "", element("div", "title", name, element("span", "space"), tools)), element("main", "", graph.element));

/** Without a run, so that no statement has a status. */
const run = new Run();

window.addEventListener("message", ({ data }: MessageEvent<ToFlowPanel>) => {
  if (data.type === "flow") {
    setText(name, data.name);
    document.title = data.name;
    graph.show(run, data.graph, true);
  } else graph.setCursor(data.line);
});

editor.postMessage({ type: "ready" });
