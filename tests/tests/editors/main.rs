//! Real editors with the extensions of this repository, as their users have them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod emacs;
mod helix;
mod jetbrains;
mod neovim;
mod playground;
mod vscode;
mod vscode_e2e;
mod vscode_settings;
mod zed;
