"""From literals to terms: every set of literals that can occur as a value becomes a term, or a rule.

First all sets that are reachable are laid out, then those without any value are found by a least fixed point
and taken out of the layouts, then terms are made.
"""

from __future__ import annotations

import json
from dataclasses import replace

from sglc.automata import term as t
from sglc.automata import work
from sglc.automata.analysis.emptiness import is_finite, shortest_words
from sglc.automata.caches import small_cache
from sglc.automata.dfa import operations as automata
from sglc.automata.formats.terms import format_language
from sglc.automata.json.text import NotAValue, canonical
from sglc.automata.number.number_set import NumberError
from sglc.automata.regex.compile import compile_regex
from sglc.automata.regex.to_term import regex_term
from sglc.schema.algebra import numbers, strings
from sglc.schema.algebra.algebra import Algebra
from sglc.schema.algebra.forms import TRUE, Literals
from sglc.schema.core import graph as g
from sglc.schema.core.errors import SchemaTooLarge, Unsatisfiable, UnsupportedSchema
from sglc.schema.core.options import MOST_INDENT, Order, SchemaOptions
from sglc.schema.emit.layout import Arms, ArrayLayout, Layouts, ObjectLayout, TextsLayout, keys_unsupported
from sglc.schema.emit.merged_unions import joined_objects, joined_texts
from sglc.schema.emit.productive import ValueLayout, array_has_values, object_has_values, required
from sglc.schema.emit.reasons import unsatisfiable

_BLANK = automata.all_words(((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20)))
_FEW_BLANKS = 64
"""More of them are counted, not unrolled."""
_ANY = "any JSON value"
_MOST_COUNTED = 256
"""Values up to which it is found out whether there are so many."""


