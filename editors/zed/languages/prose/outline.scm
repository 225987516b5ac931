(agent_definition "agent" @context name: (identifier) @name) @item
(block_definition "block" @context name: (identifier) @name) @item
(input_statement "input" @context name: (identifier) @name) @item
(output_statement "output" @context name: (identifier) @name) @item
(let_statement ["let" "const"] @context name: (identifier) @name) @item
(use_statement "use" @context path: (string) @name) @item
