// A report is a host of the panel.

import { becomeHost } from "../host";

export const { listen, send } = becomeHost({ hasDetails: true });
