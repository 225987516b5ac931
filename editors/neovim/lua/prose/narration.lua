-- Tells a run in lines, from the events that `prose run --json`, the server and the journal of a run give.

local M = {}
M.__index = M

-- How many characters of a task or of a reply are shown.
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
  if milliseconds < 1000 then
    return ("%d ms"):format(milliseconds)
  elseif milliseconds < 60000 then
    return ("%.1f s"):format(milliseconds / 1000)
  end
  return ("%d min %d s"):format(math.floor(milliseconds / 60000), math.floor(milliseconds / 1000) % 60)
end

--- A number of things in words.
function M.count(number, noun, plural)
  return ("%d %s"):format(number, number == 1 and noun or plural or noun .. "s")
end

function M.new()
  return setmetatable({}, M):reset()
end

function M:reset()
  -- The lines, and for each the line of the program that it is about, from 1.
  self.lines, self.places = {}, {}
  self.sessions, self.questions = {}, {}
  self.program, self.status = nil, nil
  self.started_at, self.running, self.done = 0, 0, 0
  return self
end

function M:put(text, event, at)
  at = at or #self.lines + 1
  self.lines[at] = text
  -- Imported programs have lines of their own, which are not those of the program that is open.
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

local tellers = {}

tellers["run-started"] = function(self, event)
  self:reset()
  self.program, self.run, self.from, self.started_at = event.program, event.run, event.from, event.at
  self.status = "running"
  local made_up = event.harness == "offline" and " (generated replies)" or ""
  self:put(("Run %s of %s with %s%s"):format(event.run, event.program, event.harness, made_up), event)
end

tellers["resumed"] = function(self, event)
  self.status = "running"
  -- What was at work when the run stopped is asked once more, from now on.
  for _, session in pairs(self.sessions) do
    session.since = event.at
  end
  self:put("The run resumes; recorded results are reused.", event)
end

tellers["session-started"] = function(self, event, indent)
  local task = event.task
  local who = is_given(task.agent) and task.agent .. ": " or ""
  local what = beginning(task.task ~= "" and task.task or task.binding.name)
  local retry = task.attempt > 0 and (" (retry %d of %d)"):format(task.attempt, task.retries) or ""
  local session = { text = indent .. who .. what .. retry, since = event.at }
  session.at = self:put("⟳ " .. session.text, event)
  self.sessions[event.request] = session
  self.running = self.running + 1
end

tellers["effect"] = function(self, event)
  local session = self.sessions[event.request]
  local reply = event.outcome.reply
  if session and reply then
    session.reply, session.usage = reply.text, reply.usage
  end
end

tellers["session-ended"] = function(self, event)
  local session = self.sessions[event.request]
  if not session then
    return
  end
  self.sessions[event.request] = nil
  self.running, self.done = self.running - 1, self.done + 1
  local took = duration(event.at - session.since)
  if is_given(session.usage) then
    took = ("%s, %s"):format(took, M.count(session.usage.input_tokens + session.usage.output_tokens, "token"))
    if is_given(session.usage.cost) then
      took = ("%s, $%.4f"):format(took, session.usage.cost)
    end
  end
  if event.status == "complete" then
    local reply = session.reply and session.reply ~= "" and " → " .. beginning(session.reply) or ""
    self:put(("✓ %s (%s)%s"):format(session.text, took, reply), event, session.at)
  elseif event.status == "skipped" then
    self:put(("■ %s (%s)"):format(session.text, took), event, session.at)
  else
    local why = is_given(event.error) and ": " .. beginning(event.error.message) or ""
    self:put(("✗ %s (%s)%s"):format(session.text, took, why), event, session.at)
  end
end

tellers["retrying"] = function(self, event, indent)
  if event.delay_ms > 0 then
    self:put(("  %swaits %s before it tries again"):format(indent, duration(event.delay_ms)), event)
  end
end

tellers["input-asked"] = function(self, event, indent)
  local name = is_given(event.name) and event.name .. ": " or ""
  self.questions[event.name or ""] = self:put(("? %s%s%s"):format(indent, name, beginning(event.prompt)), event)
end

tellers["input-given"] = function(self, event, indent)
  local name = is_given(event.name) and event.name or "answer"
  local at = self.questions[event.name or ""]
  self:put(("✓ %s%s = %s"):format(indent, name, beginning(text_of(event.value))), event, at)
end

tellers["parallel-started"] = function(self, event, indent)
  local branches = M.count(#event.branches, "branch", "branches")
  self:put(("  %sparallel: %s, %s"):format(indent, branches, event.strategy), event)
end

tellers["iteration-started"] = function(self, event, indent)
  local of = is_given(event.max) and (" of %d"):format(event.max) or ""
  self:put(("  %siteration %d%s"):format(indent, event.number, of), event)
end

tellers["condition-judged"] = function(self, event, indent)
  if event.of ~= "value" then
    local reason = event.reason ~= "" and (" (%s)"):format(beginning(event.reason)) or ""
    self:put(("  %scondition %s%s"):format(indent, event.met and "met" or "not met", reason), event)
  end
end

tellers["chosen"] = function(self, event, indent)
  self:put(("  %schosen: %s"):format(indent, beginning(event.label)), event)
end

tellers["frame-entered"] = function(self, event, indent)
  self:put(("  %sblock %s (call %d)"):format(indent, event.block, event.id), event)
end

tellers["import-called"] = function(self, event, indent)
  self:put(("  %sprogram %s"):format(indent, event.alias), event)
end

tellers["caught"] = function(self, event, indent)
  self:put(("  %scaught: %s"):format(indent, beginning(event.error.message)), event)
end

tellers["warning"] = function(self, event, indent)
  self:put(("! %s%s"):format(indent, beginning(event.message)), event)
end

tellers["run-ended"] = function(self, event)
  self.status = event.status
  for _, session in pairs(self.sessions) do
    self:put("■ " .. session.text, { site = vim.NIL }, session.at)
  end
  self.sessions, self.running = {}, 0
  local how = ("%s after %s, %s"):format(event.status, duration(event.at - self.started_at), M.count(event.sessions, "session"))
  if event.status == "interrupted" then
    how = how .. "; `:Prose resume` goes on"
  end
  self:put("", {})
  local problem = event.error
  self:put(how, is_given(problem) and problem.line > 0 and { site = { line = problem.line } } or {})
  if is_given(problem) then
    self:put_text(problem.message)
  end
  for _, output in ipairs(event.outputs) do
    self:put("", {})
    self:put(output[1] .. ":", {})
    self:put_text(text_of(output[2]))
  end
  if #event.outputs == 0 and is_given(event.value) then
    self:put("", {})
    self:put_text(text_of(event.value))
  end
end

--- Takes an event into account.
function M:tell(event)
  local teller = tellers[event.event]
  if teller then
    teller(self, event, ("  "):rep(math.min(event.nesting or 0, 12)))
  end
end

--- What stands above the lines: the program and how far it is.
function M:title()
  local counts = self.status == "running" and ("%d running, %d done"):format(self.running, self.done)
    or M.count(self.done, "session")
  return (" %s · %s · %s "):format(self.program or "a run", self.status or "starting", counts)
end

return M
