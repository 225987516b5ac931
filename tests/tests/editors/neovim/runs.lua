-- Runs a program that asks for an input, stops it, resumes it, and looks at what is shown.

local player = dofile(vim.env.PROSE_SCENES .. "/player.lua")

local function prompt()
  return vim.fn.getcmdtype() == "@" and (vim.fn.exists("*getcmdprompt") == 1 and vim.fn.getcmdprompt() or "asked")
end

local function wait_for_lens(title)
  return player.wait_for(("the lens `%s`"):format(title), function()
    return vim.tbl_contains(player.lenses(), title) and player.lenses()
  end)
end

player.play(function(seen)
  player.wait_for_server()
  local program = vim.api.nvim_get_current_buf()
  seen.commands = vim.fn.getcompletion("Prose ", "cmdline")
  seen.options = vim.fn.getcompletion("Prose run ", "cmdline")
  -- The first lenses come with the cursor's rest in the oldest versions.
  vim.api.nvim_exec_autocmds("CursorHold", { buffer = program })
  seen.lenses = wait_for_lens("Dry run")

  -- A question is taken back when the run is stopped.
  player.type_keys(":Prose run --script=slow.toml<CR>")
  seen.question = player.wait_for("the question", prompt)
  require("prose.runs").control("cancel", {}, program)
  seen.withdrawn = player.wait_for_float("prose-run", "interrupted after")
  player.wait_for("the question to be taken back", function()
    return vim.fn.getcmdtype() == ""
  end)

  player.type_keys(":Prose run --script=slow.toml<CR>")
  player.wait_for("the question", prompt)
  player.type_keys("high tides<CR>")
  seen.running = player.wait_for_float("prose-run", "⟳ Put it together")
  -- The window is beside the program, which keeps the cursor.
  seen.cursor_stays = vim.api.nvim_get_current_buf() == program
  wait_for_lens("■ Stop")
  seen.live = vim.fn.getcompletion("Prose cancel ", "cmdline")

  player.type_keys(":Prose pause<CR>")
  seen.paused = player.wait_for_float("prose-run", "running sessions complete")
  player.wait_for("the run to be one that can continue", function()
    return #vim.fn.getcompletion("Prose continue ", "cmdline") == 1 and #vim.fn.getcompletion("Prose pause ", "cmdline") == 0
  end)
  seen.sessions = vim.fn.getcompletion("Prose skip ", "cmdline")
  player.type_keys(":Prose skip nobody<CR>")
  seen.several = player.wait_for("the session to be asked for", function()
    return vim.api.nvim_exec("messages", true):match("OpenProse: (`nobody` names[^\n]*)")
  end)
  player.type_keys(":Prose retry reply<CR>")
  player.type_keys(":Prose continue<CR>")
  player.wait_for_float("prose-run", "continued")

  player.type_keys(":Prose cancel<CR>")
  seen.stopped = player.wait_for_float("prose-run", "interrupted after")
  wait_for_lens("Resume last run")

  player.type_keys(":Prose resume --harness=offline<CR>")
  seen.resumed = player.wait_for_float("prose-run", "completed after")

  local original = require("prose.runs").recorded(program)[1]
  player.type_keys(",l")
  player.wait_for("the window to be entered", function()
    return vim.bo.filetype == "prose-run"
  end)
  player.type_keys("/Put it<CR><CR>")
  seen.statement = player.wait_for("the statement", function()
    return vim.api.nvim_get_current_buf() == program and vim.api.nvim_get_current_line()
  end)
  player.type_keys(",l")
  player.wait_for("the window to be entered", function()
    return vim.bo.filetype == "prose-run"
  end)
  player.type_keys("s")
  seen.state = player.wait_for("state.md", function()
    return vim.fn.expand("%:t") == "state.md" and player.text()
  end)
  player.type_keys(":quit<CR>")
  player.wait_for("the program", function()
    return vim.api.nvim_get_current_buf() == program
  end)

  -- Choosing is in the hands of whatever shows choices.
  local choose = vim.ui.select
  vim.ui.select = function(items, options, done)
    seen.runs = vim.tbl_map(options.format_item, items)
    for number, text in ipairs(seen.runs) do
      if text:find("interrupted", 1, true) then
        return done(items[number])
      end
    end
  end
  -- As after a restart of the editor, which knows of runs only what is recorded.
  package.loaded["prose.runs"] = nil
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[bufnr].filetype == "prose-run" then
      vim.api.nvim_buf_delete(bufnr, { force = true })
    end
  end
  player.type_keys(":Prose runs<CR>")
  seen.log = player.wait_for_float("prose-run", "interrupted after")
  player.type_keys("q")
  player.wait_for("the window to be closed", function()
    return not player.float("prose-run")
  end)
  vim.ui.select = function(items, options, done)
    for _, item in ipairs(items) do
      if options.format_item(item) == "Dry run" then
        return done(item)
      end
    end
  end
  player.type_keys("gg<Plug>(prose-lens)")
  seen.dry_run = player.wait_for_float("markdown", "# Prompt 4")
  player.type_keys("q")
  vim.ui.select = choose

  -- A new run that keeps what came before the last statement.
  local function confirm(note)
    vim.ui.select = function(items, options, done)
      seen[note] = options.prompt
      done(items[1])
    end
  end
  confirm("plan")
  player.type_keys("G:Prose fork --harness=offline --run=" .. original.id .. "<CR>")
  seen.fork = player.wait_for_float("prose-run", "completed after")

  -- What if it had replied something else.
  confirm("plan_of_reply")
  require("prose.forks").edit_reply({
    uri = vim.uri_from_bufnr(program),
    run = original.id,
    folder = vim.uri_from_fname(original.folder),
    at = "8",
    request = 2,
  }, program)
  seen.reply = player.wait_for("the reply", function()
    return vim.bo.buftype == "acwrite" and player.text()
  end)
  player.type_keys("ggdGiIt is high tide.<Esc>:write<CR>")
  seen.what_if = player.wait_for_float("prose-run", "It is high tide.")
  player.wait_for("the buffer of the reply to be closed", function()
    return vim.bo.buftype ~= "acwrite"
  end)
  vim.ui.select = choose
  require("prose.runs").control("cancel", {}, program)
  player.wait_for_float("prose-run", "interrupted after")

  player.type_keys(":Prose diff<CR>")
  seen.diff = player.wait_for("the diff", function()
    if vim.fn.tabpagenr("$") < 2 or not vim.wo.diff then
      return
    end
    return vim.tbl_map(function(window)
      return player.text(vim.api.nvim_win_get_buf(window))
    end, vim.api.nvim_tabpage_list_wins(0))
  end)
  player.type_keys("q")
  player.wait_for("the tab to be closed", function()
    return vim.fn.tabpagenr("$") == 1
  end)

  player.type_keys(":Prose rnu<CR>")
  seen.mistaken = player.wait_for("the mistake to be explained", function()
    return vim.api.nvim_exec("messages", true):match("OpenProse: (unknown command `:Prose [^\n]*)")
  end)
end)
