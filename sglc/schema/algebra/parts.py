"""The forms of single parts: what `properties`, `contains` and the like ask of objects and arrays."""

from __future__ import annotations

from dataclasses import replace

from sglc.automata.dfa import operations as automata
from sglc.automata.term import CharDfa
from sglc.schema.algebra import forms as f
from sglc.schema.algebra import strings
from sglc.schema.algebra.forms import FALSE, TRUE, ArrayForm, Entries, KeySet, Literals, ObjectForm, both
from sglc.schema.algebra.literals import LiteralTable
from sglc.schema.algebra.scalars import Scalars, pattern_automaton
from sglc.schema.core import graph as g
from sglc.schema.core.errors import UnsupportedSchema
from sglc.schema.core.graph import Part


class PartForms:
    """None stands for all objects (or arrays): the part is not about them. With `marked`, forms say which
    keys and items they have evaluated."""

    def __init__(self, literals: LiteralTable, scalars: Scalars, max_states: int) -> None:
        self.literals = literals
        self.scalars = scalars
        self.max_states = max_states

    # Objects

    def objects(self, part: Part, marked: bool) -> list[ObjectForm] | None:
        """Forms of the objects that satisfy a part."""
        match part:
            case g.Types(mask):
                return None if mask & g.OBJECT else []
            case g.Values(values):
                return [
                    self._constant_object(value[1])
                    for value in values
                    if isinstance(value, tuple) and value[0] == "object"
                ]
            case g.Size(g.OBJECT, low, high):
                return [] if high is not None and low > high else [ObjectForm(low=low, high=high)]
            case g.Required(names):
                return [ObjectForm(clauses=frozenset(f.presence(name, True) for name in names), asked=names)]
            case g.Properties():
                return [self._properties(part, marked)]
            case g.Names(number, path):
                return self._names(self.literals.of(number), path)
        return None

    def _constant_object(self, members: tuple[tuple[str, g.Value], ...]) -> ObjectForm:
        entries = Entries({name: self.literals.constant(inner) for name, inner in members}, (), FALSE, True)
        clauses = frozenset(f.presence(name, True) for name, _ in members)
        return ObjectForm(parts=(entries,), clauses=clauses)

    def _properties(self, part: g.Properties, marked: bool) -> ObjectForm:
        named = {name: self.literals.of(number) for name, number in part.named}
        other = TRUE if part.additional is None else self.literals.of(part.additional)
        patterns: list[tuple[CharDfa, Literals]] = []
        everything: Literals | None = None
        words: dict[str, Literals] = {}
        for pattern, number, path in part.patterns:
            dfa = pattern_automaton(pattern, path)
            literals = self.literals.of(number)
            if dfa == automata.all_words():
                everything = literals if everything is None else both(everything, literals)
                continue
            few = strings.few_words(dfa)
            if few is not None:
                for word in few:
                    words[word] = both(words.get(word, TRUE), literals)
            elif dfa.edges:
                patterns.append((dfa, literals))
        for word, literals in words.items():
            named[word] = both(named.get(word, TRUE), literals)
        seen: tuple[KeySet, ...] | None = ()
        if part.additional is not None or everything is not None:
            seen = None
        elif marked:
            seen = (KeySet(frozenset(named), tuple(dfa for dfa, _ in patterns)),)
        if not marked:
            seen = ()
        if everything is not None:
            named = {name: both(literals, everything) for name, literals in named.items()}
            patterns = [(dfa, both(literals, everything)) for dfa, literals in patterns]
            other = everything
        if not patterns and not other and not any(named.values()) and not marked and not named:
            return f.ANY_OBJECT
        return ObjectForm(parts=(Entries(named, tuple(patterns), other, True),), seen=seen)

    def _names(self, these: Literals, path: str) -> list[ObjectForm] | None:
        allowed = self.scalars.of(self.scalars.string, these)
        if allowed == strings.EVERY:
            return None
        if not allowed:
            return [ObjectForm(high=0)]
        if any(one.format is not None for one in allowed):
            return [ObjectForm(keys=these)]
        if all(one.words is not None for one in allowed):
            words = sorted(word for one in allowed for word in one.words or ())
            return [ObjectForm(parts=(Entries(dict.fromkeys(words, TRUE), (), FALSE),))]
        bad = strings.key_automaton(strings.complement(allowed), self.max_states)
        if bad is None:
            raise UnsupportedSchema("propertyNames", path, "the names are too long to be told apart")
        return [ObjectForm(parts=(Entries({}, ((bad, FALSE),)),))]

    # Arrays

    def arrays(self, part: Part, marked: bool) -> list[ArrayForm] | None:
        """Forms of the arrays that satisfy a part."""
        match part:
            case g.Types(mask):
                return None if mask & g.ARRAY else []
            case g.Values(values):
                return [
                    self._constant_array(value[1])
                    for value in values
                    if isinstance(value, tuple) and value[0] == "array"
                ]
            case g.Size(g.ARRAY, low, high):
                return [] if high is not None and low > high else [ArrayForm(low=low, high=high)]
            case g.Items(prefix, rest):
                form = f.places_form(
                    tuple(self.literals.of(number) for number in prefix),
                    TRUE if rest is None else self.literals.of(rest),
                )
                if marked:
                    form = replace(form, seen=len(prefix) if rest is None else None)
                return [form]
            case g.Contains(number, low, high, marks):
                return self._contains(self.literals.of(number), low, high, marks and marked)
            case g.Unique(path):
                return [ArrayForm(unique=path)]
        return None

    def _constant_array(self, values: tuple[g.Value, ...]) -> ArrayForm:
        items = tuple(self.literals.constant(item) for item in values)
        return replace(f.places_form(items, FALSE), low=len(items))

    def _contains(self, these: Literals, low: int, high: int | None, marks: bool) -> list[ArrayForm]:
        if high is not None and low > high:
            return []
        marked = (these,) if marks else ()
        if not these:
            return [ArrayForm(low=low, high=high, marks=marked)]
        if these == FALSE:
            return [] if low else [ArrayForm(marks=marked)]
        if not low and high is None:
            return [ArrayForm(marks=marked)]
        if high == 0:
            return [ArrayForm(parts=(f.Places((), self.literals.negate(these)),), marks=marked)]
        return [ArrayForm(counts=(f.ItemCount(0, these, low, high),), marks=marked)]

    # Unevaluated

    def other_entries(self, form: ObjectForm, part: Part) -> ObjectForm:
        """What `unevaluatedProperties` asks of a form, as a form."""
        assert isinstance(part, g.UnevaluatedProperties)
        if form.seen is None:
            return f.ANY_OBJECT
        names = frozenset(name for keys in form.seen for name in keys.names)
        patterns = tuple(dict.fromkeys(dfa for keys in form.seen for dfa in keys.patterns))
        rest = f.only(KeySet(names, patterns, True), self.literals.of(part.node))
        return ObjectForm(parts=(rest,)) if rest.other else f.ANY_OBJECT

    def other_items(self, form: ArrayForm, part: Part) -> ArrayForm:
        """What `unevaluatedItems` asks of a form, as a form."""
        assert isinstance(part, g.UnevaluatedItems)
        if form.seen is None:
            return f.ANY_ARRAY
        others = self.literals.either([self.literals.of(part.node), *form.marks])
        return f.places_form((TRUE,) * form.seen, others)
