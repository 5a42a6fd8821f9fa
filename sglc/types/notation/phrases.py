"""Types in words: scalars, counts, what may be absent, and which declared types are named."""

from __future__ import annotations

from collections.abc import Callable

from sglc.automata.dfa.operations import accepts
from sglc.types.json_text import json_text
from sglc.types.language.scalars import str_dfa
from sglc.types.notation.sgl import named_rules, range_text
from sglc.types.text.printer import print_value
from sglc.types.type import (
    AliasType,
    Alternatives,
    Dec,
    DeclaredType,
    FieldType,
    Float,
    InForm,
    Int,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    declared_type,
)


def phrase(type: Str | Int | Dec | Float, noun: str | None = None) -> str:
    """A scalar in words: `string of 3 to 80 characters matching /…/`, `integer in 18..70`."""
    if isinstance(type, Str) and type.grammar:
        return f"{noun or 'string'} in the grammar {named_rules(type.grammar)[0]}"
    if isinstance(type, Str):
        words = [f"{noun or 'string'} on one line" if type.layout == "line" else noun or "string"]
        if type.min_chars or type.max_chars is not None:
            words.append(f"of {count_phrase(type.min_chars, type.max_chars, 'character')}")
        if type.patterns:
            words.append("matching " + " and ".join(f"/{pattern}/" for pattern in type.patterns))
        # Nothing needs to be said of what no text of the type has anyway.
        possible = str_dfa(Str(layout=type.layout))
        texts = [text for text in (*type.until, *type.excludes) if accepts(possible, text)]
        banned = [json_text(text) for text in dict.fromkeys(texts)]
        if banned:
            words.append("without " + " or ".join(banned))
        return " ".join(words)
    words = [noun or ("integer" if isinstance(type, Int) else "number")]
    if type.minimum is not None and type.maximum is not None:
        words.append(f"in {range_text(type.minimum, type.maximum)}")
    elif type.minimum is not None:
        words.append(f"of at least {type.minimum}")
    elif type.maximum is not None:
        words.append(f"of at most {type.maximum}")
    if not isinstance(type, Float) and type.multiple_of is not None:
        words.append(f"that is a multiple of {type.multiple_of}")
    return " ".join(words)


def count_phrase(low: int, high: int | None, noun: str) -> str:
    """How many of a noun there are, in English: "1 item", "at least 2 items", "3 to 5 items"."""
    if low == high:
        return f"{low} {noun}{'' if low == 1 else 's'}"
    if high is None:
        return f"at least {low} {noun}{'' if low == 1 else 's'}"
    if not low:
        return f"at most {high} {noun}{'' if high == 1 else 's'}"
    return f"{low} to {high} {noun}s"


def absence(field: FieldType, table: TypeTable) -> str:
    """Whether a field may be left out, and for what; empty if it may not."""
    if field.has_default:
        return f"may be left out: {print_value(field.default, field.type, table, surface='json')}"
    return "may be left out" if field.optional else ""


def mentions(type: Type, table: TypeTable) -> int:
    """How many declared types are spelled out where each is, as often as it is used; one in itself once."""
    spelled = Recursive(table)
    counts: dict[str, int] = {}

    def count(part: Type) -> int:
        return sum([named(name) for name in spelled.mentioned(part)])

    def named(name: str) -> int:
        if name not in counts:
            counts[name] = 1
            counts[name] += sum([count(part) for part in spelled.parts(declared_type(name, table))])
        return counts[name]

    return count(type)


class Recursive:
    """Finds the declared types that contain themselves; only these need a name in the text."""

    def __init__(self, table: TypeTable) -> None:
        self.table = table
        self.named: list[str] = []
        self.grammars: dict[str, tuple[str, str]] = {}
        """Grammars that are mentioned, by their portable texts: their rules."""

    def parts(self, declared: DeclaredType) -> list[Type]:
        """The types that a declared type directly consists of."""
        match declared:
            case RecordType():
                return [field.type for field in declared.fields]
            case UnionType():
                return [field.type for variant in declared.variants for field in variant.fields]
            case AliasType():
                return [declared.type]
            case _:
                return []

    def mentioned(self, type: Type) -> list[str]:
        """The declared types that a type names, as often as it does; keys of maps are none."""
        match type:
            case ListOf() | Optional() | InForm():
                return self.mentioned(type.item)
            case MapOf():
                return self.mentioned(type.value)
            case TupleOf():
                return [name for item in type.items for name in self.mentioned(item)]
            case Alternatives():
                return [name for arm in type.arms for name in self.mentioned(arm)]
            case Named(name):
                return [name]
            case _:
                return []

    def is_recursive(self, name: str) -> bool:
        """Whether a declared type contains itself."""
        seen: set[str] = set()
        stack = [name]
        while stack:
            for part in self.parts(declared_type(stack.pop(), self.table)):
                for other in self.mentioned(part):
                    if other == name:
                        return True
                    if other not in seen:
                        seen.add(other)
                        stack.append(other)
        return False

    def name_it(self, name: str) -> bool:
        """Whether a type is mentioned by its name; remembers to explain it."""
        if not self.is_recursive(name):
            return False
        if name not in self.named:
            self.named.append(name)
        return True

    def phrase(self, type: Str | Int | Dec | Float, noun: str | None = None) -> str:
        """A scalar in words; remembers to show the rules of its grammar."""
        if isinstance(type, Str) and type.grammar:
            self.grammars[type.grammar] = named_rules(type.grammar)
        return phrase(type, noun)

    def explained(self, type: Type, first: str, explain: Callable[[str], str]) -> str:
        """The text and then the named types and grammars, each once; explaining one may name more."""
        out = [first]
        for name in self.named:
            if type == Named(name):
                out.append(f"{short_name(name)}: the same shape as above")
            else:
                out.append(f"{short_name(name)}:\n{explain(name)}")
        out += (f"{name}:\n{rules}" for name, rules in self.grammars.values())
        return "\n\n".join(out)


def short_name(name: str) -> str:
    """A qualified name without its module."""
    return name.rsplit(".", 1)[-1]
