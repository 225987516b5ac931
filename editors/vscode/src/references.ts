// The references that a code lens counts.

import * as vscode from "vscode";

interface Position {
  line: number;
  character: number;
}

/** The argument of the command of a lens, as the server sends it. */
interface References {
  uri: string;
  position: Position;
  locations: { uri: string; range: { start: Position; end: Position } }[];
}

/** Shows references next to the name that they refer to. */
export async function showReferences({ uri, position, locations }: References): Promise<void> {
  const place = ({ line, character }: Position) => new vscode.Position(line, character);
  const shown = locations.map(
    ({ uri, range }) => new vscode.Location(vscode.Uri.parse(uri), new vscode.Range(place(range.start), place(range.end))),
  );
  await vscode.commands.executeCommand("editor.action.showReferences", vscode.Uri.parse(uri), place(position), shown);
}
