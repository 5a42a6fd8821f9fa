"""Catalogue entries of the checker: names and modules (E02xx)."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0201",
        "unknown name",
        "A variable, function or enum member of this name is not in sight. A name bound inside a loop, "
        "branch "
        "or case ends with that block; bind it before with `var` to use it afterwards.",
        """\
fn greet(person: str) -> str:
    | Hello ${persn}, ?{wish: str max 40 chars}
    return wish
""",
        """\
fn greet(person: str) -> str:
    | Hello ${person}, ?{wish: str max 40 chars}
    return wish
""",
    ),
    Entry(
        "E0202",
        "unknown type",
        "A type is built in (`str`, `int`, `decimal`, `float`, `bool`, `null`), declared in this file, or "
        "imported with `use`. Formats such as `date` and `email` are in the standard library.",
        "record Meeting:\n    day: date\n\npub fn empty() -> int:\n    return 0\n",
        "use std.time (date)\n\npub record Meeting:\n    day: date\n",
    ),
    Entry(
        "E0203",
        "declared twice",
        "One name has one meaning in a file, a record, an enum, a union, a parameter list or a map.",
        "pub enum Mood: calm, glad, calm\n",
        "pub enum Mood: calm, glad, cross\n",
    ),
    Entry(
        "E0204",
        "a built-in name",
        "Built-in types and errors cannot be declared again.",
        "error Timeout\n\nfn wait() raises Timeout:\n    raise Timeout\n",
        "error TooLate\n\nfn wait() raises TooLate:\n    raise TooLate\n",
    ),
    Entry(
        "E0205",
        "the module has no such name",
        "`use module (name)` takes names that the module declares.",
        "use std.text (emial)\n\npub record Person:\n    contact: emial\n",
        "use std.text (email)\n\npub record Person:\n    contact: email\n",
    ),
    Entry(
        "E0206",
        "private to its module",
        "A module shares only what is marked `pub`.",
        "use std.time (SHIFTS)\n\npub pure fn first() -> int:\n    return SHIFTS[0]\n",
        "use std.time (is_leap)\n\npub pure fn first() -> bool:\n    return is_leap(1)\n",
    ),
    Entry(
        "E0207",
        "unknown error",
        "Errors are built in (Truncated, Rejected, Refused, Unsatisfiable, Unsupported, Timeout, Backend, "
        "Budget, "
        "Cancelled, Failure) or declared: `error Stuck(at: str)`.",
        "pub fn f():\n    raise Stuck\n",
        "error Stuck\n\npub fn f() raises Stuck:\n    raise Stuck\n",
    ),
    Entry(
        "E0208",
        "more than one meaning",
        "Two enums in sight have this member, or two unions this variant, and nothing around it says which "
        "is "
        "meant. Write it through its type.",
        """\
pub enum Light: red, green
pub enum Wine: red, white

pub pure fn f() -> bool:
    let colour = red
    return colour == Wine.red
""",
        """\
pub enum Light: red, green
pub enum Wine: red, white

pub pure fn f() -> bool:
    let colour = Wine.red
    return colour == Wine.red
""",
    ),
    Entry(
        "E0209",
        "no such field, member or method",
        "A value has the fields of its record, the methods of its type, or, if it is a union, the fields "
        "that all "
        "variants share.",
        """\
record Point:
    x: int
    y: int

pub pure fn f(point: Point) -> int:
    return point.z + point.x
""",
        """\
record Point:
    x: int
    y: int

pub pure fn f(point: Point) -> int:
    return point.y + point.x
""",
    ),
    Entry(
        "E0210",
        "the name is taken",
        "No value hides another one: not a variable of an outer block, not a constant, type or error of the "
        "file. Every line can then be read by itself. Members of enums and functions are in nobody's way: a "
        "member is found by the type that is expected or as `E.a`, a function where it is called.",
        """\
pub pure fn f(size: int) -> int:
    var total = 0
    for size in 0..<3:
        total += size
    return total + size
""",
        """\
pub pure fn f(size: int) -> int:
    var total = 0
    for step in 0..<3:
        total += step
    return total + size
