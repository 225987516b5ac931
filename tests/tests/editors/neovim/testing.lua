-- Opens a test file, looks at its mistakes, runs a case by its lens, and lets the adapter for neotest do the same.

local player = dofile(vim.env.PROSE_SCENES .. "/player.lua")

-- What neotest gives to its adapters, as its documentation describes it.
package.loaded["nio"] = {
  wrap = function(work)
    return function()
      local task = coroutine.running()
      work(function(result)
        vim.schedule(function()
          coroutine.resume(task, result)
        end)
      end)
      return coroutine.yield()
    end
  end,
}

local Tree = {}
Tree.__index = Tree

function Tree.from_list(list, key)
  local children = {}
  for index = 2, #list do
    table.insert(children, Tree.from_list(list[index], key))
  end
  return setmetatable({ position = list[1], below = children, key = key }, Tree)
end

function Tree:data()
  return self.position
end

function Tree:iter()
  local all = {}
  local function add(tree)
    table.insert(all, tree.position)
    for _, child in ipairs(tree.below) do
      add(child)
    end
  end
  add(self)
  return ipairs(all)
end

function Tree:find(id)
  if self.position.id == id then
    return self
  end
  for _, child in ipairs(self.below) do
    local found = child:find(id)
    if found then
      return found
    end
  end
end

package.loaded["neotest.types"] = { Tree = Tree }

local function wait_for_lens(part)
  return player.wait_for(("a lens with `%s`"):format(part), function()
    for _, title in ipairs(player.lenses()) do
      if title:find(part, 1, true) then
        return player.lenses()
      end
    end
  end)
end

player.play(function(seen)
  vim.cmd("edit program.test.toml")
  player.wait_for_server()
  seen.lenses = wait_for_lens("Run all tests")
  player.type_keys(":4s/inputs/inptus/<CR>")
  seen.mistakes = player.wait_for("the mistake to be shown", function()
    return #player.diagnostics() > 0 and player.diagnostics()
  end)
  player.type_keys("u")
  player.wait_for("the mistake to be gone", function()
    return #player.diagnostics() == 0
  end)
  wait_for_lens("Run test")
  local client = player.client()
  local answer = player.wait_for("the server to run the tests", (function()
    local result
    local uri = vim.uri_from_bufnr(0)
    require("prose.client").execute(0, "prose.test", { uri = uri }, function(done, problem)
      result = done or problem
    end)
    return function()
      return result
    end
  end)())
  seen.run_by_server = { answer.passed, answer.failed }
  seen.failures = player.wait_for("the failure to be shown", function()
    return #player.diagnostics() > 0 and player.diagnostics()
  end)
  seen.results = wait_for_lens("2 of 2 failed")

  local adapter = require("neotest-prose")
  local path = vim.api.nvim_buf_get_name(0)
  seen.is_test_file = { adapter.is_test_file(path), adapter.is_test_file("/a/prose.toml") }
  local tree = adapter.discover_positions(path)
  seen.positions = {}
  for _, position in tree:iter() do
    local range = position.range and table.concat(position.range, " ") or "nowhere"
    table.insert(seen.positions, ("%s %s at %s"):format(position.type, position.name, range))
  end

  local function run(of)
    local spec = adapter.build_spec({ tree = of })
    local run = vim.system(spec.command, { text = true }):wait()
    local results = adapter.results(spec, { code = run.code, output = "/dev/null" }, of)
    local lines = {}
    for id, result in pairs(results) do
      local errors = vim.tbl_map(function(problem)
        return ("%d: %s"):format(problem.line, problem.message)
      end, result.errors)
      table.insert(lines, ("%s %s"):format(vim.split(id, "::", { plain = true })[2], result.status))
      vim.list_extend(lines, errors)
    end
    table.sort(lines)
    return lines
  end
  seen.all = run(tree)
  seen.one = run(tree:find(path .. "::writes"))
  seen.matrix = run(tree:find(path .. "::writes otherwise"))
  local debugged = adapter.build_spec({ tree = tree:find(path .. "::writes"), strategy = "dap" }).strategy
  seen.debugged = { debugged.type, debugged.request, vim.fs.basename(debugged.program), debugged.inputs.topic }
  seen.script = vim.fn.readfile(debugged.script)
  vim.fn.writefile({ "[[case]]", 'name = "writes"', "naem = 3" }, path)
  seen.broken = run(tree:find(path .. "::writes"))
end)
