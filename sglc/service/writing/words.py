"""The words that may be written at a place, with what they do in a line, and the text that they become.

In an insert text `$1` and `$0` are stops of the cursor, as snippets of the protocol have them.
"""

from __future__ import annotations

from sglc.immutable import value


@value
class Word:
    """A word and what it is for; `insert` is a snippet where more than the word is written."""

    text: str
    meaning: str
    insert: str = ""


DECLARATIONS = (
    Word("fn", "a function with a conversation of its own", "fn ${1:name}($2) -> ${3:str}:\n    $0"),
    Word("part", "a function that writes into the caller's message", "part ${1:name}($2):\n    $0"),
    Word("aside", "a conversation beside the caller's", "aside ${1:name}($2) -> ${3:str}:\n    $0"),
    Word("pure fn", "a function without a model", "pure fn ${1:name}($2) -> ${3:int}:\n    $0"),
    Word("pub", "what follows is shared with other modules", "pub $0"),
    Word("record", "a type of named fields", "record ${1:Name}:\n    ${2:field}: ${3:str}"),
    Word("enum", "a type of a few names", "enum ${1:Name}: $0"),
    Word(
        "union",
        "a type of tagged variants",
        "union ${1:Name}:\n    ${2:Variant}:\n        ${3:field}: ${4:str}",
    ),
    Word("type", "another name for a type", "type ${1:name} = $0"),
    Word("error", "an error that functions raise", "error ${1:Name}($0)"),
    Word("const", "a value that is known before the run", "const ${1:NAME} = $0"),
    Word("grammar", "texts by rules", "grammar ${1:Name}:\n    ${2:start}: $0"),
    Word("use", "names of another module", "use ${1:std.text} ($0)"),
    Word("import grammar", "a grammar of a file or the library", "import grammar $0"),
    Word(
        "extern py", "a function of Python", 'extern py "${1:module}:${2:name}" fn ${2:name}($3) -> ${4:str}'
    ),
    Word("test", "what must hold, without a model", 'test "${1:title}":\n    $0'),
)
BOTH = (
    Word("let", "a value with a name", "let ${1:name} = $0"),
    Word("var", "a value that changes", "var ${1:name} = $0"),
    Word("if", "when a condition holds", "if ${1:condition}:\n    $0"),
    Word("for", "for each item", "for ${1:item} in ${2:items}:\n    $0"),
    Word("while", "while a condition holds", "while ${1:condition} limit ${2:10}:\n    $0"),
    Word("match", "by the form of a value", "match ${1:value}:\n    case $0:"),
    Word("try", "what may fail", "try:\n    $1\nexcept ${2:Failure}:\n    $0"),
    Word("return", "the result"),
    Word("raise", "an error"),
    Word("break", "leave the loop"),
    Word("continue", "the next item"),
    Word("elif", "else, when another condition holds"),
    Word("else", "else"),
    Word("except", "when it fails"),
)
ASKING = (
    Word("system", "a message of instructions", "system:\n    | $0"),
    Word("user", "a message of the user", "user:\n    | $0"),
    Word("assistant", "a message of the model", "assistant: | ?{${1:name}: ${2:str}}$0"),
    Word("tool", "a message of a tool", "tool:\n    | $0"),
    Word("ensure", "must hold, or the hole is drawn again", 'ensure ${1:condition} else "${2:why}"$0'),
    Word("check", "is recorded where it does not hold", 'check ${1:condition} else "${2:why}"$0'),
    Word("include", "the text of a file", 'include "$0"'),
    Word("part", "the text of a part", "part $0"),
    Word("aside", "a conversation beside this one", "aside $0"),
    Word("think", "a line that the model writes for itself"),
    Word("using", "what fills the holes of a block", "using ${1:model}:\n    $0"),
    Word("par", "calls side by side", "par:\n    $0"),
    Word("forget", "what the conversation does not keep", "forget:\n    $0"),
    Word("yield", "the value of a branch"),
    Word("adopt", "go on with a branch"),
)
TESTING = (
    Word("mock", "what a hole is filled with", "mock ${1:function}.${2:hole} = $0"),
    Word("expect", "what must hold", "expect $0"),
    Word("expect raises", "the error that must come", "expect raises ${1:Failure}: $0"),
    Word("fuzz", "random legal values", "fuzz ${1:function}($2) times ${3:20}:\n    expect $0"),
    Word("golden", "a result that is kept"),
    Word("replay", "a recorded run", 'replay "$0"'),
)
VALUES = (Word("true", ""), Word("false", ""), Word("null", "no value"), Word("not", ""))
ASKED_VALUES = (
    Word("gen", "a value that the model writes", "gen $0"),
    Word("choose", "one of a few, drawn as a whole", "choose $0"),
    Word("select", "one of a few, scored in full", "select $0"),
    Word("schema", "the text that shows a type", "schema($0)"),
    Word("fork", "branches side by side", "fork ${1:i} in 1..${2:3}:\n    $0"),
)
TYPES = (
    Word("str", "text"),
    Word("int", "whole numbers"),
    Word("decimal", "exact decimals"),
    Word("float", "binary floating point"),
    Word("bool", "true or false"),
    Word("null", "no value"),
    Word("json", "any JSON value"),
    Word("line", "text of one line"),
    Word("lines", "text of several lines"),
    Word("json schema", "by a JSON Schema", 'json schema "$0"'),
    Word("sql table", "a row of a table", 'sql table ${1:name} from "$0"'),
    Word("typescript", "an interface", 'typescript ${1:Name} from "$0"'),
)
IN_HOLES = (
    Word("span of", "a part of a text", "span of $0"),
    Word("one of", "an item of a list", "one of $0"),
    Word("choose", "one of a few, drawn as a whole", "choose $0"),
    Word("select", "one of a few, scored in full", "select $0"),
)
OF_TEXT = (
    Word("max … chars", "the longest text", "max ${1:80} chars"),
    Word("min … chars", "the shortest text", "min ${1:1} chars"),
    Word("matching", "a regular expression", "matching /$0/"),
    Word("until", "the text that ends it", 'until "$0"'),
    Word("not containing", "a text that is not in it", 'not containing "$0"'),
)
OF_NUMBERS = (
    Word("in", "a range", "in ${1:0}..${2:10}"),
    Word("multiple of", "a step", "multiple of $0"),
)
OF_ANY = (
    Word("where", "a condition on the value, `it`", "where $0"),
    Word("as", "the form that it is written in", "as $0"),
)
OF_HOLES = (
    Word("max … tok", "the most tokens", "max ${1:60} tok"),
    Word("temp", "the temperature", "temp ${1:0.7}"),
    Word("top_p", "the most probable tokens of this mass", "top_p ${1:0.9}"),
    Word("top_k", "so many tokens", "top_k ${1:40}"),
    Word("min_p", "tokens of this share of the most probable one", "min_p ${1:0.05}"),
    Word("seed", "the source of draws", "seed $0"),
    Word("n", "so many samples", "n ${1:3}"),
    Word("distinct", "samples that differ"),
    Word("decode", "the strategy", "decode $0"),
    Word("using", "what fills it", "using $0"),
)
STRATEGIES = ("local", "exact", "smc", "beam")
RETRIES = (Word("resample", "draw the hole again"), Word("repair", "say what was wrong, then draw again"))
