-- `:checkhealth prose`: checks the requirements of the plugin.

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
    ok(("root folder: %s"):format(client.config.root_dir or "single files"))
  else
    info("not running; it starts when you open a program")
  end
  return true
end

local function check_editor()
  start("OpenProse: Neovim")
  if require("prose").started_by_editor then
    ok("`vim.lsp.enable` starts the server; configure it with `vim.lsp.config(\"prose\", …)`")
  elseif vim.lsp.start then
    ok("`vim.lsp.start` starts the server")
  else
    warn("this Neovim has the language client and `:Prose`; inlay hints and tree-sitter highlighting require 0.10")
  end
  local method = vim.g.prose_markdown and "are" or "are not"
  info(("programs in Markdown %s supported; set vim.g.prose_markdown to change this"):format(method))
end

local function check_parser()
  start("OpenProse: tree-sitter")
  local parser = require("prose.parser")
  local path = parser.path()
  if path and not parser.is_there() then
    error(path .. " cannot be used by this Neovim", { "Use Neovim 0.10 or newer", "Rebuild the parser with `:Prose install-parser`" })
    return
  elseif not path then
    info("no parser: programs are highlighted by patterns; `:Prose install-parser` builds it")
    return
  end
  ok("parser: " .. path)
  for _, name in ipairs({ "highlights", "folds", "indents", "locals", "injections", "textobjects" }) do
    local files = vim.api.nvim_get_runtime_file(("queries/prose/%s.scm"):format(name), true)
    local is_valid, problem = pcall(vim.treesitter.query.get, "prose", name)
    if #files == 0 then
      error(("queries/prose/%s.scm is not on runtimepath"):format(name))
    elseif is_valid then
      ok(("queries/prose/%s.scm"):format(name))
    else
      local advice = { "Rebuild the parser with `:Prose install-parser`", "Files: " .. table.concat(files, ", ") }
      error(("queries/prose/%s.scm does not match the parser: %s"):format(name, problem), advice)
    end
  end
end

-- The programs that harnesses start; other harnesses start none.
local programs = {
  claude = "claude",
  codex = "codex",
  opencode = "opencode",
  ["claude-agent-acp"] = "claude-agent-acp",
  ["codex-acp"] = "codex-acp",
  gemini = "gemini",
  ["opencode-acp"] = "opencode",
  qwen = "qwen",
}

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
    info(("no prose.toml in %s or a parent folder; all settings have their defaults"):format(folder))
  end
  harness = harness or "offline"
  local program = programs[harness]
  if program and vim.fn.executable(program) == 0 then
    warn(("the harness is `%s`, but `%s` is not on PATH"):format(harness, program))
  elseif harness == "offline" then
    ok("harness: offline, with generated replies")
  else
    ok("harness: " .. harness)
  end
  info("runs are stored in " .. folder .. "/.prose/runs")
end

function M.check()
  if check_server() then
    check_editor()
    check_parser()
    check_project()
  end
end

return M
