// Maps lines of the program of a run to lines of the edited program, and back.

/** The equal lines of two texts, as pairs of indexes from 0. */
export class LineMap {
  private readonly nowOf = new Map<number, number>();
  private readonly thenOf = new Map<number, number>();

  constructor(then: string, now: string) {
    const [before, after] = [linesOf(then), linesOf(now)];
    let first = 0;
    while (first < before.length && first < after.length && before[first] === after[first]) this.pair(first, first++);
    let [end, endNow] = [before.length, after.length];
    while (end > first && endNow > first && before[end - 1] === after[endNow - 1]) this.pair(--end, --endNow);
    // Inside the edited range, unique lines are matched in order.
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

  /** The current line of a line of the run; undefined if it has changed. */
  now(line: number): number | undefined {
    return this.nowOf.get(line);
  }

  /** The line of the run of a current line; undefined if it has changed. */
  then(line: number): number | undefined {
    return this.thenOf.get(line);
  }
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}
