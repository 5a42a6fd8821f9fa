"""The page that says what of JSON Schema is supported, made from the tables that the compiler works with.

`make docs` writes it to `docs/json-schema.md`.
"""

from __future__ import annotations

import textwrap
from dataclasses import fields

from sglc.automata.number.digits import MAX_STATES
from sglc.automata.number.number_set import MAX_SIZE
from sglc.automata.number.remainder import MAX_CLASSES
from sglc.automata.regex.compile import DEFAULT_LIMIT
from sglc.automata.term import MOST_COUNTED
from sglc.schema.algebra.scalars import STANDARD_FORMATS
from sglc.schema.core.options import SchemaLimits, SchemaOptions
from sglc.schema.reading.dialect import draft_dialect

_DRAFTS = ("4", "6", "7", "2019-09", "2020-12")

_REMARKS = {
    "$ref": "to this document, resources that are given, metaschemas; siblings count from 2019-09",
    "$dynamicRef": "by the resources that were entered",
    "$recursiveRef": "by the resources that were entered",
    "additionalItems": "beside a list of `items`",
    "dependencies": "in 2019-09 and 2020-12 too, where it is the old name of two keywords",
    "format": "asserted, or an annotation, as the options say; see below",
    "multipleOf": "exact decimals; refused where all steps together need too many states",
    "pattern": "the regular part of ECMA-262 in Unicode mode, see [patterns.md](patterns.md)",
    "patternProperties": "as `pattern`; keys that match several patterns satisfy all of them",
    "unevaluatedItems": "what each way of satisfying the schema has evaluated; `contains` too in 2020-12",
    "unevaluatedProperties": "what each way of satisfying the schema has evaluated",
    "uniqueItems": "see below",
    "not": "of anything",
    "propertyNames": "names of a format that is a grammar (`regex`) stand alone or beside a list of all keys",
    "oneOf": "branches may overlap; refused where they do in too many ways",
    "type": "integers of draft 4 have no point",
}

_LIMITS = {
    "schemas": "subschemas that are looked at",
    "alternatives": "ways in which an object (or an array) may satisfy all that is asked of it",
    "branches": "the same on the way there, of parts of what is asked",
    "work": "pairs of such ways that are combined, in the whole schema",
    "parts": "requirements on objects that are looked at while such pairs are combined, in the whole schema",
    "shapes": "different combinations of subschemas that one value must satisfy at once",
    "states": "states of one automaton of strings",
    "key_states": "states of the automata of the keys of one object, where patterns are told apart",
    "domain": "values that `uniqueItems` tells apart",
    "arms": "kinds of values that are told apart at one place of an array or under one key of an object",
}

_OPTIONS = {
    "draft": "the dialect where there is no `$schema`",
    "order": "of properties: `declared` (as `properties`, then `required`, has them), or `any`",
    "spacing": (
        '`canonical` (`", "` and `": "`, as json.dumps writes), `compact` (none), or `flexible`: around the '
        "whole too"
    ),
    "spelling": "of strings and numbers: `canonical`, as json.dumps(ensure_ascii=False) writes, or `any`",
    "numbers": "the spelling of numbers, where it is not to be that of strings",
    "formats": "whether `format` is asserted",
    "hostnames": "`exact`, or `plain`: without labels of Punycode; see above",
    "distinct": "whether keys that are known by a pattern only may not occur twice either",
    "blanks": "most blanks, tabs and line breaks around a token, where spacing is `flexible`",
    "indent": "or a line break and up to so many blanks, or as many tabs: an indentation",
    "resources": "schemas that references may lead to, by absolute URI; nothing is fetched",
    "limits": "see below",
}

_SPELLINGS = """\
## Spellings

`spelling="any"` takes every legal spelling of a string: short escapes, `\\uXXXX` in either case, surrogate
pairs. Of a number it takes every spelling without an exponent (`5`, `5.0`, `5.00`, and of zero `-0`, `-0.0`),
and these with one:

- of all numbers: exponents of up to three digits, whatever the value (`1e400`);
- of numbers between bounds: the same, with one digit other than zero before the point and a value that a
  double can hold (5e-324 to 1.7976931348623157e308), or with up to 4 digits before the point or up to 4 zeros
  behind it and a value from 1e-307 to 1e308, or zero;
- of all integers: the same, with at most 16 digits behind the point (at most 4 where not one digit alone is
  before it) and no zero as the last of them (`1.5e30`, not `1.0e30`), and no negative exponent behind a zero;
- of integers between bounds, and of multiples: of these the ones from 1e16 and below 1e-4, where json.dumps
  writes an exponent too, with one digit before the point; no exponent at all for steps like 3, 7 or 12, whose
  multiples are not told by a few last digits;
- of `const` and `enum`: what json.dumps writes (`1e+30`).

The canonical spelling has integers without a point, other numbers with any digits behind it, and exponents as
json.dumps writes them. A `const` or a value of an `enum` may always be written as json.dumps writes it: the
integer 1 as `1`, the float 1.0 as `1` or `1.0` (then wherever the schema has a constant of that value).

No value is lost by this, for each has a spelling without an exponent.
[Decision 12](decisions/012-numbers-and-patterns.md) has the reasons.

"""

