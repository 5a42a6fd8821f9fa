"""How the machine fills a hole: from a mock, from a random walk, or from the model."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Hashable
from time import perf_counter

from sglc.automata.term import Language, Words
from sglc.bytecode.code import Code, HoleSpec
from sglc.runtime.decoding.conversation import Conversation, Transcript
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Budget, HoleRequest, HoleResult
from sglc.runtime.decoding.validated import ALIVE, DEAD, FINAL, ValidatedHoleDecoder, Verdicts
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.vm.holes import selection
from sglc.runtime.vm.holes.fuzz import random_good_word, random_word
from sglc.runtime.vm.holes.options import SCORED_LIMIT, Options, finite_values
from sglc.runtime.vm.holes.retries import earlier_values, give_up, show_repairs
from sglc.runtime.vm.state.dependent_types import Bound
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.run import HoleRecord, Written
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.values import Scored, failure
from sglc.types.json_text import json_text
from sglc.types.language.language import language
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.printer import PrintError, print_value
from sglc.types.type import Str, Type
from sglc.values.kinds import kind
from sglc.values.text import display


class _Report:
    """Turns what a hole's decoder reports into events."""

    def __init__(self, machine: Strand, hole: str) -> None:
        self._machine = machine
        self._hole = hole
        self.detailed = machine.run.detailed and bool(machine.run.listeners)
        self.weighed = machine.run.weighed
        self.top = machine.run.top if self.detailed else 0
        self._texts = machine.run.vocabulary.token_bytes

    def piece(self, text: str, forced: bool) -> None:
        self._machine.emit("forced" if forced else "generated", {"hole": self._hole, "text": text})

    def token(self, drawn: Sampled, data: bytes, allowed: int) -> None:
        self._machine.emit(
            "token",
            {
                "hole": self._hole,
                "token": drawn.token,
                "text": data.decode("utf-8", "backslashreplace"),
                "logprob": round(drawn.logprob, 4),
                "pressure": round(0.0 - drawn.log_mass, 4),
                "mask": allowed,
                **({"top": [self._candidate(*each) for each in drawn.top]} if self.top else {}),
            },
        )

    def _candidate(self, token: int, logprob: float, legal: bool) -> list[object]:
        data = self._texts[token] or b""
        return [data.decode("utf-8", "backslashreplace"), round(logprob, 4), legal]

    def pruned(self, token: int, data: bytes, part: bytes) -> None:
        shown = {"hole": self._hole, "token": token, "text": data.decode("utf-8", "backslashreplace")}
        self._machine.emit("pruned", {**shown, "dead": part.decode("utf-8", "backslashreplace")})

    def stepped_back(self, data: bytes) -> None:
        shown = data.decode("utf-8", "backslashreplace")
        self._machine.emit("stepped_back", {"hole": self._hole, "text": shown})


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _budget(frame: Frame, most: int | None) -> Budget | None:
    """The smallest of the hole's own bound and the bounds that its frame runs under."""
    tightest = None if most is None else Budget(max(0, most), f"`max {most} tok`")
    for allowance in frame.allowances:
        if tightest is None or allowance.left < tightest.tokens:
            tightest = Budget(allowance.left, allowance.source, allowance.fatal)
    return tightest


def _request(
    machine: Strand, frame: Frame, index: int, options: Options
) -> tuple[HoleRequest, dict[str, object], Type | None]:
    """The request to the decoder; for run-time choices the value of each text, for others the type."""
    run = machine.run
    spec = machine.program.holes[index]
    candidates = options.candidates(machine.program.table)
    values: dict[str, object] = {}
    key: Hashable
    type: Type | None = None
    given = options.given()
    if given or spec.condition is not None:
        assert spec.type is not None
        bound = run.prepared.bound.get(
            index, spec, machine.program.types[spec.type], given, machine.program.table
        )
        key, described, type = bound, bound.language, bound.type
        _satisfiable(machine, spec, bound, bool(given))
    elif spec.type is None:
        if candidates is None:
            raise failure(f"hole `{spec.name}` has neither a type nor options")
        for value in candidates:
            values.setdefault(machine.show(value), value)
        words = frozenset(text.encode() for text in values)
        key, described = words, Language(Words(words))
    else:
        key = spec.type
        type = machine.program.types[spec.type]
        found = run.prepared.languages.get(spec.type)
        if found is None:
            found = language(type, machine.program.table, surface="hole")
            run.prepared.languages[spec.type] = found
        described = found
    excluded, _, attempt = earlier_values(frame, index)
    request = HoleRequest(
        name=spec.name,
        key=key,
        language=described,
        passing=bool(given),
        stops=spec.stops,
        end_of_message=spec.end_of_message,
        excluded=excluded,
        budget=_budget(frame, options.whole("max_tokens")),
        sampling=options.sampling(),
        seed=frame.seeds.hole(options.whole("seed"), attempt),
    )
    return request, values, type


