"""Requests to fill a hole, their results, and the compiled constraints of holes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from sglc.automata.analysis.emptiness import few_words
from sglc.automata.term import Anything, Bytes, Except, Language, Sequence, Term, Words
from sglc.runtime.decoding.blend import BlendRule, Shares
from sglc.runtime.decoding.watching import Watcher
from sglc.runtime.engine.core.statistics import DraftCounts, Statistics
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.shaping import Shaping
from sglc.runtime.mask.artifact.constraint import TabledConstraint
from sglc.runtime.mask.artifact.places import MaskPlaces
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.decoding import FEW_TEXTS

GREEDY = Sampling()
COMPILED = 512
"""Constraints that a store keeps compiled."""
PASSING = 32
"""Most constraints made from values of the run that are kept compiled: their lists and texts may be large."""


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `tokens` more tokens, and what says so."""

    tokens: int
    source: str
    fatal: bool = False


class Steering(Protocol):
    """Makes a scripted model prefer its answer."""

    def adjust(self, logits: np.ndarray, prefix: bytes, written: bytes) -> np.ndarray:
        """Logits [V] under which the scripted answer is drawn, from those of the model.

        The hole has written `prefix + written` so far; `prefix` stood before its value.
        """


@dataclass(frozen=True, slots=True)
class HoleRequest:
    """What is to be generated. `key` names the language among all of a program's."""

    name: str
    key: Hashable
    language: Language
    passing: bool = False
    """Made from values of the run. Such values seldom come again, so the constraint is kept for a short time
    only."""
    stops: tuple[str, ...] = ()
    end_of_message: bool = True
    excluded: frozenset[bytes] = frozenset()
    budget: Budget | None = None
    whole: Budget | None = None
    """The bound that all texts count against which a strategy tries; `budget` bounds each of them."""
    sampling: Sampling = GREEDY
    seed: int = 0
    blend: BlendRule | None = None
    """How two models share each token; None for one model."""
    shaping: Shaping | None = None
    """A bias and penalties, of holes that one model writes token by token."""
    expected: tuple[int, ...] = ()
    """Tokens that the text may well have: drafts are looked up in them. They change no result."""
    answer: Steering | None = None
    """What a scripted model answers; None leaves it to the model."""
    watcher: Watcher | None = None
    """Who is waited for behind each token that is told, where somebody debugs the run."""

    def answered(self, answer: Steering | None) -> HoleRequest:
        """The same request to a scripted model."""
        return replace(self, answer=answer)


@dataclass(slots=True)
class RemoteWork:
    """What a hole took of a model elsewhere: requests, and the tokens that they were charged with.

    `cached` are those of the prompts that the server had. `counted` says that it told its tokens; else
    `output` are bytes of the answers, of which there are at least as many. `level` is what was guaranteed of
    the answers.
    """

    answered_by: str = ""
    level: str = ""
    requests: int = 0
    prompt: int = 0
    cached: int = 0
    output: int = 0
    counted: bool = True

    def shown(self) -> dict[str, object]:
        """As events tell it."""
        return {
            "reproducible": False,
            "answered_by": self.answered_by,
            "level": self.level,
            "requests": self.requests,
            "usage": {"prompt": self.prompt, "cached": self.cached, "output": self.output},
            **({} if self.counted else {"counted": False}),
        }


