"""Slips inside `${…}` and `?{…}`, in options of holes and in bounds."""

from __future__ import annotations

import re

from sglc.diagnostics.suggest import nearest
from sglc.lalr.machine import Run
from sglc.syntax.errors.bound_mistakes import bound_mistake, pattern_mistake
from sglc.syntax.errors.bracket_mistakes import (
    braced_list,
    choice,
    generator,
    missing_comma,
    named_argument,
    sign_of_another,
)
from sglc.syntax.errors.core.faulty_line import Line, Mistake
from sglc.syntax.errors.declaration_mistakes import is_type_word
from sglc.syntax.errors.foreign.operators import foreign_operator
from sglc.syntax.errors.foreign.types import foreign_type
from sglc.syntax.errors.foreign.words import foreign_word, prefixed_text
from sglc.syntax.errors.mistakes import reserved
from sglc.syntax.errors.option_mistakes import option_mistake
from sglc.syntax.errors.unexpected import unexpected

OPTION_WORDS = (
    "max min matching until not in multiple where as temp top_p top_k min_p seed".split()
    + "using n distinct decode by weight at".split()
)
_FOREIGN_OPTIONS = {
    "temperature": "temp t",
    "max_tokens": "max n tok",
    "stop": 'until "…"',
    "regex": "matching /…/",
    "pattern": "matching /…/",
    "topp": "top_p p",
    "topk": "top_k k",
    "length": "max n chars",
    "max_length": "max n chars",
    "min_length": "min n chars",
    "samples": "n k",
    "num_samples": "n k",
    "num_return_sequences": "n k",
    "best_of": "n k",
}
_TAKES_ONE_VALUE = frozenset("choose select of until temp top_p top_k min_p seed n decode weight |".split())
"""Words whose operand is one value, not an expression with operators."""
_EXAMPLE = "str max 80 chars"
_WORD = re.compile(r"[^\W\d]\w*")


def inside_mistake(run: Run, text: str, start: str, place: tuple[int, int]) -> Mistake:
    """What is wrong inside an insert or hole that spans `place`, or in a fragment."""
    line = Line(text, run.tokens, 0, run.index)
    if start == "hole":
        found = _shape(run, line, place)
        if found is not None:
            return found
    if line.kind == "$END" and run.index == 0:
        return Mistake(
            "E0101",
            "nothing is inserted",
            *place,
            label="an expression is due here",
            hint="write `${name}`, or `\\${}` for the text itself",
        )
    found = choice(line)
    if found is not None:
        return found
    for rule in (
        option_mistake,
        bound_mistake,
        pattern_mistake,
        _option,
        foreign_type,
        foreign_operator,
        _equals,
    ):
        found = rule(run, line)
        if found is not None:
            return found
    for simple in (foreign_word, prefixed_text, generator, sign_of_another):
        found = simple(line)
        if found is not None:
            return found
    for rule in (named_argument, braced_list, missing_comma):
        found = rule(run, line)
        if found is not None:
            return found
    return _operator(line) or reserved(run, line, False) or unexpected(run, line)


def _shape(run: Run, line: Line, place: tuple[int, int]) -> Mistake | None:
    """A hole without name, colon or type."""
    kinds, index = line.tokens.kinds, run.index
    if kinds[0] == "$END":
        return Mistake(
            "E0134",
            "an empty hole",
            *place,
            label="needs a name and a type",
            hint=f"write `?{{name: {_EXAMPLE}}}`, or another type",
        )
    if line.word == "think" and line.at(1) != ":":
        return _think(line, place)
    if line.kind == "$END" and index == 1 and kinds[0] != "STRING" and not is_type_word(line.word):
        return Mistake(
            "E0134",
            f"the hole `{line.word}` has no type",
            *place,
            label="what may the model write?",
            hint=f"write `?{{{line.word}: {_EXAMPLE}}}`, or another type",
        )
    if index == 1 and line.token == "=" and kinds[0] == "NAME":
        return Mistake(
            "E0134",
            "a colon stands between the name of a hole and its type",
            line.start,
            line.end,
            hint=f"write `{line.word}: …`",
            edits=((line.ends(0), line.end, ":"),),
        )
    if index == 2 and line.kind == "REGEX":
        return Mistake(
            "E0149",
            "a pattern bounds a type",
            line.start,
            line.end,
            label="of texts",
            hint=f"write `str matching {line.token}`",
            edits=((line.start, line.start, "str matching "),),
        )
    if index == 3 and line.at(1) == ":" and line.at(2) in ("max", "min", "temp") and kinds[3] == "NUMBER":
        return Mistake(
            "E0134",
            "the type comes first, its bounds and options behind it",
            line.starts(2),
            line.end,
            label="of which type?",
            hint=f"write `{line.word}: str {line.at(2)} …`",
        )
    if index == 0 or (index == 1 and run.could_take(":")):
        written = line.text[place[0] + 2 : place[1] - 1].strip(": ")
        return Mistake(
            "E0134",
            "a hole needs a name and a type",
            *place,
            label="no `name:` before the type",
            hint=f"write `?{{name: {written}}}`" if place[1] - place[0] < 60 else "write `?{name: T}`",
        )
    if line.kind == "$END" and index == 2:
        return Mistake(
            "E0134",
            f"the hole `{line.word}` has no type",
            *place,
            label="what may the model write?",
            hint=f"write `?{{{line.word}: {_EXAMPLE}}}`, or another type",
        )
    return None


