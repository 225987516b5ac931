; The texts of a program are for a model, in whatever language and form. Only comments are known to be what they are.
((comment) @injection.content
  (#set! injection.language "comment"))
