"""Instructions on the conversation: messages, text, holes, retries."""

from __future__ import annotations

from sglc.runtime.engine.sampling.seeds import mix
from sglc.runtime.vm.holes import samples
from sglc.runtime.vm.holes.holes import fill
from sglc.runtime.vm.holes.retries import go_back, take_snapshot
from sglc.runtime.vm.holes.scoring import select
from sglc.runtime.vm.state.frame import Frame, take
from sglc.runtime.vm.state.run import CheckRecord
from sglc.runtime.vm.state.seed import known_name
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.values import BranchValue, failure
from sglc.values.kinds import TEXT_LIMIT, kind


def do_role(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Open a message of role `a`. Each message so far costs a step: the template reads them all."""
    assert frame.conversation is not None
    name = machine.program.names[a]
    frame.conversation.role(name)
    machine.run.steps += len(frame.conversation.state.roles)
    if machine.run.listeners:
        machine.emit("role", {"role": name})
    return None


def do_end_role(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Close the open message."""
    assert frame.conversation is not None
    told = frame.conversation.end_role()
    if told and machine.run.listeners:
        machine.emit("text", {"text": told})
    return None


def do_tools(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Tell the empty conversation of the tools in constant `a`."""
    assert frame.conversation is not None
    tools = machine.program.constants[a]
    assert isinstance(tools, str)
    frame.conversation.offer(tools)
    return None


def do_call_text(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Write the part of a tool's call that `a` names, in the form of the model."""
    assert frame.conversation is not None
    text = frame.conversation.call_text(machine.program.names[a])
    if machine.run.listeners:
        machine.emit("text", {"text": text})
    return None


def do_line(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Begin a pipe line: on a new line, unless it is the first of its message or glued to the last."""
    assert frame.conversation is not None
    if frame.conversation.line() and machine.run.listeners:
        machine.emit("text", {"text": "\n"})
    return None


def do_glue(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Let the next pipe line go on in the line at hand."""
    assert frame.conversation is not None
    frame.conversation.glue()
    return None


def _write(machine: Strand, frame: Frame, text: str, *, constant: bool) -> None:
    conversation = frame.conversation
    assert conversation is not None
    if len(conversation.state.stretch) + len(text) > TEXT_LIMIT:
        raise failure(f"a message grew beyond {TEXT_LIMIT} characters")
    if constant:
        conversation.constant(text)
    else:
        conversation.insert(text)
    if machine.run.listeners:
        machine.emit("text", {"text": text} if constant else {"text": text, "inserted": True})


def do_text(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Write constant `a` of the program."""
    _write(machine, frame, machine.program.constants[a], constant=True)  # type: ignore[arg-type]
    return None


def do_insert(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a value and write its text, which never becomes a special token."""
    _write(machine, frame, machine.show(frame.stack.pop()), constant=False)
    return None


def do_gen(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Fill hole `a` with the newest `b` items as its options, and push the value; with option `n` a list."""
    given = take(frame, b)
    if "n" in machine.program.holes[a].options:
        return samples.fill(machine, frame, a, given)
    return fill(machine, frame, a, given)


def do_select(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Score the options of hole `a`, write the best one and push a `Scored`."""
    return select(machine, frame, a, take(frame, b))


def do_snapshot(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Keep what retry `a` goes back to."""
    take_snapshot(frame, a)
    return None


def do_retry(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a reason, and go back to the hole of retry `a` where it has a value and attempts are left."""
    reason = frame.stack.pop()
    point = frame.code.retries[a]
    text = frame.texts.get(point.hole)
    if frame.snapshots[a].left <= 0 or text is None:
        return None
    machine.run.statistics.retries += 1
    why = machine.show(reason) if reason is not None else "the answer does not meet a condition"
    name = machine.program.holes[point.hole].name
    machine.emit("retry", {"hole": name, "strategy": point.strategy, "rejected": text, "reason": why})
    go_back(frame, a, text, why)
    return None


def do_record_check(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a reason or null, and note a check that held (`a`) or did not."""
    reason = frame.stack.pop()
    text = machine.show(reason) if reason is not None else ""
    machine.records.checks.append(CheckRecord(bool(a), text, known_name(frame.code), machine.place(frame)))
    machine.emit("check", {"passed": bool(a), "reason": text})
    return None


def do_seed(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a number: the seed of this conversation from here on, together with that of the run."""
    number = frame.stack.pop()
    if not isinstance(number, int):
        raise failure(f"a seed is an integer, not {kind(number)}")
    frame.seeds.begin(mix("seed", machine.run.seed, number))
    return None


def do_adopt(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Pop a branch and go on in its conversation. Its siblings are closed."""
    branch = frame.stack.pop()
    if not isinstance(branch, BranchValue):
        raise failure(f"{kind(branch)} is no branch to adopt")
    if branch.conversation is None or frame.conversation is None:
        raise failure("a branch can be adopted once, in the function that forked it")
    frame.conversation.adopt(branch.conversation)
    branch.conversation = None
    for group in frame.forks:
        if branch in group:
            for other in group:
                if other.conversation is not None:
                    other.conversation.close()
                    other.conversation = None
    machine.emit("adopt", {"index": branch.index})
    return None