class Lowering:
    def __init__(self, algebra: Algebra, options: SchemaOptions) -> None:
        self.algebra = algebra
        self.options = options
        self.layouts = Layouts(algebra)
        self.distinct = options.distinct
        self.shapes: dict[Literals, ValueLayout] = {}
        self.productive: set[Literals] = {TRUE}
        self.uses: dict[Literals, int] = {}
        self.rules: dict[str, t.Term] = {}
        self._terms: dict[Literals, t.Term] = {}
        self._scalars: dict[object, t.Term | None] = {}
        self._single: dict[Literals, tuple[t.Arm, ...]] = {}
        self.encoding: t.Encoding = "json" if options.spelling == "canonical" else "json-any"
        blank = _blanks(options.blanks, options.indent)
        self.comma: t.Term
        self.colon: t.Term
        match options.spacing:
            case "canonical":
                self.comma, self.colon = t.Bytes(b", "), t.Bytes(b": ")
            case "compact":
                self.comma, self.colon = t.Bytes(b","), t.Bytes(b":")
            case _:
                self.comma = t.Sequence((blank, t.Bytes(b","), blank))
                self.colon = t.Sequence((blank, t.Bytes(b":"), blank))
        self.blank = blank if options.spacing == "flexible" else None

    def language(self, root: Literals, checked: bool = True) -> t.Language:
        """Raises Unsatisfiable where no value satisfies the literals, and UnsupportedSchema (`checked`) where
        different items could run out of values."""
        self._lay_out(root)
        self._find_productive()
        if root not in self.productive:
            raise Unsatisfiable(*unsatisfiable(self.algebra, self.shapes, self.productive, root))
        for shape in self.shapes.values():
            self._prune(shape)
        self._settle_distinct(checked)
        self._count_uses(root)
        whole = self.term(root)
        return t.Language(
            whole if self.blank is None else t.Sequence((self.blank, whole, self.blank)), self.rules
        )

    # Layouts

    def _lay_out(self, root: Literals) -> None:
        stack = [root]
        while stack:
            these = stack.pop()
            if these == TRUE or these in self.shapes:
                continue
            if len(self.shapes) >= self.options.limits.shapes:
                raise SchemaTooLarge(
                    f"more than {self.options.limits.shapes} combinations of subschemas",
                    self.algebra.literals.path(these),
                )
            shape = self.shapes[these] = self._shape(these)
            for layout in (*shape.objects, *shape.arrays):
                stack += [value for value in layout.values() if value not in self.shapes]

    def _shape(self, these: Literals) -> ValueLayout:
        with work.part(self.algebra.literals.path(these)):
            return self._find_shape(these)

    def _find_shape(self, these: Literals) -> ValueLayout:
        algebra = self.algebra
        mask = algebra.literals.mask(these)
        arrays: list[ArrayLayout | TextsLayout] = []
        objects: list[ObjectLayout] = []
        if mask & g.ARRAY:
            arrays = [layout for form in algebra.arrays(these) for layout in self.layouts.arrays(form)]
        if mask & g.OBJECT:
            objects = joined_objects(map(self.layouts.object, algebra.objects(these)))
        return ValueLayout(self._scalar_term(these, mask), arrays, objects)

    # Which sets have values

    def _find_productive(self) -> None:
        productive = self.productive
        waiting = list(self.shapes)
        waiting.reverse()
        while True:
            rest = []
            for these in waiting:
                shape = self.shapes[these]
                if (
                    shape.scalars is not None
                    or any(object_has_values(layout, productive) for layout in shape.objects)
                    or any(array_has_values(layout, productive) for layout in shape.arrays)
                ):
                    productive.add(these)
                else:
                    rest.append(these)
            if len(rest) == len(waiting):
                return
            waiting = rest

    def _prune(self, shape: ValueLayout) -> None:
        def alive(arms: Arms) -> Arms:
            return [arm for arm in arms if arm[0] in productive]

        productive = self.productive
        whole = len(productive) == 1 + len(self.shapes)
        shape.objects = [layout for layout in shape.objects if object_has_values(layout, productive)]
        shape.arrays = [layout for layout in shape.arrays if array_has_values(layout, productive)]
        if whole:
            return
        for layout in shape.objects:
            layout.names = {name: kept for name, arms in layout.names.items() if (kept := alive(arms))}
            layout.families = [(keys, kept) for keys, arms in layout.families if (kept := alive(arms))]
        for array in shape.arrays:
            if isinstance(array, TextsLayout):
                continue
            array.places = [alive(arms) for arms in array.places]
            array.rest = alive(array.rest)

    def _settle_distinct(self, checked: bool) -> None:
        """Different items can always go on if item i is one of more than i values."""
        arrays = [array for shape in self.shapes.values() for array in shape.arrays]
        distinct = [array for array in arrays if isinstance(array, ArrayLayout) and array.distinct]
        # Of keys that come twice the last would count, which no text of a value shows.
        self.distinct = self.options.distinct or bool(distinct)
        for array in distinct if checked else ():
            if any(other in self._inside(array) for other in distinct):
                reason = "there are such arrays inside of the items"
                raise UnsupportedSchema("uniqueItems", array.distinct or "#", reason)
            wanted: dict[Literals, int | None] = {}
            for index, arms in enumerate(array.places):
                wanted.update({value: index + 1 for value, _ in arms})
            wanted.update({value: array.high for value, _ in array.rest})
            for value, number in wanted.items():
                if not has_values(self.algebra, self.options, value, number):
                    reason = "an array can run out of values, which are too many to be told apart beforehand"
                    raise UnsupportedSchema("uniqueItems", array.distinct or "#", reason)

    def _inside(self, array: ArrayLayout) -> list[ArrayLayout | TextsLayout]:
        """All arrays that are, or lie in, items of an array."""
        found: list[ArrayLayout | TextsLayout] = []
        stack = [*array.values()]
        seen: set[Literals] = set()
        while stack:
            these = stack.pop()
            shape = self.shapes.get(these)
            if these not in seen and shape is not None:
                seen.add(these)
                found += shape.arrays
                stack += [value for layout in (*shape.objects, *shape.arrays) for value in layout.values()]
        return found

    # Terms

    def _count_uses(self, root: Literals) -> None:
        self.uses = {root: 1}
        stack = [root]
        while stack:
            these = stack.pop()
            shape = self.shapes.get(these)
            if shape is None:
                continue
            for layout in (*shape.objects, *shape.arrays):
                for value in layout.values():
                    self.uses[value] = self.uses.get(value, 0) + 1
                    if self.uses[value] == 1:
                        stack.append(value)

    def term(self, these: Literals) -> t.Term:
        """The term of what satisfies the literals: a rule where objects or arrays are used more than once."""
        if these == TRUE:
            return self._any_value()
        found = self._terms.get(these)
        if found is not None:
            return found
        shape = self.shapes[these]
        if (shape.arrays or shape.objects) and self.uses.get(these, 0) > 1:
            name = self._name(these)
            rule = self._terms[these] = t.Rule(name)
            self.rules[name] = t.Nothing()
            self.rules[name] = self._shape_term(shape)
            return rule
        found = self._terms[these] = self._shape_term(shape)
        return found

    def _name(self, these: Literals) -> str:
        base = self.algebra.literals.path(these)
        if len(these) > 1 or min(these) & 1:
            base += " and more" if len(these) > 1 else " negated"
        name = base
        number = 2
        while name in self.rules:
            name = f"{base} ({number})"
            number += 1
        return name

    def _shape_term(self, shape: ValueLayout) -> t.Term:
        arms = [shape.scalars] if shape.scalars is not None else []
        arms += [self._array_term(layout) for layout in shape.arrays]
        arms += [self._object_term(layout) for layout in shape.objects]
        return arms[0] if len(arms) == 1 else t.Choice(tuple(arms)) if arms else t.Nothing()

    def _around(self, opening: bytes, inside: t.Term, closing: bytes) -> t.Term:
        return _around(opening, inside, closing, self.blank)

    def _arms(self, arms: Arms) -> tuple[t.Arm, ...]:
        if len(arms) == 1 and not arms[0][1]:
            value = arms[0][0]
            if value not in self._single:
                self._single[value] = (t.Arm(self.term(value), ()),)
            return self._single[value]
        if any([counts for _, counts in arms]):
            return tuple([t.Arm(self.term(value), counts) for value, counts in arms])
        return tuple(map(t.Arm, joined_texts([self.term(value) for value, _ in arms])))

    def _texts_term(self, layout: TextsLayout) -> t.Term:
        """Different strings are the keys of an object that has nothing else."""
        nothing = (t.Arm(t.Bytes(b"")),)
        inside = t.Object(
            tuple(t.Property(word, nothing) for word in layout.words),
            (t.Family(layout.texts, nothing),) if layout.texts.edges else (),
            layout.low,
            layout.high,
            order="any",
            distinct=True,
            encoding=self.encoding,
            comma=self.comma,
            colon=t.Bytes(b""),
        )
        return self._around(b"[", inside, b"]")

    def _array_term(self, layout: ArrayLayout | TextsLayout) -> t.Term:
        if isinstance(layout, TextsLayout):
            return self._texts_term(layout)
        places = tuple(self._arms(arms) for arms in layout.places)
        inside = t.Array(
            places,
            self._arms(layout.rest),
            layout.low,
            layout.high,
            layout.counters,
            self.comma,
            layout.distinct is not None,
        )
        return self._around(b"[", inside, b"]")

    def _object_term(self, layout: ObjectLayout) -> t.Term:
        if layout.keys:
            return self._entries_term(layout)
        index = {name: number for number, name in enumerate(layout.names)}
        clauses = []
        for clause in sorted(layout.clauses, key=sorted):
            if any(name not in index and not present for name, present in clause):
                continue
            clauses.append(frozenset((index[name], present) for name, present in clause if name in index))
        low = layout.low if layout.low > len(required(layout)) else 0
        inside = t.Object(
            tuple(t.Property(name, self._arms(arms)) for name, arms in layout.names.items())
            + tuple(t.Property(name, ()) for name in layout.forbidden()),
            tuple(t.Family(keys, self._arms(arms)) for keys, arms in layout.families),
            low,
            layout.high,
            tuple(clauses),
            layout.counters,
            self.options.order,
            bool(layout.families) and (layout.distinct or self.distinct),
            self.encoding,
            self.comma,
            self.colon,
        )
        return self._around(b"{", inside, b"}")

    def _entries_term(self, layout: ObjectLayout) -> t.Term:
        """Keys that are no regular set: the entries are items of a key, a colon and a value."""
        algebra = self.algebra
        if self.distinct:
            raise keys_unsupported(algebra, layout.keys)
        key = self._scalar_union(
            frozenset(), algebra.scalars.of(algebra.scalars.string, layout.keys), (), "#"
        )
        ((_, arms),) = layout.families
        if key is None:
            return self._around(b"{", t.Bytes(b""), b"}")
        entries = tuple(t.Arm(t.Sequence((key, self.colon, arm.term))) for arm in self._arms(arms))
        return self._around(b"{", t.Array((), entries, layout.low, layout.high, (), self.comma), b"}")

    def _any_value(self) -> t.Term:
        if _ANY not in self.rules:
            scalars = self._scalar_union(
                self.algebra.scalars.constant.every, strings.EVERY, numbers.EVERY, "#"
            )
            assert scalars is not None
            written = self.options.order, self.distinct, self.encoding
            self.rules[_ANY] = _any_value(scalars, self.comma, self.colon, self.blank, *written)
        return t.Rule(_ANY, own=True)

    # Scalars

    def _scalar_term(self, these: Literals, mask: int) -> t.Term | None:
        work.spend(5)
        scalars = self.algebra.scalars
        if not mask & (g.NULL | g.BOOL | g.STRING | g.NUMBER):
            return None
        constants = scalars.of(scalars.constant, these) if mask & (g.NULL | g.BOOL) else frozenset()
        texts = scalars.of(scalars.string, these) if mask & g.STRING else ()
        figures = scalars.of(scalars.number, these) if mask & g.NUMBER else ()
        key = (constants, texts, figures)
        if key not in self._scalars:
            self._scalars[key] = self._scalar_union(
                constants, texts, figures, self.algebra.literals.path(these), scalars.step_path(these)
            )
        return self._scalars[key]

    def _scalar_union(
        self,
        constants: frozenset[bool | None],
        texts: strings.Strings,
        figures: numbers.Numbers,
        path: str,
        steps: str | None = None,
    ) -> t.Term | None:
        """`steps`: where a `multipleOf` is asked for, if one is."""
        words = {json.dumps(value).encode() for value in constants}
        arms: list[t.Term] = []
        try:
            for part in strings.one_automaton(texts):
                if part.words is not None and self.encoding == "json":
                    words |= {json.dumps(word, ensure_ascii=False).encode() for word in part.words}
                else:
                    term = self._text(part)
                    if term is not None:
                        arms.append(term)
            if figures:
                spelling = self.options.numbers or self.options.spelling
                dfa = numbers.automaton(figures, spelling, self.algebra.graph.written)
                if dfa.edges:
                    arms.append(t.Text(dfa))
        except (automata.TooLarge, NumberError) as fault:
            if isinstance(fault, NumberError) and steps is not None:
                raise UnsupportedSchema("multipleOf", steps, str(fault)) from None
            raise SchemaTooLarge(str(fault), path) from None
        if len(words) == 1:
            arms.insert(0, t.Bytes(words.pop()))
        elif words:
            arms.insert(0, t.Words(frozenset(words)))
        return None if not arms else arms[0] if len(arms) == 1 else t.Choice(tuple(arms))

    def _text(self, part: strings.StringSet) -> t.Term | None:
        if part.format is not None:
            found = format_language(part.format, self.encoding)
            assert found is not None
            self.rules.update(found.rules)
            return t.Sequence((t.Bytes(b'"'), found.root, t.Bytes(b'"')))
        if part.pattern is not None:
            inside = regex_term(part.pattern, anchored=False, dialect="ecma", encoding=self.encoding)
            return t.Sequence((t.Bytes(b'"'), inside, t.Bytes(b'"')))
        if part.words is not None:
            return t.Sequence((t.Bytes(b'"'), t.Listed(part.words, self.encoding), t.Bytes(b'"')))
        dfa = strings.minus_words(part.dfa, part.minus)
        if not dfa.edges:
            return None
        if not strings.has_length(dfa, part.low, part.high):
            return None
        text = t.Text(dfa, self.encoding, part.low, part.high)
        return t.Sequence((t.Bytes(b'"'), text, t.Bytes(b'"')))


