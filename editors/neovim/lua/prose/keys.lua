-- The keys for running programs.

local M = {}

-- Newer versions of Neovim map `grx` to code lenses by default.
local lens = { "grx", "<Plug>(prose-lens)" }
local others = {
  { "<LocalLeader>r", "<Plug>(prose-run)" },
  { "<LocalLeader>x", "<Plug>(prose-cancel)" },
  { "<LocalLeader>l", "<Plug>(prose-log)" },
}

--- Maps the keys in a buffer, unless the user has mapped them or their actions.
function M.set(bufnr)
  if vim.g.no_plugin_maps or vim.g.no_prose_maps then
    return
  end
  -- Markdown documents may have other mappings for these keys.
  local keys = vim.bo[bufnr].filetype == "prose" and vim.list_extend({ lens }, others) or { lens }
  vim.api.nvim_buf_call(bufnr, function()
    for _, key in ipairs(keys) do
      if vim.fn.maparg(key[1], "n") == "" and vim.fn.hasmapto(key[2], "n") == 0 then
        vim.keymap.set("n", key[1], key[2], { buffer = bufnr, remap = true })
      end
    end
  end)
end

return M
