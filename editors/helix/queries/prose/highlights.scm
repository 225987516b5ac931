; Each node is captured by one pattern alone: which of several counts differs between versions of Helix.

(comment) @comment.line

; Names

(use_statement name: (identifier) @namespace)
(input_statement name: (identifier) @variable.parameter)
(parameters (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(modifier name: (identifier) @attribute)
(modifier value: (identifier) @constant.builtin)
(field_expression field: (identifier) @variable.other.member)
(entry key: (identifier) @variable.other.member)
(interpolation (identifier) @variable)
(interpolation field: (field_name) @variable.other.member)
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

(property name: (identifier) @attribute)
((property value: (identifier) @constant.builtin)
  (#any-of? @constant.builtin
    "sonnet" "opus" "haiku" "project" "user" "none" "linear" "exponential" "allow" "deny" "prompt"))

; Literals

(string) @string
(escape_sequence) @constant.character.escape
(discretion) @string.regexp
(interpolation ["{" "}"] @punctuation.special)
(number) @constant.numeric
(duration) @constant.numeric
(boolean) @constant.builtin.boolean
(null) @constant.builtin
(placeholder) @comment

; Keywords

["agent" "block" "let" "const" "input" "output"] @keyword.storage.type
["session" "resume" "do" "parallel"] @keyword
["use" "import" "from" "as"] @keyword.control.import
["if" "elif" "else" "choice" "option"] @keyword.control.conditional
["repeat" "for" "in" "loop" "until" "while" "break" "continue"] @keyword.control.repeat
["try" "catch" "finally" "throw" "assert"] @keyword.control.exception
["return"] @keyword.control.return
["map" "filter" "pmap" "reduce"] @function.builtin
["and" "or" "not" "is"] @keyword.operator

; Symbols

["=" "==" "!=" "<=" ">=" "<" ">" "+" "-" "*" "/" "|" "->" "?"] @operator
["(" ")" "[" "]"] @punctuation.bracket
(object ["{" "}"] @punctuation.bracket)
(destructuring ["{" "}"] @punctuation.bracket)
["," "." ":"] @punctuation.delimiter
