"""Descriptions of byte languages: small frozen terms, the contract between constraints and masks.

Every constraint (type, choice, regex, JSON Schema, grammar) becomes one `Language`: a root
term and named rules. The mask engine reads these terms and nothing else; it makes its automaton from them
lazily. A term says what is accepted, never how.

Invariants: every `Text` automaton is trimmed (each state reaches acceptance), every rule is productive, so
no term but `Nothing` is empty unless counts contradict it; `sglc.automata.analysis.emptiness` decides that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from sglc.immutable import value

Encoding = Literal["raw", "json", "json-any"]
"""How characters become bytes: `raw` is UTF-8; `json` is the inside of a JSON string in its one canonical
spelling: UTF-8 with `"` as `\\"`, `\\` as `\\\\` and control characters U+0000-U+001F as json.dumps writes
them (`\\n`, `\\u0001`); `json-any` is every legal spelling inside a JSON string (RFC 8259 section 7): the
character itself where it needs no escape, a short escape where there is one (`\\/` too), `\\uXXXX` in either
case of hexadecimal digits, a surrogate pair for characters above U+FFFF."""

MOST_COUNTED = 1 << 24
"""A text of so many characters, items, entries or rounds can still be completed. What asks for more at least
is refused where it is read; what allows more at most is kept as it is."""


@value
class CharDfa:
    """A trimmed deterministic automaton over Unicode code points; state 0 is the start.

    `edges[s]` are (low, high, target) with both code points included, sorted and disjoint; surrogates never
    occur. A language with no words at all has no states (`edges` is empty).
    """

    edges: tuple[tuple[tuple[int, int, int], ...], ...]
    accepting: frozenset[int]
    kinds: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """By state, where whoever made the automaton knows: the edges of states of one kind have the same
    characters, in order, and equal targets at the same places."""


@value
class CharNfa:
    """A trimmed automaton over code points that is not deterministic.

    `edges[s]` are sorted (low, high, g): a character of the range leads to all the states of `groups[g]`.
    Group 0 are the states at the start. Every state is reached and reaches acceptance.
    """

    edges: tuple[tuple[tuple[int, int, int], ...], ...]
    groups: tuple[tuple[int, ...], ...]
    accepting: frozenset[int]


@value
class Nothing:
    """The empty language."""


@value
class Anything:
    """Every byte string, valid UTF-8 or not."""


@value
class Bytes:
    """Exactly these bytes; `Bytes(b"")` is the empty word."""

    data: bytes


@value
class Text:
    """Words of `dfa` with `min_chars` to `max_chars` characters (None is unbounded), written in `encoding`.

    Characters are counted before encoding. Prefixes from which the count can no longer be met are dead.
    """

    dfa: CharDfa
    encoding: Encoding = "raw"
    min_chars: int = 0
    max_chars: int | None = None


@value
class Pattern:
    """Words of `nfa`, written in `encoding`; for patterns whose deterministic automaton would be too large.

    It is made deterministic as far as texts go.
    """

    nfa: CharNfa
    encoding: Encoding = "raw"


@value
class NotBefore:
    """The empty word, where the text ends or its next character is in none of the ranges (code points).

    So a lexer's longest match can be told from a shorter one: `if` is a keyword where no letter follows. What
    follows must be able to begin with another character, or to be empty.
    """

    forbidden: tuple[tuple[int, int], ...]


@value
class Sequence:
    items: tuple[Term, ...]


@value
class Choice:
    arms: tuple[Term, ...]


@value
class Repeat:
    """`minimum` to `maximum` (None: any number of) items with `separator` between them."""

    item: Term
    minimum: int = 0
    maximum: int | None = None
    separator: bytes = b""


@value
class Words:
    """A finite set of byte strings (choices); kept as a trie, fit for 100,000 of them."""

    words: frozenset[bytes]


@value
class Listed:
    """A finite set of texts, written in `encoding`; fit for 100,000 of them."""

    texts: frozenset[str]
    encoding: Encoding = "raw"


@value
class Except:
    """The language of `item` without a finite set of words."""

    item: Term
    words: frozenset[bytes]


@value
class Rule:
    """The term of that name in the language's rules. Every recursion passes at least one byte first.

    A rule is of its `own` if its term asks for no other one and is not empty, and many languages have it.
    """

    name: str
    own: bool = field(default=False, compare=False)


@value
class Counter:
    """How often something may happen inside one array or object."""

    minimum: int = 0
    maximum: int | None = None


@value
class Arm:
    """One way to fill a place in an array or object; the counters (by index) go up by one when it is taken.

    Arms of a place may overlap: a text is legal if some choice of arms satisfies all counters.
    """

    term: Term
    counts: tuple[int, ...] = ()


@value
class Array:
    """The inside of a JSON array: items joined by `comma`; item i is one of `places[i]`, others of `rest`.

    A place without arms cannot be filled. `minimum` and `maximum` count all items. `distinct`: items are JSON
    texts, and no two of them mean equal values (`sglc.automata.json.text.canonical`). Then there are no
    counters, item i is one of more than i values, and no item holds another such array.
    """

    places: tuple[tuple[Arm, ...], ...] = ()
    rest: tuple[Arm, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    counters: tuple[Counter, ...] = ()
    comma: Term = Bytes(b", ")
    distinct: bool = False


@value
class Property:
    """A key that is known by name, and what its value may be. No arms: the key must not occur."""

    name: str
    arms: tuple[Arm, ...]


@value
class Family:
    """Keys that are known by a pattern, and what their values may be."""

    keys: CharDfa
    arms: tuple[Arm, ...]


Clause = frozenset[tuple[int, bool]]
"""A disjunction over the properties (by index) that are present (True) or absent (False) in the end."""


@value
class Object:
    """The inside of a JSON object: entries `"key"` `colon` value joined by `comma`, no property twice.

    Names of `properties` are distinct, and no key belongs to two families. A key that is the name of a
    property belongs to that property only; a family that has such a key must be endless (`dfa.is_endless`),
    so that it matters nowhere but there. Keys that belong to none cannot occur. `minimum` and `maximum` count
    all entries. All `clauses` hold of the finished object (a required property is a clause of its own). With
    order `declared` properties come in their order and entries of families after them; with `any` all entries
    come in any order. `distinct`: no key of a family occurs twice either. The quotes of keys belong to this
    term; `encoding` is theirs.
    """

    properties: tuple[Property, ...] = ()
    families: tuple[Family, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    clauses: tuple[Clause, ...] = ()
    counters: tuple[Counter, ...] = ()
    order: Literal["declared", "any"] = "declared"
    distinct: bool = False
    encoding: Encoding = "json"
    comma: Term = Bytes(b", ")
    colon: Term = Bytes(b": ")


@value
class Span:
    """Every substring of `text` with `min_chars` to `max_chars` characters, written in `encoding`."""

    text: str
    encoding: Encoding = "raw"
    min_chars: int = 0
    max_chars: int | None = None


Term = (
    Nothing
    | Anything
    | Bytes
    | Text
    | Sequence
    | Choice
    | Repeat
    | Words
    | Except
    | Rule
    | Array
    | Object
    | Span
    | NotBefore
    | Pattern
    | Listed
)


def parts(term: Term) -> tuple[Term, ...]:
    """The terms that a term is directly made of; a rule that it asks for is none."""
    match term:
        case Sequence(items) | Choice(items):
            return items
        case Repeat(item) | Except(item):
            return (item,)
        case Array():
            return (*(arm.term for arms in (*term.places, term.rest) for arm in arms), term.comma)
        case Object():
            keyed: tuple[Property | Family, ...] = (*term.properties, *term.families)
            return (*(arm.term for part in keyed for arm in part.arms), term.comma, term.colon)
    return ()


class LateRules(Mapping[str, Term]):
    """Rules whose terms are made when they are asked for.

    Whoever makes them has found that each has a word and reads a byte before it calls itself.
    """

    def __bool__(self) -> bool:
        """Whether rules may be meant at all. To know how many there are, all would have to be made."""
        return True

    @abstractmethod
    def may_be_empty(self, name: str) -> bool:
        """Whether the empty word is one of a rule's, which need not be made for that."""

    @abstractmethod
    def first_bytes(self, name: str) -> int:
        """At least the bytes with which words of a rule begin, as bits."""

    @abstractmethod
    def all_first_bytes(self) -> int:
        """At least the bytes with which any text begins that is no rule."""


@value
class Language:
    """The texts of a term with its rules.

    grammar  whether it was written as a context-free grammar: how masks of it are found best, no part of
             what it means
    """

    root: Term
    rules: Mapping[str, Term] = field(default_factory=dict)
    grammar: bool = field(default=False, compare=False)
