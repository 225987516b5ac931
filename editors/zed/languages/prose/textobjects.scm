(block_definition body: (block)? @function.inside) @function.around
(agent_definition properties: (property_list)? @class.inside) @class.around
(comment)+ @comment.around
