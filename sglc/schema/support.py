"""The page that says what of JSON Schema is supported, made from the tables that the compiler works with.

`python -c "from sglc.schema.support import page; print(page(), end='')" > docs/json-schema.md`
"""

from __future__ import annotations

import textwrap
from dataclasses import fields

from sglc.schema.dialect import draft_dialect
from sglc.schema.options import SchemaLimits
from sglc.schema.scalars import STANDARD_FORMATS

_DRAFTS = ("4", "6", "7", "2019-09", "2020-12")

_REMARKS = {
    "$ref": "to this document, resources that are given, metaschemas; siblings count from 2019-09",
    "$dynamicRef": "by the resources that were entered",
    "$recursiveRef": "by the resources that were entered",
    "additionalItems": "beside a list of `items`",
    "dependencies": "in 2019-09 and 2020-12 too, where it is the old name of two keywords",
    "format": "asserted, or an annotation, as the options say; see below",
    "multipleOf": "exact decimals; refused where the steps need too many states",
    "pattern": "the regular part of ECMA-262 in Unicode mode, lookaround included; no backreferences",
    "patternProperties": "as `pattern`; keys that match several patterns satisfy all of them",
    "unevaluatedItems": "what each way of satisfying the schema has evaluated; `contains` too in 2020-12",
    "unevaluatedProperties": "what each way of satisfying the schema has evaluated",
    "uniqueItems": "for strings, and for items of finitely many values; otherwise refused",
    "not": "of anything",
    "oneOf": "branches may overlap; refused where they do in too many ways",
    "type": "integers of draft 4 have no point",
}

_INTRODUCTION = """\
# JSON Schema

A schema becomes the exact set of the JSON texts whose value satisfies it, in the spelling, spacing and order
that the options ask for. What cannot be kept exactly is refused with the keyword and its path; no keyword is
ignored. Other words than these are annotations, as the standard has it.

"""


def page() -> str:
    """The page in Markdown."""
    return _INTRODUCTION + _keywords() + _formats() + _limits()


def _keywords() -> str:
    dialects = [draft_dialect(name).keywords for name in _DRAFTS]
    rows = ["## Keywords", "", f"| keyword | {' | '.join(_DRAFTS)} | |", "|---" * (len(_DRAFTS) + 2) + "|"]
    for keyword in sorted(set().union(*dialects), key=str.lower):
        marks = " | ".join("x" if keyword in words else " " for words in dialects)
        rows.append(f"| `{keyword}` | {marks} | {_REMARKS.get(keyword, '')} |".replace("|  |", "| |"))
    places = (
        "`$schema`, `$id` (`id` in draft 4), `$anchor`, `$dynamicAnchor`, `$recursiveAnchor`, `$vocabulary`"
    )
    return "\n".join([*rows, "", f"Names of schemas and places: {places}.", "", ""])


def _formats() -> str:
    names = ", ".join(f"`{name}`" for name in sorted(STANDARD_FORMATS - {"regex", "idn-hostname"}))
    text = (
        f"Asserted in every draft: {names}. `regex` is asserted where no other keyword is about the same "
        "string; `idn-hostname` is refused. Any other name is an annotation."
    )
    return "## Formats\n\n" + textwrap.fill(text, 110) + "\n\n"


def _limits() -> str:
    limits = SchemaLimits()
    rows = [f"| `{field.name}` | {getattr(limits, field.name):,} |" for field in fields(limits)]
    head = "What passes a limit is refused; limits count work, not time (`SchemaLimits`).\n\n| limit | |\n"
    return "## Limits\n\n" + head + "|---|--:|\n" + "\n".join(rows) + "\n"
