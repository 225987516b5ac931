[
  (agent_definition)
  (block_definition)
  (do_statement)
  (parallel_statement)
  (parallel_for_statement)
  (repeat_statement)
  (for_statement)
  (loop_statement)
  (try_statement)
  (catch_clause)
  (finally_clause)
  (choice_statement)
  (option_clause)
  (if_statement)
  (elif_clause)
  (else_clause)
  (pipe_stage)
  (session_statement)
  (resume_statement)
] @indent @extend

(property properties: (property_list)) @indent @extend

[
  (array)
  (object)
  (arguments)
  (parameters)
  (modifiers)
  (parenthesized_expression)
] @indent

["]" "}" ")"] @outdent

; A body that is still empty is no tree yet.
(ERROR ":" @indent @extend . )

(elif_clause "elif" @outdent)
(else_clause "else" @outdent)
(catch_clause "catch" @outdent)
(finally_clause "finally" @outdent)
