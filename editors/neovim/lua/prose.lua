-- Starts the language server of OpenProse and attaches buffers to it, on every Neovim since 0.7.

local M = {}

--- The command that starts the server: `vim.g.prose_server_command`, otherwise `prose` from PATH.
function M.command()
  return vim.g.prose_server_command or { "prose", "lsp" }
end

-- The root of a project contains its settings or its version control.
M.root_markers = { "prose.toml", ".git" }

--- The file types whose buffers are attached: programs, and Markdown if `vim.g.prose_markdown` is set.
function M.filetypes()
  return vim.g.prose_markdown and { "prose", "markdown" } or { "prose" }
end

--- The initialization options: the settings of the user, and the extensions of the protocol that this client supports.
function M.init_options()
  local announced = {
    experimental = { proseInput = true, proseRunViews = true, proseRename = true, proseReplies = true, proseReferences = true },
  }
  return vim.tbl_deep_extend("force", announced, vim.g.prose_settings or {})
end

--- The capabilities that this plugin adds to those of Neovim.
M.capabilities = { workspace = { codeLens = { refreshSupport = true } } }

--- Handlers of notifications and requests beyond the protocol.
M.handlers = {
  ["prose/runView"] = function(_, params)
    require("prose.runs").take(params)
  end,
  ["prose/input"] = function(_, params)
    return require("prose.questions").ask(params)
  end,
  -- Informational messages of several lines would block the user; the window of the run shows them.
  ["window/showMessage"] = function(problem, params, ...)
    if params.type < 3 then
      return vim.lsp.handlers["window/showMessage"](problem, params, ...)
    end
    local message = "OpenProse: " .. params.message:gsub("%s+", " ")
    if vim.fn.strdisplaywidth(message) > vim.v.echospace then
      message = vim.fn.strcharpart(message, 0, vim.v.echospace - 1) .. "…"
    end
    vim.api.nvim_echo({ { message } }, true, {})
    return params
  end,
  ["workspace/codeLens/refresh"] = function()
    require("prose.lenses").refresh_all()
    return vim.NIL
  end,
}

-- Commands of lenses and of `vim.lsp.buf_request`, which open the window of the run like `:Prose`.
for _, name in ipairs({ "run", "dryRun", "resume", "cancel", "fork" }) do
  vim.lsp.commands["prose." .. name] = function(command, context)
    require("prose.runs").execute(command, context.bufnr)
  end
end

-- Lets the user change a reply, with which a new run continues.
vim.lsp.commands["prose.editReply"] = function(command, context)
  require("prose.forks").edit_reply(command.arguments[1], context.bufnr)
end

-- Lists the references that a lens counts.
vim.lsp.commands["prose.showReferences"] = function(command, context)
  local encoding = vim.lsp.get_client_by_id(context.client_id).offset_encoding
  local items = vim.lsp.util.locations_to_items(command.arguments[1].locations, encoding)
  vim.fn.setqflist({}, " ", { title = "References", items = items })
  vim.cmd("botright copen")
end

-- Lets the user rename a name that a refactoring generated.
vim.lsp.commands["prose.rename"] = function(command, context)
  local place = command.arguments[1]
  local location = { uri = place.uri, range = { start = place.position, ["end"] = place.position } }
  -- Neovim 0.7 and 0.8 only have the old name.
  local jump = vim.lsp.util.show_document or vim.lsp.util.jump_to_location
  jump(location, vim.lsp.get_client_by_id(context.client_id).offset_encoding)
  vim.lsp.buf.rename()
end

local function root_of(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  local candidate = folder
  while true do
    for _, marker in ipairs(M.root_markers) do
      if vim.loop.fs_stat(candidate .. "/" .. marker) then
        return candidate
      end
    end
    local parent = vim.fn.fnamemodify(candidate, ":h")
    if parent == candidate then
      return folder
    end
    candidate = parent
  end
end

local function config_for(bufnr)
  return {
    name = "prose",
    cmd = M.command(),
    root_dir = root_of(vim.api.nvim_buf_get_name(bufnr)),
    init_options = M.init_options(),
    handlers = M.handlers,
    -- Before 0.11, these replace the default capabilities.
    capabilities = vim.tbl_deep_extend("force", vim.lsp.protocol.make_client_capabilities(), M.capabilities),
  }
end

-- Neovim 0.7 has neither `vim.lsp.start` nor a function that lists the clients of a project.
local clients_by_root = {}

local function start_on_0_7(bufnr)
  local config = config_for(bufnr)
  local root = config.root_dir
  if not clients_by_root[root] then
    config.on_exit = function()
      clients_by_root[root] = nil
    end
    clients_by_root[root] = vim.lsp.start_client(config)
  end
  if clients_by_root[root] then
    vim.lsp.buf_attach_client(bufnr, clients_by_root[root])
  end
end

local warned = false

local function server_is_there()
  local program = M.command()[1]
  if vim.fn.executable(program) == 1 then
    return true
  end
  if not warned then
    warned = true
    local message = "OpenProse: `%s` is not an executable program. Install `prose` so that it is on PATH, "
      .. "or set vim.g.prose_server_command."
    vim.notify(message:format(program), vim.log.levels.WARN)
  end
  return false
end

--- Whether the editor starts servers from `lsp/prose.lua`, as since 0.11.
M.started_by_editor = vim.lsp.config ~= nil and vim.lsp.enable ~= nil

--- Attaches a buffer with an OpenProse program to the server, and starts the server if needed.
function M.attach(bufnr)
  -- Previews and scratch buffers are not files.
  if vim.bo[bufnr].buftype ~= "" or not server_is_there() or M.started_by_editor then
    return
  end
  if vim.lsp.start then
    vim.lsp.start(config_for(bufnr), { bufnr = bufnr })
  else
    start_on_0_7(bufnr)
  end
end

--- Attaches a test file to the server of its project, and shows its lenses.
function M.attach_test_file(bufnr)
  if vim.bo[bufnr].buftype ~= "" or not server_is_there() then
    return
  end
  if M.started_by_editor then
    -- As `vim.lsp.enable` does it for a file type, with what the user has configured.
    local config = vim.lsp.config.prose
    local root = vim.fs.root(bufnr, config.root_markers or M.root_markers)
    vim.lsp.start(vim.tbl_extend("force", config, { name = "prose", root_dir = root }), { bufnr = bufnr })
  else
    M.attach(bufnr)
  end
  require("prose.lenses").show_in(bufnr)
  require("prose.keys").set(bufnr)
end

--- Whether a buffer has lenses of this server: a program, or a test file.
function M.has_lenses(bufnr)
  return vim.tbl_contains(M.filetypes(), vim.bo[bufnr].filetype)
    or vim.endswith(vim.api.nvim_buf_get_name(bufnr), ".test.toml")
end

--- Attaches every buffer with an OpenProse program or its tests to the server.
function M.enable()
  if M.started_by_editor then
    vim.lsp.enable("prose")
  end
  local group = vim.api.nvim_create_augroup("prose_server", { clear = true })
  -- Test files are TOML, and no other TOML is for this server.
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = group,
    pattern = "*.test.toml",
    callback = function(event)
      -- Once a file type is set, the editor detaches servers that are not enabled for it.
      vim.schedule(function()
        if vim.api.nvim_buf_is_valid(event.buf) then
          M.attach_test_file(event.buf)
        end
      end)
    end,
  })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = M.filetypes(),
    callback = function(event)
      M.attach(event.buf)
      require("prose.lenses").show_in(event.buf)
      require("prose.keys").set(event.buf)
      if event.match == "prose" then
        require("prose.parser").highlight(event.buf)
      end
    end,
  })
end

return M
