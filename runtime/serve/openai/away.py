"""Answers of models that workers have: this process has their clients, and passes on what workers write."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from sglc.runtime.errors import SglError
from sglc.runtime.serve.functions import Answer
from sglc.runtime.serve.openai.asked import Asked
from sglc.runtime.serve.openai.chat_models import Kind, Written
from sglc.runtime.serve.openai.chunks import DONE, events_of
from sglc.runtime.serve.openai.errors import error_text
from sglc.runtime.serve.openai.forms import MOST_FORMS, TEXT, Form
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.serve.problems import Problem, of_error
from sglc.runtime.vm.state.trace import Listener

_LAST = events_of([DONE])


class ModelsAway(Protocol):
    """Models of workers."""

    @property
    def names(self) -> Sequence[str]:
        """All of them."""

    async def answer(
        self,
        kind: Kind,
        body: str,
        id: str,
        asked: Asked,
        options: CallOptions,
        tell: Callable[[str], None],
        hear: Listener,
        begun: Callable[[], None],
    ) -> Written:
        """Have a worker answer a request, whose JSON text is `body`. `tell` is told the chunks of a stream,
        `hear` the ends of answers, and `begun` each time that a worker begins it: that it begins anew, too.
        Raises what it raises."""


class KnownForms:
    """The forms of requests that workers were sent, as many as each of them keeps compiled."""

    def __init__(self) -> None:
        self._known: OrderedDict[Form, None] = OrderedDict()

    @contextmanager
    def noted(self, form: Form, admit: Callable[[], None]) -> Iterator[None]:
        """Note a form while the block runs, and from then on. `admit` is asked for one that is new, and may
        refuse; a new one is not kept where the block fails, as workers keep none that cannot be used."""
        new = form != TEXT and form not in self._known
        if new:
            admit()
        if form != TEXT:
            self._known[form] = None
            self._known.move_to_end(form)
            if len(self._known) > MOST_FORMS:
                self._known.popitem(last=False)
        try:
            yield
        except BaseException:
            if new:
                self._known.pop(form, None)
            raise


class CompletionAway:
    """The answers of a worker's model to a request, and what is told of them. One object serves one run,
    whose number `id` is set before it begins. `admit` is asked where its form is not among `forms`."""

    def __init__(
        self,
        models: ModelsAway,
        kind: Kind,
        body: str,
        asked: Asked,
        forms: KnownForms,
        admit: Callable[[], None],
    ) -> None:
        self.name = f"model {asked.model}"
        self.id = ""
        self.news = asyncio.Event()
        self._models = models
        self._kind = kind
        self._body = body
        self._asked = asked
        self._forms = forms
        self._admit = admit
        self._held: list[str] = []
        """What the client has not been sent."""
        self._sent = self._torn = self._complete = False
        self._whole = ""

    # -- as a job: see `Job` ---------------------------------------------------------------------------

    def check(self, arguments: Mapping[str, object]) -> None:
        """There are no arguments."""

    def problem(self, error: SglError) -> Problem:
        """A failure without fields."""
        return of_error(error, {})

    def partial(self, hole: str, text: str) -> object:
        """Nobody reads values."""
        return None

    async def answer(self, arguments: Mapping[str, object], options: CallOptions, hear: Listener) -> Answer:
        """Have it written."""
        with self._forms.noted(self._asked.form, self._admit):
            written = await self._models.answer(
                self._kind, self._body, self.id, self._asked, options, self._tell, hear, self._begin
            )
        self._whole = written.text
        return Answer()

    def _begin(self) -> None:
        """A worker begins it, perhaps in the place of one that died: what it has told is void then."""
        self._held.clear()
        self._torn = self._sent

    def _tell(self, text: str) -> None:
        if self._torn:
            fields = {"cause": "local", "endpoint": "", "attempts": 1, "retry_after": None}
            raise SglError("Backend", "the worker died while it wrote this answer", fields=fields)
        self._held.append(text)
        self.news.set()

    # -- what is told: see `Told` ----------------------------------------------------------------------

    def chunks(self, *, ended: bool, problem: Problem | None) -> str:
        """See `Told`."""
        text = "".join(self._held)
        self._held.clear()
        self._sent = self._sent or bool(text)
        self._complete = self._complete or text.endswith(_LAST)
        if self._complete:
            return text
        return text + events_of([error_text(problem)]) if ended and problem is not None else text

    def whole(self) -> str:
        """See `Told`."""
        return self._whole
