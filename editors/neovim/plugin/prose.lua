if vim.g.loaded_prose then
  return
end
vim.g.loaded_prose = true

require("prose").enable()

vim.api.nvim_create_user_command("Prose", function(command)
  require("prose.command").execute(command.fargs)
end, {
  nargs = "+",
  desc = "Run OpenProse programs and look at their runs",
  complete = function(...)
    return require("prose.command").complete(...)
  end,
})

vim.keymap.set("n", "<Plug>(prose-lens)", function()
  vim.lsp.codelens.run()
end, { desc = "Run a code lens of this line" })
vim.keymap.set("n", "<Plug>(prose-run)", "<Cmd>Prose run<CR>", { desc = "Run this program" })
vim.keymap.set("n", "<Plug>(prose-cancel)", "<Cmd>Prose cancel<CR>", { desc = "Stop the runs of this program" })
vim.keymap.set("n", "<Plug>(prose-log)", "<Cmd>Prose log<CR>", { desc = "Show the last run of this program" })
