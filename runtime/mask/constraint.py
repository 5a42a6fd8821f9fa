"""Constraints: anything that says which texts are legal, compiled to one start configuration."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sglc.automata.term import Language, Words
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.automaton.limits import COMPILING, ConstraintOptions, LimitTracker, compiling, limited
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import DEAD, END, Node
from sglc.runtime.mask.core.errors import ConstraintError, UnsupportedConstraint
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.mask.warmup import prepare
from sglc.runtime.mask.workspaces import Workspace

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData
    from sglc.automata.regex.dialects import DialectName
    from sglc.cfg.language import GrammarOptions
    from sglc.cfg.model.grammar import Grammar
    from sglc.runtime.mask.explanation import Explanation
    from sglc.schema.core.options import SchemaOptions
    from sglc.types.type import Type, TypeTable

_DEFAULT = ConstraintOptions()
_LARGEST = 16
"""A workspace that mostly one constraint fills is kept until it has so many times the bytes of others: what a
large grammar needs is made as its texts go, and would be made again each time."""


@dataclass(slots=True)
class _Seat:
    """A constraint in a workspace: never a part of one and a part of another."""

    workspace: Workspace
    root: Node
    start: int
    account: LimitTracker
    most: int
    """Bytes of the workspace up to which the constraint stays."""
    before: int
    """Matchers of all constraints when this one came."""
    own: int = 0
    """Matchers of this constraint since then."""


class Constraint:
    """A compiled constraint, shared by all its matchers and all threads.

    It moves to a new workspace when the old one has grown large, so that a process that runs for long does
    not keep all that it has ever seen.
    """

    def __init__(
        self,
        language: Language,
        options: ConstraintOptions,
        source: Callable[[], Language] | None = None,
    ) -> None:
        """`source` makes the language again, which is not kept then: its terms are hundreds of objects."""
        self._language = None if source is not None else language
        self._source = source
        self._has_rules = bool(language.rules)
        self.options = options
        self._lock = threading.Lock()
        """Held while a seat is chosen; the machine's may be taken below it, never above."""
        self._seat = self._take_seat(language)

    @property
    def language(self) -> Language:
        """What it is the constraint of; that of a schema is made again each time."""
        if self._language is not None:
            return self._language
        assert self._source is not None
        with compiling(self.options):
            return self._source()

    def _take_seat(self, language: Language) -> _Seat:
        workspace = workspaces.get(self.options, of_grammars=language.grammar)
        machine = workspace.machine
        with machine.lock:
            account = LimitTracker(machine, self.options)
            with compiling(self.options):
                root = workspace.compiler.compile(language, once=self._source is not None)
                start = machine.begin(root, END)
        # One constraint may be so large that each workspace is full with it.
        budget = workspace.budget
        most = workspace.size + budget // 2 if workspace.full() else budget
        return _Seat(workspace, root, start, account, most, workspace.matchers)

    @property
    def machine(self) -> Machine:
        """The machine of new matchers."""
        return self._seat.workspace.machine

    @property
    def start(self) -> int:
        """The configuration at which new matchers begin."""
        return self._seat.start

    @property
    def is_empty(self) -> bool:
        """Whether no text at all is legal."""
        return self.start == DEAD

    def matcher(self, vocabulary: Vocabulary) -> Matcher:
        """A matcher at the beginning of a text."""
        with self._lock:
            seat = self._seat
            workspace = seat.workspace
            if (size := workspace.size) > seat.most:
                every = workspace.matchers - seat.before
                if 2 * seat.own > every and size < _LARGEST * workspace.budget:
                    seat.most = min(2 * size, _LARGEST * workspace.budget)
                else:
                    seat = self._seat = self._take_seat(self.language)
            seat.own += 1
        return Matcher(seat.workspace.store(vocabulary), seat.start, seat.account)

    def explain(
        self,
        text: str | bytes,
        token: int | str | bytes | None = None,
        vocabulary: Vocabulary | None = None,
        *,
        top: int = 10,
        trace: bool = False,
    ) -> Explanation:
        """Whether a text is legal so far, what may come next and what reads it; and of a token whether it may
        follow, and which of its bytes cannot.

        `token` is an id of the vocabulary, or bytes or a text that need be none of its tokens. With a
        vocabulary it is told how many tokens may come, with the `top` first of them, and with `trace` what
        their mask took. Raises ValueError for an id without a vocabulary or outside of it, and
        ConstraintError where a limit is passed.
        """
        from sglc.runtime.mask.explanation import byte_vocabulary, explain, rules_by_node, with_tokens

        given = _token(token, vocabulary)
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
        matcher = self.matcher(byte_vocabulary())
        rules = {}
        if self._has_rules:
            with matcher.machine.lock:
                rules = rules_by_node(self._seat.root)
        found = explain(matcher, rules, data, given)
        return (
            found
            if vocabulary is None
            else with_tokens(found, self.matcher(vocabulary), vocabulary, top, trace)
        )

    def warm_up(self, vocabulary: Vocabulary, seconds: float = 0.020) -> None:
        """Find masks ahead of the first text, for `seconds` at most: those at the places where texts begin
        first. Masks are the same with and without; what is found here, texts find known.

        It ends sooner where nothing is left to be found, or a limit of the constraint is passed, which its
        texts have to themselves. Any thread may do it while others have matchers.
        """
        matcher = self.matcher(vocabulary)
        if not matcher.is_dead():
            prepare(matcher._store, matcher.config, LimitTracker(matcher.machine, self.options), seconds)


