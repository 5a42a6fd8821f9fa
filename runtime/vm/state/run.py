"""What all lines of execution of one run share: limits, budgets, mocks, statistics, listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sglc.automata.term import Language
from sglc.bytecode.code import Place, Program
from sglc.runtime.decoding.blend import Shares
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.requests import Constraints, HoleResult, RemoteWork, Timing
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.dependent_types import BoundTypes
from sglc.runtime.vm.state.draws import Again, Drawn, Draws, Key, Mocks, Round
from sglc.runtime.vm.state.lengths import Lengths
from sglc.runtime.vm.state.models import RunModel
from sglc.runtime.vm.state.predicates import TypePredicates
from sglc.runtime.vm.state.trace import DeferredEvents, Listener, ListenerFault
from sglc.types.decoding import Figure
from sglc.types.model_use import MAIN

if TYPE_CHECKING:
    from sglc.runtime.vm.state.debugging import RunDebugger
    from sglc.runtime.vm.state.python_host import PythonHost
    from sglc.runtime.vm.state.strand import Step
    from sglc.runtime.vm.state.tasks import Tasks
    from sglc.types.values import Value

BREATH = 20_000
"""Steps after which other tasks get a turn."""


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
class HoleRecord:
    """One hole as it was filled. `name` is qualified: `function.hole`."""

    name: str
    text: str
    ended: str
    """How: `complete`, `end`, `stop`, `budget`, `choose`, `select` or `mock`."""
    tokens: int
    """Tokens that the value takes of the conversation."""
    sampled: int
    forced: int
    pressure: float | None
    """-log of the probability that the model gave the legal tokens, summed over the tokens that were drawn,
    in nats. It says how much the mask fights the model. None where it was not measured."""
    weight: float | None = None
    """Of `decode smc`: log of an unbiased estimate of the probability that the model writes a legal text."""
    ess: float | None = None
    """Of `decode smc`: how many equally weighted particles they are worth at the end."""
    ancestors: int | None = None
    """Of `decode smc`: how many of the first particles those at the end come from."""
    walks: int | None = None
    """Of `decode exact`: how many walks it took; 0 where all texts were scored."""
    bound: float | None = None
    """Of `decode exact`: log of an upper bound on the probability that the model writes a legal text. Without
    walks it is that probability."""
    score: float | None = None
    """Of `decode beam`: log of the text's probability by the model, without the mask."""
    proved: bool | None = None
    """Of `decode beam`: whether no other legal text is likelier."""
    scores: Mapping[str, float] | None = None
    """Of `choose` and `select`: the probabilities of the options by their texts."""
    shares: Shares | None = None
    """How two models shared the tokens, on average; None where one model filled it."""
    answered_by: str = ""
    """The model elsewhere that answered, which may answer otherwise the next time; empty for one of this
    process."""


@dataclass(slots=True, eq=False)
class Records:
    """Checks and holes of a line of execution, in the order of the program."""

    checks: list[CheckRecord] = field(default_factory=list)
    holes: list[HoleRecord] = field(default_factory=list)

    def add(self, other: Records) -> None:
        """Put another's behind them."""
        self.checks += other.checks
        self.holes += other.holes


@dataclass(frozen=True, slots=True)
class Missed:
    """An expectation of a test that did not hold, with the values of the variables there."""

    message: str
    place: Place | None
    values: Mapping[str, str]
    round: Round | None = None
    """The round of `fuzz` in which it did not hold."""


