"""Calls functions of Python for programs: threads, time limits, values in and out, errors by name."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any, TypeVar

from sglc.bytecode.code import Code, Program
from sglc.bytecode.reached import reached_codes
from sglc.callables.extern_spec import ExternSpec
from sglc.externs.modules import Access, Refused
from sglc.python.classes import PythonClasses, classes_of
from sglc.python.own_classes import OwnTypes
from sglc.python.own_classes import Refused as NoObject
from sglc.runtime.errors import ArgumentError, SglError
from sglc.types.language.membership import MemberError, is_member
from sglc.types.notation.sgl import show_type
from sglc.types.text.plain_json import from_json
from sglc.types.values import TOO_DEEP, Value, is_too_deep
from sglc.values.coerce import coerce
from sglc.values.kinds import is_value

T = TypeVar("T")
LONGEST_MESSAGE = 2000
"""Characters of what an exception says; some have a whole answer of a server in them."""


class Host:
    """Calls the functions of one program.

    `given` are functions by their targets (`module:function`): these are called without importing anything.
    With `own` they take and give objects of the user's own classes.
    """

    def __init__(
        self,
        program: Program,
        access: Access,
        given: Mapping[str, Callable[..., object]] | None = None,
        own: OwnTypes | None = None,
    ) -> None:
        self.program = program
        self._access = access
        self._own = own
        self._given = dict(given or {})
        self._classes: PythonClasses | None = None

    def check(self, code: Code) -> None:
        """Raise ArgumentError where a function may reach a module that may not be imported."""
        refused: dict[str, str] = {}
        for spec in reached(self.program, code):
            if spec.target not in self._given and (reason := self._access.refusal(spec.module)):
                refused.setdefault(spec.module, reason)
        if refused:
            names = ", ".join(f"`{module}`" for module in refused)
            raise ArgumentError(
                "E0724",
                f"the program calls Python that nobody has allowed: {names}",
                reason=next(iter(refused.values())),
                hint="look at what it does, then run it with "
                + " ".join(f"--allow-py {module}" for module in refused)
                + f"; in Python, `allow_py={tuple(refused)!r}`",
            )

    async def call(self, code: Code, arguments: list[object]) -> Value:
        """The result of the function that a code of kind `extern` stands for.

        A plain function runs in a thread of its own. Behind its timeout nobody waits for it: it runs to its
        end, and what it gives is dropped. An `async` one runs on the event loop and is cancelled.
        """
        spec = code.extern
        assert spec is not None
        names = [parameter.name for parameter in code.parameters]
        given = self._passed(spec, dict(zip(names, arguments, strict=True)))
        limit = None if spec.timeout is None else spec.timeout / 1000
        try:
            async with asyncio.timeout(limit):
                found = await self._called(spec, given)
        except Refused as refused:
            raise SglError("Unsupported", refused.reason, hint=refused.hint) from None
        except TimeoutError as error:
            if limit is None:
                raise self._raised(code, error) from error
            raise SglError("Timeout", f"`{spec.target}` took longer than {limit:g} s") from None
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise self._raised(code, error) from error
        return self._value(code, spec, found)

    def _passed(self, spec: ExternSpec, arguments: dict[str, object]) -> list[object]:
        """Arguments as objects of Python, as the annotations of the function say where it has some."""
        own = self._own
        if self._classes is None:
            self._classes = classes_of(self.program, None if own is None else own.classes)
        hints = {} if own is None else own.called.get(spec.target, {})
        try:
            return [
                own.classes.read(value, hints[name])
                if own is not None and name in hints
                else self._classes.out(value)
                for name, value in arguments.items()
            ]
        except NoObject as fault:
            raise SglError("Foreign", f"`{spec.target}` cannot be called: {fault}") from None

    async def _called(self, spec: ExternSpec, arguments: list[object]) -> object:
        given = self._given.get(spec.target)
        function = await _in_thread(lambda: self._access.function(spec)) if given is None else given
        if inspect.iscoroutinefunction(function):
            return await function(*arguments)
        found = await _in_thread(lambda: function(*arguments))
        return await found if inspect.isawaitable(found) else found

    def _raised(self, code: Code, error: Exception) -> SglError:
        """An exception as a declared error of the same name, else as Foreign."""
        declared = {each.name: each for each in self.program.errors}
        for name in code.raises:
            if self._is_of(error, name) and name in declared:
                fields = declared[name].fields
                values = {field: self._field(error, field, at) for at, field in enumerate(fields)}
                return SglError(name, str(error)[:LONGEST_MESSAGE], fields=values)
        assert code.extern is not None
        said = str(error)[:LONGEST_MESSAGE]
        told = f"{type(error).__name__}: {said}" if said else type(error).__name__
        return SglError("Foreign", f"`{code.extern.target}` raised {told}")

    def _is_of(self, error: Exception, name: str) -> bool:
        """Whether an exception is of the class that an error was declared by, or else of its name."""
        cls = None if self._own is None else self._own.classes.classes.get(name)
        if cls is not None:
            return isinstance(error, cls)
        return name.rpartition(".")[2] in [kind.__name__ for kind in type(error).__mro__]

    def _field(self, error: Exception, field: str, at: int) -> object:
        """The attribute of an exception, or its argument at that place; null where it is no value."""
        found = getattr(error, field, error.args[at] if at < len(error.args) else None)
        assert self._classes is not None
        value = self._classes.into(found)
        return value if is_value(value) and not is_too_deep(value) else str(found)

    def _value(self, code: Code, spec: ExternSpec, found: object) -> Value:
        """A result as a value of the declared type; raises Foreign where it is none."""
        if code.result is None:
            return None
        type, table = self.program.types[code.result], self.program.table
        assert self._classes is not None
        try:
            data = self._classes.into(found)
            if is_too_deep(data):
                raise MemberError("", TOO_DEEP)
            value = coerce(data, type, table)
            if is_value(value) and is_member(value, type, table):
                return value
            return from_json(data, type, table)
        except MemberError as fault:
            reason = str(fault)
        except Exception as fault:
            reason = f"it cannot be read: {fault}"
        message = f"`{spec.target}` gave what is no `{show_type(type)}`: {reason}"
        raise SglError("Foreign", message[:LONGEST_MESSAGE])


def reached(program: Program, code: Code) -> list[ExternSpec]:
    """The functions of Python that a call of a function may come to, in order of the program."""
    codes = (program.codes[index] for index in reached_codes(program, code))
    return [code.extern for code in codes if code.extern is not None]


async def _in_thread(work: Callable[[], T]) -> T:
    """What `work` gives in a thread of its own, which keeps no process alive. It has the variables of the
    context, such as the span that is current."""
    loop, context = asyncio.get_running_loop(), copy_context()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def run() -> None:
        value: object = None
        failed: Exception | None = None
        try:
            value = context.run(work)
        except StopIteration as error:  # no future takes it
            failed = RuntimeError(f"StopIteration: {error}")
        except Exception as error:
            failed = error
        except BaseException as error:  # SystemExit and its like end no thread of ours
            failed = RuntimeError(f"{type(error).__name__}: {error}")
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, failed)

    threading.Thread(target=run, name="sglc-python", daemon=True).start()
    return await future
