-- Asks for the inputs of running programs with `vim.ui.input`, or `vim.ui.select` where the prompt offers answers, one at a time, also for parallel
-- branches.

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
  local choices = question.params.choices
  if type(choices) == "table" and #choices > 0 then
    local options = {
      prompt = prompt_of(question.params),
      format_item = function(choice)
        return choice.title
      end,
    }
    vim.ui.select(choices, options, function(choice)
      question.answer(choice and choice.value or nil)
      if current == question then
        next_question()
      end
    end)
    return
  end
  vim.ui.input({ prompt = prompt_of(question.params) }, function(value)
    question.answer(value)
    if current == question then
      next_question()
    end
  end)
end

--- Cancels the questions of a run that has ended.
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
  -- Neovim's own input line is closed like by the user. Input windows of other plugins stay open, and their result is ignored.
  if current and current.params.run == run and vim.fn.getcmdtype() == "@" then
    vim.api.nvim_input("<Esc>")
  end
end

--- Handles the request `prose/input`: asks the user and returns the result for the server.
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
    -- An empty text is a value, but for an optional input it means no value.
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
    -- Neovim's own input line calls back before it returns, so it must not open before this waits.
    vim.schedule(start)
    is_waiting = true
    coroutine.yield()
  else
    -- Before 0.10, a request is answered when its handler returns.
    start()
    vim.wait(2 ^ 31 - 1, function()
      return is_answered
    end, 50)
  end
  return { value = value == nil and vim.NIL or value }
end

return M