@dataclass(frozen=True, slots=True)
class Written:
    """An answer to a hole by its text. A value may have several, such as with and without its defaults.

    `scores` are the probabilities that the options of a `select` or `choose` had; without them the text has
    them all. `figures` are what its strategy found; without them the text could be no other.
    """

    text: str
    scores: Mapping[str, float] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a call of a function of Python came to in a recorded run: its value, or the error it raised."""

    value: Value = None
    error: SglError | None = None


@dataclass(frozen=True, slots=True)
class AskedHole:
    """What a hole was asked: all text of its conversation before it, and a digest of its legal texts."""

    name: str
    branch: str
    before: str
    legal: str
    stops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldenCall:
    """A call that is held against an earlier run: its holes in the order in which they were filled, their
    texts, and its value."""

    place: Place | None
    asked: tuple[AskedHole, ...]
    texts: tuple[str, ...]
    value: object


@dataclass(slots=True)
class RemoteStatistics:
    """What a run took of models elsewhere: requests, and tokens as the servers count them.

    `counted` says that all told their usage; else answers without one count by their bytes.
    """

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    counted: bool = True

    def add(self, work: RemoteWork) -> None:
        """Enter what a hole took."""
        self.requests += work.requests
        self.prompt_tokens += work.prompt
        self.cached_tokens += work.cached
        self.output_tokens += work.output
        self.counted = self.counted and work.counted

    def merge(self, other: RemoteStatistics) -> None:
        """Count another's work too."""
        self.requests += other.requests
        self.prompt_tokens += other.prompt_tokens
        self.cached_tokens += other.cached_tokens
        self.output_tokens += other.output_tokens
        self.counted = self.counted and other.counted


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
    remote: RemoteStatistics = field(default_factory=RemoteStatistics)

    def add(self, other: Statistics) -> None:
        """Count another's work too; seconds are those of this one."""
        self.holes += other.holes
        self.forwards += other.forwards
        self.sampled_tokens += other.sampled_tokens
        self.forced_tokens += other.forced_tokens
        self.output_tokens += other.output_tokens
        self.retries += other.retries
        self.timing.outside += other.timing.outside
        self.remote.merge(other.remote)

    @property
    def outside_median_ms(self) -> float:
        """Median milliseconds of work outside of forward passes, a sampled token."""
        times = sorted(self.timing.outside)
        return times[len(times) // 2] / 1e6 if times else 0.0


class Recorder(Protocol):
    """Counts what many runs do. It is called on the event loop of the runs."""

    weighed: bool
    """Whether it wants the pressure of masks."""

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
    lengths: dict[Hashable, Lengths] = field(default_factory=dict)
    """How long the values of holes can be, by the keys of their requests."""
    predicates: TypePredicates = field(init=False)
    errors: Mapping[str, tuple[str, ...]] = field(init=False)
    """The fields of each declared error, by its name."""

    def __post_init__(self) -> None:
        errors = {error.name: error.fields for error in reversed(self.program.errors)}
        object.__setattr__(self, "errors", errors)
        object.__setattr__(self, "predicates", TypePredicates(self.program))


class Run:
    """The state of one run."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        model: RunModel,
        models: Mapping[str, RunModel] | None = None,
        limits: Limits | None = None,
        seed: int = 0,
        listeners: tuple[Listener, ...] = (),
        detailed: bool = False,
        weighed: bool = False,
        top: int = 0,
        local: bool = False,
        unscored: bool = False,
        recorder: Recorder | None = None,
        handlers: tuple[Step, ...] | None = None,
        tasks: Tasks | None = None,
        python: PythonHost | None = None,
        again: Again | None = None,
    ) -> None:
        self.prepared = prepared
        self.program = prepared.program
        self.model = model
        """What fills holes that name no model."""
        self.models = {MAIN: model, **(models or {})}
        """All models by the names that the program has for them."""
        self.limits = limits or Limits()
        self.seed = seed
        self.listeners = listeners
        self.detailed = detailed
        self.weighed = weighed
        """Whether the pressure of masks is measured."""
        self.top = top
        """How many of the most probable tokens are told with each that is drawn."""
        self.local = local
        """Whether every hole is drawn token by token, whatever the program says."""
        self.unscored = unscored
        """Whether a `select` may be one option that the model writes, where it tells no scores."""
        self.recorder = recorder
        self.handlers = handlers
        """What instructions do in place of the machine's own table."""
        self.debugger: RunDebugger | None = None
        """What may stop the run; None where nothing does."""
        self.draws = Draws(seed, again)
        """The random answers of `fuzz`."""
        self.steps = 0
        self.step_limit = self.limits.steps
        """Steps at which this record ends; of a call that runs ahead, what its caller has left."""
        self.breath_at = BREATH
        self.pause_at = min(self.breath_at, self.step_limit)
        """Steps at which the machine looks up: whether any are left, and whether others are to get a turn."""
        self.tasks = tasks
        self.python = python
        """What calls functions of Python; None where none may be called."""
        self.writes: dict[tuple[str, str], asyncio.Future[Value]] = {}
        """What writes with a key gave, by function and key; shared with calls that run ahead."""
        self.statistics = Statistics()
        self.records = Records()
        self.fuzzing = False
        self.expectations = 0
        self.missed: list[Missed] = []
        self.failed_draws: dict[Place | None, dict[Key, Drawn]] = {}
        """What holes had been given where an expectation was missed first in a round of `fuzz`."""
        self.asked: list[AskedHole] | None = None
        """What holes were asked since a golden call began; None outside of one."""
        self.golden_from = 0
        """How many holes had been filled when it began."""
        self.goldens: list[GoldenCall] = []
        self.replays: list[tuple[str, Place | None]] = []
        """Traces that are to be run again after the test."""
        self.partial = ""
        """The message that was being written when something other than an error of the language ended it."""
        self.premises: dict[Hashable, list[float]] = {}
        self._premise_forwards: dict[Hashable, int] = {}
        """What each premise took that was not known before."""
        self._deferred: DeferredEvents | None = None
        self._let_in: list[Run] = []
        """Records of the calls that are waited for."""
        self.witnesses: dict[str, object] = {}
        """Parts of the expectation that is being asked, by their texts."""
        self.mocks = Mocks()

    def check(self) -> None:
        """Raise Budget where no step is left."""
        if self.steps >= self.step_limit:
            raise SglError("Budget", f"the program took more than {self.limits.steps} steps", fatal=True)

    # -- calls that run ahead --------------------------------------------------------------------------

    @property
    def steps_left(self) -> int:
        """Instructions that may still be taken."""
        return self.step_limit - self.steps

    def beside(self) -> Run:
        """The record of a call that runs ahead. It shares what stays the same, and counts for itself."""
        own = copy(self)
        own.statistics, own.records, own.partial = Statistics(), Records(), ""
        own.steps, own.step_limit, own.breath_at, own.pause_at = 0, self.steps_left, BREATH, 0
        own.premises, own._premise_forwards = dict(self.premises), {}
        own._let_in = []
        own._deferred = DeferredEvents() if self.listeners else None
        own.listeners = () if own._deferred is None else (own._deferred,)
        return own

    def let_in(self, other: Run) -> None:
        """The call of another record has come: tell what it has said, as it happens from here on."""
        self._let_in.append(other)
        self._narrow()
        if other._deferred is not None:
            try:
                other._deferred.pass_on(self.listeners)
            except Exception as error:
                raise ListenerFault(error) from error

    def _narrow(self) -> None:
        for other in self._let_in:
            other.step_limit, other.pause_at = self.steps_left, 0
            other._narrow()

    def absorb(self, other: Run) -> None:
        """Enter what the call of another record has counted. Its records go to the strand that waits."""
        if other in self._let_in:
            self._let_in.remove(other)
        self.steps += other.steps
        self.partial = self.partial or other.partial
        self.statistics.add(other.statistics)
        for key, forwards in other._premise_forwards.items():
            if key in self.premises:
                self.statistics.forwards -= forwards  # known by then, in the program's order
            else:
                self.keep_premise(key, other.premises[key], forwards)

    def keep_premise(self, key: Hashable, scores: list[float], forwards: int) -> None:
        """Remember the scores of options without their context, and how many passes they took."""
        self.premises[key], self._premise_forwards[key] = scores, forwards

    def miss(self, message: str, place: Place | None, values: Mapping[str, str]) -> None:
        """Note that an expectation does not hold."""
        draws = self.draws
        self.missed.append(Missed(message, place, values, draws.round))
        if draws.round is not None:
            self.failed_draws.setdefault(place, dict(draws.made))

    # -- mocks ---------------------------------------------------------------------------------------

    def mock(self, hole: str, value: object, always: bool, place: Place | None = None) -> None:
        """Answer a hole with a value or what is `Written`: once, in the order of the mocks, or whenever no
        single answer is left. `hole@branch` is the hole in one branch of forks, `hole@` outside of them.
        A function of Python is answered by its name, with a value or a `CallOutcome`."""
        self.mocks.add(hole, value, always, place)

    def give(self, answers: Mapping[str, Iterable[object]]) -> None:
        """Answer holes with these, each once, in their order."""
        for hole, given in answers.items():
            for each in given:
                self.mock(hole, each, always=False)

    # -- what branches share ---------------------------------------------------------------------------

    async def warm(self, conversation: Conversation) -> None:
        """Have the model read a conversation that several branches are about to share."""
        if self.model.can_be_asked and not self.fuzzing and conversation.encoder is not None:
            conversation.start()
            branch = conversation.sync()
            with branch.apart() as work:
                await branch.logits()
            self.statistics.forwards += work.forwards
