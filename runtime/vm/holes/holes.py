"""How the machine fills a hole: from a mock, from a random walk, or from the model."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from sglc.automata.term import Language, Words
from sglc.bytecode.code import Code, HoleSpec
from sglc.runtime.decoding.filling.filler import FillRequest
from sglc.runtime.decoding.requests import HoleRequest, HoleResult
from sglc.runtime.decoding.validated import ALIVE, DEAD, FINAL, Verdicts
from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.vm.holes import scoring, unscored
from sglc.runtime.vm.holes.budgets import budget_of
from sglc.runtime.vm.holes.chains import asked_first, first_answer
from sglc.runtime.vm.holes.drawing import figures_source, random_text
from sglc.runtime.vm.holes.following import following, keep_ahead, known_text
from sglc.runtime.vm.holes.fuzz import random_figures, random_scores
from sglc.runtime.vm.holes.models import asked, remote_shown, shares_shown
from sglc.runtime.vm.holes.options import Options
from sglc.runtime.vm.holes.records import (
    constant_behind,
    error_name,
    keep,
    note_asked,
    note_remote,
    shown_figures,
)
from sglc.runtime.vm.holes.reporting import Report
from sglc.runtime.vm.holes.retries import earlier_values, give_up, show_repairs
from sglc.runtime.vm.state.debugging import HoleWatch
from sglc.runtime.vm.state.dependent_types import Bound
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.run import Written
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.values import Scored, failure
from sglc.types.decoding import LOCAL, certain_figures
from sglc.types.json_text import json_text
from sglc.types.language.language import language
from sglc.types.model_use import ModelUse
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.printer import print_value
from sglc.types.text.scalar_printer import PrintError
from sglc.types.type import Str, Type
from sglc.values.kinds import kind

PIECE = 4
"""Characters of a piece of a mock or random text in a stream: about those of a token of English."""
MOST_PIECES = 64
"""Most of these pieces of one text: each is read with all that is there before it."""


def request_of(
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
    assert frame.conversation is not None
    request = HoleRequest(
        name=spec.name,
        key=key,
        language=described,
        passing=bool(given),
        stops=spec.stops,
        end_of_message=spec.end_of_message,
        excluded=excluded,
        budget=budget_of(frame, options.whole("max_tokens")),
        whole=budget_of(frame, None),
        sampling=options.sampling(),
        seed=frame.seeds.hole(options.whole("seed"), attempt, frame.conversation.digest()),
        blend=options.blend(spec.models.rule) if spec.models and spec.models.teacher else None,
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


def _scored(
    machine: Strand, spec: HoleSpec, values: dict[str, object], type: Type | None, result: HoleResult
) -> Scored:
    """The options of a `choose` with their probabilities."""
    scores = result.scores or {}
    options = tuple(_decoded(machine, spec, values, type, text) for text in scores)
    best = max(zip(scores.values(), options, strict=True), key=lambda each: each[0])[1]
    return Scored(best, options, tuple(scores.values()))


async def fill(machine: Strand, frame: Frame, index: int, given: list[object]) -> None:
    """Fill a `gen` or `choose` hole and leave its value on the stack."""
    run = machine.run
    spec = machine.program.holes[index]
    options = Options(spec, given)
    request, values, type = request_of(machine, frame, index, options)
    verdicts = verdicts_of(machine, spec, options.asked()) if spec.validators else None
    if run.listeners:
        machine.emit("hole_start", {"hole": spec.name, "mode": spec.mode, **asked_first(run, spec.models)})
    if machine.stream is not None:
        machine.stream.begins(machine, spec.name)
    try:
        result = await _filled(machine, frame, index, request, values, type, verdicts)
    except SglError as error:
        if error.name == "Unsatisfiable" and request.excluded and give_up(frame, index):
            return
        raise
    value = _decoded(machine, spec, values, type, result.text)
    if frame.wanted > 1:
        texts = (result.text, *result.others)
        if len(texts) < frame.wanted:
            count = "1 text" if len(texts) == 1 else f"{len(texts)} texts"
            raise SglError("Unsatisfiable", f"hole `{spec.name}` has {count}, not {frame.wanted}")
        value = [_decoded(machine, spec, values, type, text) for text in texts]
    scored = _scored(machine, spec, values, type, result) if spec.told and result.scores else None
    keep(machine, frame, index, value, result, scored)
    if run.listeners:
        machine.emit(
            "hole_end",
            {
                "hole": spec.name,
                "text": result.text,
                "ended": result.ended,
                **({"decode": result.decode} if result.decode else {}),
                "tokens": result.tokens,
                "forced": result.forced,
                "sampled": result.sampled,
                "prompt": result.prompt,
                **({"logprob": round(result.logprob, 4)} if run.detailed else {}),
                **({"pressure": round(result.pressure, 4)} if result.pressure is not None else {}),
                **shown_figures(result),
                **shares_shown(result.shares),
                **remote_shown(result.remote),
            },
            took={"queue": round(result.work.queued, 4), "reused": result.work.tokens_reused},
        )


async def _filled(
    machine: Strand,
    frame: Frame,
    index: int,
    request: HoleRequest,
    values: dict[str, object],
    type: Type | None,
    verdicts: Verdicts | None,
) -> HoleResult:
    """The text of a value: of a mock, at random, or of the model."""
    run = machine.run
    spec = machine.program.holes[index]
    if run.asked is not None:
        note_asked(machine, frame, spec, request.language, request.excluded)
    mocked = run.mocks.take(spec.name, machine.branch)
    if mocked is not None:
        text = _mocked_text(machine, type, mocked[0])
        await accept_given(machine, request, type, text, verdicts)
        options = (scoring.choices(machine, spec, request, values, type) if spec.told else None) or [text]
        return await _simulated(machine, frame, spec, text, _given(spec, options, text, mocked[0]))
    if run.fuzzing:
        words: list[str] = []
        while len(words) < frame.wanted:
            taken = request.excluded.union(word.encode() for word in words)
            asking = replace(request, excluded=taken)
            words.append(await random_text(machine, asking, type, [*values], verdicts))
        figures: dict[str, Any] = {}
        if spec.told and spec.mode == "choose":
            options = scoring.choices(machine, spec, request, values, type) or words[:1]
            figures = {"scores": random_scores(options, figures_source(machine, spec.name))}
        elif spec.told and spec.decoding is not None:
            figures = random_figures(spec.decoding, figures_source(machine, spec.name))
        return await _simulated(machine, frame, spec, words[0], figures, *words[1:])
    if not run.model.can_be_asked:
        raise failure(f"hole `{spec.name}` has no mock, and there is no model to ask")
    texts = scoring.choices(machine, spec, request, values, type)

    async def ask(use: ModelUse | None) -> HoleResult:
        if texts is not None and unscored.is_scored(machine, spec, use):
            return await scoring.choose(machine, frame, index, request, texts, use)
        result = await _generated(machine, frame, index, request, type, verdicts, use)
        if texts is not None and spec.told:
            result.scores = unscored.certain_scores(result.text, texts)
        return result

    result = await first_answer(machine, frame, spec, ask)
    if texts is not None:
        return result
    if spec.mode == "choose" and not result.sampled and result.ended != "budget":
        result.scores = {result.text: 1.0}  # no other option was left
    return result


def verdicts_of(machine: Strand, spec: HoleSpec, asked: list[object]) -> Verdicts:
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


def _mocked_text(machine: Strand, type: Type | None, value: object) -> str:
    if isinstance(value, Written):
        return value.text
    if type is None:
        return machine.show(value)
    try:
        return print_value(value, type, machine.program.table)
    except PrintError:
        raise failure(f"a mock answers with {kind(value)}, which is not a value of its hole") from None


async def accept_given(
    machine: Strand, request: HoleRequest, type: Type | None, text: str, verdicts: Verdicts | None
) -> None:
    """A mock goes through the hole's own matcher; values that a retry excluded stay legal for it."""
    plain = HoleRequest(request.name, request.key, request.language, passing=request.passing)
    matcher = machine.run.prepared.constraints.value(plain).matcher(machine.run.model.vocabulary)
    if not matcher.accept_bytes(text.encode(errors="surrogatepass")) or not matcher.is_accepting():
        one_line = "\n" in text and isinstance(type, Str) and not type.layout and not type.grammar
        reason = "; the hole writes one line, `lines` would let it write several" if one_line else ""
        shown = text if text.isprintable() else json_text(text)
        raise failure(f"the mock of `{request.name}` is not a value of the hole: {shown}{reason}")
    if verdicts is not None and await verdicts.of(text.encode()) != FINAL:
        raise failure(f"the mock of `{request.name}` is not accepted by its validator: {text}")


