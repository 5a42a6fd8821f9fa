"""The holes that follow in a message: what one request may fill together, and what is taken of its answer.

What follows a hole is read from the instructions behind it, as far as they only write text that is known by
then, store values and fill holes. Anything else ends it: a jump, a call, a snapshot (a retry may go back to
it), a value that a hole of the group gives. A text that a request gave ahead of its turn is taken only where
the hole is reached with the very conversation that was foreseen, and is checked there as any answer is. So
what is foreseen wrongly costs a request, and never a value.
"""

from __future__ import annotations

from collections.abc import Hashable

from sglc.automata.term import Language
from sglc.bytecode.code import HoleSpec
from sglc.bytecode.opcodes import BY_NAME
from sglc.runtime.decoding.filling.filler import Filler, Following
from sglc.runtime.decoding.requests import HoleRequest
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.vm.holes.options import Options
from sglc.runtime.vm.state.frame import Frame, KnownText
from sglc.runtime.vm.state.strand import Strand
from sglc.types.language.language import language
from sglc.types.type import Type

MOST_TOGETHER = 32
"""Most holes of one request: an answer with more fields is long, and a fault in it costs more than requests
of their own."""
_OWN = frozenset(("n", "max_tokens", "seed", "options"))
"""Options of a hole that a request for several cannot keep."""
_TEXT, _LINE, _GLUE, _INSERT, _GEN = (
    BY_NAME[name].number for name in ("TEXT", "LINE", "GLUE", "INSERT", "GEN")
)
_STORE, _LOAD, _CONSTANT = (BY_NAME[name].number for name in ("STORE", "LOAD", "CONSTANT"))


class _Reader:
    """Reads the instructions behind a hole."""

    def __init__(
        self, machine: Strand, frame: Frame, first: HoleSpec, sampling: Sampling, scores: bool
    ) -> None:
        self._machine = machine
        self._scores = scores
        self._frame = frame
        self._first = first
        self._sampling = sampling
        self._stack: list[object] = []
        """Values that are known, above the first hole's."""
        self._given: set[int] = set()
        """Slots that holes of the group fill."""
        self._between, self._glued, self._held = "", False, True
        """Text since the last hole; whether a line is glued; whether its value is on the stack."""
        self.found: list[tuple[int, Following]] = []

    def step(self, op: int, a: int, b: int) -> bool:
        """Read one instruction; False where the group ends before it."""
        machine, frame = self._machine, self._frame
        if op == _STORE and self._held and not self._stack:
            self._given.add(a)
            self._held = False
        elif self._held:
            return False
        elif op == _TEXT:
            self._between += str(machine.program.constants[a])
        elif op == _LINE:
            self._between += "" if self._glued else "\n"
            self._glued = False
        elif op == _GLUE:
            self._glued = True
        elif op == _CONSTANT:
            self._stack.append(machine.program.constants[a])
        elif op == _LOAD and a not in self._given:
            self._stack.append(frame.slots[a])
        elif op == _INSERT and self._stack:
            self._between += machine.show(self._stack.pop())
        elif op == _GEN and len(self._stack) == b:
            return self._hole(a)
        else:
            return False
        return True

    def _hole(self, index: int) -> bool:
        machine = self._machine
        spec = machine.program.holes[index]
        if not fits(machine, spec) or spec.models != self._first.models:
            return False
        if spec.mode == "choose" and self._scores:
            return False
        again = any(index == each for each, _ in self.found)
        if again or Options(spec, self._stack).sampling() != self._sampling:
            return False
        assert spec.type is not None
        request = HoleRequest(spec.name, *described(machine, spec.type), stops=spec.stops)
        found = Following(self._between, request, machine.program.types[spec.type])
        self.found.append((index, found))
        self._between, self._held, self._stack = "", True, []
        return len(self.found) < MOST_TOGETHER - 1


def fits(machine: Strand, spec: HoleSpec) -> bool:
    """Whether a hole may be filled together with others: by its type alone, token by token, with no bound,
    seed, validator or count of its own."""
    plain = spec.type is not None and spec.condition is None and not spec.validators and not spec.told
    own = any(name in _OWN or name.startswith("given") for name in spec.options)
    local = machine.run.local or spec.decoding is None or spec.decoding.strategy == "local"
    return plain and local and not own


def described(machine: Strand, type: int) -> tuple[Hashable, Language]:
    """The key and the language of a type of the program."""
    languages = machine.run.prepared.languages
    if type not in languages:
        found: Type = machine.program.types[type]
        languages[type] = language(found, machine.program.table, surface="hole")
    return type, languages[type]


def following(
    machine: Strand, frame: Frame, index: int, filler: Filler, sampling: Sampling
) -> list[tuple[int, Following]]:
    """The holes that the same request may fill, by their indices; none where it may fill one only.

    A call whose result is read while it is written asks for each hole by itself, so that parts come early.
    """
    spec = machine.program.holes[index]
    conversation = frame.conversation
    assert conversation is not None
    if not filler.fuses or machine.stream is not None or frame.wanted > 1 or not fits(machine, spec):
        return []
    if not conversation.state.roles or conversation.state.roles[-1] != "assistant":
        return []
    reader = _Reader(machine, frame, spec, sampling, filler.scores_texts)
    for op, a, b in frame.code.instructions[frame.pc :]:
        if op == _GEN and machine.run.mocks.has(machine.program.holes[a].name, machine.branch):
            break
        if not reader.step(op, a, b):
            break
    return reader.found


def keep_ahead(frame: Frame, found: list[tuple[int, Following]], texts: tuple[str, ...]) -> None:
    """Remember texts for the holes that follow, with the conversation that each is for."""
    frame.ahead.clear()
    assert frame.conversation is not None
    *said, (role, begun) = frame.conversation.messages()
    for (index, each), text in zip(found, texts, strict=False):
        begun += each.between
        frame.ahead.append(KnownText(index, (*said, (role, begun)), text))
        begun += text


def known_text(frame: Frame, index: int) -> str | None:
    """The text that an earlier request gave for a hole where it stands now; others are forgotten."""
    if not frame.ahead:
        return None
    first = frame.ahead.popleft()
    assert frame.conversation is not None
    if first.hole == index and first.messages == frame.conversation.messages():
        return first.text
    frame.ahead.clear()
    return None
