// The page that compares two runs: the steps that differ, and the timelines of both under each other.

import type { FromComparePanel, ToComparePanel } from "../src/runs/messages";
import { ComparisonView } from "./comparison";
import { element, panelOf } from "./dom";

interface Editor {
  postMessage(message: FromComparePanel): void;
}

declare function acquireVsCodeApi(): Editor;

const editor = acquireVsCodeApi();
const view = new ComparisonView((step, part) => editor.postMessage({ type: "diff", step, part }));
const page = panelOf(document);
page.classList.add("comparison");
page.append(
  element("header", "", element("div", "title", element("h1", "", "Compare runs"), view.summary, element("span", "space"), view.all)),
  element("main", "", ...view.sides, view.steps),
);

window.addEventListener("message", ({ data }: MessageEvent<ToComparePanel>) => view.show(data.a, data.b, data.comparison));

new MutationObserver(() => view.themeChanged()).observe(document.body, { attributes: true, attributeFilter: ["class"] });

editor.postMessage({ type: "ready" });
