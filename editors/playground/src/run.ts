// A run in the page: its start, its turns and its end, and the panel that shows it.

import { errorText } from "../../vscode/src/error-text";
import type { Ability, FromPanel } from "../../vscode/src/runs/messages";
import { NOTHING, Run, type RunDelta } from "../../vscode/src/runs/run";
import { codeOf, ofRunAlone, sessionAsText } from "../../vscode/src/runs/session";
import { readLog } from "../../vscode/src/runs/agentLog";
import { read } from "./ask";
import type { Client } from "./client";
import { listen, send } from "./host";
import type { RunCommand, RunEnd, RunOptions, Turn } from "./language";
import { markdown } from "./markdown";
import { setHasRun } from "./page";

/** How long a run may take to stop before the language is started again, in milliseconds. */
const PATIENCE = 3000;
/** The interval of reading the details of a session that is open, in milliseconds. */
const CALM = 250;

export type State = "idle" | "running" | "paused";

export interface RunEvents {
  /** What the run does has changed. */
  state(state: State): void;
  questions(open: Turn["questions"]): void;
  /** The run has ended; without an end, it was lost. */
  ended(end: RunEnd | undefined): void;
  /** The run of a program that is not there any more has ended. */
  left(): void;
  /** Show lines of a file. */
  reveal(name: string, first: number, last: number, keepsFocus: boolean): void;
  again(): void;
  say(text: string, isError?: boolean): void;
}

export class Runs {
  private readonly model = new Run();
  /** The names of runs, which the panel tells apart. */
  private count = 0;
  private state: State = "idle";
  /** The program of the shown run. */
  private program: { name: string; text: string } | undefined;
  private isShown = false;
  /** Whether the run only has to stop, since another program is there. */
  private isLeft = false;
  private previewed = "";
  private details: { node: number; requests: number[] } | undefined;
  private detailing: ReturnType<typeof setTimeout> | undefined;
  private stopping: ReturnType<typeof setTimeout> | undefined;
  private readonly waiting: Turn[] = [];

  constructor(
    private readonly client: Client,
    private readonly events: RunEvents,
  ) {
    listen((message) => this.receive(message));
  }

  get isActive(): boolean {
    return this.state !== "idle";
  }

  /** Whether the panel shows a run, also one that has ended. */
  get hasRun(): boolean {
    return this.program !== undefined;
  }

  /** Shows what a program does, until it is run. */
  async preview(name: string): Promise<void> {
    if (this.hasRun) return;
    const graph = await this.client.call("graph", { name }).catch(() => undefined);
    const key = JSON.stringify(graph);
    if (graph === undefined || this.hasRun || key === this.previewed) return;
    this.previewed = key;
    setHasRun(false);
    send({ type: "run", run: "", delta: NOTHING, graph, can: [] });
  }

  /** Forgets the shown run, since another program is there. One that is executed stops, and its result is not shown. */
  leave(): void {
    if (this.isActive) {
      this.isLeft = true;
      this.stop();
      return;
    }
    this.isLeft = false;
    this.program = undefined;
    this.previewed = "";
    this.details = undefined;
  }

  async start(options: RunOptions, text: string): Promise<void> {
    if (this.isActive) return;
    this.become("running");
    try {
      // The flow comes before the first turn, which may take its time.
      const flow = this.client.call("graph", { name: options.name }).catch(() => null);
      await this.client.call("start", options);
      const graph = await flow;
      this.program = { name: options.name, text };
      this.details = undefined;
      this.count++;
      this.isShown = true;
      setHasRun(true);
      this.model.apply(NOTHING);
      send({ type: "run", run: this.id, delta: NOTHING, graph, can: this.can });
      for (const turn of this.waiting.splice(0)) this.turn(turn);
    } catch (error) {
      this.waiting.length = 0;
      this.become("idle");
      throw error;
    }
  }

