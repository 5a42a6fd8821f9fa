"""`decode exact`: a draw from the model's distribution given that the text is legal.

Where a hole has few texts, the probabilities of all of them are found together, and a text is drawn as a
whole (`choice_trie`). Elsewhere walks draw from the model without a mask. One that draws an illegal token
begins again, and the tree of prefixes remembers what was illegal, so that no walk fails twice for the same
reason. Every text that is accepted is an exact draw, the first one too (Parys et al. 2025). Certain text is
the program's: it has no weight, and the distribution is that of the choices.
"""

from __future__ import annotations

import math
from collections import deque
from functools import partial

from sglc.runtime.decoding.hole_text import nothing_allowed
from sglc.runtime.decoding.requests import HoleResult
from sglc.runtime.decoding.strategies.attempt import Attempt, Attempts, Step, unfinished
from sglc.runtime.decoding.strategies.choice_trie import LegalTexts, legal_texts
from sglc.runtime.decoding.strategies.drawn_texts import drawn_texts
from sglc.runtime.decoding.strategies.prefix_tree import Place, PrefixTree
from sglc.runtime.decoding.validated import DEAD, FINAL, Verdicts
from sglc.runtime.decoding.watching import MOST_TEXTS, Moment, SearchLook, SearchText
from sglc.runtime.decoding.writing import Ended
from sglc.runtime.engine.sampling.options import MIN_TEMPERATURE, Sampling
from sglc.runtime.engine.sampling.sampler import Sampled, noise_key
from sglc.runtime.engine.sampling.seeds import mix
from sglc.runtime.errors import SglError
from sglc.types.decoding import Decoding

SHOWN = 40
"""Most characters of a text that a message shows."""