@small_cache(16)
def _blanks(blanks: int, indent: int) -> t.Text:
    """What may stand between two tokens: some blanks, or a line break and an indentation."""
    if blanks > max(indent + 1, _FEW_BLANKS):
        return t.Text(_BLANK, max_chars=blanks)
    some = min(blanks, MOST_INDENT)
    return t.Text(compile_regex(rf"[ \t\n\r]{{0,{some}}}|\r?\n(?: {{0,{indent}}}|\t{{0,{indent}}})"))


def _around(opening: bytes, inside: t.Term, closing: bytes, blank: t.Text | None) -> t.Term:
    if blank is None:
        return t.Sequence((t.Bytes(opening), inside, t.Bytes(closing)))
    return t.Sequence((t.Bytes(opening), blank, inside, blank, t.Bytes(closing)))


@small_cache(64)
def _any_value(
    scalars: t.Term,
    comma: t.Term,
    colon: t.Term,
    blank: t.Text | None,
    order: Order,
    distinct: bool,
    encoding: t.Encoding,
) -> t.Term:
    """The term of the rule `_ANY`: the same object for all schemas, so that it is compiled once."""
    arm = (t.Arm(t.Rule(_ANY, own=True)),)
    anything = t.Object(
        families=(t.Family(automata.all_words(), arm),),
        order=order,
        distinct=distinct,
        encoding=encoding,
        comma=comma,
        colon=colon,
    )
    items = t.Array(rest=arm, comma=comma)
    return t.Choice((scalars, _around(b"[", items, b"]", blank), _around(b"{", anything, b"}", blank)))


def has_values(algebra: Algebra, options: SchemaOptions, these: Literals, number: int | None) -> bool:
    """Whether so many different values satisfy the literals, without end if None; False if not known."""
    # A value has finitely many texts of these, so they are without end exactly if the values are.
    plain = replace(
        options, spelling="canonical", numbers=None, spacing="canonical", order="declared", distinct=True
    )
    try:
        language = Lowering(algebra, plain).language(these, checked=False)
        if not is_finite(language):
            return True
        if number is None or number > _MOST_COUNTED:
            return False
        return len({canonical(word) for word in shortest_words(language, 4 * number)}) >= number
    except Unsatisfiable:
        return True
    except (automata.TooLarge, NotAValue):
        return False
