if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:# commentstring=#\ %s
setlocal expandtab shiftwidth=2 softtabstop=2
" Names may have hyphens.
setlocal iskeyword+=-
setlocal suffixesadd=.prose

let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< iskeyword< suffixesadd<'

if exists('g:no_plugin_maps') || exists('g:no_prose_maps')
  finish
endif

" Newer versions of Neovim have `grx` for code lenses themselves.
let s:keys = {'grx': '<Plug>(prose-lens)', '<LocalLeader>r': '<Plug>(prose-run)', '<LocalLeader>x': '<Plug>(prose-cancel)', '<LocalLeader>l': '<Plug>(prose-log)'}
for [s:key, s:target] in items(s:keys)
  if maparg(s:key, 'n') ==# '' && !hasmapto(s:target, 'n')
    execute 'nmap <buffer>' s:key s:target
    let b:undo_ftplugin .= '| silent! nunmap <buffer> ' .. s:key
  endif
endfor
