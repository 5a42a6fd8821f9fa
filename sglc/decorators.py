"""Functions of Python as programs of the language: `@sglc.fn` and `@sglc.sgl_function`.

A decorated function is read when it is first needed: its source is translated, checked and compiled, never
run. Calling it runs the compiled program.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, overload

from sglc.callables.extern_spec import EFFECTS, Effect
from sglc.frontend.core.written import Promises, WrittenFunction

if TYPE_CHECKING:
    from sglc.api import Function, Module
    from sglc.debug.doors import Here
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.frontend.program import ReadProgram
    from sglc.frontend.types.called import CalledFunctions
    from sglc.python.stream import Stream
    from sglc.runtime.kv.accounts import CacheStats
    from sglc.runtime.results import RunResult
    from sglc.runtime.vm.state.trace import Event

P = ParamSpec("P")
R = TypeVar("R")
Stage = Literal["ast", "types", "ir", "bytecode"]
_HEADER = ("within", "using", "raises", "pure", "doc")


@dataclass(frozen=True, slots=True)
class _Compiled:
    read: ReadProgram
    module: Module
    function: Function
    diagnostics: list[Diagnostic]


class DecoratedFunction(Generic[P, R]):
    """A decorated function. It has what functions of a loaded module have: `aio`, `stream`, `run`."""

    __sgl_written__ = True

    def __init__(self, written: WrittenFunction, model: str, options: Mapping[str, object]) -> None:
        self.written = written
        self._model = model
        self._options = dict(options)
        self._compiled: _Compiled | None = None
        self._lock = threading.Lock()
        self.__name__ = written.function.__name__
        self.__qualname__ = written.function.__qualname__
        self.__module__ = written.function.__module__
        self.__doc__ = written.function.__doc__
        self.__wrapped__ = written.function

    def __repr__(self) -> str:
        return f"<SGL function {self.__qualname__}>"

    def on(self, model: str | None = None, **options: object) -> DecoratedFunction[P, R]:
        """The same function on another model, or with other options of `sglc.load`."""
        return DecoratedFunction(self.written, model or self._model, {**self._options, **options})

    # -- compiling -----------------------------------------------------------------------------------

    def compile(self) -> list[Diagnostic]:
        """Translate and compile, if that was not done; gives the warnings. Raises CompileError."""
        return self._made().diagnostics

    def _made(self) -> _Compiled:
        with self._lock:
            if self._compiled is None:
                self._compiled = self._make()
            return self._compiled

    def _make(self) -> _Compiled:
        from sglc.api import compile_options, made_module
        from sglc.driver import compile_source
        from sglc.frontend.program import read_program
        from sglc.frontend.wording import in_python
        from sglc.python.own_classes import OwnClasses, OwnTypes

        read = read_program(self.written)
        options: Any = dict(self._options)
        compiled = compile_source(
            read.source, compile_options(options), read=lambda source: (read.tree, read.diagnostics)
        )
        found = in_python(compiled.diagnostics, read.statements)
        results = {self.__name__: read.hints["return"]} if "return" in read.hints else {}
        called = _called(read)
        own = OwnTypes(OwnClasses(read.classes, self.written.around), results, called.hints)
        options["functions"] = {**called.functions, **(options.get("functions") or {})}
        module = made_module(compiled.program, found, self._model, None, options, own)
        return _Compiled(read, module, module.functions[self.__name__], found)

    @property
    def module(self) -> Module:
        """The compiled program, as `sglc.load` gives one."""
        return self._made().module

    @property
    def __signature__(self) -> inspect.Signature:
        return self._made().function.signature

    @property
    def ast(self) -> str:
        """The syntax tree as text, as `sglc build --emit ast` writes it."""
        return self.stage("ast")

    @property
    def types(self) -> str:
        """Types of the functions and holes as text, as `sglc build --emit types` writes it."""
        return self.stage("types")

    def stage(self, stage: Stage) -> str:
        """The text of one stage of the compiler: `ast`, `types`, `ir` or `bytecode`. Raises CompileError."""
        from sglc.driver import emit_stage

        read = self._made().read
        text, _ = emit_stage(read.source, stage, read=lambda source: (read.tree, read.diagnostics))
        return text

    def save(self, path: str | Path) -> None:
        """Write the compiled program as a `.sglb` file, which `sglc run`, `plan` and `prompt` take.

        Raises ValueError where it calls a function of Python that no import by its name gives."""
        from sglc.bytecode.serial import dumps
        from sglc.frontend.types.called import is_own

        for target, function in _called(self._made().read).functions.items():
            if not is_own(target, function):
                raise ValueError(
                    f"`{function.__qualname__}` cannot be found by whoever runs the file: move it to the top "
                    "of a module that can be imported, under a name without `_` in front"
                )
        Path(path).write_bytes(dumps(self._made().module.program))

    # -- running -------------------------------------------------------------------------------------

    def __call__(self, *values: P.args, **named: P.kwargs) -> R:
        """Run and wait for the value."""
        found: R = self._made().function(*values, **named)
        return found

    async def aio(self, *values: object, **named: object) -> R:
        """Run without blocking the caller's event loop."""
        found: R = await self._made().function.aio(*values, **named)
        return found

    def stream(self, *values: object, **named: object) -> Stream[R]:
        """Start and give the events as they happen."""
        return self._made().function.stream(*values, **named)

    def run(self, *values: object, **named: object) -> RunResult:
        """Run and wait for everything: value, conversation, statistics, checks, holes."""
        return self._made().function.run(*values, **named)

    def cache_stats(self) -> CacheStats | None:
        """What the engine's memory of keys and values holds and has done; None before the first call."""
        return self._made().module.cache_stats()


