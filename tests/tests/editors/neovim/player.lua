-- Plays a user: types keys, waits for what comes of them and notes what is seen, which is written as JSON.
--
-- It runs as a coroutine that sleeps between looks, so that the editor's own loop handles keys, edits and messages as always.

local M = {}

local patience_in_ms = 20000
local seen = { steps = {} }

local function sleep(milliseconds)
  local driver = coroutine.running()
  vim.defer_fn(function()
    coroutine.resume(driver)
  end, milliseconds)
  coroutine.yield()
end

--- Waits until a condition gives something, and returns that.
function M.wait_for(what, condition)
  local deadline = vim.loop.now() + patience_in_ms
  while true do
    local result = condition()
    if result then
      return result
    end
    if vim.loop.now() > deadline then
      error("waited in vain for " .. what, 0)
    end
    sleep(20)
  end
end

function M.client()
  for _, client in pairs((vim.lsp.get_clients or vim.lsp.get_active_clients)()) do
    if client.name == "prose" and client.initialized ~= false then
      return client
    end
  end
end

--- Waits until the server serves the buffer.
function M.wait_for_server()
  local client = M.wait_for("the server to be attached", function()
    local client = M.client()
    return client and vim.lsp.buf_is_attached(0, client.id) and client
  end)
  -- Newer versions of Neovim keep the process to themselves.
  seen.server_process = type(client.rpc.pid) == "number" and client.rpc.pid or nil
end

function M.diagnostics()
  local all = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    table.insert(all, {
      code = diagnostic.code or vim.tbl_get(diagnostic, "user_data", "lsp", "code"),
      severity = vim.diagnostic.severity[diagnostic.severity],
      message = diagnostic.message,
      source = diagnostic.source,
      line = diagnostic.lnum,
      column = diagnostic.col,
      end_line = diagnostic.end_lnum,
      end_column = diagnostic.end_col,
    })
  end
  return all
end

--- The titles of the lenses of the current buffer.
function M.lenses()
  local titles = {}
  for _, lens in ipairs(vim.lsp.codelens.get(vim.api.nvim_get_current_buf())) do
    -- Some are resolved later.
    if lens.command then
      table.insert(titles, lens.command.title)
    end
  end
  return titles
end

function M.text(bufnr)
  return table.concat(vim.api.nvim_buf_get_lines(bufnr or 0, 0, -1, false), "\n")
end

--- Notes the text and the diagnostics at a step.
function M.note(step)
  table.insert(seen.steps, {
    step = step,
    text = M.text(),
    mode = vim.api.nvim_get_mode().mode,
    diagnostics = #M.diagnostics() > 0 and M.diagnostics() or vim.empty_dict(),
  })
end

function M.type_keys(keys)
  vim.api.nvim_input(keys)
end

--- The text of the floating window whose buffer has a file type, if there is one.
function M.float(filetype)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if vim.api.nvim_win_get_config(window).relative ~= "" and vim.bo[bufnr].filetype == filetype then
      return M.text(bufnr), window
    end
  end
end

--- Waits until such a window has a text in it, and returns all of its text.
function M.wait_for_float(filetype, part)
  return M.wait_for(("a window with `%s`"):format(part), function()
    local text = M.float(filetype)
    return text and text:find(part, 1, true) and text
  end)
end

local function finish(ok, problem)
  if not ok then
    seen.problem = tostring(problem)
    seen.messages = vim.api.nvim_exec("messages", true)
    seen.screen = M.text()
    local log = io.open(vim.lsp.get_log_path(), "r")
    seen.log = log and log:read("*a") or "(no log)"
  end
  vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.PROSE_SEEN)
  -- As a user leaves: this is what makes the editor stop the server.
  M.type_keys("<Esc><Esc>:qa!<CR>")
end

--- Plays a scene, which notes what it sees in the table that it is given.
function M.play(scene)
  local driver = coroutine.create(function()
    finish(xpcall(function()
      scene(seen)
    end, debug.traceback))
  end)
  vim.defer_fn(function()
    coroutine.resume(driver)
  end, 0)
end

return M
