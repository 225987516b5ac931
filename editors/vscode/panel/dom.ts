// Small helps with the page.

const SVG = "http://www.w3.org/2000/svg";

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className = "",
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name);
  if (className !== "") created.className = className;
  created.append(...children);
  return created;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Record<string, string | number> = {},
  ...children: Node[]
): SVGElementTagNameMap[K] {
  const created = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, String(value));
  created.append(...children);
  return created;
}

/** The element that a page shows a panel in: the one that is marked for it, or the whole page. */
export function panelOf(page: Document): HTMLElement {
  const found = page.querySelector<HTMLElement>("[data-panel]") ?? page.body;
  found.classList.add("panel");
  return found;
}

// Shapes differ as well as colours, for those who do not see the difference of colours.
const ICONS: Record<string, string> = {
  complete: "M3.2 8.4l3 3 6.6-6.8",
  failed: "M4 4l8 8M12 4l-8 8",
  running: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5",
  waiting: "M8 2.5a5.5 5.5 0 1 0 .01 0M8 5v3.2l2 1.6",
  skipped: "M3.5 8h9",
  interrupted: "M5 5h6v6h-6z",
  idle: "M8 5.5a2.5 2.5 0 1 0 .01 0",
  chevron: "M5.5 3.5l4.5 4.5-4.5 4.5",
  stop: "M4.5 4.5h7v7h-7z",
  paused: "M5.5 4v8M10.5 4v8",
  pause: "M5.5 4v8M10.5 4v8",
  play: "M5 3.5l7.5 4.5-7.5 4.5z",
  again: "M12.6 6.2a5 5 0 1 0 .4 2.6M13 3v3.4h-3.4",
  file: "M4 2.5h5l3 3v8h-8zM9 2.5v3h3",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
  fit: "M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3",
  follow: "M8 2.5v10M4 8.5l4 4 4-4",
  cost: "M8 2v12M11 4.8c-.8-1-5.6-1.400-5.600 1.000 0 2.500 5.300 1.600 5.300 4.200 0 2.500-4.700 2.200-5.900.900",
  close: "M4 4l8 8M12 4l-8 8",
};

/** A picture of 16 by 16 pixels in the colour of its text. */
export function icon(name: string): SVGSVGElement {
  const path = svg("path", { d: ICONS[name] ?? "" });
  return svg("svg", { viewBox: "0 0 16 16", class: `icon icon-${name}`, "aria-hidden": "true" }, path);
}

/** Turns a picture into another one. */
export function setIcon(shown: SVGSVGElement, name: string): void {
  if (shown.dataset.name === name) return;
  shown.dataset.name = name;
  shown.setAttribute("class", `icon icon-${name}`);
  shown.firstElementChild?.setAttribute("d", ICONS[name] ?? "");
}

export function setText(shown: Element, text: string): void {
  if (shown.textContent !== text) shown.textContent = text;
}

export function button(name: string, title: string, press: () => void): HTMLButtonElement {
  const created = element("button", "", icon(name));
  created.type = "button";
  created.title = title;
  created.setAttribute("aria-label", title);
  created.addEventListener("click", press);
  return created;
}

/** Makes a toolbar one stop of the Tab key: the arrow keys, Home and End lead to its buttons. */
export function roving(toolbar: HTMLElement): void {
  const buttons = (): HTMLButtonElement[] => [...toolbar.querySelectorAll("button")].filter((button) => button.offsetParent !== null);
  const stop = (chosen: HTMLButtonElement | undefined): void => {
    for (const button of toolbar.querySelectorAll("button")) button.tabIndex = button === chosen ? 0 : -1;
  };
  // What is hidden cannot be the stop.
  const check = (): void => {
    const shown = buttons();
    if (!shown.some(({ tabIndex }) => tabIndex === 0)) stop(shown[0]);
  };
  toolbar.addEventListener("focusin", ({ target }) => stop(target as HTMLButtonElement));
  toolbar.addEventListener("keydown", (event) => {
    const shown = buttons();
    const index = shown.indexOf(event.target as HTMLButtonElement);
    const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: shown.length - 1 }[event.key];
    if (next === undefined || index < 0) return;
    shown[(next + shown.length) % shown.length]?.focus();
    event.preventDefault();
  });
  new MutationObserver(check).observe(toolbar, { subtree: true, childList: true, attributes: true, attributeFilter: ["hidden"] });
  requestAnimationFrame(check);
}
