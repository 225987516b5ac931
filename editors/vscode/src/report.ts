// Debug information about the extension and the server, as text. Independent of the editor.

/** The content of the report. */
export interface Facts {
  /** Versions and similar facts, by name. */
  facts: Record<string, string>;
  /** The settings that differ from their defaults. */
  settings: Record<string, unknown>;
  /** The last lines of the log. */
  log: string[];
}

/** The report as text. Paths of home folders are replaced, because they contain user names. */
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
