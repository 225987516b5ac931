if vim.g.loaded_prose then
  return
end
vim.g.loaded_prose = true

require("prose").enable()
