"""CSV (RFC 4180) with newlines: a list of records under a header, or of tuples without one.

A field stands in quotes where it has a comma, a quote or a line break in it, or is the empty text; null is
nothing at all. All columns are there in every row.
"""

from __future__ import annotations

import re
from functools import cache

from sglc.automata.dfa.operations import difference, intersect
from sglc.automata.joined_terms import choice, sequence
from sglc.automata.term import Bytes, CharDfa, Term
from sglc.types.forms.flat import columns, is_nullable, scalar
from sglc.types.forms.shape import FormError, Group, Many, Part, Ref, Shape, Shapes, Texts, held
from sglc.types.forms.texts import escaped, raw
from sglc.types.type import ListOf, Type, TypeTable, unfolded

_QUOTED = re.compile(r'"(?:[^"]|"")*"(?!")')
_BARE = re.compile(r'[^,"\n\r]*')
_ESCAPES = (('"', '""'),)


def csv_shapes(type: Type, table: TypeTable) -> Shapes:
    """The shapes of a list of rows. Raises FormError for anything else."""
    rows, aliases = unfolded(type, table)
    if not isinstance(rows, ListOf):
        raise FormError("", "CSV is a list of records or tuples", "make it a list: `[T] as csv`")
    name, fields, conditions = columns(rows.item, table)
    if not fields:
        raise FormError("[]", "a row without fields", "give the record a field")
    parts = []
    for field in fields:
        inner = scalar(field.type, table, f"[].{field.name}", "a field of CSV")
        if field.optional and not is_nullable(field.type, table):
            inner = scalar(field.type, table, f"[].{field.name}", "a field of CSV", null=True)
        parts.append(Part(field.name, "", inner, field=field if name is not None else None))
    if len(fields) == 1 and (fields[0].optional or is_nullable(fields[0].type, table)):
        reason = "the only field of a row may be null, and so its line be blank"
        raise FormError(f"[].{fields[0].name}", reason, "leave out the `?`, or add a field")
    row = held(Group(name, tuple(parts), ","), conditions)
    if name is None:
        many = Many(row, rows.minimum, rows.maximum, "\n")
        return Shapes(held(many, aliases), TEXTS, _no_reference, table)
    header = ",".join(TEXTS.write(field.name, False) for field in fields)
    many = Many(row, rows.minimum, rows.maximum, "", left=header, lead="\n", empty=header)
    return Shapes(held(many, aliases), TEXTS, _no_reference, table)


def _no_reference(ref: Ref) -> Shape:
    raise AssertionError(f"{ref.name} stands inside a row")


@cache
def _unquoted() -> CharDfa:
    from sglc.automata.regex.compile import compile_regex

    return compile_regex(r'[^,"\n\r]+')


def _write(text: str, quoted: bool) -> str:
    if text and not any(char in text for char in ',"\n\r'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _read(text: str) -> str | None:
    found = text[1:-1].replace('""', '"') if text.startswith('"') else text
    return found if text and _write(found, False) == text else None


def _end(text: str, at: int, quoted: bool) -> int:
    found = _QUOTED.match(text, at) if text.startswith('"', at) else _BARE.match(text, at)
    return len(text) if found is None else found.end()


def _term(dfa: CharDfa, low: int, high: int | None, quoted: bool) -> Term:
    bare = raw(intersect(dfa, _unquoted()), low, high)
    inside = escaped(difference(dfa, _unquoted()), low, high, _ESCAPES)
    return choice(bare, sequence(Bytes(b'"'), inside, Bytes(b'"')))


def _grown(text: str) -> str:
    if not text.startswith('"'):
        return text
    inside = text[1:]
    # A last quote may be the first of two, or the end.
    odd = (len(inside) - len(inside.rstrip('"'))) % 2
    return (inside[:-1] if odd else inside).replace('""', '"')


TEXTS = Texts(_write, _read, _end, _term, _grown, null="")
