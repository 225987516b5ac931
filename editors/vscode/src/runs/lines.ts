// Where the lines of a program are after it was edited, since a run tells of the text that it was started with.

/** The lines of two texts that are the same, as pairs from 0. */
export class LineMap {
  private readonly nowOf = new Map<number, number>();
  private readonly thenOf = new Map<number, number>();

  constructor(then: string, now: string) {
    const [before, after] = [linesOf(then), linesOf(now)];
    let first = 0;
    while (first < before.length && first < after.length && before[first] === after[first]) this.pair(first, first++);
    let [end, endNow] = [before.length, after.length];
    while (end > first && endNow > first && before[end - 1] === after[endNow - 1]) this.pair(--end, --endNow);
    // Between the edited stretch's ends, lines are found again in their order if they are written once only.
    const places = new Map<string, number[]>();
    for (let at = first; at < endNow; at++) places.set(after[at] as string, [...(places.get(after[at] as string) ?? []), at]);
    let last = first - 1;
    for (let at = first; at < end; at++) {
      const next = places.get(before[at] as string)?.find((place) => place > last);
      const isBlank = before[at]?.trim() === "";
      if (next === undefined || isBlank) continue;
      this.pair(at, next);
      last = next;
    }
  }

  private pair(then: number, now: number): void {
    this.nowOf.set(then, now);
    this.thenOf.set(now, then);
  }

  /** Where a line is now; none if it is another one. */
  now(line: number): number | undefined {
    return this.nowOf.get(line);
  }

  /** Where a line was then; none if it was another one. */
  then(line: number): number | undefined {
    return this.thenOf.get(line);
  }
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}