@dataclass(slots=True)
class HoleResult:
    """The value's text and what it took. `tokens` is what it occupies of the conversation."""

    text: str
    tokens: int = 0
    sampled: int = 0
    forced: int = 0
    logprob: float = 0.0
    pressure: float | None = None
    """Sum of -log of the probability that the model gave the legal tokens, over the tokens that were drawn,
    in nats; None where it was not measured. Forced text counts nothing."""
    ended: str = "complete"
    prompt: int = 0
    """Tokens of the conversation before the hole; 0 where the model was not asked."""
    behind: int = 0
    """Of these, tokens of constant text behind inserted values, if the hole is its conversation's first."""
    work: Statistics = field(default_factory=Statistics, compare=False)
    """What the engine did for the hole."""
    first: float = field(default=0.0, compare=False)
    """When the first logits had come, as `time.perf_counter` tells it; 0 for never."""
    picking: int = field(default=0, compare=False)
    """Nanoseconds of this thread spent on masks and on drawing tokens."""
    saved: int = 0
    """Requests that needed no step, as drafts had come true."""
    weighed: int | None = None
    """Choices that the pressure is of; None for all tokens that were drawn."""
    lost: int = 0
    """Tokens that were computed for texts which were not kept."""
    weight: float | None = None
    """Of particles: log of their estimate of the probability that the model writes a legal text."""
    ess: float | None = None
    """Of particles: how many equally weighted ones theirs are worth at the end."""
    ancestors: int | None = None
    """Of particles: how many of the first ones those at the end come from."""
    walks: int | None = None
    """Of exact draws: how many walks there were, the one that was kept included; 0 where all texts were
    scored."""
    bound: float | None = None
    """Of exact draws: log of an upper bound on the probability that the model writes a legal text. Without
    walks it is that probability."""
    score: float | None = None
    """Of beams: log of the text's probability, without the mask."""
    proved: bool | None = None
    """Of beams: whether no other legal text is likelier."""
    scores: Mapping[str, float] | None = None
    """Of options that were scored: their probabilities by their texts, which sum to 1."""
    decode: str = ""
    """The strategy that found the text, as a program writes it; empty for token by token and for what is
    scored as a whole."""
    others: tuple[str, ...] = ()
    """Further texts of one search: the next most probable ones of beams, the next ones of distinct draws."""
    shares: Shares | None = None
    """How two models shared its tokens, on average; None for one model, and where nothing was drawn."""
    drafts: DraftCounts = field(default_factory=DraftCounts, compare=False)
    """Drafted tokens by their source."""
    remote: RemoteWork | None = None
    """What it took of a model elsewhere; None for one of this process."""
    ahead: tuple[str, ...] = ()
    """Texts that the same request gave for the holes that follow in the message, in their order."""

    @property
    def counted(self) -> int:
        """Choices that the pressure is of."""
        return self.sampled if self.weighed is None else self.weighed


@dataclass(slots=True)
class Timing:
    """Nanoseconds of this thread's own work outside of forward passes, one entry a sampled token: mask,
    sampling, bookkeeping. (While branches run side by side, others wait in this time for their passes; where
    tokens are drawn on a device, masks are made while it computes, and count all the same.)"""

    outside: list[int] = field(default_factory=list)


class PathScores(NamedTuple):
    """Sums over the tokens that were drawn: natural log-probabilities, and the pressure of the masks."""

    logprob: float = 0.0
    pressure: float = 0.0

    def after(self, drawn: Sampled) -> PathScores:
        """The sums with one token more."""
        return PathScores(self.logprob + drawn.logprob, self.pressure - drawn.log_mass)


NOTHING_DRAWN = PathScores()


class Observer(Protocol):
    """Hears of every piece of text and every token of a hole as it is generated."""

    detailed: bool
    """Whether `token` is to be called."""
    weighed: bool
    """Whether the pressure of the mask is to be measured."""
    top: int
    """How many of the most probable tokens are to be told with each that is drawn."""

    def piece(self, text: str, forced: bool) -> None:
        """A piece of text was written; `forced` says that no other text was legal there."""

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: tuple[str, int] | None = None) -> None:
        """A token was drawn: what was sampled, its bytes, and how many tokens the mask allowed; the source of
        a draft for this place and its token, if there was one."""

    def walk(self, number: int, data: bytes, weight: float | None, outcome: str) -> None:
        """A walk or a particle has ended with a text, `kept` or otherwise; its log weight, if it has one.
        Called as `token` is."""

    def beams(self, step: int, texts: list[bytes], scores: list[float]) -> None:
        """The beams behind a step, and their scores. Called as `token` is."""


