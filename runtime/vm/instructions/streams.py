"""Instructions that read the result of a call while it is written."""

from __future__ import annotations

from sglc.runtime.vm.state.frame import Frame, Handler, take
from sglc.runtime.vm.state.strand import Outcome, Strand
from sglc.runtime.vm.state.streams import CallStream
from sglc.runtime.vm.state.values import failure
from sglc.types.text.partial_values import partial_value


def do_stream(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Open a stream: a call of code `a` with the newest `b` items, which begins when it is first read."""
    stream = CallStream(machine, frame, machine.program.codes[a], take(frame, b))
    frame.handlers.append(Handler(None, len(frame.stack), None, stream=stream))
    return None


def newest(frame: Frame) -> CallStream:
    """The stream that was opened last. The verifier has seen to it that it is what is open."""
    stream = frame.handlers[-1].stream
    assert isinstance(stream, CallStream)
    return stream


def do_stream_next(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Push whether there is more of the newest stream's result, which the hole of name `a` writes."""
    return _next(frame, newest(frame), machine.program.names[a])


async def _next(frame: Frame, stream: CallStream, hole: str) -> None:
    frame.stack.append(await stream.next(hole))


def do_stream_part(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Push what is there of the newest stream's result, as a value of the partial type `a`."""
    program = machine.program
    try:
        value = partial_value(newest(frame).current, program.types[a], program.table)  # type: ignore[arg-type]
    except ValueError as fault:
        raise failure(f"a stream gave {fault}") from None
    frame.stack.append(value)
    return None


def do_end_stream(machine: Strand, frame: Frame, a: int, b: int) -> Outcome:
    """Close the newest stream and push the result of its call, null where it was stopped."""
    stream = newest(frame)
    frame.handlers.pop()
    return _close(frame, stream)


async def _close(frame: Frame, stream: CallStream) -> None:
    frame.stack.append(await stream.close())