class ExactDecoder:
    """Decodes one hole. One object serves one fill.

    `few` says that the hole has no more than FEW_TEXTS and no validator, so that they may be scored. `wanted`
    is how many different ones are to be drawn, each among those that are left. Each takes at most `tries`
    walks, where there are walks.
    """

    def __init__(
        self,
        attempts: Attempts,
        tries: int,
        tree: PrefixTree,
        verdicts: Verdicts | None = None,
        few: bool = False,
        wanted: int = 1,
    ) -> None:
        self.attempts = attempts
        self._tries = tries
        self._tree = tree
        self._verdicts = verdicts
        self._few = few
        self._wanted = wanted
        self._temperature = max(attempts.request.sampling.temperature, MIN_TEMPERATURE)
        self._computed = 0
        """Places whose logits were asked for."""
        self._own = 0
        """Of these, those of the walk that is on."""
        self._walks = 0
        self._earlier: set[bytes] = set()
        """Texts that were drawn before: the next ones are others."""
        self._watcher = attempts.request.watcher
        self._shown: deque[SearchText] = deque(maxlen=MOST_TEXTS)
        """Walks that have ended, for those who watch."""

    async def run(self) -> HoleResult:
        """Draw the value and append its text to the conversation. Raises Budget after the last walk."""
        with self.attempts.begun() as root:
            if root is None:
                return await self._only()
            await self._watched("begin", self._how())
            texts = await self._known(root)
            return await self._walked(root) if texts is None else await self._drawn(root, texts)

    # -- texts that are drawn as wholes --------------------------------------------------------------

    async def _known(self, root: Attempt) -> LegalTexts | None:
        """All texts and their probabilities, which samples share; None where walks are to find them."""
        tree = self._tree
        async with tree.turn:
            if self._few and not tree.looked:
                tree.texts = await legal_texts(self.attempts, root, self._temperature)
                tree.looked = True
                self._computed = 0 if tree.texts is None else tree.texts.places
        return tree.texts

    async def _drawn(self, root: Attempt, texts: LegalTexts) -> HoleResult:
        """Draw among all texts, go on with the first and give the others."""
        attempts, request, result = self.attempts, self.attempts.request, self.attempts.result
        await self._watched_texts("round", texts)
        places = drawn_texts(texts.scores, Sampling(1.0), request.seed, self._wanted)
        if not places:
            raise self._none_left(root)
        await self._watched_texts("end", texts, places[0])
        end, others = texts.ends[places[0]], places[1:]
        result.lost = sum(texts.ends[other].tokens for other in others)
        result.walks, result.bound, result.sampled = 0, texts.log_legal, self._computed
        result.saved = max(0, result.sampled - result.work.forwards)
        result.logprob, result.weighed = texts.logprobs[places[0]], 1
        result.pressure = -texts.log_legal if attempts.observer.weighed else None
        attempts.charge(end.tokens + result.lost)
        result.ended, result.tokens, result.forced = "choose", end.tokens, end.forced
        result.text, result.others = end.text, tuple(texts.texts[other] for other in others)
        if result.text:
            attempts.observer.piece(result.text, False)
        attempts.conversation.text(result.text)
        return result

    # -- walks ---------------------------------------------------------------------------------------

    async def _walked(self, root: Attempt) -> HoleResult:
        """Walk until the wanted texts are found, fewer where there are no more."""
        kept = await self._found(root)
        if kept is None:
            raise self._none_left(root)
        result, own, others = self.attempts.result, self._own, []
        self._earlier.add(kept.written())
        try:
            for _ in range(self._wanted - 1):
                other = await self._found(root)
                if other is None:
                    break
                self._earlier.add(other.written())
                others.append(other.written().decode())
                other.close()
            found = f"{1 + len(others)} texts are found" if others else "its text is kept"
            await self._watched("end", found)
        except BaseException:
            kept.close()
            raise
        result.others = tuple(others)
        return self.attempts.keep(kept, self._computed - own)

    async def _found(self, root: Attempt) -> Attempt | None:
        """The next text, None where there is none. Raises Budget after the last walk."""
        tree, result = self._tree, self.attempts.result
        for _ in range(self._tries):
            async with tree.turn:
                walk = await self._walk(root, self._walks)
            self._walks += 1
            result.walks, result.sampled = self._walks, self._computed
            if not self._earlier:
                result.bound = tree.root.bound
            await self._watched_walk(walk)
            if walk is not None or tree.root.bound == -math.inf:
                return walk
        raise self._spent()

    async def _only(self) -> HoleResult:
        if self._verdicts is not None:
            data = self.attempts.text.value().shortest_completion()
            if await self._verdicts.of(data) != FINAL:
                raise self._refused()
        return self.attempts.certain(Decoding("exact", self._tries))

    async def _walk(self, root: Attempt, number: int) -> Attempt | None:
        """One walk from the beginning; None where it has drawn what is illegal."""
        seed = mix("walk", self.attempts.request.seed, number)
        walk = root.fork()
        writing = walk.writing
        taken: list[tuple[Place, int]] = []
        place, bound = self._tree.root, 0.0
        self._own = 0
        kept = False
        try:
            while True:
                ended = writing.forced()
                if ended is True:
                    if await self._dead(walk):
                        bound = -math.inf
                        break
                    continue
                if isinstance(ended, Ended):
                    walk.ended = ended
                    bound = 0.0 if await self._good(walk) else -math.inf
                    break
                choice = await self._choice(walk, place, noise_key(seed, len(taken)))
                bound = place.bound
                if choice is None:
                    break
                taken.append((place, choice))
                bound = await self._taken(walk, place, choice)
                if walk.ended is not None or bound == -math.inf:
                    break
                place = place.next.setdefault(choice, Place())
                bound = place.bound
            kept = walk.ended is not None and bound > -math.inf
            self._back(taken, bound)
            self._tell(number, walk, kept)  # of a walk that an error or a cancel ends nobody knows
            return walk if kept else None
        finally:
            if not kept:
                walk.close()

    def _tell(self, number: int, walk: Attempt, kept: bool) -> None:
        if self._watcher is not None:
            self._shown.append(walk.shown(number, kept=kept, legal=kept))
        if self.attempts.observer.detailed:
            self.attempts.observer.walk(number, walk.written(), None, "kept" if kept else "illegal")

    def _back(self, taken: list[tuple[Place, int]], bound: float) -> None:
        """Carry what a walk has learnt to all prefixes that it came through, the last one first."""
        for place, choice in reversed(taken):
            place.learn(choice, bound)
            bound = place.bound
            self._tree.passed(place)

    async def _choice(self, walk: Attempt, place: Place, key: int) -> int | None:
        """The place in `ids` of the next token; None where the walk ends."""
        writing, first = walk.writing, not place.met
        writing.legal.forgive()
        if first and place.certain is None:
            place.certain = writing.text.only_open(writing.legal)
        if place.certain is not None:
            return 0
        if place.ids is None:
            await self._meet(walk, place)
        return place.draw(key, self.attempts.vocabulary.size, first)

    async def _meet(self, walk: Attempt, place: Place) -> None:
        """Ask the model about a place for the first time, or once more where it was forgotten."""
        attempts, writing = self.attempts, walk.writing
        attempts.poll()
        attempts.charge(self._computed - self._own + writing.text.used() + 1)
        logits = await attempts.logits(walk)
        self._computed += 1
        self._own += 1
        if self._verdicts is not None and writing.legal.may_end:
            writing.legal.may_end = await self._verdicts.of(writing.text.written()) == FINAL
        row = writing.legal.row()
        before = writing.text.written().decode("utf-8", "ignore")
        self._tree.meet(place, logits, row, self._temperature, before)

    async def _taken(self, walk: Attempt, place: Place, choice: int) -> float:
        """Go on with a token. The log of the bound behind it: -inf where it has turned out to be illegal."""
        writing = walk.writing
        if place.certain is not None:
            walk.ended = writing.take(place.certain)
            return await self._behind(walk)
        assert place.ids is not None
        token = int(place.ids[choice])
        ending = token in writing.end_ids
        known = choice in place.next
        if self._watcher is not None:
            await self._watched_token(walk, place.sampled(choice), token)
        if not ending and not known and not writing.text.is_open(token, writing.text.masks):
            return -math.inf
        allowed = len(place.ids) if self.attempts.observer.detailed else 0
        data = b"" if ending else writing.text.vocabulary.token_bytes[token] or b""
        walk.ended = writing.take(token)
        walk.steps = (*walk.steps, Step(place.sampled(choice), data, allowed))
        return await self._behind(walk)

    async def _behind(self, walk: Attempt) -> float:
        """Log of the bound behind what a walk has just written, as far as it can be told."""
        if walk.ended is not None:
            return 0.0 if await self._good(walk) else -math.inf
        return -math.inf if await self._dead(walk) else 0.0

    async def _good(self, walk: Attempt) -> bool:
        """Whether a text that has ended is legal: it fits into the budget, was not drawn before, and the
        validators accept it."""
        ended = walk.ended
        assert ended is not None
        data = bytes(ended.data[len(walk.writing.text.prefix) :])
        if ended.how == "budget" or data in self._earlier:
            return False
        return self._verdicts is None or await self._verdicts.of(data) == FINAL

    async def _dead(self, walk: Attempt) -> bool:
        """Whether the validators accept no text that begins like this one."""
        if self._verdicts is None or walk.writing.text.tracker.candidates:
            return False
        return await self._verdicts.of(walk.writing.text.written()) == DEAD

    # -- who watches ---------------------------------------------------------------------------------

    def _how(self) -> str:
        """How texts are going to be found."""
        if self._few and self._tree.texts is None and not self._tree.looked:
            return "there are few texts: their probabilities are found together, without walks"
        walks = "1 walk draws" if self._tries == 1 else f"at most {self._tries:,} walks draw"
        return f"{walks} without a mask, until one is legal"

    def _look(self, moment: Moment, told: str, *more: SearchText) -> SearchLook:
        which = more[0].number if moment == "token" else None
        texts = (*self._shown, *more)[-MOST_TEXTS:]
        return SearchLook("exact", moment, self._walks, told, texts, which)

    async def _watched(self, moment: Moment, told: str) -> None:
        if self._watcher is not None:
            await self._watcher.search(moment, lambda: self._look(moment, told))

    async def _watched_token(self, walk: Attempt, drawn: Sampled, token: int) -> None:
        """A walk has drawn a token of those that are legal here, in proportion to what may come of it."""
        assert self._watcher is not None
        writing, number = walk.writing, self._walks
        data = b"" if token in writing.end_ids else writing.text.vocabulary.token_bytes[token] or b""
        told = f"walk {number} drew a token"
        logits = partial(self.attempts.shown, walk)
        await self._watcher.token(
            drawn, data, writing.legal, logits, lambda: self._look("token", told, walk.shown(number))
        )

    async def _watched_walk(self, walk: Attempt | None) -> None:
        """A walk has ended. What is raised here closes it."""
        bound = self._tree.root.bound
        told = f"walk {self._walks - 1} found a legal text"
        if walk is None:
            told = (
                f"walk {self._walks - 1} drew what is illegal; "
                f"legal texts have at most probability {math.exp(bound):.3g}"
            )
        try:
            await self._watched("round", told)
        except BaseException:
            if walk is not None:
                walk.close()
            raise

    async def _watched_texts(self, moment: Moment, texts: LegalTexts, kept: int = -1) -> None:
        """All texts are scored, or one of them was drawn."""
        if self._watcher is None:
            return

        def look() -> SearchLook:
            order = sorted(range(len(texts.texts)), key=lambda place: -texts.scores[place])[:MOST_TEXTS]
            rows = tuple(
                SearchText(
                    place, texts.texts[place], texts.scores[place], "kept" if place == kept else "ended"
                )
                for place in order
            )
            told = f"{len(texts.texts)} texts are scored" if kept < 0 else f"text {kept} was drawn"
            return SearchLook("exact", moment, 0, told, rows)

        await self._watcher.search(moment, look)

    # -- what ends it --------------------------------------------------------------------------------

    def _none_left(self, root: Attempt) -> SglError:
        """Every way turned out to be illegal."""
        if self._verdicts is not None:
            return self._refused()
        limit = self.attempts.room.limit
        if limit is not None and self.attempts.room.needed > limit.tokens:
            return self.attempts.room.truncated(limit)
        return nothing_allowed(root.writing.text, root.writing.legal)

    def _refused(self) -> SglError:
        name = self.attempts.request.name
        return SglError("Unsatisfiable", f"the validator of hole `{name}` accepts no value")

    def _spent(self) -> SglError:
        """The message of a hole that has no walks left: how unlikely its texts are, and where."""
        tree = self._tree
        pressure, before = tree.pressed
        shown = before if len(before) <= SHOWN else "…" + before[1 - SHOWN :]
        quoted = f"`{shown}`" if shown.isprintable() else repr(shown)
        where = f"behind {quoted}" if shown else "at its beginning"
        walks = "1 walk" if self._tries == 1 else f"{self._tries:,} walks"
        return unfinished(
            self.attempts.request.name,
            f"{walks} found no legal text, to which the model gives a probability of at most "
            f"{math.exp(tree.root.bound):.2g}; it objects most {where}, where legal tokens have "
            f"{math.exp(-pressure):.2g} together",
            hint="ask for this form in the prompt, allow more walks (`tries = …`), or use `decode smc(8)`",
        )