# -- decorators ----------------------------------------------------------------------------------------


@overload
def fn(function: Callable[P, R], /) -> DecoratedFunction[P, R]: ...
@overload
def fn(*, model: str = ..., **options: object) -> Callable[[Callable[P, R]], DecoratedFunction[P, R]]: ...
def fn(function: object = None, *, model: str = "smollm2", **options: object) -> Any:
    """A function whose docstring has the statements of the program.

    Its parameters and its result have the types of its annotations. Options are those of the header
    (`within=700`, `using="big"`, `raises=(Stuck,)`, `pure=True`, `doc="…"`), `model=`, and those of
    `sglc.load`. Raises TypeError for anything else.
    """
    return _decorated("docstring", function, model, options)


@overload
def sgl_function(function: Callable[..., R], /) -> DecoratedFunction[..., R]: ...
@overload
def sgl_function(
    *, model: str = ..., **options: object
) -> Callable[[Callable[..., R]], DecoratedFunction[..., R]]: ...
def sgl_function(function: object = None, *, model: str = "smollm2", **options: object) -> Any:
    """A function whose own statements are the program, translated from its source.

    Its first parameter is the conversation (`s += "Age: " + s.gen("age", type=int)`), but with `pure=True`,
    where no model is asked. Options are those of `fn`.
    """
    return _decorated("state", function, model, options)


def _decorated(
    form: Literal["docstring", "state"], function: object, model: str, options: dict[str, Any]
) -> Any:
    around = _names_around()

    def make(function: object) -> DecoratedFunction[..., object]:
        if isinstance(function, staticmethod):
            function = function.__func__
        if not inspect.isfunction(function):
            raise TypeError(f"{'@sglc.fn' if form == 'docstring' else '@sglc.sgl_function'} is for functions")
        header = {name: options[name] for name in _HEADER if name in options}
        others = {name: value for name, value in options.items() if name not in _HEADER}
        return DecoratedFunction(WrittenFunction(function, form, **header, around=around), model, others)

    if function is None:
        return make
    return make(function)


def _names_around() -> Mapping[str, object]:
    """The names of the function that a decorator stands in; none where it stands in a module."""
    frame = sys._getframe(3)
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)


F = TypeVar("F", bound=Callable[..., object])


