autocmd BufNewFile,BufRead *.prose setfiletype prose
