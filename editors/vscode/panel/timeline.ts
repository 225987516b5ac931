// The timeline of a run: a tree of its parts on the left, and their times on the right. The page contains only visible rows, so that a run
// of thousands of sessions costs the same as a short one.

import { activityText, callsText, denialsOf, denialText, duration, durationText, idleTextsOf, type Item, type Run, type Span, usageText } from "../src/runs/run";
import { element, icon, setIcon, setText } from "./dom";
import { Column } from "./column";
import { activity, bars, collapsedBelow, contains, groupOf, load, moved, peak, type Row, RowList, ticks, type TimeWindow, zoomed } from "./rows";

export const ROW = 24;
const AXIS = 48;
/** The height of the marks of the axis; the number of parallel sessions is drawn under them. */
const MARKS = 24;
/** The space after the last bar for its label. */
const MARGIN = 0.06;

/** What a timeline shows that is the only one on a page. */
const NAME = "Parts of the run";

const STATUS_WORDS: Record<Item["status"], string> = {
  waiting: "waiting",
  running: "running",
  complete: "done",
  failed: "failed",
  skipped: "not finished",
  interrupted: "stopped",
};

/** The callbacks of the timeline. */
export interface TimelineEvents {
  /** A part was selected. */
  select(item: Item): void;
  /** Show the statement of a part. */
  reveal(item: Item, keepsFocus: boolean): void;
  /** Open a session. */
  open(item: Item): void;
  /** The user has moved the view, which stops following the run. */
  leave(): void;
  /** A redraw is needed. */
  draw(): void;
}

interface Slot {
  root: HTMLElement;
  twistie: SVGSVGElement;
  status: SVGSVGElement;
  prefix: HTMLElement;
  label: HTMLElement;
  detail: HTMLElement;
  row?: Row;
}

type Colours = Record<"text" | "muted" | "grid" | "now" | "complete" | "failed" | "running" | "waiting" | "skipped" | "interrupted" | "frame" | "selected" | "hover", string> & {
  isHighContrast: boolean;
  font: string;
};

export class Timeline {
  readonly element: HTMLElement;
  private readonly axis = element("canvas", "axis");
  private readonly scroller = element("div", "rows");
  private readonly sizer = element("div", "sizer");
  private readonly pane = element("div", "pane");
  private readonly labels = element("div", "labels");
  private readonly canvas = element("canvas", "bars");
  private readonly tip = element("div", "tip");
  private readonly empty = element("p", "empty");
  private readonly slots: Slot[] = [];
  private collapsed = new Set<number>();
  /** The groups of iterations whose rows are shown. */
  private readonly expanded = new Set<number>();
  private list = new RowList(undefined);
  private listed = "";
  private model: Run | undefined;
  private filter: ((item: Item) => boolean) | undefined;
  private filterName = "all";
  /** What is searched for, in lower case. */
  private search = "";
  private readonly column: Column;
  /** The maximum number of parallel sessions, and what it was counted in. */
  private most = { key: "", count: 0 };
  /** The numbers of parallel sessions along the axis, and for what they were counted. */
  private counted = { key: "", load: { working: [] as number[], failures: [] as number[] } };
  /** The working times in parts that have ended, for one version of the run. */
  private readonly spans = new Map<number, Span[]>();
  private spansOf = -1;
  /** The part with the keyboard focus. */
  private active = -1;
  private hovered = -1;
  /** The visible period; undefined for the whole run. */
  private window: TimeWindow | undefined;
  private shown: TimeWindow = { from: 0, to: 1 };
  private all: TimeWindow = { from: 0, to: 1 };
  private colours: Colours | undefined;
  private size = { width: 0, height: 0, labels: 0 };
  private cursor = new Set<number>();
  /** The scroll position that the view set itself, as opposed to the user. */
  private scrolledTo = 0;

