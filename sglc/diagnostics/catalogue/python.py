"""Catalogue entries of programs that are written as Python functions (E05xx)."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

_HEAD = "import sglc\n\n\n"
_MARK = "@sglc.sgl_function\n"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0501",
        "a statement of Python that is not translated",
        "A function under `@sglc.sgl_function` is translated and never run, so each of its statements "
        "needs a "
        "counterpart in the language. `finally`, `del`, `global`, classes, functions and imports inside of "
        "it have "
        "none; the hint says what to write.",
        bad_python=_HEAD + _MARK + "def ask(s) -> int:\n    try:\n"
        '        s += s.gen("n", type="int in 0..9")\n        return s["n"]\n    finally:\n        pass\n',
        good_python=_HEAD + _MARK + "def ask(s) -> int:\n    try:\n"
        '        s += s.gen("n", type="int in 0..9")\n        return s["n"]\n'
        "    except sglc.Truncated:\n        return 0\n",
    ),
    Entry(
        "E0502",
        "an expression of Python that is not translated",
        "Expressions with a counterpart are literals, names, fields, places, slices, calls, operators, "
        "comparisons, "
        "`a if c else b`, f-strings without formats, and list comprehensions over one variable.",
        bad_python=_HEAD + _MARK + "def tell(s, n: float):\n"
        '    s += f"It is {n:.2f}. Good? " + s.gen("good", type=bool)\n',
        good_python=_HEAD + _MARK + "def tell(s, n: float):\n"
        '    s += f"It is {round(n, 2)}. Good? " + s.gen("good", type=bool)\n',
    ),
    Entry(
        "E0503",
        "a call of a function that is not translated",
        "A program calls built-in functions, methods of its values, classes with fields, other functions "
        "under a decorator of sglc, and functions of Python whose parameters and result have annotations. "
        "Without annotations nobody knows which values pass.",
        bad_python="import os\n\n" + _HEAD + _MARK + "def tell(s):\n"
        '    s += "In " + os.getcwd() + ": " + s.gen("line", max_chars=30)\n',
        good_python=_HEAD + _MARK + "def tell(s, folder: str):\n"
        '    s += "In " + folder + ": " + s.gen("line", max_chars=30)\n',
    ),
    Entry(
        "E0504",
        "a name of the module that is nothing of the language",
        "Names outside of the function are constants: numbers, texts, members of enums, and lists, tuples, "
        "dicts and "
        "records of them. They are taken in when the function is compiled.",
        bad_python="import threading\n\n" + _HEAD + "LOCK = threading.Lock()\n\n\n" + _MARK + "def tell(s):\n"
        '    s += f"{LOCK}" + s.gen("line", max_chars=30)\n',
        good_python=_HEAD + 'WORDS = ["one", "two"]\n\n\n' + _MARK + "def tell(s):\n"
        '    s += f"{WORDS}" + s.gen("line", max_chars=30)\n',
    ),
    Entry(
        "E0505",
        "a wrong option of a hole or of the conversation",
        "`gen` takes one of `type`, `regex`, `json_schema`, `grammar` and `choices`, and options by name. "
        "What says "
        "which texts are legal is known before the program runs: it is written out, or a constant of the "
        "module.",
        bad_python=_HEAD + _MARK + 'def ask(s):\n    s += s.gen("n", regexp="[0-9]")\n',
        good_python=_HEAD + _MARK + 'def ask(s):\n    s += s.gen("n", regex="[0-9]")\n',
    ),
    Entry(
        "E0506",
        "an annotation that is no type of the language",
        "Types are those of Python with a counterpart (`int`, `str`, `list[str]`, `Literal`, `Optional`, "
        "dates, "
        "`Decimal`, `UUID`), enums, and classes with fields: dataclasses, Pydantic models, typed dicts, "
        "named tuples.",
        bad_python=_HEAD
        + _MARK
        + 'def ask(s, tags: set[str]):\n    s += f"{len(tags)} " + s.gen("n", type=bool)\n',
        good_python=_HEAD
        + _MARK
        + 'def ask(s, tags: list[str]):\n    s += f"{len(tags)} " + s.gen("n", type=bool)\n',
    ),
    Entry(
        "E0507",
        "a function without source",
        "A function is translated from its source. Python keeps none for what is typed at its own prompt "
        "(before "
        "3.13) or made by `exec`, and a file that has changed since its import is not the function's source.",
    ),
    Entry(
        "E0508",
        "the conversation used as a value",
        "The first parameter stands for the conversation. It is added to by `+=`, holds the values of holes "
        '(`s["name"]`), and has methods for messages, holes and blocks; it is no value that can be kept or '
        "passed.",
        bad_python=_HEAD + _MARK + 'def ask(s):\n    s = s + s.gen("n", type=bool)\n',
        good_python=_HEAD + _MARK + 'def ask(s):\n    s += s.gen("n", type=bool)\n',
    ),
    Entry(
        "E0509",
        "a hole by a wrong name",
        'A hole is called by a text in quotes, `gen("age")`, and its value is `s["age"]`. In a loop the '
        "name may hold "
        'the variable of the loop, `gen(f"step_{i}")`: that is one hole, `step`, and a list of its values.',
        bad_python=_HEAD
        + _MARK
        + 'def ask(s) -> bool:\n    s += s.gen("good", type=bool)\n    return s["god"]\n',
        good_python=_HEAD
        + _MARK
        + 'def ask(s) -> bool:\n    s += s.gen("good", type=bool)\n    return s["good"]\n',
    ),
    Entry(
        "E0510",
        "a result without a type",
        "A function that gives a value back says of which type: the result is checked, and callers know it.",
        bad_python=_HEAD + _MARK + 'def ask(s):\n    s += s.gen("good", type=bool)\n    return s["good"]\n',
        good_python=_HEAD
        + _MARK
        + 'def ask(s) -> bool:\n    s += s.gen("good", type=bool)\n    return s["good"]\n',
    ),
    Entry(
        "E0511",
        "a function whose docstring is not its program",
        "Under `@sglc.fn` the docstring holds the statements of the program, and nothing else stands in "
        "the body but "
        "`...` or `pass`.",
        bad_python=_HEAD + '@sglc.fn\ndef ask() -> bool:\n    """| Good? ?{good: bool}\n    return good"""\n'
        "    return True\n",
        good_python=_HEAD
        + '@sglc.fn\ndef ask() -> bool:\n    """| Good? ?{good: bool}\n    return good"""\n    ...\n',
    ),
)
