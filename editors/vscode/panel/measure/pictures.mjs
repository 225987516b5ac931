// Takes pictures of the panel:
//
//   node panel/measure/pictures.mjs FOLDER [EVENTS.jsonl GRAPH.json]
//
// at 1, 20 and 2,000 sessions, light, dark and of high contrast, during a run and at its end; or of the run in a file that `prose run --json` wrote.
import { mkdirSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { deltas, events, graph } from "./synthetic.mjs";
import { html } from "./page.mjs";

const [folder = "pictures", recorded, recordedGraph] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

async function picture(name, { theme = "dark", told, flow, share = 1, width = 900, height = 760, act = async () => {} }) {
  const page = await browser.newPage({ viewport: { width, height } });
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.setContent(html(theme));
  const seen = told.slice(0, Math.max(1, Math.floor(told.length * share)));
  const isOver = share === 1;
  // What goes on goes on now.
  const shift = isOver ? 0 : Date.now() - seen.at(-1).at;
  const shown = seen.map((event) => ({ ...event, at: event.at + shift, ...(event.began && { began: event.began + shift }) }));
  await page.evaluate(({ told: [first, ...others], flow, isOver }) => {
    window.postMessage({ type: "run", run: "r", delta: first, graph: flow, can: isOver ? ["rerun", "state"] : ["cancel", "state"] });
    for (const delta of others) window.postMessage({ type: "delta", run: "r", delta });
  }, { told: deltas(shown), flow, isOver });
  await page.waitForTimeout(300);
  await act(page);
  await page.waitForTimeout(100);
  await page.screenshot({ path: `${folder}/${name}.png` });
  await page.close();
}

try {
  if (recorded !== undefined) {
    const told = readFileSync(recorded, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const flow = JSON.parse(readFileSync(recordedGraph, "utf8"));
    await picture("recorded-dark", { told, flow });
    await picture("recorded-light", { told, flow, theme: "light", width: 1400 });
    await picture("recorded-part", { told, flow, share: 0.45, act: (page) => page.locator(".row").nth(5).click() });
  } else {
    for (const theme of ["dark", "light", "high-contrast"]) {
      for (const sessions of [6, 20, 2000]) {
        const [told, flow] = [events({ sessions, each: 4000 }), graph(sessions)];
        await picture(`${sessions}-${theme}`, { theme, told, flow });
        await picture(`${sessions}-${theme}-live`, { theme, told, flow, share: 0.55, width: 1300 });
      }
    }
  }
} finally {
  await browser.close();
}