def _token(
    token: int | str | bytes | None, vocabulary: Vocabulary | None
) -> tuple[int | None, bytes | None] | None:
    """(id, bytes) of a token that is asked about."""
    if token is None:
        return None
    if isinstance(token, str | bytes):
        data = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token
        if not data:
            raise ValueError("a token without bytes is never allowed")
        same = None if vocabulary is None else vocabulary.tokens_of(data)
        return (same[0] if same is not None and len(same) == 1 else None), data
    if vocabulary is None:
        raise ValueError(f"token {token} is a number: say of which vocabulary")
    if not 0 <= token < vocabulary.size:
        raise ValueError(f"there is no token {token}: the vocabulary has {vocabulary.size:,}")
    return int(token), vocabulary.token_bytes[token]


def compile_constraint(
    *,
    language: Language | None = None,
    type: Type | None = None,
    table: TypeTable | None = None,
    regex: str | None = None,
    dialect: DialectName = "sgl",
    choices: Iterable[str | bytes] | None = None,
    json_schema: JsonData = None,
    grammar: str | Grammar | None = None,
    schema_options: SchemaOptions | None = None,
    grammar_options: GrammarOptions | None = None,
    options: ConstraintOptions | None = None,
) -> Constraint:
    """Compile one description of legal text (exactly one of them; `table` belongs to `type`, `schema_options`
    to `json_schema`, which is a parsed schema, `grammar_options` to `grammar`, a text in Lark's notation or
    what `sglc.cfg.notation.reader.read_grammar` gives).

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
    options = options or _DEFAULT
    with limited(options.max_work, "max_work", COMPILING):
        source = None
        if json_schema is not None:
            language = _schema_language(json_schema, schema_options)
            source = _schema_source(json_schema, schema_options)
        if grammar is not None:
            language = _grammar_language(grammar, grammar_options)
        if language is not None:
            _check("language", language, Language, "a Language")
        else:
            language = _language(type, table, regex, dialect, choices)
        found = Constraint(language, options, source)
    if json_schema is not None and found.is_empty:
        raise ConstraintError("no JSON value satisfies the schema", "#")
    return found


def _check(name: str, value: object, kind: object, what: str) -> None:
    if not isinstance(value, kind):  # type: ignore[arg-type]
        raise TypeError(f"{name} must be {what}, not {value!r}")


def _schema_language(schema: JsonData, options: SchemaOptions | None) -> Language:
    from sglc.schema.compile import compile_schema
    from sglc.schema.core.errors import SchemaFault, UnsupportedSchema
    from sglc.schema.core.options import SchemaOptions

    try:
        return compile_schema(schema, options or SchemaOptions())
    except UnsupportedSchema as fault:
        raise UnsupportedConstraint(fault.keyword, fault.path, fault.why) from None
    except SchemaFault as fault:
        raise ConstraintError(fault.reason, fault.path) from None


@dataclass(frozen=True, slots=True)
class _SchemaSource:
    """A schema as text, of which the language can be made again."""

    text: str
    options: SchemaOptions | None

    def __call__(self) -> Language:
        return _schema_language(json.loads(self.text), self.options)


def _schema_source(schema: JsonData, options: SchemaOptions | None) -> _SchemaSource | None:
    """None for a schema that is not what its text is read as."""
    try:
        text = json.dumps(schema)
        return _SchemaSource(text, options) if json.loads(text) == schema else None
    except (TypeError, ValueError, RecursionError):
        return None


def _grammar_language(grammar: str | Grammar, options: GrammarOptions | None) -> Language:
    from sglc.cfg.language import grammar_language
    from sglc.cfg.model.errors import GrammarError
    from sglc.cfg.model.grammar import Grammar as AnyGrammar
    from sglc.cfg.notation.reader import read_grammar

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
        from sglc.types.language.language import language
        from sglc.types.type import Type as AnyType

        _check("type", type, AnyType, "a Type")
        return language(type, table or {})
    if regex is not None:
        from sglc.automata.regex.compile import RegexError
        from sglc.automata.regex.to_term import regex_term

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
