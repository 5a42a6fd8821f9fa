"""Constraints: anything that says which texts are legal, compiled to one start configuration."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sglc.automata.pause import without_collection
from sglc.automata.term import Language, Words
from sglc.runtime.mask import character_leaf, leaf
from sglc.runtime.mask.account import Account, ConstraintOptions
from sglc.runtime.mask.compiler import Compiler
from sglc.runtime.mask.errors import ConstraintError, UnsupportedConstraint
from sglc.runtime.mask.joining import JoiningMachine
from sglc.runtime.mask.machine import Machine
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.node import DEAD, END
from sglc.runtime.mask.preparation import prepare
from sglc.runtime.mask.store import MaskStore
from sglc.runtime.mask.vocabulary import Vocabulary

if TYPE_CHECKING:
    from sglc.automata.regex_dialect import DialectName
    from sglc.grammar.language import GrammarOptions
    from sglc.grammar.model import Grammar
    from sglc.schema.options import SchemaOptions
    from sglc.types.type import Type, TypeTable

_RENEW_AT_BYTES = 64 << 20
_MOST_BYTES_OF_ONE = 256 << 20
"""A machine that mostly one constraint fills is kept until it has so many bytes."""
_MOST_VOCABULARIES = 8
_FEW_MATCHERS = 16
"""A machine that is full after so many matchers is full with the constraint itself."""


class _Shop:
    """A machine with its compiler and mask stores; constraints made at about the same time share one."""

    def __init__(self, options: ConstraintOptions) -> None:
        self.options = options
        self.machine: Machine = JoiningMachine()
        self.compiler = Compiler(self.machine, options.max_depth, options.max_terms)
        self._stores: OrderedDict[str, MaskStore] = OrderedDict()
        self._rows_before = leaf.allocated + character_leaf.allocated
        self.matchers = 0
        """How many there have been, of all constraints."""

    def store(self, vocabulary: Vocabulary) -> MaskStore:
        found = self._stores.get(vocabulary.digest)
        if found is None:
            found = self._stores[vocabulary.digest] = MaskStore(
                self.machine, vocabulary, self.options.mask_bytes
            )
            if len(self._stores) > _MOST_VOCABULARIES:
                self._stores.popitem(last=False)
        return found

    @property
    def size(self) -> int:
        """Bytes, roughly."""
        tables = sum([store.table_bytes for store in self._stores.values()])
        return self.machine.size + tables + leaf.allocated + character_leaf.allocated - self._rows_before

    def full(self) -> bool:
        return self.size > _RENEW_AT_BYTES


_lock = threading.Lock()
_shops: OrderedDict[ConstraintOptions, _Shop] = OrderedDict()


def _shop(options: ConstraintOptions) -> _Shop:
    """The shop for new matchers; a full one is left to the matchers it has."""
    with _lock:
        shop = _shops.get(options)
        if shop is None or shop.full():
            shop = _shops[options] = _Shop(options)
            if len(_shops) > 8:
                _shops.popitem(last=False)
        return shop


class Constraint:
    """A compiled constraint, shared by all its matchers.

    It moves to a new machine when the old one has grown large, so that a process that runs for long does not
    keep all that it has ever seen.
    """

    def __init__(self, language: Language, options: ConstraintOptions) -> None:
        self.language = language
        self.options = options
        self._enter(_shop(options))

    def _enter(self, shop: _Shop) -> None:
        self._shop = shop
        self.machine = shop.machine
        with self.machine.lock:
            self._account = Account(self.machine, self.options)
            with self._account, without_collection():
                self.start = self.machine.begin(shop.compiler.compile(self.language), END)
        # One constraint may be so large that each machine is full with it.
        self._most = shop.size + _RENEW_AT_BYTES // 2 if shop.full() else _RENEW_AT_BYTES
        self._before = shop.matchers
        self._own = 0
        """Matchers of this constraint on this machine."""

    @property
    def is_empty(self) -> bool:
        """Whether no text at all is legal."""
        return self.start == DEAD

    def matcher(self, vocabulary: Vocabulary) -> Matcher:
        """A matcher at the beginning of a text."""
        if (size := self._shop.size) > self._most:
            every = self._shop.matchers - self._before
            # What a large grammar needs is made as its texts go, and would be made again each time.
            if every <= _FEW_MATCHERS:
                self._most = 2 * size
            elif 2 * self._own > every and size < _MOST_BYTES_OF_ONE:
                self._most = min(2 * size, _MOST_BYTES_OF_ONE)
            else:
                self._enter(_shop(self.options))
        self._shop.matchers += 1
        self._own += 1
        return Matcher(self._shop.store(vocabulary), self.start, self._account)

    def warm_up(self, vocabulary: Vocabulary, seconds: float = 0.020) -> None:
        """Find masks ahead of the first text, for `seconds` at most: those at the places where texts begin
        first. Masks are the same with and without; what is found here, texts find known.

        It ends sooner where nothing is left to be found, or a limit of the constraint is passed, which its
        texts have to themselves. Any thread may do it while others have matchers.
        """
        matcher = self.matcher(vocabulary)
        if not matcher.is_dead():
            prepare(matcher._store, matcher.config, Account(matcher.machine, self.options), seconds)


def compile_constraint(
    *,
    language: Language | None = None,
    type: Type | None = None,
    table: TypeTable | None = None,
    regex: str | None = None,
    dialect: DialectName = "sgl",
    choices: Iterable[str | bytes] | None = None,
    json_schema: Any = None,
    grammar: str | Grammar | None = None,
    schema_options: SchemaOptions | None = None,
    grammar_options: GrammarOptions | None = None,
    options: ConstraintOptions | None = None,
) -> Constraint:
    """Compile one description of legal text (exactly one of them; `table` belongs to `type`, `schema_options`
    to `json_schema`, which is a parsed schema, `grammar_options` to `grammar`, a text in Lark's notation or
    what `sglc.grammar.read.read_grammar` gives).

    A regex matches the whole text, and is read as docs/patterns.md says of its dialect: "sgl", "ecma" or
    "python". Raises ConstraintError for what is malformed or too large and UnsupportedConstraint for what is
    not implemented. A schema that no value satisfies is an error; any other constraint without legal text
    compiles, and its matchers are dead.
    """
    given = [x is not None for x in (language, type, regex, choices, json_schema, grammar)]
    if sum(given) != 1:
        raise TypeError("give exactly one of language, type, regex, choices, json_schema, grammar")
    if dialect not in ("sgl", "ecma", "python"):
        raise ValueError(f"there is no dialect {dialect!r} of regexes: sgl, ecma, python")
    if json_schema is not None:
        language = _schema_language(json_schema, schema_options)
    if grammar is not None:
        language = _grammar_language(grammar, grammar_options)
    if language is not None:
        _check("language", language, Language, "a Language")
    else:
        language = _language(type, table, regex, dialect, choices)
    found = Constraint(language, options or ConstraintOptions())
    if json_schema is not None and found.is_empty:
        raise ConstraintError("no JSON value satisfies the schema", "#")
    return found


def _check(name: str, value: object, kind: object, what: str) -> None:
    if not isinstance(value, kind):  # type: ignore[arg-type]
        raise TypeError(f"{name} must be {what}, not {value!r}")


def _schema_language(schema: Any, options: SchemaOptions | None) -> Language:
    from sglc.schema.compile import compile_schema
    from sglc.schema.errors import SchemaFault, UnsupportedSchema
    from sglc.schema.options import SchemaOptions

    try:
        return compile_schema(schema, options or SchemaOptions())
    except UnsupportedSchema as fault:
        raise UnsupportedConstraint(fault.keyword, fault.path, fault.why) from None
    except SchemaFault as fault:
        raise ConstraintError(fault.reason, fault.path) from None


def _grammar_language(grammar: str | Grammar, options: GrammarOptions | None) -> Language:
    from sglc.grammar.errors import GrammarError
    from sglc.grammar.language import grammar_language
    from sglc.grammar.model import Grammar as AnyGrammar
    from sglc.grammar.read import read_grammar

    _check("grammar", grammar, str | AnyGrammar, "a text or a Grammar")
    try:
        return grammar_language(
            read_grammar(grammar, "lark") if isinstance(grammar, str) else grammar, options
        )
    except GrammarError as fault:
        hint = f" ({fault.hint})" if fault.hint else ""
        raise ConstraintError(
            fault.reason + hint, f"line {fault.line} column {fault.column}" if fault.line else None
        ) from None


def _language(
    type: Type | None,
    table: TypeTable | None,
    regex: str | None,
    dialect: DialectName,
    choices: Iterable[str | bytes] | None,
) -> Language:
    if type is not None:
        from sglc.types.language import language
        from sglc.types.type import Type as AnyType

        _check("type", type, AnyType, "a Type")
        return language(type, table or {})
    if regex is not None:
        from sglc.automata.regex import RegexError
        from sglc.automata.regex_term import regex_term

        _check("regex", regex, str, "a text")
        try:
            return Language(regex_term(regex, dialect=dialect))
        except RegexError as fault:
            raise ConstraintError(fault.reason, fault.position) from None
    if isinstance(choices, str | bytes) or not isinstance(choices, Iterable):
        raise TypeError(f"choices must be several texts, not {choices!r}")
    given = list(choices)
    for word in given:
        _check("a choice", word, str | bytes, "a text or bytes")
    try:
        words = frozenset(word.encode() if isinstance(word, str) else word for word in given)
    except UnicodeEncodeError:
        raise ConstraintError("a choice contains a lone surrogate") from None
    if not words:
        raise ConstraintError("there must be at least one choice")
    return Language(Words(words))
