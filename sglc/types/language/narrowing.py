"""Texts of a type for which a condition holds: what `where` leaves of a hole, once its values are known.

`is_expressible` says beforehand, whatever the values will be, that the texts are exactly those of the values
for which the condition holds. Texts and numbers are narrowed by operations on their automata, finite types by
asking each value, lists and maps by their lengths, records field by field.
"""

from __future__ import annotations

from dataclasses import replace

from sglc.automata.dfa.operations import (
    difference,
    intersect,
    words,
)
from sglc.automata.joined_terms import choice, sequence
from sglc.automata.term import Bytes, CharDfa, Encoding, Except, Language, Nothing, Term, Text, Words
from sglc.types.condition import (
    All,
    Among,
    Compared,
    Condition,
    Either,
    Flag,
    Listed,
    Matches,
    Not,
    TextAt,
    atoms,
    below,
    conjuncts,
    holds,
    known,
    listed,
    subject,
)
from sglc.types.json_text import json_text
from sglc.types.language.builder import LanguageBuilder, Narrowed, build
from sglc.types.language.condition_automata import number_words, text_dfa, whole_bounds
from sglc.types.language.condition_parts import left_out, lengths, settled
from sglc.types.language.form_narrowing import narrowed_shape
from sglc.types.language.form_terms import form_term
from sglc.types.language.membership import is_member
from sglc.types.language.scalars import Surface, constant_text, written_dfa
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    DeclaredType,
    EnumType,
    FieldType,
    InForm,
    Int,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    Type,
    TypeTable,
    declaration_of,
    declared_type,
    uses_of,
)
from sglc.types.values import EnumValue, Value

LISTED = 2000
"""Characters of excluded words up to which they become part of an automaton; more are left out one by one."""


# -- what can be expressed -------------------------------------------------------------------------


def is_expressible(type: Type, condition: Condition, table: TypeTable) -> bool:
    """Whether a mask can keep the condition exactly, whatever the values of the run."""
    parts = list(atoms(condition))
    if all(isinstance(part, Flag) for part in parts):
        return True
    match type:
        case Optional(item=item) | InForm(item=item):
            return is_expressible(item, condition, table)
        case Alternatives(arms=arms):
            return all(is_expressible(arm, condition, table) for arm in arms)
        case Named(name=name):
            declared = declared_type(name, table)
            if isinstance(declared, AliasType):
                return is_expressible(declared.type, condition, table)
            if isinstance(declared, RecordType):
                return all(_record_part(declared, part, table) for part in conjuncts(condition))
            return isinstance(declared, EnumType) and _direct(parts)
        case Applied():
            opened = type.instance.declared if type.instance is not None else _opened(type)
            if isinstance(opened, AliasType):
                return is_expressible(opened.type, condition, table)
            return isinstance(opened, RecordType) and all(
                _record_part(opened, part, table) for part in conjuncts(condition)
            )
        case Bool() | Null() | Constant() | OneOf():
            return _direct(parts)
        case Str(grammar=grammar) if not grammar:
            return all(map(_about_text, parts))
        case Str() | SpanOf():
            return all(map(_leaves_out, conjuncts(condition)))
        case Int():
            return _direct(parts) and not any(isinstance(part, TextAt | Matches) for part in parts)
        case Dec():
            kinds = Compared | Among | Flag
            return _direct(parts) and all(isinstance(part, kinds) for part in parts)
        case ListOf() | MapOf():
            return all(
                isinstance(part, Flag)
                or (isinstance(part, Compared) and part.subject.length and not part.subject.path)
                for part in parts
            )
    return False


def _opened(type: Applied) -> DeclaredType | None:
    """The declaration of a type that is not bound; None inside of another declaration."""
    return next((each.declared for each in type.declarations if each.declared.name == type.name), None)


def _direct(parts: list[Condition]) -> bool:
    """Whether all parts speak of the value itself."""
    subjects = [subject(part) for part in parts]
    return all(found is None or not (found.path or found.length) for found in subjects)


def _about_text(part: Condition) -> bool:
    found = subject(part)
    if found is None:
        return True
    if found.path:
        return False
    if found.length:
        return isinstance(part, Compared)
    if isinstance(part, Compared):
        return part.operator in ("==", "!=")
    return isinstance(part, Among | TextAt | Matches)


def _leaves_out(part: Condition) -> bool:
    """Whether a condition says no more than that the value is none of some texts."""
    match part:
        case Flag():
            return True
        case Compared(operator="!="):
            return _direct([part])
        case Not(part=Compared(operator="==") as inner) | Not(part=Among() as inner):
            return _direct([inner])
    return False


