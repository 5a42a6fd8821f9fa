"""Statements, declarations and comments as other languages write them, told by what stands on the line."""

from __future__ import annotations

import re

from sglc.lalr.machine import Run
from sglc.syntax.errors.faulty_line import (
    BLOCK_WORDS,
    HEADER_WORDS,
    Line,
    Mistake,
    declaring_word,
    enclosing_word,
    line_extent,
)
from sglc.syntax.errors.foreign_types import GENERICS, TYPE_NAMES, translated
from sglc.syntax.errors.reporter import Replacements
from sglc.syntax.lexer.keywords import ROLES

_STARTS = {
    "def": ("`fn` begins a function", "fn"),
    "function": ("`fn` begins a function", "fn"),
    "func": ("`fn` begins a function", "fn"),
    "class": ("`record` begins a type with fields", "record"),
    "struct": ("`record` begins a type with fields", "record"),
    "interface": ("`record` begins a type with fields", "record"),
    "switch": ("`match` tells cases apart", "match"),
    "catch": ("`except` handles errors", "except"),
    "throw": ("`raise` raises an error", "raise"),
    "elsif": ("`elif` tests another condition", "elif"),
    "elseif": ("`elif` tests another condition", "elif"),
    "foreach": ("`for` goes through a list", "for"),
}
"""First words that are words of another language for what one word says here."""

_EXPLAINED = {
    "from": ("`use` imports names", "write `use module (name)`"),
    "pass": ("there is no empty statement", "leave the block out, or `return`"),
    "do": ("there is no `do`", "write `while condition limit n:`"),
    "loop": ("there is no `loop`", "write `while condition limit n:` or `for i in 1..8:`"),
    "repeat": ("there is no `repeat`", "write `for i in 1..8:`"),
    "unless": ("there is no `unless`", "write `if not …:`"),
    "finally": ("there is no `finally`", "nothing needs closing here: leave it out"),
    "del": ("nothing is deleted", "make a new list: `[x for x in xs if …]`"),
    "global": (
        "a function sees its own variables and the constants of the file",
        "pass the value as a parameter",
    ),
    "nonlocal": (
        "a function sees its own variables and the constants of the file",
        "pass the value as a parameter",
    ),
    "print": ("a program prints nothing", "prompt text stands on pipe lines; a value is given by `return`"),
}
"""First words for which nothing stands in their place."""

_MODIFIERS = {
    "async": ("functions are neither `async` nor awaited: calls run side by side where they can", ""),
    "tool": ("a tool is a plain function", ""),
    "export": ("`pub` shares a declaration", "pub"),
    "public": ("`pub` shares a declaration", "pub"),
    "private": ("what is not `pub` is private", ""),
    "static": ("there is no `static`", ""),
}
"""Words before `fn`, `record`, …: what to say, and what stands there instead."""

_NOT_HERE = {
    "lambda": ("functions are no values: there is no `lambda`", "write a comprehension: `[… for x in xs]`"),
    "await": ("calls are not awaited", "leave `await` out"),
    "async": ("functions are neither `async` nor awaited", "leave `async` out"),
    "new": ("a record is made by a call", "leave `new` out"),
}

_FROM = re.compile(r"from[ \t]+([\w./]+)[ \t]+import[ \t]+\(?([\w \t,]+?)\)?[ \t]*(?:#.*)?\r?")
_MAPPED = re.compile(r"\b(map|filter)\(lambda (\w+): ([^,\n()]+), ([\w.]+)\)")
_INSERTABLE = re.compile(r"\{([^{}\"'\\:!]+)\}")


