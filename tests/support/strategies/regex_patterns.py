"""Random regular expressions, and automata of them."""

from __future__ import annotations

from hypothesis import strategies as st

SINGLE = (
    "a",
    "b",
    "c",
    "A",
    "0",
    "_",
    " ",
    "é",
    "ſ",
    "k",
    "i",
    "I",
    r"\n",
    r"\.",
    r"\\",
    r"\-",
    r"\x41",
    r"\u00e9",
    r"\t",
)


SETS = (
    ".",
    ".",
    r"\d",
    r"\w",
    r"\s",
    r"\D",
    r"\W",
    r"\S",
    "[ab]",
    "[^a]",
    "[a-c0-1]",
    r"[\d_.-]",
    r"[^\s@]",
    r"[\W_]",
    "[^\\n]",
    "[a-zé]",
    "[^K]",
    "[K-S]",
)


PLACES = ("^", "$", r"\b", r"\B")


MANY = ("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "{1,3}?")


@st.composite
def patterns(draw: st.DrawFn, depth: int = 0, fixed: bool = False) -> str:
    """Patterns that Python and ECMAScript write alike; `fixed`: of one width, as Python wants lookbehind."""
    kind = draw(st.integers(0, 8 if depth > 2 else 14))
    if kind <= 2:
        return draw(st.sampled_from(SINGLE))
    if kind <= 5:
        return draw(st.sampled_from(SETS))
    if kind <= 7:
        return draw(st.sampled_from(PLACES))
    if kind == 8 or (kind <= 10 and fixed):
        return "".join(draw(st.lists(patterns(depth + 1, fixed), max_size=3)))
    if kind == 9:
        arms = draw(st.lists(patterns(depth + 1), min_size=1, max_size=3))
        return "(" + draw(st.sampled_from(("", "?:"))) + "|".join(arms) + ")"
    if kind == 10:
        return f"(?:{draw(patterns(depth + 1))}){draw(st.sampled_from(MANY))}"
    if kind == 11:
        return f"(?{draw(st.sampled_from('=!'))}{draw(patterns(depth + 1))})"
    if kind == 12:
        return f"(?<{draw(st.sampled_from('=!'))}{draw(patterns(depth + 1, fixed=True))})"
    return "".join(draw(st.lists(patterns(depth + 1, fixed), min_size=2, max_size=3)))