def _record_part(record: RecordType, condition: Condition, table: TypeTable) -> bool:
    subjects = [found for found in map(subject, atoms(condition)) if found is not None]
    if not subjects:
        return True
    names = {found.path[:1] for found in subjects}
    if len(names) != 1 or names == {()}:
        return False
    name = subjects[0].path[0]
    field = next((field for field in record.fields if field.name == name), None)
    return field is not None and is_expressible(field.type, below(condition, name), table)


# -- texts -----------------------------------------------------------------------------------------


def narrowed_language(type: Type, table: TypeTable, condition: Condition) -> Language:
    """The texts, in a hole, of the values for which an expressible and bound condition holds.

    Raises GivenError where values of the run make no condition, TooLarge where its automaton has too many
    states.
    """
    uses = uses_of(type, table)
    shared = frozenset(name for name, count in uses.items() if count > 1)
    whole = build(type, tuple((name, table[name]) for name in uses), shared, "hole", NARROWED)
    builder = _Narrowing(dict(table), shared, NARROWED)
    root = builder.narrow(type, condition, "hole")
    return Language(root, {**builder.rules, **whole.rules})


def narrowed_term(
    builder: LanguageBuilder, type: Type, condition: Condition, surface: Surface, beside_null: bool
) -> Term:
    """The texts of a part of what `builder` builds for which an expressible and bound condition holds.

    Raises as `narrowed_language`.
    """
    narrowing = _Narrowing(builder.table, builder.shared, NARROWED)
    narrowing.rules, narrowing.open = builder.rules, builder.open
    return narrowing.narrow(type, condition, surface, beside_null=beside_null)


NARROWED = Narrowed(narrowed_term, narrowed_shape)
"""How the conditions of types are kept."""


