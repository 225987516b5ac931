-- The prompt of the session, the condition, the choice or the block at the cursor, in a window next to the program that follows cursor and edits.

local client = require("prose.client")

local M = {}

-- The time without edits and movements of the cursor after which the preview is updated, in milliseconds.
local pause = 150
local nothing = "Move the cursor to a session, a condition, a choice or a block."

local group = vim.api.nvim_create_augroup("prose_preview", { clear = true })
local shown, timer
-- The values that the user has given, by buffer.
local values = {}

local function is_visible()
  return shown ~= nil and vim.api.nvim_buf_is_valid(shown) and vim.fn.bufwinid(shown) ~= -1
end

local function write(text)
  vim.bo[shown].modifiable = true
  vim.api.nvim_buf_set_lines(shown, 0, -1, false, vim.split(vim.trim(text), "\n", { plain = true }))
  vim.bo[shown].modifiable = false
end

local function update(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  local of_buffer = client.of(bufnr)
  if not is_visible() or window == -1 or not of_buffer then
    return
  end
  local encoding = of_buffer.offset_encoding or "utf-16"
  local params = vim.lsp.util.make_position_params(window, encoding)
  params.values = next(values[bufnr] or {}) and values[bufnr] or vim.empty_dict()
  client.request(bufnr, "prose/prompt", params, function(preview, problem)
    if is_visible() then
      write(type(preview) == "table" and preview.text or problem or nothing)
    end
  end)
end

local function update_soon(bufnr)
  timer = timer or vim.loop.new_timer()
  timer:start(pause, 0, vim.schedule_wrap(function()
    update(bufnr)
  end))
end

--- Opens the preview for the program in the current buffer, with the given values of variables.
function M.open(given)
  local bufnr = vim.api.nvim_get_current_buf()
  values[bufnr] = given
  if not is_visible() then
    shown = vim.api.nvim_create_buf(false, true)
    vim.bo[shown].bufhidden = "wipe"
    vim.bo[shown].filetype = "markdown"
    local program = vim.api.nvim_get_current_win()
    vim.cmd("botright vsplit")
    vim.api.nvim_win_set_buf(0, shown)
    vim.api.nvim_set_current_win(program)
  end
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "TextChanged", "TextChangedI" }, {
    group = group,
    buffer = bufnr,
    callback = function()
      update_soon(bufnr)
    end,
  })
  update(bufnr)
end

return M
