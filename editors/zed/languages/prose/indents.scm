(array "]" @end) @indent
(object "}" @end) @indent
(arguments ")" @end) @indent
(parenthesized_expression ")" @end) @indent
