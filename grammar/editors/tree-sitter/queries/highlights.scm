; Made by `python -m sglc.highlight`; edit sglc/highlight instead.

(name) @variable
(number) @number
(string) @string
(escape) @string.escape
(regex) @string.regexp
(path) @string.special.path
(prompt_text) @markup.raw
(fence_text) @markup.raw
(fence_mark) @punctuation.special
(role_name) @keyword.directive
(inline_json) @none
(comment) @comment
(binary_operator) @operator
(augmented_operator) @operator
((comment) @comment.documentation
  (#match? @comment.documentation "^##"))
["*" "+" "-" "->" ".." "..<" "..=" "=" "=>" "?" "|"] @operator
["(" ")" "," "." ":" ";" "[" "]" "{" "}"] @punctuation.delimiter
["false" "null" "true"] @constant.builtin
["case" "elif" "else" "except" "for" "if" "limit" "match" "raise" "return" "stream" "try" "while" "with"] @keyword.control
(break) @keyword.control
(continue) @keyword.control
["aside" "const" "enum" "error" "extern" "fn" "grammar" "let" "part" "pub" "pure" "record" "skip" "test" "type" "union" "var"] @keyword.type
["from" "import" "include" "py" "use"] @keyword.import
["at" "by" "decode" "least" "min_p" "n" "seed" "temp" "top_k" "top_p" "weight"] @keyword.modifier
(distinct) @keyword.modifier
["chars" "matching" "max" "min" "multiple" "tok" "until" "untrusted" "where"] @keyword.modifier
["adopt" "always" "as" "blend" "calls" "check" "choose" "each" "effects" "ensure" "expect" "forget" "fork" "fuzz" "gen" "golden" "key" "mock" "par" "raises" "replay" "retry" "select" "tags" "think" "timeout" "times" "tools" "using" "within" "without" "yield"] @keyword
["json" "of" "one" "schema" "span" "sql" "table" "typescript"] @type.builtin
["and" "contains" "in" "matches" "not" "or"] @keyword.operator
["not containing"] @keyword.modifier
["or skip"] @keyword
["not in"] @keyword.operator
(function (name) @function)
(pure_function (name) @function)
(part_function (name) @function)
(aside_function (name) @function)
(extern (name) @function)
(record (name) @type)
(enum (name) @type)
(enum_block (name) @type)
(union (name) @type)
(type_alias (name) @type)
(error (name) @type)
(grammar (name) @type)
(insert ["${" "}"] @punctuation.special)
(prompt_hole ["?{" "}"] @punctuation.special)
(pipe_line "|" @punctuation.special)
(true) @constant.builtin
(false) @constant.builtin
(null) @constant.builtin
