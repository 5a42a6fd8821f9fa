"""Going back to a hole whose value was rejected, and giving up where no other value is left."""

from __future__ import annotations

from sglc.runtime.decoding.conversations.conversation import Conversation, Transcript
from sglc.runtime.vm.state.frame import Failed, Frame, Snapshot


def take_snapshot(frame: Frame, number: int) -> None:
    """Keep what a retry goes back to. Where another retry of the same hole has led here again, what is known
    of the hole's earlier values stays."""
    mark = frame.conversation.mark() if frame.conversation is not None else None
    made = Snapshot(
        frame.pc, list(frame.slots), len(frame.handlers), mark, frame.code.retries[number].attempts
    )
    known = frame.snapshots.get(number)
    if known is not None and number in frame.again:
        made.left, made.used, made.failed = known.left, known.used, known.failed
        made.excluded, made.repairs = known.excluded, known.repairs
    frame.again.discard(number)
    frame.snapshots[number] = made


def go_back(frame: Frame, number: int, text: str, reason: str) -> None:
    """Go back to before the hole, whose value had this text."""
    snapshot = frame.snapshots[number]
    point = frame.code.retries[number]
    frame.drop_tasks()
    snapshot.left -= 1
    snapshot.used += 1
    if point.strategy == "repair":
        snapshot.repairs.append((text, reason))
    else:
        snapshot.excluded.add(text.encode())
    mark = frame.conversation.mark() if frame.conversation is not None else None
    for other in frame.snapshots:
        if frame.code.retries[other].hole == point.hole:
            frame.snapshots[other].failed = None
            if frame.snapshots[other].resume > snapshot.resume:
                frame.again.add(other)
    snapshot.failed = Failed(frame.pc, list(frame.slots), list(frame.stack), dict(frame.texts), mark)
    frame.slots[:] = snapshot.slots
    frame.drop_handlers(snapshot.handlers)
    if snapshot.mark is not None and frame.conversation is not None:
        frame.conversation.restore(snapshot.mark)
    frame.pc = snapshot.resume


def give_up(frame: Frame, hole: int) -> bool:
    """Go on after the condition that failed last, as if it had no tries left; False if none failed."""
    for number, snapshot in frame.snapshots.items():
        failed = snapshot.failed
        if failed is None or frame.code.retries[number].hole != hole:
            continue
        frame.drop_tasks()
        snapshot.left, snapshot.failed = 0, None
        frame.pc = failed.resume
        frame.slots[:] = failed.slots
        frame.stack[:] = failed.stack
        frame.texts = failed.texts
        if failed.mark is not None and frame.conversation is not None:
            frame.conversation.restore(failed.mark)
        return True
    return False


def earlier_values(frame: Frame, hole: int) -> tuple[frozenset[bytes], list[tuple[str, str]], int]:
    """The texts that a hole must not repeat, the turns of repair to show, and the number of the attempt."""
    if not frame.snapshots:
        return frozenset(), [], 0
    excluded: set[bytes] = set()
    repairs: list[tuple[str, str]] = []
    attempt = 0
    for number, snapshot in frame.snapshots.items():
        if frame.code.retries[number].hole == hole:
            excluded |= snapshot.excluded
            repairs += snapshot.repairs
            attempt += snapshot.used
    return frozenset(excluded), repairs, attempt


def show_repairs(conversation: Conversation, repairs: list[tuple[str, str]]) -> Transcript:
    """Write rejected texts with their reasons as turns; gives what to restore once the hole is filled."""
    mark = conversation.mark()
    for rejected, reason in repairs:
        conversation.restore(conversation.repaired(mark, rejected, reason))
    return mark
