"""Catalogue entries of the checker: what is proved of types, conditions, budgets and orders."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

_GRAMMAR = 'grammar Lines:\n    start: line ("\\n" line)*\n    line: /[a-z]+/\n\n'

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0378",
        "a part of a type that no value has",
        "An arm of a union, an optional field, the items of a list that may be empty: the type has values, "
        "but none of them has this part. The message names the two constraints that contradict each other, "
        "and the shortest text of the one that the other refuses.",
        "pub type code = str matching /[a-z]{5,9}/ | (str matching /[0-9]{5,9}/ max 3 chars)\n",
        "pub type code = str matching /[a-z]{5,9}/ | (str matching /[0-9]{5,9}/ max 7 chars)\n",
    ),
    Entry(
        "E0379",
        "a grammar rule without an end",
        "Every alternative of the rule contains the rule again, so that none of its texts ever ends. Rules "
        "need an alternative without themselves.",
        'pub grammar Nested:\n    start: "x" | b\n    b: "(" b ")"\n',
        'pub grammar Nested:\n    start: "x" | b\n    b: "(" b? ")"\n',
    ),
    Entry(
        "W0240",
        "a condition that has one answer",
        "The types of the values that it compares, and the conditions around it, leave one answer only: what "
        "it decides is always done, or never. Told where ranges, lengths and lists of values prove it. A "
        "condition that is constant by itself is left alone.",
        "pub pure fn f(n: int in 0..9) -> int:\n    if n > 10:\n        return 10\n    return n\n",
        "pub pure fn f(n: int in 0..9) -> int:\n    if n > 5:\n        return 5\n    return n\n",
    ),
    Entry(
        "W0242",
        "a hole that only the end of the turn ends",
        "A hole at the end of its line is ended by a newline, or by the end of the turn. Where its text may "
        "have line breaks a newline does not end it, and text of the same message that follows is reached "
        "only after the model has ended its turn.",
        _GRAMMAR + "pub fn f() -> Lines:\n    | ?{x: Lines max 40 tok}\n    | The end.\n    return x\n",
        _GRAMMAR + "pub fn f() -> Lines:\n    | ?{x: Lines max 40 tok}.\n    | The end.\n    return x\n",
    ),
    Entry(
        "W0243",
        "an answer before its reason",
        "A model writes fields in their order. A reason behind the answer is made up for it, one before the "
        "answer can change it. Told by the names of fields of generated records. Where nothing counts on the "
        "order of the fields an edit is offered; it changes what the model reads, so it is made only by "
        "`sglc check --fix --accept W0243`.",
        "record Mark:\n    score: int in 1..5\n    reason: str max 90 chars\n\npub fn f() -> Mark:\n"
        "    | ${schema(Mark)}: ?{mark: Mark}\n    return mark\n",
        "record Mark:\n    reason: str max 90 chars\n    score: int in 1..5\n\npub fn f() -> Mark:\n"
        "    | ${schema(Mark)}: ?{mark: Mark}\n    return mark\n",
    ),
    Entry(
        "W0245",
        "a budget below the longest values",
        "The shortest values of the holes fit the `within` of the function, their longest ones do not. The "
        "sum names each hole with the most tokens that it may take: its `max … tok`, times the rounds of the "
        "loop that it stands in. Holes without a budget of their own count with their shortest value.",
        "pub fn f() -> str within 20 tok:\n    | ?{a: str max 15 tok} and ?{b: str max 15 tok}\n"
        "    return a + b\n",
        "pub fn f() -> str within 30 tok:\n    | ?{a: str max 15 tok} and ?{b: str max 15 tok}\n"
        "    return a + b\n",
    ),
)
