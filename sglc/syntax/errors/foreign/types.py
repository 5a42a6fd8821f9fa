"""Types in the notation of Python, TypeScript and their like, and how SGL writes them."""

from __future__ import annotations

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import Line, Mistake
from sglc.syntax.errors.core.reporter import Replacements

TYPE_NAMES = {
    word: meant
    for meant, words in {
        "str": "string String Str varchar",
        "int": "integer Integer Int long Long i32 i64 u32 u64 usize bigint",
        "bool": "boolean Boolean Bool",
        "float": "double Double Float f32 f64 real",
        "decimal": "Decimal dec numeric",
        "null": "None NoneType nil undefined void Null",
        "json": "any Any object unknown JSON Json",
    }.items()
    for word in words.split()
}
"""What other languages call the built-in types."""

SEVERAL = {
    "number": "numbers are `int`, `decimal` (exact) or `float`",
    "Number": "numbers are `int`, `decimal` (exact) or `float`",
    "char": "a character is `str max 1 chars`",
    "text": "texts are `str`, with a bound in holes: `str max 80 chars`",
    "list": "a list is `[T]`, for instance `[str]`",
    "List": "a list is `[T]`, for instance `[str]`",
    "array": "a list is `[T]`, for instance `[str]`",
    "Array": "a list is `[T]`, for instance `[str]`",
    "set": "a list is `[T]`, for instance `[str]`",
    "dict": "a map is `{str: T}`, for instance `{str: int}`",
    "Dict": "a map is `{str: T}`, for instance `{str: int}`",
    "map": "a map is `{str: T}`, for instance `{str: int}`",
    "Map": "a map is `{str: T}`, for instance `{str: int}`",
    "tuple": "a tuple is `(A, B)`, for instance `(str, int)`",
    "Tuple": "a tuple is `(A, B)`, for instance `(str, int)`",
}
"""Words for which there is more than one type here, or none without a part: what to say about them."""

_LISTS = frozenset("list List Array array Sequence Iterable set Set frozenset Vec vector Collection".split())
_MAPS = frozenset("dict Dict Map map Record Mapping HashMap Object OrderedDict".split())
_OPTIONALS = frozenset("Optional Option Maybe Nullable".split())
_TUPLES = frozenset("tuple Tuple".split())
GENERICS = _LISTS | _MAPS | _OPTIONALS | _TUPLES | {"Union", "Literal", "Annotated", "Final"}
_OPENS = {"[": "]", "<": ">"}


def translated(line: Line, index: int) -> tuple[str, int] | None:
    """The type whose first token is at `index`, as SGL writes it, and the token after it.

    None where the notation is not understood, or where more than one type could be meant.
    """
    return _union(line, index)


def _union(line: Line, index: int) -> tuple[str, int] | None:
    arms: list[str] = []
    while True:
        arm = _suffixed(line, index)
        if arm is None:
            return None
        arms.append(arm[0])
        index = arm[1]
        if line.at(index) != "|":
            return _joined(arms), index
        index += 1


def _joined(arms: list[str]) -> str:
    others = [arm for arm in arms if arm != "null"]
    if len(others) == 1 and len(arms) > 1:
        return _optional(others[0])
    return " | ".join(arms)


def _optional(type: str) -> str:
    if type.endswith("?"):
        return type
    return f"({type})?" if " " in type and type[0] not in "[{(" else f"{type}?"


def _suffixed(line: Line, index: int) -> tuple[str, int] | None:
    found = _atom(line, index)
    if found is None:
        return None
    type, index = found
    while line.at(index) == "[" and line.at(index + 1) == "]":
        type, index = f"[{type}]", index + 2
    return type, index


def _atom(line: Line, index: int) -> tuple[str, int] | None:
    kind, word = line.tokens.kinds[index], line.at(index)
    if kind in ("STRING", "NUMBER", "true", "false", "null"):
        return word, index + 1
    if word == "[":
        inner = _union(line, index + 1)
        return None if inner is None or line.at(inner[1]) != "]" else (f"[{inner[0]}]", inner[1] + 1)
    if word == "(":
        parts = _list(line, index + 1, ")")
        return None if parts is None else (f"({', '.join(parts[0])})", parts[1])
    if not word.isidentifier():
        return None
    closer = _OPENS.get(line.at(index + 1))
    if closer is not None and line.at(index + 2) != "]":
        parts = _list(line, index + 2, closer) if word in GENERICS else None
        made = None if parts is None else _generic(word, parts[0])
        return None if parts is None or made is None else (made, parts[1])
    meant = TYPE_NAMES.get(word, word)
    return None if meant in SEVERAL else (meant, index + 1)


def _list(line: Line, index: int, closer: str) -> tuple[list[str], int] | None:
    parts: list[str] = []
    while True:
        part = _union(line, index)
        if part is None:
            return None
        parts.append(part[0])
        index = part[1]
        if line.at(index) == closer:
            return parts, index + 1
        if line.at(index) != ",":
            return None
        index += 1


def _generic(word: str, parts: list[str]) -> str | None:
    if word in _LISTS and len(parts) == 1:
        return f"[{parts[0]}]"
    if word in _MAPS and len(parts) == 2:
        return f"{{{parts[0]}: {parts[1]}}}"
    if word in _OPTIONALS and len(parts) == 1:
        return _optional(parts[0])
    if word in _TUPLES and len(parts) > 1:
        return f"({', '.join(parts)})"
    if word in ("Union", "Literal"):
        return _joined(parts)
    return parts[0] if word in ("Annotated", "Final") and len(parts) == 1 else None


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