@overload
def extern(function: F) -> F: ...
@overload
def extern(
    *,
    effects: Effect = ...,
    key: str | None = ...,
    timeout: float | None = ...,
    raises: tuple[type[BaseException], ...] = ...,
) -> Callable[[F], F]: ...
def extern(
    function: object = None,
    *,
    effects: Effect = "read",
    key: str | None = None,
    timeout: float | None = None,
    raises: tuple[type[BaseException], ...] = (),
) -> Any:
    """Say of a function of Python what programs that call it must know; it stays the function that it is.

    `effects` is what a call does at most (`pure`, `model`, `read`, `write`), `key` the parameter that tells
    writes apart, `timeout` the seconds that a call may take, and `raises` the exceptions that become errors
    of the program. Without this decorator a function does no more than `read`. Raises TypeError for anything
    else.
    """
    if effects not in EFFECTS:
        raise TypeError(f"there are no effects {effects!r}: they are {', '.join(EFFECTS)}")
    if timeout is not None and (isinstance(timeout, bool) or not 0.001 <= timeout < float("inf")):
        raise TypeError(f"a timeout is a number of seconds from 0.001, and not {timeout!r}")
    if not all(isinstance(each, type) and issubclass(each, BaseException) for each in raises):
        raise TypeError("`raises` takes classes of exceptions")

    def make(function: object) -> object:
        if not inspect.isfunction(function):
            raise TypeError("@sglc.extern is for functions that are written in Python")
        function.__sgl_promises__ = Promises(effects, key, timeout, tuple(raises))  # type: ignore[attr-defined]
        return function

    return make if function is None else make(function)


# -- doors ---------------------------------------------------------------------------------------------


def compile(
    function: DecoratedFunction[P, R], verbose: bool = False, **options: Any
) -> DecoratedFunction[P, R]:
    """Compile a decorated function now, perhaps with other options (see `DecoratedFunction.on`).

    With `verbose` its warnings, the types of its holes and its bytecode are shown. Raises CompileError.
    """
    _needs_decorated(function)
    made = function.on(**options) if options else function
    found = made.compile()
    if verbose:
        from sglc.diagnostics.render import render

        for diagnostic in found:
            print(render(diagnostic))
        print(made.types)
        print(made.stage("bytecode"))
    return made


@dataclass(frozen=True, slots=True)
class Execution:
    """A run with all that happened. `execution["name"]` is the value of a hole, or the list of its values."""

    value: Any
    result: RunResult
    holes: Mapping[str, list[Any]]
    events: list[Event]

    def __getitem__(self, name: str) -> Any:
        found = self.holes[name]
        return found[0] if len(found) == 1 else found

    @property
    def text(self) -> str:
        """The conversation."""
        return self.result.text

    @property
    def tokens(self) -> list[Event]:
        """The tokens that the model wrote, with their probabilities, where the run was profiled."""
        return [event for event in self.events if event.kind == "token"]


def execute(
    function: DecoratedFunction[..., object],
    *values: object,
    trace: bool = False,
    profile_tokens: bool = False,
    breakpoint: bool | Callable[[Here], object] = False,
    **named: object,
) -> Execution:
    """Run a decorated function and keep what happened.

    `trace` keeps the events of docs/trace.md; `profile_tokens` also tells of each token the five most
    probable ones and how the mask fought the model. `breakpoint` is called before every hole and says how the
    run goes on (docs/debugging.md); True is a prompt at stdin. Everything else goes to the function.
    """
    _needs_decorated(function)
    events: list[Event] = []
    if trace or profile_tokens:
        named["trace_"] = events.append
    if profile_tokens:
        named |= {"trace_top_": 5, "pressure_": True}
    if breakpoint:
        named["breakpoint_"] = breakpoint
    result = function.run(*values, **named)
    return Execution(result.value, result, function.module.hole_values(result), events)


def _called(read: ReadProgram) -> CalledFunctions:
    assert read.called is not None, "the program was read from a type"
    return read.called


def _needs_decorated(function: object) -> None:
    if not isinstance(function, DecoratedFunction):
        raise TypeError(f"{function!r} is no function under @sglc.fn or @sglc.sgl_function")