class Silent:
    """An observer that does nothing."""

    detailed = False
    weighed = False
    top = 0

    def piece(self, text: str, forced: bool) -> None:
        """Drop it."""

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: tuple[str, int] | None = None) -> None:
        """Drop it; never called, as `detailed` is False."""

    def walk(self, number: int, data: bytes, weight: float | None, outcome: str) -> None:
        """Drop it; never called, as `detailed` is False."""

    def beams(self, step: int, texts: list[bytes], scores: list[float]) -> None:
        """Drop it; never called, as `detailed` is False."""


def filled_language(
    value: Language,
    stops: tuple[str, ...] | None = None,
    prefix: bytes = b"",
    excluded: frozenset[bytes] = frozenset(),
) -> Language:
    """What a hole of a value's language is filled with: a literal prefix, a value, a stop and anything."""
    root: Term = Except(value.root, excluded) if excluded else value.root
    items: list[Term] = [Bytes(prefix)] if prefix else []
    items.append(root)
    if stops:
        items.append(Words(frozenset(stop.encode() for stop in stops)))
        items.append(Anything())
    return replace(value, root=items[0] if len(items) == 1 else Sequence(tuple(items)))


class Constraints:
    """Compiled constraints of holes, remembered by what they were made from.

    `places` says where constraints may lie that were expanded ahead of time, for `vocabulary`.
    """

    def __init__(self, places: MaskPlaces | None = None, vocabulary: Vocabulary | None = None) -> None:
        self._compiled: dict[Hashable, Constraint | TabledConstraint] = {}
        self._passing: dict[Hashable, Constraint | TabledConstraint] = {}
        self._few: dict[Hashable, int | None] = {}
        self.tries: dict[Hashable, Any] = {}
        """Choice tries of holes by all that they depend on; `strategies.choice_trie` makes and reads them."""
        self._places = places
        self._vocabulary = vocabulary

    def value(self, request: HoleRequest, prefix: bytes = b"") -> Constraint | TabledConstraint:
        """Of the value alone, after a literal prefix."""
        return self._get((request.key, request.excluded, prefix, None), request, prefix, None)

    def keep(self, request: HoleRequest, made: Constraint) -> None:
        """Keep what was compiled elsewhere, as in another thread, for the value of a request without a prefix
        before it."""
        kept, most = (self._passing, PASSING) if request.passing else (self._compiled, COMPILED)
        self._keep(kept, most, (request.key, request.excluded, b"", None), made)

    def hole(self, request: HoleRequest, prefix: bytes = b"") -> Constraint | TabledConstraint:
        """Of the value, a stop and anything after."""
        if not request.stops:
            return self.value(request, prefix)
        key = (request.key, request.excluded, prefix, request.stops)
        return self._get(key, request, prefix, request.stops)

    def longest_of_few(self, request: HoleRequest) -> int | None:
        """Bytes of the longest text of a hole that has at most FEW_TEXTS, those that are excluded among them;
        None where it has more."""
        if request.key in self._few:
            return self._few[request.key]
        found = few_words(request.language, FEW_TEXTS)
        longest = None if found is None else max(map(len, found), default=0)
        if not request.passing:
            if len(self._few) >= COMPILED:
                self._few.pop(next(iter(self._few)))
            self._few[request.key] = longest
        return longest

    def _get(
        self, key: Hashable, request: HoleRequest, prefix: bytes, stops: tuple[str, ...] | None
    ) -> Constraint | TabledConstraint:
        kept, most = (self._passing, PASSING) if request.passing else (self._compiled, COMPILED)
        found = kept.get(key)
        if found is not None:
            return found
        language = filled_language(request.language, stops, prefix, request.excluded)
        made: Constraint | TabledConstraint | None = None
        if not request.excluded and self._places is not None and self._vocabulary is not None:
            made = self._places.find(language, self._vocabulary)
        if made is None:
            made = compile_constraint(language=language)
        self._keep(kept, most, key, made)
        return made

    @staticmethod
    def _keep(
        kept: dict[Hashable, Constraint | TabledConstraint],
        most: int,
        key: Hashable,
        made: Constraint | TabledConstraint,
    ) -> None:
        if key not in kept and len(kept) >= most:
            kept.pop(next(iter(kept)))
        kept[key] = made
