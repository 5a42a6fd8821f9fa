"""How a model writes calls of tools: the notation of its template, the language of an answer, and its reader.

An answer is one language: text and then calls, or calls alone. Text never has the mark with which a call
begins, so that every legal answer can be read in one way only, while it is written.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from sglc.automata.analysis.emptiness import is_empty
from sglc.automata.joined_terms import choice, sequence
from sglc.automata.regex.compile import RegexError
from sglc.automata.regex.to_term import regex_term
from sglc.automata.term import Bytes, Language, Repeat, Term
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.serialize import to_text
from sglc.cfg.notation.reader import read_grammar
from sglc.runtime.chat import ChatTemplate, TemplateError
from sglc.runtime.decoding.conversations.conversation import Chat
from sglc.runtime.decoding.conversations.tool_form import ToolForm, between_calls, native_form
from sglc.runtime.serve.openai.errors import unsupported, wrong
from sglc.runtime.serve.openai.tools import INPUT, PastCall, Tool, Tools
from sglc.types.language.language import language
from sglc.types.schema_language import SchemaTextError, schema_text_of
from sglc.types.text.plain_json import write_json
from sglc.types.type import Json, LanguageError, Str

CALL = {"call": '<tool_call>{"name": "', "arguments": '", "arguments": ', "end": "}</tool_call>"}
"""The parts of a call where a template has no notation that text can have."""
_TOLD = (
    "You can call these functions:",
    'To call one, write <tool_call>{"name": NAME, "arguments": OBJECT}</tool_call>, each call on a line of '
    "its own; the results follow.",
)
_RESULT = "<tool_response>\n{}\n</tool_response>"
"""A result where the template knows no role `tool`: a message of the user."""
_SAMPLE = '[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]'
"""Asked for the notation of calls in a conversation that has some and no tools any more."""
_MARK = re.compile(r"[^\s{\"]{2,}")
_OPENED = '{"' + INPUT + '": "'


@dataclass(frozen=True, slots=True)
class Notation:
    """How calls stand in a model's messages. `between` stands between two of them, None where a message has
    one only; `results` says whether the template has messages of results."""

    form: ToolForm
    between: str | None
    results: bool = True

    @property
    def mark(self) -> str:
        """What a call begins with and text never has; empty where calls begin with their brace. Then an
        answer that begins with a brace is a call."""
        found = _MARK.match(self.form.part("call"))
        return "" if found is None else found[0]

    def written(self, name: str, arguments: str) -> str:
        """A call; `arguments` is its JSON text."""
        part = self.form.part
        return f"{part('call')}{name}{part('arguments')}{arguments}{part('end')}"

    def message(self, content: str, calls: tuple[PastCall, ...]) -> str:
        """The text of a message with calls. Raises Refusal where there may be one only."""
        if len(calls) > 1 and self.between is None:
            raise wrong("messages", "the template of this model has one call in a message")
        text = (self.between or "").join(self.written(call.name, call.arguments) for call in calls)
        return f"{content}{'' if not content or content.endswith(chr(10)) else chr(10)}{text}"

    def result(self, text: str) -> tuple[str, str]:
        """The role and the text of a message with a result."""
        return ("tool", text) if self.results else ("user", _RESULT.format(text))


def notation_of(chat: Chat, tools: str) -> Notation:
    """The notation of a chat for a JSON list of tools; an empty text is any.

    A template spells special tokens and tools in one text. Tools that have the spelling of one are told of
    as text, which never becomes special tokens.
    """
    form = native_form(chat, tools or _SAMPLE)
    if form is not None and not _has_special(form, tools):
        return Notation(form, between_calls(form))
    return Notation(ToolForm(chat, tuple(CALL.items()), _told(tools)), "\n", _has_results(chat))


def _has_special(form: ToolForm, tools: str) -> bool:
    return isinstance(form.chat, ChatTemplate) and any(name in tools for name in form.chat.special_names)


def _has_results(chat: Chat) -> bool:
    try:
        chat.pieces(("user", "assistant", "tool", "assistant"))
    except TemplateError:
        return False
    return True


def _told(tools: str) -> str:
    if not tools:
        return ""
    lines = [write_json(each["function"]) for each in json.loads(tools)]
    return "\n".join([_TOLD[0], *lines, _TOLD[1]])


# -- the language of answers -----------------------------------------------------------------------------


def answer_language(tools: Tools, notation: Notation, stops: tuple[str, ...], schema: str | None) -> Language:
    """The legal answers: text, or JSON of a schema, or calls, as the request wants them.

    Raises Refusal for tools that cannot be called.
    """
    rules: dict[str, Term] = {}

    def joined(found: Language) -> Term:
        rules.update(found.rules)
        return found.root

    if schema is not None and not notation.mark and tools.mode == "auto":
        why = "calls of this model begin as JSON does; use `tool_choice` `required` or `none`"
        raise unsupported("response_format", why)
    if schema is not None:
        said = joined(language(Json(schema_text_of(schema)), {}, surface="json"))
    else:
        said = joined(_text(notation, stops))
    if tools.mode == "none":
        return Language(said, rules)
    arms = [
        sequence(Bytes(f"{tool.name}{notation.form.part('arguments')}".encode()), joined(_arguments(tool)))
        for tool in tools.allowed
    ]
    call = sequence(
        Bytes(notation.form.part("call").encode()), choice(*arms), Bytes(notation.form.part("end").encode())
    )
    most = 1 if notation.between is None else tools.most
    calls: Term = Repeat(call, 1, most, (notation.between or "").encode()) if most > 1 else call
    if tools.mode == "required":
        return Language(calls, rules)
    if schema is not None or not notation.mark:
        return Language(choice(said, calls), rules)
    return Language(sequence(said, choice(Bytes(b""), calls)), rules)


def _text(notation: Notation, stops: tuple[str, ...]) -> Language:
    """Text without calls in it."""
    if notation.mark:
        return language(Str(layout="free", until=stops, excludes=(notation.mark,)), {})
    return language(Str(layout="free", until=stops, patterns=(r"([^{][\s\S]*)?",)), {})


def _arguments(tool: Tool) -> Language:
    """The JSON texts of a tool's arguments. Raises Refusal."""
    try:
        found = _arguments_of(tool)
    except GrammarError as fault:
        where = f" (line {fault.line}, column {fault.column})" if fault.line else ""
        raise wrong(tool.param, f"the grammar of {tool.name} cannot be used: {fault.reason}{where}") from None
    except (SchemaTextError, RegexError, LanguageError) as fault:
        raise wrong(tool.param, f"{tool.name} cannot be called: {fault}") from None
    if is_empty(found):
        raise wrong(tool.param, f"{tool.name} cannot be called: no arguments satisfy what it wants")
    return found


