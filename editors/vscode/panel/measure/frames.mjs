// Measures how long frames of the panel take while a run goes on in it:
//
//   node panel/measure/frames.mjs [SESSIONS] [SECONDS]
//
// What changes comes as the language server sends it, every 16 milliseconds. A frame is the time from one callback of the browser for an
// animation to the next one; empty are those of a page with nothing on it, before; work is the part of it that the main thread was busy in tasks of the page.
import { chromium } from "playwright-core";
import { deltas, events, graph } from "./synthetic.mjs";
import { html } from "./page.mjs";

const sessions = Number(process.argv[2] ?? 2000);
const seconds = Number(process.argv[3] ?? 20);
/** When the run starts: when the page and what it is sent are ready. */
const begin = Date.now() + 20_000;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const failed = [];
  page.on("pageerror", (error) => failed.push(error));
  const idle = await page.evaluate(nothing, 5);
  await page.setContent(html("dark"));
  const result = await page.evaluate(play, { told: stretched(events({ sessions, atOnce: 64, each: 400 })), graph: graph(sessions), begin });
  if (failed.length > 0) throw failed[0];
  const { frames, work } = result;
  console.log(`${sessions} sessions, ${result.deltas} events in ${seconds} s, ${frames.length} frames of ${result.rows} rows`);
  console.log(`empty  ${summary(idle)}`);
  console.log(`frame  ${summary(frames)}`);
  console.log(`work   ${summary(work)}`);
  if (percentile(frames, 0.95) > 50) {
    console.error("the 95th percentile of the frames is over 50 ms");
    process.exitCode = 1;
  }
} finally {
  await browser.close();
}

// Every event comes at its share of the time. The clock of the run is that of the page, so that bars grow as they do in a run.
function stretched(told) {
  const first = told[0].at;
  const share = (seconds * 1000) / (told.at(-1).at - first);
  const moved = (at) => Math.round(begin + (at - first) * share);
  return deltas(told.map((event) => ({ ...event, at: moved(event.at), ...(event.began && { began: moved(event.began) }) })));
}

function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function summary(values) {
  const shown = [["p50", 0.5], ["p95", 0.95], ["p99", 0.99], ["max", 1]];
  return shown.map(([name, share]) => `${name} ${percentile(values, share).toFixed(1)} ms`).join("  ");
}

// In a page with nothing on it: the frames that this machine gives now, whatever is drawn.
async function nothing(seconds) {
  const frames = [];
  const end = performance.now() + seconds * 1000;
  let last = performance.now();
  while (last < end) {
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  return frames;
}

// In the page. A person scrolls and moves the mouse meanwhile.
async function play({ told, graph, begin }) {
  await new Promise((resolve) => setTimeout(resolve, begin - Date.now()));
  window.postMessage({ type: "run", run: "r", delta: told[0], graph, can: ["cancel"] });
  let next = 1;
  const frames = [];
  const work = [];
  await new Promise((resolve) => {
    const send = () => {
      while (next < told.length && told[next].now <= Date.now()) window.postMessage({ type: "delta", run: "r", delta: told[next++] });
      if (next < told.length) setTimeout(send, 16);
      else setTimeout(resolve, 200);
    };
    let last = performance.now();
    let count = 0;
    const frame = (now) => {
      frames.push(now - last);
      last = now;
      const scroller = document.querySelector(".rows");
      if (count++ % 120 === 60) scroller.scrollTop += 400;
      if (count % 7 === 0) scroller.dispatchEvent(new MouseEvent("mousemove", { clientX: 300 + (count % 400), clientY: 120 + (count % 300), bubbles: true }));
      // Behind what the panel does in the same frame.
      const start = performance.now();
      const channel = new MessageChannel();
      channel.port1.onmessage = () => work.push(performance.now() - start);
      channel.port2.postMessage(0);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    send();
  });
  const rows = Math.round(document.querySelector(".sizer").offsetHeight / 24);
  return { frames: frames.slice(1), work, deltas: told.length, rows };
}
