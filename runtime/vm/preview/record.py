"""What a preview keeps of each conversation: where it belongs, what its holes are asked, where it stops."""

from __future__ import annotations

from dataclasses import dataclass, field

from sglc.bytecode.code import Place
from sglc.runtime.decoding.conversations.conversation import Conversation, Transcript
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.seed import known_name
from sglc.runtime.vm.state.strand import Strand


@dataclass(frozen=True, slots=True)
class Remark:
    """Something said of a place: why a conversation stops there, or what was taken for granted."""

    text: str
    """The condition, as it stands in the source."""
    place: Place | None
    holes: tuple[str, ...]
    """What it depends on."""
    written: int = 0
    """Characters of the conversation before it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model would be given to fill a hole: all of `transcript`."""

    hole: str
    transcript: Transcript


@dataclass(slots=True)
class RecordedConversation:
    """One conversation, as its function, or a branch of a fork, has left it."""

    conversation: Conversation
    path: tuple[str, ...]
    """Names of the functions that were running when it began, the outermost first."""
    branch: str
    """The path of its fork's branch, `0.2`; empty outside of forks."""
    called: Place | None
    """Where its function was called; None for the first, and for branches."""
    asked: list[Asked] = field(default_factory=list)
    stopped: Remark | None = None
    passed: list[Remark] = field(default_factory=list)
    """Conditions on unknown values that the conversation has gone beyond, as if they let it."""

    @property
    def assumed(self) -> list[Remark]:
        """The conditions without which what stands behind them would not be written, each once."""
        size = len(self.conversation.rendered())
        return list(dict.fromkeys(remark for remark in self.passed if remark.written < size))

    @property
    def taken_back(self) -> list[Asked]:
        """What holes were asked that does not stand in the conversation any more: `try`, `retry … repair`."""
        final = self.conversation.state
        return [asked for asked in self.asked if not is_beginning(asked.transcript, final)]


class Record:
    """The conversations of one preview in the order in which they began."""

    def __init__(self) -> None:
        self.conversations: list[RecordedConversation] = []
        self.uncertain = False
        """Whether a value is unknown yet. Before that nobody needs to look for one."""

    def enter(self, machine: Strand, called: Place | None = None) -> None:
        """The newest frame has begun a conversation; `called` is where, if another machine did."""
        frames = machine.frames
        frame = frames[-1]
        if frame.conversation is None or not frame.owns:
            return
        called = machine.place(frames[-2]) if len(frames) > 1 else called
        own = tuple(known_name(each.code) for each in frames if each.code.kind != "pure")
        path = (*machine.callers, *own)
        self.conversations.append(RecordedConversation(frame.conversation, path, machine.branch, called))

    def of(self, machine: Strand, frame: Frame) -> RecordedConversation:
        """What is kept of a frame's conversation; that of a branch is entered now."""
        for known in reversed(self.conversations):
            if known.conversation is frame.conversation:
                return known
        assert frame.conversation is not None
        path = machine.names()
        self.conversations.append(RecordedConversation(frame.conversation, path, machine.branch, None))
        return self.conversations[-1]


def is_beginning(asked: Transcript, final: Transcript) -> bool:
    """Whether a conversation that is now `final` has only grown since it was `asked`."""
    count = len(asked.closed)
    if final.closed[:count] != asked.closed or final.notes[: len(asked.notes)] != asked.notes:
        return False
    now = final.closed[count][0] if count < len(final.closed) else final.stretch
    return now.startswith(asked.stretch)
