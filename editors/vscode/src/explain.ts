// Explanations of diagnostic codes: a document for each, from the output of `prose explain`.

import * as vscode from "vscode";
import { errorText } from "./error-text";
import { ask, program } from "./program";

const SCHEME = "prose-explain";

/** A code as `prose explain --output-format json` describes it. */
interface Explanation {
  code: string;
  title: string;
  severity: string;
  lenient_severity: string;
  strict_severity: string;
  explanation: string;
  wrong: string;
  right: string;
}

/** The address of the explanation of a code. */
function placeOf(code: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${code}.md` });
}

/** Links the codes of diagnostics to their explanations. */
export function linkCodes<D extends vscode.Diagnostic>(diagnostics: D[]): D[] {
  for (const diagnostic of diagnostics) {
    const { code } = diagnostic;
    if (typeof code === "string" && /^[EW]\d{3}$/.test(code)) diagnostic.code = { value: code, target: placeOf(code) };
  }
  return diagnostics;
}

/** Registers the documents and the command. */
export function explanations(extension: string): vscode.Disposable[] {
  const explain = (code: string[]) => ask(program(extension).command, ["explain", "--output-format", "json", ...code]);
  return [
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: async (uri) => {
        const code = uri.path.slice(1).replace(/\.md$/, "");
        return asMarkdown(JSON.parse(await explain([code])) as Explanation);
      },
    }),
    vscode.commands.registerCommand("prose.explainCode", async (given?: unknown) => {
      try {
        const code = typeof given === "string" ? given : await pick(JSON.parse(await explain([])) as Explanation[]);
        if (code !== undefined) await vscode.commands.executeCommand("markdown.showPreview", placeOf(code));
      } catch (error) {
        void vscode.window.showErrorMessage(errorText(error));
      }
    }),
  ];
}

/** Lets the user select a code, with the codes of the current line first. */
async function pick(all: Explanation[]): Promise<string | undefined> {
  const here = codesAtCursor();
  const item = ({ code, title, severity }: Explanation) => ({ label: code, description: `${title} (${severity})` });
  const isHere = ({ code }: Explanation) => here.has(code);
  const items: vscode.QuickPickItem[] = all.filter(isHere).map(item);
  if (items.length > 0) items.push({ label: "", kind: vscode.QuickPickItemKind.Separator });
  items.push(...all.filter((explanation) => !isHere(explanation)).map(item));
  const options = { placeHolder: "Select a code", matchOnDescription: true };
  return (await vscode.window.showQuickPick(items, options))?.label;
}

function codesAtCursor(): Set<string> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return new Set();
  const { line } = editor.selection.active;
  const here = vscode.languages
    .getDiagnostics(editor.document.uri)
    .filter(({ range }) => range.start.line <= line && line <= range.end.line);
  return new Set(here.map(({ code }) => String(typeof code === "object" ? code.value : code)));
}

function asMarkdown(code: Explanation): string {
  const { lenient_severity: lenient, strict_severity: strict } = code;
  const severity = lenient === strict ? code.severity : `${lenient}, with the profile \`strict\` ${strict}`;
  const example = (title: string, text: string) => `## ${title}\n\n\`\`\`\`prose\n${text.trimEnd()}\n\`\`\`\`\n`;
  return [
    `# ${code.code}: ${code.title}\n\nSeverity: ${severity}\n\n${code.explanation}\n`,
    example("Wrong", code.wrong),
    example("Right", code.right),
    `Change its level in \`[check.levels]\` of \`prose.toml\`, or ignore it on one line with \`# prose: ignore[${code.code}]\` at the end.\n`,
  ].join("\n");
}
