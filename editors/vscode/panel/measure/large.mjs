// Measures the panel with a run of many sessions that has ended:
//
//   node panel/measure/large.mjs [SESSIONS]
//
// the time from the message with the run to its first rows, and how long frames take while all groups are open and the rows are scrolled through.
import { chromium } from "playwright-core";
import { html } from "./page.mjs";

const sessions = Number(process.argv[2] ?? 10_000);

/** A run with so many sessions in a parallel loop, as the server sends it. */
function large() {
  const all = { status: "complete", from: 0, to: sessions };
  const nodes = [{ id: 0, kind: "run", label: "many.prose", ...all }, { id: 1, kind: "parallel", parent: 0, label: "parallel for", ...all }];
  for (let index = 0; index < sessions; index += 1) {
    const [id, times] = [2 + 2 * index, { status: index % 97 === 5 ? "failed" : "complete", from: index, to: index + 40 }];
    const counts = { total: 1, running: 0, waiting: 0, complete: 1, failed: 0 };
    nodes.push({ id, kind: "branch", parent: 1, label: `iteration ${index + 1}`, ...times, sessions: counts });
    nodes.push({ id: id + 1, kind: "session", parent: id, label: `Read source ${index + 1}`, agent: "reader", ...times, attempts: [{ request: index + 1, ...times }], sessions: counts });
  }
  return { whole: true, seq: 1, now: sessions, paused: 0, harness: "offline", nodes, statements: [], entries: [] };
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({ viewport: { width: 900, height: 900 } });
  await page.setContent(html());
  // The editor hands the run over; bringing it into the browser is not measured.
  await page.evaluate((delta) => void (window.delta = delta), large());
  const paint = await page.evaluate(() => new Promise((resolve) => {
    const start = performance.now();
    const look = () => (document.querySelector(".row:not([hidden])") === null ? requestAnimationFrame(look) : requestAnimationFrame(() => resolve(performance.now() - start)));
    window.postMessage({ type: "run", run: "r", delta: window.delta, graph: null, can: [] });
    look();
  }));
  // A search for something that every session has shows all of them.
  await page.getByRole("searchbox").fill("source");
  await page.getByText(`${sessions} matches`).waitFor();
  const frames = await page.evaluate(() => new Promise((resolve) => {
    const rows = document.querySelector(".rows");
    const times = [];
    let last = performance.now();
    const step = () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      rows.scrollTop += 180;
      if (times.length < 300) requestAnimationFrame(step);
      else resolve(times.slice(1).sort((a, b) => a - b));
    };
    requestAnimationFrame(step);
  }));
  const at = (share) => frames[Math.floor(share * (frames.length - 1))].toFixed(1);
  console.log(`${sessions} sessions: first paint ${paint.toFixed(0)} ms; frames while scrolling: median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`);
} finally {
  await browser.close();
}
