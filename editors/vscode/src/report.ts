// What helps to find a mistake of the extension or the server, as a text to paste. Nothing here knows the editor.

/** The facts. */
export interface Facts {
  /** Versions and the like, by name. */
  facts: Record<string, string>;
  /** The settings that are not as they come. */
  settings: Record<string, unknown>;
  /** The last lines of the log. */
  log: string[];
}

/** The text. Home folders have the name of a person in them, so they are not named. */
export function report({ facts, settings, log }: Facts, home: string): string {
  const lines = Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`);
  const text = [
    "# OpenProse: debug information\n",
    "Review this text before you share it. It may contain names of files and folders; it does not contain programs or their results.\n",
    `${lines.join("\n")}\n`,
    "## Settings\n",
    `${fenced("json", JSON.stringify(settings, undefined, 2))}\n`,
    "## Last lines of the log\n",
    `${fenced("text", log.join("\n") || "(none)")}\n`,
  ].join("\n");
  return home.length > 1 ? text.replaceAll(home, "~") : text;
}

function fenced(language: string, text: string): string {
  return `\`\`\`\`${language}\n${text}\n\`\`\`\``;
}
