-- The runs of this Neovim: live runs of its servers, and recorded runs that were read from their files.

local client = require("prose.client")
local Narration = require("prose.narration")
local window = require("prose.window")

local M = {}

local runs = {}
-- The last run of each program and of each document with programs, by its URI.
local last_of = {}

--- The document of a program: a Markdown document has several, which are numbered after a `#`.
local function document_of(uri)
  return (uri:gsub("#%d+$", ""))
end

local function note_last(uri, id)
  last_of[uri], last_of[document_of(uri)] = id, id
end

local function notify(message, level)
  vim.notify("OpenProse: " .. message, level or vim.log.levels.INFO)
end

local function fail(message)
  notify(message, vim.log.levels.ERROR)
end

local function run_of(id)
  runs[id] = runs[id] or { id = id, narration = Narration.new() }
  return runs[id]
end

--- Goes to the statement of the line under the cursor.
local function go_to_statement(run)
  local line = run.narration.places[vim.api.nvim_win_get_cursor(0)[1]]
  if not line or not run.uri then
    return
  end
  local bufnr = vim.uri_to_bufnr(document_of(run.uri))
  local target = vim.fn.bufwinid(bufnr)
  if target == -1 then
    vim.cmd("wincmd p")
    vim.api.nvim_win_set_buf(0, bufnr)
  else
    vim.api.nvim_set_current_win(target)
  end
  vim.api.nvim_win_set_cursor(0, { math.min(line, vim.api.nvim_buf_line_count(bufnr)), 0 })
end

local function open_state(run)
  local state = run.folder and run.folder .. "/state.md"
  if not state or vim.fn.filereadable(state) == 0 then
    notify("this run has no state.md")
    return
  end
  window.close()
  vim.cmd("split " .. vim.fn.fnameescape(state))
end

local function set_keys(run)
  local keys = {
    { "q", "close the window", window.close },
    { "<CR>", "go to the statement", function() go_to_statement(run) end },
    { "x", "stop the run", function() M.control("cancel", { run = run.id }) end },
    { "p", "pause or continue the run", function() M.control(run.narration.pause and "continue" or "pause", { run = run.id }) end },
    { "r", "resume the run", function() M.resume({ run = run.id }) end },
    { "f", "run again from the statement", function() require("prose.forks").fork_here() end },
    { "s", "open state.md", function() open_state(run) end },
  }
  for _, key in ipairs(keys) do
    vim.keymap.set("n", key[1], key[3], { buffer = run.bufnr, nowait = true, desc = key[2] })
  end
end

local function buffer_of(run)
  if run.bufnr and vim.api.nvim_buf_is_valid(run.bufnr) then
    return run.bufnr
  end
  run.bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(run.bufnr, "prose-run://" .. run.id)
  vim.bo[run.bufnr].bufhidden = "hide"
  vim.bo[run.bufnr].modifiable = false
  vim.bo[run.bufnr].filetype = "prose-run"
  set_keys(run)
  run.narration.changed_from = 1
  return run.bufnr
end

--- Writes the changes of the narration into the buffer.
local function render(run)
  local narration = run.narration
  local bufnr = buffer_of(run)
  local from = narration.changed_from
  if not from then
    window.update(bufnr, narration:title())
    return
  end
  narration.changed_from = nil
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, from - 1, -1, false, vim.list_slice(narration.lines, from))
  vim.bo[bufnr].modifiable = false
  window.update(bufnr, narration:title())
end

local function show(run, take_cursor)
  local bufnr = buffer_of(run)
  window.show(bufnr, run.narration:title(), take_cursor)
  render(run)
end

--- Shows the changes of a run: the handler of the notification `prose/runView`.
function M.take(params)
  local run = run_of(params.run)
  run.uri = params.uri
  note_last(params.uri, params.run)
  run.narration:show(params.view)
  if params.view["end"] then
    require("prose.questions").withdraw(params.run)
  end
  render(run)
end

--- The program of a command: the one in the current buffer, or the program of the run that it shows; and that run.
function M.program()
  local bufnr = vim.api.nvim_get_current_buf()
  for _, run in pairs(runs) do
    if run.bufnr == bufnr and run.uri then
      return vim.uri_to_bufnr(document_of(run.uri)), run.uri, run
    end
  end
  return bufnr, vim.uri_from_bufnr(bufnr)
