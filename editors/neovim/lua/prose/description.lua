-- A program explained on a page, which the server makes from the program alone.

local client = require("prose.client")

local M = {}

--- Explains the program in the current buffer in a window next to it.
function M.open()
  local bufnr = vim.api.nvim_get_current_buf()
  local params = { textDocument = vim.lsp.util.make_text_document_params(bufnr) }
  client.request(bufnr, "prose/describe", params, function(answer, problem)
    if type(answer) ~= "table" then
      vim.notify("OpenProse: " .. (problem or "there is no program to explain"), vim.log.levels.ERROR)
      return
    end
    local page = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(page, 0, -1, false, vim.split(vim.trim(answer.text), "\n", { plain = true }))
    vim.bo[page].bufhidden = "wipe"
    vim.bo[page].modifiable = false
    vim.bo[page].filetype = "markdown"
    vim.cmd("botright vsplit")
    vim.api.nvim_win_set_buf(0, page)
  end)
end

return M
