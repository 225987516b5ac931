-- The client of the language server, with functions that work in every supported version of Neovim.

local M = {}

local function clients()
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)()
end

--- The client that a buffer is attached to; without a buffer, any client of the server.
function M.of(bufnr)
  for _, client in pairs(clients()) do
    local is_wanted = client.name == "prose" and (not bufnr or vim.lsp.buf_is_attached(bufnr, client.id))
    if is_wanted and not client.is_stopped(client) then
      return client
    end
  end
end

--- Whether the server of a buffer is initialized.
function M.is_ready(bufnr)
  local client = M.of(bufnr)
  return client ~= nil and client.initialized ~= false
end

local methods_take_self = vim.fn.has("nvim-0.11") == 1

--- Sends a request to the server of a buffer. `done` receives its result, or nil and the message of an error.
function M.request(bufnr, method, params, done)
  local client = M.of(bufnr)
  if not client then
    done(nil, "no OpenProse server is attached to this buffer; `:checkhealth prose` shows the reason")
    return
  end
  local function answer(problem, result)
    if problem then
      done(nil, problem.message or tostring(problem))
    else
      done(result)
    end
  end
  if methods_take_self then
    client:request(method, params, answer, bufnr)
  else
    client.request(method, params, answer, bufnr)
  end
end

--- Executes a command on the server of a buffer.
function M.execute(bufnr, command, argument, done)
  M.request(bufnr, "workspace/executeCommand", { command = command, arguments = { argument } }, done)
end

--- The folder for `.prose/runs` of a program. The server uses the same rule.
function M.project_of(bufnr)
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ":p:h")
  local settings = vim.fn.findfile("prose.toml", vim.fn.escape(folder, " ,;") .. ";")
  if settings ~= "" then
    return vim.fn.fnamemodify(settings, ":p:h")
  end
  local client = M.of(bufnr)
  return client and client.config.root_dir or folder
end

return M