end
local program = M.program

--- Resumes a run, by default the last run of the program.
function M.resume(argument)
  local _, uri = program()
  local last = runs[last_of[uri] or ""]
  -- The server orders recorded runs by id, which does not distinguish two runs of the same second.
  if not argument.run and last and last.narration.status ~= "completed" then
    argument.run, argument.uri = last.id, last.uri
  end
  M.start("prose.resume", argument)
end

--- Starts or resumes a run, and shows it.
function M.start(command, argument, bufnr)
  local here, uri = program()
  bufnr = bufnr or here
  argument.uri = argument.uri or uri
  client.execute(bufnr, command, argument, function(result, problem)
    if not result then
      fail(problem)
      return
    end
    local run = run_of(result.run)
    run.uri, run.folder = argument.uri, vim.uri_to_fname(result.folder)
    note_last(argument.uri, result.run)
    if vim.g.prose_run_window ~= false then
      show(run, false)
    else
      notify(("resumed run %s; `:Prose log` shows it"):format(result.run))
    end
  end)
end

local function prompts_in_lines(result)
  local lines = {}
  for number, prompt in ipairs(result.prompts) do
    local line = ""
    if type(prompt.line) == "number" then
      local is_imported = type(prompt.program) == "string"
      line = is_imported and (", %s:%d"):format(prompt.program, prompt.line) or (", line %d"):format(prompt.line)
    end
    local agent = type(prompt.agent) == "string" and (", agent %s"):format(prompt.agent) or ""
    local model = type(prompt.model) == "string" and (", model %s"):format(prompt.model) or ""
    local kind = prompt.kind and prompt.kind ~= "session" and (", " .. prompt.kind) or ""
    table.insert(lines, ("# Prompt %d%s%s%s%s"):format(number, line, kind, agent, model))
    for _, part in ipairs({ "system", "prompt" }) do
      local text = prompt[part]
      if type(text) == "string" and text ~= "" then
        table.insert(lines, "")
        vim.list_extend(lines, vim.split(text, "\n", { plain = true }))
      end
    end
    table.insert(lines, "")
  end
  if type(result.failed) == "table" then
    table.insert(lines, ("# With these replies, it fails at line %s"):format(tostring(result.failed.line)))
    vim.list_extend(lines, vim.split("\n" .. result.failed.message, "\n", { plain = true }))
  end
  return lines
end

