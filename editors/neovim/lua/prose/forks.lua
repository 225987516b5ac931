-- Forks of runs, and runs next to each other.

local client = require("prose.client")
local runs = require("prose.runs")

local M = {}

local function notify(message, level)
  vim.notify("OpenProse: " .. message, level or vim.log.levels.INFO)
end

--- Shows what a fork reuses and asks, and starts it if the user wants that. `started` is called then.
function M.fork(argument, bufnr, started)
  local here, uri = runs.program()
  bufnr = bufnr or here
  argument.uri = argument.uri or uri
  client.execute(bufnr, "prose.planFork", argument, function(plan, problem)
    if not plan then
      notify(problem, vim.log.levels.ERROR)
      return
    end
    local lines = vim.list_extend({ plan.title }, plan.details)
    for _, note in ipairs(plan.notes) do
      table.insert(lines, "note: " .. note)
    end
    vim.ui.select({ "Start", "Cancel" }, { prompt = table.concat(lines, "\n"), kind = "prose-fork" }, function(choice)
      if choice ~= "Start" then
        return
      end
      argument.confirmed = true
      runs.start("prose.fork", argument, bufnr)
      if started then
        started()
      end
    end)
  end)
end

--- Runs the program again from the statement under the cursor, in a program or in the window of a run.
function M.fork_here(argument)
  argument = argument or {}
  local bufnr, _, run = runs.program()
  local line = vim.api.nvim_win_get_cursor(0)[1]
  if run then
    local place = run.narration.places[line]
    if not place then
      notify("this line of the run has no statement of the program", vim.log.levels.WARN)
      return
    end
    argument.run, argument.from = run.id, tostring(place)
  else
    argument.line = line
  end
  M.fork(argument, bufnr)
end

--- Opens the reply of a session. Writing the buffer runs the program again with the reply that is in it.
function M.edit_reply(session, bufnr)
  client.request(bufnr, "prose/session", { folder = session.folder, request = session.request }, function(found, problem)
    if not found or type(found.reply) ~= "string" then
      notify(problem or "this session has no reply that could be changed", vim.log.levels.WARN)
      return
    end
    vim.cmd("split")
    local reply = vim.api.nvim_create_buf(false, false)
    vim.api.nvim_win_set_buf(0, reply)
    vim.bo[reply].buftype = "acwrite"
    vim.bo[reply].bufhidden = "wipe"
    vim.api.nvim_buf_set_name(reply, ("prose-reply://%s/%s#%d"):format(session.run, session.at, reply))
    vim.api.nvim_buf_set_lines(reply, 0, -1, false, vim.split(found.reply, "\n", { plain = true }))
    vim.bo[reply].filetype = "markdown"
    vim.bo[reply].modified = false
    vim.api.nvim_create_autocmd("BufWriteCmd", {
      buffer = reply,
      callback = function()
        local text = table.concat(vim.api.nvim_buf_get_lines(reply, 0, -1, false), "\n")
        local argument = { uri = session.uri, run = session.run, replies = { { at = session.at, text = text } } }
        M.fork(argument, bufnr, function()
          if vim.api.nvim_buf_is_valid(reply) then
            vim.bo[reply].modified = false
            vim.api.nvim_buf_delete(reply, {})
          end
        end)
      end,
    })
    notify("write this buffer to run the program again with the reply")
  end)
end

local kinds = { judge = "condition", choose = "choice" }

--- The steps of one of two runs as lines.
local function lines_of(comparison, side)
  local lines = {}
  for _, pair in ipairs(comparison.steps) do
    local step = pair[side]
    if step then
      local agent = step.agent and " " .. step.agent or ""
      local line = step.program and ("%s:%d"):format(step.program, step.line) or ("line %d"):format(step.line)
      table.insert(lines, ("%s%s at %s (%s)"):format(kinds[step.kind] or step.kind, agent, line, step.place))
      for _, part in ipairs({ "asked", "result" }) do
        if step[part] ~= "" then
          table.insert(lines, "  " .. part .. ":")
          for _, line in ipairs(vim.split(step[part], "\n", { plain = true })) do
            table.insert(lines, "    " .. line)
          end
        end
      end
      table.insert(lines, "")
    end
  end
  return lines
end

local function show_side(id, lines)
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype = "nofile"
  vim.bo[bufnr].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.api.nvim_buf_set_name(bufnr, ("prose-diff://%s#%d"):format(id, bufnr))
  vim.bo[bufnr].modifiable = false
  vim.cmd("diffthis")
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = bufnr, nowait = true, desc = "close the comparison" })
end

--- The runs to compare: those that are named, or the last run of the program with its previous one.
local function chosen(bufnr, a, b)
  if a and b then
    return a, b
  end
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ":t")
  local ids = {}
  for _, run in ipairs(runs.recorded(bufnr)) do
    if vim.fn.fnamemodify(run.program, ":t") == name then
      table.insert(ids, run.id)
    end
  end
  return a or ids[2], ids[1]
end

--- Shows two runs next to each other, in a tab of their own.
function M.diff(a, b)
  local bufnr = runs.program()
  a, b = chosen(bufnr, a, b)
  if not a or not b then
    notify("this program has no two runs; name them: `:Prose diff RUN RUN`", vim.log.levels.WARN)
    return
  end
  local comparison = runs.printed({ "runs", "diff", "--json", a, b }, client.project_of(bufnr), 1)
  if not comparison then
    notify(("the runs %s and %s cannot be compared; `:Prose runs` lists the runs"):format(a, b), vim.log.levels.ERROR)
    return
  end
  vim.cmd("tabnew")
  show_side(comparison.a.run, lines_of(comparison, "a"))
  vim.cmd("rightbelow vnew")
  show_side(comparison.b.run, lines_of(comparison, "b"))
end

return M
