-- Looks at what the editor makes of a program: highlighting by the syntax tree, completion, hover, help, health.

local player = dofile(vim.env.PROSE_SCENES .. "/player.lua")

--- The captures at the first place where a pattern matches, the last of which counts.
local function captures(pattern)
  vim.fn.cursor(1, 1)
  local line = vim.fn.search(pattern, "cW")
  local found = vim.treesitter.get_captures_at_pos(0, line - 1, vim.fn.col(".") - 1)
  return vim.tbl_map(function(one)
    return ("%s.%s"):format(one.lang, one.capture)
  end, found)
end

local function captured(patterns)
  local all = {}
  for _, pattern in ipairs(patterns) do
    all[pattern] = captures(pattern)
  end
  return all
end

player.play(function(seen)
  player.wait_for_server()
  local program = vim.api.nvim_get_current_buf()

  player.type_keys(":Prose install-parser<CR>")
  player.wait_for("the parser", function()
    return vim.treesitter.highlighter.active[program]
  end)
  vim.treesitter.get_parser(program):parse(true)
  seen.captures = captured({ "session:", "writer:", '"Write warmly', "topic}", "a = ", "for whom", "# Two", "parallel" })

  -- Other editors are not here to say whether their queries fit the grammar.
  seen.misfits = {}
  for _, pattern in ipairs({ "helix/queries/prose/*.scm", "zed/languages/prose/*.scm" }) do
    local files = vim.fn.glob(vim.env.PROSE_PLUGIN .. "/../" .. pattern, false, true)
    assert(#files > 0, "no file is " .. pattern)
    for _, file in ipairs(files) do
      local fits, problem = pcall(vim.treesitter.query.parse, "prose", table.concat(vim.fn.readfile(file), "\n"))
      if not fits then
        table.insert(seen.misfits, ("%s: %s"):format(file, problem))
      end
    end
  end

  vim.wo.foldmethod = "expr"
  vim.wo.foldexpr = "v:lua.vim.treesitter.foldexpr()"
  seen.fold_levels = player.wait_for("folds", function()
    local levels = {}
    for line = 1, vim.fn.line("$") do
      table.insert(levels, vim.fn.foldlevel(line))
    end
    return vim.tbl_contains(levels, 1) and levels
  end)
  vim.wo.foldenable = false

  vim.fn.cursor(1, 1)
  vim.fn.search("session: writer")
  vim.fn.search("writer")
  vim.lsp.buf.hover()
  seen.hover = player.wait_for_float("markdown", "Write warmly")
  player.type_keys("<Esc>h")

  vim.cmd("Prose describe")
  seen.description = player.wait_for("the page of the program", function()
    return vim.bo.filetype == "markdown" and player.text()
  end)
  vim.cmd("close")

  player.type_keys('Go<CR>session "About {<C-x><C-o>')
  seen.completion = player.wait_for("completion", function()
    local items = vim.fn.complete_info({ "items" }).items
    return #items > 0 and vim.tbl_map(function(item)
      return item.word
    end, items)
  end)
  player.type_keys("<C-e><Esc>u")

  player.type_keys("Go<C-d>parallel:<CR>a<Esc>")
  seen.indented = player.wait_for("an indented line", function()
    return vim.api.nvim_get_mode().mode == "n" and vim.api.nvim_get_current_line() ~= "" and vim.api.nvim_get_current_line()
  end)
  player.type_keys("u")

  vim.cmd("helptags " .. vim.fn.fnameescape(vim.env.PROSE_PLUGIN .. "/doc"))
  seen.tags = vim.tbl_map(function(tag)
    return tag:match("^[^\t]*")
  end, vim.fn.readfile(vim.env.PROSE_PLUGIN .. "/doc/tags"))
  vim.cmd("help :Prose")
  seen.help = vim.api.nvim_get_current_line()
  vim.cmd("helpclose")

  vim.cmd("checkhealth prose")
  seen.health = player.wait_for("the report", function()
    return vim.bo.filetype == "checkhealth" and player.text():find("runs are stored", 1, true) and player.text()
  end)

  vim.cmd("edit notes.md")
  vim.treesitter.start(0, "markdown")
  vim.treesitter.get_parser(0, "markdown"):parse(true)
  seen.fence = captures("session")
  seen.fence_diagnostics = player.wait_for("the mistake in Markdown", function()
    return #player.diagnostics() > 0 and player.diagnostics()
  end)
end)
