// Markdown of the language as elements. Nothing of a text becomes markup of the page: every part of it is put in as text.

import { element } from "../../vscode/panel/dom";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w-]*)/;
const ITEM = /^(\s*)(?:[-*+]|\d+[.)])\s+(.*)$/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const INLINE = /(`+)(?!`)(.*?[^`])\1(?!`)|\*\*(\S(?:.*?\S)?)\*\*|(?<!\w)[*_](\S(?:.*?\S)?)[*_](?!\w)|\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)|\\([\\`*_{}[\]()#+\-.!<>|~])/g;

/** The elements of a text. */
export function markdown(text: string): HTMLElement {
  return element("div", "markdown", ...blocks(text.split("\n")));
}

function blocks(lines: readonly string[]): HTMLElement[] {
  const found: HTMLElement[] = [];
  let paragraph: string[] = [];
  const close = (): void => {
    if (paragraph.length > 0) found.push(element("p", "", ...inline(paragraph.join("\n"))));
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, fence] = FENCE.exec(line) ?? [];
    const heading = HEADING.exec(line);
    if (fence !== undefined) {
      close();
      const end = lines.findIndex((later, index) => index > at && later.trim().startsWith(fence) && later.trim().replaceAll(fence[0] ?? "", "") === "");
      const last = end < 0 ? lines.length : end;
      found.push(code(lines.slice(at + 1, last).join("\n")));
      at = last;
    } else if (heading !== null) {
      close();
      // Pages around this have headings of their own.
      found.push(element("h3", "", ...inline(heading[2] ?? "")));
    } else if (RULE.test(line)) {
      close();
      found.push(element("hr"));
    } else if (ITEM.test(line)) {
      close();
      const start = at;
      while (at + 1 < lines.length && (ITEM.test(lines[at + 1] ?? "") || /^\s{2,}\S/.test(lines[at + 1] ?? ""))) at++;
      found.push(list(lines.slice(start, at + 1)));
    } else if (/^\s*\|.*\|\s*$/.test(line)) {
      close();
      const start = at;
      while (/^\s*\|.*\|\s*$/.test(lines[at + 1] ?? "")) at++;
      found.push(table(lines.slice(start, at + 1)));
    } else if (line.trim() === "") {
      close();
    } else {
      paragraph.push(line);
    }
  }
  close();
  return found;
}

/** Code that scrolls, which the keyboard has to reach. */
function code(text: string): HTMLElement {
  const shown = element("pre", "", element("code", "", text));
  shown.tabIndex = 0;
  return shown;
}

function list(lines: readonly string[]): HTMLElement {
  const items: string[] = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item !== null) items.push(item[2] ?? "");
    else items.push(`${items.pop() ?? ""}\n${line.trim()}`);
  }
  const isOrdered = /^\s*\d/.test(lines[0] ?? "");
  return element(isOrdered ? "ol" : "ul", "", ...items.map((item) => element("li", "", ...inline(item))));
}

function table(lines: readonly string[]): HTMLElement {
  const rows = lines.map((line) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim()));
  const [head = [], ...rest] = rows.filter((row) => !row.every((cell) => /^:?-+:?$/.test(cell)));
  const header = element("tr", "", ...head.map((cell) => element("th", "", ...inline(cell))));
  return element("table", "", element("thead", "", header), element("tbody", "", ...rest.map((row) => element("tr", "", ...row.map((cell) => element("td", "", ...inline(cell)))))));
}

function inline(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [all, , coded, strong, emphasis, label, address, escaped] = match;
    parts.push(text.slice(at, match.index));
    at = match.index + all.length;
    if (coded !== undefined) parts.push(element("code", "", coded.replace(/^ (.*) $/, "$1")));
    else if (strong !== undefined) parts.push(element("strong", "", ...inline(strong)));
    else if (emphasis !== undefined) parts.push(element("em", "", ...inline(emphasis)));
    else if (label !== undefined) parts.push(link(label, address ?? ""));
    else parts.push(escaped ?? "");
  }
  parts.push(text.slice(at));
  return parts.filter((part) => part !== "");
}

/** A link to the web; what leads anywhere else is only its text. */
function link(label: string, address: string): HTMLElement {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return element("span", "", ...inline(label));
  const created = element("a", "", ...inline(label));
  created.href = address;
  created.target = "_blank";
  created.rel = "noopener noreferrer";
  return created;
}
