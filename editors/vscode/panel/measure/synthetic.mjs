// A run that nobody ran: as many sessions as one likes, some of which wait, fail and are tried again.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const START = Date.UTC(2026, 0, 15, 14, 30, 52);

/** The program of the run, and where its statements stand. */
function program(count) {
  const lines = [
    `let items = session "Find ${count} sources"`,
    `parallel for item in items:`,
    `  let notes = session: reader`,
    `    prompt: "Read {item}"`,
    `  session: critic`,
    `    prompt: "Judge {notes}"`,
    `loop until **the report is good** (max: 4):`,
    `  session: writer`,
    `    prompt: "Improve the report"`,
    `output report = session "Sum up"`,
  ];
  const text = lines.join("\n") + "\n";
  const starts = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  const site = (first, last) => ({
    start: starts[first - 1] + lines[first - 1].search(/\S/),
    end: starts[last - 1] + lines[last - 1].length,
    line: first,
    last_line: last,
  });
  return { text, site };
}

/** The flow of the program, as the server would tell it, in a simpler layout. */
export function graph(count) {
  const { site } = program(count);
  const node = (kind, label, detail, name, parent, first, last) => {
    const { start, end } = site(first, last);
    const range = { start: { line: first - 1, character: 0 }, end: { line: last - 1, character: 80 } };
    return { kind, label, detail, name, parent, range, bytes: [start, end] };
  };
  const nodes = [
    node("session", "session", `Find ${count} sources`, "items", null, 1, 1),
    node("parallel-loop", "parallel for item in items", null, null, null, 2, 6),
    node("session", "reader", "Read {item}", "notes", 1, 3, 4),
    node("session", "critic", "Judge {notes}", null, 1, 5, 6),
    node("loop", "loop until **the report is good** (max: 4)", null, null, null, 7, 9),
    node("session", "writer", "Improve the report", null, 4, 8, 9),
    node("output", "session", "Sum up", "report", null, 10, 10),
  ];
  const heights = [44, 176, 44, 44, 110, 44, 44];
  let y = 16;
  nodes.forEach((placed, index) => {
    const isFrame = index === 1 || index === 4;
    const isInside = placed.parent !== null;
    placed.box = { x: isInside ? 60 : 16, y, width: isInside ? 212 : 300, height: heights[index], isFrame };
    placed.sign = "M1.5 2.5h9v6h-5l-2.5 2v-2h-1.5z";
    // What is in a frame starts below its label, and what follows a frame below its end.
    y += isFrame ? 48 : heights[index] + (index === 3 || index === 5 ? 38 : 22);
  });
  const edges = [[0, 1, "next"], [1, 2, "enter"], [2, 3, "next"], [1, 4, "next"], [4, 5, "enter"], [5, 4, "again"], [4, 6, "next"]];
  const path = (from, to) => `M166 ${nodes[from].box.y + nodes[from].box.height}V${nodes[to].box.y}`;
  return { nodes, edges: edges.map(([from, to, kind]) => ({ from, to, kind, path: path(from, to) })), width: 332, height: y };
}

/** What events have that no view shows. */
const OTHERS = {
  "run-started": {
    version: 2, sha256: "", imports: [], state: "filesystem", seed: 0, context_by_reference: true, agents_write: false, max_iterations: 100,
    backoff_ms: 0, backoff_cap_ms: 0,
  },
  "session-ended": { error: null },
  "parallel-started": { policy: "fail-fast" },
  "branch-ended": { value: null },
  effect: { effect: "session", fingerprint: "" },
};

/** What the server sends of a run with these events: a delta for each. */
export function deltas(events) {
  const whole = events.map(({ error, task, ...event }) => ({
    ...OTHERS[event.event],
    ...event,
    ...(error && { error: { kind: "session", ...error } }),
    ...(task && { task: { prompt: task.task, binding: { name: "a", kind: "let", path: "bindings/a.md", source: "" }, ...task } }),
  }));
  const input = whole.map((event) => JSON.stringify(event)).join("\n");
  const options = { cwd: fileURLToPath(new URL("../../../..", import.meta.url)), input, maxBuffer: 1 << 30, stdio: ["pipe", "pipe", "inherit"] };
  const output = execFileSync("cargo", ["run", "--quiet", "--package", "prose-view", "--example", "deltas"], options);
  return String(output).trim().split("\n").map((line) => JSON.parse(line));
}

