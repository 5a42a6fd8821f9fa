"""Descriptions of byte languages: small frozen terms, the contract between constraints and masks.

Every constraint (type, choice, regex, later JSON Schema and grammars) becomes one `Language`: a root
term and named rules. The mask engine reads these terms and nothing else; it makes its automaton from them
lazily. A term says what is accepted, never how.

Invariants: every `Text` automaton is trimmed (each state reaches acceptance), every rule is productive, so
no term but `Nothing` is empty unless counts contradict it; `sglc.automata.emptiness` decides that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Encoding = Literal["raw", "json"]
"""How characters become bytes: `raw` is UTF-8; `json` is the inside of a JSON string in its one canonical
spelling: UTF-8 with `"` as `\\"`, `\\` as `\\\\` and control characters U+0000-U+001F as json.dumps writes
them (`\\n`, `\\u0001`)."""


@dataclass(frozen=True, slots=True)
class CharDfa:
    """A trimmed deterministic automaton over Unicode code points; state 0 is the start.

    `edges[s]` are (low, high, target) with both code points included, sorted and disjoint; surrogates never
    occur. A language with no words at all has no states (`edges` is empty).
    """

    edges: tuple[tuple[tuple[int, int, int], ...], ...]
    accepting: frozenset[int]


@dataclass(frozen=True, slots=True)
class Nothing:
    """The empty language."""


@dataclass(frozen=True, slots=True)
class Anything:
    """Every byte string, valid UTF-8 or not."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """Exactly these bytes; `Bytes(b"")` is the empty word."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Text:
    """Words of `dfa` with `min_chars` to `max_chars` characters (None is unbounded), written in `encoding`.

    Characters are counted before encoding. Prefixes from which the count can no longer be met are dead.
    """

    dfa: CharDfa
    encoding: Encoding = "raw"
    min_chars: int = 0
    max_chars: int | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    arms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`minimum` to `maximum` (None: any number of) items with `separator` between them."""

    item: Term
    minimum: int = 0
    maximum: int | None = None
    separator: bytes = b""


@dataclass(frozen=True, slots=True)
class UniqueKeys:
    """A JSON object's inside: `minimum` to `maximum` entries `key` `: ` `value` joined by `, `, keys differ.

    `key` describes the key between its quotes (a json-encoded Text); the quotes belong to this term.
    """

    key: Text
    value: Term
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """A finite set of byte strings (choices); kept as a trie, fit for 100,000 of them."""

    words: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class Except:
    """The language of `item` without a finite set of words."""

    item: Term
    words: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class Rule:
    """The term of that name in the language's rules. Every recursion passes at least one byte first."""

    name: str


Term = (
    Nothing | Anything | Bytes | Text | Sequence | Choice | Repeat | UniqueKeys | Words | Except | Rule
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Language:
    root: Term
    rules: Mapping[str, Term] = field(default_factory=dict)
