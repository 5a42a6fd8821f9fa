"""Random sets of words at seams, and a hole that is filled with them again and again at little cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from random import Random
from re import escape
from typing import Any

import numpy as np

from oracles.token_oracle import TokenOracle, Tokens, Ways
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Language, Text, Words
from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest, HoleResult, Silent, Timing
from sglc.runtime.decoding.strategies.attempt import Attempts
from sglc.runtime.decoding.strategies.choice_trie import LegalTexts, legal_texts
from sglc.runtime.decoding.strategies.exact import ExactDecoder
from sglc.runtime.decoding.strategies.particles import ParticleDecoder
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.engine.scheduling.draft import Draft
from sglc.types.language.language import language
from sglc.types.type import (
    Alternatives,
    Constant,
    DeclaredType,
    EnumType,
    FieldType,
    ListOf,
    Named,
    RecordType,
    Str,
    Type,
)


class Served:
    """Serves a branch from logits at once; drafts change nothing."""

    def __init__(self, logits: Any) -> None:
        self.asked = logits

    async def logits(self, branch: Branch, draft: Draft) -> np.ndarray:
        row: np.ndarray = self.asked(tuple(branch.tokens))
        return row

    async def draw(self, branch: Branch, sampling_request: SamplingRequest, draft: Draft) -> Sampled:
        return sampling_request.sample(await self.logits(branch, draft))

    def forked(self, branch: Branch, copy: Branch) -> None:
        pass

    def released(self, branch: Branch) -> None:
        pass


class Deeper(Exception):
    """The token that was tried has been taken, and another one is asked for."""


class Chooser(Served):
    """Answers the first draws of a hole by a path, and tries the tokens of the next place one by one."""

    def __init__(self, logits: Any, path: Tokens, tried: set[int]) -> None:
        super().__init__(logits)
        self.place: Tokens = ()
        """The tokens before the place that is looked at."""
        self.chosen = -1
        """The token that was tried last."""
        self._path, self._tried = path, tried
        self._depth, self._last = -1, ()

    async def draw(self, branch: Branch, sampling_request: SamplingRequest, draft: Draft) -> Sampled:
        here = tuple(branch.tokens)
        if here != self._last:  # else the token that was tried has been refused
            self._depth, self._last = self._depth + 1, here
        if self._depth > len(self._path):
            raise Deeper
        if self._depth < len(self._path):
            return Sampled(self._path[self._depth], 0.0)
        self.place, self.chosen = here, -1
        bits = np.unpackbits(sampling_request.legal.row().view(np.uint8), bitorder="little")  # type: ignore[union-attr]
        left = [token for token in np.flatnonzero(bits).tolist() if token not in self._tried]
        if not left:
            raise Deeper
        self.chosen = left[0]
        self._tried.add(self.chosen)
        return Sampled(self.chosen, 0.0)


@dataclass(frozen=True)
class SeamCase:
    """A hole behind a prompt: its language, all its values, and the literal text behind it."""

    kind: str
    prompt: str
    described: Language
    values: tuple[str, ...]
    follow: str = ""


class SeamBench:
    """A conversation in which one hole is filled again and again."""

    def __init__(
        self,
        tokenizer: Any,
        logits: Any,
        case: SeamCase,
        *,
        chat: bool = True,
        question: str = "Which one is it?",
        before: str = "",
    ) -> None:
        self.case = case
        self._tokenizer, self._logits = tokenizer, logits
        self._server = Served(logits)
        self._talk = Conversation(
            encoder=Encoder(tokenizer),
            chat=tokenizer.chat if chat else None,
            open_branch=lambda tokens: Branch(self._server, Statistics()),  # type: ignore[arg-type]
        )
        if chat:
            self._talk.role("user")
            self._talk.text(question)
            self._talk.end_role()
            self._talk.role("assistant")
            if before:
                self._talk.text(before)
                self._talk.end_role()
                self._talk.role("assistant")
        if case.prompt:
            self._talk.text(case.prompt)
        self._talk.start()
        self._mark = self._talk.mark()
        self._constraints = Constraints()
        self._request = HoleRequest(
            "f.x",
            "key",
            case.described,
            stops=(case.follow or "\n",),
            end_of_message=not case.follow,
        )

    @cached_property
    def _ways(self) -> tuple[TokenOracle, Tokens, Ways]:
        oracle = TokenOracle(self._tokenizer, self._logits)
        self._talk.restore(self._mark)
        stretch, whole = self._talk.state.stretch, self._talk.tokens()
        before = whole[: len(whole) - len(self._tokenizer.encode(stretch))]
        return oracle, before, oracle.ways(stretch, self.case.values, self.case.follow)

    @cached_property
    def exact(self) -> dict[str, float]:
        """The probability of each value by the oracle."""
        oracle, before, ways = self._ways
        return oracle.exact(before, ways)

    @cached_property
    def conditioned(self) -> dict[str, float]:
        """The probability of each value given that one is written, by the oracle."""
        oracle, before, ways = self._ways
        return oracle.conditioned(before, ways)

    async def walked(self, seed: int, tree: PrefixTree) -> HoleResult:
        """One value by walks of `decode exact`."""
        return await ExactDecoder(self._attempts(seed), 10_000, tree).run()

    async def known(self) -> LegalTexts | None:
        """All values and their probabilities, of a new trie; None where it is too large."""
        self._constraints.tries.clear()
        attempts = self._attempts(0)
        with attempts.begun() as root:
            return None if root is None else await legal_texts(attempts, root, 1.0)

    async def weighed(self, seed: int, count: int) -> HoleResult:
        """One value by particles of `decode smc`."""
        return await ParticleDecoder(self._attempts(seed), count).run()

    def _attempts(self, seed: int) -> Attempts:
        from dataclasses import replace

        self._talk.restore(self._mark)
        request = replace(self._request, sampling=Sampling(1.0), seed=seed)
        vocabulary = self._tokenizer.vocabulary()
        return Attempts(self._talk, vocabulary, self._constraints, request, Silent(), 1 << 20, lambda: None)

    @cached_property
    def likeliest(self) -> str:
        """The value at the end of the likelier branches, by the oracle."""
        oracle, before, ways = self._ways
        return oracle.greedy(before, ways)

    @property
    def opening(self) -> str:
        """What the chat template has written before the open message, since its last special token."""
        return self._mark.stretch[: self._mark.content]

    @property
    def request(self) -> HoleRequest:
        """What the decoder is asked for."""
        return self._request

    def all_results(self) -> list[HoleResult]:
        """The results of all ways in which a model may fill the hole, each way once: its draws are tried out
        place by place."""
        found: list[HoleResult] = []
        waiting: list[Tokens] = [()]
        while waiting:
            path = waiting.pop()
            tried: set[int] = set()
            while True:
                chooser = self._server = Chooser(self._logits, path, tried)
                self._talk.close()
                try:
                    result = self.fill(Sampling(1.0))
                except Deeper:
                    if chooser.chosen < 0:
                        break
                    waiting.append((*path, chooser.chosen))
                    continue
                found.append(result)
                if not chooser.place:  # nothing was asked
                    return found
        self._server = Served(self._logits)
        self._talk.close()
        return found

    def fill(self, sampling: Sampling, seed: int = 0, budget: Budget | None = None) -> HoleResult:
        """One value."""
        from dataclasses import replace

        self._talk.restore(self._mark)
        decoder = HoleDecoder(
            self._talk,
            self._tokenizer.vocabulary(),
            self._constraints,
            replace(self._request, sampling=sampling, seed=seed, budget=budget),
            Silent(),
            Timing(),
            1 << 20,
            lambda: None,
        )
        running = decoder.run()
        try:
            running.send(None)
        except StopIteration as done:
            result: HoleResult = done.value
            return result
        raise AssertionError("nothing of it waits")

    def distribution(self) -> dict[str, float]:
        """The probability of each value by the distributions that the engine draws from, each made once."""
        total: dict[str, float] = {}
        waiting: list[tuple[Tokens, float]] = [((), 1.0)]
        while waiting:
            path, weight = waiting.pop()
            taken: list[tuple[int, str | None]] = []
            tried: set[int] = set()
            place: Tokens = ()
            while True:
                chooser = self._server = Chooser(self._logits, path, tried)
                self._talk.close()
                ended: str | None = None
                try:
                    ended = self.fill(Sampling(1.0)).text
                except Deeper:
                    if chooser.chosen < 0:
                        break
                if not chooser.place:  # nothing was asked
                    assert ended is not None and not path
                    return {ended: 1.0}
                place = chooser.place
                taken.append((chooser.chosen, ended))
            row = self._logits(place)[[token for token, _ in taken]].astype(np.float64)
            chances = np.exp(row - row.max())
            for (token, ended), chance in zip(taken, (chances / chances.sum()).tolist(), strict=True):
                if ended is None:
                    waiting.append(((*path, token), weight * chance))
                else:
                    total[ended] = total.get(ended, 0.0) + weight * chance
        self._server = Served(self._logits)
        self._talk.close()
        return total

    def counts(self, draws: int) -> dict[str, int]:
        """How often each value comes out of `draws` draws of the model's own distribution."""
        found: dict[str, int] = {}
        for seed in range(draws):
            text = self.fill(Sampling(1.0), seed).text
            found[text] = found.get(text, 0) + 1
        return found