/** The events of a run with so many sessions, so many of them at the same time, each about so many milliseconds long. */
export function events({ sessions, atOnce = 64, each = 400, start = START }) {
  const { site } = program(sessions);
  const told = [];
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const say = (at, place, event, others = {}, where) => told.push({ at: Math.round(at), place, event, ...(where && { site: where }), ...others });
  let request = 0;
  const usage = () => ({ input_tokens: Math.round(800 + 4000 * random()), output_tokens: Math.round(200 + 900 * random()), cost: 0.004 + 0.03 * random() });
  // What is asked for before an agent is free waits for one.
  const session = (at, place, where, task, asked = at) => {
    const took = each * (0.4 + 1.2 * random());
    const id = ++request;
    const waited = at > asked ? { began: Math.round(at) } : {};
    say(asked, place, "session-started", { request: id, task: { task: task.task, agent: task.agent, attempt: task.attempt ?? 0, retries: 2 } }, where);
    if (at > asked) {
      say(asked, "", "queued", { request: id });
      say(at, "", "begun", { request: id });
    }
    const fails = task.fails ?? false;
    if (!fails) say(at + took, place, "effect", { request: id, ...waited, outcome: { reply: { text: `What ${task.task} came to, in a sentence or two.`, usage: usage() } } }, where);
    say(at + took, place, "session-ended", { request: id, status: fails ? "failed" : "complete", error: fails ? { message: "the agent did not answer in time" } : null }, where);
    return at + took;
  };
  const statement = (from, place, where, kind, body) => {
    say(from, place, "statement-started", { kind, source: "", number: null }, where);
    const end = body(from);
    say(end, place, "statement-ended", { status: "complete", error: null }, where);
    return end;
  };
  say(start, "", "run-started", { run: "20260115-143052-a7b3c9", program: "survey.prose", from: "/survey.prose", harness: "claude", inputs: [] });
  let now = statement(start, "s0", site(1, 1), "binding", (at) => session(at, "s0/1", site(1, 1), { task: `Find ${sessions} sources` }));

  // Two sessions in each branch, one behind the other, so many branches at the same time.
  const branches = Math.max(1, Math.floor((sessions - 5) / 2));
  now = statement(now, "s1", site(2, 6), "parallel", (from) => {
    say(from, "s1", "parallel-started", { branches: Array.from({ length: branches }, (_, index) => `iteration ${index + 1}`), strategy: "all", count: branches, is_loop: true }, site(2, 6));
    const free = Array.from({ length: Math.min(atOnce, branches) }, () => from);
    let end = from;
    for (let index = 0; index < branches; index++) {
      const slot = free.indexOf(Math.min(...free));
      const place = `s1/i${index}`;
      let at = free[slot];
      say(from, place, "branch-started", { index, name: `iteration ${index + 1}` }, site(2, 6));
      at = statement(from, `${place}/1`, site(3, 4), "binding", (asked) => {
        if (index % 37 !== 11) return session(at, `${place}/1/2`, site(3, 4), { agent: "reader", task: `Read source ${index + 1}` }, asked);
        const failed = session(at, `${place}/1/2`, site(3, 4), { agent: "reader", task: `Read source ${index + 1}`, fails: true }, asked);
        say(failed, `${place}/1/2/a1`, "retrying", { attempt: 1, retries: 2, delay_ms: each / 3, error: { message: "the agent did not answer in time" } }, site(3, 4));
        return session(failed + each / 3, `${place}/1/2/a1`, site(3, 4), { agent: "reader", task: `Read source ${index + 1}`, attempt: 1 });
      });
      at = statement(at, `${place}/3`, site(5, 6), "session", (at) => session(at, `${place}/3`, site(5, 6), { agent: "critic", task: `Judge what source ${index + 1} says` }));
      say(at, place, "branch-ended", { index, name: `iteration ${index + 1}`, status: "complete" }, site(2, 6));
      free[slot] = at;
      end = Math.max(end, at);
    }
    say(end, "s1", "parallel-ended", { bound: [], failures: [], status: "complete" }, site(2, 6));
    return end;
  });
  now = statement(now, "s2", site(7, 9), "loop", (from) => {
    let at = from;
    say(at, "s2", "loop-started", { kind: "until", header: "**the report is good**", max: 4 }, site(7, 9));
    for (let number = 0; number <= 3; number++) {
      const place = `s2/i${number}`;
      say(at, `${place}/c`, "condition-asked", { request: ++request, text: "the report is good", of: "loop" }, site(7, 9));
      at += each / 4;
      say(at, `${place}/c`, "condition-judged", { met: number === 3, reason: number === 3 ? "nothing is missing" : "two sources are missing", of: "loop" }, site(7, 9));
      if (number === 3) break;
      say(at, "s2", "iteration-started", { number: number + 1, max: 4 }, site(7, 9));
      at = statement(at, `${place}/1`, site(8, 9), "session", (at) => session(at, `${place}/1`, site(8, 9), { agent: "writer", task: "Improve the report" }));
    }
    say(at, "s2", "loop-ended", { why: "satisfied", iterations: 3 }, site(7, 9));
    return at;
  });
  now = statement(now, "s3", site(10, 10), "output", (at) => session(at, "s3/1", site(10, 10), { task: "Sum up" }));
  say(now, "", "run-ended", { status: "completed", sessions: request, error: null, outputs: [], value: null });
  // They were written down thread by thread, and happen in the order of the time.
  const ordered = told.map((event, index) => ({ event, index }));
  ordered.sort((a, b) => a.event.at - b.event.at || a.index - b.index);
  return ordered.map(({ event }, index) => ({ seq: index + 1, ...event }));
}
