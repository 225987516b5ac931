(block_definition name: (identifier) @name) @definition.function
(agent_definition name: (identifier) @name) @definition.class
(use_statement name: (identifier) @name) @definition.module
(input_statement name: (identifier) @name) @definition.constant

(do_call block: (identifier) @name) @reference.call
(call function: (identifier) @name) @reference.call
(session_statement agent: (identifier) @name) @reference.class
(resume_statement agent: (identifier) @name) @reference.class
