// The prompt of the session, the condition, the choice or the block at the cursor, in a document next to the program that follows cursor and edits.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { errorText } from "./error-text";

const SCHEME = "prose-prompt";
const DOCUMENT = vscode.Uri.from({ scheme: SCHEME, path: "/Prompt.md" });
/** The time without edits and movements of the cursor after which the preview is updated. */
const PAUSE = 150;
const NOTHING = "Move the cursor to a session, a condition, a choice or a block.\n";

/** The result of `prose/prompt`, as far as it is used here. */
interface Preview {
  values: { name: string; value: unknown; from: "given" | "run" | "sample" }[];
  text: string;
}

/** Shows previews of prompts. */
export class PromptPreview implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly disposables: vscode.Disposable[];
  private place: { uri: string; position: vscode.Position } | undefined;
  /** The values that the user has typed, by program. */
  private readonly given = new Map<string, Record<string, string>>();
  private shown: Preview | undefined;
  private text = NOTHING;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly client: () => LanguageClient | undefined) {
    const isProgram = (document: vscode.TextDocument) => document.languageId === "prose";
    this.disposables = [
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.commands.registerCommand("prose.previewPrompt", () => this.show()),
      vscode.commands.registerCommand("prose.setPreviewValue", () => this.setValue()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (isProgram(textEditor.document)) this.follow(textEditor);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.toString() === this.place?.uri) this.updateSoon();
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of this.disposables) disposable.dispose();
  }

  provideTextDocumentContent(): string {
    return this.text;
  }

  /** Opens the preview of the place of the cursor. */
  private async show(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "prose") {
      void vscode.window.showErrorMessage("Open the program first: the preview follows the cursor in it.");
      return;
    }
    this.place = { uri: editor.document.uri.toString(), position: editor.selection.active };
    await this.update();
    const document = await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(DOCUMENT), "markdown");
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
  }

  /** Lets the user type the value of a variable for the preview. */
  private async setValue(): Promise<void> {
    const { place, shown } = this;
    if (place === undefined || shown === undefined || shown.values.length === 0) {
      void vscode.window.showErrorMessage("Open the preview of a prompt that uses variables first.");
      return;
    }
    const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
    const items = shown.values.map(({ name, value }) => ({ label: name, description: text(value), value: text(value) }));
    const picked = await vscode.window.showQuickPick(items, { placeHolder: "The variable to give a value" });
    if (picked === undefined) return;
    const prompt = "An empty text removes the value.";
    const value = await vscode.window.showInputBox({ title: picked.label, prompt, value: picked.value });
    if (value === undefined) return;
    const { [picked.label]: _, ...others } = this.given.get(place.uri) ?? {};
    this.given.set(place.uri, value === "" ? others : { ...others, [picked.label]: value });
    await this.update();
  }

  private get isVisible(): boolean {
    return vscode.window.visibleTextEditors.some(({ document }) => document.uri.scheme === SCHEME);
  }

  private follow(editor: vscode.TextEditor): void {
    if (!this.isVisible) return;
    this.place = { uri: editor.document.uri.toString(), position: editor.selection.active };
    this.updateSoon();
  }

  private updateSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void (this.isVisible && this.update()), PAUSE);
  }

  private async update(): Promise<void> {
    const { place } = this;
    if (place === undefined) return;
    const { line, character } = place.position;
    const params = { textDocument: { uri: place.uri }, position: { line, character }, values: this.given.get(place.uri) ?? {} };
    try {
      const preview = await this.client()?.sendRequest<Preview | null>("prose/prompt", params);
      // The cursor has moved since.
      if (place !== this.place) return;
      this.shown = preview ?? undefined;
      this.text = preview?.text ?? NOTHING;
    } catch (error) {
      if (place !== this.place) return;
      this.shown = undefined;
      this.text = `${errorText(error)}\n`;
    }
    this.changed.fire(DOCUMENT);
  }
}
