"""The functions of a program as functions of SGLang's Python front end.

fn desk(mail: str):                     @sgl.function
    user: | ${mail}                →    def desk(s, mail):
    assistant: | Desk: ?{desk: Desk}        s += sgl.user(mail)
                                            s += sgl.assistant("Desk: " + sgl.gen("desk", regex=…))

Arguments are texts, as the language writes their values. Answers are texts too: `s["desk"]`.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from sglc.targets.core.comments import docstring, in_docstring, lost
from sglc.targets.core.names import distinct, plain
from sglc.targets.core.places import PROGRAM
from sglc.targets.core.target import Subject, Written
from sglc.targets.core.type_parts import losses_of
from sglc.targets.projection.core.loss import Loss
from sglc.targets.projection.hole_forms import finite_values, is_raw, pattern_of, schema_of
from sglc.targets.requests.walk import Hole, Message, Part, Reference, Script, known, scripts_of
from sglc.types.dependent import erased, given_types
from sglc.types.json_text import json_text
from sglc.types.notation.json_schema import unsaid
from sglc.types.text.plain_json import write_json
from sglc.types.type import AliasType, Type, TypeTable
from sglc.values.text import display

LONGEST_ANSWER = 4_096
"""Tokens of an answer that the program does not bound: without a bound SGLang takes 128."""

_HEAD = '''\
"""{title}