def _given(spec: HoleSpec, options: list[str], text: str, mock: object) -> dict[str, Any]:
    """What the strategy tells of a text that is given, if that is read: what was found in a run, or that it
    is certain. `options` are those of a choice."""
    found = mock if isinstance(mock, Written) else Written(text)
    if not spec.told:
        return {}
    if spec.mode == "choose":
        scores = found.scores or {text: 1.0}
        return {"scores": {each: scores.get(each, 0.0) for each in options}}
    return {**certain_figures(spec.decoding or LOCAL), **found.figures}


async def _simulated(
    machine: Strand, frame: Frame, spec: HoleSpec, text: str, figures: Mapping[str, Any], *others: str
) -> HoleResult:
    """Write a text that is given. The reader of a stream gets it in pieces of about the length of a token."""
    assert frame.conversation is not None
    size = max(PIECE, -(-len(text) // MOST_PIECES)) if machine.stream is not None else len(text)
    for at in range(0, len(text), max(1, size)):
        piece = text[at : at + size]
        frame.conversation.text(piece)
        if machine.run.listeners:
            machine.emit("generated", {"hole": spec.name, "text": piece})
        if machine.stream is not None:
            machine.stream.wrote(machine, spec.name, piece)
            await asyncio.sleep(0)  # here the call is held, as it is while it waits for a model
    return HoleResult(text, ended="mock", others=others, **figures)


async def _generated(
    machine: Strand,
    frame: Frame,
    index: int,
    request: HoleRequest,
    type: Type | None,
    verdicts: Verdicts | None,
    use: ModelUse | None,
) -> HoleResult:
    """Let a model fill a hole, or two together. A repair is shown as turns, which are taken out again."""
    run = machine.run
    conversation = frame.conversation
    assert conversation is not None
    behind = constant_behind(machine, conversation)
    _, repairs, _ = earlier_values(frame, index)
    mark = show_repairs(conversation, repairs)
    who = asked(run, conversation, use)
    model = who.model
    if run.debugger is not None:
        request = replace(request, watcher=HoleWatch(run.debugger, machine, index))
    if model.script is not None:
        request = request.answered(model.script.answer(request.name, request.stops))
    spec = machine.program.holes[index]
    strategy = spec.decoding or LOCAL
    if run.local and not strategy.distinct:
        strategy = LOCAL
    group = following(machine, frame, index, who.filler, request.sampling)
    wanted = FillRequest(
        request,
        type,
        machine.program.table,
        strategy,
        verdicts,
        frame.tree,
        frame.wanted,
        run.statistics.timing,
        run.check,
        known_text(frame, index),
        tuple(each for _, each in group),
    )
    report = Report(machine, request.name, model.vocabulary.token_bytes)
    work = who.filler.begin(who.conversation, wanted, report)
    started = perf_counter()
    error = ""
    try:
        result = await work.run()
    except BaseException as raised:
        error = error_name(raised)
        if isinstance(raised, SglError):
            raised.partial = raised.partial or work.partial
        else:
            run.partial = run.partial or work.partial or mark.message
        raise
    finally:
        for allowance in frame.allowances:
            allowance.slack = min(allowance.slack, allowance.left - work.needed)
        note_remote(machine, work.result)
        if run.recorder is not None:
            work.result.behind = behind
            run.recorder.hole(
                request.name,
                machine.program.holes[index].mode,
                work.result,
                perf_counter() - started,
                error,
            )
    if repairs:
        conversation.restore(mark)
    if repairs or not who.itself:
        conversation.text(result.text)
    if result.ahead:
        keep_ahead(frame, group, result.ahead)
    return result