""",
    ),
    Entry(
        "E0211",
        "the included file is not there",
        'The path of `include "…"` is relative to the file that includes it, and is read when the program is '
        "compiled.",
        'pub fn f() -> str:\n    include "no/such/file.md"\n    | ?{answer: str max 40 chars}\n    return '
        "answer\n",
        "pub fn f() -> str:\n    | Describe a file.\n    | ?{answer: str max 40 chars}\n    return answer\n",
    ),
    Entry(
        "E0138",
        "a file outside of the project",
        "A program takes in files of its project alone: of the nearest folder upwards from its main file "
        "with an `sgl.toml`, else of the main file's folder. That holds for `use`, `include`, imported "
        "grammars, schemas and declarations, for `..`, absolute paths and symbolic links. `--allow-outside` "
        "lets it read others.",
        'pub fn f() -> str:\n    include "../../notes.md"\n    | ?{answer: str max 40 chars}\n    return '
        "answer\n",
        "pub fn f() -> str:\n    | Describe a file.\n    | ?{answer: str max 40 chars}\n    return answer\n",
    ),
    Entry(
        "E0212",
        "the function has no such hole",
        "`mock f.hole = value` names a hole of `f`: `?{hole: …}` or `let hole = gen …` in its body.",
        """\
pub fn ask() -> str:
    | Colour: ?{colour: str max 20 chars}
    return colour

test "blue":
    mock ask.color = "blue"
    expect ask() == "blue"
""",
        """\
pub fn ask() -> str:
    | Colour: ?{colour: str max 20 chars}
    return colour

test "blue":
    mock ask.colour = "blue"
    expect ask() == "blue"
""",
    ),
    Entry(
        "E0213",
        "the module cannot be found or read",
        "`std.x` is the standard library, `./x` a file beside this one, `a.b` a file of the project: the "
        "nearest "
        "folder upwards with an `sgl.toml`, else the folder of the main file.",
        "use std.txt (email)\n\npub record Person:\n    contact: email\n",
        "use std.text (email)\n\npub record Person:\n    contact: email\n",
    ),
    Entry(
        "E0214",
        "modules use each other in a cycle",
        "If `a` uses `b`, `b` cannot use `a`, neither directly nor through others. Move what both need "
        "into a "
        "third module.",
    ),
    Entry(
        "E0221",
        "arguments of a built-in type",
        "Built-in types take no arguments in parentheses. What bounds them stands behind them: `int "
        "in 1..5`, "
        "`str max 80 chars`, `[str; 2..4]`.",
        "pub pure fn stars(n: int(1, 5)) -> int:\n    return n\n",
        "pub pure fn stars(n: int in 1..5) -> int:\n    return n\n",
    ),
    Entry(
        "E0222",
        "a `use` that names nothing",
        "`use` takes names out of a module: `use std.math (gcd)`. A module is no value, so there is no "
        "`math.gcd`.",
        "use std.math\n\npub pure fn half(n: int) -> int:\n    return math.gcd(n, 2)\n",
        "use std.math (gcd)\n\npub pure fn half(n: int) -> int:\n    return gcd(n, 2)\n",
    ),
    Entry(
        "W0226",
        "a comment in prompt text",
        "Everything behind the pipe is text, a `#` too: the model reads what looks like a comment. A "
        "comment stands "
        'on a line of its own. Text that is meant so is written `${"#"}`.',
        "fn ask(question: str) -> bool:\n    user: | ${question}  # what is asked\n"
        "    assistant: | ?{yes: bool}\n"
        "    return yes\n",
        "fn ask(question: str) -> bool:\n    # what is asked\n    user: | ${question}\n"
        "    assistant: | ?{yes: bool}\n"
        "    return yes\n",
    ),
    Entry(
        "W0225",
        "a variable in braces, as text",
        "Text inserts values by `${name}`; `{name}`, `{{name}}` and `$name` are text, and the model "
        "sees them as "
        'they are. Text that is meant to name a variable so is written `${"{name}"}`.',
        "fn ask(question: str) -> bool:\n    user: | Is it so? {question}\n    assistant: | ?{yes: bool}\n"
        "    return yes\n",
        "fn ask(question: str) -> bool:\n    user: | Is it so? ${question}\n    assistant: | ?{yes: bool}\n"
        "    return yes\n",
    ),
    Entry(
        "W0219",
        "a variable that is called like a member",
        "Variables may be called like members of enums. Where the variable is of that enum itself, or a "
        "pattern looks like a member and takes every value, the one is easily taken for the other.",
        """\
enum Mood: calm, annoyed

pub pure fn f(calm: Mood) -> bool:
    return calm == annoyed
""",
        """\
enum Mood: calm, annoyed

pub pure fn f(mood: Mood) -> bool:
    return mood == annoyed
""",
    ),
)