Written by `sglc build --emit sglang`, for SGLang's Python front end. Arguments are texts.
"""

import sglang as sgl
'''
_SETTINGS = {"temp": "temperature", "top_p": "top_p", "top_k": "top_k", "min_p": "min_p"}
_METHODS = {
    "greedy": "greedy_token_selection",
    "mean": "token_length_normalized",
    "sum": "token_length_normalized",
    "contrast": "unconditional_likelihood_normalized",
}
"""How options are scored; `_SAME` are scored the same way."""
_TAKEN = frozenset(
    "s sgl self max_new_tokens n stop stop_token_ids stop_regex temperature top_p top_k min_p "
    "frequency_penalty presence_penalty ignore_eos return_logprob logprob_start_len top_logprobs_num "
    "return_text_in_logprobs stream backend use_thread".split()
)
"""Names of the module, and of what `run` of a function takes itself (`SglFunction.run`, SGLang 0.5)."""
_SAME = frozenset(("greedy", "mean"))


def write(subject: Subject) -> Written:
    """A function for every function of the main module that asks a model."""
    scripts = scripts_of(subject.module)
    if not scripts:
        return Written("", (Loss("a program whose main module asks no model", PROGRAM),))
    main = subject.checked.main.module
    parts = [_HEAD.format(title=in_docstring(main.doc or f"The program {main.source.name}."))]
    losses: list[Loss] = []
    names = _words(script.function.name for script in scripts)
    for script in scripts:
        writer = _Function(script, names[script.function.name], subject.checked.table)
        written = writer.written()
        found = (*script.losses, *writer.losses)
        parts.append(lost(found, "#") + written)
        losses += found
    return Written("\n\n".join(parts), tuple(dict.fromkeys(losses)))


class _Function:
    """One function, message by message."""

    def __init__(self, script: Script, name: str, table: TypeTable) -> None:
        self.script = script
        self.name = name
        self.words = _words(each.name for each in script.function.parameters)
        self.table = table
        self.losses: dict[Loss, None] = {}
        self.holes = [part for each in script.messages for part in each.parts if isinstance(part, Hole)]
        self.answers = {hole.name for hole in self.holes}

    def lose(self, construct: str, place: str, instead: str = "") -> None:
        self.losses[Loss(construct, place, instead)] = None

    def written(self) -> str:
        function = self.script.function
        if function.within is not None and len(self.holes) > 1:
            self.lose("a budget of several answers", function.name, "the budget for each answer")
        given = ["s"]
        for each in function.parameters:
            default = f"={json_text(display(each.default, self.table))}" if each.has_default else ""
            given.append(f"{self.words[each.name]}{default}")
        lines = ["@sgl.function", f"def {self.name}({', '.join(given)}):"]
        if function.doc:
            lines.append(f"    {docstring(function.doc)}")
        lines += (f"    {line}" for message in self.script.messages for line in self.lines(message))
        return "\n".join(lines) + "\n"

    def lines(self, message: Message) -> list[str]:
        """A message in one statement, or in several where its text names an answer in it."""
        own = {part.name for part in message.parts if isinstance(part, Hole)}
        cut = any(isinstance(part, Reference) and part.path in own for part in message.parts)
        shown = [self.part(part) for part in message.parts] or ['""']
        if not message.role:
            return [f"s += {part}" for part in shown]
        if not cut:
            return [f"s += sgl.{message.role}({' + '.join(shown)})"]
        begun, ended = f"s += sgl.{message.role}_begin()", f"s += sgl.{message.role}_end()"
        return [begun, *(f"s += {part}" for part in shown), ended]

    def part(self, part: Part) -> str:
        match part:
            case str():
                return json_text(part)
            case Reference(path=path):
                if path in self.answers:
                    return f"s[{json_text(path)}]"
                if path not in self.words:
                    self.lose("a part of a value in a text", self.script.function.name)
                    return '""'
                return self.words[path]
        return self.hole(part)

    # -- holes -----------------------------------------------------------------------------------------

    def hole(self, hole: Hole) -> str:
        info = hole.info
        if info.condition is not None:
            self.lose("a condition on the answer", hole.place, "every value of the type")
        if info.validators:
            self.lose("a validator", hole.place, "every value of the type")
        if info.models is not None:
            self.lose(f"`using {info.models.shown()}`", hole.place, "one model for all requests")
        if info.type is None:
            self.lose("options that are values of the run", hole.place)
            return '""'
        if info.mode == "select":
            return self.select(hole, info.type)
        stops = ""
        if info.stops and is_raw(info.type, self.table):
            stops = f", stop=[{', '.join(map(json_text, info.stops))}]"
        return f"sgl.gen({json_text(hole.name)}{self.form(hole, info.type)}{stops}{self.settings(hole)})"

    def select(self, hole: Hole, type: Type) -> str:
        by = hole.info.by
        method = _METHODS[by]
        if by not in _SAME:
            self.lose(f"`select … by {by}`", hole.place, f"`{method}`")
        options = ", ".join(json_text(display(each, self.table)) for each in finite_values(type, self.table))
        return f"sgl.select({json_text(hole.name)}, choices=[{options}], choices_method=sgl.{method})"

    def form(self, hole: Hole, type: Type) -> str:
        """How the answer looks: a pattern, or a JSON Schema."""
        if given_types(type):
            self.lose("what depends on values of the run", hole.place, "every value of the type")
            type = erased(type)
        if is_raw(type, self.table):
            pattern = pattern_of(type, self.table)
            if pattern is None:
                self.lose("texts without a short pattern", hole.place, "any text")
            return "" if pattern is None else f", regex={json_text(pattern)}"
        schema = schema_of(type, self.table)
        definitions = schema["$defs"]
        assert isinstance(definitions, dict)
        there = {name: self.table.get(name, AliasType(name, type)) for name in definitions}
        for loss in losses_of(there, unsaid):
            self.lose(loss.construct, hole.place, loss.instead)
        return f", json_schema={json_text(write_json(schema))}"

    def settings(self, hole: Hole) -> str:
        """Sampling, and the bound on tokens. Without a temperature the best token is taken."""
        found: dict[str, object] = {"temperature": 0}
        decoding = hole.info.decoding
        if decoding is not None and decoding.strategy != "local":
            self.lose(f"`decode {decoding}`", hole.place, "what the server draws")
        most = [] if self.script.function.within is None else [self.script.function.within]
        for name, value in hole.options.items():
            if name == "n":
                self.lose("several samples", hole.place, "one answer")
            elif name == "seed":
                self.lose("`seed`", hole.place, "the request without it")
            elif not known(value):
                if name in (*_SETTINGS, "max_tokens"):
                    self.lose(f"`{name}` that is a value of the run", hole.place, "the request without it")
            elif name in _SETTINGS:
                found[_SETTINGS[name]] = value
            elif name == "max_tokens":
                most.append(value)  # type: ignore[arg-type]
        found["max_tokens"] = min(most, default=LONGEST_ANSWER)
        return "".join(f", {name}={value}" for name, value in found.items())


def _words(names: Iterable[str]) -> dict[str, str]:
    """Names of the program as names of Python, each another one."""
    found: dict[str, str] = {}
    for name in names:
        found[name] = distinct(
            plain(name),
            lambda each: keyword.iskeyword(each) or each in _TAKEN or each in found.values(),
        )
    return found
