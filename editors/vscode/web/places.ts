// Places: code units of the module, positions of the editor.

import * as vscode from "vscode";
import type { Edit, Place, Span } from "../../playground/src/language";
import type { Programs } from "./programs";

export function rangeOf(document: vscode.TextDocument, { from, to }: Span): vscode.Range {
  return new vscode.Range(document.positionAt(from), document.positionAt(to));
}

export function editsOf(document: vscode.TextDocument, edits: Edit[]): vscode.TextEdit[] {
  return edits.map((edit) => vscode.TextEdit.replace(rangeOf(document, edit), edit.insert));
}

/** The location of a part of a file, whose document may not be open; none if the workspace does not have it. */
export async function locationOf(programs: Programs, place: Place): Promise<vscode.Location | undefined> {
  const uri = programs.uriOf(place.name);
  if (uri === undefined) return undefined;
  return new vscode.Location(uri, rangeOf(await vscode.workspace.openTextDocument(uri), place));
}
