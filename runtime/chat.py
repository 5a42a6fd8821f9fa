"""Chat templates: what a model wants to see around the contents of messages.

A template is a Jinja program that renders a whole conversation. A conversation of ours grows message by
message, so the template is asked once for each sequence of roles, with marks in place of contents, and the
text between two marks is the piece that stands between two messages. The template is the model's own, but
it came from a file: it runs in a sandbox with limits of time and memory, and a mistake in it, or a limit that
it exceeds, is a TemplateError.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    from jinja2 import Template

    from sglc.runtime.chat_sandbox import BoundedEnvironment

T = TypeVar("T")

MAX_TEMPLATE = 1 << 18
"""Characters; a longer template is refused. The longest of published models have some 30,000."""
LONGEST_FORM = 256
"""Characters of a form that a date is written in."""
LONGEST_REASON = 500
"""Characters of what a template says when it refuses."""
KEPT = 256
"""Sequences of roles whose texts are kept: a conversation asks for one that is longer by one each time."""
MAX_ROLES = 4096
"""Messages in one conversation."""
KNOWN_ROLES = ("system", "user", "assistant")


class TemplateError(ValueError):
    """A chat template that is damaged or that refuses the given roles."""


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A special token in a piece of a template."""

    id: int


@dataclass(frozen=True, slots=True)
class SpecialMark:
    """A special token as templates spell it: its id, and whether it swallows the white space beside it."""

    id: int
    lstrip: bool = False
    rstrip: bool = False


Piece = str | SpecialToken


class _Kept(OrderedDict[tuple[str, ...], T]):
    """What is known of sequences of roles, the latest ones only."""

    def __setitem__(self, roles: tuple[str, ...], found: T) -> None:
        super().__setitem__(roles, found)
        if len(self) > KEPT:
            self.popitem(last=False)


