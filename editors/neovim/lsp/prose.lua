-- Read by Neovim 0.11 and newer; change it with `vim.lsp.config("prose", { … })`.
local prose = require("prose")

return {
  cmd = prose.command(),
  filetypes = prose.filetypes(),
  root_markers = prose.root_markers,
  init_options = prose.init_options(),
  capabilities = prose.capabilities,
  handlers = prose.handlers,
}
