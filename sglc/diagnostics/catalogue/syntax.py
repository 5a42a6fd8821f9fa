"""Catalogue entries: how a program's text is written (E01, W01)."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0101",
        "something cannot stand here",
        "The text does not fit the grammar at this place. The label says what could stand there instead, "
        "where that is only a few things.",
        "pub pure fn double(x: int) -> int:\n    return x *\n",
        "pub pure fn double(x: int) -> int:\n    return x * 2\n",
    ),
    Entry(
        "E0102",
        "a colon is missing",
        "A line that begins a block ends in a colon: declarations, roles, `if`, `for`, `match` and their "
        "kin. What belongs to the block follows on the same line, or on indented lines below.",
        'pub pure fn sign(x: int) -> str:\n    if x < 0\n        return "minus"\n    return "plus"\n',
        'pub pure fn sign(x: int) -> str:\n    if x < 0:\n        return "minus"\n    return "plus"\n',
    ),
    Entry(
        "E0103",
        "prompt text without its pipe",
        "Prompt text stands on lines that begin with `|`. Everything else is code, so a line of prose "
        "without its pipe is read as code and makes no sense.",
        "pub part rules():\n    | Be brief.\n    Answer in one sentence please.\n",
        "pub part rules():\n    | Be brief.\n    | Answer in one sentence please.\n",
    ),
    Entry(
        "E0104",
        "an insert or hole that is not closed",
        "`${…}` and `?{…}` end on the line they begin on. To write the two characters themselves, put a "
        "backslash in front: `\\${` and `\\?{`.",
        "pub part greeting(name: str):\n    | Hello ${name, welcome.\n",
        "pub part greeting(name: str):\n    | Hello ${name}, welcome.\n",
    ),
    Entry(
        "E0105",
        "text in quotes that is not closed",
        'A text in double quotes ends on its line. Inside it a quote is written `\\"` and a line end `\\n`. '
        "Long prose belongs on pipe lines.",
        'pub const GREETING = "good morning\n',
        'pub const GREETING = "good morning"\n',
    ),
    Entry(
        "E0106",
        "a bracket that is not closed, or closed by another",
        "Every `(`, `[` and `{` has its `)`, `]` and `}`. Lines inside brackets go on until the bracket "
        "closes.",
        "pub const PRIMES = [2, 3, 5\n",
        "pub const PRIMES = [2, 3, 5]\n",
    ),
    Entry(
        "E0107",
        "a closing bracket without its opening one",
        "A closing bracket stands where no bracket is open. Often one was removed and its partner was not.",
        "pub const PRIMES = [2, 3, 5])\n",
        "pub const PRIMES = [2, 3, 5]\n",
    ),
    Entry(
        "E0108",
        "an indentation that fits no block",
        "A line belongs to the block whose indentation it has. This line lies between two blocks, so it is "
        "not clear which one is meant.",
        "pub part rules(strict: bool):\n    if strict:\n        | Be strict.\n      | Be brief.\n",
        "pub part rules(strict: bool):\n    if strict:\n        | Be strict.\n    | Be brief.\n",
    ),
    Entry(
        "E0109",
        "a tab in the indentation",
        "Indentation says what belongs to which block, and how wide a tab is depends on the editor. Blanks "
        "look the same everywhere; four of them are usual.",
        "pub part rules():\n\t| Be brief.\n",
        "pub part rules():\n    | Be brief.\n",
    ),
    Entry(
        "E0110",
        "`=` where `==` is meant",
        "`=` gives a variable its value and names an argument; `==` compares.",
        'pub pure fn word(x: int) -> str:\n    if x = 1:\n        return "one"\n    return "many"\n',
        'pub pure fn word(x: int) -> str:\n    if x == 1:\n        return "one"\n    return "many"\n',
    ),
    Entry(
        "E0111",
        "a line that begins with an unknown word",
        "Statements and declarations begin with a word of the language, unless they assign or call "
        "something. Where a known word is close, it is suggested.",
        "pub pure fn double(x: int) -> int:\n    retrun x * 2\n",
        "pub pure fn double(x: int) -> int:\n    return x * 2\n",
    ),
    Entry(
        "E0112",
        "a hole or insert outside prompt text",
        "`?{…}` and `${…}` belong to prompt text (and `${…}` to texts in quotes). In code the name itself is "
        "the value; `let x = gen T` asks the model for a value without any text around it.",
        "pub pure fn double(x: int) -> int:\n    return ${x} * 2\n",
        "pub pure fn double(x: int) -> int:\n    return x * 2\n",
    ),
    Entry(
        "E0113",
        "the spelling of another language",
        "The construct exists, but SGL writes it differently: `fn`, `record`, `elif`, `match`, `raise`, "
        "`null`, `true`, `and`, `or`, `not`, double quotes, blocks by indentation.",
        "def double(x: int) -> int:\n    return x * 2\n",
        "pub pure fn double(x: int) -> int:\n    return x * 2\n",
    ),
    Entry(
        "E0114",
        "an empty block",
        "A line that ends in a colon begins a block, and a block has at least one line. A comment is not "
        "one.",
        "pub record Point:\n\npub const ORIGIN = 0\n",
        "pub record Point:\n    x: int\n\npub const ORIGIN = 0\n",
    ),
    Entry(
        "E0115",
        "an unknown or misplaced option",
        "Holes take `max n tok`, `temp t`, `top_p p`, `top_k k`, `min_p p`, `seed s`, `until`, `where`, "
        "`using`, `n` and `decode`, each once and without commas between them; `by sum`, `mean`, `greedy` "
        "or `contrast` belongs to `select`; `by kl`, `ess`, `entropy` or `forward`, `weight w` and `at "
        "least w` to `using blend(…)`; `retry` takes `resample` or `repair`.",
        "fn name() -> str:\n    | My name is ?{x: str max 9 chars temperature 0.5}\n    return x\n",
        "fn name() -> str:\n    | My name is ?{x: str max 9 chars temp 0.5}\n    return x\n",
    ),
    Entry(
        "E0116",
        "an unknown escape",
        'A backslash in a text in quotes begins an escape: `\\n`, `\\t`, `\\r`, `\\"`, `\\\\`, `\\$` or '
        "`\\u{1F600}`. A backslash itself is written `\\\\`. Regular expressions and pipe lines have rules "
        "of their own and need no doubling.",
        'pub const FOLDER = "C:\\data"\n',
        'pub const FOLDER = "C:\\\\data"\n',
    ),
    Entry(
        "E0117",
        "an unexpected indentation",
        "Lines are indented below a line that ends in a colon, and nowhere else.",
        "pub part rules():\n    | Be brief.\n        | Be kind.\n",
        "pub part rules():\n    | Be brief.\n    | Be kind.\n",
    ),
    Entry(
        "E0118",
        "a character that means nothing",
        "The character belongs to no word or sign of the language. Often it is a typographic quote that an "
        "editor put in.",
        "pub const LIMIT = 3 @ 4\n",
        "pub const LIMIT = 3 * 4\n",
    ),
    Entry(
        "E0119",
        "an insert in a text that must be known",
        "Titles, paths, literal types, stop texts and the texts of a grammar are fixed when the program is "
        "compiled, so nothing can be inserted into them.",
        'fn name(x: str) -> str:\n    | Name: ?{y: str max 9 chars until "${x}"}\n    return y\n',
        'fn name() -> str:\n    | Name: ?{y: str max 9 chars until "."}\n    return y\n',
    ),
    Entry(
        "E0120",
        "a number that does not fit its place",
        "Counts of characters and items are whole numbers written out. Numbers have at most 60 characters.",
        "pub record Word:\n    text: str max 2.5 chars\n",
        "pub record Word:\n    text: str max 25 chars\n",
    ),
    Entry(
        "E0121",
        "an option of a hole after a type",
        "A type says which texts are legal: `max 80 chars`, `in 1..5`, `matching /…/`. How a model writes "
        "them (`max 60 tok`, `temp 0.7`) is said where it writes, at the hole.",
        "pub record Note:\n    text: str max 60 tok\n",
        "pub record Note:\n    text: str max 200 chars\n",
    ),
    Entry(
        "E0122",
        "something in the wrong place",
        "Declarations stand at the left margin; statements and prompt text stand in functions and tests; "
        "`else`, `elif`, `except` and `case` follow what they belong to.",
        "let limit = 3\n",
        "pub const LIMIT = 3\n",
    ),
    Entry(
        "E0123",
        "a block of text that is not closed or not indented",
        'A `text """` block ends with a line `"""`, whose indentation is taken off every line of the block.',
        'pub part rules():\n    text """\n    Be brief.\n',
        'pub part rules():\n    text """\n    Be brief.\n    """\n',
    ),
    Entry(
        "E0124",
        "a regular expression that is not closed",
        "A regular expression stands between two slashes on one line. A slash inside is written `\\/`.",
        "pub type code = str matching /[A-Z]{3}\n",
        "pub type code = str matching /[A-Z]{3}/\n",
    ),
    Entry(
        "E0125",
        "chained comparisons",
        "`a < b < c` would compare a truth value with c. Each comparison is written out, joined with "
        "`and`; for whole numbers there is `x in 1..5`.",
        "pub pure fn inside(x: int) -> bool:\n    return 0 < x < 5\n",
        "pub pure fn inside(x: int) -> bool:\n    return 0 < x and x < 5\n",
    ),
    Entry(
        "E0126",
        "a field pattern without its name",
        "In a pattern, fields are named: `case Invoice(total = t)`. Fields that are not named match "
        "anything.",
        "union Shape:\n    Circle(radius: int)\n    Square(side: int)\n\n"
        "pub pure fn size(shape: Shape) -> int:\n    match shape:\n        case Circle(r): return r\n"
        "        case Square(side = s): return s\n",
        "union Shape:\n"
        "    Circle(radius: int)\n"
        "    Square(side: int)\n"
        "\n"
        "pub pure fn size(shape: Shape) -> int:\n"
        "    match shape:\n"
        "        case Circle(radius = r): return r\n"
        "        case Square(side = s): return s\n",
    ),
    Entry(
        "E0127",
        "a call is needed",
        "`part`, `aside`, `fuzz`, `golden` and `stream` are followed by a call. Arguments of a type are "
        "values without names.",
        "pub part rules():\n"
        "    | Be brief.\n"
        "\n"
        "fn ask() -> bool:\n"
        "    part rules\n"
        "    | Yes: ?{x: bool}\n"
        "    return x\n",
        "pub part rules():\n"
        "    | Be brief.\n"
        "\n"
        "fn ask() -> bool:\n"
        "    part rules()\n"
        "    | Yes: ?{x: bool}\n"
        "    return x\n",
    ),
    Entry(
        "E0128",
        "an assignment to something that is no place",
        "A variable, a field or an element can be assigned to. What a call gives cannot.",
        "pub pure fn count(xs: [int]) -> int:\n    len(xs) = 3\n    return len(xs)\n",
        "pub pure fn count(xs: [int]) -> int:\n    let n = len(xs)\n    return n\n",
    ),
    Entry(
        "E0129",
        "malformed JSON",
        "What follows `json schema` is one JSON object.",
        'pub type point = json schema {"type": object}\n',
    ),
    Entry(
        "E0130",
        "a file that is too large",
        "Programs have at most 4 Mi characters. Long prose is kept in a file of its own and included.",
    ),
    Entry(
        "E0131",
        "nested too deeply",
        "There are limits on how many brackets, blocks, signs and operands stand in one another, so that a "
        "hostile file cannot exhaust the compiler. Giving inner parts names with `let` makes room.",
        "pub const DEPTH = " + "(" * 70 + "1" + ")" * 70 + "\n",
        "pub const DEPTH = ((1))\n",
    ),
    Entry(
        "E0132",
        "a line that is too long",
        "Lines have at most 100,000 characters. Long prose is kept in a file of its own and included.",
    ),
    Entry(
        "E0133",
        "a character that no program has",
        "The file holds a null character, half of a character, or one that reverses the direction of text "
        "and so makes a program read differently from how it looks. In texts these are written as escapes.",
        'pub const NAME = "a\u202eb"\n',
        'pub const NAME = "a\\u{202e}b"\n',
    ),
    Entry(
        "E0134",
        "a hole without a name or type",
        "A hole is `?{name: Type}` with options after the type: the name is how the program speaks of the "
        "value, the type is what the model can write.",
        "fn ask() -> bool:\n    | Yes or no: ?{bool}\n    return true\n",
        "fn ask() -> bool:\n    | Yes or no: ?{x: bool}\n    return x\n",
    ),
    Entry(
        "E0135",
        "something given twice",
        "`within`, `raises`, `retry` and `else raise` are each given at most once, `retry` before `else "
        "raise`.",
        "fn ask() -> bool within 9 tok within 8 tok:\n    | Yes: ?{x: bool}\n    return x\n",
        "fn ask() -> bool within 9 tok:\n    | Yes: ?{x: bool}\n    return x\n",
    ),
    Entry(
        "E0136",
        "a word of the language as a name",
        "Some words always mean the same and cannot be names: `if`, `for`, `in`, `let`, `return`, `true` "
        "and so on. Most words (`user`, `test`, `max`, `type`) are only special in one place and are fine "
        "as names.",
        "pub pure fn double(return: int) -> int:\n    return 2\n",
        "pub pure fn double(result: int) -> int:\n    return 2 * result\n",
    ),
    Entry(
        "E0143",
        "an arm of a match that is not written as a case",
        "Below `match` stand arms, each `case pattern:` with what is done; `case _:` takes "
        "everything else. A "
        "colon ends the pattern, not an arrow.",
        'pub pure fn word(x: int) -> str:\n    match x:\n        1: return "one"\n'
        '        case _: return "many"\n',
        'pub pure fn word(x: int) -> str:\n    match x:\n        case 1: return "one"\n'
        '        case _: return "many"\n',
    ),
    Entry(
        "E0144",
        "a type in the notation of another language",
        "A list is `[T]`, a map `{str: T}`, a tuple `(A, B)`, a value that may be missing `T?`, one "
        "of several "
        '`A | B`, one of a few texts `"a" | "b"`.',
        "pub pure fn count(xs: list[str]) -> int:\n    return len(xs)\n",
        "pub pure fn count(xs: [str]) -> int:\n    return len(xs)\n",
    ),
    Entry(
        "E0145",
        "a missing comma",
        "Items of lists and maps, arguments, parameters and members are separated by commas.",
        "pub pure fn three() -> [int]:\n    return [1 2, 3]\n",
        "pub pure fn three() -> [int]:\n    return [1, 2, 3]\n",
    ),
    Entry(
        "E0146",
        "a header that is not written as one",
        "The header of a function is `fn name(parameter: Type, …) -> Type:`. Each parameter has its "
        "type behind "
        "its name and a colon, an arrow stands before the type of the result. Other lines: "
        '`assistant with tools [f] limit 4 calls:`, `extern py "module:f" fn f(…) -> T`, `retry 2 resample`, '
        "`fork i in 0..<3:`, `fuzz f(x) times 100:`, `forget:`, `think max 200 tok`.",
        "pub pure fn double(n: int): int:\n    return n * 2\n",
        "pub pure fn double(n: int) -> int:\n    return n * 2\n",
    ),
    Entry(
        "E0147",
        "a bound that is not written as one",
        "Lengths of texts are bounded in characters (`max 80 chars`, `min 3 chars`), what a hole may cost in "
        "tokens (`max 60 tok`), numbers by ranges: `in 1..5`, `in 1..`, `in ..5`.",
        "pub pure fn stars(n: int in 1-5) -> int:\n    return n\n",
        "pub pure fn stars(n: int in 1..5) -> int:\n    return n\n",
    ),
    Entry(
        "E0148",
        "a declaration in the notation of another language",
        "An enum has names, separated by commas: `enum Mood: calm, angry`. A type with fields is a "
        "`record` with "
        "a field on each line. Another name for a type is `type Name = T`. An error has its fields in "
        "parentheses: `error Odd(n: int)`.",
        'pub enum Mood: "calm", "angry"\n',
        "pub enum Mood: calm, angry\n",
    ),
    Entry(
        "E0149",
        "a pattern without slashes",
        "A pattern stands between slashes: `matching /[a-z]+/`. A slash inside is written `\\/`.",
        'pub type Word = str matching "[a-z]{1,9}"\n',
        "pub type Word = str matching /[a-z]{1,9}/\n",
    ),
    Entry(
        "E0150",
        "a part that a type does not have",
        "`Crew.Partial` is what is there of a `Crew` while it is written. Types have no other parts.",
        "pub record Crew:\n    name: str max 9 chars\n\npub pure fn f(c: Crew.Part) -> bool:\n"
        "    return c.name != null\n",
        "pub record Crew:\n    name: str max 9 chars\n\npub pure fn f(c: Crew.Partial) -> bool:\n"
        "    return c.name != null\n",
    ),
    Entry(
        "W0101",
        "blanks at the end of a pipe line",
        "Blanks at the end of prompt text are invisible to people and real to the model; a blank before a "
        "generated word often spoils its first token.",
        "pub part rules():\n    | Be brief. \n",
        "pub part rules():\n    | Be brief.\n",
    ),
    Entry(
        "W0102",
        "a tab in prompt text",
        "A tab looks like blanks and is another character to the model.",
        "pub part rules():\n    | Be\tbrief.\n",
        "pub part rules():\n    | Be brief.\n",
    ),
    Entry(
        "W0103",
        "a no-break space in prompt text",
        "A no-break space looks like a blank and is another character to the model. It often comes with "
        "copied text.",
        "pub part rules():\n    | Be\u00a0brief.\n",
        "pub part rules():\n    | Be brief.\n",
    ),
    Entry(
        "W0104",
        "a doc comment that belongs to nothing",
        "A `##` comment is part of the schema text that a model is shown. It stands right above, or at the "
        "end of the line of, the declaration, field, member or variant that it describes. Comments for "
        "people have one `#`.",
        "pub part rules():\n    ## keep it short\n    | Be brief.\n",
        "pub part rules():\n    # keep it short\n    | Be brief.\n",
    ),
)
