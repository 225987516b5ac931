-- The tree-sitter parser: building it from the grammar of the repository, and highlighting with it.

local M = {}

--- The folder of the grammar: in the plugin, as plugin managers install it, or in a clone of the repository.
function M.grammar()
  -- The plugin may be a symbolic link into the clone.
  local this = vim.fn.resolve(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
  local plugin = vim.fn.fnamemodify(this, ":h:h:h")
  local packaged = plugin .. "/tree-sitter-prose"
  if vim.fn.isdirectory(packaged) == 1 then
    return packaged
  end
  return vim.fn.fnamemodify(plugin, ":h:h") .. "/syntaxes/tree-sitter-prose"
end

--- The path of the installed parser. Its folder is on `runtimepath` by default.
function M.target()
  return vim.fn.stdpath("data") .. "/site/parser/prose.so"
end

--- The parser that Neovim uses: the first one on `runtimepath`.
function M.path()
  -- Neovim does not find files on `runtimepath` that were created after its start.
  local installed = vim.fn.filereadable(M.target()) == 1 and M.target() or nil
  return vim.api.nvim_get_runtime_file("parser/prose.*", false)[1] or installed
end

--- Whether this Neovim can load the parser.
function M.is_there()
  local path = M.path()
  if not path or vim.fn.has("nvim-0.10") == 0 then
    return false
  end
  -- Since 0.11, a failure is a return value; before, it was an error.
  local is_called, result = pcall(vim.treesitter.language.add, "prose", { path = path })
  return is_called and (result == true or vim.fn.has("nvim-0.11") == 0)
end

local function is_wanted()
  return vim.g.prose_tree_sitter ~= false
end

--- Highlights a buffer by its syntax tree, if there is a parser. Otherwise the patterns of `syntax/prose.vim` do.
function M.highlight(bufnr)
  if is_wanted() and M.is_there() then
    vim.treesitter.start(bufnr, "prose")
  end
end

local function compiler()
  for _, name in ipairs({ vim.env.CC or "cc", "gcc", "clang", "tcc" }) do
    if vim.fn.executable(name) == 1 then
      return name
    end
  end
end

local function tell(message, level)
  vim.notify("OpenProse: " .. message, level)
end

local function installed()
  tell("installed the parser: " .. M.target(), vim.log.levels.INFO)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].filetype == "prose" then
      M.highlight(bufnr)
    end
  end
end

--- Compiles the grammar in a folder, or that of the repository this plugin is in, and installs the parser.
function M.install(folder)
  local source = vim.fn.fnamemodify(folder or M.grammar(), ":p"):gsub("/$", "") .. "/src"
  if vim.fn.filereadable(source .. "/parser.c") == 0 then
    local message = "no grammar in %s. Pass the folder `syntaxes/tree-sitter-prose` of a clone of the repository: `:Prose install-parser FOLDER`"
    tell(message:format(vim.fn.fnamemodify(source, ":h")), vim.log.levels.ERROR)
    return
  end
  local cc = compiler()
  if not cc then
    tell("no C compiler found. Install one, such as gcc, or set $CC", vim.log.levels.ERROR)
    return
  end
  vim.fn.mkdir(vim.fn.fnamemodify(M.target(), ":h"), "p")
  -- A loaded parser must not be overwritten; the complete new file replaces it.
  local new = M.target() .. ".new"
  local command = { cc, "-O2", "-fPIC", "-shared", "-I", source, "-o", new, source .. "/parser.c" }
  if vim.fn.filereadable(source .. "/scanner.c") == 1 then
    table.insert(command, source .. "/scanner.c")
  end
  local said = {}
  vim.fn.jobstart(command, {
    stderr_buffered = true,
    on_stderr = function(_, lines)
      said = lines
    end,
    on_exit = function(_, status)
      local moved, problem = false, table.concat(said, "\n")
      if status == 0 then
        moved, problem = vim.loop.fs_rename(new, M.target())
      end
      if moved then
        installed()
      else
        tell(("could not build the parser with `%s`:\n%s"):format(table.concat(command, " "), problem), vim.log.levels.ERROR)
      end
    end,
  })
end

return M
