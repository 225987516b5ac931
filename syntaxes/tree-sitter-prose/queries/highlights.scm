; The names of captures are those that Neovim and most other editors have.
; Where several patterns capture one node, the last one counts.

(comment) @comment @spell

; Names

(identifier) @variable

(use_statement name: (identifier) @module)
(input_statement name: (identifier) @variable.parameter)
(parameters (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(modifier name: (identifier) @variable.parameter)
(modifiers (modifier value: (identifier) @constant.builtin))
(field_expression field: (identifier) @variable.member)
(entry key: (identifier) @variable.member)
(interpolation field: (field_name) @variable.member)

(agent_definition name: (identifier) @type.definition)
(session_statement agent: (identifier) @type)
(resume_statement agent: (identifier) @type)

(block_definition name: (identifier) @function)
(do_call block: (identifier) @function.call)
(call function: (identifier) @function.call)
(call function: (field_expression object: (identifier) @function.call))

; Properties. Others than these are the names of values, or misspelt.

(property name: (identifier) @variable.member)

((property name: (identifier) @property)
  (#any-of? @property
    "model" "prompt" "context" "skills" "permissions" "persist" "retry" "backoff" "timeout" "early_exit"))

(property
  name: (identifier) @_owner
  properties: (property_list
    (property name: (identifier) @property))
  (#eq? @_owner "permissions")
  (#any-of? @property "read" "write" "execute" "bash" "network" "mcp"))

(property
  name: (identifier) @_name
  value: (identifier) @constant.builtin
  (#eq? @_name "model")
  (#any-of? @constant.builtin "sonnet" "opus" "haiku"))

(property
  name: (identifier) @_name
  value: (identifier) @constant.builtin
  (#eq? @_name "persist")
  (#any-of? @constant.builtin "project" "user"))

(property
  name: (identifier) @_name
  value: (identifier) @constant.builtin
  (#eq? @_name "backoff")
  (#any-of? @constant.builtin "none" "linear" "exponential"))

(property
  name: (identifier) @_owner
  properties: (property_list
    (property value: (identifier) @constant.builtin))
  (#eq? @_owner "permissions")
  (#any-of? @constant.builtin "allow" "deny" "prompt"))

; Literals

(string) @string
(string_content) @spell
(escape_sequence) @string.escape
(use_statement path: (string) @string.special.path)
(option_clause label: (string) @label)

(discretion) @string.regexp
(discretion_content) @spell

(interpolation ["{" "}"] @punctuation.special)
(interpolation (identifier) @variable)

(number) @number
(duration) @number
(boolean) @boolean
(null) @constant.builtin
(placeholder) @comment

; Keywords

["agent" "block" "let" "const" "input" "output"] @keyword
["session" "resume" "do"] @keyword.function
["parallel"] @keyword.coroutine
["use" "import" "from" "as"] @keyword.import
["if" "elif" "else" "choice" "option"] @keyword.conditional
["repeat" "for" "in" "loop" "until" "while" "break" "continue"] @keyword.repeat
["try" "catch" "finally" "throw" "assert"] @keyword.exception
["return"] @keyword.return
["map" "filter" "pmap" "reduce"] @function.builtin
["and" "or" "not" "is"] @keyword.operator

; Symbols

["=" "==" "!=" "<=" ">=" "<" ">" "+" "-" "*" "/" "|" "->"] @operator
(ternary_expression ["?" ":"] @keyword.conditional.ternary)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," "." ":"] @punctuation.delimiter
(interpolation ["{" "}"] @punctuation.special)
