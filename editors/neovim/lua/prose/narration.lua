-- Renders the view of a run, from the server or from `prose runs show --json`, as lines.

local M = {}
M.__index = M

-- The maximum number of shown characters of a task or a reply.
local shown_characters = 72

local function is_given(value)
  return value ~= nil and value ~= vim.NIL
end

local function text_of(value)
  if type(value) == "string" then
    return value
  end
  return is_given(value) and vim.fn.json_encode(value) or "null"
end

local function beginning(text)
  local line = vim.trim(vim.trim(text):match("^[^\r\n]*")):gsub("%s", " ")
  if vim.fn.strchars(line) > shown_characters then
    return vim.fn.strcharpart(line, 0, shown_characters) .. "…"
  end
  return line
end

local function duration(milliseconds)
  if milliseconds < 100 then
    return ("%d ms"):format(milliseconds)
  elseif milliseconds < 59950 then
    return ("%.1f s"):format(milliseconds / 1000)
  end
  local seconds = math.floor(milliseconds / 1000 + 0.5)
  if seconds < 3600 then
    return ("%d m %d s"):format(math.floor(seconds / 60), seconds % 60)
  end
  return ("%d h %d m"):format(math.floor(seconds / 3600), math.floor(seconds % 3600 / 60))
end

--- A number with its noun.
function M.count(number, noun, plural)
  return ("%d %s"):format(number, number == 1 and noun or plural or noun .. "s")
end

function M.new()
  return setmetatable({}, M):reset()
end

function M:reset()
  -- The lines, each with the line of its statement in the program, from 1.
  self.lines, self.places = {}, {}
  -- The entries of the log with a line, by their nodes.
  self.entries_of = {}
  -- The open sessions and what their agents report, by their ids.
  self.open, self.activities = {}, {}
  self.program, self.status, self.usage, self.pause = nil, nil, nil, nil
  self.running, self.done = 0, 0
  return self
end

function M:put(text, event, at)
  at = at or #self.lines + 1
  self.lines[at] = text
  -- Lines of imported programs are not lines of the open program.
  local site = event.site
  self.places[at] = is_given(site) and (site.program or 0) == 0 and site.line or false
  self.changed_from = math.min(self.changed_from or at, at)
  return at
end

function M:put_text(text)
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    self:put("  " .. line, {})
  end
end

local function usage_text(usage)
  local text = M.count(usage.input_tokens + usage.output_tokens, "token")
  return is_given(usage.cost) and ("%s, $%.4f"):format(text, usage.cost) or text
end

local function paused_text(pause)
  return is_given(pause.by) and "paused by " .. pause.by or "paused"
end

local function took(node, attempt)
  -- Without the time in which it waited for an agent or for people.
  local from = math.max(attempt.again or attempt.from, attempt.began or 0)
  local parts = { duration(attempt.to - from - (attempt.waited or 0)) }
  if attempt.waited then
    table.insert(parts, ("waited %s for answers"):format(duration(attempt.waited)))
  end
  if attempt.calls then
    table.insert(parts, M.count(attempt.calls, "tool call"))
  end
  local usage = attempt.usage or node.usage
  if usage then
    table.insert(parts, usage_text(usage))
  end
  return table.concat(parts, ", ")
end

