"""Checks the types that an artefact carries: closed, well founded, and not contradictory in their bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.regex.compile import RegexError, compile_regex
from sglc.bytecode.code import Code, HoleSpec
from sglc.types.condition import Matches, atoms, given_numbers
from sglc.types.dependent import given_types, given_values, replaced
from sglc.types.grammar_text import parameters_of, stored_fault
from sglc.types.language.narrowing import is_expressible
from sglc.types.schema_language import SchemaTextError, schema_text_of
from sglc.types.type import (
    FORMS,
    AliasType,
    Alternatives,
    Applied,
    DeclaredType,
    EnumType,
    InForm,
    Json,
    LanguageError,
    ListOf,
    MapOf,
    Named,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    UnionType,
    types_in,
)


def type_faults(types: Sequence[Type], table: Mapping[str, DeclaredType]) -> Iterator[str]:
    """Sentences on what is wrong with the types of a program."""
    sound = True
    for type_ in types:
        for reason in (*_shape_faults(type_, table), *_given_faults(type_)):
            sound = False
            yield reason
    for name, declared in table.items():
        if declared.name.rpartition(".")[2] != name.rpartition(".")[2]:
            yield f"the type {name!r} is stored under another name"
        for reason in _declared_faults(declared, table):
            sound = False
            yield f"type {name}: {reason}"
    if sound:
        yield from _founded_faults(table)


def _declared_faults(declared: DeclaredType, table: Mapping[str, DeclaredType]) -> Iterator[str]:
    match declared:
        case AliasType(type=type_):
            yield from _shape_faults(type_, table)
            yield from _without_given(type_)
            yield from _where_faults(declared, table)
        case EnumType(members=members):
            if not members or len(set(members)) != len(members):
                yield "an enum needs members, each once"
        case RecordType():
            yield from _record_faults(declared, table)
        case UnionType(variants=variants):
            names = [variant.name for variant in variants]
            if not names or len(set(names)) != len(names):
                yield "a union needs variants, each once"
            for variant in variants:
                yield from _record_faults(variant, table)


def _applied_faults(type_: Applied, table: Mapping[str, DeclaredType]) -> Iterator[str]:
    """What is wrong with a type with values and the declarations that it leads to."""
    opened = {each.declared.name: each for each in type_.declarations}
    if len(opened) != len(type_.declarations):
        yield f"the type {type_.name!r} leads to two declarations of one name"
    uses = [type_]
    for name, each in opened.items():
        if type(table.get(name)) is not type(each.declared):
            yield f"the type {name!r} with parameters has no type of its values"
        if any(source.parameter >= len(each.parameters) for source in each.sources):
            yield f"a part of {name!r} takes its value of no parameter"
        inner = types_in(each.declared)
        for use in (given for part in inner for given in given_types(part)):
            if isinstance(use, Applied):
                uses.append(use)
                if use.declarations or use.instance is not None:
                    yield f"a part of {name!r} has declarations or values of its own"
        numbers = {number for part in inner for number in given_values(part)}
        where = each.declared.where if isinstance(each.declared, AliasType) else None
        numbers |= set() if where is None else given_numbers(where)
        if any(not 0 <= number < len(each.sources) for number in numbers):
            yield f"a part of {name!r} depends on no value of it"
        for part in inner:
            if not isinstance(part, Applied):
                yield from _parts_faults(part, table)
    for use in uses:
        found = opened.get(use.name)
        if found is None or len(use.given) != len(found.parameters):
            yield f"the type {use.name!r} is given other values than it has parameters"


def _parts_faults(type_: Type, table: Mapping[str, DeclaredType]) -> Iterator[str]:
    """As `_shape_faults`, of a part of a declaration with parameters."""
    yield from _shape_faults(
        replaced(type_, lambda part: Named(part.name) if isinstance(part, Applied) else part), table
    )


def _where_faults(declared: AliasType, table: Mapping[str, DeclaredType]) -> Iterator[str]:
    """What is wrong with the condition of an alias whose type is sound."""
    if declared.where is None:
        return
    try:
        if given_numbers(declared.where) or not is_expressible(declared.type, declared.where, table):
            yield "no mask can keep its condition"
        for part in atoms(declared.where):
            if isinstance(part, Matches):
                compile_regex(part.pattern)
    except (LanguageError, RegexError, TooLarge, RecursionError) as fault:
        yield f"its condition: {fault}"


def predicate_faults(codes: Sequence[Code], table: Mapping[str, DeclaredType]) -> Iterator[str]:
    """What is wrong with the predicates of the types of a program: each is a pure function of one value."""
    functions = {code.name: code for code in codes}
    for name, declared in table.items():
        for predicate in declared.predicates if isinstance(declared, AliasType) else ():
            code = functions.get(predicate.function)
            if code is None or code.kind != "pure" or len(code.parameters) != 1:
                yield f"type {name}: {predicate.function!r} is no function of a value"


def _record_faults(record: RecordType, table: Mapping[str, DeclaredType]) -> Iterator[str]:
    names = [f.name for f in record.fields]
    if len(set(names)) != len(names):
        yield "two fields of one name"
    for f in record.fields:
        yield from _shape_faults(f.type, table)
        yield from _without_given(f.type)


def _without_given(type_: Type) -> Iterator[str]:
    if given_types(type_):
        yield "a declared type depends on a value of a hole"


def _given_faults(type_: Type) -> Iterator[str]:
    """Given values are numbered from 0 without gaps, and only a run puts them in."""
    parts = given_types(type_)
    numbers = given_values(type_)
    if set(numbers) != set(range(len(numbers))):
        yield "the values that a type depends on are not numbered in order"
    for part in parts:
        if isinstance(part, Str):
            continue
        if isinstance(part, Applied):
            if part.instance is not None:
                yield "a type holds values that only a run can give"
            continue
        if (part.words if isinstance(part, OneOf) else part.text) is not None:
            yield "a type holds a value that only a run can give"
        if isinstance(part, SpanOf) and (
            part.min_chars < 1 or (part.max_chars is not None and part.max_chars < 1) or "" in part.until
        ):
            yield "a span with contradictory bounds"


def _shape_faults(type_: Type, table: Mapping[str, DeclaredType]) -> Iterator[str]:
    match type_:
        case Named(name=name):
            if name not in table:
                yield f"the type {name!r} is not declared"
        case Applied(declarations=declarations) if declarations:
            yield from _applied_faults(type_, table)
        case Applied():
            yield f"the type {type_.name!r} has no declaration"
        case ListOf(item=item, minimum=low, maximum=high):
            if low < 0 or (high is not None and high < low):
                yield "a list with contradictory bounds"
            yield from _shape_faults(item, table)
        case MapOf(key=key, value=value, minimum=low, maximum=high):
            if low < 0 or (high is not None and high < low):
                yield "a map with contradictory bounds"
            yield from _shape_faults(key, table)
            yield from _shape_faults(value, table)
        case Str(grammar=grammar) if grammar:
            fault = stored_fault(grammar)
            if type_ != Str(grammar=grammar, given=type_.given):
                fault = "it is refined"
            if not fault and type_.given and len(type_.given) != len(parameters_of(grammar)):
                fault = "its values are not given"
            if fault:
                yield f"a grammar that cannot be used: {fault}"
        case Str(min_chars=low, max_chars=high):
            if low < 0 or (high is not None and high < low):
                yield "a text with contradictory bounds"
        case TupleOf(items=parts) | Alternatives(arms=parts):
            if not parts:
                yield "a tuple or union of nothing"
            for part in parts:
                yield from _shape_faults(part, table)
        case Optional(item=item):
            yield from _shape_faults(item, table)
        case InForm(item=item, form=form):
            yield from _shape_faults(item, table)
            if form not in FORMS:
                yield f"there is no form {form!r}"
        case Json(schema=schema) if schema:
            try:
                if schema_text_of(schema) != schema:
                    yield "a JSON Schema that is spelled in another way"
            except SchemaTextError as fault:
                yield f"a JSON Schema that cannot be used: {fault}"


def _founded_faults(table: Mapping[str, DeclaredType]) -> Iterator[str]:
    """Every alias leads somewhere, and every declared type has a value of finite size."""
    for name, declared in table.items():
        seen: set[str] = set()
        work = [declared.type] if isinstance(declared, AliasType) else []
        while work:
            match work.pop():
                case Named(name=other) if other not in seen:
                    seen.add(other)
                    target = table[other]
                    if isinstance(target, AliasType):
                        work.append(target.type)
                case Optional(item=item) | InForm(item=item):
                    work.append(item)
                case Alternatives(arms=arms):
                    work.extend(arms)
        if name in seen:
            yield f"type {name}: it is defined by itself"
    finite: set[str] = set()
    grown = True
    while grown:
        grown = False
        for name, declared in table.items():
            if name not in finite and _declared_finite(declared, finite):
                finite.add(name)
                grown = True
    for name in table:
        if name not in finite:
            yield f"type {name}: it has no value of finite size"


def _declared_finite(declared: DeclaredType, finite: set[str]) -> bool:
    match declared:
        case AliasType(type=type_):
            return _finite(type_, finite)
        case EnumType():
            return True
        case RecordType():
            return _record_finite(declared, finite)
        case UnionType(variants=variants):
            return any(_record_finite(variant, finite) for variant in variants)


def _record_finite(record: RecordType, finite: set[str]) -> bool:
    return all(f.optional or f.has_default or _finite(f.type, finite) for f in record.fields)


def _finite(type_: Type, finite: set[str]) -> bool:
    match type_:
        case Named(name=name):
            return name in finite
        case InForm(item=item):
            return _finite(item, finite)
        case ListOf(item=item, minimum=low) | MapOf(value=item, minimum=low):
            return low == 0 or _finite(item, finite)
        case TupleOf(items=items):
            return all(_finite(item, finite) for item in items)
        case Alternatives(arms=arms):
            return any(_finite(arm, finite) for arm in arms)
    return True


def condition_faults(hole: HoleSpec, type_: Type, table: Mapping[str, DeclaredType]) -> Iterator[str]:
    """What is wrong with the condition that the mask of a hole keeps."""
    condition = hole.condition
    if condition is None:
        return
    first = len(given_values(type_))
    numbers = given_numbers(condition)
    if numbers != set(range(first, first + len(numbers))):
        yield f"the values that the condition of hole {hole.name!r} depends on are not numbered in order"
    try:
        if hole.mode != "gen" or not is_expressible(type_, condition, table):
            yield f"no mask can keep the condition of hole {hole.name!r}"
        for part in atoms(condition):
            if isinstance(part, Matches):
                compile_regex(part.pattern)
    except (LanguageError, RegexError, TooLarge) as fault:
        yield f"the condition of hole {hole.name!r}: {fault}"
