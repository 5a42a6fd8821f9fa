"""What `fuzz` gives a hole: a random legal text, or the one that a round is run again with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

from sglc.automata.analysis.most_bytes import most_bytes
from sglc.automata.term import Language
from sglc.runtime.decoding.requests import HoleRequest
from sglc.runtime.decoding.validated import FINAL, Verdicts
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.vm.holes.fuzz import random_good_word, random_scores, random_word
from sglc.runtime.vm.state.draws import Key
from sglc.runtime.vm.state.lengths import Lengths
from sglc.runtime.vm.state.strand import Strand
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.smaller import smaller_texts
from sglc.types.type import Type


async def random_text(
    machine: Strand,
    request: HoleRequest,
    type: Type | None,
    options: Sequence[str] = (),
    verdicts: Verdicts | None = None,
) -> str:
    """A random legal text, or the one that is given. Raises Unsatisfiable where there is none.

    `options` are the texts of a choice without a type, in order.
    """
    matcher = machine.run.prepared.constraints.value(request).matcher(machine.run.model.vocabulary)
    if matcher.is_dead():
        raise SglError("Unsatisfiable", f"no value of hole `{request.name}` is left to choose")
    key, random, text = machine.run.draws.next(request.name, machine.branch)
    if text is not None and not await _is_good(matcher, text, verdicts):
        text = None
    if text is None and verdicts is not None:
        text = (await random_good_word(matcher.clone(), random, verdicts, request.name)).decode()
    elif text is None:
        text = random_word(matcher.clone(), random, lengths_of(machine, request)).decode()
    note(machine, key, matcher, text, type, options)
    return text


def drawn_value(machine: Strand, name: str, matcher: Matcher, described: Language, type: Type) -> object:
    """A random value of a type, or the one that is given."""
    key, random, text = machine.run.draws.next(name, machine.branch)
    if text is None or not is_legal(matcher, text):
        text = random_word(matcher.clone(), random, Lengths.of(described)).decode()
    note(machine, key, matcher, text, type)
    return decode(text, type, machine.program.table)


def drawn_scores(machine: Strand, name: str, options: Sequence[str]) -> dict[str, float]:
    """Random probabilities of options, none of them 0. The most probable one is what is given, if it is."""
    key, random, text = machine.run.draws.next(name, machine.branch)
    scores = random_scores(options, random)
    best = max(scores, key=lambda each: scores[each])
    if text in scores:
        scores[best], scores[text] = scores[text], scores[best]
        best = text
    machine.run.draws.note(key, best, _earlier(options))
    return scores


def figures_source(machine: Strand, name: str) -> Random:
    """The source of figures that go with a random text."""
    return machine.run.draws.next(f"{name} figures", machine.branch)[1]


def lengths_of(machine: Strand, request: HoleRequest) -> Lengths:
    """How long the values of a hole can be. It is found once for a hole whose values depend on no
    others; where they do, only the most bytes are, as listing texts for each filling takes too long."""
    known = machine.run.prepared.lengths
    if request.passing:
        return Lengths(None, most_bytes(request.language))
    found = known.get(request.key)
    if found is None:
        found = known[request.key] = Lengths.of(request.language)
    return found


def note(
    machine: Strand,
    key: Key,
    matcher: Matcher,
    text: str,
    type: Type | None,
    options: Sequence[str] = (),
) -> None:
    """Keep a text that was drawn, with what is smaller."""
    table = machine.program.table

    def smaller(text: str) -> Iterator[str]:
        assert type is not None
        try:
            value = decode(text, type, table)
        except DecodeError:
            return
        least = matcher.shortest_completion().decode()
        if isinstance(value, str) and len(least) < len(text):
            yield least
        yield from (each for each in smaller_texts(text, value, type, table) if is_legal(matcher, each))

    machine.run.draws.note(key, text, _earlier(options) if type is None else smaller)


def _earlier(options: Sequence[str]) -> Callable[[str], Iterator[str]]:
    listed = list(options)
    return lambda text: iter(listed[: listed.index(text)] if text in listed else [])


def is_legal(matcher: Matcher, text: str) -> bool:
    """Whether a text is a word of a matcher, which stays where it is."""
    twin = matcher.clone()
    return twin.accept_bytes(text.encode()) and twin.is_accepting()


async def _is_good(matcher: Matcher, text: str, verdicts: Verdicts | None) -> bool:
    return is_legal(matcher, text) and (verdicts is None or await verdicts.of(text.encode()) == FINAL)
