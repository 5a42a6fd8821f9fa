"""From the events of a run to the text that a person wants to watch: what the assistant says, as it says it.

Prompt text is left out; text outside of any message is shown, because a completion without roles has nothing
else. Branches of a fork write at the same time, so theirs is kept back until one is adopted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sglc.bytecode.code import Program
from sglc.bytecode.opcodes import BY_NAME


class Sink(Protocol):
    """Where narrated text goes."""

    def write(self, text: str, generated: bool) -> None:
        """Show a piece of text. `generated`: the model chose it. Other text was forced, or is a remark."""

    def token(self) -> None:
        """Count a token that the model chose, for figures of speed."""

    def finish(self) -> None:
        """End the output: no text follows."""


class Happening(Protocol):
    """What narration reads of an event."""

    @property
    def kind(self) -> str:
        """Which event it is: `call`, `role`, `text`, `generated` and so on."""

    @property
    def data(self) -> Mapping[str, Any]:
        """What this kind of event tells, by name."""

    @property
    def branch(self) -> str:
        """Place among forks, such as `0.2`; empty outside of them."""


@dataclass(slots=True)
class _Conversation:
    """One conversation that is going on: without roles, or the role of the open message."""

    raw: bool
    role: str = ""

    @property
    def watched(self) -> bool:
        return self.role == "assistant" or (self.raw and not self.role)


class Narrator:
    """Listens to the events of one run and passes on what is to be seen; `said` is all of it so far."""

    def __init__(self, program: Program, sink: Sink, function: str) -> None:
        role = BY_NAME["ROLE"].number
        self._kinds = {code.copy_of or code.name: code.kind for code in program.codes}
        self._raw = {
            code.copy_of or code.name: not any(instruction.op == role for instruction in code.instructions)
            for code in program.codes
        }
        self._sink = sink
        self._open: dict[str, list[_Conversation]] = {"": [_Conversation(self._raw.get(function, False))]}
        self._kept: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        self._said: list[str] = []

    @property
    def said(self) -> str:
        """All text that was passed on so far."""
        return "".join(self._said)

    def __call__(self, event: Happening) -> None:
        data = event.data
        stack = self._stack(event.branch)
        match event.kind:
            case "call" if self._kinds.get(data["function"]) == "fn":
                stack.append(_Conversation(self._raw[data["function"]]))
            case "return" if self._kinds.get(data["function"]) == "fn" and len(stack) > 1:
                stack.pop()
            case "role":
                stack[-1].role = data["role"]
                if data["role"] == "assistant":
                    self._new_line(event.branch)
            case "text" if stack[-1].watched:
                self._say(event.branch, data["text"], False)
            case "forced":
                self._say(event.branch, data["text"], False)
            case "generated":
                self._sink.token()
                self._say(event.branch, data["text"], True)
            case "fallback":
                self._new_line(event.branch)
                self._say(event.branch, f"({data['model']} failed: {data['message']})\n", False)
            case "again":
                self._new_line(event.branch)
                self._say(event.branch, f"(again: {data['reason']})\n", False)
            case "retry":
                self._new_line(event.branch)
                self._say(event.branch, f"({data['strategy']}: {data['reason']})\n", False)
            case "fork":
                prefix = f"{event.branch}." if event.branch else ""
                for index in range(data["branches"]):
                    self._open.pop(f"{prefix}{index}", None)
                    self._kept.pop(f"{prefix}{index}", None)
            case "adopt":
                branch = f"{event.branch}.{data['index']}" if event.branch else str(data["index"])
                for text, generated in self._kept.pop(branch, []):
                    self._say(event.branch, text, generated)

    def finish(self) -> None:
        """End the output when the run has ended."""
        self._sink.finish()

    def _stack(self, branch: str) -> list[_Conversation]:
        stack = self._open.get(branch)
        if stack is None:
            parent = self._stack(branch.rpartition(".")[0])[-1]
            stack = self._open[branch] = [_Conversation(parent.raw, parent.role)]
        return stack

    def _say(self, branch: str, text: str, generated: bool) -> None:
        if branch:
            self._kept[branch].append((text, generated))
        else:
            self._said.append(text)
            self._sink.write(text, generated)

    def _new_line(self, branch: str) -> None:
        said = self._kept[branch] if branch else None
        last = (said[-1][0] if said else "") if said is not None else (self._said[-1] if self._said else "")
        if last and not last.endswith("\n"):
            self._say(branch, "\n", False)