class ChatTemplate:
    """A model's chat template, asked for the pieces between the contents of messages.

    `special` are the special tokens by spelling, `variables` what the template may read (`bos_token` and
    the like).
    """

    def __init__(
        self, source: str, special: Mapping[str, SpecialMark], variables: Mapping[str, object] | None = None
    ) -> None:
        if len(source) > MAX_TEMPLATE:
            raise TemplateError(f"the chat template is longer than {MAX_TEMPLATE} characters")
        self.source = source
        self._special = dict(special)
        self._variables = dict(variables or {})
        self._template: Template | None = None
        self._environment: BoundedEnvironment | None = None
        self._exceeded = ""
        self._lock = threading.Lock()
        self._gaps: _Kept[tuple[str, ...]] = _Kept()
        self._opened: _Kept[tuple[str, ...]] = _Kept()
        """By roles, what stands before each of their contents in a conversation that grew to them."""
        self._pieces: _Kept[tuple[Piece, ...]] = _Kept()
        self._closing: _Kept[tuple[Piece, ...]] = _Kept()
        self._roles: frozenset[str] | None = None
        names = sorted(map(re.escape, special), key=len, reverse=True)
        self._split = re.compile("|".join(names)) if names else None

    @property
    def roles(self) -> frozenset[str]:
        """The roles, of system, user and assistant, that the template takes."""
        if self._roles is None:
            self._roles = frozenset(filter(self._takes, KNOWN_ROLES))
        return self._roles

    def pieces(self, roles: tuple[str, ...]) -> tuple[Piece, ...]:
        """What stands before the last role's content and after the previous one's (or the beginning).

        The opening of an assistant's message is the template's generation prompt. Raises TemplateError if
        the template refuses these roles, or would rewrite what stands before.
        """
        found = self._pieces.get(roles)
        if found is None:
            found = self._pieces[roles] = self._parts(self._gap(roles))
        return found

    def closing(self, roles: tuple[str, ...]) -> tuple[Piece, ...]:
        """What follows the last content when the conversation ends there."""
        found = self._closing.get(roles)
        if found is None:
            found = self._closing[roles] = self._parts(self._rendered_gaps(roles)[-1])
        return found

    def with_tools(self, tools: Sequence[Mapping[str, object]]) -> ChatTemplate:
        """The same template, told of tools: a list as `apply_chat_template` of transformers takes it."""
        return ChatTemplate(self.source, self._special, {**self._variables, "tools": list(tools)})

    @property
    def special_names(self) -> frozenset[str]:
        """The special tokens by spelling."""
        return frozenset(self._special)

    def rendered(self, messages: Sequence[Mapping[str, object]], *, generation: bool = False) -> str:
        """A whole conversation as the template writes it. Raises TemplateError."""
        return self._render(messages, generation=generation)

    def _takes(self, role: str) -> bool:
        for roles in ((role,), ("user", role), (role, "user")):
            try:
                self._gap(roles)
            except TemplateError:
                continue
            return True
        return False

    def _gap(self, roles: tuple[str, ...]) -> str:
        """Text before the last role's content, from the end of the content before it."""
        if not roles:
            raise TemplateError("a conversation needs at least one message")
        if roles[-1] == "assistant":
            gap = self._generation_gap(roles)
        else:
            gap = self._rendered_gaps(roles)[len(roles) - 1]
        self._check_stable(roles, gap)
        return gap

    def _generation_gap(self, roles: tuple[str, ...]) -> str:
        """What an assistant's message opens with when the model is about to write it."""
        before = roles[:-1]
        try:
            rendered = self._render(_marked(before), generation=True)
            marks = self._places(rendered, before)
        except TemplateError:
            return self._rendered_gaps(roles)[len(roles) - 1]
        return rendered[marks[-1][1] if marks else 0 :]

    def _rendered_gaps(self, roles: tuple[str, ...]) -> tuple[str, ...]:
        """Texts around the contents of `roles`: before each, and after the last one.

        Some templates refuse a conversation without a user's message; then one is added behind, and the
        last text is empty.
        """
        found = self._gaps.get(roles)
        if found is None:
            try:
                found = self._between(roles)
            except TemplateError:
                if "user" in roles:
                    raise
                found = (*self._between((*roles, "user"))[: len(roles)], "")
            self._gaps[roles] = found
        return found

    def _between(self, roles: tuple[str, ...]) -> tuple[str, ...]:
        rendered = self._render(_marked(roles), generation=False)
        gaps, position = [], 0
        for start, end in self._places(rendered, roles):
            gaps.append(rendered[position:start])
            position = end
        return (*gaps, rendered[position:])

    def _check_stable(self, roles: tuple[str, ...], gap: str) -> None:
        """Adding a message must leave what stands before it, as tokens once fed are not taken back.

        An assistant's opening may differ by a scaffold for reasoning that a template shows in one of the
        two cases only.
        """
        before = self._opening(roles[:-1])
        gaps = self._rendered_gaps(roles)[: len(before)] if before else ()
        for role, now, then in zip(roles, gaps, before, strict=False):
            close = now == then or (role == "assistant" and (now.startswith(then) or then.startswith(now)))
            if not close:
                raise TemplateError(
                    f"the chat template rewrites earlier messages when a message of role {roles[-1]} follows"
                )
        self._opened[roles] = (*before, gap)

    def _opening(self, roles: tuple[str, ...]) -> tuple[str, ...]:
        """What a conversation with these roles was fed before each of its contents."""
        missing = len(roles)
        while missing and roles[:missing] not in self._opened:
            missing -= 1
        for length in range(missing + 1, len(roles) + 1):
            self._gap(roles[:length])
        return self._opened[roles] if roles else ()

    def _parts(self, text: str) -> tuple[Piece, ...]:
        """The text cut at special tokens, with the white space that these swallow left out."""
        if self._split is None:
            return (text,) if text else ()
        parts: list[Piece] = []
        position, swallow = 0, False
        for match in self._split.finditer(text):
            mark = self._special[match.group()]
            self._add_text(parts, text[position : match.start()], swallow, mark.lstrip)
            parts.append(SpecialToken(mark.id))
            position, swallow = match.end(), mark.rstrip
        self._add_text(parts, text[position:], swallow, False)
        return tuple(parts)

    @staticmethod
    def _add_text(parts: list[Piece], text: str, left: bool, right: bool) -> None:
        text = text.lstrip() if left else text
        text = text.rstrip() if right else text
        if text:
            parts.append(text)

    def _places(self, rendered: str, roles: Sequence[str]) -> list[tuple[int, int]]:
        """Start and end of each mark in rendered text; TemplateError unless each is there once, in order."""
        places: list[tuple[int, int]] = []
        for index, role in enumerate(roles):
            mark = _mark(index)
            start = rendered.find(mark)
            if start < 0 or rendered.find(mark, start + 1) >= 0:
                raise TemplateError(f"the chat template has no place for a message of role {role} here")
            if places and start < places[-1][1]:
                raise TemplateError("the chat template puts messages into another order")
            places.append((start, start + len(mark)))
        return places

    def _render(self, messages: Sequence[Mapping[str, object]], *, generation: bool) -> str:
        """The template's text. One that has exceeded a limit is not asked again."""
        if len(messages) > MAX_ROLES:
            raise TemplateError(f"more than {MAX_ROLES} messages in one conversation")
        if self._exceeded:
            raise TemplateError(self._exceeded)
        from sglc.runtime.chat_sandbox import LimitExceeded

        with self._lock:
            try:
                return self._rendered(messages, generation)
            except LimitExceeded as error:
                self._exceeded = f"the model's chat template is refused: {error}"
                raise TemplateError(self._exceeded) from error

    def _rendered(self, messages: Sequence[Mapping[str, object]], generation: bool) -> str:
        from jinja2.exceptions import TemplateError as JinjaError

        from sglc.runtime.chat_sandbox import Meter

        if self._template is None:
            self._environment = _environment()
            try:
                self._template = self._environment.from_string(self.source)
            except (JinjaError, RecursionError, SyntaxError, MemoryError, ValueError) as error:
                raise TemplateError(f"the chat template is damaged: {_told(error)}") from error
        assert self._environment is not None
        self._environment.meter = Meter()
        variables = {"tools": None, "documents": None, **self._variables}
        try:
            return self._template.render(messages=messages, add_generation_prompt=generation, **variables)
        except JinjaError as error:
            names = ", ".join(str(message["role"]) for message in messages[:20]) or "none"
            raise TemplateError(f"the chat template refuses the roles ({names}): {_told(error)}") from error
        except (
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            RecursionError,
            MemoryError,
        ) as error:
            raise TemplateError(f"the chat template failed: {_told(error)}") from error


def _told(error: BaseException) -> str:
    return str(error)[:LONGEST_REASON] or type(error).__name__


def _marked(roles: Sequence[str]) -> list[Mapping[str, object]]:
    """Messages of these roles with marks in place of contents."""
    return [{"role": role, "content": _mark(index)} for index, role in enumerate(roles)]


def _mark(index: int) -> str:
    """Content that no template contains and that trimming leaves as it is."""
    return f"Qq{index}contentqQ"


def _raise_exception(message: str) -> NoReturn:
    from jinja2.exceptions import TemplateError as JinjaError

    raise JinjaError(str(message)[:LONGEST_REASON])


def _to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _strftime_now(form: str) -> str:
    if len(form) > LONGEST_FORM or re.search(r"\d{3}", form):  # the C library pads to any width
        raise ValueError("no form of a date")
    return datetime.now().strftime(form)


def _environment() -> BoundedEnvironment:
    """A sandboxed Jinja environment with the functions that chat templates expect."""
    from sglc.runtime.chat_sandbox import BoundedEnvironment

    environment = BoundedEnvironment()
    environment.add_filter("tojson", _to_json)
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment
