" The narration of a run, in its window.
if exists('b:current_syntax')
  finish
endif

syntax match proseRunRunning '^\s*⟳.*$'
syntax match proseRunDone '^\s*✓'
syntax match proseRunFailed '^\s*✗.*$'
syntax match proseRunStopped '^\s*■.*$'
syntax match proseRunQuestion '^\s*?.*$'
syntax match proseRunWarning '^\s*!.*$'
syntax match proseRunReply '→.*$'
syntax match proseRunHead '^Run .*$'
syntax match proseRunEnd '^\%(completed\|failed\|interrupted\) after .*$'
syntax match proseRunOutput '^[[:alnum:]_-]\+:$'

highlight default link proseRunRunning Todo
highlight default link proseRunDone String
highlight default link proseRunFailed ErrorMsg
highlight default link proseRunStopped WarningMsg
highlight default link proseRunQuestion Question
highlight default link proseRunWarning WarningMsg
highlight default link proseRunReply Comment
highlight default link proseRunHead Title
highlight default link proseRunEnd Title
highlight default link proseRunOutput Identifier

let b:current_syntax = 'prose-run'
