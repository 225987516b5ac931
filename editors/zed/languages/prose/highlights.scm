; Each node is captured by one pattern alone, so that their order does not matter.

(comment) @comment

; Names

(use_statement name: (identifier) @namespace)
(input_statement name: (identifier) @variable.parameter)
(parameters (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(modifier name: (identifier) @property)
(modifier value: (identifier) @constant)
(field_expression field: (identifier) @property)
(entry key: (identifier) @property)
(interpolation (identifier) @variable)
(interpolation field: (field_name) @property)
(let_statement name: (identifier) @variable)
(output_statement name: (identifier) @variable)
(assignment name: (identifier) @variable)
(destructuring (identifier) @variable)
(for_statement item: (identifier) @variable)
(for_statement index: (identifier) @variable)
(parallel_for_statement item: (identifier) @variable)
(parallel_for_statement index: (identifier) @variable)
(repeat_statement index: (identifier) @variable)
(loop_statement index: (identifier) @variable)
(catch_clause error: (identifier) @variable)

(agent_definition name: (identifier) @type)
(session_statement agent: (identifier) @type)
(resume_statement agent: (identifier) @type)

(block_definition name: (identifier) @function)
(do_call block: (identifier) @function)
(call function: (identifier) @function)
(call function: (field_expression object: (identifier) @function))

(property name: (identifier) @property)
((property value: (identifier) @constant)
  (#any-of? @constant
    "sonnet" "opus" "haiku" "project" "user" "none" "linear" "exponential" "allow" "deny" "prompt"))

; Literals

(string) @string
(escape_sequence) @string.escape
(discretion) @string.regex
(interpolation ["{" "}"] @punctuation.special)
(number) @number
(duration) @number
(boolean) @boolean
(null) @constant.builtin
(placeholder) @comment

; Keywords

["agent" "block" "let" "const" "input" "output"] @keyword
["session" "resume" "do" "parallel"] @keyword
["use" "import" "from" "as"] @keyword
["if" "elif" "else" "choice" "option"] @keyword
["repeat" "for" "in" "loop" "until" "while" "break" "continue"] @keyword
["try" "catch" "finally" "throw" "assert"] @keyword
["return"] @keyword
["map" "filter" "pmap" "reduce"] @function
["and" "or" "not" "is"] @keyword

; Symbols

["=" "==" "!=" "<=" ">=" "<" ">" "+" "-" "*" "/" "|" "->" "?"] @operator
["(" ")" "[" "]"] @punctuation.bracket
(object ["{" "}"] @punctuation.bracket)
(destructuring ["{" "}"] @punctuation.bracket)
["," "." ":"] @punctuation.delimiter
