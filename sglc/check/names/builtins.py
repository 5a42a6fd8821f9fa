"""The built-in functions and methods: one typed table.

The checker types calls by it, the virtual machine implements the same names, the reference is printed from
it. Parameters and results are written in a small notation that `sglc.check.expressions.builtin_calls` reads:

- parameters: `any`, `number`, `str`, `int`, `list` (any list), `numbers` (list of numbers), `bools`,
  `strs`, `map`, `sized` (str, list, map, tuple), `item` (a member of the receiving list), `key` (of the
  receiving map), `each` (what is done with one element: an expression in which it is `it`, a function of it
  (`x => x * 2`), or the name of one), `test` (the same, a bool), `by` (the same, of an order, only by name),
  `group` (the same, of any type);
- a parameter with `?` may be left out and is then null; `…` at the end means any further number of it;
- results: `same` (the argument's own type), `int`, `str`, `bool`, `decimal`, `float`, `number` (the
  argument's own numeric type), `item`, `list` (the same list type without its length), `kept` (the same
  without the nulls that a test excludes), `each` (the list of what is given for each element), `strs`,
  `keys`, `values`, `value`, and those in `pairs`, `numbered` and `groups`.
"""

from __future__ import annotations

from sglc.immutable import value


@value
class Builtin:
    """One row: parameters as (name, kind), the result, and what it does in a line."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str
    meaning: str


def _row(name: str, parameters: str, result: str, meaning: str) -> Builtin:
    pairs = []
    for part in parameters.split():
        label, _, kind = part.partition(":")
        pairs.append((label, kind))
    return Builtin(name, tuple(pairs), result, meaning)


FUNCTIONS: dict[str, Builtin] = {
    row.name: row
    for row in (
        _row("len", "x:sized", "int", "characters of a text, items of a list or tuple, entries of a map"),
        _row("sum", "xs:numbers", "sum", "sum of the numbers; 0 of none"),
        _row("min", "xs:any…", "least", "the smallest item of a list, or of two and more arguments"),
        _row("max", "xs:any…", "least", "the largest item of a list, or of two and more arguments"),
        _row("sorted", "xs:list", "list", "the list in ascending order"),
        _row("reversed", "xs:list", "list", "the list from its end to its start"),
        _row("str", "x:any", "str", "the text that `${x}` would write"),
        _row("int", "x:scalar", "int", "the number cut towards zero, or a text read as an integer"),
        _row("decimal", "x:scalar", "decimal", "the number as an exact decimal, or a text read as one"),
        _row("float", "x:scalar", "float", "the number in binary floating point, or a text read as one"),
        _row(
            "round", "x:number digits:int?", "rounded", "to the nearest integer, halves to even; or to digits"
        ),
        _row("abs", "x:number", "number", "the number without its sign"),
        _row("any", "xs:bools", "bool", "whether one of them is true"),
        _row("all", "xs:bools", "bool", "whether each of them is true"),
        _row(
            "zip", "xs:list ys:list", "pairs", "pairs of items at the same place, as many as the shorter has"
        ),
        _row("enumerate", "xs:list", "numbered", "pairs of place, counted from 0, and item"),
        _row("keys", "m:map", "keys", "the keys in order of insertion"),
        _row("values", "m:map", "values", "the values in order of insertion"),
        _row("trust", "x:any", "same", "the value itself, which may go where only trusted values may"),
    )
}

STR_METHODS: dict[str, Builtin] = {
    row.name: row
    for row in (
        _row("upper", "", "str", "in capital letters"),
        _row("lower", "", "str", "in small letters"),
        _row("title", "", "str", "each word with a capital first letter"),
        _row("strip", "", "str", "without blanks at both ends"),
        _row("split", "separator:str?", "strs", "the pieces between separators, or between blanks"),
        _row("join", "xs:strs", "str", "the texts with this one between them"),
        _row("replace", "old:str new:str", "str", "every occurrence replaced"),
        _row("starts_with", "prefix:str", "bool", "whether it begins so"),
        _row("ends_with", "suffix:str", "bool", "whether it ends so"),
        _row("contains", "part:str", "bool", "whether the part occurs in it"),
        _row("find", "part:str", "int", "place of the first occurrence, counted from 0; -1 if there is none"),
        _row("count", "part:str", "int", "number of occurrences that do not overlap"),
        _row("lines", "", "strs", "its lines without line ends"),
        _row("words", "", "strs", "its words, parted at blanks"),
    )
}

LIST_METHODS: dict[str, Builtin] = {
    row.name: row
    for row in (
        _row("max", "by:by?", "item", "the largest item, the first of equals; by: what is compared"),
        _row("min", "by:by?", "item", "the smallest item, the first of equals; by: what is compared"),
        _row("sort", "by:by?", "list", "the list in ascending order, equals in their old order"),
        _row("map", "each:each", "each", "the list of what is given for each item"),
        _row("filter", "each:test", "kept", "the items for which it is true"),
        _row("any", "each:test", "bool", "whether it is true of one item; those behind are not asked"),
        _row(
            "all",
            "each:test",
            "bool",
            "whether it is true of each item; those behind a false one are not asked",
        ),
        _row("group", "by:group", "groups", "pairs of a key and the items that have it, by first occurrence"),
        _row("first", "", "item", "the first item; Failure if there is none"),
        _row("last", "", "item", "the last item; Failure if there is none"),
        _row("by_id", "id:id", "item", "the first item whose field `id` is equal; Failure if there is none"),
        _row("contains", "x:item", "bool", "whether an equal item is in it"),
        _row("count", "x:item", "int", "number of equal items"),
        _row(
            "join", "separator:str", "str", "the display texts of the items with the separator between them"
        ),
    )
}

MAP_METHODS: dict[str, Builtin] = {
    row.name: row
    for row in (
        _row("get", "key:key default:value?", "lookup", "the entry's value, or the default, or null"),
        _row("keys", "", "keys", "the keys in order of insertion"),
        _row("values", "", "values", "the values in order of insertion"),
        _row("contains", "key:key", "bool", "whether there is such a key"),
    )
}

SCORED_METHODS: dict[str, Builtin] = {
    row.name: row
    for row in (
        _row("p", "x:option", "float", "probability of the option among all options"),
        _row("logprob", "x:option", "float", "natural logarithm of that probability"),
    )
}

SCORED_ATTRIBUTES: dict[str, str] = {
    "top": "option",
    "margin": "float",
}
"""`top` is the best option, `margin` its probability less the second best's."""

READERS = frozenset({"int", "decimal", "float"})
"""Built-in functions that fail on what they cannot read; a call may be there to find that out."""
SEEKERS = frozenset({"first", "last", "by_id"})
"""Methods that fail where they find nothing."""
ERRORS: dict[str, tuple[str, ...]] = {
    "Truncated": ("message",),
    "Rejected": ("message",),
    "Refused": ("message",),
    "Unsatisfiable": ("message",),
    "Unsupported": ("message",),
    "Timeout": ("message",),
    "Backend": ("message",),
    "Budget": ("message",),
    "Cancelled": ("message",),
    "Failure": ("message",),
    "Foreign": ("message",),
}
"""Errors that need no declaration, with their fields; every bound error also has `.name` and `.message`."""
UNFINISHED = frozenset(
    ("Truncated", "Rejected", "Refused", "Unsatisfiable", "Unsupported", "Timeout", "Backend", "Budget")
)
"""Those that can leave a text unfinished; it is their `.partial`."""
