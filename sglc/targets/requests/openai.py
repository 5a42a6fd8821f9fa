"""The functions of a program as request bodies of OpenAI's chat completions, a list for each function.

fn crew(theme: str):                {"crew": [{"answer": "member", "request": {
    user: | One for ${theme}.    →      "messages": [{"role": "user", "content": "One for ${theme}."}],
    assistant: | ?{member: Crew}        "response_format": {…}, "temperature": 0}}]}

Arguments and earlier answers stand as `${name}` in texts, where `\\${` is the two characters themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sglc.targets.core.places import PROGRAM
from sglc.targets.core.target import Subject, Written
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.schemas.dialects import LONGEST_NAME, MOST_STOPS, Schema
from sglc.targets.requests.strict_schema import strict_schema, without_aliases
from sglc.targets.requests.walk import Hole, Message, Part, Reference, Script, known, scripts_of
from sglc.types.text.plain_json import write_json
from sglc.types.type import Str, Type, TypeTable

_SETTINGS = {"temp": "temperature", "top_p": "top_p", "seed": "seed", "n": "n"}
"""Options of holes that the requests have, too."""


def write(subject: Subject) -> Written:
    """The requests of every function of the main module that asks a model."""
    scripts = scripts_of(subject.module)
    if not scripts:
        return Written("", (Loss("a program whose main module asks no model", PROGRAM),))
    functions: dict[str, object] = {}
    losses: list[Loss] = []
    for script in scripts:
        writer = _Requests(script, subject.checked.table)
        functions[script.function.name] = writer.requests()
        losses += (*script.losses, *writer.losses)
    return Written(write_json(functions, indent=2) + "\n", tuple(dict.fromkeys(losses)))


class _Requests:
    """The requests of one function, in the order of its holes."""

    def __init__(self, script: Script, table: TypeTable) -> None:
        self.script = script
        self.table = table
        self.losses: dict[Loss, None] = {}
        self.holes = [part for message in script.messages for part in message.parts if isinstance(part, Hole)]

    def lose(self, construct: str, place: str, instead: str = "") -> None:
        self.losses[Loss(construct, place, instead)] = None

    def requests(self) -> list[object]:
        function = self.script.function
        if self.script.whole and self.script.messages and not self.script.messages[0].role:
            self.lose("text without messages", function.name)
        if function.within is not None and len(self.holes) > 1:
            self.lose("a budget of several answers", function.name, "the budget for each answer")
        found: list[object] = []
        for at, message in enumerate(self.script.messages):
            before = [_shown(earlier, earlier.parts) for earlier in self.script.messages[:at]]
            for index, part in enumerate(message.parts):
                if isinstance(part, Hole):
                    begun = message.parts[:index]
                    if begun:
                        instead = "its beginning as a message before the answer"
                        self.lose("an answer that goes on with its message", part.place, instead)
                    messages = [*before, _shown(message, begun)] if begun else before
                    found.append({"answer": part.name, "request": self.request(part, messages)})
        return found

    def request(self, hole: Hole, messages: Sequence[object]) -> dict[str, object]:
        """The body of one request, but for the name of the model."""
        info = hole.info
        if info.condition is not None:
            self.lose("a condition on the answer", hole.place, "every value of the type")
        if info.validators:
            self.lose("a validator", hole.place, "every value of the type")
        if info.models is not None:
            self.lose(f"`using {info.models.shown()}`", hole.place, "one model for all requests")
        if info.mode == "select":
            self.lose("the scores of options", hole.place, "an answer that is one of them")
        body: dict[str, object] = {"messages": messages}
        if info.type is None:
            self.lose("options that are values of the run", hole.place)
        elif isinstance(text := without_aliases(info.type, self.table), Str):
            body |= self.text(hole, text)
        else:
            body["response_format"] = self.schema(hole, info.type)
        return body | self.settings(hole)

    def schema(self, hole: Hole, type: Type) -> Schema:
        schema, losses = strict_schema(type, self.table, hole.place)
        self.losses.update(dict.fromkeys(losses))
        name = re.sub(r"[^A-Za-z0-9_-]", "_", hole.name)[:LONGEST_NAME]
        return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}

    def text(self, hole: Hole, type: Str) -> dict[str, object]:
        """A text has stops; nothing else can be asked of it."""
        if type.min_chars or type.max_chars is not None or type.patterns or type.excludes or type.grammar:
            self.lose("a condition on a text that is no JSON", hole.place, "any text")
        stops = [*hole.info.stops, *type.until]
        if type.layout in ("", "line"):
            stops.append("\n")
        stops = list(dict.fromkeys(stops))
        shortest = [stop for stop in stops if not any(stop != o and stop.startswith(o) for o in stops)]
        if len(shortest) > MOST_STOPS:
            self.lose(f"more than {MOST_STOPS} stops", hole.place, f"the first {MOST_STOPS}")
        return {"stop": shortest[:MOST_STOPS]} if shortest else {}

    def settings(self, hole: Hole) -> dict[str, object]:
        """Sampling, and the bound on tokens. Without a temperature the best token is taken."""
        found: dict[str, object] = {"temperature": 0}
        decoding = hole.info.decoding
        if decoding is not None and decoding.strategy != "local":
            self.lose(f"`decode {decoding}`", hole.place, "what the server draws")
        most = [] if self.script.function.within is None else [self.script.function.within]
        for name, value in hole.options.items():
            if not known(value):
                if name in (*_SETTINGS, "top_k", "min_p", "max_tokens"):
                    self.lose(f"`{name}` that is a value of the run", hole.place, "the request without it")
            elif name in _SETTINGS:
                found[_SETTINGS[name]] = value
            elif name == "max_tokens":
                most.append(value)  # type: ignore[arg-type]
            elif name in ("top_k", "min_p"):
                self.lose(f"`{name}`", hole.place, "the request without it")
        return {**found, "max_completion_tokens": min(most)} if most else found


def _shown(message: Message, parts: Sequence[Part]) -> dict[str, object]:
    """A message with its text; answers of its own stand in it by name."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part.replace("${", "\\${"))
        else:
            texts.append(f"${{{part.path if isinstance(part, Reference) else part.name}}}")
    return {"role": message.role, "content": "".join(texts)}
