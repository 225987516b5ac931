-- The adapter for neotest: the cases of `*.test.toml`, which `prose test` lists and runs. Needs Neovim 0.10.

local M = { name = "neotest-prose" }

local function program()
  return require("prose").command()[1]
end

--- Runs a command to its end. neotest calls the adapter in tasks of nio, which wait without blocking the editor.
local function output_of(command)
  local run = require("nio").wrap(function(done)
    vim.system(command, { text = true }, done)
  end, 1)
  return run().stdout
end

--- The id of a case, or of a combination of its matrix; also what `prose test --exact` takes.
local function id_of(path, name)
  return path .. "::" .. name
end

--- The folder of the project that a folder is in.
function M.root(folder)
  return vim.fs.root(folder, { "prose.toml", ".git" })
end

function M.filter_dir(name)
  return name ~= ".prose" and name ~= "node_modules"
end

function M.is_test_file(path)
  return vim.endswith(path, ".test.toml")
end

--- The positions of a file as a nested list.
local function positions(file)
  local last = 1
  local list = {}
  for _, case in ipairs(file.cases) do
    last = math.max(last, case.endLine)
    local id = id_of(file.path, case.name)
    local range = { case.line - 1, case.column - 1, case.endLine - 1, case.endColumn - 1 }
    local position = { type = "test", id = id, name = case.name, path = file.path, range = range }
    local only = case.variants[1]
    if #case.variants == 1 and only.name == case.name then
      position.debug = only.debug
      table.insert(list, { position })
    else
      -- The combinations of a matrix have no place of their own.
      position.type = "namespace"
      local children = { position }
      for _, variant in ipairs(case.variants) do
        local child = { type = "test", id = id_of(file.path, variant.name), name = variant.name, path = file.path }
        child.debug = variant.debug
        table.insert(children, { child })
      end
      table.insert(list, children)
    end
  end
  local name = vim.fs.basename(file.path)
  table.insert(list, 1, { type = "file", id = file.path, name = name, path = file.path, range = { 0, 0, last, 0 } })
  return list
end

function M.discover_positions(path)
  -- Nothing is fetched only to see which cases there are.
  local output = output_of({ program(), "test", path, "--list", "--json", "--offline" })
  local is_json, list = pcall(vim.json.decode, output)
  if not is_json or not list.files[1] then
    return nil
  end
  local Tree = require("neotest.types").Tree
  return Tree.from_list(positions(list.files[1]), function(position)
    return position.id
  end)
end

--- The configuration of nvim-dap that debugs a case.
local function debugged(position)
  local case = position.debug
  local config = { type = "prose", name = "Debug " .. position.name, cwd = vim.fs.dirname(position.path), stopOnEntry = true }
  if case.run then
    return vim.tbl_extend("error", config, { request = "attach", run = case.run })
  end
  config.request = "launch"
  for _, key in ipairs({ "program", "inputs", "harness", "maxCost" }) do
    config[key] = case[key]
  end
  if case.script then
    config.script = vim.fn.tempname() .. ".toml"
    vim.fn.writefile(vim.split(case.script, "\n"), config.script)
  end
  return config
end

function M.build_spec(args)
  local position = args.tree:data()
  local results = vim.fn.tempname()
  local command = { program(), "test", position.path, "--json=" .. results }
  if position.type ~= "file" and position.type ~= "dir" then
    vim.list_extend(command, { "--exact", "--filter", position.id })
  end
  vim.list_extend(command, args.extra_args or {})
  local spec = { command = command, context = { results = results } }
  if args.strategy == "dap" and position.debug then
    spec.strategy = debugged(position)
  end
  return spec
end

--- Why a case failed: messages with lines from 0, the first run that did not pass.
local function errors_of(case)
  local errors = {}
  for _, run in ipairs(case.runs) do
    if run.status == "failed" or run.status == "error" then
      for _, mismatch in ipairs(run.mismatches or { { message = run.message, line = case.line } }) do
        local message = mismatch.message
        for _, key in ipairs({ "expected", "actual" }) do
          if mismatch[key] then
            message = message .. ("\n%s: %s"):format(key, vim.trim(mismatch[key]))
          end
        end
        table.insert(errors, { message = message, line = mismatch.line - 1 })
      end
      break
    end
  end
  return errors
end

local statuses = { passed = "passed", failed = "failed", skipped = "skipped", stopped = "skipped" }

function M.results(spec, result, tree)
  local found = {}
  local file = io.open(spec.context.results, "r")
  local is_json, results = pcall(vim.json.decode, file and file:read("*a") or "")
  if file then
    file:close()
    os.remove(spec.context.results)
  end
  if not is_json then
    results = { files = {}, problems = {} }
  end
  for _, tested in ipairs(results.files) do
    for _, case in ipairs(tested.cases) do
      local errors = errors_of(case)
      local lines = vim.tbl_map(function(problem)
        return problem.message
      end, errors)
      found[id_of(tested.path, case.name)] = {
        status = statuses[case.status],
        output = result.output,
        short = #lines > 0 and table.concat(lines, "\n") or nil,
        errors = errors,
      }
    end
  end
  -- A file with mistakes is not run.
  for _, position in tree:iter() do
    if position.type == "test" and not found[position.id] then
      local errors = {}
      for _, problem in ipairs(results.problems or {}) do
        if problem.path == position.path then
          table.insert(errors, { message = problem.message, line = problem.line - 1 })
        end
      end
      local short = errors[1] and errors[1].message or "prose test wrote no result"
      found[position.id] = { status = "failed", output = result.output, short = short, errors = errors }
    end
  end
  return found
end

return M