def foreign(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """Whether the line is written as in another language."""
    for rule in (_comment, _start, _modifier, _braces, _semicolon, _types, _inside, _operators, _prefixed):
        found = rule(run, line, module_level)
        if found is not None:
            return found
    return None


# -- comments --------------------------------------------------------------------------------------


def _comment(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """`// …` at the start of a line or behind code, `\"\"\"…\"\"\"` as the first thing of a line."""
    text = line.text
    for index in range(line.first, line.index + 1):
        if line.at(index) != "//":
            continue
        following = [line.tokens.kinds[i] for i in range(index + 1, min(index + 4, line.last))]
        if index == line.first or (line.index > index + 1 and "NAME" in following):
            start, end = line.starts(index), line_extent(text, line.starts(index), line.ends(index))[1]
            return Mistake(
                "E0113",
                "a comment begins with `#`",
                start,
                start + 2,
                label="divides whole numbers",
                hint="write `#`",
                edits=((start, start + 2, "#"),),
                covers=(start, end),
            )
    start = line.starts(line.first)
    if text.startswith('"""', start) and block_of(line) in ROLES:
        end = text.find('"""', start + 3)
        alone = "\n" in text[start:end] and not text[start + 3 : end].split("\n", 1)[0].strip()
        return Mistake(
            "E0113",
            'a block of text begins with `text """`',
            start,
            start + 3,
            label="a text in quotes is code",
            hint='write `text """`',
            edits=((start, start, "text "),) if end > 0 and alone else (),
            covers=(line_extent(text, start, start)[0], line_extent(text, start, max(end, start) + 3)[1]),
        )
    if text.startswith('"""', start):
        end = text.find('"""', start + 3)
        alone = end > 0 and "\n" not in text[start:end]
        written = text[start + 3 : end].strip() if alone else ""
        return Mistake(
            "E0113",
            'a comment begins with `#`; `"""` holds prompt text, after the word `text`',
            start,
            start + 3,
            hint="write `# …`, or `## …` above what it describes",
            edits=((start, end + 3, f"# {written}"),) if written else (),
            covers=line_extent(text, start, end + 3 if end > 0 else start + 3),
        )
    return None


# -- words at the start ----------------------------------------------------------------------------


def _start(run: Run, line: Line, module_level: bool) -> Mistake | None:
    word, following = line.word, line.at(line.first + 1)
    start, end = line.starts(line.first), line.ends(line.first)
    if word == "else" and following == "if":
        end = line.ends(line.first + 1)
        return Mistake(
            "E0113",
            "`else if` is written `elif`",
            start,
            end,
            hint="write `elif …:`",
            edits=((start, end, "elif"),),
        )
    if line.index - line.first > 2 or following in ("=", "."):
        return None
    if word == "assert" and following != ":":
        meant = "expect" if declaring_word(line.text, start) == "test" else "ensure"
        return Mistake(
            "E0113",
            "`ensure` states a condition, `expect` does so in tests",
            start,
            end,
            label="from another language",
            hint=f"write `{meant}`",
            edits=((start, end, meant),),
        )
    if word == "from":
        extent = line_extent(line.text, start, end)
        match = _FROM.fullmatch(line.text[start : extent[1]].rstrip("\n"))
        if match is not None:
            names = ", ".join(part.strip() for part in match[2].split(","))
            made = f"use {match[1]} ({names})"
            return Mistake(
                "E0113",
                "`use` imports names",
                start,
                start + len(match[0].rstrip()),
                label="from another language",
                hint=f"write `{made}`",
                edits=((start, start + len(match[0].rstrip()), made),),
                covers=extent,
            )
    if following == ":" and word not in ("do", "loop", "finally"):
        return None
    if word == "import" and module_level and following != "grammar":
        return Mistake(
            "E0113",
            "`use` imports names, `import grammar` a grammar",
            start,
            end,
            label="from another language",
            hint=f"write `use std.{following}` or `use ./{following}`, and the names in parentheses",
        )
    if word in _STARTS:
        message, meant = _STARTS[word]
        return Mistake(
            "E0113",
            message,
            start,
            end,
            label="from another language",
            hint=f"write `{meant}`",
            edits=((start, end, meant),),
        )
    if word in _EXPLAINED:
        message, hint = _EXPLAINED[word]
        return Mistake("E0113", message, start, end, label="from another language", hint=hint)
    return None


def _modifier(run: Run, line: Line, module_level: bool) -> Mistake | None:
    word, following = line.word, line.at(line.first + 1)
    if word not in _MODIFIERS or line.index > line.first + 1:
        return None
    if following not in ("fn", "pure", "def", "function", "func", "record", "enum", "union", "type", "const"):
        return None
    message, meant = _MODIFIERS[word]
    start, end = line.starts(line.first), line.ends(line.first)
    edits: list[tuple[int, int, str]] = [(start, end if meant else line.starts(line.first + 1), meant)]
    if following in _STARTS:
        edits.append((line.starts(line.first + 1), line.ends(line.first + 1), _STARTS[following][1]))
    return Mistake(
        "E0113",
        message,
        start,
        end,
        label="from another language",
        hint=f"write `{meant}`" if meant else f"leave `{word}` out",
        edits=tuple(edits),
    )


# -- braces and semicolons -------------------------------------------------------------------------


def _braces(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.token != "{" or line.word not in BLOCK_WORDS | HEADER_WORDS or line.index == line.first:
        return None
    return Mistake(
        "E0113",
        "blocks are indented, not put in braces",
        line.start,
        line.end,
        label="a colon is due here",
        hint="end the line with `:` and indent what follows",
        edits=_without_braces(line),
    )


def _without_braces(line: Line) -> Replacements:
    """A colon for the opening brace and nothing for the closing one, where each ends a line of its own."""
    close = line.closing(line.index)
    if close is None or close != line.last - 1:
        return ()
    text = line.text
    before, opened, closed = line.ends(line.index - 1), line.end, line.starts(close)
    colon = (before, opened, ":")
    inner = text[opened:closed]
    if "\n" not in inner:
        return (colon, (line.ends(close - 1), closed + 1, "")) if inner.strip() else ()
    first, after = line_extent(text, closed, closed + 1)
    if text[first:after].strip() != "}" or inner.split("\n", 1)[0].strip():
        return ()
    return (colon, (first, after, ""))


def _semicolon(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.token != ";" or line.depth_before(line.index):
        return None
    last = line.index + 1 == line.last
    following = line.end if last else line.starts(line.index + 1)
    return Mistake(
        "E0113",
        "a line is one statement",
        line.start,
        line.end,
        label="ends nothing",
        hint="leave it out" if last else "put the rest on its own line",
        edits=((line.start, following, "" if last else "\n" + line.indentation),)
        if line.index > line.first
        else (),
        repair="" if last else "_NEWLINE",
        skip=1 if line.index > line.first else 0,
    )


# -- types -----------------------------------------------------------------------------------------


def _types(run: Run, line: Line, module_level: bool) -> Mistake | None:
    return foreign_type(run, line)


def foreign_type(run: Run, line: Line) -> Mistake | None:
    """`list[str]`, `Dict<str, int>`, `str[]`: at the bracket behind a name."""
    index = line.index - 1
    word = line.at(index)
    empty = line.token == "[" and line.at(line.index + 1) == "]"
    if line.token not in ("[", "<") or not word.isidentifier() or not (word in GENERICS or empty):
        return None
    found = translated(line, index)
    start = line.starts(index)
    end = line.end if found is None else line.ends(found[1] - 1)
    return Mistake(
        "E0144",
        "this type is in the notation of another language",
        start,
        end,
        label=f"written `{found[0]}` here" if found else "from another language",
        hint=f"write `{found[0]}`"
        if found
        else "lists are `[T]`, maps `{str: T}`, tuples `(A, B)`, optional values `T?`, others `A | B`",
        edits=((start, end, found[0]), *_null_default(line, found[1])) if found else (),
    )


def _null_default(line: Line, index: int) -> Replacements:
    """`= None` behind a type."""
    if line.at(index) == "=" and line.at(index + 1) == "None":
        return ((line.starts(index + 1), line.ends(index + 1), "null"),)
    return ()


def type_of_another(word: str) -> bool:
    """Whether a word names a type in another language."""
    return word in TYPE_NAMES or word in GENERICS


# -- operators -------------------------------------------------------------------------------------


def _operators(run: Run, line: Line, module_level: bool) -> Mistake | None:
    return foreign_operator(run, line)


def foreign_operator(run: Run, line: Line) -> Mistake | None:
    """`||`, `===`, `<>`, `x++`, `a ? b : c`, `is not`, at the token that does not fit."""
    index, token = line.index, line.token
    before = line.at(index - 1)
    pair = index > line.first and line.touching(index - 1, index)
    if token == "|" and line.at(index + 1) == "|" and line.touching(index, index + 1):
        return _replaced(line, index, index + 1, "or", "either condition", "BINARY", skip=2)
    if token == "=" and before in ("==", "!=") and pair:
        return _replaced(line, index - 1, index, before, "compares", "", skip=1)
    if token == ">" and before == "<" and pair:
        return _replaced(line, index - 1, index, "!=", "compares", "", skip=1)
    if token in ("+", "-") and before == token and pair and line.at(index + 1) == "":
        start = line.ends(index - 2)
        return Mistake(
            "E0113",
            f"there is no `{token}{token}`",
            line.starts(index - 1),
            line.end,
            label="from another language",
            hint=f"write `{token}= 1`",
            edits=((start, line.end, f" {token}= 1"),),
        )
    if line.kind == "NUMBER" and before == "." and pair:
        place = line.starts(index - 1)
        return Mistake(
            "E0113",
            "a part of a tuple is read by its place in brackets",
            place,
            line.end,
            label="no field",
            hint=f"write `[{token}]`",
            edits=((place, line.end, f"[{token}]"),),
        )
    if token == "?" and run.could_take("BINARY"):
        return _null(line) or _ternary(line)
    if token == "," and line.word == "return" and run.could_take("BINARY") and not line.depth_before(index):
        start, end = line.starts(line.first + 1), line.ends(line.last - 1)
        return Mistake(
            "E0113",
            "a tuple stands in parentheses",
            line.start,
            line.end,
            label="ends the value",
            hint="write `return (a, b)`",
            edits=((start, start, "("), (end, end, ")")),
        )
    if token == "if" and before in ("return", "=") and not run.could_take("BINARY"):
        return Mistake(
            "E0113",
            "a choice is written `a if condition else b`",
            line.start,
            line.end,
            label="from another language",
            hint="write the first value before the `if`",
        )
    if token == "is" and line.kind == "NAME":
        negated = line.at(index + 1) == "not"
        meant = "!=" if negated else "=="
        last = index + 1 if negated else index
        return _replaced(line, index, last, meant, "compares", "BINARY", skip=last - index + 1)
    if token == "then" and line.kind == "NAME" and line.word in ("if", "elif", "while"):
        return Mistake(
            "E0113",
            "a colon ends the condition",
            line.start,
            line.end,
            label="from another language",
            hint="write `:`",
            edits=((line.ends(index - 1), line.end, ":"),),
            repair=":",
            skip=1,
        )
    return None


def _replaced(line: Line, first: int, last: int, meant: str, what: str, repair: str, skip: int) -> Mistake:
    start, end = line.starts(first), line.ends(last)
    written = line.text[start:end]
    return Mistake(
        "E0113",
        f"`{written}` is written `{meant}`",
        start,
        end,
        label=what,
        hint=f"write `{meant}`",
        edits=((start, end, meant),),
        repair=repair,
        skip=skip,
    )


def _null(line: Line) -> Mistake | None:
    """`a ?? b` and `a?.b`."""
    index = line.index
    following = line.at(index + 1)
    if following not in ("?", ".") or not line.touching(index, index + 1):
        return None
    owner = line.at(index - 1)
    if following == ".":
        label = line.at(index + 2)
        return Mistake(
            "E0113",
            "there is no `?.`",
            line.start,
            line.ends(index + 1),
            label="from another language",
            hint=f"test it first: `{owner}.{label} if {owner} != null else …`",
        )
    rest = line.last - 1
    plain = line.tokens.kinds[index - 1] == "NAME" and line.at(index - 2) in ("return", "=", "(", ",", "[")
    end = line.ends(rest)
    other = line.text[line.starts(index + 2) : end] if index + 2 <= rest else ""
    start = line.starts(index - 1)
    made = f"{owner} if {owner} != null else {other}"
    sure = plain and bool(other) and not line.depth_before(index)
    return Mistake(
        "E0113",
        "there is no `??`",
        line.start,
        line.ends(index + 1),
        label="from another language",
        hint=f"write `{made}`" if sure else "write `x if x != null else y`",
        edits=((start, end, made),) if sure else (),
    )


def _ternary(line: Line) -> Mistake:
    colon = next((i for i in range(line.index + 1, line.last) if line.at(i) == ":"), None)
    first = line.first + 1 if line.word == "return" else None
    if first is None:
        first = next((i + 1 for i in range(line.first, line.index) if line.at(i) == "="), None)
    edits: Replacements = ()
    if first is not None and colon is not None and not line.depth_before(line.index):
        text, start, end = line.text, line.starts(first), line.ends(line.last - 1)
        condition = text[start : line.ends(line.index - 1)]
        yes = text[line.starts(line.index + 1) : line.ends(colon - 1)]
        no = text[line.starts(colon + 1) : end] if colon + 1 < line.last else ""
        if no:
            edits = ((start, end, f"{yes} if {condition} else {no}"),)
    return Mistake(
        "E0113",
        "a choice is written `a if condition else b`",
        line.start,
        line.end,
        label="from another language",
        hint=f"write `{edits[0][2]}`" if edits else "write `a if condition else b`",
        edits=edits,
    )


# -- words inside ----------------------------------------------------------------------------------


def _inside(run: Run, line: Line, module_level: bool) -> Mistake | None:
    return foreign_word(line)


def foreign_word(line: Line) -> Mistake | None:
    """`await f()`, `new T()`, `lambda x: …`: at the word or right behind it."""
    for index in (line.index, line.index - 1):
        word = line.at(index)
        if word not in _NOT_HERE or index < line.first or line.tokens.kinds[index] != "NAME":
            continue
        if line.at(index + 1) in ("=", ".", ")", "") or (index == line.index and index == line.first):
            continue
        message, hint = _NOT_HERE[word]
        start, end = line.starts(index), line.ends(index)
        drop = word != "lambda"
        made = None if drop else _MAPPED.search(line.text, line.starts(line.first), line.ends(line.last - 1))
        if made is not None:
            what = f"[{made[3]} for {made[2]} in {made[4]}]"
            if made[1] == "filter":
                what = f"[{made[2]} for {made[2]} in {made[4]} if {made[3]}]"
            return Mistake(
                "E0113",
                message,
                start,
                end,
                label="from another language",
                hint=f"write `{what}`",
                edits=((made.start(), made.end(), what),),
            )
        return Mistake(
            "E0113",
            message,
            start,
            end,
            label="from another language",
            hint=hint,
            edits=((start, line.starts(index + 1), ""),) if drop else (),
        )
    return None


def _prefixed(run: Run, line: Line, module_level: bool) -> Mistake | None:
    return prefixed_text(line)


def prefixed_text(line: Line) -> Mistake | None:
    """`f"…{x}…"`, `r"…"`: at the text behind its letter."""
    index = line.index
    if line.kind != "STRING" or index == line.first or not line.touching(index - 1, index):
        return None
    letter = line.at(index - 1)
    if letter.lower() not in ("f", "r", "b", "u", "rf", "fr"):
        return None
    start, text = line.starts(index - 1), line.token
    edits: list[tuple[int, int, str]] = [(start, line.start, "")]
    clear = "r" not in letter.lower()
    if "f" in letter.lower():
        clear = clear and _INSERTABLE.sub("", text).count("{") == 0
        edits += [
            (line.start + match.start(), line.start + match.start(), "$")
            for match in _INSERTABLE.finditer(text)
        ]
    return Mistake(
        "E0113",
        "a text has no letter before it; `${…}` inserts a value",
        start,
        line.start,
        label="from another language",
        hint='write "…${x}…"',
        edits=tuple(edits) if clear else (),
    )


def block_of(line: Line) -> str:
    """The first word of the block that the line stands in."""
    return enclosing_word(line.text, line.starts(line.first))
