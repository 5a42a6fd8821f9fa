"""Constraints: anything that says which texts are legal, compiled to one start configuration."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sglc.automata.term import CharDfa, Language, Text, Words
from sglc.runtime.mask.compiler import Compiler
from sglc.runtime.mask.errors import ConstraintError, UnsupportedConstraint
from sglc.runtime.mask.machine import DEAD, END, Machine
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.store import MaskStore
from sglc.runtime.mask.vocabulary import Vocabulary

if TYPE_CHECKING:
    from sglc.types.type import Type, TypeTable

_RENEW_AT_ROWS = 30_000
_RENEW_AT_CONFIGS = 300_000


@dataclass(frozen=True, slots=True)
class ConstraintOptions:
    """Limits of one constraint. What passes them is a ConstraintError, never a slow or large process.

    max_states: configurations that one constraint may add. max_terms, max_depth: size and nesting of its
    description. mask_bytes: memory of the masks kept for one machine and vocabulary.
    """

    max_states: int = 200_000
    max_terms: int = 200_000
    max_depth: int = 150
    mask_bytes: int = 64 << 20


class _Shop:
    """A machine with its compiler and mask stores; constraints made at about the same time share one."""

    def __init__(self, options: ConstraintOptions) -> None:
        self.options = options
        self.machine = Machine()
        self.compiler = Compiler(self.machine, options.max_depth, options.max_terms)
        self._stores: WeakKeyDictionary[Vocabulary, MaskStore] = WeakKeyDictionary()
        self._by_digest: OrderedDict[str, MaskStore] = OrderedDict()

    def store(self, vocabulary: Vocabulary) -> MaskStore:
        found = self._stores.get(vocabulary)
        if found is None:
            found = self._by_digest.get(vocabulary.digest)
            if found is None:
                found = MaskStore(self.machine, vocabulary, self.options.mask_bytes)
                self._by_digest[vocabulary.digest] = found
                if len(self._by_digest) > 8:
                    self._by_digest.popitem(last=False)
            self._stores[vocabulary] = found
        return found

    def full(self) -> bool:
        return self.machine.row_count > _RENEW_AT_ROWS or len(self.machine.configs) > _RENEW_AT_CONFIGS


class Constraint:
    """A compiled constraint; immutable to its users, shared by all its matchers."""

    def __init__(self, shop: _Shop, start: int, options: ConstraintOptions) -> None:
        self.machine = shop.machine
        self.start = start
        self.options = options
        self._shop = shop
        self._seen = len(shop.machine.configs)
        self._made = 0

    @property
    def is_empty(self) -> bool:
        """Whether no text at all is legal."""
        return self.start == DEAD

    def matcher(self, vocabulary: Vocabulary) -> Matcher:
        """A matcher at the beginning of a text."""
        return Matcher(self._shop.store(vocabulary), self.start, self.check)

    def check(self) -> None:
        """Account for states made since the last call. Raises ConstraintError beyond the limit."""
        count = len(self.machine.configs)
        self._made += count - self._seen
        self._seen = count
        if self._made > self.options.max_states:
            raise ConstraintError(f"the constraint needs more than {self.options.max_states} states")


_lock = threading.Lock()
_shops: OrderedDict[ConstraintOptions, _Shop] = OrderedDict()


def compile_constraint(
    *,
    language: Language | None = None,
    type: Type | None = None,
    table: TypeTable | None = None,
    regex: str | None = None,
    choices: Iterable[str | bytes] | None = None,
    json_schema: Any = None,
    grammar: str | None = None,
    options: ConstraintOptions | None = None,
) -> Constraint:
    """Compile one description of legal text (exactly one of them; `table` belongs to `type`).

    A regex matches the whole text. Raises ConstraintError for what is malformed or too large and
    UnsupportedConstraint for what is not implemented. A constraint without any legal text compiles, and its
    matchers are dead.
    """
    given = [x is not None for x in (language, type, regex, choices, json_schema, grammar)]
    if sum(given) != 1:
        raise TypeError("give exactly one of language, type, regex, choices, json_schema, grammar")
    if json_schema is not None:
        raise UnsupportedConstraint("json_schema")
    if grammar is not None:
        raise UnsupportedConstraint("grammar")
    if language is None:
        language = _language(type, table, regex, choices)
    options = options or ConstraintOptions()
    with _lock:
        shop = _shops.get(options)
        if shop is None or shop.full():
            shop = _shops[options] = _Shop(options)
            if len(_shops) > 8:
                _shops.popitem(last=False)
        with shop.machine.lock:
            before = len(shop.machine.configs)
            start = shop.machine.begin(shop.compiler.compile(language), END)
        constraint = Constraint(shop, start, options)
        constraint._seen = before
        constraint.check()
        return constraint


def _language(
    type: Type | None, table: TypeTable | None, regex: str | None, choices: Iterable[str | bytes] | None
) -> Language:
    if type is not None:
        from sglc.types.language import language

        return language(type, table or {})
    if regex is not None:
        from sglc.automata.regex import RegexError, compile_regex

        try:
            dfa: CharDfa = compile_regex(regex)
        except RegexError as fault:
            raise ConstraintError(fault.reason, fault.position) from None
        return Language(Text(dfa))
    assert choices is not None
    try:
        words = frozenset(word.encode() if isinstance(word, str) else bytes(word) for word in choices)
    except UnicodeEncodeError:
        raise ConstraintError("a choice contains a lone surrogate") from None
    if not words:
        raise ConstraintError("there must be at least one choice")
    return Language(Words(words))
