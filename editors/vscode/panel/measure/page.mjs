// The panel on a page of its own, as the editor would show it, in the colours of the editor's own themes.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));

// The parts of the built-in themes that the panel looks at.
const THEMES = {
  dark: {
    "editor-background": "#1f1f1f", "editor-foreground": "#cccccc", descriptionForeground: "#9d9d9d", "panel-border": "#2b2b2b", focusBorder: "#0078d4",
    "editorIndentGuide-background1": "#404040", "charts-green": "#89d185", "charts-red": "#f14c4c", "charts-blue": "#3794ff", "charts-yellow": "#cca700",
    "charts-orange": "#d18616", "charts-purple": "#b180d7", disabledForeground: "#cccccc80", "list-inactiveSelectionBackground": "#37373d",
    "list-activeSelectionBackground": "#04395e", "list-activeSelectionForeground": "#ffffff", "list-hoverBackground": "#2a2d2e", "tree-inactiveIndentGuidesStroke": "#58585866",
    "icon-foreground": "#cccccc", "toolbar-hoverBackground": "#5a5d5e50", "badge-background": "#616161", "badge-foreground": "#f8f8f8", "editorWidget-background": "#202020",
    "inputOption-activeBackground": "#2489db82", "inputOption-activeBorder": "#2488db", "inputOption-activeForeground": "#ffffff", "textLink-foreground": "#4daafc",
    "editorHoverWidget-background": "#202020", "editorHoverWidget-border": "#454545", "symbolIcon-variableForeground": "#75beff", errorForeground: "#f85149",
  },
  light: {
    "editor-background": "#ffffff", "editor-foreground": "#3b3b3b", descriptionForeground: "#3b3b3b", "panel-border": "#e5e5e5", focusBorder: "#005fb8",
    "editorIndentGuide-background1": "#d3d3d3", "charts-green": "#388a34", "charts-red": "#e51400", "charts-blue": "#1a85ff", "charts-yellow": "#bf8803",
    "charts-orange": "#d18616", "charts-purple": "#652d90", disabledForeground: "#61616180", "list-inactiveSelectionBackground": "#e4e6f1",
    "list-activeSelectionBackground": "#e8e8e8", "list-activeSelectionForeground": "#000000", "list-hoverBackground": "#f2f2f2", "tree-inactiveIndentGuidesStroke": "#a9a9a966",
    "icon-foreground": "#3b3b3b", "toolbar-hoverBackground": "#b8b8b850", "badge-background": "#cccccc", "badge-foreground": "#3b3b3b", "editorWidget-background": "#f8f8f8",
    "inputOption-activeBackground": "#bed6ed", "inputOption-activeBorder": "#005fb8", "inputOption-activeForeground": "#000000", "textLink-foreground": "#005fb8",
    "editorHoverWidget-background": "#f8f8f8", "editorHoverWidget-border": "#c8c8c8", "symbolIcon-variableForeground": "#007acc", errorForeground: "#f85149",
  },
  "high-contrast": {
    "editor-background": "#000000", "editor-foreground": "#ffffff", descriptionForeground: "#ffffffb3", focusBorder: "#f38518", contrastBorder: "#6fc3df",
    contrastActiveBorder: "#f38518", "charts-green": "#89d185", "charts-red": "#f14c4c", "charts-blue": "#3794ff", "charts-yellow": "#cca700", "charts-orange": "#d18616",
    "charts-purple": "#b180d7", disabledForeground: "#a5a5a5", "icon-foreground": "#ffffff", "badge-background": "#000000", "badge-foreground": "#ffffff",
    "editorWidget-background": "#0c141f", "textLink-foreground": "#21a6ff", "editorHoverWidget-background": "#0c141f", "editorHoverWidget-border": "#6fc3df", errorForeground: "#f48771",
  },
};

/** The page for `page.setContent`. */
export function html(theme = "dark", script = "panel.js") {
  const variables = Object.entries(THEMES[theme]).map(([name, value]) => `--vscode-${name}: ${value};`).join("");
  return `<!doctype html><html lang="en" style="--vscode-font-family: 'DejaVu Sans', sans-serif; --vscode-font-size: 13px; ${variables}"><head><meta charset="utf-8"><title>Run</title>
    <style>${readFileSync(`${DIST}panel-style.css`, "utf8")}</style></head><body class="vscode-${theme}"><script>
    let state; const told = []; window.told = told;
    window.acquireVsCodeApi = () => ({ postMessage: (message) => told.push(message), getState: () => state, setState: (next) => (state = next) });
    </script><script>${readFileSync(`${DIST}${script}`, "utf8").replaceAll("</script", "<\\/script")}</script></body></html>`;
}
