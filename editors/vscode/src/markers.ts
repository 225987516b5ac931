// The markers of conditions, `**` and `***`. The editor inserts the closing marker, but does not overwrite it when the user types it, as it does
// for a single quote or bracket. Independent of the editor.

const CLOSED = /(?<!\*)(\*\*\*?)(?!\*)(?:(?!\*\*).)+\1[:\s(]*$/;

/** The number of surplus marker characters after the cursor, for the texts of the line before and after it. */
export function surplus(before: string, behind: string): number {
  const marker = CLOSED.exec(before)?.[1];
  if (marker === undefined || !behind.startsWith(marker)) return 0;
  // With an odd number, the last one opens a condition, and the text after the cursor closes it.
  const markers = before.match(/\*{2,3}/g)?.length ?? 0;
  return markers % 2 === 0 ? marker.length : 0;
}