def _arguments_of(tool: Tool) -> Language:
    match tool.kind:
        case "function":
            return language(Json(schema_text_of(tool.source)), {}, surface="json")
        case "regex":
            inside = Language(regex_term(tool.source, dialect="python", encoding="json"))
            left, right = Bytes(_OPENED.encode()), Bytes(b'"}')
        case _:
            grammar = to_text("grammar", read_grammar(tool.source, "lark")) if tool.kind == "lark" else ""
            inside = language(Str(grammar=grammar) if grammar else Str(layout="free"), {}, surface="json")
            left, right = Bytes(_OPENED[:-1].encode()), Bytes(b"}")
    return Language(sequence(left, inside.root, right), inside.rules)


# -- reading answers -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Called:
    """A call as far as it is there. `arguments` is JSON text, of a custom tool its input."""

    name: str
    custom: bool
    arguments: str = ""
    id: str = field(default_factory=lambda: f"call_{secrets.token_hex(12)}")
    _held: str = ""
    """Of a custom tool: what is no whole character yet."""

    def add(self, text: str) -> None:
        """More of the JSON text of the arguments."""
        if not self.custom:
            self.arguments += text
            return
        self._held += text
        found, size = _unescaped(self._held)
        self.arguments += found
        self._held = self._held[size:]


