"""Texts as JSON Schemas: one pattern, lengths, or one of some texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

from sglc.automata.charset import Ranges, meet
from sglc.targets.projection.schemas.dialects import MOST_ENUM_VALUES, Rules, Schema
from sglc.targets.projection.schemas.narrowed_types import ALWAYS, both
from sglc.targets.projection.schemas.text_patterns import in_dialect, pattern_of_text
from sglc.types.condition import Compared, Condition, Known, Subject, holds
from sglc.types.language.condition_parts import settled
from sglc.types.language.scalars import str_dfa
from sglc.types.notation.text_rules import text_rules
from sglc.types.type import Form, OneOf, SpanOf, Str, TypeTable

_FORM_TEXTS: dict[Form, tuple[str, Ranges]] = {
    "yaml": (
        r"[^\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]*",
        ((0x7F, 0x9F), (0x2028, 0x2029), (0xFEFF, 0xFEFF), (0xFFFE, 0xFFFF)),
    ),
    "xml": (r"[^\x00-\x08\x0b-\x1f\ufffe\uffff]*", ((0, 8), (0x0B, 0x1F), (0xFFFE, 0xFFFF))),
}
"""By form the texts that it can hold as a pattern, and the characters that none has."""


class Empty(Exception):
    """No value is left."""


def constants(values: Sequence[object]) -> Schema:
    """One of some constants, an enum for those of each kind."""
    if not values:
        raise Empty
    if len(values) == 1:
        (value,) = values
        return {"type": "null"} if value is None else {"type": _kind(value), "const": value}
    if set(map(_kind, values)) == {"boolean"}:
        return {"type": "boolean"}
    kinds = dict.fromkeys(map(_kind, values))
    enums = [{"type": kind, "enum": [value for value in values if _kind(value) == kind]} for kind in kinds]
    return enums[0] if len(enums) == 1 else {"anyOf": enums}


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, Decimal) else "string"


class TextSchemas:
    """Writes the texts of one schema. `lose` hears what it cannot say; `form` is that of the whole text."""

    def __init__(
        self, table: TypeTable, rules: Rules, written: bool, lose: Callable[[str, str], None]
    ) -> None:
        self.table = table
        self.rules = rules
        self.written = written
        self.lose = lose
        self.form: Form | None = None

    # -- texts -----------------------------------------------------------------------------------------

    def text(self, type: Str | SpanOf | OneOf, condition: Condition, raw: bool, beside_null: bool) -> Schema:
        """A text; `raw` as it stands outside of JSON, where `null` beside it would be another value."""
        condition = settled(condition)
        if beside_null and raw:
            condition = both(condition, Compared(Subject(), "!=", Known("null")))
        if isinstance(type, OneOf):
            return self.one_of(type, condition)
        if isinstance(type, Str) and not type.grammar:
            type = self.spelled(type, raw)
            if condition == ALWAYS and type.layout != "lines" and (said := self.plain(type)) is not None:
                return said
        pattern = pattern_of_text(type, condition, self.table)
        if pattern is not None and (pattern := in_dialect(f"^(?:{pattern})$", self.rules)) is not None:
            return {"type": "string", "pattern": pattern}
        return self.wider_text(type, condition)

    def spelled(self, type: Str, raw: bool) -> Str:
        """The type with what its place asks of a text."""
        if raw:
            return replace(type, layout=type.layout or "line") if self.written else type
        type = type if type.layout == "line" else replace(type, layout="free")
        if self.form == "lines":
            return replace(type, layout="line", min_chars=max(1, type.min_chars))
        if self.form in _FORM_TEXTS:
            pattern, illegal = _FORM_TEXTS[self.form]
            edges = tuple((low, high) for row in str_dfa(type).edges for low, high, _ in row)
            if any(meet(((low, high),), illegal) for low, high in edges):
                return replace(type, patterns=(*type.patterns, pattern))
        return type

    def plain(self, type: Str) -> Schema | None:
        """A text with one pattern or with bounds; None where more is asked of it."""
        rules = text_rules(type)
        low, high = rules.min_chars, rules.max_chars
        if rules.banned or rules.looks or len(rules.whole) > 1:
            return None
        out: Schema = {"type": "string"}
        if rules.whole:
            if (low or high is not None) and not self.rules.lengths:
                return None
            pattern = in_dialect(f"^(?:{rules.whole[0]})$", self.rules)
            if pattern is None:
                return None
            out["pattern"] = pattern
        elif (low or high is not None) and not self.rules.lengths:
            counted = rf"^[\s\S]{{{low},{'' if high is None else high}}}$"
            pattern = in_dialect(counted, self.rules)
            return None if pattern is None else {**out, "pattern": pattern}
        if low:
            out["minLength"] = low
        return out if high is None else {**out, "maxLength": high}

    def one_of(self, type: OneOf, condition: Condition) -> Schema:
        """The words that meet the condition; any text where they depend on the run or are too many to list.

        Raises Empty where no word is left.
        """
        if type.words is None:
            self.lose("what depends on values of the run", "any text")
            return {"type": "string"}
        words = [word for word in sorted(type.words) if holds(condition, word)]
        if len(words) > MOST_ENUM_VALUES:
            self.lose(f"one of more than {MOST_ENUM_VALUES:,} texts", "any text")
            return {"type": "string"}
        return constants(list(words))

    def wider_text(self, type: Str | SpanOf, condition: Condition) -> Schema:
        """Some of what is asked of a text."""
        if isinstance(type, SpanOf):
            known = "a piece of a text" if type.text is not None else "what depends on values of the run"
            self.lose(known, "any text")
            return {"type": "string"}
        if type.grammar:
            self.lose("a grammar", "any text")
            return {"type": "string"}
        if condition != ALWAYS and (whole := self.wider_condition(type)) is not None:
            return whole
        if not self.rules.counted:
            for pattern in type.patterns:
                known_part = self.plain(Str(patterns=(pattern,), layout="free"))
                if known_part is not None:
                    self.lose("several conditions on a text", "one pattern")
                    return known_part
        self.lose("several conditions on a text", "any text")
        return {"type": "string"}

    def wider_condition(self, type: Str) -> Schema | None:
        """The type without a condition, where that can be said."""
        said = self.plain(type) if type.layout != "lines" else None
        if said is None and (pattern := pattern_of_text(type, ALWAYS, self.table)) is not None:
            shown = in_dialect(f"^(?:{pattern})$", self.rules)
            said = None if shown is None else {"type": "string", "pattern": shown}
        if said is not None:
            self.lose("a condition on a text", "every text of the type")
        return said
