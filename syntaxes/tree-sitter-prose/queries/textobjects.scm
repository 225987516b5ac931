; What can be called
(block_definition body: (block)? @function.inner) @function.outer

; Who works
(agent_definition properties: (property_list)? @class.inner) @class.outer

; Branches
(if_statement) @conditional.outer
(if_statement body: (block) @conditional.inner)
(elif_clause body: (block) @conditional.inner)
(else_clause body: (block) @conditional.inner)
(choice_statement body: (block)? @conditional.inner) @conditional.outer
(option_clause body: (block)? @block.inner) @block.outer

; Loops
(repeat_statement body: (block)? @loop.inner) @loop.outer
(for_statement body: (block)? @loop.inner) @loop.outer
(parallel_for_statement body: (block)? @loop.inner) @loop.outer
(loop_statement body: (block)? @loop.inner) @loop.outer

; Other statements with a body
(do_statement body: (block)? @block.inner) @block.outer
(parallel_statement body: (block)? @block.inner) @block.outer
(try_statement body: (block)? @block.inner) @block.outer
(catch_clause body: (block)? @block.inner) @block.outer
(finally_clause body: (block)? @block.inner) @block.outer
(pipe_stage body: (block)? @block.inner) @block.outer

; Calls and sessions
(do_call) @call.outer
(do_call arguments: (arguments) @call.inner)
(call) @call.outer
(call arguments: (arguments) @call.inner)
(session_statement properties: (property_list)? @call.inner) @call.outer
(resume_statement properties: (property_list)? @call.inner) @call.outer

; Parameters and arguments
(parameters (identifier) @parameter.inner @parameter.outer)
(arguments (_) @parameter.inner @parameter.outer)
(modifiers (modifier) @parameter.inner @parameter.outer)
(array (_) @parameter.inner @parameter.outer)
(object (_) @parameter.inner @parameter.outer)

; Bindings
(let_statement value: (_) @assignment.rhs @assignment.inner) @assignment.outer
(let_statement name: (identifier) @assignment.lhs)
(assignment name: (identifier) @assignment.lhs value: (_) @assignment.rhs @assignment.inner) @assignment.outer
(output_statement value: (_) @assignment.rhs @assignment.inner) @assignment.outer
(property name: (identifier) @assignment.lhs value: (_) @assignment.rhs @assignment.inner) @assignment.outer

(return_statement value: (_)? @return.inner) @return.outer
(number) @number.inner
(comment) @comment.outer
(block (_) @statement.outer)
(source_file (_) @statement.outer)
