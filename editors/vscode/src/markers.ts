// The markers of conditions, `**` and `***`. The editor closes them as they are opened, but lets nobody type over what it has put there, as it does
// for a single quote or bracket. Nothing here knows the editor.

const CLOSED = /(?<!\*)(\*\*\*?)(?!\*)(?:(?!\*\*).)+\1[:\s(]*$/;

/** How many characters behind the cursor are markers too many, when these texts stand before and behind it in the line. */
export function surplus(before: string, behind: string): number {
  const marker = CLOSED.exec(before)?.[1];
  if (marker === undefined || !behind.startsWith(marker)) return 0;
  // With an odd number, the last one opens a condition, and what is behind the cursor closes it.
  const markers = before.match(/\*{2,3}/g)?.length ?? 0;
  return markers % 2 === 0 ? marker.length : 0;
}
