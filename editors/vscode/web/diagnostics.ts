// Diagnostics of open programs, after a moment without edits.

import * as vscode from "vscode";
import type { Diagnostic, Fix } from "../../playground/src/language";
import type { Restarting } from "../../playground/src/restarting";
import { isProgram, type Programs } from "./programs";
import { editsOf, locationOf, rangeOf } from "./places";

const REST = 150;

const SEVERITIES: Record<Diagnostic["severity"], vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
  hint: vscode.DiagnosticSeverity.Hint,
};

/** A diagnostic with its fixes. */
export class Shown extends vscode.Diagnostic {
  fixes: Fix[] = [];
}

export class Diagnostics implements vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection("prose");
  private readonly subscriptions: vscode.Disposable[];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly language: Restarting,
    private readonly programs: Programs,
  ) {
    this.subscriptions = [
      this.collection,
      programs.onDidChange(() => this.schedule()),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.collection.delete(uri)),
      vscode.languages.registerCodeActionsProvider("prose", { provideCodeActions: (document, _, { diagnostics }) => this.actions(document, diagnostics) }, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), REST);
  }

  private async refresh(): Promise<void> {
    for (const document of vscode.workspace.textDocuments.filter(isProgram)) {
      const { version } = document;
      const found = await this.language.call("diagnostics", { name: this.programs.nameOf(document) });
      // An edit in the meantime asks again.
      if (document.version !== version || document.isClosed) continue;
      this.collection.set(document.uri, await Promise.all(found.map((diagnostic) => this.shown(document, diagnostic))));
    }
  }

  private async shown(document: vscode.TextDocument, diagnostic: Diagnostic): Promise<Shown> {
    const shown = new Shown(rangeOf(document, diagnostic), diagnostic.message, SEVERITIES[diagnostic.severity]);
    shown.source = "prose";
    shown.code = diagnostic.code;
    if (diagnostic.tag !== null) shown.tags = [diagnostic.tag === "unnecessary" ? vscode.DiagnosticTag.Unnecessary : vscode.DiagnosticTag.Deprecated];
    const related = await Promise.all(diagnostic.related.map(async (place) => ({ place, location: await locationOf(this.programs, place) })));
    shown.relatedInformation = related.flatMap(({ place, location }) => (location === undefined ? [] : [new vscode.DiagnosticRelatedInformation(location, place.message)]));
    shown.fixes = diagnostic.fixes;
    return shown;
  }

  /** The editor gives copies of the diagnostics, without what it does not know. */
  private actions(document: vscode.TextDocument, diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
    const known = (this.collection.get(document.uri) ?? []) as readonly Shown[];
    return diagnostics.flatMap((diagnostic) => {
      const shown = known.find(({ code, range }) => code === diagnostic.code && range.isEqual(diagnostic.range));
      return (shown?.fixes ?? []).map(({ title, isSafe, edits }, index) => {
        const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
        action.diagnostics = [diagnostic];
        action.isPreferred = index === 0 && isSafe;
        action.edit = new vscode.WorkspaceEdit();
        action.edit.set(document.uri, editsOf(document, edits));
        return action;
      });
    });
  }
}
