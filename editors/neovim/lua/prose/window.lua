-- The floating window that shows the progress of a run. It does not take the focus by default.

local M = {}

local window = nil

local function is_open()
  return window ~= nil and vim.api.nvim_win_is_valid(window)
end

local function is_in_sight()
  return is_open() and vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage()
end

local function layout(title)
  local width = math.min(100, vim.o.columns - 4)
  local height = math.max(3, math.min(14, math.floor(vim.o.lines / 3)))
  local below = vim.o.cmdheight + (vim.o.laststatus > 0 and 1 or 0)
  local config = {
    relative = "editor",
    anchor = "SE",
    row = vim.o.lines - below,
    col = vim.o.columns,
    width = math.max(20, width),
    height = height,
    style = "minimal",
    border = "rounded",
  }
  if vim.fn.has("nvim-0.9") == 1 then
    config.title = title
  end
  return config
end

--- Scrolls to the last line, unless the cursor is in the window.
local function follow(bufnr)
  if vim.api.nvim_get_current_win() ~= window then
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(bufnr), 0 })
  end
end

function M.close()
  if is_open() then
    vim.api.nvim_win_close(window, true)
  end
  window = nil
end

--- Shows a buffer in the window, and opens the window if needed.
function M.show(bufnr, title, take_cursor)
  if is_in_sight() then
    vim.api.nvim_win_set_buf(window, bufnr)
    vim.api.nvim_win_set_config(window, layout(title))
  else
    M.close()
    window = vim.api.nvim_open_win(bufnr, false, layout(title))
    vim.api.nvim_win_set_option(window, "wrap", true)
    vim.api.nvim_win_set_option(window, "linebreak", true)
    vim.api.nvim_win_set_option(window, "breakindent", true)
  end
  follow(bufnr)
  if take_cursor then
    vim.api.nvim_set_current_win(window)
  end
end

--- Updates the window after its buffer or its title has changed.
function M.update(bufnr, title)
  if not is_open() or vim.api.nvim_win_get_buf(window) ~= bufnr then
    return
  end
  if vim.fn.has("nvim-0.9") == 1 then
    vim.api.nvim_win_set_config(window, { title = title })
  end
  follow(bufnr)
end

vim.api.nvim_create_autocmd("VimResized", {
  group = vim.api.nvim_create_augroup("prose_window", { clear = true }),
  callback = function()
    if is_open() then
      vim.api.nvim_win_set_config(window, layout(nil))
    end
  end,
})

return M
