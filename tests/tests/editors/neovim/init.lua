-- A Neovim with nothing but the plugin under test.
vim.opt.runtimepath:prepend(vim.env.PROSE_PLUGIN)
vim.g.prose_server_command = { vim.env.PROSE_SERVER, "lsp" }
vim.g.prose_markdown = true
vim.g.maplocalleader = ","
vim.opt.swapfile = false
vim.cmd("filetype plugin indent on")
vim.cmd("syntax on")
