; A header opens a level although nothing stands below it yet.
([
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
] @indent.begin
  (#set! indent.immediate 1))

; The properties of a session stand one level deeper than the statement that it is in.
(session_statement properties: (property_list)) @indent.begin
(resume_statement properties: (property_list)) @indent.begin
(property properties: (property_list)) @indent.begin

[
  (array)
  (object)
  (arguments)
  (parameters)
  (modifiers)
  (parenthesized_expression)
] @indent.begin

["]" "}" ")"] @indent.end @indent.branch

[
  (catch_clause)
  (finally_clause)
  (elif_clause)
  (else_clause)
] @indent.branch

; Lines of texts are left as they are.
[
  (string)
  (discretion)
] @indent.auto

(ERROR) @indent.auto
