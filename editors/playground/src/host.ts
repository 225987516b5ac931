// The page is a host of the panel.

import { becomeHost } from "../../vscode/panel/host";

export const { listen, send } = becomeHost(undefined);
