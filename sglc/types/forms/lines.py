"""Lines: a list of scalars, one a line. An item is a line of its own: not empty, without line breaks."""

from __future__ import annotations

from functools import cache

from sglc.automata.charset import PRINTABLE
from sglc.automata.dfa.nfa_union import repeated
from sglc.automata.dfa.operations import any_char_class, intersect
from sglc.automata.term import CharDfa, Term
from sglc.types.forms.flat import scalar
from sglc.types.forms.shape import FormError, Many, Ref, Shape, Shapes, Texts, held
from sglc.types.forms.texts import raw
from sglc.types.type import ListOf, Type, TypeTable, unfolded


def lines_shapes(type: Type, table: TypeTable) -> Shapes:
    """The shapes of a list of scalars. Raises FormError for anything else."""
    rows, aliases = unfolded(type, table)
    if not isinstance(rows, ListOf):
        raise FormError("", "lines are a list of scalars", "make it a list: `[T] as lines`")
    item = scalar(rows.item, table, "[]", "a line", spans=True)
    many = Many(item, rows.minimum, rows.maximum, "\n")
    return Shapes(held(many, aliases), TEXTS, _no_reference, table)


def _no_reference(ref: Ref) -> Shape:
    raise AssertionError(f"{ref.name} stands in a line")


@cache
def _line() -> CharDfa:
    return repeated(any_char_class(PRINTABLE), 1, None)


def is_break(char: str) -> bool:
    """Whether a character cannot stand in a line: line breaks and all other control characters."""
    return char < " " or "\x7f" <= char <= "\x9f"


def _write(text: str, quoted: bool) -> str:
    if not text:
        raise FormError("", "the empty text, which is no line", "say `min 1 chars`")
    if not text.isprintable() and any(map(is_break, text)):
        raise FormError("", "a text with a line break or another control character", "say `line`")
    return text


def _read(text: str) -> str | None:
    try:
        return _write(text, False)
    except FormError:
        return None


def _end(text: str, at: int, quoted: bool) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _term(dfa: CharDfa, low: int, high: int | None, quoted: bool) -> Term:
    return raw(intersect(dfa, _line()), low, high)


TEXTS = Texts(_write, _read, _end, _term, grown=str, null="null")