  turn(turn: Turn): void {
    // The first turn may come before the flow of the program does.
    if (!this.isShown) {
      this.waiting.push(turn);
      return;
    }
    const { delta, questions, end } = turn;
    if (delta !== null) {
      this.model.apply(delta);
      send({ type: "delta", run: this.id, delta });
      this.refreshDetails();
    }
    this.events.questions(end === null ? questions : []);
    if (end !== null) this.end(end);
    else this.become(this.model.pause === undefined ? "running" : "paused");
  }

  /** The language was started again. */
  lost(): void {
    if (!this.isActive) return;
    const whole = this.model.whole();
    const nodes = whole.nodes.map((node) => (node.to === undefined ? { ...node, status: "interrupted" as const, to: whole.now } : node));
    const delta: RunDelta = { ...whole, waits: true, nodes };
    this.model.apply(delta);
    send({ type: "delta", run: this.id, delta });
    this.events.questions([]);
    this.end(undefined);
  }

  async command(command: RunCommand): Promise<void> {
    try {
      await this.client.call("command", command);
    } catch (error) {
      this.events.say(errorText(error), true);
    }
  }

  stop(): void {
    if (!this.isActive) return;
    void this.command({ command: "stop" });
    // A program without end may keep the language from hearing this.
    clearTimeout(this.stopping);
    this.stopping = setTimeout(() => {
      if (!this.isActive) return;
      this.client.restart();
      this.events.say("the run did not stop, and the language module was started again", true);
    }, PATIENCE);
  }

  private get id(): string {
    return String(this.count);
  }

  private get can(): Ability[] {
    return { running: ["cancel", "pause"] as const, paused: ["cancel", "continue"] as const, idle: ["rerun"] as const }[this.state].slice();
  }

  private end(end: RunEnd | undefined): void {
    clearTimeout(this.stopping);
    this.isShown = false;
    this.become("idle");
    if (this.isLeft) {
      this.leave();
      this.events.left();
    } else {
      this.events.ended(end);
    }
  }

  private become(state: State): void {
    if (this.state === state) return;
    this.state = state;
    if (this.program !== undefined) send({ type: "can", can: this.can });
    this.events.state(state);
  }

  private receive(message: FromPanel): void {
    switch (message.type) {
      case "ready":
        return;
      case "reveal": {
        const { program = 0, line, last_line } = message.site;
        // A flow that is shown before a run is that of the shown program.
        const name = program === 0 ? (this.program?.name ?? "") : (this.model.programs.get(program)?.from ?? "");
        return this.events.reveal(name, line, last_line, message.keepsFocus);
      }
      case "details":
        this.details = message.node === null ? undefined : { node: message.node, requests: message.requests };
        return void this.readDetails();
      case "session":
        return void this.readSession(message.requests, message.label);
      case "command":
        if (message.command === "cancel") return this.stop();
        if (message.command === "rerun") return this.events.again();
        if (message.command === "pause" || message.command === "continue") return void this.command({ command: message.command });
        return;
      case "session-command":
        if (message.command === "skip" || message.command === "retry") void this.command({ command: message.command, request: message.request });
        return;
    }
  }

  private refreshDetails(): void {
    if (this.details === undefined || this.detailing !== undefined) return;
    this.detailing = setTimeout(() => {
      this.detailing = undefined;
      void this.readDetails();
    }, CALM);
  }

  private async readDetails(): Promise<void> {
    const { details } = this;
    if (details === undefined) return;
    const { requests } = details;
    const attempts = await this.client.call("sessions", { requests }).catch(() => []);
    if (details !== this.details) return;
    const log = attempts.at(-1)?.log ?? null;
    const code = codeOf(this.model, ofRunAlone(this.program?.text), requests);
    send({ type: "details", details: { requests, attempts, log: log === null ? null : readLog(log), code } });
  }

  private async readSession(requests: number[], label: string): Promise<void> {
    try {
      const attempts = await this.client.call("sessions", { requests });
      // Its title is that of the dialog.
      const text = sessionAsText(attempts).replace(/^# .*\n+/, "");
      read(label || "Session", markdown(text));
    } catch (error) {
      this.events.say(errorText(error), true);
    }
  }
}
