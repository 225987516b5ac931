; The arrow beside the first statement of a program; the tasks with this tag run it.
((source_file . (_) @run) @_program
  (#set! tag openprose-run))
