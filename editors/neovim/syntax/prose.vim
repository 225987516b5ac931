" Highlighting of OpenProse programs. Every keyword is also a name, so a keyword counts only where a statement can start and with
" what must follow it. Of two matches in one place the later one in this file wins.
if exists('b:current_syntax')
  finish
endif

syntax case match
syntax sync minlines=200

syntax match proseNumber '\%(\k\|\.\)\@1<!\d\+\%(\.\d\+\)\?\%(ms\|[smh]\)\?\k\@!'
syntax match proseOperator '->\|[=!<>]=\|[=<>+*/?|]'
syntax match proseConstant '\%(\k\|\.\)\@1<!\%(true\|false\|null\)\%(\k\|\s*[:(]\)\@!'
syntax match proseOperator '\%([[:alnum:]_")*\]}]\s\+\)\@20<=\%(and\|or\|is\)\ze\s\+\S'
syntax match proseOperator '\%(\k\|\.\)\@1<!not\ze\s\+[[:alnum:]_"([*]'
syntax match proseFunction '\k\+\ze('

syntax match proseProperty '\%(^\|[{,("]\)\@1<=\s*\zs\h\k*\ze:'
syntax match proseModel '\%(^\s*model:\s*\)\@30<=\h[[:alnum:]_./-]*'

" Assignments come last among what starts with a name: what is assigned to is a name whatever it is called.
syntax match proseStorage '^\s*\zs\%(agent\|block\|input\|output\|let\|const\)\ze\s\+\h'
syntax match proseStorage '^\s*\zs\%(let\|const\)\ze\s*{'
syntax match proseStorage '^\s*\zsoutput\ze\s*["*{[(]'
syntax match proseStorage '\%(^\|[=:>]\)\@1<=\s*\zsinput\ze\s*"'
syntax match proseDefinition '\%(^\s*\%(agent\|block\)\s\+\)\@30<=\h\k*'
syntax match proseInclude '^\s*\zs\%(use\|import\)\ze\s*"'
syntax match proseInclude '\%([")]\s*\)\@20<=from\ze\s*"'
syntax match proseInclude '\%([[:alnum:]_")*\]]\s\+\)\@20<=as\ze\s\+\h'
syntax match proseSession '\%(^\|[=:>]\|output\)\@6<=\s*\zssession\ze\%(\s*["]\|\s*:\s*\h\|\s\+\h\k*\s*:\)'
syntax match proseSession '^\s*\zssession\ze\s*\%(#.*\)\?$'
syntax match proseSession '\%(^\|[=:>]\|output\)\@6<=\s*\zsresume\ze\s*:'
syntax match proseSession '\%(^\|[=:>]\|output\)\@6<=\s*\zsdo\ze\%(\s\+\h\|\s*:\)'
syntax match proseRepeat '\%(^\|[=:>]\|output\)\@6<=\s*\zsparallel\ze\%(\s*[:(]\|\s\+for\s\)'
syntax match proseRepeat '\%(^\|[=:>]\|output\|parallel\)\@8<=\s*\zsfor\ze\s\+\h'
syntax match proseRepeat '\%(for\s\+\h\k*\%(\s*,\s*\h\k*\)\?\s\+\)\@80<=in\k\@!'
syntax match proseRepeat '\%(^\|[=:>]\|output\)\@6<=\s*\zsrepeat\ze\s\+[[:alnum:]_(]'
syntax match proseRepeat '\%(^\|[=:>]\|output\)\@6<=\s*\zsloop\ze\%(\s*[:(*]\|\s\+\w\)'
syntax match proseRepeat '\%([[:alnum:]_)]\s\+\)\@20<=\%(until\|while\)\ze\%(\s\+[[:alnum:]_([]\|\s*["*]\)'
syntax match proseRepeat '^\s*\zs\%(break\|continue\|return\)\ze\s*\%(#.*\)\?$'
syntax match proseRepeat '^\s*\zs\%(return\|assert\)\ze\%(\s\+[[:alnum:]_([{]\|\s*["*]\)'
syntax match proseException '\%(^\|[=:>]\|output\)\@6<=\s*\zstry\ze\s*:'
syntax match proseException '^\s*\zs\%(catch\|finally\)\ze\s*:'
syntax match proseException '^\s*\zscatch\ze\s\+as\s'
syntax match proseException '^\s*\zsthrow\ze\s*\%(["#]\|$\|\s\h\)'
syntax match proseConditional '\%(^\|[=:>]\|output\)\@6<=\s*\zs\%(if\|choice\)\ze\%(\s\+[[:alnum:]_([]\|\s*["*]\)'
syntax match proseConditional '^\s*\zselif\ze\%(\s\+[[:alnum:]_([]\|\s*["*]\)'
syntax match proseConditional '^\s*\zselse\ze\s*:'
syntax match proseConditional '^\s*\zsoption\ze\s*"'
syntax match prosePipeline '\%(|\s*\)\@20<=\%(map\|filter\|pmap\)\ze\s*\%(:\|#\|$\)'
syntax match prosePipeline '\%(|\s*\)\@20<=reduce\ze\s*('
syntax match proseAssigned '^\s*\zs\h\k*\ze\s*==\@!'

syntax match proseEscape contained '\\[\\"nt{}]'
syntax match proseUnknownEscape contained '\\[^\\"nt{}]'
syntax match proseInterpolation contained '{\h[[:alnum:]_-]*\%(\.\h\w*\|\[\w\+\]\)*}'
syntax region proseString start='"' end='"\|$' contains=proseEscape,proseUnknownEscape,proseInterpolation oneline
" The last three of a run of quotes are the ones that close.
syntax region proseString start='"""' end='""""\@!' contains=proseEscape,proseInterpolation
syntax region proseDiscretion start='\*\*' end='\*\*' contains=proseInterpolation
syntax region proseDiscretion start='\*\*\*' end='\*\*\*' contains=proseInterpolation
syntax match proseComment '#.*$' contains=proseTodo,@Spell
syntax keyword proseTodo contained TODO FIXME XXX NOTE

highlight default link proseComment Comment
highlight default link proseTodo Todo
highlight default link proseString String
highlight default link proseEscape SpecialChar
highlight default link proseUnknownEscape Error
highlight default link proseInterpolation Special
highlight default link proseDiscretion PreProc
highlight default link proseNumber Number
highlight default link proseConstant Boolean
highlight default link proseOperator Operator
highlight default link prosePipeline Operator
highlight default link proseFunction Function
highlight default link proseDefinition Function
highlight default link proseProperty Identifier
highlight default link proseModel Constant
highlight default link proseStorage StorageClass
highlight default link proseInclude Include
highlight default link proseSession Keyword
highlight default link proseRepeat Repeat
highlight default link proseConditional Conditional
highlight default link proseException Exception

let b:current_syntax = 'prose'
