"""Holes that are filled by scores of whole options: `select`, and `choose`.

Both score every option in one step, as a continuation of the conversation. `select` takes the best and keeps
the scores; `choose` draws one in proportion to its probability, as a token is drawn from its logits.
"""

from __future__ import annotations

import math
from time import perf_counter

from sglc.automata.term import Language, Words
from sglc.bytecode.code import HoleSpec
from sglc.runtime.decoding.conversations.conversation import Conversation, Transcript
from sglc.runtime.decoding.filling.filler import Filler
from sglc.runtime.decoding.filling.scores import Scores
from sglc.runtime.decoding.requests import Budget, HoleRequest, HoleResult, RemoteWork
from sglc.runtime.decoding.strategies.drawn_texts import drawn_texts
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.errors import SglError
from sglc.runtime.vm.holes import selection
from sglc.runtime.vm.holes.chains import asked_first, first_answer
from sglc.runtime.vm.holes.drawing import drawn_scores
from sglc.runtime.vm.holes.models import filler_of, remote_shown, viewed
from sglc.runtime.vm.holes.options import SCORED_LIMIT, Options, finite_values
from sglc.runtime.vm.holes.records import (
    constant_behind,
    error_name,
    keep,
    note_asked,
    note_remote,
    scores_shown,
)
from sglc.runtime.vm.holes.retries import earlier_values, give_up, show_repairs
from sglc.runtime.vm.holes.unscored import written_option
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.run import Written
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.values import Scored, failure
from sglc.types.model_use import ModelUse
from sglc.types.text.printer import print_value
from sglc.types.type import Type
from sglc.values.text import display


def choices(
    machine: Strand, spec: HoleSpec, request: HoleRequest, values: dict[str, object], type: Type | None
) -> list[str] | None:
    """The texts of a `choose` that are scored as wholes; None where it is decoded token by token instead.

    That is where one text is left at most, where there are more than SCORED_LIMIT, where two models fill the
    hole together, and where the program or the run says `decode local`. Distinct samples of more texts are
    refused.
    """
    table = machine.program.table
    distinct = spec.decoding is not None and spec.decoding.distinct
    if spec.mode != "choose" or (spec.models and spec.models.teacher):
        return None
    if not distinct and (machine.run.local or (spec.decoding and spec.decoding.strategy == "local")):
        return None
    texts = list(values)
    if type is not None:
        texts = [print_value(value, type, table) for value in finite_values(type, table)]
    texts = [text for text in texts if text.encode() not in request.excluded]
    if distinct and len(texts) > SCORED_LIMIT:
        raise failure(f"distinct samples are drawn from at most {SCORED_LIMIT:,} options, not {len(texts):,}")
    if distinct and not texts:
        raise SglError("Unsatisfiable", f"no value of hole `{spec.name}` is left to choose")
    return texts if distinct or 1 < len(texts) <= SCORED_LIMIT else None


async def choose(
    machine: Strand,
    frame: Frame,
    index: int,
    request: HoleRequest,
    texts: list[str],
    model: ModelUse | None,
) -> HoleResult:
    """Draw one of some texts by the model's probability of each, and write it. Where several are
    wanted they are drawn without replacement; the first is written, and the result has the others.

    Temperature, top-k, top-p and min-p shape the distribution over the texts; without a temperature the
    most probable one is taken. Texts that a budget has no room for are left out. Raises Truncated where none
    is left.
    """
    run, spec = machine.run, machine.program.holes[index]
    conversation = frame.conversation
    assert conversation is not None
    result = HoleResult("", ended="choose", behind=constant_behind(machine, conversation))
    _, repairs, _ = earlier_values(frame, index)
    mark = show_repairs(conversation, repairs)
    use = model or ModelUse()
    seen = viewed(run, conversation, use.base)
    filler = filler_of(run.models[use.base.name])
    begun = seen.mark()
    started, error = perf_counter(), ""
    run.check()
    try:
        scores = await _measured(machine, filler, seen, spec, texts, result)
        result.scores = dict(zip(texts, selection.softmax(scores.sums()), strict=True))
        sizes = scores.sizes()
        _within(frame, request, sizes)
        place, *others = _drawn(machine, use, request, texts, sizes, scores.sums(), result, frame.wanted)
        result.text, result.tokens = texts[place], sizes[place]
        result.others = tuple(texts[other] for other in others)
        result.lost = sum(sizes[other] for other in others)
        if request.whole is not None and others and result.tokens + result.lost > request.whole.tokens:
            raise _truncated(request, request.whole)
    except EngineError as fault:
        error = language_error(fault).name
        raise language_error(fault) from fault
    except BaseException as raised:
        error = error_name(raised)
        raise
    finally:
        seen.restore(begun)
        conversation.restore(mark)
        note_remote(machine, result)
        if run.recorder is not None:
            run.recorder.hole(spec.name, spec.mode, result, perf_counter() - started, error)
    conversation.text(result.text)
    if run.listeners:
        machine.emit("generated", {"hole": spec.name, "text": result.text})
    return result


