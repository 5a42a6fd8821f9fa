"""The loop of repair, without input and output: it says what to ask for, and takes what comes.

`Repair.steps` is a generator of requests. Whoever drives it answers each of them, in whatever way it waits:
blocking, in an event loop, in a test. A text is legal after each step, as far as it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, field

from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.repair.answer import BLANKS, Answer, Settled
from sglc.runtime.repair.picking import first_word
from sglc.runtime.repair.result import Bounds, By, Correction, Ended, RepairResult

SHORT = 16
"""Tokens that are asked for behind a correction, where the model takes a length and does not stream: about as
many as a line of JSON has, so that little is written in vain where the next line is wrong too. It doubles as
long as answers are legal."""
NAME = "repair"
"""The function of a repair in traces."""
HOLE = f"{NAME}.text"
"""The hole that is its text."""
WORDS = 20
"""Words of which one is picked: as many as a model can choose from in a numbered list."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Let the model write behind `prompt + text` into `answer`, at most `length` tokens if it can be told so.

    The reply is None, or the exception that the model raised.
    """

    prompt: str
    text: str
    length: int | None
    answer: Answer


@dataclass(frozen=True, slots=True)
class Draft:
    """Let the draft model write a word behind `prompt + text` under `matcher`. The reply is a `Drafted`."""

    prompt: str
    text: str
    matcher: Matcher


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a draft model wrote, and how many tokens it drew; nothing where it cannot say, or `ended` the
    text."""

    text: str
    tokens: int
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Pick:
    """Let one of some words be picked, to stand behind `prompt + text`.

    `may_end`: none of them may be picked too, as the text may end. The reply is a word, empty for the end, or
    None where nothing of the kind was said.
    """

    prompt: str
    text: str
    words: tuple[str, ...]
    may_end: bool


Request = Ask | Draft | Pick
Reply = BaseException | Drafted | str | None
Steps = Generator[Request, Reply, RepairResult]


@dataclass(frozen=True, slots=True)
class Options:
    """How to repair.

    stops      texts that end an answer; they are not part of it
    drafts     whether a draft model is at hand
    picks      whether somebody picks words
    complete   whether a bound that is reached ends the text by a shortest ending, and not by an error
    on_piece   hears of legal text as soon as it is certain
    on_event   hears what happens, as traces have it: the kind of an event and its keys (docs/trace.md)
    count      tokens of a piece that the model wrote
    """

    bounds: Bounds = field(default_factory=Bounds)
    stops: tuple[str, ...] = ()
    drafts: bool = False
    picks: bool = False
    complete: bool = False
    on_piece: Callable[[str], None] | None = None
    on_event: Callable[[str, Mapping[str, object]], None] | None = None
    count: Callable[[str], int] = lambda piece: len(piece.encode("utf-8", "surrogatepass"))


