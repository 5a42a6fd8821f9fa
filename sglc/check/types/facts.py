"""Facts about types that holes depend on: is there a value, is there a longest one, how short can one be,
can a value go on after it is complete.

Cheap structural arguments decide almost always; an automaton is built only where a pattern takes part. Every
answer is kept per program.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from sglc.automata.analysis.emptiness import few_words, is_finite, shortest
from sglc.automata.dfa import operations as dfa
from sglc.automata.term import Language
from sglc.check.core.context import ProgramState
from sglc.check.core.result import ExpressionType
from sglc.check.types.kinds import as_written, conditions, expand
from sglc.types.dependent import given_types
from sglc.types.json_values import is_self_ended
from sglc.types.language.language import language
from sglc.types.type import (
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    EnumType,
    Float,
    InForm,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    OpenType,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    UnionType,
)

if TYPE_CHECKING:
    from sglc.types.forms.shape import FormError

T = TypeVar("T")

LARGE = 10**18
MOST_WORDS = 1001
"""Most values of a range of integers that count as few, and so of any type with a condition."""
BYTES_PER_TOKEN = 16
"""What one token is taken to hold at most when a budget is refused: generous, so that no budget that can be
met is refused."""


Sizes = Callable[[str, bool], int | None]
"""The bytes of the shortest value of a declared type, as raw or JSON text; None where none is known."""


class _Sizes:
    """The sizes of the declared types that a type leads to, as a least fixed point.

    A type is looked at again where the size of one in it has become known or smaller, so that types that
    share parts, or contain each other, need no more than the sum of their parts.
    """

    def __init__(self, facts: TypeFacts) -> None:
        self.facts = facts
        self.known: dict[tuple[str, bool], int | None] = {}
        self.readers: dict[tuple[str, bool], dict[tuple[str, bool], None]] = {}
        self.waiting: deque[tuple[str, bool]] = deque()
        self.due: set[tuple[str, bool]] = set()
        self.reader: tuple[str, bool] | None = None

    def of(self, type: Type, raw: bool) -> int | None:
        self.facts.bytes_of(type, raw, self.size)
        while self.waiting:
            key = self.reader = self.waiting.popleft()
            self.due.remove(key)
            size = self.facts.declared_bytes(*key, self.size)
            if size != self.known[key]:
                self.known[key] = size
                for reader in self.readers.get(key, ()):
                    self.look_at(reader)
        self.reader = None
        return self.facts.bytes_of(type, raw, self.size)

    def size(self, name: str, raw: bool) -> int | None:
        key = (name, raw)
        if self.reader is not None:
            self.readers.setdefault(key, {})[self.reader] = None
        if key not in self.known:
            self.known[key] = None
            self.look_at(key)
        return self.known[key]

    def look_at(self, key: tuple[str, bool]) -> None:
        if key not in self.due:
            self.due.add(key)
            self.waiting.append(key)


class TypeFacts:
    """Facts are asked of sound types; of others they are guesses."""

    def __init__(self, program: ProgramState) -> None:
        self.program = program
        self.table = program.table
        self.memo = program.memo
        self._bounded: set[str] = set()
        """Declared types whose values have a longest one, whatever contains them."""

    def begin(self) -> None:
        """Forget what was found of another program."""
        self._bounded.clear()

    def _once(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """What `make` answers, asked once for each key in a program."""
        if key not in self.memo:
            self.memo[key] = make()
        found: T = self.memo[key]
        return found

    # -- soundness ---------------------------------------------------------------------------------

    def sound(self, type: ExpressionType) -> bool:
        """Whether no faulty part was found in it, so that its language can be built."""
        key = ("sound", type)
        known = self.memo.get(key)
        if known is None:
            known = self._sound(type, set())
            if known and isinstance(written := as_written(type, self.table), InForm):
                known = self.form_fault(written) is None
            self.memo[key] = known
        return known

    def _sound(self, type: ExpressionType, seen: set[str]) -> bool:
        match type:
            case Str() | Int() | Dec() | Float() | Bool() | Null() | Constant() | OneOf() | SpanOf() | Json():
                return True
            case Applied(name):
                return name not in self.program.broken
            case ListOf(item) | Optional(item) | InForm(item):
                return self._sound(item, seen)
            case MapOf(key, value):
                return self._sound(key, seen) and self._sound(value, seen)
            case TupleOf(items) | Alternatives(items):
                return all(self._sound(item, seen) for item in items)
            case Named(name):
                if name in seen:
                    return True
                seen.add(name)
                declared = self.table.get(name)
                if declared is None or name in self.program.broken:
                    return False
                return all(self._sound(part, seen) for part in self.parts(name))
        return False

    def form_fault(self, type: InForm) -> FormError | None:
        """Why a sound type has not its form (a FormError); None if it has it."""
        from sglc.types.language.form_faults import form_fault

        return self._once(("form", type), lambda: form_fault(type, self.table))

    def parts(self, name: str) -> list[Type]:
        """Types that a declared type directly consists of."""
        declared = self.table[name]
        if isinstance(declared, RecordType):
            return [field.type for field in declared.fields]
        if isinstance(declared, UnionType):
            return [field.type for variant in declared.variants for field in variant.fields]
        if isinstance(declared, EnumType):
            return []
        return [declared.type]

    # -- is there a value --------------------------------------------------------------------------

    def inhabited(self, type: Type) -> bool:
        """Whether a type has a value."""
        return self.shortest_bytes(type) is not None

    def shortest_bytes(self, type: Type, raw: bool = True) -> int | None:
        """Bytes of the shortest value as raw or JSON text; None if there is no value at all."""
        return self._once(("bytes", type, raw), lambda: _Sizes(self).of(type, raw))

    def bytes_of(self, type: Type, raw: bool, named: Sizes) -> int | None:
        """As `shortest_bytes`, where `named` knows the sizes of declared types."""
        quotes = 0 if raw else 2
        match type:
            case Str(given=given) if given:
                return quotes
            case Str():
                if type.grammar or type.patterns or ((type.until or type.excludes) and type.min_chars):
                    size = self._word_size(type)
                    return None if size is None else size + quotes
                return type.min_chars + quotes
            case Json(schema):
                return self._word_size(type) if schema else 1
            case OneOf():
                return quotes
            case SpanOf(_, minimum):
                return minimum + quotes
            case Int() | Dec() | Float():
                return self._number(type)
            case Bool() | Null():
                return 4
            case Constant(value):
                if isinstance(value, str):
                    return len(value.encode()) + quotes
                return len(str(value))
            case InForm(item, form):
                if not raw or form == "json":
                    return self.bytes_of(item, False, named)
                return self._word_size(type) if self.sound(type) else None
            case Optional(item):
                inner = self.bytes_of(item, raw, named)
                return 4 if inner is None else min(4, inner)
            case ListOf(item, minimum):
                if not minimum:
                    return 2
                inner = self.bytes_of(item, False, named)
                return None if inner is None else 2 + minimum * inner + 2 * (minimum - 1)
            case MapOf(key, value, minimum):
                if not minimum:
                    return 2
                plain = expand(key, self.table)
                few = isinstance(plain, Str) and (plain.patterns or (plain.max_chars or 9) <= 2)
                if few and minimum > 1 and self._sound(type, set()):
                    # There may be fewer different keys than entries are due.
                    return self._word_size(type)
                one, two = self.bytes_of(key, False, named), self.bytes_of(value, False, named)
                if one is None or two is None:
                    return None
                return 2 + minimum * (one + 2 + two) + 2 * (minimum - 1)
            case TupleOf(items):
                sizes = [self.bytes_of(item, False, named) for item in items]
                if None in sizes:
                    return None
                return sum(size for size in sizes if size is not None) + 2 * len(items)
            case Alternatives(arms):
                found = [self.bytes_of(arm, raw, named) for arm in arms]
                return min((size for size in found if size is not None), default=None)
            case Named(name) | Applied(name):
                return named(name, raw)
        return None

    def declared_bytes(self, name: str, raw: bool, named: Sizes) -> int | None:
        """Bytes of the shortest text of a declared type, `raw` without quotes; None if it has no value."""
        declared = self.table.get(name)
        match declared:
            case EnumType():
                quotes = 0 if raw else 2
                return min((len(member) for member in declared.members), default=None) and (
                    min(len(member) for member in declared.members) + quotes
                )
            case RecordType():
                return self._record(declared, 0, named)
            case UnionType():
                sizes = []
                for variant in declared.variants:
                    size = self._record(variant, len('"type": ""') + len(variant.name), named)
                    if size is not None:
                        sizes.append(size)
                return min(sizes, default=None)
            case None:
                return None
        if declared.where is not None and self.sound(Named(name)):
            size = self._word_size(Named(name))
            return size if size is None or raw else size + 2 * self._is_quoted(declared.type)
        return self.bytes_of(declared.type, raw, named)

    def _is_quoted(self, type: Type) -> bool:
        """Whether a value has quotes inside JSON that it has not in a hole, as far as that is sure."""
        plain = expand(type, self.table)
        return isinstance(plain, Str) or (isinstance(plain, Named) and self.words(plain) is not None)

    def _record(self, record: RecordType, start: int, named: Sizes) -> int | None:
        total, entries = 2 + start, 1 if start else 0
        sizes: list[int | None] = []
        for field in record.fields:
            if field.optional or field.has_default:
                continue
            sizes.append(self.bytes_of(field.type, False, named))
            total += len(field.name) + 4
            entries += 1
        if None in sizes:
            return None
        return total + sum(size for size in sizes if size is not None) + 2 * max(0, entries - 1)

    def _number(self, type: Int | Dec | Float) -> int | None:
        low: int | Decimal | None = type.minimum
        high: int | Decimal | None = type.maximum
        if low is not None and high is not None and low > high:
            return None
        narrow = low is not None and high is not None and high - low < 1
        large = any(bound is not None and not -LARGE < bound < LARGE for bound in (low, high))
        if large or (narrow and not isinstance(type, Int)):
            # Digits are limited: the automaton tells whether one of the numbers can be written.
            return self._word_size(type)
        if low is not None and low > 0:
            return len(str(int(low)))
        if high is not None and high < 0:
            return len(str(int(-high))) + 1
        return 1

    def shortest_word(self, type: Type) -> bytes | None:
        """The shortest text of a type as it stands in a hole, by its automaton; None if there is none.

        Raises TooLong.
        """
        return self._once(("word", type), lambda: shortest(self.language(type)))

    def _word_size(self, type: Type) -> int | None:
        """The bytes of that text, or about the fewest that it has if it is too long to be looked at."""
        try:
            word = self.shortest_word(type)
        except dfa.TooLong:
            return dfa.LONGEST_WORD
        return None if word is None else len(word)

    def language(self, type: Type) -> Language:
        """The texts of a type as it stands in a hole, made once. Raises what `language` does."""
        plain: Any = type if conditions(type, self.table) else as_written(type, self.table)
        return self._once(("language", plain), lambda: self._language(plain))

    def _language(self, type: Type) -> Language:
        if isinstance(type, InForm) and given_types(type):
            from sglc.types.language.form_faults import open_language

            return open_language(type, self.table)
        return language(type, self.table)

    def count(self, type: Type, most: int) -> int | None:
        """How many texts a type has in a hole; None where there are more than `most`."""
        found = self._once(("count", type, most), lambda: few_words(self.language(type), most))
        return None if found is None else len(found)

    # -- is there a longest value ------------------------------------------------------------------

    def unbounded(self, type: ExpressionType) -> str | None:
        """Why values of the type can be of any length; None if they cannot."""
        return self._once(("unbounded", type), lambda: self._unbounded(type, "", ()))

    def _unbounded(self, type: ExpressionType, where: str, open_: tuple[str, ...]) -> str | None:
        at = f" in `{where}`" if where else ""
        match type:
            case Str():
                if type.grammar:
                    finite = is_finite(self.language(type))
                    return None if finite else f"the grammar{at} has texts of any length"
                if type.max_chars is not None:
                    return None
                if type.patterns and any(_without_loops(p) for p in type.patterns):
                    return None
                if type.patterns and is_finite(self.language(type)):
                    return None
                if type.patterns:
                    return f"the pattern{at} matches texts of any length"
                return f"`str`{at} has no longest text"
            case Json(schema):
                if schema and is_finite(self.language(type)):
                    return None
                return f"the schema{at} allows texts of any length" if schema else f"`json`{at} has no bound"
            case ListOf(item, _, maximum):
                if maximum is None:
                    return f"the list{at} has no most items"
                return self._unbounded(item, where, open_)
            case MapOf(key, value, _, maximum):
                if maximum is None:
                    return f"the map{at} has no most entries"
                return self._unbounded(key, where, open_) or self._unbounded(value, where, open_)
            case TupleOf(items) | Alternatives(items):
                for item in items:
                    found = self._unbounded(item, where, open_)
                    if found:
                        return found
                return None
            case Optional(item) | InForm(item):
                return self._unbounded(item, where, open_)
            case Applied(name):
                if name in open_:
                    return f"`{name.rsplit('.', 1)[-1]}` contains itself{at}, to any depth"
                return self._declared_unbounded(
                    name, where, (*open_, name), self.program.open_types[name].opened
                )
            case Named(name):
                short = name.rsplit(".", 1)[-1]
                if name in open_:
                    return f"`{short}` contains itself{at}, to any depth"
                if name in self._bounded:
                    return None
                found = self._declared_unbounded(name, where, (*open_, name))
                if found is None:
                    self._bounded.add(name)
                return found
        return None

    def _declared_unbounded(
        self, name: str, where: str, open_: tuple[str, ...], opened: OpenType | None = None
    ) -> str | None:
        declared = self.table.get(name) if opened is None else opened.declared
        short = name.rsplit(".", 1)[-1]
        match declared:
            case RecordType():
                return self._fields(declared, where or short, open_)
            case UnionType():
                for variant in declared.variants:
                    found = self._fields(variant, f"{short}.{variant.name}", open_)
                    if found:
                        return found
                return None
            case EnumType() | None:
                return None
        found = self._unbounded(declared.type, where, open_)
        if (
            found
            and opened is None
            and declared.where is not None
            and name not in open_[:-1]
            and self.sound(Named(name))
        ):
            return None if is_finite(self.language(Named(name))) else found
        return found

    def _fields(self, record: RecordType, where: str, open_: tuple[str, ...]) -> str | None:
        for field in record.fields:
            found = self._unbounded(field.type, f"{where}.{field.name}", open_)
            if found:
                return found
        return None

    # -- where a value ends ------------------------------------------------------------------------

    def words(self, type: ExpressionType) -> list[str] | None:
        """All values as raw text, where they are few and finite by declaration; None otherwise."""
        plain = as_written(type, self.table)
        if any(alias.where is not None for alias in conditions(type, self.table)):
            if self.words(plain) is None:
                return None
            return [word.decode() for word in few_words(self.language(type), MOST_WORDS) or ()]  # type: ignore[arg-type]
        match plain:
            case Bool():
                return ["true", "false"]
            case Null():
                return ["null"]
            case Constant(value):
                return [_raw(value)]
            case Named(name):
                declared = self.table.get(name)
                return list(declared.members) if isinstance(declared, EnumType) else None
            case Optional(item):
                inner = self.words(item)
                return None if inner is None else [*inner, "null"]
            case Alternatives(arms):
                found: list[str] = []
                for arm in arms:
                    inner = self.words(arm)
                    if inner is None:
                        return None
                    found.extend(inner)
                return found
            case Int(low, high, step):
                if low is not None and high is not None and high - low <= 1000:
                    return [str(n) for n in range(low, high + 1) if not step or n % step == 0]
        return None

    def ends_by_itself(self, type: Type) -> bool:
        """Whether no value is the beginning of another one, so that no stop is needed."""
        return self._once(("ends", type), lambda: self._ends(type))

    def _ends(self, type: Type) -> bool:
        plain = as_written(type, self.table)
        match plain:
            case InForm(item, "json"):
                inner = expand(item, self.table)
                return not isinstance(inner, Int | Dec | Float | Optional | Alternatives)
            case InForm(form=form):
                return form == "xml"
            case ListOf() | MapOf() | TupleOf():
                return True
            case Json():
                return is_self_ended(plain)
            case Applied(name):
                return isinstance(self.table.get(name), RecordType | UnionType)
            case Named(name):
                if not isinstance(self.table.get(name), EnumType):
                    return True
        words = self.words(type)
        if words is not None:
            ordered = sorted(words)
            return not any(b.startswith(a) and a != b for a, b in pairwise(ordered))
        return False


def _raw(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _without_loops(pattern: str) -> bool:
    """Whether a pattern surely matches no text without a longest: no `*`, `+` or `{n,}` stands in it."""
    index, in_class = 0, False
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "*+":
            return False
        elif char == "{":
            end = pattern.find("}", index)
            if end < 0 or pattern[index:end].endswith(","):
                return False
        index += 1
    return True
