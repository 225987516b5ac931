// Links that have a whole program in them, after the `#`, which browsers do not send to servers.

import { checkedProgram, MAX_SIZE, type Program, programOf } from "./program";

/** The format of links, which may change; old links stay readable. */
const FORMAT = "#1.";
const TEXT = "#text=";

/** What a text is at most as JSON, where each character may need an escape of six. */
const MAX_JSON = 6 * MAX_SIZE;

/** The part of a link from the `#` on. */
export async function fragmentOf(program: Program): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(program));
  const packed = await read(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw")), Infinity);
  return FORMAT + base64url(packed);
}

/** The program of a link; undefined if it has none. Throws an error with a message for the user. */
export async function programIn(fragment: string): Promise<Program | undefined> {
  if (fragment === "" || fragment === "#") return undefined;
  try {
    if (fragment.startsWith(TEXT)) {
      const text = decodeURIComponent(fragment.slice(TEXT.length));
      return checkedProgram(programOf(text));
    }
    if (fragment.startsWith(FORMAT)) {
      const packed = bytesOf(fragment.slice(FORMAT.length));
      const unpacked = await read(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")), MAX_JSON);
      return checkedProgram(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(unpacked)));
    }
  } catch (error) {
    throw new Error(`the link has no program that can be read: ${reason(error)}`);
  }
  throw new Error("the link has no program that can be read: its format is unknown");
}

/** The program's own messages say more than those of the browser about data that is broken. */
function reason(error: unknown): string {
  const isOwn = error instanceof Error && error.constructor === Error;
  return isOwn ? error.message : "it is damaged, or only a part of it was copied";
}

async function read(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    // A few bytes can stand for any number of them.
    if (size > most) {
      void reader.cancel();
      throw new Error("the program is larger than 1 MiB");
    }
    parts.push(new Uint8Array(value));
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]+$/.test(text)) throw new Error("it has characters that no link has");
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}
