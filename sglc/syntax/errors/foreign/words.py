"""Words of other languages: at the start of a line, before a declaration, inside a line and before a text."""

from __future__ import annotations

import re

from sglc.syntax.errors.core.faulty_line import Line, Mistake, declaring_word, line_extent

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
_MODIFIED = tuple("fn pure def function func record enum union type const extern part aside".split())

_NOT_HERE = {
    "lambda": ("there is no `lambda`", "write `xs.map(x => …)`, or a comprehension: `[… for x in xs]`"),
    "await": ("calls are not awaited", "leave `await` out"),
    "async": ("functions are neither `async` nor awaited", "leave `async` out"),
    "new": ("a record is made by a call", "leave `new` out"),
}

_FROM = re.compile(r"from[ \t]+([\w./]+)[ \t]+import[ \t]+\(?([\w \t,]+?)\)?[ \t]*(?:#.*)?\r?")

_MAPPED = re.compile(r"\b(map|filter)\(lambda (\w+): ([^,\n()]+), ([\w.]+)\)")

_INSERTABLE = re.compile(r"\{([^{}\"'\\:!]+)\}")


def first_word(line: Line, module_level: bool) -> Mistake | None:
    """`def`, `else if`, `from … import …`: at the first word of a line or close behind it."""
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
            hint=f"write `use std.{following}` or `use ./{following}`, and the names in parentheses; "
            f'a function of Python is declared: `extern py "{following}:f" fn f(…) -> T`',
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


def modifier(line: Line) -> Mistake | None:
    """`export fn`, `async def`: at the word before a declaration."""
    word, following = line.word, line.at(line.first + 1)
    if word not in _MODIFIERS or line.index > line.first + 1:
        return None
    if following not in _MODIFIED:
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
            what = f"{made[4]}.{made[1]}({made[2]} => {made[3]})"
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
