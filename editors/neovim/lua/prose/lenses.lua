-- Code lenses: commands to run programs and blocks, shown before their first line.

local M = {}

local group = vim.api.nvim_create_augroup("prose_lenses", { clear = true })

local function is_wanted()
  return vim.g.prose_code_lenses ~= false
end

--- Refreshes the lenses of a buffer.
function M.refresh(bufnr)
  if not is_wanted() or not vim.api.nvim_buf_is_loaded(bufnr) or not require("prose.client").is_ready(bufnr) then
    return
  end
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
  elseif vim.fn.has("nvim-0.10") == 1 then
    vim.lsp.codelens.refresh({ bufnr = bufnr })
  else
    vim.api.nvim_buf_call(bufnr, vim.lsp.codelens.refresh)
  end
end

--- Refreshes the lenses of all programs, on request of the server.
function M.refresh_all()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and require("prose").has_lenses(bufnr) then
      M.refresh(bufnr)
    end
  end
end

--- Keeps the lenses of a buffer up to date.
function M.show_in(bufnr)
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  if not is_wanted() then
    return
  end
  -- `LspAttach` exists since 0.8; in 0.7, the lenses appear on `CursorHold`.
  local events = { "BufEnter", "CursorHold", "InsertLeave" }
  if vim.fn.has("nvim-0.8") == 1 then
    table.insert(events, "LspAttach")
  end
  vim.api.nvim_create_autocmd(events, {
    group = group,
    buffer = bufnr,
    callback = function()
      M.refresh(bufnr)
    end,
  })
end

return M
