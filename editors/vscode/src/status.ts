// The language status: the state of the server, fetches of imports, and the harness.

import * as vscode from "vscode";

/** The documents that show the status. */
const PROGRAMS = { language: "prose" };

/** With what a program runs: `prose/harness`. */
export interface Harness {
  harness: string;
  /** Whether a setting of the editor chooses it. */
  isSet: boolean;
  /** What the run needs and is not installed, with the solution. */
  missing: string | null;
}

export class Status implements vscode.Disposable {
  /** Requests the harness of a program from the server; undefined without a server. */
  harnessOf: (program: vscode.Uri) => Promise<Harness | null | undefined> = async () => undefined;
  private readonly server = item("prose.server", "OpenProse Server");
  private readonly imports = item("prose.imports", "OpenProse Imports");
  private readonly harness = item("prose.harness", "OpenProse Harness");

  constructor() {
    // The search for the id alone leads to other settings first.
    this.harness.command = { title: "Change", command: "workbench.action.openSettings", arguments: ["@id:prose.run.harness"] };
    this.settingsChanged();
    this.fetching(undefined);
  }

  dispose(): void {
    for (const shown of [this.server, this.imports, this.harness]) shown.dispose();
  }

  starting(): void {
    this.tell("Starting prose", undefined, vscode.LanguageStatusSeverity.Information);
    this.server.busy = true;
  }

  running(version: string | undefined, where: string): void {
    this.tell(`prose ${version ?? ""}`.trim(), where, vscode.LanguageStatusSeverity.Information);
    this.server.command = { title: "Restart", command: "prose.restartServer" };
  }

  stopped(): void {
    this.tell("prose is not running", undefined, vscode.LanguageStatusSeverity.Warning);
    this.server.command = { title: "Start", command: "prose.restartServer" };
  }

  failed(message: string): void {
    this.tell("prose cannot be started", message, vscode.LanguageStatusSeverity.Error);
    this.server.command = { title: "Show Output", command: "prose.showOutput" };
  }

  private tell(text: string, detail: string | undefined, severity: vscode.LanguageStatusSeverity): void {
    Object.assign(this.server, { text, detail, severity, busy: false });
    // Fetches end with their server.
    this.fetching(undefined);
  }

  /** The program that is being fetched, if any. */
  fetching(what: string | undefined): void {
    const mode = vscode.workspace.getConfiguration("prose.registry").get("fetch", "");
    this.imports.busy = what !== undefined;
    this.imports.text = what === undefined ? "Imports" : "Fetching imports";
    this.imports.detail = what ?? fetchMode(vscode.workspace.isTrusted ? mode : "off");
    this.imports.command = { title: "Pin", command: "prose.lock" };
  }

  /** Shows the current settings. */
  settingsChanged(): void {
    const harness = vscode.workspace.getConfiguration("prose.run").get("harness", "");
    this.harness.text = harness === "" ? "Harness from prose.toml" : `Harness ${harness}`;
    this.harness.detail = harness === "" ? "offline, unless the project sets one" : "set in the editor";
    this.harness.severity = vscode.LanguageStatusSeverity.Information;
    if (!this.imports.busy) this.fetching(undefined);
    void this.programChanged();
  }

  /** Shows with what the active program runs, and warns if an agent is not installed. */
  async programChanged(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId !== "prose") return;
    const found = await this.harnessOf(document.uri).catch(() => undefined);
    // The answer is about a program that is no longer active.
    if (found == null || vscode.window.activeTextEditor?.document !== document) return;
    this.harness.text = `Harness ${found.harness}`;
    this.harness.detail = found.missing ?? (found.isSet ? "set in the editor" : "from prose.toml, or the default");
    this.harness.severity = found.missing === null ? vscode.LanguageStatusSeverity.Information : vscode.LanguageStatusSeverity.Warning;
  }
}

function item(id: string, name: string): vscode.LanguageStatusItem {
  const created = vscode.languages.createLanguageStatusItem(id, PROGRAMS);
  created.name = name;
  return created;
}

function fetchMode(mode: string): string {
  switch (mode) {
    case "automatic":
      return "fetched while you type";
    case "manual":
      return "fetched on request";
    case "off":
      return "never fetched";
    default:
      return "fetched according to prose.toml";
  }
}