# -- sets of words -----------------------------------------------------------------------------------


@cache
def _words() -> tuple[str, ...]:
    """Words that share beginnings: of the standard library's own text, so that no list has to be kept."""
    import pydoc_data.topics as topics

    found: set[str] = set()
    for text in topics.topics.values():
        found.update(word.strip(".,:;()`'\"*=") for word in text.split())
    return tuple(sorted(word for word in found if word.isascii() and word.isalpha() and len(word) < 14))


FIXED = (
    ("Monday", "Month"),
    ("yes", "yellow"),
    ("north", "none"),
    ("Mon", "Monday"),
    ("in", "inside", "into"),
    ("1", "12", "120"),
    ("10", "100", "11"),
    ("-1", "-10", "1"),
    ("a", "an", "and", "android"),
    ("New York", "Newark", "New Year"),
    ("true", "truth", "trust"),
    ("don't", "don", "donut"),
    ("C", "C++", "C#"),
    ("x.y", "x", "x."),
    ("café", "cafeteria", "caf"),
    ("été", "éternel", "et"),
)


def word_set(random: Random) -> tuple[str, ...]:
    """Two to six words, most of which begin alike."""
    if random.random() < 0.2:
        return random.choice(FIXED)
    words = _words()
    at = random.randrange(len(words) - 12)
    near = list(words[at : at + 12])
    chosen = set(random.sample(near, random.randint(2, 5)))
    if random.random() < 0.3:
        first = min(chosen)
        chosen.add(first[: random.randint(1, len(first))])
    if random.random() < 0.2:
        chosen.add(random.choice(words))
    return tuple(sorted(chosen))


