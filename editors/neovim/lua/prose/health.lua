-- `:checkhealth prose`: what is there of what the plugin needs.

local M = {}

local health = vim.health or require("health")
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local info = health.info or health.report_info
local warn = health.warn or health.report_warn
local error = health.error or health.report_error

local function lines_of(command)
  local lines = vim.fn.systemlist(command)
  return vim.v.shell_error == 0 and lines or nil
end

local function check_server()
  start("OpenProse: server")
  local program = require("prose").command()[1]
  if vim.fn.executable(program) == 0 then
    error(("`%s` is not an executable program"):format(program), {
      "Install `prose` so that it is on PATH,",
      "or set vim.g.prose_server_command = { \"/path/to/prose\", \"lsp\" }",
    })
    return false
  end
  local version = lines_of({ program, "--version" })
  if not version then
    error(("`%s --version` fails; is it the `prose` of OpenProse?"):format(program))
    return false
  end
  ok(("%s: %s"):format(vim.fn.exepath(program), version[1]))
  local client = require("prose.client").of()
  if client then
    ok(("it serves %s"):format(client.config.root_dir or "single files"))
  else
    info("it is not running; it is started when a program is opened")
  end
  return true
end

local function check_editor()
  start("OpenProse: Neovim")
  if require("prose").started_by_editor then
    ok("the server is started by `vim.lsp.enable`; `vim.lsp.config(\"prose\", …)` changes how")
  elseif vim.lsp.start then
    ok("the server is started by `vim.lsp.start`")
  else
    warn("Neovim 0.7 has the language client, and `:Prose`; inlay hints and highlighting by tree-sitter are since 0.10")
  end
  local method = vim.g.prose_markdown and "are" or "are not"
  info(("programs in Markdown %s served; vim.g.prose_markdown says so"):format(method))
end

local function check_parser()
  start("OpenProse: tree-sitter")
  local parser = require("prose.parser")
  local path = parser.path()
  if path and not parser.is_there() then
    error(path .. " cannot be used by this Neovim", { "It has to be 0.10 or newer", "Build the parser anew with `:Prose install-parser`" })
    return
  elseif not path then
    info("there is no parser, so that programs are highlighted by patterns; `:Prose install-parser` builds it")
    return
  end
  ok("parser: " .. path)
  for _, name in ipairs({ "highlights", "folds", "indents", "locals", "injections", "textobjects" }) do
    local files = vim.api.nvim_get_runtime_file(("queries/prose/%s.scm"):format(name), true)
    local is_valid, problem = pcall(vim.treesitter.query.get, "prose", name)
    if #files == 0 then
      error(("there is no queries/prose/%s.scm on runtimepath"):format(name))
    elseif is_valid then
      ok(("queries/prose/%s.scm"):format(name))
    else
      local advice = { "Build the parser anew with `:Prose install-parser`", "Files: " .. table.concat(files, ", ") }
      error(("queries/prose/%s.scm does not fit the parser: %s"):format(name, problem), advice)
    end
  end
end

-- The programs that harnesses start; the others need none.
local programs = { claude = "claude", codex = "codex", opencode = "opencode" }

local function check_project()
  start("OpenProse: project")
  local bufnr = vim.api.nvim_get_current_buf()
  for _, candidate in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(candidate) and vim.bo[candidate].filetype == "prose" then
      bufnr = candidate
    end
  end
  local folder = require("prose.client").project_of(bufnr)
  local settings = folder .. "/prose.toml"
  local harness = ((vim.g.prose_settings or {}).run or {}).harness
  if vim.fn.filereadable(settings) == 1 then
    ok("settings: " .. settings)
    local text = table.concat(vim.fn.readfile(settings), "\n")
    harness = harness or ("\n" .. text):match("\n%s*harness%s*=%s*[\"']([%w-]+)[\"']")
  else
    info(("there is no prose.toml in %s or above; all settings have their defaults"):format(folder))
  end
  harness = harness or "offline"
  local program = programs[harness]
  if program and vim.fn.executable(program) == 0 then
    warn(("the harness is `%s`, but there is no program `%s` on PATH"):format(harness, program))
  elseif harness == "offline" then
    ok("harness: offline, which makes answers up")
  else
    ok("harness: " .. harness)
  end
  info("runs are kept in " .. folder .. "/.prose/runs")
end

function M.check()
  if check_server() then
    check_editor()
    check_parser()
    check_project()
  end
end

return M
