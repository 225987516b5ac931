// The playground: an editor of programs with the language, and the panel that shows how they run.

import "./host";
import { errorText } from "../../vscode/src/error-text";
import { note, outcome as outcomePlace, questions as questionsPlace, status, tabs as tabsPlace, text, top } from "./page";
// The panel takes its host and its place when it is loaded.
import "../../vscode/panel/main";

import { confirmed, read } from "./ask";
import { Client, loadModule } from "./client";
import { Editor } from "./editor";
import { EXAMPLES, FIRST, FIRST_SCRIPT } from "./examples";
import { send } from "./host";
import { markdown } from "./markdown";
import { NoteOfProgram } from "./note";
import { Notices } from "./notices";
import { Outcome } from "./outcome";
import { isScript, type Program, programOf, SCRIPT } from "./program";
import { Questions } from "./questions";
import { Runs } from "./run";
import { fragmentOf, programIn } from "./share";
import { StatusLine } from "./status";
import { keep, otherProgram, ownProgram } from "./storage";
import { Tabs } from "./tabs";
import { Toolbar } from "./toolbar";

/** How long changes rest before they are kept, in milliseconds. */
const KEEP = 300;

const notices = new Notices();
const say = (text: string, isError = false): void => notices.say(text, isError);
/** Where the shown program comes from; the user's own one comes from nowhere else. */
let origin: string | undefined;
let isOpening = false;
let hasWarned = false;
let keeping: ReturnType<typeof setTimeout> | undefined;

const client = new Client(loadModule("prose_web.wasm"), {
  turn: (turn) => runs.turn(turn),
  restarted: (why) => {
    runs.lost();
    // A text that stops the language is not checked again before it changes.
    if (why === "asked") editor.refresh();
    else say("the language module has stopped unexpectedly; it was started again", true);
  },
});

const editor = new Editor(client, {
  changed: () => {
    toolbar.setFiles(editor.files.names);
    tabs.draw();
    changed();
  },
  shown: () => tabs.draw(),
  moved: (line) => {
    if (editor.files.shown === toolbar.chosen) send({ type: "cursor", line });
    else send({ type: "cursor", line: null });
  },
  checked: (found) => {
    statusLine.show(found);
    void runs.preview(toolbar.chosen);
  },
  explain: (code) => void explain(code),
  run: () => void run(),
  say,
});
text.append(editor.files.view.dom);

const statusLine = new StatusLine(status, editor.files.view);

const tabs = new Tabs(tabsPlace, text, {
  get names() {
    return editor.files.names;
  },
  get shown() {
    return editor.files.shown;
  },
  text: (name) => editor.files.text(name),
  show: (name) => editor.files.show(name),
  add: (name) => {
    editor.add(name, isScript(name) ? FIRST_SCRIPT : "");
    editor.files.view.focus();
  },
  rename: (name, wanted) => editor.renameFile(name, wanted),
  remove: (name) => editor.remove(name),
});

const toolbar = new Toolbar(top, {
  run: () => void run(),
  stop: () => runs.stop(),
  pause: () => void runs.command({ command: "pause" }),
  continue: () => void runs.command({ command: "continue" }),
  format: () => editor.format(),
  share: () => void share(),
  example: (name) => {
    const example = EXAMPLES[name];
    if (example !== undefined) show(example.program, `example ${name}`, `The example “${example.title}”.`);
  },
  changed,
  scripted: () => {
    if (editor.files.names.some(isScript)) return;
    editor.add(SCRIPT, FIRST_SCRIPT);
    say(`${SCRIPT} has the replies of sessions.`);
  },
});

const outcome = new Outcome(outcomePlace, say);
const questions = new Questions(questionsPlace, async (id, text) => {
  await client.call("answer", { id, text });
});

const runs = new Runs(client, {
  state: (state) => toolbar.show(state),
  questions: (open) => questions.show(open),
  ended: (end) => {
    if (end === undefined) outcome.lost();
    else outcome.show(end);
  },
  left: () => void runs.preview(toolbar.chosen),
  reveal: (name, first, last, keepsFocus) => editor.showLines(name === "" ? toolbar.chosen : fileOf(name), first, last, keepsFocus),
  again: () => void run(),
  say,
});

