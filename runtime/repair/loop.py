"""The loop of repair, without input and output: it says what to ask for, and takes what comes.

`Repair.steps` is a generator of requests. Whoever drives it answers each of them, in whatever way it waits:
blocking, in an event loop, in a test. A text is legal after each step, as far as it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.repair import naming
from sglc.runtime.repair.answer import BLANKS, Answer, Settled, is_whole
from sglc.runtime.repair.picking import cuts_number, first_word, splits_word, whole
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
class Fault:
    """Why an answer does not stand, for a model that is asked for all of it again.

    answer  what the model wrote, as far as it was read
    reason  what is wrong with it, as a sentence without a full stop
    """

    answer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Let the model write behind `prompt + text` into `answer`, at most `length` tokens if it can be told so.

    `fault`: why its last answer was not taken, where it was asked for all of it. The reply is None, or the
    exception that the model raised.
    """

    prompt: str
    text: str
    length: int | None
    answer: Answer
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """Let the draft model write a word behind `prompt + text` under `matcher`. The reply is a `Drafted`.

    `wrong` is what the model had written there.
    """

    prompt: str
    text: str
    matcher: Matcher
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a draft model wrote, and how many tokens it drew; nothing where it cannot say, or `ended` the
    text. `by` says whose word it is."""

    text: str
    tokens: int
    ended: bool = False
    by: Literal["draft", "chance"] = "draft"


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


Bound = Literal["calls", "corrections", "tokens", "seconds", "budget"]
Request = Ask | Draft | Pick
Reply = BaseException | Drafted | str | None
Steps = Generator[Request, Reply, RepairResult]


@dataclass(frozen=True, slots=True)
class Options:
    """How to repair.

    stops      texts that end an answer; they are not part of it
    drafts     whether a draft model is at hand
    picks      whether somebody picks words
    words      whether the first word of a shortest ending is put where nobody says a better one. If not, the
               model is told what may follow, and goes on behind the legal text
    forced     what must follow a legal text in the one spelling that is wanted, where the matcher follows
               others too. It is put behind a fault
    complete   whether a bound that is reached ends the text by a shortest ending, and not by an error
    budget     tokens after which the text gets a shortest ending in any case; None for any number
    again      whether the model does not go on behind a text: an answer that is wrong is asked for again, all
               of it, with what was wrong
    values     bytes that a value begins with, where an answer may have prose and fences around it
    check      why a whole legal text does not stand, empty where it does; then all of it is asked for again
    on_piece   hears of legal text as soon as it is certain
    on_again   hears that the pieces so far are not those of the text, as it is asked for again
    on_event   hears what happens, as traces have it: the kind of an event and its keys (docs/trace.md)
    count      tokens of a piece that the model wrote
    nothing    as how many corrections an answer counts of which nothing was legal
    """

    bounds: Bounds = field(default_factory=Bounds)
    stops: tuple[str, ...] = ()
    drafts: bool = False
    picks: bool = False
    words: bool = True
    forced: Callable[[str], bytes] = lambda text: b""
    complete: bool = False
    budget: int | None = None
    again: bool = False
    values: bytes = b""
    check: Callable[[str], str] = lambda text: ""
    on_piece: Callable[[str], None] | None = None
    on_again: Callable[[], None] = lambda: None
    on_event: Callable[[str, Mapping[str, object]], None] | None = None
    count: Callable[[str], int] = lambda piece: len(piece.encode("utf-8", "surrogatepass"))
    nothing: int = 2


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
        self._fault: Fault | None = None
        """What was wrong with the answer that was left last."""
        self._left = b""
        """The longest legal beginning that was left."""

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
        step = self._whole_step if self._options.again else self._step
        while True:
            self._write_forced()
            ended: Ended | None = "complete" if self._is_whole() else None
            if ended is None and (spent := self._spent()):
                return self._out_of_bounds(*spent)
            if ended is None:
                ended = yield from step()
            if ended is not None and self._stands():
                return self._finished(ended)

    def _stands(self) -> bool:
        """Whether the whole text may stand. If not, all of it is asked for again. Raises SglError where a
        bound does not allow that."""
        reason = self._options.check(self.text)
        if not reason:
            return True
        self._begin_again(Fault(self.text, reason), kept=True)
        if spent := self._spent():
            raise self._spent_error(*spent)
        return False

    def _step(self) -> Generator[Request, Reply, Ended | None]:
        """Ask once, and correct what is not legal; how the text ended, if it has."""
        answer, settled = yield from self._asked()
        if answer.expired:
            return None
        if self._is_whole():
            if not self._options.words and splits_word(self.text, settled.wrong):
                self._leave(answer, settled)
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
        put, by = yield from self._correct(settled.wrong)
        self._note(Correction(len(self.text), settled.wrong, put, by))
        self._weight += 1 if settled.kept else self._options.nothing
        self._length = None if answer.streamed else SHORT
        self._fault = None
        if by == "told":
            reason = naming.fault(self.text, self._matcher, settled.wrong)
            self._fault = Fault(self.text + settled.wrong, reason)
        elif not put:
            return "cut"
        self._append(put.encode())
        return None

    def _whole_step(self) -> Generator[Request, Reply, Ended | None]:
        """Ask for all of the text. An answer is taken if it is legal, or legal up to the end of a word at
        which the text may end; else all of it is asked for again."""
        self._text.clear()
        self._matcher = self._start.clone()
        answer, settled = yield from self._asked()
        if answer.expired or (self._options.budget is not None and self._tokens >= self._options.budget):
            return None
        if settled.legal:
            self._write_forced()
            if not answer.cut_short and (self._matcher.is_accepting() or self._back_to_end()):
                return "complete" if self._is_whole() else "stopped"
        elif self._matcher.is_accepting() and not splits_word(self.text, settled.wrong):
            self._note(Correction(len(self.text), settled.wrong, "", "end"))
            return "cut"
        self._leave(answer, settled)
        return None

    def _leave(self, answer: Answer, settled: Settled) -> None:
        """Leave the text for what is wrong with an answer."""
        reason = naming.fault(self.text, self._matcher, settled.wrong)
        self._begin_again(Fault(answer.raw, reason), kept=bool(settled.kept))

    def _begin_again(self, fault: Fault, *, kept: bool) -> None:
        """Leave the text, so that all of it is asked for again. `kept`: whether some of it was legal."""
        self._note(Correction(0, fault.answer, "", "again"))
        self._weight += 1 if kept else self._options.nothing
        self._fault = fault
        self._left = max(self._left, bytes(self._text), key=len)
        self._text.clear()
        self._matcher = self._start.clone()
        if self._sent:
            self._options.on_again()
        self._sent = 0

    def _asked(self) -> Generator[Request, Reply, tuple[Answer, Settled]]:
        """One answer of the model, its legal beginning taken."""
        options = self._options
        bounds = (each for each in (options.bounds.tokens, options.budget) if each is not None)
        left = min((each - self._tokens for each in bounds), default=None)
        length = min((size for size in (self._length, left) if size is not None), default=None)
        answer = Answer(
            bytes(self._text),
            self._matcher,
            stops=options.stops,
            most=left,
            values=options.values,
            whole_words=options.again or not options.words,
            count=options.count,
            told=self._hear,
        )
        self._calls += 1
        fault = yield Ask(self._prompt, self.text, length, answer, self._fault)
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

    def _correct(self, wrong: str) -> Generator[Request, Reply, tuple[str, By]]:
        """What stands where the model wrote something wrong, and who says so; empty where the text ends, and
        where the model is told."""
        matcher, options = self._matcher, self._options
        if not options.words and cuts_number(self.text, wrong):
            return "", "told"
        forced = self._forced(behind_fault=True)
        if forced:
            return forced, "forced"
        if options.drafts:
            drafted = yield Draft(self._prompt, self.text, matcher.clone(), wrong)
            if isinstance(drafted, BaseException):
                raise self._failed(drafted) from drafted
            assert isinstance(drafted, Drafted)
            self._tokens += drafted.tokens
            if drafted.text or drafted.ended:
                return drafted.text, drafted.by
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
        if matcher.is_accepting() and (options.words or not splits_word(self.text, wrong)):
            return "", "end"
        return (first_word(self._completion()), "completion") if options.words else ("", "told")

    def _completion(self) -> str:
        """A shortest legal ending. Raises SglError where it is no text, or none is found."""
        try:
            data = self._matcher.shortest_completion()
            return data.decode()
        except (ConstraintError, UnicodeDecodeError) as fault:
            message = f"no ending of the text can be found: {fault}"
            raise SglError("Unsupported", message, partial=self.text) from fault

    # -- text ----------------------------------------------------------------------------------------

    def _is_whole(self) -> bool:
        return is_whole(self._matcher, bool(self._options.values))

    def _write_forced(self) -> None:
        if self._options.again and not self._text and self._fault is not None:
            return  # all of it is asked for
        while forced := self._forced(behind_fault=bool(self._corrections)):
            self._append(forced.encode())
        self._emit(bytes(self._text))

    def _forced(self, *, behind_fault: bool) -> str:
        """What must come next. Blanks at its end are the model's: tokens begin with them."""
        forced = whole(self._matcher.forced())
        if forced or not behind_fault:
            return forced
        spelled = whole(self._options.forced(self.text)).rstrip(" ")
        return spelled if self._matcher.clone().accept_bytes(spelled.encode()) else ""

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

    def _spent(self) -> tuple[Bound, str] | None:
        """Which bound is reached, and what was spent; None for none."""
        bounds, budget = self._options.bounds, self._options.budget
        if budget is not None and self._tokens >= budget:
            return "budget", f"{self._tokens} tokens were written"
        if self._calls >= bounds.calls:
            return "calls", f"the model was called {self._calls} times"
        if self._weight >= bounds.corrections:
            return (
                "corrections",
                f"it took {len(self._corrections)} corrections, {self._weight} by their weight",
            )
        if bounds.tokens is not None and self._tokens >= bounds.tokens:
            return "tokens", f"{self._tokens} tokens were written"
        if self.left() == 0.0:
            return "seconds", f"{bounds.seconds} seconds have passed"
        return None

    def _out_of_bounds(self, bound: Bound, spent: str) -> RepairResult:
        """A shortest ending where options say so. Raises SglError where they do not, and where that text does
        not stand."""
        if bound != "budget" and not self._options.complete:
            raise self._spent_error(bound, spent)
        if len(self._left) > len(self._text):
            self._text, self._matcher = bytearray(self._left), self._start.clone()
            self._matcher.accept_bytes(self._left)
        ending = self._completion()
        if self._options.check(self.text + ending):
            raise self._spent_error(bound, spent)
        self._note(Correction(len(self.text), "", ending, "completion"))
        self._append(ending.encode())
        return self._finished("completed")

    def _spent_error(self, bound: Bound, spent: str) -> SglError:
        hint = "give it more room (max_calls, max_corrections, max_tokens, max_seconds), or `complete`"
        error = self._error("Truncated", f"the text is not complete: {spent}", hint)
        error.fields["bound"] = bound
        return error

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
        legal = max(bytes(self._text), self._left, key=len).decode()
        return SglError(name, message, fields=fields, partial=legal, hint=hint)

    def _finished(self, ended: Ended) -> RepairResult:
        self._emit(bytes(self._text), last=True)
        seconds = self._clock() - self._began
        corrections = tuple(self._corrections)
        return RepairResult(self.text, corrections, self._calls, self._tokens, self._written, seconds, ended)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
