; Each call of a block has variables of its own. Other bodies share those of what they stand in.
[
  (source_file)
  (block_definition)
] @local.scope

(use_statement name: (identifier) @local.definition.import)
(input_statement name: (identifier) @local.definition.parameter)
(agent_definition name: (identifier) @local.definition.type)
((block_definition name: (identifier) @local.definition.function)
  (#set! definition.function.scope "parent"))
(parameters (identifier) @local.definition.parameter)
(let_statement name: (identifier) @local.definition.var)
(destructuring (identifier) @local.definition.var)
(output_statement name: (identifier) @local.definition.var)
(assignment name: (identifier) @local.definition.var)
(for_statement item: (identifier) @local.definition.var)
(for_statement index: (identifier) @local.definition.var)
(parallel_for_statement item: (identifier) @local.definition.var)
(parallel_for_statement index: (identifier) @local.definition.var)
(repeat_statement index: (identifier) @local.definition.var)
(loop_statement index: (identifier) @local.definition.var)
(catch_clause error: (identifier) @local.definition.var)

(identifier) @local.reference