_UNIQUE = """\
## Different items

`uniqueItems` is kept exactly, whatever the order of keys and the spelling of numbers and strings:

- arrays of strings, whatever their patterns, of up to some thousand characters, cost what keys of objects
  cost;
- so do items that have at most 64 values in all (enumerations, booleans, small ranges, and arrays and objects
  made of them) and places that have no value in common (`prefixItems` of different kinds);
- any other items are compared with those before while they are written, and masks inside of them are walked
  without the tables that other masks share: they take milliseconds, and longer the longer items are. Then no
  key is written twice, in any object of the schema.

Refused are such other items where an array could run out of values (too many to be told apart beforehand, but
not without end), where they hold another array of such items, or stand beside `contains`; and `not` of a
`uniqueItems` over more than a few values. A number of more than 1,000 digits or powers of ten that is
followed by another item is a `ConstraintError`.

"""

_INTRODUCTION = """\
# JSON Schema

A schema becomes the exact set of the JSON texts whose value satisfies it, in the spelling, spacing and order
that the options ask for. What cannot be kept exactly is refused with the keyword and its path; no keyword is
ignored. Other words than these are annotations, as the standard has it.

A malformed schema is an error at the path of the fault, in definitions that nothing leads to as well; only
their references are not followed. A schema that no value satisfies is an error too, with the reason where it
is near.

"""


def page() -> str:
    """The page in Markdown."""
    return _INTRODUCTION + _keywords() + _formats() + _UNIQUE + _options() + _SPELLINGS + _limits()


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
        f"Asserted in every draft: {names}. `regex`, which is a grammar, is asserted where no other keyword "
        "is about the same string, beside `enum` and `const`, and beside a `pattern` of plain characters; it "
        "is refused otherwise, and `idn-hostname` always. Any other name is an annotation."
    )
    hosts = (
        "Since draft 7 a `hostname` is refused: labels that begin with `xn--` have to be valid as Punycode "
        '(RFC 5890), and which are is no regular set. `hostnames="plain"` takes it for names without such '
        "labels, which are fewer than are legal. In drafts 4 and 6, and in names inside of other formats, "
        "they are letters, digits and hyphens like all labels."
    )
    contents = (
        "`contentEncoding`, `contentMediaType` and `contentSchema` are annotations in every draft: the "
        "standard has them so since 2019-09, and left it open before."
    )
    return "## Formats\n\n" + "\n\n".join(textwrap.fill(one, 110) for one in (text, hosts, contents)) + "\n\n"


def _options() -> str:
    default = SchemaOptions()
    rows = ["## Options", "", "| `SchemaOptions` | default | |", "|---|---|---|"]
    for field in fields(SchemaOptions):
        value = getattr(default, field.name)
        shown = "" if field.name in ("resources", "limits") else f"`{value!r}`"
        rows.append(f"| `{field.name}` | {shown} | {_OPTIONS[field.name]} |".replace("|  |", "| |"))
    return "\n".join([*rows, "", ""])


def _limits() -> str:
    limits = SchemaLimits()
    rows = [
        f"| `{field.name}` | {getattr(limits, field.name):,} | {_LIMITS[field.name]} |"
        for field in fields(limits)
    ]
    more = [
        f"| | {MAX_STATES:,} | states of one automaton of numbers |",
        f"| | {MAX_CLASSES:,} | kinds of digit strings that a step tells apart |",
        f"| | {MAX_SIZE:,} | digits or powers of ten of a bound or a step |",
        f"| | {DEFAULT_LIMIT:,} | states of the automaton of a pattern |",
        f"| | {MOST_COUNTED:,} | characters, items or entries that are asked for at least |",
    ]
    head = (
        "What passes a limit is refused; limits count work, not time, so a schema is taken or refused alike "
        "on every machine. Those of `SchemaLimits` can be set."
    )
    table = ["| limit | | |", "|---|--:|---|", *rows, *more]
    return "## Limits\n\n" + textwrap.fill(head, 110) + "\n\n" + "\n".join(table) + "\n"