def _satisfiable(machine: Strand, spec: HoleSpec, bound: Bound, passing: bool) -> None:
    """Refuse a bound type without any value, with the reason."""
    request = HoleRequest(spec.name, bound, bound.language, passing=passing)
    try:
        empty = machine.run.prepared.constraints.value(request).is_empty
    except ConstraintError as fault:
        raise failure(f"hole `{spec.name}`: {fault}") from None
    if empty:
        raise SglError("Unsatisfiable", f"no value of hole `{spec.name}` is legal: {bound.why_empty()}")


def _decoded(
    machine: Strand, spec: HoleSpec, values: dict[str, object], type: Type | None, text: str
) -> object:
    if type is None:
        return values[text]
    try:
        return decode(text, type, machine.program.table)
    except DecodeError as fault:
        raise AssertionError(f"hole {spec.name}: {text!r} is legal but does not decode: {fault}") from fault


async def fill(machine: Strand, frame: Frame, index: int, given: list[object]) -> None:
    """Fill a `gen` or `choose` hole and leave its value on the stack."""
    run = machine.run
    spec = machine.program.holes[index]
    options = Options(spec, given)
    request, values, type = _request(machine, frame, index, options)
    verdicts = _verdicts(machine, spec, options.asked()) if spec.validators else None
    if run.listeners:
        machine.emit("hole_start", {"hole": spec.name, "mode": spec.mode})
    try:
        result = await _filled(machine, frame, index, request, type, verdicts)
    except SglError as error:
        if error.name == "Unsatisfiable" and request.excluded and give_up(frame, index):
            return
        raise
    value = _decoded(machine, spec, values, type, result.text)
    _keep(machine, frame, index, value, result)
    if run.listeners:
        machine.emit(
            "hole_end",
            {
                "hole": spec.name,
                "text": result.text,
                "ended": result.ended,
                "tokens": result.tokens,
                "forced": result.forced,
                "sampled": result.sampled,
                "prompt": result.prompt,
                **({"logprob": round(result.logprob, 4)} if run.detailed else {}),
                **({"pressure": round(result.pressure, 4)} if result.pressure is not None else {}),
            },
        )


async def _filled(
    machine: Strand,
    frame: Frame,
    index: int,
    request: HoleRequest,
    type: Type | None,
    verdicts: Verdicts | None,
) -> HoleResult:
    """The text of a value: of a mock, at random, or of the model."""
    run = machine.run
    spec = machine.program.holes[index]
    mocked = run.mocked(spec.name, machine.branch)
    if mocked is not None:
        text = _mocked_text(machine, type, mocked[0])
        await _accept_mock(machine, request, type, text, verdicts)
        return _simulated(machine, frame, spec, text)
    if run.fuzzing:
        matcher = run.prepared.constraints.value(request).matcher(run.vocabulary)
        if matcher.is_dead():
            raise SglError("Unsatisfiable", f"no value of hole `{spec.name}` is left to choose")
        if verdicts is None:
            word = random_word(matcher, run.random)
        else:
            word = await random_good_word(matcher, run.random, verdicts, request.name)
        return _simulated(machine, frame, spec, word.decode())
    if not run.has_model:
        raise failure(f"hole `{spec.name}` has no mock, and there is no model to ask")
    return await _generated(machine, frame, index, request, verdicts)


def _verdicts(machine: Strand, spec: HoleSpec, asked: list[object]) -> Verdicts:
    """What the validators of a hole say together: `dead` if one does, `final` if all do."""
    calls: list[tuple[Code, list[object]]] = []
    for index in spec.validators:
        code = machine.program.codes[index]
        more = len(code.parameters) - 1
        calls.append((code, asked[:more]))
        asked = asked[more:]

    async def ask(text: str) -> str:
        said = FINAL
        for code, arguments in calls:
            found = await machine.compute(code, [text, *arguments])
            if found == DEAD:
                return DEAD
            said = said if found == FINAL else ALIVE
        return said

    return Verdicts(ask)


def _keep(machine: Strand, frame: Frame, index: int, value: object, result: HoleResult) -> None:
    statistics = machine.run.statistics
    name = machine.program.holes[index].name
    machine.records.holes.append(
        HoleRecord(
            name,
            result.text,
            result.ended,
            result.tokens,
            result.sampled,
            result.forced,
            result.pressure,
        )
    )
    statistics.holes += 1
    statistics.sampled_tokens += result.sampled
    statistics.forwards += result.sampled - result.saved
    statistics.forced_tokens += result.forced
    statistics.output_tokens += result.tokens
    for allowance in frame.allowances:
        allowance.spent += result.tokens
    frame.holes[_short(name)] = value
    frame.texts[index] = result.text
    frame.stack.append(value)