class Repair:
    """One text that is being repaired. `matcher` stands at the beginning; `clock` gives seconds."""

    def __init__(self, matcher: Matcher, prompt: str, options: Options, clock: Callable[[], float]) -> None:
        self._start = matcher
        self._matcher = matcher.clone()
        self._prompt = prompt
        self._options = options
        self._clock = clock
        self._began = clock()
        self._text = bytearray()
        self._sent = 0
        """Bytes that `on_piece` has heard of."""
        self._corrections: list[Correction] = []
        self._weight = 0
        """Corrections, each as often as it counts."""
        self._calls = self._tokens = self._written = 0
        self._length: int | None = None

    @property
    def text(self) -> str:
        """The legal text so far."""
        return self._text.decode()

    def left(self) -> float | None:
        """Seconds that are left; None without a bound."""
        most = self._options.bounds.seconds
        return None if most is None else max(0.0, self._began + most - self._clock())

    def steps(self) -> Steps:
        """The requests, one after the other. Raises SglError: `Unsatisfiable`, `Truncated`, `Backend`."""
        self._tell("start", function=NAME)
        if self._prompt:
            self._tell("text", text=self._prompt, inserted=True)
        self._tell("hole_start", hole=HOLE, mode=NAME)
        try:
            result = yield from self._guarded()
        except SglError as error:
            told = {"message": error.message, "caught": False, "partial": error.partial or ""}
            self._tell("error", name=error.name, **told)
            raise
        counts = {"calls": result.calls, "written": result.written, "spent": result.tokens}
        self._tell("hole_end", hole=HOLE, text=result.text, ended=result.ended, **counts)
        self._tell("finish", function=NAME, seconds=round(result.seconds, 4))
        return result

    def _guarded(self) -> Steps:
        """The steps, with faults of the constraint as errors of the language."""
        if self._matcher.is_dead():
            raise self._error("Unsatisfiable", "no text is legal")
        try:
            return (yield from self._run())
        except ConstraintError as fault:
            raise self._error("Unsupported", f"the constraint cannot follow the text: {fault}") from fault

    def _run(self) -> Steps:
        while True:
            self._write_forced()
            if self._matcher.is_complete():
                return self._finished("complete")
            if spent := self._spent():
                return self._out_of_bounds(spent)
            ended = yield from self._step()
            if ended is not None:
                return self._finished(ended)

    def _step(self) -> Generator[Request, Reply, Ended | None]:
        """Ask once, and correct what is not legal; how the text ended, if it has."""
        answer, settled = yield from self._asked()
        if answer.expired or self._matcher.is_complete():
            return None
        may_end = self._matcher.is_accepting()
        if settled.legal:
            if answer.limited and settled.kept:
                self._length = self._length and 2 * self._length
                return None
            if may_end or self._back_to_end():
                return "stopped"
            if settled.kept:
                return None
        put, by = yield from self._correct()
        self._note(Correction(len(self.text), settled.wrong, put, by))
        self._weight += 1 if settled.kept else 2
        self._length = None if answer.streamed else SHORT
        if not put:
            return "cut"
        self._append(put.encode())
        return None

    def _asked(self) -> Generator[Request, Reply, tuple[Answer, Settled]]:
        """One answer of the model, its legal beginning taken."""
        options = self._options
        left = None if options.bounds.tokens is None else options.bounds.tokens - self._tokens
        length = min((size for size in (self._length, left) if size is not None), default=None)
        answer = Answer(
            bytes(self._text),
            self._matcher,
            stops=options.stops,
            most=left,
            count=options.count,
            told=self._hear,
        )
        self._calls += 1
        fault = yield Ask(self._prompt, self.text, length, answer)
        settled = answer.settle()
        self._tokens += answer.tokens
        self._written += answer.written
        self._text += settled.kept
        self._matcher = settled.matcher
        self._tell("answer", hole=HOLE, kept=settled.kept.decode(), written=answer.written)
        fault = fault or answer.fault
        if isinstance(fault, BaseException):
            raise self._failed(fault) from fault
        return answer, settled

    # -- corrections ---------------------------------------------------------------------------------

    def _correct(self) -> Generator[Request, Reply, tuple[str, By]]:
        """What stands where the model wrote nothing legal, and who says so; empty where the text ends."""
        matcher, options = self._matcher, self._options
        forced = whole(matcher.forced())
        if forced:
            return forced, "forced"
        if options.drafts:
            drafted = yield Draft(self._prompt, self.text, matcher.clone())
            if isinstance(drafted, BaseException):
                raise self._failed(drafted) from drafted
            assert isinstance(drafted, Drafted)
            self._tokens += drafted.tokens
            if drafted.text or drafted.ended:
                return drafted.text, "draft"
        if options.picks and self._calls < options.bounds.calls:
            words = tuple(whole(word) for word in matcher.words(WORDS) if whole(word).encode() == word)
            picked = None
            if len(words) + matcher.is_accepting() > 1:
                self._calls += 1
                picked = yield Pick(self._prompt, self.text, words, matcher.is_accepting())
            if isinstance(picked, BaseException):
                raise self._failed(picked) from picked
            if isinstance(picked, str):
                return picked, "ask"
        if matcher.is_accepting():
            return "", "end"
        return first_word(self._completion()), "completion"

    def _completion(self) -> str:
        """A shortest legal ending. Raises SglError where it is no text, or none is found."""
        try:
            data = self._matcher.shortest_completion()
            return data.decode()
        except (ConstraintError, UnicodeDecodeError) as fault:
            message = f"no ending of the text can be found: {fault}"
            raise SglError("Unsupported", message, partial=self.text) from fault

    # -- text ----------------------------------------------------------------------------------------

    def _write_forced(self) -> None:
        while forced := whole(self._matcher.forced()):
            self._append(forced.encode())
        self._emit(bytes(self._text))

    def _append(self, data: bytes) -> None:
        if not self._matcher.accept_bytes(data):
            raise AssertionError(f"what is put into the text is legal there: {data!r}")
        self._text += data

    def _back_to_end(self) -> bool:
        """Whether the text may end before its last blanks; they are taken away then, as many as need be."""
        size = len(self._text.rstrip(BLANKS))
        blanks = bytes(self._text[size:])
        matcher = self._start.clone()
        if not blanks or not matcher.accept_bytes(bytes(self._text[:size])):
            return False
        found = matcher.clone() if matcher.is_accepting() else None
        for count in range(len(blanks)):
            matcher.accept_bytes(blanks[count : count + 1])
            if matcher.is_accepting():
                found, size = matcher.clone(), size + count + 1
        if found is None:
            return False
        del self._text[size:]
        self._matcher = found
        return True

    def _hear(self, kept: bytes) -> None:
        """What is certain to be kept of the answer that is coming."""
        if self._options.on_piece is not None:
            self._emit(bytes(self._text) + kept)

    def _emit(self, data: bytes, *, last: bool = False) -> None:
        """Tell of new text, in whole characters. The last blanks wait: an end may take them away."""
        if self._options.on_piece is None:
            return
        if not last:
            data = data.rstrip(BLANKS)
        piece = whole(data[self._sent :])
        if piece:
            self._sent += len(piece.encode())
            self._options.on_piece(piece)

    def _note(self, correction: Correction) -> None:
        self._corrections.append(correction)
        self._tell("correction", hole=HOLE, **asdict(correction))

    def _tell(self, kind: str, **data: object) -> None:
        """Tell of an event. Characters that UTF-8 has no bytes for are written as escapes."""
        if self._options.on_event is not None:
            shown = {key: _utf8(value) if isinstance(value, str) else value for key, value in data.items()}
            self._options.on_event(kind, shown)

    # -- ends ----------------------------------------------------------------------------------------

    def _spent(self) -> str:
        """Which bound is reached, empty for none."""
        bounds = self._options.bounds
        if self._calls >= bounds.calls:
            return f"the model was called {self._calls} times"
        if self._weight >= bounds.corrections:
            return f"it took {len(self._corrections)} corrections, {self._weight} by their weight"
        if bounds.tokens is not None and self._tokens >= bounds.tokens:
            return f"{self._tokens} tokens were written"
        if self.left() == 0.0:
            return f"{bounds.seconds} seconds have passed"
        return ""

    def _out_of_bounds(self, spent: str) -> RepairResult:
        if not self._options.complete:
            hint = "give it more room (max_calls, max_corrections, max_tokens, max_seconds), or `complete`"
            raise self._error("Truncated", f"the text is not complete: {spent}", hint)
        ending = self._completion()
        self._note(Correction(len(self.text), "", ending, "completion"))
        self._append(ending.encode())
        return self._finished("completed")

    def _failed(self, fault: BaseException) -> SglError:
        """What is raised where the model, the draft model or who picks a word has failed."""
        if isinstance(fault, ConstraintError):
            raise fault
        if isinstance(fault, SglError):
            return self._error(fault.name, fault.message, fault.hint)
        said = str(fault)
        return self._error("Backend", f"{type(fault).__name__}{': ' + said if said else ''}")

    def _error(self, name: str, message: str, hint: str = "") -> SglError:
        fields = {"corrections": tuple(self._corrections), "calls": self._calls, "tokens": self._tokens}
        return SglError(name, message, fields=fields, partial=self.text, hint=hint)

    def _finished(self, ended: Ended) -> RepairResult:
        self._emit(bytes(self._text), last=True)
        seconds = self._clock() - self._began
        corrections = tuple(self._corrections)
        return RepairResult(self.text, corrections, self._calls, self._tokens, self._written, seconds, ended)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def whole(data: bytes) -> str:
    """The whole characters that bytes begin with, as a text."""
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        return data[: fault.start].decode()
