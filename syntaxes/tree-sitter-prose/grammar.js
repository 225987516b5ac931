/// <reference types="tree-sitter-cli/dsl" />
// The grammar of OpenProse programs for editors that highlight and fold with tree-sitter.
//
// The parser of the language server, `crates/prose-syntax`, is the reference. Layout, literals, brackets, and which keywords are
// names, are decided by the external scanner in `src/scanner.c`: every keyword is also a valid name, so what follows it tells.

const PREC = { ternary: 1, or: 2, and: 3, not: 4, compare: 5, add: 6, multiply: 7, unary: 8, postfix: 9 };

const commaSeparated1 = (item) => seq(item, repeat(seq(",", item)), optional(","));
const commaSeparated = (item) => optional(commaSeparated1(item));

module.exports = grammar({
  name: "prose",

  word: ($) => $.identifier,

  // The order is that of `enum TokenType` in the scanner.
  // The order is that of `enum TokenType` in the scanner.
  externals: ($) => [
    $._newline,
    $._indent,
    $._dedent,
    $._pipe_line,
    $._arrow_line,
    $._if_clause_line,
    $._try_clause_line,
    $._line_end,
    $._layout,
    $._keyword_as_name,
    $._quote_open,
    $._quote_close,
    $._triple_open,
    $._triple_close,
    $._discretion_open,
    $._discretion_close,
    $._long_discretion_open,
    $._long_discretion_close,
    $._content,
    $.escape_sequence,
    $._interpolation_open,
    $._interpolation_close,
    $._paren_open,
    $._call_open,
    $._modifiers_open,
    $._bracket_open,
    $._index_open,
    "{",
    ")",
    "]",
    "}",
    // The scanner never gives these: it asks where they are valid.
    $._at_statement,
    $._at_key,
    // What is left of a line that is all error and long.
    $._rest_of_line,
    $._error_sentinel,
  ],

  // `_layout` has no text: it carries what the scanner has seen of the lines below, and stands where nothing else does.
  extras: ($) => [/[ \t\f\r\n]/, $.comment, $._layout],

  rules: {
    // Layout has no text. Before each line but the first of a block stands a `_newline`, and behind its last a `_line_end`, unless
    // the lines below it are some of it. The file ends as blocks do.
    source_file: ($) => optional(seq($._newline, optional($._statements), $._dedent)),

    comment: (_) => token(/#[^\r\n]*/),

    block: ($) => $._statements,
    // A line may be empty: one that is all error then ends with itself, and is not taken together with those above. Joining errors
    // takes time that grows with their number.
    _statements: ($) => choice(
      seq($._statement, repeat($._line)),
      repeat1($._line),
    ),
    _line: ($) => choice(seq($._newline, optional($._statement)), $._stray_block),

    // Lines that are indented although nothing opens a block. The server reports them; here they are statements like others.
    _stray_block: ($) => seq($._indent, $.block, $._dedent),

    // Below the header, on its line, or missing.
    _body: ($) => choice(
      seq($._indent, field("body", $.block), $._dedent),
      field("body", alias($._inline_body, $.block)),
      $._line_end,
    ),

    // A rule of its own, with a field that keeps it from being left out, so that the parser can go on as if a missing colon were
    // there: it does so only where something is complete with it.
    _colon: (_) => field("colon", ":"),

    // A body on the line of its header ends with that line: a stage behind it belongs to the pipeline outside.
    _inline_body: ($) => choice(
      $._simple_statement,
      alias($._inline_let, $.let_statement),
      alias($._inline_assignment, $.assignment),
      alias($._inline_output, $.output_statement),
      alias($._inline_return, $.return_statement),
      alias($._inline_expression, $.expression_statement),
    ),

    _statement: ($) => choice(
      $.use_statement,
      $.import_statement,
      $.input_statement,
      $.output_statement,
      $.agent_definition,
      $.block_definition,
      $.let_statement,
      $.assignment,
      $.return_statement,
      $.option_clause,
      $._compound_statement,
      $._simple_statement,
      $.expression_statement,
      $._at_statement,
    ),

    _compound_statement: ($) => choice(
      $.do_statement,
      $.parallel_statement,
      $.parallel_for_statement,
      $.repeat_statement,
      $.for_statement,
      $.loop_statement,
      $.try_statement,
      $.choice_statement,
      $.if_statement,
    ),

    _simple_statement: ($) => choice(
      $._session_line,
      prec(1, seq($.do_call, $._line_end)),
      $.throw_statement,
      $.break_statement,
      $.continue_statement,
      $.assert_statement,
    ),

    // ---- Composition and bindings

    use_statement: ($) => seq(
      "use",
      field("path", $.string),
      optional(seq("as", field("name", $.identifier))),
      $._line_end,
    ),

    import_statement: ($) => seq("import", field("skill", $.string), "from", field("source", $.string), $._line_end),

    input_statement: ($) => prec(1, seq(
      "input",
      choice(
        seq(field("name", $.identifier), optional(seq(":", field("description", choice($.string, $.discretion))))),
        field("description", $.string),
      ),
      $._line_end,
    )),

    output_statement: ($) => seq("output", optional(seq(field("name", $._name), "=")), $._value),
    _inline_output: ($) => seq("output", optional(seq(field("name", $._name), "=")), $._inline_value),

    let_statement: ($) => seq($._let_target, $._value),
    _inline_let: ($) => seq($._let_target, $._inline_value),
    _let_target: ($) => seq(
      choice("let", "const"),
      choice(field("name", $.identifier), field("pattern", $.destructuring)),
      "=",
    ),

    destructuring: ($) => seq("{", commaSeparated($.identifier), "}"),

    assignment: ($) => seq(field("name", $._name), "=", $._value),
    _inline_assignment: ($) => seq(field("name", $._name), "=", $._inline_value),

    // What has a value, up to the end of its lines.
    _value: ($) => choice(
      seq(field("value", $._expression), $._line_end),
      field("value", choice($.pipeline, $._session_line, $._compound_statement)),
    ),
    _inline_value: ($) => choice(
      seq(field("value", $._expression), $._line_end),
      field("value", $._session_line),
    ),

    // ---- Definitions

    agent_definition: ($) => seq("agent", field("name", $.identifier), $._colon, choice($._properties, $._line_end)),

    block_definition: ($) => seq(
      "block",
      field("name", $.identifier),
      optional(field("parameters", $.parameters)),
      optional(field("modifiers", alias($._block_modifiers, $.modifiers))),
      $._colon,
      $._body,
    ),

    parameters: ($) => seq(alias($._paren_open, "("), commaSeparated($.identifier), ")"),
    _block_modifiers: ($) => seq(
      alias($._paren_open, "("),
      commaSeparated1(alias($._named_modifier, $.modifier)),
      ")",
    ),

    _properties: ($) => seq($._indent, field("properties", $.property_list), $._dedent),

    property_list: ($) => seq($.property, repeat(seq($._newline, optional($.property)))),

    property: ($) => seq(
      field("name", $.identifier),
      $._colon,
      choice(seq(field("value", $._expression), $._line_end), $._properties),
    ),

    // ---- Sessions and calls

    // With what belongs to it on its line and below.
    _session_line: ($) => choice($._last_session, $.arrow_chain),

    arrow_chain: ($) => seq(
      repeat1(seq($._chained_session, optional($._arrow_line), "->")),
      $._last_session,
    ),

    _chained_session: ($) => choice(
      alias($._session, $.session_statement),
      alias($._session_with_inline_properties, $.session_statement),
      alias($._session_with_properties, $.session_statement),
      alias($._resume, $.resume_statement),
      alias($._resume_with_properties, $.resume_statement),
    ),
    _last_session: ($) => choice(
      prec(1, seq(alias($._session, $.session_statement), $._line_end)),
      prec(1, seq(alias($._session_with_inline_properties, $.session_statement), $._line_end)),
      alias($._session_with_properties, $.session_statement),
      prec(1, seq(alias($._resume, $.resume_statement), $._line_end)),
      alias($._resume_with_properties, $.resume_statement),
    ),

    _session: ($) => prec.right(seq("session", choice(
      field("prompt", $.string),
      seq(":", field("agent", $.identifier)),
      seq(field("name", $.identifier), ":", optional(field("agent", $.identifier))),
    ))),
    _session_with_inline_properties: ($) => seq($._session, $._inline_properties),
    _session_with_properties: ($) => seq($._session, optional($._inline_properties), $._properties),
    _resume_with_properties: ($) => seq($._resume, $._properties),

    // `session "x" (retry: 3)`, `session "x" context: y`, `session "x":`
    _inline_properties: ($) => choice(":", field("properties", alias($._inline_property_list, $.property_list))),
    _inline_property_list: ($) => choice(
      seq(alias($._paren_open, "("), commaSeparated(alias($._inline_property, $.property)), ")"),
      repeat1(alias($._inline_property, $.property)),
    ),
    _inline_property: ($) => seq(field("name", $.identifier), ":", field("value", $._expression)),

    _resume: ($) => seq("resume", ":", field("agent", $.identifier)),

    do_call: ($) => prec.right(seq("do", field("block", $.identifier), optional(field("arguments", $.arguments)))),

    do_statement: ($) => seq("do", $._colon, $._body),

    arguments: ($) => seq(
      alias($._call_open, "("),
      commaSeparated(choice($.named_argument, $._expression, $._at_key)),
      ")",
    ),
    named_argument: ($) => seq(field("name", $._name), ":", field("value", $._expression)),

    // ---- Control

    parallel_statement: ($) => seq("parallel", optional(field("modifiers", $.modifiers)), $._colon, $._body),

    parallel_for_statement: ($) => seq("parallel", $._for_header),
    for_statement: ($) => $._for_header,
    _for_header: ($) => seq(
      "for",
      field("item", $.identifier),
      optional(seq(",", field("index", $.identifier))),
      "in",
      field("collection", $._expression),
      $._colon,
      $._body,
    ),

    repeat_statement: ($) => seq("repeat", field("count", $._expression), $._loop_end),

    loop_statement: ($) => seq(
      "loop",
      optional(seq(choice("until", "while"), field("condition", $._expression))),
      $._loop_end,
    ),

    _loop_end: ($) => seq(
      optional(field("modifiers", $.modifiers)),
      optional(seq("as", field("index", $.identifier))),
      $._colon,
      $._body,
    ),

    modifiers: ($) => seq(alias($._modifiers_open, "("), commaSeparated(choice($.modifier, $._at_key)), ")"),
    modifier: ($) => choice($._named_modifier, field("value", $._expression)),
    _named_modifier: ($) => seq(
      field("name", $._name),
      ":",
      // `wait: 2s each`
      choice(field("value", $._expression), seq(field("value", $.duration), $.identifier)),
    ),

    try_statement: ($) => seq("try", $._colon, $._body, repeat(choice($.catch_clause, $.finally_clause))),
    catch_clause: ($) => seq(
      $._try_clause_line,
      "catch",
      optional(seq("as", field("error", $.identifier))),
      $._colon,
      $._body,
    ),
    finally_clause: ($) => seq($._try_clause_line, "finally", $._colon, $._body),

    choice_statement: ($) => seq("choice", field("criterion", $._expression), $._colon, $._body),
    option_clause: ($) => seq("option", field("label", $.string), $._colon, $._body),

    if_statement: ($) => seq(
      "if",
      field("condition", $._expression),
      $._colon,
      $._body,
      repeat(choice($.elif_clause, $.else_clause)),
    ),
    elif_clause: ($) => seq($._if_clause_line, "elif", field("condition", $._expression), $._colon, $._body),
    else_clause: ($) => seq($._if_clause_line, "else", $._colon, $._body),

    throw_statement: ($) => seq("throw", optional(field("value", $._expression)), $._line_end),
    return_statement: ($) => seq("return", choice($._value, $._line_end)),
    _inline_return: ($) => seq("return", choice($._inline_value, $._line_end)),
    break_statement: ($) => seq("break", $._line_end),
    continue_statement: ($) => seq("continue", $._line_end),

    assert_statement: ($) => seq(
      "assert",
      field("condition", $._expression),
      choice(
        $._line_end,
        seq(":", field("message", $.string), $._line_end),
        seq(":", $._indent, field("message", $.string), $._line_end, $._dedent),
      ),
    ),

    // ---- Expressions

    expression_statement: ($) => choice($.pipeline, seq($._expression, $._line_end)),
    _inline_expression: ($) => seq($._expression, $._line_end),

    pipeline: ($) => seq(field("source", $._expression), repeat1(seq(optional($._pipe_line), $.pipe_stage))),

    pipe_stage: ($) => seq(
      "|",
      choice(
        field("operator", choice("map", "filter", "pmap")),
        seq(field("operator", "reduce"), field("parameters", $.parameters)),
      ),
      $._colon,
      $._body,
    ),

    _expression: ($) => choice(
      $.ternary_expression,
      $.binary_expression,
      $.not_expression,
      $.unary_expression,
      $.string,
      $.discretion,
      $.number,
      $.duration,
      $.boolean,
      $.null,
      $.placeholder,
      $._postfix_expression,
      alias($._session, $.session_statement),
      alias($._resume, $.resume_statement),
      $.do_call,
    ),

    ternary_expression: ($) => prec.right(PREC.ternary, seq(
      field("condition", $._expression),
      "?",
      field("consequence", $._expression),
      ":",
      field("alternative", $._expression),
    )),

    binary_expression: ($) => choice(
      ...[
        ["or", PREC.or],
        ["and", PREC.and],
        [choice("==", "!=", "<=", ">=", "<", ">", "is"), PREC.compare],
        [choice("+", "-"), PREC.add],
        [choice("*", "/"), PREC.multiply],
      ].map(([operator, precedence]) => prec.left(precedence, seq(
        field("left", $._expression),
        field("operator", operator),
        field("right", $._expression),
      ))),
    ),

    not_expression: ($) => prec(PREC.not, seq("not", field("operand", $._expression))),
    unary_expression: ($) => prec(PREC.unary, seq("-", field("operand", $._expression))),

    // A literal takes no postfix: in `loop until **done** (max: 3)` the parenthesis opens the modifiers.
    _postfix_expression: ($) => choice(
      $._name,
      $.input_expression,
      $.parenthesized_expression,
      $.array,
      $.object,
      $.call,
      $.field_expression,
      $.index_expression,
    ),

    input_expression: ($) => seq("input", field("description", $.string)),

    parenthesized_expression: ($) => seq(alias($._paren_open, "("), $._expression, ")"),

    array: ($) => seq(alias($._bracket_open, "["), commaSeparated($._expression), "]"),

    object: ($) => seq("{", commaSeparated(choice($.entry, $.shorthand_entry, $._at_key)), "}"),
    entry: ($) => seq(field("key", choice($._name, $.string)), ":", field("value", $._expression)),
    shorthand_entry: ($) => choice($._name, $.field_expression, $.index_expression, $.placeholder),

    call: ($) => prec.right(PREC.postfix, seq(
      field("function", $._postfix_expression),
      field("arguments", $.arguments),
      optional(seq("from", field("source", $.string))),
    )),

    field_expression: ($) => prec(PREC.postfix, seq(
      field("object", $._postfix_expression),
      ".",
      field("field", $.identifier),
    )),

    index_expression: ($) => prec(PREC.postfix, seq(
      field("object", $._postfix_expression),
      alias($._index_open, "["),
      field("index", $._expression),
      "]",
    )),

    placeholder: (_) => "...",

    // ---- Literals

    string: ($) => choice(
      seq(alias($._quote_open, '"'), repeat($._string_part), alias($._quote_close, '"')),
      seq(alias($._triple_open, '"""'), repeat($._string_part), alias($._triple_close, '"""')),
    ),
    _string_part: ($) => choice(alias($._content, $.string_content), $.escape_sequence, $.interpolation),

    discretion: ($) => choice(
      seq(alias($._discretion_open, "**"), repeat($._discretion_part), alias($._discretion_close, "**")),
      seq(alias($._long_discretion_open, "***"), repeat($._discretion_part), alias($._long_discretion_close, "***")),
    ),
    _discretion_part: ($) => choice(alias($._content, $.discretion_content), $.interpolation),

    // The scanner has seen that what stands between the braces has this form.
    interpolation: ($) => seq(
      alias($._interpolation_open, "{"),
      $.identifier,
      repeat(choice(
        seq(".", field("field", alias($.identifier, $.field_name))),
        seq("[", choice($.number, $.identifier), "]"),
      )),
      alias($._interpolation_close, "}"),
    ),

    _name: ($) => choice($.identifier, alias($._keyword_as_name, $.identifier)),

    identifier: (_) => /[\p{XID_Start}_]\p{XID_Continue}*(-\p{XID_Continue}+)*/u,

    boolean: (_) => choice("true", "false"),
    null: (_) => "null",
    number: (_) => /[0-9]+(\.[0-9]+)?/,
    duration: (_) => /[0-9]+(\.[0-9]+)?(ms|s|m|h)/,
  },
});
