-- Looks at the diagnostics of the open file, types the fix, looks again, undoes and redoes it.

local player = dofile(vim.env.PROSE_SCENES .. "/player.lua")

local function clear()
  return #vim.diagnostic.get(0) == 0
end

local function mistaken()
  return not clear()
end

player.play(function(seen)
  player.wait_for_server()
  seen.filetype = vim.bo.filetype
  seen.commentstring = vim.bo.commentstring
  seen.shiftwidth = vim.bo.shiftwidth
  seen.expandtab = vim.bo.expandtab
  local line = vim.fn.search("session")
  seen.session_is_highlighted_as = vim.fn.synIDattr(vim.fn.synID(line, vim.fn.col("."), 1), "name")

  player.wait_for("the mistake to be shown", mistaken)
  player.note("opened")

  player.type_keys(vim.env.PROSE_FIX)
  player.wait_for("the mistake to be gone after the fix", clear)
  player.wait_for("the fix to be typed", function()
    return vim.api.nvim_get_mode().mode == "n"
  end)
  player.note("fixed")

  player.type_keys("u")
  player.wait_for("the mistake to be back after undoing the fix", mistaken)
  player.note("undone")

  player.type_keys("<C-r>")
  player.wait_for("the mistake to be gone after redoing the fix", clear)
  player.note("redone")
end)
