"""What is shown of a run: the assistant's text, not the prompt; one branch, not all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sglc.bytecode.code import Code, Instruction, Program
from sglc.bytecode.opcodes import BY_NAME
from sglc.commands.running.narration import Narrator


@dataclass
class Happened:
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    branch: str = ""


class Seen:
    def __init__(self) -> None:
        self.pieces: list[tuple[str, bool]] = []
        self.tokens = 0

    def write(self, text: str, generated: bool) -> None:
        self.pieces.append((text, generated))

    def token(self) -> None:
        self.tokens += 1

    def finish(self) -> None:
        pass


def code(name: str, kind: Any, *, roles: bool) -> Code:
    instructions = (Instruction(BY_NAME["ROLE"].number),) if roles else ()
    return Code(name, kind, (), None, (), instructions, ())


PROGRAM = Program(
    name="p",
    codes=(
        code("chat", "fn", roles=True),
        code("raw", "fn", roles=False),
        code("splice", "part", roles=False),
    ),
    entry={"chat": 0, "raw": 1},
    constants=(),
    names=(),
    types=(),
    table={},
    holes=(),
)


def narrate(function: str, *events: Happened) -> list[tuple[str, bool]]:
    seen = Seen()
    narrator = Narrator(PROGRAM, seen, function)
    for event in events:
        narrator(event)
    assert narrator.said == "".join(text for text, _ in seen.pieces)
    return seen.pieces


def text(words: str, branch: str = "") -> Happened:
    return Happened("text", {"text": words}, branch)


def generated(words: str, branch: str = "") -> Happened:
    return Happened("generated", {"text": words}, branch)


def role(name: str, branch: str = "") -> Happened:
    return Happened("role", {"role": name}, branch)


def test_only_the_assistant_is_shown() -> None:
    assert narrate(
        "chat",
        role("user"),
        text("Who?"),
        role("assistant"),
        text("I am "),
        generated("Ada"),
        Happened("forced", {"text": "."}),
    ) == [("I am ", False), ("Ada", True), (".", False)]


def test_a_completion_without_roles_is_shown_whole() -> None:
    assert narrate("raw", text("Fuji is "), generated("high")) == [("Fuji is ", False), ("high", True)]


def test_messages_are_parted_by_a_newline() -> None:
    assert narrate(
        "chat", role("assistant"), generated("a"), role("user"), role("assistant"), generated("b")
    ) == [
        ("a", True),
        ("\n", False),
        ("b", True),
    ]


def test_a_called_function_has_a_conversation_of_its_own() -> None:
    assert narrate(
        "chat",
        role("assistant"),
        generated("a"),
        Happened("call", {"function": "chat"}),
        text("prompt"),
        Happened("return", {"function": "chat"}),
        text("b"),
    ) == [("a", True), ("b", False)]


def test_a_part_writes_into_the_open_message() -> None:
    assert narrate(
        "chat",
        role("assistant"),
        Happened("call", {"function": "splice"}),
        text("a"),
        Happened("return", {"function": "splice"}),
        text("b"),
    ) == [("a", False), ("b", False)]


def test_of_all_branches_the_adopted_one_is_shown() -> None:
    assert narrate(
        "chat",
        role("user"),
        Happened("fork", {"branches": 2}),
        role("assistant", "0"),
        role("assistant", "1"),
        generated("zero", "0"),
        generated("one", "1"),
        Happened("adopt", {"index": 1}),
    ) == [("one", True)]


def test_a_second_fork_forgets_the_branches_of_the_first() -> None:
    fork = Happened("fork", {"branches": 1})
    assert narrate(
        "chat",
        fork,
        role("assistant", "0"),
        generated("old", "0"),
        fork,
        role("assistant", "0"),
        generated("new", "0"),
        Happened("adopt", {"index": 0}),
    ) == [("new", True)]


def test_a_retry_says_why() -> None:
    assert narrate(
        "chat",
        role("assistant"),
        generated("3"),
        Happened("retry", {"strategy": "resample", "reason": "too small"}),
        generated("5"),
    ) == [("3", True), ("\n", False), ("(resample: too small)\n", False), ("5", True)]
