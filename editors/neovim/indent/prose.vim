" A line behind one that ends with a colon is indented further. Everything else keeps the indentation of the line above it.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=GetProseIndent() indentkeys=!^F,o,O,0=elif,0=else,0=catch,0=finally,0=option
setlocal nolisp nosmartindent autoindent
let b:undo_indent = 'setlocal indentexpr< indentkeys< lisp< smartindent< autoindent<'

if exists('*GetProseIndent')
  finish
endif

" The text of a line without its comment. A `#` in a text does not start one.
function s:code(line) abort
  return substitute(a:line, '\v^%([^"#]|"%([^"\\]|\\.)*")*\zs#.*$', '', '')
endfunction

" The line of the statement that this one goes on with: `else` stands below its `if`.
function s:partner(lnum, pattern) abort
  let l:indent = indent(a:lnum)
  let l:above = prevnonblank(a:lnum - 1)
  while l:above > 0
    if indent(l:above) <= l:indent && getline(l:above) =~# a:pattern
      return l:above
    endif
    let l:indent = min([l:indent, indent(l:above)])
    let l:above = prevnonblank(l:above - 1)
  endwhile
  return 0
endfunction

function GetProseIndent() abort
  let l:above = prevnonblank(v:lnum - 1)
  if l:above == 0
    return 0
  endif
  let l:partner = 0
  if getline(v:lnum) =~# '\v^\s*%(elif|else)>'
    let l:partner = s:partner(v:lnum, '\v^\s*%(if|elif)>')
  elseif getline(v:lnum) =~# '\v^\s*%(catch|finally)>'
    let l:partner = s:partner(v:lnum, '\v<%(try|catch)>.*:')
  endif
  if l:partner > 0
    return indent(l:partner)
  endif
  return indent(l:above) + (s:code(getline(l:above)) =~# ':\s*$' ? shiftwidth() : 0)
endfunction