def _within(frame: Frame, request: HoleRequest, sizes: list[int]) -> None:
    """Note what budget the choice would have needed to go as it goes. Raises Truncated where no text fits."""
    budget, most = request.budget, frame.wanted * max(sizes)
    needed = most if budget is None or most <= budget.tokens else budget.tokens + 1
    for allowance in frame.allowances:
        allowance.slack = min(allowance.slack, allowance.left - needed)
    if budget is not None and min(sizes) > budget.tokens:
        raise _truncated(request, budget)


def _truncated(request: HoleRequest, budget: Budget) -> SglError:
    message = f"hole `{request.name}` cannot be completed within {budget.tokens} tokens ({budget.source})"
    return SglError("Truncated", message, partial="", fatal=budget.fatal)


def _drawn(
    machine: Strand,
    use: ModelUse,
    request: HoleRequest,
    texts: list[str],
    sizes: list[int],
    sums: list[float],
    result: HoleResult,
    wanted: int,
) -> list[int]:
    """Which texts are taken, all different: as many as are wanted, or fewer where fewer are left. `result`
    gets the log-probability of the first and the pressure of them all."""
    script = machine.run.models[use.base.name].script
    wish = None if script is None else script.option(request.name, texts)
    if wish is not None:
        return [wish, *(place for place in range(len(texts)) if place != wish)][:wanted]
    budget = request.budget
    most = math.inf if budget is None else budget.tokens
    fitting = [score if size <= most else -math.inf for score, size in zip(sums, sizes, strict=True)]
    places = drawn_texts(fitting, request.sampling, request.seed, wanted)
    if not places:
        message = f"the model gives no legal token of hole `{request.name}` any probability"
        raise SglError("Backend", message)
    result.logprob = sums[places[0]]
    if machine.run.weighed:
        top, result.weighed = max(sums), 1
        result.pressure = max(0.0, -top - math.log(sum(math.exp(each - top) for each in sums)))
    return places


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
        machine.emit("hole_start", {"hole": spec.name, "mode": "select", **asked_first(run, spec.models)})
    if run.asked is not None:
        words = Language(Words(frozenset(text.encode() for text in texts)))
        note_asked(machine, frame, spec, words)
    remote: RemoteWork | None = None
    mocked = run.mocks.take(spec.name, machine.branch)
    if mocked is not None:
        wanted = mocked[0].text if isinstance(mocked[0], Written) else display(mocked[0], table)
        if wanted not in options:
            raise failure(f"the mock of `{spec.name}` is not one of its options: {wanted}")
        given_scores = mocked[0].scores if isinstance(mocked[0], Written) else {}
        top = texts.index(wanted)
        probabilities = [
            given_scores.get(text, 0.0) if given_scores else float(text == wanted) for text in texts
        ]
    elif run.fuzzing:
        probabilities = [*drawn_scores(machine, spec.name, texts).values()]
        top = probabilities.index(max(probabilities))
    elif not run.model.can_be_asked:
        raise failure(f"hole `{spec.name}` has no mock, and there is no model to ask")
    else:
        assert frame.conversation is not None
        result = HoleResult("", ended="select", behind=constant_behind(machine, frame.conversation))
        started, error = perf_counter(), ""
        try:

            async def ask(use: ModelUse | None) -> tuple[int, list[float]]:
                return await _scored(machine, frame, spec, use or ModelUse(), texts, repairs, result)

            top, probabilities = await first_answer(machine, frame, spec, ask)
            remote = result.remote
        except BaseException as raised:
            error = error_name(raised)
            raise
        finally:
            note_remote(machine, result)
            if run.recorder is not None:
                run.recorder.hole(spec.name, spec.mode, result, perf_counter() - started, error)
    scored = Scored(options[texts[top]], tuple(options.values()), tuple(probabilities))
    assert frame.conversation is not None
    frame.conversation.text(texts[top])
    scores = dict(zip(texts, probabilities, strict=True))
    took = HoleResult(texts[top], ended="select", scores=scores, remote=remote)
    keep(machine, frame, index, scored, took)
    if run.listeners:
        machine.emit("generated", {"hole": spec.name, "text": texts[top]})
        shown = {"hole": spec.name, "text": texts[top], "ended": "select", **scores_shown(scores)}
        shown.update(remote_shown(remote))
        machine.emit("hole_end", shown)


