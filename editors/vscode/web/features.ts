// What the editor asks about programs.

import * as vscode from "vscode";
import type { Completion, Symbol as ProgramSymbol } from "../../playground/src/language";
import type { Restarting } from "../../playground/src/restarting";
import { editsOf, locationOf, rangeOf } from "./places";
import type { Programs } from "./programs";

/** The characters that the desktop server completes after. */
const TRIGGERS = ["{", ".", ":", '"', "/", " ", "(", "[", ",", "|"];

const TYPES = ["keyword", "class", "function", "namespace", "variable", "parameter", "property", "enumMember", "string", "regexp", "escapeSequence", "number", "operator", "comment"];
const MODIFIERS = ["declaration", "readonly", "modification", "persistent", "unresolved"];
const LEGEND = new vscode.SemanticTokensLegend(TYPES, MODIFIERS);

const COMPLETIONS: Record<Completion["kind"], vscode.CompletionItemKind> = {
  keyword: vscode.CompletionItemKind.Keyword,
  agent: vscode.CompletionItemKind.Class,
  block: vscode.CompletionItemKind.Function,
  program: vscode.CompletionItemKind.Module,
  variable: vscode.CompletionItemKind.Variable,
  parameter: vscode.CompletionItemKind.Variable,
  constant: vscode.CompletionItemKind.Constant,
  property: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.EnumMember,
  field: vscode.CompletionItemKind.Field,
  file: vscode.CompletionItemKind.File,
  snippet: vscode.CompletionItemKind.Snippet,
};

const SYMBOLS: Record<ProgramSymbol["kind"], vscode.SymbolKind> = {
  agent: vscode.SymbolKind.Class,
  block: vscode.SymbolKind.Function,
  import: vscode.SymbolKind.Module,
  input: vscode.SymbolKind.Variable,
  output: vscode.SymbolKind.Field,
  variable: vscode.SymbolKind.Variable,
  constant: vscode.SymbolKind.Constant,
  session: vscode.SymbolKind.Event,
};

export function features(language: Restarting, programs: Programs): vscode.Disposable[] {
  const at = (document: vscode.TextDocument, position: vscode.Position) => ({ name: programs.nameOf(document), offset: document.offsetAt(position) });
  const locations = async (places: Promise<{ name: string; from: number; to: number }[]>): Promise<vscode.Location[]> =>
    (await Promise.all((await places).map((place) => locationOf(programs, place)))).filter((location) => location !== undefined);
  const { languages } = vscode;
  return [
    languages.registerHoverProvider("prose", {
      async provideHover(document, position) {
        const hover = await language.call("hover", at(document, position));
        return hover === null ? undefined : new vscode.Hover(new vscode.MarkdownString(hover.markdown), rangeOf(document, hover));
      },
    }),
    languages.registerCompletionItemProvider(
      "prose",
      {
        async provideCompletionItems(document, position) {
          const found = await language.call("completions", at(document, position));
          return found.map((completion, index) => itemOf(document, completion, index));
        },
      },
      ...TRIGGERS,
    ),
    languages.registerDefinitionProvider("prose", { provideDefinition: (document, position) => locations(language.call("definition", at(document, position))) }),
    languages.registerReferenceProvider("prose", { provideReferences: (document, position) => locations(language.call("references", at(document, position))) }),
    languages.registerRenameProvider("prose", {
      async prepareRename(document, position) {
        const { placeholder, ...span } = await language.call("renameable", at(document, position));
        return { range: rangeOf(document, span), placeholder };
      },
      async provideRenameEdits(document, position, newName) {
        const edit = new vscode.WorkspaceEdit();
        for (const { name, edits } of await language.call("rename", { ...at(document, position), newName })) {
          const uri = programs.uriOf(name);
          if (uri !== undefined) edit.set(uri, editsOf(await vscode.workspace.openTextDocument(uri), edits));
        }
        return edit;
      },
    }),
    languages.registerDocumentSymbolProvider("prose", {
      async provideDocumentSymbols(document) {
        return (await language.call("symbols", { name: programs.nameOf(document) })).map((symbol) => symbolOf(document, symbol));
      },
    }),
    languages.registerDocumentSemanticTokensProvider(
      "prose",
      {
        async provideDocumentSemanticTokens(document) {
          const tokens = new vscode.SemanticTokensBuilder(LEGEND);
          for (const token of await language.call("tokens", { name: programs.nameOf(document) })) tokens.push(rangeOf(document, token), token.type, token.modifiers);
          return tokens.build();
        },
      },
      LEGEND,
    ),
    languages.registerFoldingRangeProvider("prose", {
      async provideFoldingRanges(document) {
        const kinds = { comment: vscode.FoldingRangeKind.Comment, imports: vscode.FoldingRangeKind.Imports, region: vscode.FoldingRangeKind.Region, block: undefined, inside: undefined };
        return (await language.call("folds", { name: programs.nameOf(document) })).map((fold) => {
          const { start, end } = rangeOf(document, fold);
          return new vscode.FoldingRange(start.line, end.line, kinds[fold.kind]);
        });
      },
    }),
    languages.registerDocumentFormattingEditProvider("prose", {
      provideDocumentFormattingEdits: async (document) => editsOf(document, await language.call("format", { name: programs.nameOf(document) })),
    }),
  ];
}

function itemOf(document: vscode.TextDocument, completion: Completion, index: number): vscode.CompletionItem {
  const item = new vscode.CompletionItem(completion.label, COMPLETIONS[completion.kind]);
  item.range = rangeOf(document, completion);
  item.insertText = completion.snippet === null ? completion.insert : new vscode.SnippetString(completion.snippet);
  // The order is that of the module.
  item.sortText = String(index).padStart(6, "0");
  if (completion.filter !== null) item.filterText = completion.filter;
  if (completion.detail !== null) item.detail = completion.detail;
  if (completion.documentation !== null) item.documentation = new vscode.MarkdownString(completion.documentation);
  if (completion.continues) item.command = { title: "Suggest", command: "editor.action.triggerSuggest" };
  return item;
}

function symbolOf(document: vscode.TextDocument, symbol: ProgramSymbol): vscode.DocumentSymbol {
  const shown = new vscode.DocumentSymbol(symbol.name, symbol.detail ?? "", SYMBOLS[symbol.kind], rangeOf(document, symbol), rangeOf(document, symbol.selection));
  shown.children = symbol.children.map((child) => symbolOf(document, child));
  return shown;
}