def _mocked_text(machine: Strand, type: Type | None, value: object) -> str:
    if isinstance(value, Written):
        return value.text
    if type is None:
        return machine.show(value)
    try:
        return print_value(value, type, machine.program.table)
    except PrintError:
        raise failure(f"a mock answers with {kind(value)}, which is not a value of its hole") from None


async def _accept_mock(
    machine: Strand, request: HoleRequest, type: Type | None, text: str, verdicts: Verdicts | None
) -> None:
    """A mock goes through the hole's own matcher; values that a retry excluded stay legal for it."""
    plain = HoleRequest(request.name, request.key, request.language, passing=request.passing)
    matcher = machine.run.prepared.constraints.value(plain).matcher(machine.run.vocabulary)
    if not matcher.accept_bytes(text.encode()) or not matcher.is_accepting():
        one_line = "\n" in text and isinstance(type, Str) and not type.layout and not type.grammar
        reason = "; the hole writes one line, `lines` would let it write several" if one_line else ""
        shown = text if text.isprintable() else json_text(text)
        raise failure(f"the mock of `{request.name}` is not a value of the hole: {shown}{reason}")
    if verdicts is not None and await verdicts.of(text.encode()) != FINAL:
        raise failure(f"the mock of `{request.name}` is not accepted by its validator: {text}")


def _simulated(machine: Strand, frame: Frame, spec: HoleSpec, text: str) -> HoleResult:
    assert frame.conversation is not None
    frame.conversation.text(text)
    if machine.run.listeners and text:
        machine.emit("generated", {"hole": spec.name, "text": text})
    return HoleResult(text, ended="mock")


async def _generated(
    machine: Strand, frame: Frame, index: int, request: HoleRequest, verdicts: Verdicts | None
) -> HoleResult:
    """Let the model fill a hole. A repair is shown to the model as turns, and taken out again."""
    run = machine.run
    conversation = frame.conversation
    assert conversation is not None
    behind = _constant_behind(machine, conversation)
    if run.script is not None:
        request = request.answered(run.script.answer(request.name, request.stops))
    _, repairs, _ = earlier_values(frame, index)
    mark = show_repairs(conversation, repairs)
    report = _Report(machine, request.name)
    parts = (
        conversation,
        run.vocabulary,
        run.prepared.constraints,
        request,
        report,
        run.statistics.timing,
        run.context_length,
        run.check,
        run.drafting,
    )
    decoder = HoleDecoder(*parts) if verdicts is None else ValidatedHoleDecoder(verdicts, *parts)
    started = perf_counter()
    error = ""
    try:
        result = await decoder.run()
    except BaseException as raised:
        error = error_name(raised)
        written = mark.message + decoder.partial
        if isinstance(raised, SglError):
            raised.partial = raised.partial or written
        else:
            run.partial = run.partial or written
        raise
    finally:
        for allowance in frame.allowances:
            allowance.slack = min(allowance.slack, allowance.left - decoder.needed)
        if run.recorder is not None:
            decoder.result.behind = behind
            run.recorder.hole(
                request.name,
                machine.program.holes[index].mode,
                decoder.result,
                perf_counter() - started,
                error,
            )
    if repairs:
        conversation.restore(mark)
        conversation.text(result.text)
    return result


def _constant_behind(machine: Strand, conversation: Conversation) -> int:
    """Tokens of constant text behind inserted values; 0 where no recorder counts them."""
    text = conversation.ask()
    if not text or machine.run.recorder is None or conversation.encoder is None:
        return 0
    return len(conversation.encoder.encode(text))


def error_name(raised: BaseException) -> str:
    """How accounts name what ended a hole or a run."""
    if isinstance(raised, SglError):
        return raised.name
    return "Cancelled" if isinstance(raised, CancelledError) else "Internal"


