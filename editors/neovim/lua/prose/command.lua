-- The command `:Prose`.

local M = {}

local harnesses = { "offline", "script", "claude", "codex", "opencode", "claude-agent-acp", "codex-acp", "gemini", "opencode-acp", "qwen", "acp", "command", "provider" }

--- Parses the arguments of `run`, `dry-run` and `resume`: `name=value` are inputs, `--harness=`, `--script=` and `--accept-changes` are options, and
--- the rest is `plain`.
local function read(words)
  local argument, plain, inputs = {}, {}, {}
  for _, word in ipairs(words) do
    local option, value = word:match("^%-%-([%w-]+)=?(.*)$")
    if option == "harness" or option == "script" then
      argument[option] = value
    elseif option == "accept-changes" then
      argument.acceptChanges = true
    elseif option then
      error(("unknown option `--%s`; expected --harness=NAME, --script=FILE or --accept-changes"):format(option), 0)
    else
      local name, given = word:match("^([%w_-]+)=(.*)$")
      if name then
        inputs[name] = given
      else
        table.insert(plain, word)
      end
    end
  end
  if next(inputs) then
    argument.inputs = inputs
  end
  return argument, plain
end

local function at_most_one(plain, what)
  if #plain > 1 then
    error(("expected at most one %s, not `%s`; write `\\ ` for a space in a value"):format(what, table.concat(plain, "` and `")), 0)
  end
  return plain[1]
end

local actions = {}

function actions.run(words)
  local argument, plain = read(words)
  argument.block = at_most_one(plain, "block")
  require("prose.runs").start("prose.run", argument)
end

-- Only the session, the condition, the choice or the block at the cursor.
actions["run-line"] = function(words)
  local argument, plain = read(words)
  if #plain > 0 then
    error("`:Prose run-line` runs the part at the cursor; values are `name=value`", 0)
  end
  argument.line = vim.api.nvim_win_get_cursor(0)[1]
  require("prose.runs").start("prose.run", argument)
end

function actions.prompt(words)
  local argument, plain = read(words)
  if #plain > 0 then
    error("`:Prose prompt` shows the prompt at the cursor; values are `name=value`", 0)
  end
  require("prose.preview").open(argument.inputs)
end

function actions.describe(words)
  if #words > 0 then
    error("`:Prose describe` takes no arguments; it explains the program in the buffer", 0)
  end
  require("prose.description").open()
end

actions["dry-run"] = function(words)
  local argument, plain = read(words)
  argument.block = at_most_one(plain, "block")
  require("prose.runs").dry_run(argument)
end

function actions.resume(words)
  local argument, plain = read(words)
  argument.run = at_most_one(plain, "run")
  require("prose.runs").resume(argument)
end

function actions.fork(words)
  local run
  local rest = vim.tbl_filter(function(word)
    local named = word:match("^%-%-run=(.+)$")
    run = run or named
    return not named
  end, words)
  local argument, plain = read(rest)
  -- The values are those of variables at the point.
  argument.variables, argument.inputs = argument.inputs, nil
  argument.run, argument.from = run, at_most_one(plain, "point")
  local forks = require("prose.forks")
  if argument.from then
    forks.fork(argument)
  else
    forks.fork_here(argument)
  end
end

function actions.diff(words)
  if #words > 2 then
    error("expected at most two runs", 0)
  end
  require("prose.forks").diff(words[1], words[2])
end

for _, what in ipairs({ "cancel", "pause", "continue" }) do
  actions[what] = function(words)
    require("prose.runs").control(what, { run = at_most_one(words, "run") })
  end
end

for _, what in ipairs({ "skip", "retry" }) do
  actions[what] = function(words)
    require("prose.runs").control_session(what, at_most_one(words, "session"))
  end
end

function actions.runs(words)
  if #words > 0 then
    error("`:Prose runs` takes no arguments; `:Prose log RUN` shows a run", 0)
  end
  require("prose.runs").choose()
end

-- A terminal in a window of its own, in which the run is watched, answered and controlled.
function actions.attach(words)
  local run = at_most_one(words, "run")
  local command = { require("prose").command()[1], "runs", "attach", run }
  local folder = require("prose.client").project_of((require("prose.runs").program()))
  vim.cmd("botright new")
  vim.fn.termopen(command, { cwd = folder })
end

function actions.log(words)
  require("prose.runs").log(at_most_one(words, "run"))
end

actions["install-parser"] = function(words)
  require("prose.parser").install(at_most_one(words, "folder"))
end

local names = vim.tbl_keys(actions)
table.sort(names)

--- Executes the arguments of `:Prose`.
function M.execute(words)
  local name = words[1]
  local action = actions[name]
  local is_done, problem = pcall(function()
    if not action then
      error(("unknown command `:Prose %s`; expected %s"):format(name, table.concat(names, ", ")), 0)
    end
    action(vim.list_slice(words, 2))
  end)
  if not is_done then
    vim.notify("OpenProse: " .. problem, vim.log.levels.ERROR)
  end
end

local function defined(keyword)
  local found = {}
  for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local name = line:match("^" .. keyword .. "%s+([%a_][%w_-]*)")
    if name then
      table.insert(found, name)
    end
  end
  return found
end

local function options_of_runs()
  local options = { "--script=" }
  for _, harness in ipairs(harnesses) do
    table.insert(options, "--harness=" .. harness)
  end
  for _, input in ipairs(defined("input")) do
    table.insert(options, input .. "=")
  end
  return options
end

local function recorded()
  local ids = {}
  for _, run in ipairs(require("prose.runs").recorded(0)) do
    table.insert(ids, run.id)
  end
  return ids
end

local completions = {
  run = function()
    return vim.list_extend(options_of_runs(), defined("block"))
  end,
  resume = function()
    return vim.list_extend(vim.list_extend(options_of_runs(), { "--accept-changes" }), recorded())
  end,
  fork = function()
    local points = { "failure" }
    for _, id in ipairs(recorded()) do
      table.insert(points, "--run=" .. id)
    end
    return points
  end,
  diff = recorded,
  cancel = function()
    return require("prose.runs").live()
  end,
  pause = function()
    return require("prose.runs").live(false)
  end,
  continue = function()
    return require("prose.runs").live(true)
  end,
  skip = function()
    return require("prose.runs").sessions()
  end,
  log = recorded,
  attach = recorded,
}
completions["dry-run"] = completions.run
completions["run-line"] = options_of_runs
completions.retry = completions.skip

--- Completes the command line.
function M.complete(lead, line, position)
  local words = vim.split(line:sub(1, position), "%s+")
  local candidates
  if #words <= 2 then
    candidates = names
  else
    local completion = completions[words[2]]
    candidates = completion and completion() or {}
  end
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M
