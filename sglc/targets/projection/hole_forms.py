"""How the answer of a hole looks to who writes it: a pattern, a JSON Schema, or one of some options."""

from __future__ import annotations

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.json.data import JsonObject
from sglc.automata.work import OutOfWork
from sglc.cfg.model.errors import GrammarError
from sglc.targets.projection.grammars.print_regex import to_regex
from sglc.targets.projection.grammars.term_grammar import Refused, TermGrammar
from sglc.types.language.language import language
from sglc.types.notation.json_schema import definitions
from sglc.types.notation.text_rules import text_rules
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    EnumType,
    InForm,
    Int,
    Json,
    LanguageError,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    Str,
    TupleOf,
    Type,
    TypeTable,
)
from sglc.types.values import EnumValue, Value

LONGEST_PATTERN = 4_000
"""Characters of a pattern that a provider is given; engines refuse long ones."""


def is_raw(type: Type, table: TypeTable) -> bool:
    """Whether all values of a type are written without JSON around them."""
    match type:
        case ListOf() | MapOf() | TupleOf() | Json():
            return False
        case InForm(item, form):
            return form != "json"
        case Optional(item):
            return is_raw(item, table)
        case Alternatives(arms):
            return all(is_raw(arm, table) for arm in arms)
        case Named(name) | Applied(name):
            declared = table[name]
            if isinstance(declared, AliasType):
                return is_raw(declared.type, table)
            return isinstance(declared, EnumType)
    return True


def finite_values(type: Type, table: TypeTable) -> list[Value]:
    """The values of a type of options, in their order."""
    match type:
        case Named(name):
            declared = table[name]
            if isinstance(declared, AliasType):
                return finite_values(declared.type, table)
            assert isinstance(declared, EnumType)
            return [EnumValue(name, member) for member in declared.members]
        case Alternatives(arms):
            return [value for arm in arms for value in finite_values(arm, table)]
        case InForm(item):
            return finite_values(item, table)
        case Optional(item):
            return [*finite_values(item, table), None]
        case Constant(value):
            return [value]
        case Bool():
            return [False, True]
        case Int(minimum=int() as low, maximum=int() as high):
            step = type.multiple_of or 1
            return list(range(-(-low // step) * step, high + 1, step))
        case Null():
            return [None]
    raise AssertionError(f"{type} has no options")


def pattern_of(type: Type, table: TypeTable) -> str | None:
    """The texts of a hole as a pattern; None where that is long or there is none."""
    while isinstance(type, Named) and isinstance(declared := table[type.name], AliasType):
        type = declared.type
    if isinstance(type, Str) and type == Str(patterns=type.patterns, layout=type.layout) and not type.grammar:
        rules = text_rules(type)
        if len(rules.whole) == 1 and not rules.looks:
            return rules.whole[0]
    try:
        writer = TermGrammar(language(type, table, surface="hole"))
        writer.write()
        pattern = to_regex(writer.grammar(), LONGEST_PATTERN)
    except (LanguageError, TooLarge, OutOfWork, Refused, GrammarError):
        return None
    return None if writer.lost else pattern


def schema_of(type: Type, table: TypeTable) -> JsonObject:
    """The JSON values of a type, as far as JSON Schema says them (`unsaid` names the rest)."""
    return {**definitions(("It",), {**table, "It": AliasType("It", type)}), "$ref": "#/$defs/It"}
