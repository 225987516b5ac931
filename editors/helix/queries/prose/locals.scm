[
  (source_file)
  (block_definition)
] @local.scope

(parameters (identifier) @local.definition)
(input_statement name: (identifier) @local.definition)

(identifier) @local.reference
