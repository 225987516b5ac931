-- Makes an agent of a prompt, and gives the agent another name when the editor asks for one.

local player = dofile(vim.env.PROSE_SCENES .. "/player.lua")

player.play(function(seen)
  player.wait_for_server()
  -- In place of a person who reads a menu and types a name.
  vim.ui.select = function(items, _, choose)
    for _, item in ipairs(items) do
      local action = item.action or item[2]
      if action.title:find("Extract the prompt", 1, true) then
        return choose(item)
      end
    end
    error(vim.inspect(items))
  end
  vim.ui.input = function(options, answer)
    seen.asked = options.default
    seen.cursor = vim.fn.getcurpos()[2] .. ":" .. vim.fn.getcurpos()[3]
    answer("critic")
  end

  vim.fn.cursor(1, 1)
  vim.fn.search('"Check the spelling')
  vim.lsp.buf.code_action()
  seen.text = player.wait_for("the other name", function()
    return player.text():find("session: critic", 1, true) and player.text()
  end)
end)
