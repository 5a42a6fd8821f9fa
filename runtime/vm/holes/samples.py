"""`n k`: several samples of one hole, filled side by side in copies of the conversation.

The value is the list of all samples, and the conversation goes on with the first. Sample 0 draws what the
hole would draw without `n`. The other samples draw from seeds derived from its seed, so a sample depends on
its own number and not on how many there are. The copies share everything that was computed before the hole.
Walks of `decode exact` learn from each other's. Beams are one search, which gives different texts, and
distinct samples are one draw without replacement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.engine.sampling.seeds import mix
from sglc.runtime.errors import SglError
from sglc.runtime.vm.holes import holes
from sglc.runtime.vm.holes.models import warm
from sglc.runtime.vm.holes.retries import earlier_values, give_up
from sglc.runtime.vm.state.frame import Allowance, Frame
from sglc.runtime.vm.state.run import Records
from sglc.runtime.vm.state.seed import Seeds
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.values import failure

MOST_SAMPLES = 1024


async def fill(machine: Strand, frame: Frame, index: int, given: list[object]) -> None:
    """Fill a hole several times and leave the list of values on the stack."""
    run = machine.run
    spec = machine.program.holes[index]
    count = given[spec.options.index("n")]
    if not isinstance(count, int) or not 1 <= count <= MOST_SAMPLES:
        raise failure(f"a hole has 1 to {MOST_SAMPLES} samples, not {count}")
    assert frame.conversation is not None
    if count > 1:
        await warm(run, frame.conversation, [spec.models])
    together = _together(machine, index)
    branches = 1 if together else count
    machine.emit("fork", {"branches": branches})
    strands = [_strand(machine, frame, number, branches) for number in range(branches)]
    if together:
        strands[0].frames[0].wanted = count
    tree = PrefixTree()
    for strand in strands:
        strand.frames[0].tree = tree
    frame.seeds.holes += 1
    jobs = [
        asyncio.ensure_future(
            holes.fill(strand, strand.frames[0], index, _options(given, spec.options, number))
        )
        for number, strand in enumerate(strands)
    ]
    try:
        await _all(jobs)
    except SglError as error:
        excluded, _, _ = earlier_values(frame, index)
        if error.name == "Unsatisfiable" and excluded and give_up(frame, index):
            return
        raise
    else:
        _take_over(machine, frame, index, strands)
    finally:
        for strand in strands:
            for whole, share in zip(frame.allowances, strand.frames[0].allowances, strict=True):
                whole.slack = min(whole.slack, share.slack)
            strand.frames[0].leave()


def _together(machine: Strand, index: int) -> bool:
    """Whether one search finds all samples: beams and distinct draws give different texts.

    Distinct values are a promise to the program, so random values keep it too, and draws token by token do
    not take their place. A mock says itself what it answers.
    """
    run, spec = machine.run, machine.program.holes[index]
    if spec.decoding is None or run.mocks.has(spec.name, machine.branch):
        return False
    beams = spec.decoding.strategy == "beam" and not run.local and not run.fuzzing
    return spec.decoding.distinct or beams


def _strand(machine: Strand, frame: Frame, number: int, count: int) -> Strand:
    """A line of execution of one sample. The samples share each budget evenly, so that all can end."""
    seed = frame.seeds.seed if number == 0 else mix("sample", frame.seeds.seed, number)
    strand = type(machine)(machine.run, (*machine.path, number), seed)
    strand.records = Records()
    assert frame.conversation is not None
    own = Frame(
        frame.code,
        frame.slots,
        frame.conversation.fork(),
        True,
        tuple(Allowance(each.left // count, each.source, each.fatal) for each in frame.allowances),
        Seeds(seed, frame.seeds.holes),
        pc=frame.pc,
        # A sample knows what was rejected before it; giving up is left to the hole as a whole.
        snapshots={key: replace(known, failed=None) for key, known in frame.snapshots.items()},
    )
    strand.frames.append(own)
    return strand


def _options(given: list[object], names: tuple[str, ...], number: int) -> list[object]:
    """The hole's options for one sample: a written seed is varied by its number."""
    if number == 0 or "seed" not in names:
        return given
    varied = list(given)
    place = names.index("seed")
    varied[place] = mix("sample", varied[place], number)
    return varied


async def _all(jobs: Sequence[asyncio.Future[None]]) -> None:
    """Wait for all; the first that fails ends the others."""
    try:
        await asyncio.gather(*jobs)
    finally:
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)


def _take_over(machine: Strand, frame: Frame, index: int, strands: list[Strand]) -> None:
    """Go on with the text of the first sample and the values of all."""
    first = strands[0].frames[0]
    assert frame.conversation is not None and first.conversation is not None
    frame.conversation.adopt(first.conversation)
    first.conversation = None
    machine.emit("adopt", {"index": 0})
    for strand in strands:
        machine.records.add(strand.records)
    values = [strand.frames[0].stack.pop() for strand in strands]
    if first.wanted > 1:
        (values,) = values  # type: ignore[assignment]
    for place, allowance in enumerate(frame.allowances):
        allowance.spent += sum(strand.frames[0].allowances[place].spent for strand in strands)
    name = next(iter(first.holes))
    frame.holes[name] = values
    frame.texts[index] = first.texts[index]
    frame.stack.append(values)