--- Shows the prompts of a dry run.
function M.dry_run(argument, bufnr)
  local here, uri = program()
  argument.uri = argument.uri or uri
  client.execute(bufnr or here, "prose.dryRun", argument, function(result, problem)
    if not result then
      fail(problem)
      return
    end
    local shown = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(shown, 0, -1, false, prompts_in_lines(result))
    vim.bo[shown].bufhidden = "wipe"
    vim.bo[shown].modifiable = false
    vim.bo[shown].filetype = "markdown"
    vim.keymap.set("n", "q", window.close, { buffer = shown, nowait = true, desc = "close the window" })
    window.show(shown, (" dry run · %s "):format(Narration.count(#result.prompts, "prompt")), true)
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
  end)
end

--- Stops, pauses or continues the runs of a program, or one run: `cancel`, `pause` or `continue`.
function M.control(what, argument, bufnr)
  local here, uri = program()
  if not argument.run then
    argument.uri = argument.uri or uri
  end
  client.execute(bufnr or here, "prose." .. what, argument, function(_, problem)
    if problem then
      fail(problem)
    end
  end)
end

--- The last run of the program if it is active, and its open sessions.
local function last_sessions()
  local _, uri = program()
  local run = runs[last_of[uri] or ""]
  if not run or run.narration.status ~= "running" then
    return nil, {}
  end
  return run, run.narration:sessions()
end

--- The names of the open sessions of the last run: numbers, agents and names of results.
function M.sessions()
  local _, sessions = last_sessions()
  local names = {}
  for _, session in ipairs(sessions) do
    for _, name in pairs({ tostring(session.request), session.agent, session.name }) do
      if not vim.tbl_contains(names, name) then
        table.insert(names, name)
      end
    end
  end
  table.sort(names)
  return names
end

--- Skips or retries a session of the last run, named by its number, its agent or the name of its result; without a name, the only one.
function M.control_session(what, name)
  local run, sessions = last_sessions()
  if not run then
    notify("no run of this program is active", vim.log.levels.WARN)
    return
  end
  local found = vim.tbl_filter(function(session)
    return not name or tostring(session.request) == name or session.agent == name or session.name == name
  end, sessions)
  if #found == 1 then
    M.control(what, { run = run.id, request = found[1].request })
    return
  end
  local shown = vim.tbl_map(function(session)
    return ("%d (%s)"):format(session.request, session.agent or session.label)
  end, sessions)
  local expected = #shown > 0 and "; name one of these: " .. table.concat(shown, ", ") or ""
  local problem = name and ("`%s` names not exactly one open session"):format(name) or Narration.count(#sessions, "open session")
  notify(problem .. expected, vim.log.levels.WARN)
end

--- Executes a command of a code lens.
function M.execute(command, bufnr)
  -- Neovim removes the lenses of a line when one of them is used.
  require("prose.lenses").refresh(bufnr)
  local argument = vim.deepcopy(command.arguments and command.arguments[1] or {})
  if command.command == "prose.dryRun" then
    M.dry_run(argument, bufnr)
  elseif command.command == "prose.cancel" then
    M.control("cancel", argument, bufnr)
  elseif command.command == "prose.fork" then
    require("prose.forks").fork(argument, bufnr)
  else
    M.start(command.command, argument, bufnr)
  end
end

--- The ids of the active runs; only of those that are paused or are not, if `is_paused` is given.
function M.live(is_paused)
  local live = {}
  for id, run in pairs(runs) do
    local is_wanted = is_paused == nil or is_paused == (run.narration.pause ~= nil)
    if run.narration.status == "running" and is_wanted then
      table.insert(live, id)
    end
  end
  table.sort(live)
  return live
end

--- The JSON output of a command of `prose`, or nil if it fails. Some commands have a status for what they found.
function M.printed(arguments, folder, status)
  local output = {}
  local job = vim.fn.jobstart(vim.list_extend({ require("prose").command()[1] }, arguments), {
    cwd = folder,
    stdout_buffered = true,
    on_stdout = function(_, lines)
      output = lines
    end,
  })
  local ended = vim.fn.jobwait({ job }, 10000)[1]
  if ended ~= 0 and ended ~= status then
    return nil
  end
  local is_json, value = pcall(vim.fn.json_decode, table.concat(output, "\n"))
  return is_json and type(value) == "table" and value or nil
end

--- The recorded runs of the project of a buffer, latest first.
function M.recorded(bufnr)
  return M.printed({ "runs", "list", "--json" }, client.project_of(bufnr)) or {}
end

--- Reads the recorded run in a folder.
local function read_run(recorded)
  local run = run_of(recorded.id)
  run.folder = recorded.folder
  -- The live view of an active run is at least as new as its journal.
  if run.narration.status then
    return run
  end
  local view = M.printed({ "runs", "show", "--json", recorded.id }, vim.fn.fnamemodify(recorded.folder, ":h:h:h"))
  if view then
    run.narration:show(view)
  end
  if run.narration.from and vim.fn.filereadable(run.narration.from) == 1 then
    run.uri = vim.uri_from_fname(run.narration.from)
  end
  return run
end

--- Shows a run and moves the cursor to its window: the run whose id starts with the argument, or the last run.
function M.log(id)
  local bufnr, uri = program()
  local known = not id and runs[last_of[uri] or ""]
  if known then
    show(known, true)
    return
  end
  for _, recorded in ipairs(M.recorded(bufnr)) do
    if not id or vim.startswith(recorded.id, id) then
      show(read_run(recorded), true)
      return
    end
  end
  notify(id and ("no run %s in this project"):format(id) or "no program of this project has run yet", vim.log.levels.WARN)
end

--- Lets the user select a run of the project, and shows it.
function M.choose()
  local list = M.recorded((program()))
  if #list == 0 then
    notify("no program of this project has run yet")
    return
  end
  vim.ui.select(list, {
    prompt = "Runs",
    kind = "prose-run",
    format_item = function(run)
      return ("%s  %s  %s  %s"):format(run.id, run.status, Narration.count(run.sessions, "session"), vim.fn.fnamemodify(run.program, ":t"))
    end,
  }, function(chosen)
    if chosen then
      show(read_run(chosen), true)
    end
  end)
end

return M
