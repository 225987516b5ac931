// The column of labels: the line at its right edge changes its width, with the pointer or the keyboard.

import { element } from "./dom";

const MIN = 90;
/** The minimum width of the times next to it. */
const REST = 80;
const STEP = 16;

export class Column {
  readonly element = element("div", "column-edge");
  private shown = 0;
  private room = 0;

  /** `width` is the width that the user has chosen before; `changed` receives another one. */
  constructor(
    private width: number | undefined,
    private readonly changed: (width: number) => void,
  ) {
    const edge = this.element;
    edge.tabIndex = 0;
    edge.setAttribute("role", "separator");
    edge.setAttribute("aria-orientation", "vertical");
    edge.setAttribute("aria-label", "Width of the labels");
    edge.addEventListener("pointerdown", (event) => {
      edge.setPointerCapture(event.pointerId);
      const [start, before] = [event.clientX, this.shown];
      edge.onpointermove = (moved) => this.set(before + moved.clientX - start);
      event.preventDefault();
    });
    for (const end of ["pointerup", "pointercancel"]) edge.addEventListener(end, () => (edge.onpointermove = null));
    edge.addEventListener("keydown", (event) => {
      const width = { ArrowLeft: this.shown - STEP, ArrowRight: this.shown + STEP, Home: MIN, End: this.room - REST }[event.key];
      if (width === undefined) return;
      this.set(width);
      event.preventDefault();
    });
    edge.addEventListener("dblclick", () => {
      this.width = undefined;
      this.changed(this.fitted(this.room));
    });
  }

  private set(width: number): void {
    this.width = width;
    this.width = this.fitted(this.room);
    this.changed(this.width);
  }

  /** Its width in a timeline of that width. */
  fitted(room: number): number {
    this.room = room;
    const wanted = this.width ?? Math.min(Math.max(150, room * 0.4), 340);
    const most = Math.max(MIN, room - REST);
    this.shown = Math.round(Math.min(Math.max(MIN, wanted), most));
    this.element.setAttribute("aria-valuemin", String(MIN));
    this.element.setAttribute("aria-valuemax", String(Math.round(most)));
    this.element.setAttribute("aria-valuenow", String(this.shown));
    return this.shown;
  }
}
