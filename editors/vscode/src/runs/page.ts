// The pages of panels. Each loads its own script and the style, and nothing from the network.

import * as vscode from "vscode";

/** A page of the extension. */
interface Page<Message> {
  /** The id of its kind. */
  readonly kind: string;
  readonly title: string;
  /** The name of its script. */
  readonly script: string;
  readonly keepsFocus: boolean;
  readonly receive: (message: Message) => void;
  /** Called when the page is hidden: it is discarded, and reports when it is loaded again. */
  readonly hidden: () => void;
  readonly closed: () => void;
}

/** Opens a page beside the editor. */
export function openPage<Message>(dist: vscode.Uri, page: Page<Message>): vscode.WebviewPanel {
  const panel = vscode.window.createWebviewPanel(
    page.kind,
    page.title,
    { viewColumn: vscode.ViewColumn.Beside, preserveFocus: page.keepsFocus },
    { enableScripts: true, enableForms: false, localResourceRoots: [dist] },
  );
  panel.webview.onDidReceiveMessage(page.receive);
  panel.onDidDispose(page.closed);
  panel.onDidChangeViewState(() => {
    if (!panel.visible) page.hidden();
  });
  panel.webview.html = pageOf(panel.webview, dist, page.script, page.title);
  return panel;
}

/** The text of a page with a script of the extension. */
export function pageOf(webview: vscode.Webview, dist: vscode.Uri, script: string, title: string): string {
  const nonce = crypto.randomUUID();
  const code = webview.asWebviewUri(vscode.Uri.joinPath(dist, script));
  const style = webview.asWebviewUri(vscode.Uri.joinPath(dist, "panel-style.css"));
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}';`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<link rel="stylesheet" href="${String(style)}" nonce="${nonce}">
<title>${title}</title>
</head>
<body><script nonce="${nonce}" src="${String(code)}"></script></body>
</html>`;
}
