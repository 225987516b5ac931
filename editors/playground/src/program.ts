// A program as the playground keeps and shares it: its files, and how it is run.

export interface File {
  name: string;
  text: string;
}

export interface Program {
  /** At least one of them is a program; the first one of those is run unless another one is chosen. */
  files: File[];
  harness: "offline" | "script";
  seed: number;
  /** The time of each reply in milliseconds. */
  delay: number;
}

export const MAIN = "main.prose";
export const SCRIPT = "script.toml";

/** What programs have at most, so that a link cannot fill the memory. */
export const MAX_FILES = 50;
export const MAX_SIZE = 1 << 20;
export const MAX_DELAY = 60_000;
const MAX_NAME = 100;

/** How long each reply takes by default, so that one sees a program run. */
export const DELAY = 300;

/** A program of one file. */
export function programOf(text: string): Program {
  return { files: [{ name: MAIN, text }], harness: "offline", seed: 0, delay: DELAY };
}

export function isProgram(name: string): boolean {
  return name.endsWith(".prose");
}

export function isScript(name: string): boolean {
  return name.endsWith(".toml");
}

/** What is wrong with the name of a file; undefined if nothing is. */
export function nameError(name: string): string | undefined {
  if (name === "") return "a file needs a name";
  if (name.length > MAX_NAME) return `a name has at most ${MAX_NAME} characters`;
  if (!isProgram(name) && !isScript(name)) return "a name ends with .prose, or with .toml for a script";
  if (/[\u0000-\u001f\u007f\\:*?"<>|]/.test(name)) return "a name has only letters, digits, spaces, and the signs - _ . /";
  const parts = name.split("/");
  if (parts.some((part) => part === "" || part.startsWith(".") || part.trim() !== part)) return "a name is a relative path, without parts that start with a dot";
  return undefined;
}

/** Reads a program that came from elsewhere. Throws an error with a message for the user. */
export function checkedProgram(value: unknown): Program {
  const { files, harness, seed, delay } = record(value, "the program");
  if (!Array.isArray(files) || files.length === 0) throw new Error("the program has no files");
  if (files.length > MAX_FILES) throw new Error(`the program has more than ${MAX_FILES} files`);
  const read = files.map((file): File => {
    const { name, text } = record(file, "a file");
    if (typeof name !== "string" || typeof text !== "string") throw new Error("a file has no name or no text");
    const error = nameError(name);
    if (error !== undefined) throw new Error(`a file has a name that is not allowed: ${error}`);
    return { name, text };
  });
  if (new Set(read.map(({ name }) => name)).size < read.length) throw new Error("two files have the same name");
  if (!read.some(({ name }) => isProgram(name))) throw new Error("no file ends with .prose");
  if (read.reduce((total, { text }) => total + text.length, 0) > MAX_SIZE) throw new Error("the program is larger than 1 MiB");
  if (harness !== "offline" && harness !== "script") throw new Error("the harness is unknown");
  return { files: read, harness, seed: checkedNumber(seed, Number.MAX_SAFE_INTEGER, "the seed"), delay: checkedNumber(delay, MAX_DELAY, "the delay") };
}

function record(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${name} is not an object`);
  return value as Record<string, unknown>;
}

function checkedNumber(value: unknown, max: number, name: string): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max) throw new Error(`${name} is not a whole number from 0 to ${max}`);
  return value as number;
}
