// Plays an agent: answers a prompt with the reply of `replies.json` whose key stands in it, and thinks until there is one. So a
// test decides when which session ends.

import { readFileSync, watch } from "node:fs";
import { text } from "node:stream/consumers";

const prompt = await text(process.stdin);
// The file is replaced as a whole, so it is the folder that tells of it.
const watcher = watch(".", answer);
answer();

function answer() {
  const replies = JSON.parse(readFileSync("replies.json", "utf8"));
  const known = Object.keys(replies).find((part) => prompt.includes(part));
  if (known === undefined) return;
  watcher.close();
  process.stdout.write(replies[known]);
}
