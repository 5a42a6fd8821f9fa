"""What all lines of execution of one run share: limits, budgets, mocks, statistics, listeners."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Protocol

from sglc.automata.term import Language
from sglc.bytecode.code import Place, Program
from sglc.runtime.decoding.conversation import Conversation
from sglc.runtime.decoding.requests import Constraints, HoleResult, Steering, Timing
from sglc.runtime.engine.drafting.drafts import Drafting
from sglc.runtime.errors import SglError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.vm.state.dependent_types import BoundTypes
from sglc.runtime.vm.state.trace import Listener

if TYPE_CHECKING:
    from sglc.runtime.vm.state.frame import Frame


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a run: `steps` are instructions, `depth` is the depth of calls."""

    steps: int = 50_000_000
    depth: int = 400


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One `check` or `ensure` as it came out."""

    passed: bool
    reason: str
    function: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Missed:
    """An expectation of a test that did not hold, with the values of the variables there."""

    message: str
    place: Place | None
    values: Mapping[str, str]


@dataclass(slots=True)
class _Mock:
    """One answer to a hole, and where the test gives it."""

    value: object
    place: Place | None
    used: bool = False


@dataclass(slots=True)
class Statistics:
    """What a run took. `forwards` are passes through the model that a hole waited for."""

    holes: int = 0
    forwards: int = 0
    sampled_tokens: int = 0
    forced_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    steps: int = 0
    seconds: float = 0.0
    timing: Timing = field(default_factory=Timing)

    @property
    def outside_median_ms(self) -> float:
        """Median milliseconds of work outside of forward passes, a sampled token."""
        times = sorted(self.timing.outside)
        return times[len(times) // 2] / 1e6 if times else 0.0


class Script(Protocol):
    """What a scripted model answers in one run."""

    def answer(self, hole: str, stops: tuple[str, ...]) -> Steering | None:
        """What makes the model write the scripted answer to a hole; None where the script has none for it."""

    def option(self, hole: str, options: list[str]) -> int | None:
        """Which of the options a `select` takes; None where the script does not say."""


class Recorder(Protocol):
    """Counts what many runs do. It is called on the event loop of the runs."""

    def begin(self, function: str, seed: int) -> Listener | None:
        """A run begins. The returned listener hears all of its events but single tokens."""

    def call(self, function: str) -> None:
        """A function other than a pure one is entered."""

    def hole(self, name: str, mode: str, result: HoleResult, seconds: float, error: str) -> None:
        """A hole was filled by the model, or failed with an error of this name."""

    def end(self, function: str, statistics: Statistics, error: str) -> None:
        """A run has ended, with an error of this name or none."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the runs of one program share: compiled constraints and the languages of its types."""

    program: Program
    constraints: Constraints
    languages: dict[int, Language]
    bound: BoundTypes = field(default_factory=BoundTypes)
    errors: Mapping[str, tuple[str, ...]] = field(init=False)
    """The fields of each declared error, by its name."""

    def __post_init__(self) -> None:
        errors = {error.name: error.fields for error in reversed(self.program.errors)}
        object.__setattr__(self, "errors", errors)


class Run:
    """The state of one run."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        open_conversation: Callable[[], Conversation],
        vocabulary: Vocabulary,
        context_length: int,
        has_model: bool,
        script: Script | None = None,
        limits: Limits | None = None,
        seed: int = 0,
        listeners: tuple[Listener, ...] = (),
        detailed: bool = False,
        recorder: Recorder | None = None,
        drafting: Drafting | None = None,
    ) -> None:
        self.prepared = prepared
        self.program = prepared.program
        self.open_conversation = open_conversation
        self.vocabulary = vocabulary
        self.context_length = context_length
        self.has_model = has_model
        self.script = script
        self.limits = limits or Limits()
        self.seed = seed
        self.listeners = listeners
        self.detailed = detailed
        self.recorder = recorder
        self.drafting = drafting
        self.random = Random(seed)
        self.steps = 0
        self.pause_at = min(20_000, self.limits.steps)
        self.stop: SglError | None = None
        self.statistics = Statistics()
        self.checks: list[CheckRecord] = []
        self.fuzzing = False
        self.expectations = 0
        self.missed: list[Missed] = []
        self.partial = ""
        self.premises: dict[Hashable, list[float]] = {}
        self.unused: list[tuple[str, Place | None]] = []
        """Mocks that another one has taken the place of."""
        self.witnesses: dict[str, object] = {}
        """Parts of the expectation that is being asked, by their texts."""
        self._mocks: dict[str, tuple[deque[_Mock], list[_Mock]]] = {}

    def check(self) -> None:
        """Raise what ends the run from outside, if anything does."""
        if self.stop is not None:
            raise self.stop
        if self.steps >= self.limits.steps:
            raise SglError("Budget", f"the program took more than {self.limits.steps} steps", fatal=True)

    # -- mocks ---------------------------------------------------------------------------------------

    def mock(self, hole: str, value: object, always: bool, place: Place | None = None) -> None:
        """Answer a hole: once, in the order of the mocks, or whenever no single answer is left."""
        once, lasting = self._mocks.setdefault(hole, (deque(), []))
        made = _Mock(value, place)
        if always:
            self.unused += [(hole, old.place) for old in lasting if not old.used]
            lasting[:] = [made]
        else:
            once.append(made)

    def unused_mocks(self) -> list[tuple[str, Place | None]]:
        """Mocks that no hole has asked for, by the hole that they are for."""
        left = [
            (hole, mock.place)
            for hole, (once, lasting) in self._mocks.items()
            for mock in (*once, *lasting)
            if not mock.used
        ]
        return self.unused + left

    def mocked(self, hole: str) -> tuple[object] | None:
        """The next answer of a hole, in a tuple of one; None if it has none."""
        if not self._mocks:
            return None
        once, lasting = self._mocks.get(hole, (None, None))
        found = once.popleft() if once else lasting[0] if lasting else None
        if found is None:
            return None
        found.used = True
        return (found.value,)

    # -- partial results -----------------------------------------------------------------------------

    def keep_partial(self, frame: Frame) -> None:
        """Remember the message that was being written when an error passed."""
        if not self.partial and frame.conversation is not None:
            self.partial = frame.conversation.state.message

    async def warm(self, conversation: Conversation) -> None:
        """Have the model read a conversation that several branches are about to share."""
        if self.has_model and not self.fuzzing and conversation.encoder is not None:
            conversation.start()
            branch = conversation.sync()
            with branch.apart() as work:
                await branch.logits()
            self.statistics.forwards += work.forwards