def _think(line: Line, place: tuple[int, int]) -> Mistake:
    """`?{think …}`: what a model thinks is a hole like others, on the line before the text that follows."""
    text = line.text
    options = text[place[0] + 2 : place[1] - 1].strip().removeprefix("think")
    statement = f"| ?{{thought: str{options or ' max 300 chars'}}}"
    begin = text.rfind("\n", 0, place[0]) + 1
    head = text[begin : place[0]]
    column = " " * (len(head) - len(head.lstrip()))
    rest_start = place[1]
    while text[rest_start : rest_start + 1] == " ":
        rest_start += 1
    rest = text[rest_start : rest_start + 1] not in ("", "\n", "\r")
    after = rest_start if rest else place[1]
    edits: tuple[tuple[int, int, str], ...] = ()
    if head.strip() == "|":
        edits = ((begin + len(column), after, f"{statement}\n{column}| " if rest else statement),)
    elif re.fullmatch(r"\s*assistant:[ ]*\|[ ]?", head):
        colon = begin + head.index(":") + 1
        inner = column + "    "
        edits = ((colon, after, f"\n{inner}{statement}" + (f"\n{inner}| " if rest else "")),)
    return Mistake(
        "E0134",
        "`think` is no type: a hole has a name and a type",
        *place,
        label="nothing is bound here",
        hint=f"let the model think in a hole of its own: `{statement[2:]}`",
        edits=edits,
    )


# -- options ---------------------------------------------------------------------------------------


def _option(run: Run, line: Line) -> Mistake | None:
    """A comma between options, or a word after a type that is no option."""
    if line.kind == "," and line.index > 2 and run.could_take("temp") and not run.could_take(","):
        following = _named_option(line, line.index + 1)
        edits = ((line.start, line.end, ""), *(following[1] if following else ()))
        return Mistake(
            "E0115",
            "options are not separated by commas",
            line.start,
            line.end,
            hint="leave the comma out",
            edits=edits,
        )
    if line.token == "=" and line.at(line.index - 1) in OPTION_WORDS:
        place = line.ends(line.index - 1)
        return Mistake(
            "E0115",
            "an option and its value stand side by side",
            line.start,
            line.end,
            hint=f"write `{line.at(line.index - 1)} {line.at(line.index + 1)}`",
            edits=((place, line.end, " "),),
        )
    if not run.could_take("temp"):
        return None
    if not (line.kind in ("NAME", "ROLE") or (line.kind[0].islower() and line.token.isidentifier())):
        return None
    if line.token in OPTION_WORDS:
        return None
    meant = nearest(line.token, [*OPTION_WORDS, *_FOREIGN_OPTIONS])
    foreign = _FOREIGN_OPTIONS.get(line.token) or _FOREIGN_OPTIONS.get(meant or "")
    hint = "options are max n tok, temp, top_p, top_k, min_p, seed, until, where, using, n, distinct, decode"
    if foreign or meant:
        hint = f"write `{foreign}`" if foreign else f"did you mean `{meant}`?"
    named = _named_option(line, line.index)
    return Mistake(
        "E0115",
        f"there is no option `{line.token}`",
        line.start,
        line.end,
        label="after a type",
        hint=named[0] if named else hint,
        edits=named[1] if named else (),
    )


def _named_option(line: Line, index: int) -> tuple[str, tuple[tuple[int, int, str], ...]] | None:
    """`temperature=0.5` as an option is written here: the hint and the edits; None where it needs thought."""
    word, value = line.at(index), index + 1 + (line.at(index + 1) in ("=", ":"))
    if line.kind_at(value) not in ("NUMBER", "STRING", "NAME"):
        return None
    start, end = line.starts(index), line.ends(value)
    foreign = _FOREIGN_OPTIONS.get(
        word, f"{word} x" if word in ("temp", "top_p", "top_k", "min_p", "seed") else ""
    )
    if not foreign or (word in OPTION_WORDS and value == index + 1) or "/" in foreign:
        return None
    made = " ".join(line.at(value) if place == 1 else part for place, part in enumerate(foreign.split(" ")))
    return f"write `{made}`", ((start, end, made),)


def _equals(run: Run, line: Line) -> Mistake | None:
    if line.token == "=" and run.could_take("BINARY"):
        return Mistake(
            "E0110",
            "`=` assigns; `==` compares",
            line.start,
            line.end,
            hint="write `==`",
            edits=((line.start, line.end, "=="),),
        )
    return None


def _operator(line: Line) -> Mistake | None:
    """An operator behind the one value of an option or of a choice: `choose xs + [y]`, `span of a + b`."""
    start = line.index - 1
    while start > 1 and (line.at(start - 1) == "." or line.at(start) == "."):
        start -= 1
    if line.kind != "BINARY" or line.token == "|" or line.at(start - 1) not in _TAKES_ONE_VALUE:
        return None
    word, value = line.at(start - 1), line.text[line.starts(start) : line.ends(line.index - 1)]
    return Mistake(
        "E0101",
        f"`{line.token}` needs brackets behind `{word}`",
        line.start,
        line.end,
        label=f"the value is `{value}` so far",
        hint=f"write `{word} ({value} {line.token} …)`",
    )
