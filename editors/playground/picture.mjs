// Takes the picture of the playground in the documentation, from the page in dist:
//
//   node picture.mjs
import { fileURLToPath } from "node:url";
import { open, start } from "./test/browsers.mjs";

const file = fileURLToPath(new URL("../../docs/pictures/playground.png", import.meta.url));
const PROGRAM = `# Finds out what is known about a topic, and writes it down.

input topic: "What is it about?"

agent writer:
  model: sonnet
  prompt: "You write for people in a hurry."

parallel:
  history = session "What is the history of {topic}?"
  future = session "What comes next for {topic}?"

loop until **the article is short and clear** (max: 3):
  session "Improve the article"

output article = session: writer
  prompt: "Write about {topic}."
  context: { history, future }
`;

const started = await start("chromium");
try {
  const page = await open(started, { program: PROGRAM, height: 760 });
  await page.waitForSelector(".tok-keyword");
  await page.focus(".cm-content");
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
  const answer = await page.waitForSelector(".question input, .question textarea");
  await answer.type("tides");
  await page.click(".question button");
  await page.waitForSelector(".output", { timeout: 60_000 });
  await page.screenshot({ path: file });
} finally {
  await started.close();
}