const origins = new NoteOfProgram(note, {
  back: () => {
    history.replaceState(null, "", location.pathname + location.search);
    show(ownProgram() ?? programOf(FIRST), undefined, "");
    editor.files.view.focus();
  },
  keep: () => {
    const adopt = (): void => {
      origin = undefined;
      history.replaceState(null, "", location.pathname + location.search);
      origins.hide();
      store(true);
      editor.files.view.focus();
    };
    if (ownProgram() === undefined) adopt();
    else confirmed("Replace your own program by this one?", "Replace", adopt);
  },
});

/** Shows another program. A run that is executed ends. */
function show(program: Program, from: string | undefined, about: string): void {
  store();
  runs.leave();
  outcome.clear();
  origin = from;
  const kept = from === undefined ? program : (otherProgram(from) ?? program);
  isOpening = true;
  toolbar.options = kept;
  editor.open(kept.files);
  toolbar.setFiles(editor.files.names);
  tabs.draw();
  isOpening = false;
  clearTimeout(keeping);
  keeping = undefined;
  if (from === undefined) origins.hide();
  else origins.show(about);
}

function current(): Program {
  return { files: editor.files.all(), ...toolbar.options };
}

/** The program, or how it is run, was changed by the user. */
function changed(): void {
  if (isOpening) return;
  clearTimeout(keeping);
  keeping = setTimeout(store, KEEP);
  if (!runs.isActive) void runs.preview(toolbar.chosen);
}

/** Keeps what was changed; with `always`, also what was not. */
function store(always = false): void {
  if (keeping === undefined && !always) return;
  clearTimeout(keeping);
  keeping = undefined;
  if (editor.files.names.length === 0) return;
  if (!keep(current(), origin) && !hasWarned) {
    hasWarned = true;
    say("the browser does not keep the program; copy a link to it before you leave", true);
  }
}

async function run(): Promise<void> {
  if (runs.isActive) return;
  notices.clear();
  outcome.clear();
  const name = toolbar.chosen;
  const { harness, seed, delay } = toolbar.options;
  const script = toolbar.chosenScript;
  try {
    const options = harness === "script" && script !== undefined ? { name, harness, seed, script } : { name, harness, seed, delay };
    await runs.start(options, editor.files.text(name));
  } catch (error) {
    say(errorText(error), true);
    await editor.showFirstMistake(name).catch(() => false);
  }
}

async function share(): Promise<void> {
  const link = new URL(await fragmentOf(current()), location.href).href;
  try {
    await navigator.clipboard.writeText(link);
    say("A link to this program was copied.");
  } catch {
    // Where copying is not allowed, the link is in the address of the page.
    history.replaceState(null, "", link);
    say("The link is in the address of this page.");
  }
}

async function explain(code: string): Promise<void> {
  try {
    read(code, markdown(await client.call("explain", { code })));
  } catch (error) {
    say(errorText(error), true);
  }
}

/** The file that an imported program of a run was read from. */
function fileOf(from: string): string {
  return editor.files.names.find((name) => from === name || from.endsWith(`/${name}`)) ?? from;
}

/** Shows the program of a link, if the address has one. Returns whether it does. */
async function openLink(): Promise<boolean> {
  const { hash } = location;
  try {
    const program = await programIn(hash);
    if (program === undefined) return false;
    show(program, hash, "A program from a link.");
    return true;
  } catch (error) {
    say(errorText(error), true);
    return false;
  }
}

show(ownProgram() ?? programOf(FIRST), undefined, "");
void openLink();
addEventListener("hashchange", () => void openLink());
addEventListener("pagehide", () => store());

// The canvas of the timeline has the colours of the moment in which it is drawn.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.body.classList.toggle("changed"));

client.ready.then(
  () => statusLine.loaded(),
  (error: Error) => {
    statusLine.fail(error.message);
    say(error.message, true);
  },
);