_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _unescaped(text: str) -> tuple[str, int]:
    """What the characters of a JSON string say, and how many of them are whole; it may end within one."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text[at] != "\\":
            found.append(text[at])
            at += 1
            continue
        escape = text[at + 1 : at + 2]
        size = 6 if escape == "u" else 2
        if len(text) < at + size:
            break
        found.append(chr(int(text[at + 2 : at + 6], 16)) if escape == "u" else _ESCAPES[escape])
        at += size
    return "".join(found), at


class AnswerReader:
    """Reads a legal answer while it is written: `content` is its text as far as it is certain, `calls` are
    its calls. What may yet become a call is held back. `json` says that it is JSON where it is no call: then
    its beginning decides."""

    def __init__(self, tools: Tools, notation: Notation, *, json: bool = False) -> None:
        self.content = ""
        self.calls: list[Called] = []
        self._customs: Mapping[str, bool] = {tool.name: tool.custom for tool in tools.tools}
        self._notation = notation
        self._mark = notation.mark or "{"
        self._anchored = json or not notation.mark
        self._reads = tools.mode != "none"
        self._held = ""
        self._state = "call" if tools.mode == "required" else "text"
        self._depth = 0
        self._quoted = self._escaped = False

    @property
    def within(self) -> bool:
        """Whether a call has begun, so that what is forced belongs to it."""
        return self._state != "text"

    def feed(self, text: str) -> None:
        """More of the answer."""
        self._held += text
        while self._step():
            pass

    def end(self) -> None:
        """Nothing follows."""
        if self._state == "text":
            self.content, self._held = self.content + self._held, ""

    def _step(self) -> bool:
        """Read on in what is held; False where more is needed."""
        form = self._notation.form
        match self._state:
            case "text":
                return self._read_text()
            case "call":
                return self._pass(form.part("call"), "name")
            case "name":
                name, found, rest = self._held.partition(form.part("arguments"))
                if not found:
                    return False
                self.calls.append(Called(name, self._customs.get(name, False)))
                self._held, self._depth = rest, 0
                self._state = "arguments" if not self.calls[-1].custom else "input"
                return True
            case "input":
                return self._pass(_OPENED, "string")
            case "string":
                return self._read_string()
            case "arguments":
                return self._read_arguments()
            case "close":
                return self._pass("}", "end")
            case "end":
                return self._pass(form.part("end"), "between")
            case _:
                return self._pass(self._notation.between or "", "call") if self._held else False

    def _pass(self, text: str, then: str) -> bool:
        if len(self._held) < len(text):
            return False
        self._held, self._state = self._held[len(text) :], then
        return True

    def _read_text(self) -> bool:
        if self._anchored and not self.content and len(self._held) < len(self._mark):
            if self._mark.startswith(self._held):
                return False
        at = self._held.find(self._mark)
        if self._anchored and (at or self.content):
            at = -1
        if at >= 0 and self._reads:
            self.content, self._held = self.content + self._held[:at], self._held[at:]
            self._state = "call"
            return True
        keep = 0 if self._anchored else _begun(self._held, self._mark)
        cut = len(self._held) - keep
        self.content, self._held = self.content + self._held[:cut], self._held[cut:]
        return False

    def _read_arguments(self) -> bool:
        """The characters of a JSON object up to its end."""
        for at, character in enumerate(self._held):
            if self._escaped:
                self._escaped = False
            elif self._quoted:
                self._escaped = character == "\\"
                self._quoted = character != '"'
            elif character == '"':
                self._quoted = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                if not self._depth:
                    return self._took(at + 1, at + 1, "end")
        return self._took(len(self._held), len(self._held), "")

    def _read_string(self) -> bool:
        """The characters of a JSON string up to its quote."""
        for at, character in enumerate(self._held):
            if self._escaped:
                self._escaped = False
            elif character == '"':
                return self._took(at, at + 1, "close")
            else:
                self._escaped = character == "\\"
        return self._took(len(self._held), len(self._held), "")

    def _took(self, taken: int, passed: int, then: str) -> bool:
        self.calls[-1].add(self._held[:taken])
        self._held = self._held[passed:]
        self._state = then or self._state
        return bool(then)


def _begun(text: str, mark: str) -> int:
    """How many characters at the end of a text may be the beginning of the mark."""
    for size in range(min(len(mark) - 1, len(text)), 0, -1):
        if text.endswith(mark[:size]):
            return size
    return 0