async def _scored(
    machine: Strand,
    frame: Frame,
    spec: HoleSpec,
    use: ModelUse,
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
    seen = viewed(run, conversation, use.base)
    model = run.models[use.base.name]
    script, filler = model.script, filler_of(model)
    begun = seen.mark()
    try:
        if not filler.scores_texts:
            return await written_option(machine, frame, spec, filler, seen, texts, result)
        scores = await _measured(machine, filler, seen, spec, texts, result)
        if script is not None:
            wish = script.option(spec.name, texts)
            if wish is not None:
                scores = scores.favouring(wish)
        sums = scores.sums()
        if spec.by == "greedy":
            return selection.greedy(scores)
        if spec.by == "mean":
            sums = [total / len(tail) for total, tail in zip(sums, scores.tokens, strict=True)]
        elif spec.by == "contrast":
            base = await _premise(machine, filler, seen, begun, spec, use, texts, result)
            sums = [total - other for total, other in zip(sums, base, strict=True)]
    except EngineError as fault:
        raise language_error(fault) from fault
    finally:
        seen.restore(begun)
        conversation.restore(mark)
    probabilities = selection.softmax(sums)
    return probabilities.index(max(probabilities)), probabilities


async def _measured(
    machine: Strand,
    filler: Filler,
    conversation: Conversation,
    spec: HoleSpec,
    texts: list[str],
    result: HoleResult,
) -> Scores:
    """Scores of options behind a conversation as their model reads it. `result` gets what they took."""
    scores = await filler.score(conversation, texts, _follow(spec))
    result.work.add(scores.work)
    result.prompt, result.remote = scores.prompt, scores.remote
    machine.run.statistics.forwards += scores.work.forwards
    return scores


def _follow(spec: HoleSpec) -> str:
    """The literal text behind the options on their line."""
    return "" if spec.end_of_message or not spec.stops else spec.stops[-1]


async def _premise(
    machine: Strand,
    filler: Filler,
    conversation: Conversation,
    mark: Transcript,
    spec: HoleSpec,
    use: ModelUse,
    texts: list[str],
    result: HoleResult,
) -> list[float]:
    """Scores of the options without the context: the message's opening and the hole's line alone."""
    run = machine.run
    role = mark.roles[-1] if mark.roles else ""
    follow = _follow(spec)
    key = (use.base, role, mark.line, tuple(texts), follow)
    known = run.premises.get(key)
    if known is None:
        alone = conversation.sibling()
        try:
            if role:
                alone.premise(role)
            if mark.line:
                alone.text(mark.line)
            scores = await filler.score(alone, texts, follow)
            result.work.add(scores.work)
            known = scores.sums()
            run.statistics.forwards += scores.work.forwards
        finally:
            alone.close()
        run.keep_premise(key, known, scores.work.forwards)
    return known
