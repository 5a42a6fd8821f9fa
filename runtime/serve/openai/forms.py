"""What an answer is held to: text, a JSON Schema, a regex, a grammar, one of several texts."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from sglc.automata.regex.compile import RegexError
from sglc.automata.regex.to_term import regex_term
from sglc.automata.term import Language, Words
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.serialize import to_text
from sglc.cfg.notation.reader import read_grammar
from sglc.runtime.decoding.conversations.conversation import Chat
from sglc.runtime.decoding.requests import Constraints, HoleRequest, filled_language
from sglc.runtime.mask.automaton.limits import ConstraintOptions, compiling
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.serve.openai.calls import Notation, answer_language, notation_of
from sglc.runtime.serve.openai.errors import wrong
from sglc.runtime.serve.openai.parameters import Parameters, checked_text
from sglc.runtime.serve.openai.tools import Tools
from sglc.types.language.language import language
from sglc.types.schema_language import SchemaTextError, schema_text_of
from sglc.types.text.plain_json import write_json
from sglc.types.type import Json, Str
from sglc.types.values import MAX_DEPTH, is_too_deep

MOST_FORMS = 128
"""Forms that are kept compiled: a service has some dozens of schemas; each may hold megabytes of masks."""
MOST_CHOICES = 10_000
"""Texts of a `choice`. One of 10,000 words compiles in some tenths of a second."""
MOST_CHARACTERS = 1_000_000
"""Characters of a schema, a regex, a grammar or all choices. Limits of work bound what they ask for."""
MOST_NOTATIONS = 32
"""Lists of tools whose notation is kept, each with a template that was told of it."""
ANY_OBJECT = '{"type": "object"}'


@dataclass(frozen=True, slots=True)
class Form:
    """What an answer is held to, as the request has it: `source` is the schema's JSON text, the regex or the
    grammar, and `words` are the texts of a choice. `param` is where the request says it."""

    kind: Literal["text", "json", "regex", "grammar", "choice"] = "text"
    source: str = ""
    words: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    """Of a text: what ends it."""
    param: str = "stop"
    tools: Tools | None = None
    """What a text, or JSON, may call instead."""

    @property
    def whole(self) -> bool:
        """Whether an answer that a limit has ended is complete all the same: not so for plain text."""
        return self.kind != "text" or (self.tools is not None and self.tools.mode == "required")


TEXT = Form()
"""Plain text."""


def form_of(parameters: Parameters, stops: tuple[str, ...]) -> Form:
    """What `response_format` or `structured_outputs` ask for. Raises Refusal."""
    form = _of_format(parameters) or TEXT
    if (other := _of_structured(parameters)) is not None:
        if form.whole:
            raise wrong("structured_outputs", "`structured_outputs` and `response_format` exclude each other")
        form = other
    if not stops:
        return form
    if form.whole:
        raise wrong("stop", "`stop` would cut an answer that has a form; such an answer ends by itself")
    return Form(stops=stops)


def _of_format(parameters: Parameters) -> Form | None:
    if (given := parameters.take("response_format")) is None:
        return None
    found = Parameters(given, "response_format")
    kind = found.needed("type")
    if kind == "json_schema":
        inner = found.inner("json_schema")
        inner.ignore("name", "description", "strict")  # the schema holds in any case
        schema = inner.take("schema")
        inner.end()
        form = _json({} if schema is None else schema, "response_format.json_schema.schema")
    elif kind == "json_object":
        form = Form("json", ANY_OBJECT, param="response_format")
    elif kind == "text":
        form = TEXT
    else:
        raise wrong("response_format.type", "`response_format.type` is text, json_object or json_schema")
    found.end()
    return form


_WAYS = ("json", "regex", "choice", "grammar", "json_object")


def _of_structured(parameters: Parameters) -> Form | None:
    if (given := parameters.take("structured_outputs")) is None:
        return None
    found = Parameters(given, "structured_outputs")
    values = {name: value for name in _WAYS if (value := found.take(name)) is not None and value is not False}
    found.end()
    if len(values) != 1:
        raise wrong("structured_outputs", "`structured_outputs` has one of " + ", ".join(_WAYS))
    [(name, value)] = values.items()
    place = f"structured_outputs.{name}"
    if name == "json_object":
        return Form("json", ANY_OBJECT, param=place)
    if name == "json":
        return (
            Form("json", _short(value, place), param=place) if isinstance(value, str) else _json(value, place)
        )
    if name == "choice":
        return _choice(value, place)
    return Form("regex" if name == "regex" else "grammar", _short(value, place), param=place)


def _json(schema: object, place: str) -> Form:
    if not isinstance(schema, dict | bool):
        raise wrong(place, f"`{place}` is a JSON Schema: an object")
    if is_too_deep(schema):
        raise wrong(place, f"`{place}` is nested deeper than {MAX_DEPTH} levels")
    return Form("json", _short(write_json(schema), place), param=place)


def _choice(value: object, place: str) -> Form:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_CHOICES:
        raise wrong(place, f"`{place}` is a list of 1 to {MOST_CHOICES} texts")
    words = tuple(dict.fromkeys(checked_text(each, place) for each in value))
    if sum(map(len, words)) > MOST_CHARACTERS:
        raise wrong(place, f"`{place}` has more than {MOST_CHARACTERS} characters")
    return Form("choice", words=words, param=place)


def _short(value: object, place: str) -> str:
    text = checked_text(value, place)
    if len(text) > MOST_CHARACTERS:
        raise wrong(place, f"`{place}` has more than {MOST_CHARACTERS} characters")
    return text


def language_of(form: Form, notation: Notation | None = None) -> Language:
    """The legal texts of a form; of one with tools in a notation of calls. Raises ConstraintError,
    GrammarError, RegexError, SchemaTextError, and Refusal for tools that cannot be called."""
    if form.tools is not None and notation is not None:
        schema = form.source if form.kind == "json" else None
        return answer_language(form.tools, notation, form.stops, schema)
    match form.kind:
        case "json":
            return language(Json(schema_text_of(form.source)), {})
        case "regex":
            return Language(regex_term(form.source, dialect="python"))
        case "grammar":
            kind: Literal["gbnf", "lark"] = "gbnf" if "::=" in form.source else "lark"
            grammar = to_text("grammar", read_grammar(form.source, kind))
            return language(Str(grammar=grammar), {})
        case "choice":
            return Language(Words(frozenset(word.encode() for word in form.words)))
    return language(Str(layout="free", until=form.stops), {})


@dataclass(frozen=True, slots=True)
class _Compiled:
    language: Language
    constraint: Constraint


def _compiled(form: Form, notation: Notation | None) -> _Compiled:
    """Raises Refusal where there is no such constraint, or it has no text."""
    try:
        with compiling(ConstraintOptions()):
            found = language_of(form, notation)
            made = compile_constraint(language=filled_language(found))
    except GrammarError as fault:
        where = f" (line {fault.line}, column {fault.column})" if fault.line else ""
        raise wrong(form.param, f"the grammar cannot be used: {fault.reason}{where}") from None
    except (SchemaTextError, RegexError) as fault:
        what = "schema" if form.kind == "json" else "regex"
        raise wrong(form.param, f"the {what} cannot be used: {fault}") from None
    except ConstraintError as fault:
        raise wrong(form.param, f"it cannot be enforced: {fault}") from None
    if made.is_empty:
        raise wrong(form.param, "no text satisfies it")
    return _Compiled(found, made)


class Forms:
    """Forms of requests to one model, compiled in a thread, one at a time; the latest are kept. `chat` is the
    model's template, None where it has none."""

    def __init__(self, constraints: Constraints, chat: Chat | None = None) -> None:
        self._constraints = constraints
        self._chat = chat
        self._known: OrderedDict[Form, _Compiled] = OrderedDict()
        self._notations: OrderedDict[str, Notation] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, "forms")

    async def notation(self, tools: str) -> Notation | None:
        """How this model's calls of tools look, given their JSON list; None for a model without roles."""
        if self._chat is None:
            return None
        if tools not in self._notations:
            loop = asyncio.get_running_loop()
            found = await loop.run_in_executor(self._thread, notation_of, self._chat, tools)
            self._notations[tools] = found
            if len(self._notations) > MOST_NOTATIONS:
                self._notations.popitem(last=False)
        self._notations.move_to_end(tools)
        return self._notations[tools]

    async def request(
        self, name: str, form: Form, notation: Notation | None, admit: Callable[[], None]
    ) -> HoleRequest:
        """A request for a hole of this form. `admit` is asked before a form is compiled, and may refuse.
        Raises Refusal for one that cannot be enforced, too."""
        found = self._known.get(form)
        if found is None:
            if form != TEXT:
                admit()
            loop = asyncio.get_running_loop()
            found = await loop.run_in_executor(self._thread, self._compiled, form, notation)
            self._known[form] = found
            if len(self._known) > MOST_FORMS:
                self._known.popitem(last=False)
        self._known.move_to_end(form)
        made = HoleRequest(name, ("form", form), found.language, passing=True, stops=form.stops)
        self._constraints.keep(made, found.constraint)
        return made

    def _compiled(self, form: Form, notation: Notation | None) -> _Compiled:
        """What another request has had compiled while this one waited, else a new one."""
        return self._known.get(form) or _compiled(form, notation)

    def __len__(self) -> int:
        return len(self._known)
