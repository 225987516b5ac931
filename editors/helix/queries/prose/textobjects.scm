(block_definition body: (block)? @function.inside) @function.around

(agent_definition properties: (property_list)? @class.inside) @class.around

(parameters ((_) @parameter.inside . ","? @parameter.around) @parameter.around)
(arguments ((_) @parameter.inside . ","? @parameter.around) @parameter.around)
(modifiers ((_) @parameter.inside . ","? @parameter.around) @parameter.around)

(array (_) @entry.around)
(object (entry) @entry.around)
(property value: (_) @entry.inside) @entry.around

(comment) @comment.inside
(comment)+ @comment.around