  /** `name` describes the timeline where there are several on a page. */
  constructor(
    private readonly events: TimelineEvents,
    private readonly name = NAME,
    labels?: { width: number | undefined; keep: (width: number) => void },
  ) {
    this.column = new Column(labels?.width, (width) => {
      labels?.keep(width);
      this.resized();
    });
    this.tip.setAttribute("role", "tooltip");
    this.tip.hidden = true;
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "tree");
    this.scroller.setAttribute("aria-label", name);
    this.canvas.setAttribute("aria-hidden", "true");
    this.axis.setAttribute("aria-hidden", "true");
    this.pane.append(this.labels, this.canvas);
    this.scroller.append(this.pane, this.sizer);
    this.element = element("section", "timeline", element("div", "axis-row", this.axis), this.scroller, this.column.element, this.empty, this.tip);
    this.element.setAttribute("aria-label", name === NAME ? "Timeline" : `Timeline: ${name}`);
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.scroller);
  }

  /** Shows another run. */
  show(model: Run): void {
    this.model = model;
    this.collapsed.clear();
    this.expanded.clear();
    this.hideTip();
    this.window = undefined;
    this.active = -1;
    this.listed = "";
    this.scroller.scrollTop = 0;
    this.events.draw();
  }

  /** Shows only some parts, with their ancestors. */
  setFilter(name: string, filter: ((item: Item) => boolean) | undefined): void {
    this.filterName = name;
    this.filter = filter;
    this.listed = "";
    this.events.draw();
  }

  /** Shows only parts with a text, with their ancestors, also where those are collapsed. Returns their number. */
  setSearch(text: string): number {
    this.search = text.trim().toLowerCase();
    this.listed = "";
    // What was found stays in view among all the others.
    if (this.search === "" && this.active >= 0) this.scrollTo(this.active);
    this.events.draw();
    return this.search === "" ? 0 : this.matches().length;
  }

  /** Selects the next match of the search after the selected part. */
  nextMatch(isBackwards = false): void {
    const matches = this.matches();
    if (matches.length === 0) return;
    const before = matches.filter(({ id }) => id < this.active);
    const next = isBackwards ? (before.at(-1) ?? matches.at(-1)) : (matches.find(({ id }) => id > this.active) ?? matches[0]);
    if (next !== undefined) this.goTo(next);
  }

  private matches(): Item[] {
    const { search, model } = this;
    return search === "" || model === undefined ? [] : model.items.filter((item) => this.isWanted(item));
  }

  private isWanted(item: Item): boolean {
    const isFound = this.search === "" || (item.kind !== "run" && contains(item, this.search));
    return isFound && (this.filter?.(item) ?? true);
  }

  /** Shows so many levels of parts. */
  setLevels(levels: number): void {
    if (this.model === undefined) return;
    this.collapsed = collapsedBelow(this.model, levels);
    this.expanded.clear();
    this.listed = "";
    this.events.draw();
  }

  /** Selects a part, and opens what contains it. */
  goTo(item: Item): void {
    const { model } = this;
    for (let at: Item | undefined = item; at !== undefined && model !== undefined; at = model.items[at.parent ?? -1]) {
      const group = groupOf(model, at);
      if (group !== undefined) this.expanded.add(group);
      if (at !== item) this.collapsed.delete(at.id);
    }
    this.listed = "";
    this.active = item.id;
    this.scrollTo(item.id);
    this.events.leave();
    this.events.select(item);
    this.events.draw();
  }

  /** The colours of the editor have changed. */
  themeChanged(): void {
    this.colours = undefined;
    this.events.draw();
  }

  /** Shows the whole run. */
  fit(): void {
    this.window = undefined;
    this.events.draw();
  }

  zoom(factor: number, around = (this.shown.from + this.shown.to) / 2): void {
    const window = zoomed(this.shown, factor, around, this.all);
    this.window = window.to - window.from >= this.all.to - this.all.from ? undefined : window;
    this.events.draw();
  }

  pan(by: number): void {
    if (this.window === undefined) return;
    this.window = moved(this.window, by * (this.window.to - this.window.from), this.all);
    this.events.draw();
  }

  get selected(): Item | undefined {
    return this.model?.items[this.active] ?? this.list.rows.find(({ item }) => item.id === this.active)?.item;
  }

  /** Selects a part without moving the keyboard focus. */
  select(id: number, scrolls = true): void {
    this.active = id;
    if (scrolls) this.scrollTo(id);
    this.events.draw();
  }

  /** Marks the parts of the line of the cursor. */
  setCursor(ids: Iterable<number>): void {
    this.cursor = new Set(ids);
    const first = this.cursor.values().next().value;
    // The selected part stays visible, even if its statement was executed earlier too.
    if (first !== undefined && !this.cursor.has(this.active)) this.scrollTo(first);
    this.events.draw();
  }

  /** Scrolls to the part that started last. */
  follow(): void {
    const { model } = this;
    if (model === undefined) return;
    for (let id = model.items.length - 1; id > 0; id--) {
      const item = model.items[id] as Item;
      if (item.to === undefined && item.status === "running") return this.scrollTo(id);
    }
  }

  private scrollTo(id: number): void {
    if (this.model === undefined) return;
    this.refreshRows();
    const index = this.list.indexOf(id);
    if (index < 0) return;
    const { scrollTop, clientHeight } = this.scroller;
    const top = index * ROW;
    if (top >= scrollTop && top + ROW <= scrollTop + clientHeight) return;
    // The sizer has its height only after it was drawn.
    this.sizer.style.height = `${this.list.rows.length * ROW}px`;
    this.scroller.scrollTop = top < scrollTop ? top - ROW : top - clientHeight + 2 * ROW;
    this.scrolledTo = this.scroller.scrollTop;
  }

  private refreshRows(): void {
    const { model } = this;
    if (model === undefined) return;
    const isFiltered = this.filter !== undefined || this.search !== "";
    // Without a filter, the rows change only with new parts: what they show is read when they are drawn.
    const key = isFiltered ? `${model.version} ${this.filterName} ${this.search}` : `${model.structure}`;
    if (key === this.listed) return;
    this.listed = key;
    const isWanted = isFiltered ? (item: Item) => this.isWanted(item) : undefined;
    this.list = new RowList(model, { collapsed: this.collapsed, expanded: this.expanded, isWanted });
  }

  /** Draws everything visible, once per frame. */
  draw(now: number): void {
    const { model } = this;
    if (model?.root === undefined || this.size.height === 0) return;
    this.refreshRows();
    const { rows } = this.list;
    this.empty.hidden = rows.length > 0;
    const isFiltered = this.filter !== undefined || this.search !== "";
    setText(this.empty, isFiltered ? "No such part in this run." : "No events yet.");
    const { from } = model.root;
    const to = model.root.to ?? Math.max(now, model.last);
    this.all = { from, to: from + Math.max(50, to - from) * (1 + MARGIN) };
    this.shown = this.window ?? this.all;
    const height = `${this.list.rows.length * ROW}px`;
    if (this.sizer.style.height !== height) this.sizer.style.height = height;
    const first = Math.floor(this.scroller.scrollTop / ROW);
    const count = Math.min(rows.length - first, Math.ceil(this.size.height / ROW) + 1);
    this.drawLabels(first, count, now);
    this.drawBars(first, count, model, to);
    this.drawAxis(from);
  }

  private drawLabels(first: number, count: number, now: number): void {
    const offset = first * ROW - this.scroller.scrollTop;
    this.labels.style.transform = `translateY(${offset}px)`;
    while (this.slots.length < count) this.addSlot();
    let activeId = "";
    this.slots.forEach((slot, index) => {
      const row = index < count ? this.list.rows[first + index] : undefined;
      slot.row = row;
      slot.root.hidden = row === undefined;
      if (row === undefined) return;
      const { item } = row;
      const isActive = item.id === this.active || row.outer.id === this.active;
      if (isActive) activeId = slot.root.id;
      const classes = `row${isActive ? " active" : ""}${this.isAtCursor(row) ? " at-cursor" : ""}${item.id === this.hovered ? " hovered" : ""} is-${item.status} kind-${item.kind}`;
      if (slot.root.className !== classes) slot.root.className = classes;
      const indent = `${8 + row.depth * 12}px`;
      if (slot.root.style.paddingLeft !== indent) slot.root.style.paddingLeft = indent;
      slot.twistie.classList.toggle("open", row.isExpanded);
      slot.twistie.style.visibility = row.hasChildren ? "" : "hidden";
      setIcon(slot.status, item.status);
      setText(slot.prefix, row.prefix);
      setText(slot.label, item.label || item.kind);
      setText(slot.detail, detailOf(item, now));
      this.describe(slot.root, row, isActive);
    });
    const described = activeId === "" ? null : activeId;
    if (described === null) this.scroller.removeAttribute("aria-activedescendant");
    else if (this.scroller.getAttribute("aria-activedescendant") !== described) {
      this.scroller.setAttribute("aria-activedescendant", described);
    }
  }

  private isAtCursor({ item, outer }: Row): boolean {
    return this.cursor.has(item.id) || this.cursor.has(outer.id);
  }

  private describe(root: HTMLElement, row: Row, isActive: boolean): void {
    const { item } = row;
    const set = (name: string, value: string): void => {
      if (root.getAttribute(name) !== value) root.setAttribute(name, value);
    };
    set("aria-level", String(row.depth + 1));
    set("aria-posinset", String(row.position));
    set("aria-setsize", String(row.siblings));
    set("aria-selected", String(isActive));
    if (row.hasChildren) set("aria-expanded", String(row.isExpanded));
    else root.removeAttribute("aria-expanded");
    const agent = item.agent === undefined ? "" : ` by ${item.agent}`;
    const count = item.kind === "session" ? "" : detailOf(item, 0);
    const facts = [`${row.prefix} ${item.label || item.kind}${agent}`.trim(), STATUS_WORDS[item.status], count];
    set("aria-label", facts.filter(Boolean).join(", "));
  }

  private addSlot(): void {
    const twistie = icon("chevron");
    twistie.classList.add("twistie");
    const status = icon("idle");
    const [prefix, label, detail] = [element("span", "prefix"), element("span", "label"), element("span", "detail")];
    // The label of the row has it, without what changes all the time.
    detail.setAttribute("aria-hidden", "true");
    const root = element("div", "row", twistie, status, prefix, label, detail);
    root.id = `row-${this.name.replaceAll(" ", "-")}-${this.slots.length}`;
    root.setAttribute("role", "treeitem");
    this.labels.append(root);
    this.slots.push({ root, twistie, status, prefix, label, detail });
  }

  private context(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
    const scale = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context?.setTransform(scale, 0, 0, scale, 0, 0);
    context?.clearRect(0, 0, width, height);
    return context;
  }

  private x(at: number): number {
    const { from, to } = this.shown;
    return ((at - from) / (to - from)) * this.size.width;
  }

  private drawAxis(start: number): void {
    const { width, labels } = this.size;
    const context = this.context(this.axis, width + labels, AXIS);
    const colours = this.readColours();
    if (context === null) return;
    context.font = colours.font;
    context.textBaseline = "middle";
    context.fillStyle = colours.muted;
    context.strokeStyle = colours.grid;
    if (this.model !== undefined) this.drawLoad(context, this.model, colours);
    context.fillStyle = colours.muted;
    for (const { at, label } of ticks(this.shown, start, width)) {
      const x = Math.round(labels + this.x(at)) + 0.5;
      context.beginPath();
      context.moveTo(x, MARKS - 7);
      context.lineTo(x, AXIS);
      context.stroke();
      context.fillText(label, x + 4, MARKS / 2 + 1);
    }
  }

  /** Draws the number of parallel sessions. */
  private drawLoad(context: CanvasRenderingContext2D, model: Run, colours: Colours): void {
    const { width, labels } = this.size;
    const now = model.root?.to ?? model.now;
    const stretches = Math.max(1, Math.floor(width / 3));
    const { working, failures } = this.load(model, stretches, now);
    const most = Math.max(1, ...working);
    const [bottom, height] = [AXIS, AXIS - MARKS - 2];
    context.fillStyle = colours.muted;
    context.textAlign = "right";
    const count = this.peak(model, now);
    context.fillText(count === 0 ? "" : `at once, at most ${count}`, labels - 10, AXIS - height / 2);
    context.textAlign = "left";
    const step = width / stretches;
    context.fillStyle = colours.running;
    context.globalAlpha = 0.55;
    working.forEach((count, index) => {
      const high = (count / most) * height;
      if (count > 0) context.fillRect(labels + index * step, bottom - high, step, high);
    });
    context.globalAlpha = 1;
    context.fillStyle = colours.failed;
    failures.forEach((count, index) => {
      if (count > 0) context.fillRect(labels + index * step, bottom - 4, Math.max(2, step), 4);
    });
  }

  /** The numbers of parallel sessions along the axis. Scrolling does not change them. */
  private load(model: Run, stretches: number, now: number): { working: number[]; failures: number[] } {
    const { from, to } = this.shown;
    const key = `${model.version} ${from} ${to} ${stretches} ${now}`;
    if (this.counted.key !== key) this.counted = { key, load: load(model, this.shown, stretches, now) };
    return this.counted.load;
  }

  /** The working times of the sessions in a part. */
  private activity(model: Run, item: Item, now: number): Span[] {
    if (item.to === undefined) return activity(model, item, now);
    if (this.spansOf !== model.version) this.spans.clear();
    this.spansOf = model.version;
    const spans = this.spans.get(item.id) ?? activity(model, item, now);
    this.spans.set(item.id, spans);
    return spans;
  }

  /** The maximum number of parallel sessions. It is counted again only when the run or the window has changed. */
  private peak(model: Run, now: number): number {
    const { from, to } = this.shown;
    const key = `${model.version} ${this.window === undefined ? "" : `${from} ${to}`}`;
    if (this.most.key !== key) this.most = { key, count: peak(model, this.shown, now) };
    return this.most.count;
  }

  private drawBars(first: number, count: number, model: Run, now: number): void {
    const { width, height } = this.size;
    const context = this.context(this.canvas, width, height);
    const root = model.root;
    if (context === null || root === undefined) return;
    const colours = this.readColours();
    context.font = colours.font;
    context.textBaseline = "middle";
    context.strokeStyle = colours.grid;
    context.lineWidth = 1;
    for (const { at } of ticks(this.shown, root.from, width)) {
      const x = Math.round(this.x(at)) + 0.5;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height);
      context.stroke();
    }
    const offset = first * ROW - this.scroller.scrollTop;
    for (let index = 0; index < count; index++) {
      const row = this.list.rows[first + index];
      if (row !== undefined) this.drawRow(context, row, offset + index * ROW, model, now, colours);
    }
    if (root.to === undefined) {
      const x = Math.round(this.x(now)) + 0.5;
      context.strokeStyle = colours.now;
      context.setLineDash([3, 3]);
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height);
      context.stroke();
      context.setLineDash([]);
    }
  }

  private drawRow(context: CanvasRenderingContext2D, row: Row, top: number, model: Run, now: number, colours: Colours): void {
    const { item } = row;
    const isActive = item.id === this.active || row.outer.id === this.active;
    if (isActive || this.isAtCursor(row) || item.id === this.hovered) {
      context.fillStyle = isActive ? colours.selected : colours.hover;
      context.fillRect(0, top, this.size.width, ROW);
    }
    const middle = top + ROW / 2;
    let right = 0;
    for (const bar of bars(item, now)) {
      const from = this.x(bar.from);
      const to = Math.max(from + 2, this.x(bar.to));
      right = Math.max(right, to);
      if (to < 0 || from > this.size.width) continue;
      const [x, width] = [Math.max(-4, from), Math.min(this.size.width + 4, to) - Math.max(-4, from)];
      const colour = colours[bar.status];
      switch (bar.kind) {
        case "frame":
          this.drawFrame(context, x, middle, width, colour, row, model, now, colours);
          break;
        case "work": {
          const high = item.kind === "session" ? 14 : 8;
          context.fillStyle = colour;
          rounded(context, x, middle - high / 2, width, high, 3);
          context.fill();
          if (colours.isHighContrast) this.outline(context, colours);
          if (bar.status === "failed" && width > 6) this.cross(context, x, middle, width, high, colours);
          break;
        }
        case "queued":
        case "wait":
          context.strokeStyle = colours.waiting;
          context.setLineDash(bar.kind === "queued" ? [2, 3] : []);
          context.strokeRect(Math.round(x) + 0.5, Math.round(middle - 4) + 0.5, Math.max(1, Math.round(width) - 1), 8);
          context.setLineDash([]);
          break;
        case "pause":
          context.strokeStyle = colours.waiting;
          context.setLineDash([2, 3]);
          context.beginPath();
          context.moveTo(x, middle);
          context.lineTo(x + width, middle);
          context.stroke();
          context.setLineDash([]);
          break;
      }
    }
    this.drawFacts(context, item, right, middle, now, colours);
  }

  /** Draws a part with children: a thin line with ends, and the times of its sessions if their rows are hidden. */
  private drawFrame(context: CanvasRenderingContext2D, x: number, middle: number, width: number, colour: string, row: Row, model: Run, now: number, colours: Colours): void {
    context.fillStyle = colours.frame;
    context.fillRect(x, middle - 1, width, 2);
    context.fillStyle = colour;
    context.fillRect(x, middle - 4, 2, 8);
    context.fillRect(x + Math.max(0, width - 2), middle - 4, 2, 8);
    if (row.isExpanded || !row.hasChildren) return;
    context.globalAlpha = 0.75;
    for (const { from, to } of this.activity(model, row.item, now)) {
      const left = this.x(from);
      context.fillRect(left, middle - 5, Math.max(1, this.x(to ?? now) - left), 10);
    }
    context.globalAlpha = 1;
  }

  private outline(context: CanvasRenderingContext2D, colours: Colours): void {
    context.strokeStyle = colours.text;
    context.stroke();
  }

  private cross(context: CanvasRenderingContext2D, x: number, middle: number, width: number, high: number, colours: Colours): void {
    context.save();
    context.clip();
    context.strokeStyle = colours.isHighContrast ? colours.text : "rgba(0, 0, 0, 0.35)";
    context.beginPath();
    for (let at = x - high; at < x + width; at += 6) {
      context.moveTo(at, middle + high / 2);
      context.lineTo(at + high, middle - high / 2);
    }
    context.stroke();
    context.restore();
  }

  /** Draws the duration and the usage after the bar, or before it if there is no space. */
  private drawFacts(context: CanvasRenderingContext2D, item: Item, right: number, middle: number, now: number, colours: Colours): void {
    const parts = [item.status === "waiting" && item.kind === "session" ? "waiting" : durationText(duration(item, now))];
    if (item.attempts.length > 1) parts.push(`${item.attempts.length} attempts`);
    if (item.kind === "condition" || item.kind === "choice") parts.splice(0, 1, item.note?.split(":", 1)[0] ?? "…");
    const text = parts.join(" · ");
    const width = context.measureText(text).width;
    context.fillStyle = item.status === "failed" ? colours.failed : colours.muted;
    if (right + 6 + width <= this.size.width) context.fillText(text, Math.max(6, right + 6), middle + 0.5);
    else {
      const left = this.x(item.from);
      if (left - 6 - width > 0) context.fillText(text, left - 6 - width, middle + 0.5);
    }
  }

  private readColours(): Colours {
    if (this.colours !== undefined) return this.colours;
    const style = getComputedStyle(document.body);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
    const contrast = document.body.className;
    return (this.colours = {
      text: colour("text"),
      muted: colour("muted"),
      grid: colour("grid"),
      now: colour("now"),
      complete: colour("complete"),
      failed: colour("failed"),
      running: colour("running"),
      waiting: colour("waiting"),
      skipped: colour("skipped"),
      interrupted: colour("interrupted"),
      frame: colour("frame"),
      selected: colour("selected"),
      hover: colour("hover"),
      isHighContrast: contrast.includes("vscode-high-contrast"),
      font: `11px ${style.fontFamily}`,
    });
  }

  private resized(): void {
    const { clientWidth, clientHeight } = this.scroller;
    const labels = this.column.fitted(clientWidth);
    this.size = { width: Math.max(40, clientWidth - labels), height: clientHeight, labels };
    this.element.style.setProperty("--labels", `${labels}px`);
    this.pane.style.height = `${clientHeight}px`;
    this.events.draw();
  }

  private rowAt(event: MouseEvent): Row | undefined {
    const { top } = this.scroller.getBoundingClientRect();
    return this.list.rows[Math.floor((event.clientY - top + this.scroller.scrollTop) / ROW)];
  }

  private listen(): void {
    const { scroller } = this;
    // What is under the pointer has moved away from it.
    for (const event of ["scroll", "keydown", "pointerdown"]) scroller.addEventListener(event, () => this.hideTip());
    window.addEventListener("blur", () => this.hideTip());
    scroller.addEventListener("scroll", () => {
      // The scroll position that the view set itself is already drawn.
      if (Math.abs(scroller.scrollTop - this.scrolledTo) < 1) return;
      if (Math.abs(scroller.scrollTop - this.scrolledTo) > ROW) this.events.leave();
      this.scrolledTo = scroller.scrollTop;
      this.events.draw();
    });
    scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    scroller.addEventListener("keydown", (event) => this.key(event));
    scroller.addEventListener("click", (event) => this.click(event));
    scroller.addEventListener("dblclick", (event) => {
      const row = this.rowAt(event);
      if (row !== undefined) this.events.open(row.item);
    });
    scroller.addEventListener("mousemove", (event) => this.hover(event));
    scroller.addEventListener("mouseleave", () => this.hover(undefined));
    // The pointer leaves a page without a last event of the element under it.
    document.documentElement.addEventListener("mouseleave", () => this.hover(undefined));
    scroller.addEventListener("focus", () => {
      const first = this.list.rows[0];
      if (this.active < 0 && first !== undefined) this.choose(first);
    });
  }

  private wheel(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) {
      const { left } = this.canvas.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - left) / this.size.width));
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.shown.from + share * (this.shown.to - this.shown.from));
      event.preventDefault();
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.pan((event.deltaX || event.deltaY) / this.size.width);
      event.preventDefault();
    }
  }

  private click(event: MouseEvent): void {
    const row = this.rowAt(event);
    if (row === undefined) return;
    const onTwistie = (event.target as Element).closest(".twistie") !== null;
    if (onTwistie && row.hasChildren) this.toggle(row.item.id);
    this.choose(row);
    if (!onTwistie) this.events.reveal(row.item, true);
  }

  private toggle(id: number): void {
    const toggled = id < 0 ? this.expanded : this.collapsed;
    if (!toggled.delete(id)) toggled.add(id);
    this.listed = "";
    this.events.draw();
  }

  private choose(row: Row): void {
    this.active = row.item.id;
    this.scrollTo(row.item.id);
    this.events.select(row.item);
    this.events.draw();
  }

  private key(event: KeyboardEvent): void {
    const index = this.list.rows.findIndex(({ item, outer }) => item.id === this.active || outer.id === this.active);
    const row = this.list.rows[index];
    const page = Math.max(1, Math.floor(this.size.height / ROW) - 1);
    const go = (to: number): void => {
      const target = this.list.rows[Math.min(this.list.rows.length - 1, Math.max(0, to))];
      this.events.leave();
      if (target !== undefined) this.choose(target);
    };
    const handled = ((): boolean => {
      if (event.altKey && event.key === "ArrowLeft") return this.pan(-0.2), true;
      if (event.altKey && event.key === "ArrowRight") return this.pan(0.2), true;
      switch (event.key) {
        case "ArrowDown":
          return go(index + 1), true;
        case "ArrowUp":
          return go(index - 1), true;
        case "PageDown":
          return go(index + page), true;
        case "PageUp":
          return go(index - page), true;
        case "Home":
          return go(0), true;
        case "End":
          return go(this.list.rows.length - 1), true;
        case "ArrowRight":
          if (row?.hasChildren && !row.isExpanded) this.toggle(row.item.id);
          else if (row?.isExpanded) go(index + 1);
          return true;
        case "ArrowLeft":
          if (row?.isExpanded) this.toggle(row.item.id);
          else if (row !== undefined) go(this.list.rows.findLastIndex(({ depth }, at) => at < index && depth < row.depth));
          return true;
        case "Enter":
          if (row !== undefined) this.events.reveal(row.item, false);
          return true;
        case " ":
          if (row !== undefined) this.events.open(row.item);
          return true;
        case "+":
        case "=":
          return this.zoom(0.7), true;
        case "-":
          return this.zoom(1 / 0.7), true;
        case "0":
          return this.fit(), true;
        default:
          return false;
      }
    })();
    if (handled) event.preventDefault();
  }

  private hideTip(): void {
    this.tip.hidden = true;
  }

  private hover(event: MouseEvent | undefined): void {
    const row = event === undefined ? undefined : this.rowAt(event);
    const id = row?.item.id ?? -1;
    if (id !== this.hovered) {
      this.hovered = id;
      this.events.draw();
    }
    this.tip.hidden = row === undefined;
    if (row === undefined || event === undefined) return;
    const line = row.item.site === undefined ? undefined : this.model?.lineOf(row.item.site);
    this.tip.replaceChildren(...tipOf(row, this.model?.now ?? 0, line));
    const bounds = this.element.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.tip;
    const x = Math.min(event.clientX - bounds.left + 14, bounds.width - offsetWidth - 6);
    const below = event.clientY - bounds.top + 18;
    const y = below + offsetHeight > bounds.height ? below - offsetHeight - 30 : below;
    this.tip.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(2, y)}px)`;
  }
}

function detailOf(item: Item, now: number): string {
  if (item.kind === "session") {
    const denied = denialsOf(item).length;
    return [item.agent, activityText(item.activity, now), denied > 0 && `${denied} denied`].filter(Boolean).join(" · ");
  }
  const { total, complete, failed } = item.sessions;
  const sessions = total > 1 ? `${complete + failed}/${total}` : "";
  return [item.detail, sessions].filter(Boolean).join(" · ");
}

function tipOf({ item, prefix }: Row, now: number, line: string | undefined): Node[] {
  const facts: [string, string | undefined][] = [
    ["agent", item.agent],
    ["model", item.model],
    ["state", STATUS_WORDS[item.status]],
    ["took", durationText(duration(item, now))],
  ];
  const queued = item.attempts[0]?.began;
  if (queued !== undefined) facts.push(["waited", durationText(queued - item.from)]);
  for (const idle of idleTextsOf(item, now)) facts.push(["idle", idle]);
  if (item.attempts.length > 1) facts.push(["attempts", String(item.attempts.length)]);
  const doing = activityText(item.activity, now);
  if (doing !== "") facts.push(["now", doing]);
  const calls = callsText(item);
  if (calls !== "") facts.push(["used", calls]);
  if (item.usage !== undefined) facts.push(["used", usageText(item.usage)]);
  for (const denial of denialsOf(item).slice(0, 5)) facts.push(["denied", denialText(denial)]);
  const { total, complete, failed, running } = item.sessions;
  if (item.kind !== "session" && total > 0) {
    const parts = [`${complete} done`, running > 0 && `${running} running`, failed > 0 && `${failed} failed`];
    facts.push(["sessions", `${total}: ${parts.filter(Boolean).join(", ")}`]);
  }
  facts.push(["at", line]);
  const list = element("dl");
  for (const [name, value] of facts) {
    if (value) list.append(element("dt", "", name), element("dd", "", value));
  }
  const title = element("strong", "", prefix === "" ? item.label || item.kind : `${prefix}: ${item.label}`);
  const note = item.error ?? item.note;
  return note === undefined || note === "" ? [title, list] : [title, list, element("p", item.error === undefined ? "" : "error", note)];
}

function rounded(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, radius: number): void {
  context.beginPath();
  context.roundRect(x, y, width, height, Math.min(radius, width / 2));
}
