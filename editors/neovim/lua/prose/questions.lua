-- Inputs that a running program asks for, by `vim.ui.input`. One is asked at a time, also if parallel branches ask.

local M = {}

local waiting = {}
local current = nil

local function prompt_of(params)
  local name = type(params.name) == "string" and params.name .. ": " or ""
  local optional = params.optional and " (may be left empty)" or ""
  local prompt = name .. params.prompt .. optional
  return prompt .. (prompt:match("%p$") and " " or ": ")
end

local function next_question()
  current = table.remove(waiting, 1)
  if not current then
    return
  end
  local question = current
  vim.ui.input({ prompt = prompt_of(question.params) }, function(value)
    question.answer(value)
    if current == question then
      next_question()
    end
  end)
end

--- Takes the questions of a run back, because it has ended.
function M.withdraw(run)
  local left = {}
  for _, question in ipairs(waiting) do
    if question.params.run == run then
      question.answer(nil)
    else
      table.insert(left, question)
    end
  end
  waiting = left
  -- The input line of Neovim itself is left as a person leaves it. What other plugins put in its place stays, and its answer is of no effect.
  if current and current.params.run == run and vim.fn.getcmdtype() == "@" then
    vim.api.nvim_input("<Esc>")
  end
end

--- Answers the request `prose/input`: asks the user, and gives what the server is told.
function M.ask(params)
  local thread, is_main = coroutine.running()
  local value, is_answered = nil, false
  local is_waiting = false
  local question = { params = params }
  function question.answer(answer)
    if is_answered then
      return
    end
    is_answered = true
    -- Nothing is a value for a text, but none for what may be left out.
    value = not (answer == "" and params.optional) and answer or nil
    if is_waiting then
      coroutine.resume(thread)
    end
  end
  table.insert(waiting, question)
  local function start()
    if not current then
      next_question()
    end
  end
  if thread and not is_main then
    -- The input line of Neovim answers before it returns, so that it must not be opened before this waits.
    vim.schedule(start)
    is_waiting = true
    coroutine.yield()
  else
    -- Before 0.10 a request is answered as soon as its handler returns.
    start()
    vim.wait(2 ^ 31 - 1, function()
      return is_answered
    end, 50)
  end
  return { value = value == nil and vim.NIL or value }
end

return M