-- What an agent does now, in a few words.
local function activity_text(activity)
  local questions, tool, retry = activity.questions, activity.tool, activity.retry
  local is_open = tool and (tool.status == "running" or tool.status == "pending")
  if questions then
    return "waits for permission: " .. beginning(questions[#questions].title)
  elseif activity.stalledSince then
    return "no activity" .. (is_open and " in " .. beginning(tool.title) or "")
  elseif retry then
    return "provider failed" .. (retry.status and " " .. retry.status or "") .. ", retrying"
  elseif is_open then
    return beginning(tool.title)
  elseif activity.reasoning then
    return "thinking"
  end
  return beginning(activity.text or tool and tool.title or "")
end

-- What an open session does, its tool calls and its usage.
local function progress_text(attempt, activity)
  local parts = {}
  local doing = activity and activity_text(activity) or ""
  if doing ~= "" then
    table.insert(parts, doing)
  end
  if activity and activity.calls > 0 then
    table.insert(parts, M.count(activity.calls, "tool call"))
  end
  if attempt.usage then
    table.insert(parts, usage_text(attempt.usage))
  end
  return #parts > 0 and " · " .. table.concat(parts, " · ") or ""
end

-- The line of an attempt of a session, which changes when the attempt ends.
local function attempt_line(node, entry, indent, activity)
  local attempt = node.attempts[entry.attempt + 1]
  local who = node.agent and node.agent .. ": " or ""
  local what = beginning(node.label ~= "" and node.label or node.name)
  local retry = entry.attempt > 0 and (" (retry %d of %d)"):format(entry.attempt, node.retries) or ""
  local text = indent .. who .. what .. retry
  if not attempt.to then
    return "⟳ " .. text .. progress_text(attempt, activity)
  elseif attempt.status == "complete" then
    local reply = node.note and " → " .. beginning(node.note) or ""
    return ("✓ %s (%s)%s"):format(text, took(node, attempt), reply)
  elseif attempt.status == "failed" then
    local why = attempt.error and ": " .. beginning(attempt.error) or ""
    return ("✗ %s (%s)%s"):format(text, took(node, attempt), why)
  elseif attempt.status == "skipped" then
    return ("■ %s (%s)"):format(text, took(node, attempt))
  end
  return "■ " .. text
end

-- The lines of other nodes.
local node_lines = {
  input = function(node, indent)
    if node.status == "complete" then
      return ("✓ %s%s = %s"):format(indent, node.label ~= "" and node.label or "answer", beginning(node.note or ""))
    end
    local name = node.label ~= "" and node.label .. ": " or ""
    return ("? %s%s%s"):format(indent, name, beginning(node.detail or ""))
  end,
  parallel = function(node, indent)
    return ("  %sparallel: %s, %s"):format(indent, node.detail:match("^[^,]*"), node.strategy)
  end,
  iteration = function(node, indent)
    return ("  %s%s"):format(indent, node.label)
  end,
  condition = function(node, indent)
    local answer, reason = node.note:match("^(%a+):? ?(.*)$")
    reason = reason ~= "" and (" (%s)"):format(beginning(reason)) or ""
    return ("  %scondition %s%s"):format(indent, answer == "yes" and "met" or "not met", reason)
  end,
  choice = function(node, indent)
    return ("  %schosen: %s"):format(indent, beginning(node.chosen))
  end,
  block = function(node, indent)
    return ("  %sblock %s (%s)"):format(indent, node.label, node.detail)
  end,
  program = function(node, indent)
    return ("  %sprogram %s"):format(indent, node.label)
  end,
  part = function(node, indent)
    return ("  %scaught: %s"):format(indent, beginning(node.detail or ""))
  end,
}

-- The line of an entry of the log, if it has one.
local function line(self, entry, node)
  local indent = ("  "):rep(math.min(entry.nesting, 12))
  if entry.kind == "started" then
    local made_up = entry.harness == "offline" and " (generated replies)" or ""
    return ("Run %s of %s with %s%s"):format(self.run, self.program, entry.harness, made_up)
  elseif entry.kind == "resumed" then
    return "The run resumes; recorded results are reused."
  elseif entry.kind == "attempt" then
    return attempt_line(node, entry, indent, self.activities[entry.node])
  elseif entry.kind == "pause" then
    return ("  %swaits %s before it tries again"):format(indent, duration(entry.delay))
  elseif entry.kind == "provider-retry" then
    local status = is_given(entry.status) and " with status " .. entry.status or ""
    return ("  %sprovider failed%s, retrying in %s: %s"):format(indent, status, duration(entry.delay), beginning(entry.message))
  elseif entry.kind == "stalled" then
    return ("! %sno activity for %s"):format(indent, duration(entry.silent))
  elseif entry.kind == "asked" then
    return ("? %spermission: %s"):format(indent, beginning(entry.title))
  elseif entry.kind == "warning" then
    return ("! %s%s"):format(indent, beginning(entry.message))
  elseif entry.kind == "node" and node_lines[node.kind] then
    return node_lines[node.kind](node, indent)
  end
end

function M:put_end(ended, census, milliseconds)
  local status = ended.status
  if status == "completed" and census and census.failureCount > 0 then
    status = "completed with " .. M.count(census.failureCount, "failure")
  end
  local how = ("%s after %s, %s"):format(status, duration(milliseconds), M.count(ended.sessions, "session"))
  if ended.status == "interrupted" then
    how = how .. "; `:Prose resume` continues it"
  end
  self:put("", {})
  local problem = ended.error
  self:put(how, is_given(problem) and problem.line > 0 and { site = { line = problem.line } } or {})
  if is_given(problem) then
    self:put_text(problem.message)
  end
  if status ~= ended.status then
    self:put_text(table.concat(census.lines, "\n"))
  end
  for _, output in ipairs(ended.outputs) do
    self:put("", {})
    self:put(output[1] .. ":", {})
    self:put_text(text_of(output[2]))
  end
  if #ended.outputs == 0 and is_given(ended.value) then
    self:put("", {})
    self:put_text(text_of(ended.value))
  end
end

--- Applies the changes of the view of the run.
function M:show(view)
  if view.whole then
    self:reset()
    self.program, self.run, self.from = view.program, view.run, view.from
  end
  self.done = view.ended
  local pause = is_given(view.pause) and view.pause or nil
  if (pause == nil) ~= (self.pause == nil) and not view.whole and not view["end"] then
    self:put(pause and paused_text(pause) .. "; running sessions complete" or "continued", {})
  end
  self.pause = pause
  local nodes = {}
  for _, activity in ipairs(view.activities or {}) do
    self.activities[activity.node] = activity
  end
  for _, node in ipairs(view.nodes) do
    nodes[node.id] = node
    if node.to then
      self.open[node.id], self.activities[node.id] = nil, nil
    elseif node.attempts then
      self.open[node.id] = node
    end
    for at, entry in pairs(self.entries_of[node.id] or {}) do
      local text = line(self, entry, node)
      if text ~= self.lines[at] then
        self:put(text, entry, at)
      end
    end
  end
  for _, activity in ipairs(view.activities or {}) do
    local node = not nodes[activity.node] and self.open[activity.node]
    for at, entry in pairs(node and self.entries_of[node.id] or {}) do
      local text = line(self, entry, node)
      if text ~= self.lines[at] then
        self:put(text, entry, at)
      end
    end
  end
  -- The node of the run changes with every event but what agents report.
  local root = nodes[0]
  if root then
    self.usage = root.usage
    self.running = root.sessions and root.sessions.running + root.sessions.waiting or 0
    self.status = not root.to and "running" or view["end"] and view["end"].status or self.status
  end
  for _, entry in ipairs(view.entries) do
    if entry.kind == "ended" then
      self:put_end(view["end"], view.census, root.to - root.from)
    else
      local text = line(self, entry, nodes[entry.node])
      local at = text and self:put(text, entry)
      -- The results of sessions and inputs are shown in the lines of their starts.
      if at and (entry.kind == "attempt" or nodes[entry.node] and nodes[entry.node].kind == "input") then
        self.entries_of[entry.node] = self.entries_of[entry.node] or {}
        self.entries_of[entry.node][at] = entry
      end
    end
  end
end

--- The open sessions, in the order in which they were requested: their `request`, `name`, `agent` and `label`.
function M:sessions()
  local sessions = {}
  for _, node in pairs(self.open) do
    local last = node.attempts[#node.attempts]
    if last and not last.to then
      table.insert(sessions, { request = last.request, name = node.name, agent = node.agent, label = node.label })
    end
  end
  table.sort(sessions, function(one, other)
    return one.request < other.request
  end)
  return sessions
end

--- The title: the program and its progress.
function M:title()
  local counts = self.status == "running" and ("%d running, %d done"):format(self.running, self.done)
    or M.count(self.done, "session")
  if self.usage then
    counts = counts .. " · " .. usage_text(self.usage)
  end
  local status = self.status or "starting"
  if self.pause and status == "running" then
    status = paused_text(self.pause)
  end
  return (" %s · %s · %s "):format(self.program or "a run", status, counts)
end

return M
