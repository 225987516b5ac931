// Explains a program on a page, which the server makes from the program alone.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { errorText } from "./error-text";

const SCHEME = "prose-description";

/** The result of `prose/describe`. */
interface Description {
  text: string;
}

/** Registers the documents and the command. */
export function descriptions(client: () => LanguageClient | undefined): vscode.Disposable[] {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  return [
    changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: async ({ query }) => {
        const answer = await client()?.sendRequest<Description | null>("prose/describe", { textDocument: { uri: query } });
        return answer?.text ?? "There is no program to explain.\n";
      },
    }),
    vscode.commands.registerCommand("prose.explainProgram", async () => {
      const document = vscode.window.activeTextEditor?.document;
      if (document?.languageId !== "prose") {
        void vscode.window.showErrorMessage("Open the program to explain first.");
        return;
      }
      const name = document.uri.path.split("/").at(-1) ?? "";
      const page = vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md`, query: document.uri.toString() });
      try {
        // A page that was shown before is made again.
        changed.fire(page);
        await vscode.workspace.openTextDocument(page);
        await vscode.commands.executeCommand("markdown.showPreviewToSide", page);
      } catch (error) {
        void vscode.window.showErrorMessage(errorText(error));
      }
    }),
  ];
}