class _Narrowing(LanguageBuilder):
    def narrow(
        self, type: Type, condition: Condition, surface: Surface, *, beside_null: bool = False
    ) -> Term:
        condition = settled(condition)
        match condition:
            case All(parts=()):
                return self.raw(type, beside_null=beside_null) if surface == "hole" else self.json(type)
            case Either(parts=()):
                return Nothing()
        match type:
            case InForm(item=item, form=form):
                if surface == "json" or form == "json":
                    return self.narrow(item, condition, "json")
                return form_term(self, type, condition)
            case Optional(item=item):
                null: Term = Bytes(b"null") if holds(condition, None) else Nothing()
                return choice(self.narrow(item, condition, surface, beside_null=True), null)
            case Alternatives(arms=arms):
                beside_null = beside_null or self.has_null(type)
                return choice(
                    *(self.narrow(arm, condition, surface, beside_null=beside_null) for arm in arms)
                )
            case Named(name=name):
                declared = declared_type(name, self.table)
                if isinstance(declared, AliasType):
                    parts = (condition,) if declared.where is None else (condition, declared.where)
                    return self.narrow(declared.type, All(parts), surface, beside_null=beside_null)
                if isinstance(declared, EnumType):
                    members = [m for m in declared.members if holds(condition, EnumValue(name, m))]
                    return _listed(members, surface, beside_null)
                assert isinstance(declared, RecordType)
                return self._record(declared, condition)
            case Applied():
                bound = declaration_of(type)
                if isinstance(bound, AliasType):
                    parts = (condition,) if bound.where is None else (condition, bound.where)
                    return self.narrow(bound.type, All(parts), surface, beside_null=beside_null)
                assert isinstance(bound, RecordType)
                return self._record(bound, condition)
            case Bool():
                return choice(
                    *(Bytes(text.encode()) for text in ("true", "false") if holds(condition, text == "true"))
                )
            case Null():
                return Bytes(b"null") if holds(condition, None) else Nothing()
            case Constant(value=value):
                if isinstance(value, str):
                    return _listed([value] if holds(condition, value) else [], surface, beside_null)
                return Bytes(constant_text(value, surface).encode()) if holds(condition, value) else Nothing()
            case OneOf():
                assert type.words is not None
                return _listed([w for w in type.words if holds(condition, w)], surface, beside_null)
            case Str(grammar=grammar) if not grammar:
                return self._text(type, condition, surface, beside_null)
            case Str() | SpanOf():
                whole = self.raw(type, beside_null=beside_null) if surface == "hole" else self.json(type)
                return _without(whole, left_out(condition), surface)
            case Int() | Dec():
                dfa = number_words(type, condition)
                return Text(dfa) if dfa.edges else Nothing()
            case ListOf() | MapOf():
                ranges = lengths(type.minimum, type.maximum, condition)
                return choice(*(self.json(replace(type, minimum=low, maximum=high)) for low, high in ranges))
        raise AssertionError(f"{type} cannot be narrowed")

    def _record(self, record: RecordType, condition: Condition) -> Term:
        by_field: dict[str, list[Condition]] = {}
        for part in conjuncts(condition):
            about = next(found for found in map(subject, atoms(part)) if found is not None)
            by_field.setdefault(about.path[0], []).append(below(part, about.path[0]))
        items: list[tuple[Term, bool]] = []
        for field in record.fields:
            parts = by_field.get(field.name)
            items.append(self.field(field) if parts is None else self._field(field, All(tuple(parts))))
        if any(isinstance(term, Nothing) and not absent for term, absent in items):
            return Nothing()
        return self.fields(b"{", items, b"}")

    def _field(self, field: FieldType, condition: Condition) -> tuple[Term, bool]:
        absent = False
        if field.optional or field.has_default:
            absent = holds(condition, field.default if field.has_default else None)
        value = self.narrow(field.type, condition, "json")
        if isinstance(value, Nothing):
            return value, absent
        return sequence(Bytes(f"{json_text(field.name)}: ".encode()), value), absent

    # -- texts of a `str` --------------------------------------------------------------------------

    def _text(self, type: Str, condition: Condition, surface: Surface, beside_null: bool) -> Term:
        encoding: Encoding = "raw" if surface == "hole" else "json"
        chosen: list[Listed] = []
        asked: list[Condition] = []
        left_out: set[Value] = set()
        low, high = type.min_chars, type.max_chars
        dfa: CharDfa | None = None
        for part in conjuncts(condition):
            match part:
                case Among(values=values):
                    chosen.append(listed(known(values)))
                    continue
                case Compared(subject=about, operator="==", bound=bound) if not about.length:
                    chosen.append(listed((known(bound),)))
                    continue
                case Compared(subject=about, operator="!=", bound=bound) if not about.length:
                    left_out.add(known(bound))
                case Not(part=Among(values=values)):
                    left_out.update(listed(known(values)))
                case Compared(subject=about, operator=operator, bound=bound) if about.length and (
                    operator != "!="
                ):
                    least, most = whole_bounds(operator, known(bound))
                    low = max(low, least or 0)
                    high = most if high is None else high if most is None else min(high, most)
                    asked.append(part)
                case _:
                    asked.append(part)
        if chosen:
            texts = [
                text
                for text in dict.fromkeys(chosen[0])
                if isinstance(text, str)
                and text not in left_out
                and all(values.has(text) for values in chosen[1:])
                and holds(All(tuple(asked)), text)
                and is_member(text, type, self.table)
            ]
            return _listed(texts, surface, beside_null)
        if low > (low if high is None else high):
            return Nothing()
        for part in asked:
            simple = isinstance(part, Compared) and part.subject.length and part.operator != "!="
            if not simple:
                found = text_dfa(part)
                dfa = found if dfa is None else intersect(dfa, found)
        if beside_null and surface == "hole":
            left_out.add("null")
        base = written_dfa(type, encoding)
        dfa = base if dfa is None else intersect(base, dfa)
        texts = [text for text in left_out if isinstance(text, str)]
        few = sum(map(len, texts)) <= LISTED
        if texts and few:
            dfa = difference(dfa, words(texts))
        if not dfa.edges:
            return Nothing()
        term: Term = Text(dfa, encoding, low, high)
        if texts and not few:
            inner = texts if surface == "hole" else [json_text(text)[1:-1] for text in texts]
            term = Except(term, frozenset(text.encode() for text in inner))
        return term if surface == "hole" else sequence(Bytes(b'"'), term, Bytes(b'"'))


def _listed(texts: list[str], surface: Surface, beside_null: bool) -> Term:
    """A finite set of texts."""
    found = [
        constant_text(text, surface)
        for text in texts
        if not (beside_null and surface == "hole" and text == "null")
    ]
    if not found:
        return Nothing()
    if len(found) == 1:
        return Bytes(found[0].encode())
    return Words(frozenset(text.encode() for text in found))


def _without(term: Term, texts: list[str], surface: Surface) -> Term:
    if not texts or isinstance(term, Nothing):
        return term
    return Except(term, frozenset(constant_text(text, surface).encode() for text in texts))
