-- Plays a user: looks at the diagnostics of the open file, types keys, looks again. What was seen is written as JSON.
--
-- It runs as a coroutine that sleeps between looks, so that the editor's own loop handles keys, edits and messages as always.

local patience_in_ms = 20000
local seen = { steps = {} }

local function sleep(milliseconds)
  local driver = coroutine.running()
  vim.defer_fn(function()
    coroutine.resume(driver)
  end, milliseconds)
  coroutine.yield()
end

local function wait_for(what, condition)
  local deadline = vim.loop.now() + patience_in_ms
  while not condition() do
    if vim.loop.now() > deadline then
      error("waited in vain for " .. what, 0)
    end
    sleep(20)
  end
end

local function client()
  for _, client in pairs((vim.lsp.get_clients or vim.lsp.get_active_clients)()) do
    if client.name == "prose" and client.initialized ~= false then
      return client
    end
  end
end

local function attached()
  local found = client()
  return found ~= nil and vim.lsp.buf_is_attached(0, found.id)
end

local function diagnostics()
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

local function note(step)
  table.insert(seen.steps, {
    step = step,
    text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"),
    mode = vim.api.nvim_get_mode().mode,
    diagnostics = #diagnostics() > 0 and diagnostics() or vim.empty_dict(),
  })
end

local function type_keys(keys)
  vim.api.nvim_input(keys)
end

local function clear()
  return #vim.diagnostic.get(0) == 0
end

local function play()
  wait_for("the server to be attached", attached)
  local rpc = client().rpc
  -- Newer versions of Neovim keep the process to themselves.
  seen.server_process = type(rpc.pid) == "number" and rpc.pid or nil
  seen.filetype = vim.bo.filetype
  seen.commentstring = vim.bo.commentstring
  seen.shiftwidth = vim.bo.shiftwidth
  seen.expandtab = vim.bo.expandtab
  local line = vim.fn.search("session")
  seen.session_is_highlighted_as = vim.fn.synIDattr(vim.fn.synID(line, vim.fn.col("."), 1), "name")

  wait_for("the mistake to be shown", function()
    return not clear()
  end)
  note("opened")

  type_keys(vim.env.PROSE_FIX)
  wait_for("the mistake to be gone after the fix", clear)
  wait_for("the fix to be typed", function()
    return vim.api.nvim_get_mode().mode == "n"
  end)
  note("fixed")

  type_keys("u")
  wait_for("the mistake to be back after undoing the fix", function()
    return not clear()
  end)
  note("undone")

  type_keys("<C-r>")
  wait_for("the mistake to be gone after redoing the fix", clear)
  note("redone")
end

local function finish(ok, problem)
  if not ok then
    seen.problem = tostring(problem)
    seen.messages = vim.api.nvim_exec("messages", true)
    local log = io.open(vim.lsp.get_log_path(), "r")
    seen.log = log and log:read("*a") or "(no log)"
  end
  vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.PROSE_SEEN)
  -- As a user leaves: this is what makes the editor stop the server.
  type_keys("<Esc>:qa!<CR>")
end

local driver = coroutine.create(function()
  finish(xpcall(play, debug.traceback))
end)
vim.defer_fn(function()
  coroutine.resume(driver)
end, 0)