PROMPTS = (
    "",
    "",
    "Answer: ",
    "The answer is",
    "It is ",
    'He said "',
    "(",
    "x = ",
    "Answer:\n",
    "a\n\n",
    "- ",
    "Word: Mon",
    "yes, ",
    "1",
    "2 + 2 = ",
    "The ",
    "the un",
    "# ",
    "été ",
    "result: [",
)
FOLLOWS = ("day", "s", ".", ", and so on", " apples", '"', ")", "ly", "0", "!", " -> ok", "ness,")


def _described(type: Type, **table: DeclaredType) -> Language:
    return language(type, table, surface="hole")


def _union(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    return _described(Alternatives(tuple(map(Constant, words)))), words


def _chosen(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    return Language(Words(frozenset(word.encode() for word in words))), words


def _enum(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    return _described(Named("E"), E=EnumType("E", words)), words


def _pattern(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    start = words[0][: random.randint(0, len(words[0]))]
    same = [word[len(start) :] for word in words if word.startswith(start)]
    others = [word for word in words if not word.startswith(start)]
    arms = [f"{escape(start)}({'|'.join(map(escape, same))})", *map(escape, others)]
    return Language(Text(compile_regex("|".join(arms)))), words


def _text_pattern(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    return _described(Str(patterns=("|".join(map(escape, words)),))), words


def _numbers(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    start = random.randint(1, 99)
    numbers = {start, start * 10 + random.randint(0, 9), random.randint(1, 999), random.randint(-30, 30)}
    arms = tuple(Constant(number) for number in sorted(numbers))
    return _described(Alternatives(arms)), tuple(str(number) for number in sorted(numbers))


def _record(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    items = Alternatives(tuple(map(Constant, words)))
    numbers = Alternatives((Constant(1), Constant(12)))
    first, second = random.sample(("name", "n", "Month", "is_a", "a b"), 2)
    described = _described(
        Named("R"), R=RecordType("R", (FieldType(first, items), FieldType(second, numbers)))
    )
    texts = [_json({first: word, second: number}) for word in words for number in (1, 12)]
    return described, tuple(texts)


def _strings(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    """Strings of a record by a pattern, so that their quotes are beside what varies."""
    marked = tuple(random.choice(("", "#", "/", "(", "$")) + word for word in words)
    marked = tuple(dict.fromkeys(marked))
    field = FieldType("text", Str(patterns=("|".join(map(escape, marked)),)))
    return _described(Named("R"), R=RecordType("R", (field,))), tuple(
        _json({"text": word}) for word in marked
    )


def _list(words: tuple[str, ...], random: Random) -> tuple[Language, tuple[str, ...]]:
    described = _described(ListOf(Alternatives(tuple(map(Constant, words))), 1, 2))
    lists = [[word] for word in words] + [[one, other] for one in words for other in words]
    return described, tuple(_json(each) for each in lists)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


KINDS = {
    "union": _union,
    "choose": _chosen,
    "enum": _enum,
    "pattern": _pattern,
    "text": _text_pattern,
    "numbers": _numbers,
    "record": _record,
    "strings": _strings,
    "list": _list,
}


def seam_cases(count: int, seed: int = 0) -> list[SeamCase]:
    """Sets of words of each kind in turn, behind and before random texts."""
    random = Random(seed)
    kinds = list(KINDS)
    cases = []
    while len(cases) < count:
        kind = kinds[len(cases) % len(kinds)]
        words = word_set(random)
        if kind == "enum":
            words = tuple(word for word in words if word.isidentifier())
        if kind == "list":
            words = words[:3]
        if len(words) < 2:
            continue
        described, values = KINDS[kind](words, random)
        follow = random.choice(FOLLOWS) if random.random() < 0.4 else ""
        if follow and _is_unclear(values, follow):
            continue
        cases.append(SeamCase(kind, random.choice(PROMPTS), described, values, follow))
    return cases


def _is_unclear(values: Sequence[str], follow: str) -> bool:
    """Whether the text behind may be part of a value: the compiler refuses such holes."""
    return any(
        other != value and other.startswith(value) and _overlap(other[len(value) :], follow)
        for value in values
        for other in values
    )


def _overlap(rest: str, follow: str) -> bool:
    return rest.startswith(follow) or follow.startswith(rest)