async def select(machine: Strand, frame: Frame, index: int, given: list[object]) -> None:
    """Score every option of a `select` hole, write the best and leave the scores on the stack."""
    run = machine.run
    spec = machine.program.holes[index]
    table = machine.program.table
    candidates = Options(spec, given).candidates(table)
    if candidates is None:
        if spec.type is None:
            raise failure(f"hole `{spec.name}` has neither a type nor options")
        candidates = finite_values(machine.program.types[spec.type], table)
    excluded, repairs, _ = earlier_values(frame, index)
    options: dict[str, object] = {}
    for value in candidates:
        text = display(value, table)
        if text.encode() not in excluded:
            options.setdefault(text, value)
    if not options and excluded and give_up(frame, index):
        return
    if not options:
        raise SglError("Unsatisfiable", f"no option of `{spec.name}` is left to choose")
    if len(options) > SCORED_LIMIT:
        raise failure(f"`select` scores at most {SCORED_LIMIT} options; use `choose` for more")
    texts = list(options)
    if run.listeners:
        machine.emit("hole_start", {"hole": spec.name, "mode": "select"})
    mocked = run.mocked(spec.name, machine.branch)
    if mocked is not None:
        wanted = mocked[0].text if isinstance(mocked[0], Written) else display(mocked[0], table)
        if wanted not in options:
            raise failure(f"the mock of `{spec.name}` is not one of its options: {wanted}")
        top, probabilities = texts.index(wanted), [float(text == wanted) for text in texts]
    elif run.fuzzing:
        weights = [run.random.random() + 1e-9 for _ in texts]
        probabilities = [weight / sum(weights) for weight in weights]
        top = probabilities.index(max(probabilities))
    elif not run.has_model:
        raise failure(f"hole `{spec.name}` has no mock, and there is no model to ask")
    else:
        assert frame.conversation is not None
        result = HoleResult("", ended="select", behind=_constant_behind(machine, frame.conversation))
        started, error = perf_counter(), ""
        try:
            top, probabilities = await _scored(machine, frame, spec, texts, repairs, result)
        except BaseException as raised:
            error = error_name(raised)
            raise
        finally:
            if run.recorder is not None:
                run.recorder.hole(spec.name, spec.mode, result, perf_counter() - started, error)
    scored = Scored(options[texts[top]], tuple(options.values()), tuple(probabilities))
    assert frame.conversation is not None
    frame.conversation.text(texts[top])
    _keep(machine, frame, index, scored, HoleResult(texts[top], ended="select"))
    if run.listeners:
        machine.emit("generated", {"hole": spec.name, "text": texts[top]})
        shown = {text: round(p, 4) for text, p in zip(texts, probabilities, strict=True)}
        machine.emit("hole_end", {"hole": spec.name, "text": texts[top], "ended": "select", "scores": shown})


async def _scored(
    machine: Strand,
    frame: Frame,
    spec: HoleSpec,
    texts: list[str],
    repairs: list[tuple[str, str]],
    result: HoleResult,
) -> tuple[int, list[float]]:
    """Index of the best option and every option's probability, by the model. `result` gets what it took."""
    run = machine.run
    conversation = frame.conversation
    assert conversation is not None
    if len(texts) == 1:
        return 0, [1.0]
    mark = show_repairs(conversation, repairs)
    try:
        scores = await selection.score(conversation, texts, _follow(spec))
        result.work.add(scores.work)
        result.prompt = scores.prompt
        run.statistics.forwards += scores.work.forwards
        sums = scores.sums()
        if run.script is not None:
            wish = run.script.option(spec.name, texts)
            if wish is not None:
                scores = scores.favouring(wish)
                sums = scores.sums()
        if spec.by == "greedy":
            return selection.greedy(scores)
        if spec.by == "mean":
            sums = [total / len(tail) for total, tail in zip(sums, scores.tokens, strict=True)]
        elif spec.by == "contrast":
            base = await _premise(machine, frame, mark, spec, texts, result)
            sums = [total - other for total, other in zip(sums, base, strict=True)]
    except EngineError as fault:
        raise language_error(fault) from fault
    finally:
        conversation.restore(mark)
    probabilities = selection.softmax(sums)
    return probabilities.index(max(probabilities)), probabilities


def _follow(spec: HoleSpec) -> str:
    """The literal text behind the options on their line."""
    return "" if spec.end_of_message or not spec.stops else spec.stops[-1]


async def _premise(
    machine: Strand, frame: Frame, mark: Transcript, spec: HoleSpec, texts: list[str], result: HoleResult
) -> list[float]:
    """Scores of the options without the context: the message's opening and the hole's line alone."""
    run = machine.run
    conversation = frame.conversation
    assert conversation is not None
    role = mark.roles[-1] if mark.roles else ""
    follow = _follow(spec)
    key = (role, mark.line, tuple(texts), follow)
    known = run.premises.get(key)
    if known is None:
        alone = conversation.sibling()
        try:
            if role:
                alone.premise(role)
            if mark.line:
                alone.text(mark.line)
            scores = await selection.score(alone, texts, follow)
            result.work.add(scores.work)
            known = scores.sums()
            run.statistics.forwards += scores.work.forwards
        finally:
            alone.close()
        run.keep_premise(key, known, scores.work.forwards)
    return known
