"""`sglc.repair`: a legal text from any function that writes text."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.python.background import LOOP, shared_engine
from sglc.python.classes import Binding, PythonClasses, classes_of
from sglc.python.errors import CompileError, RunError
from sglc.python.own_classes import OwnClasses, Refused
from sglc.runtime.engine.core.options import EngineOptions
from sglc.runtime.errors import SglError
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.repair.calling import Writes
from sglc.runtime.repair.drivers import Blocking, InLoop, Models
from sglc.runtime.repair.local_model import LocalModel
from sglc.runtime.repair.loop import Options, Pick, Repair
from sglc.runtime.repair.picking import question
from sglc.runtime.repair.result import Bounds, RepairResult
from sglc.runtime.repair.spelling import FREE
from sglc.runtime.vm.state.trace import Event, Listener
from sglc.schema.core.options import SchemaOptions
from sglc.types.text.decode import decode
from sglc.types.type import Named

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData
    from sglc.runtime.engine.base import Engine


class RepairOptions(TypedDict, total=False):
    """What `repair` takes besides the function and the prompt.

    Exactly one of these says which texts are legal:
    json_schema      a parsed JSON Schema; objects may have any order and spacing (see `schema_options`)
    regex            a pattern of the whole text, in the dialect of the language (docs/patterns.md)
    grammar          a grammar in Lark's notation
    type             a type of the language as text, or a class of a loaded module
    choices          texts
    constraint       anything else, compiled by `sglc.runtime.mask.compile_constraint`

    schema_options   how the texts of `json_schema` are spelled
    draft            a local model that corrects: a name or path, an engine, or a `LocalModel`
    ask              who picks a word where there is no draft model: a function (prompt, text, words) that
                     gives a word, or its number from 1 on, or "" for the end; True asks `generate`
    stop             a text, or several, that end an answer and are no part of it
    max_calls        most calls of `generate` and `ask`; 64 by default
    max_corrections  most corrections; 64 by default. One before which nothing of an answer was legal counts
                     twice
    max_tokens       most tokens that are written and drafted; 65,536 by default. Counted by the draft model's
                     tokenizer; without one they are bytes
    max_seconds      most time. `generate` runs in a thread then, as it cannot be left otherwise
    complete         where a bound is reached, end the text in the shortest way; without it that is an error
    on_piece         a function that is called with each new piece of legal text
    trace            a function that is called with each `Event`, as `trace_` of a run is (docs/trace.md)
    """

    json_schema: JsonData
    schema_options: SchemaOptions
    regex: str
    grammar: str
    type: object
    choices: Sequence[str]
    constraint: Constraint
    draft: str | Engine | LocalModel | None
    ask: Callable[[str, str, list[str]], object] | bool | None
    stop: str | Sequence[str]
    max_calls: int
    max_corrections: int
    max_seconds: float | None
    max_tokens: int | None
    complete: bool
    on_piece: Callable[[str], None] | None
    trace: Listener | None


def repair(generate: object, prompt: str = "", **options: Unpack[RepairOptions]) -> RepairResult:
    """A legal text from a function that writes text, and no mask can guide.

    `generate(prompt)` gives a text, or an iterator of pieces, or either of them to be awaited. The name or
    path of a local model, an engine or a `LocalModel` stand for such a function. It is asked with the prompt
    and the legal text so far behind it; if it takes an argument `prefix`, the text comes there. Where it
    takes `max_tokens`, it is told how much is wanted. What it writes is kept as far as it is legal; one word
    is put where it is not, and it is asked again. A stream is read no further than its first illegal byte.

    See `RepairOptions` for what else there is. Raises RunError: `Truncated` where a bound is reached,
    `Unsatisfiable` where no text is legal, `Backend` where `generate` raises or gives no text; `partial` is
    the legal text so far, and `fields` has the corrections. Raises TypeError and ValueError for wrong
    options, ConstraintError for a wrong constraint, CompileError for a wrong type.
    """
    job = _job(generate, options)
    try:
        return job.result(Blocking(job.models, LOOP.submit).run(job.repair(prompt)))
    except SglError as error:
        raise _run_error(error) from error.__cause__


async def repair_async(generate: object, prompt: str = "", **options: Unpack[RepairOptions]) -> RepairResult:
    """The same without blocking the event loop of the caller, in which what `generate` gives is awaited.

    Functions that block run in a thread. A call that is cancelled closes the stream that it reads.
    """
    job = await asyncio.get_running_loop().run_in_executor(None, _job, generate, options)
    driver = InLoop(job.models, lambda work: asyncio.wrap_future(LOOP.submit(work)))
    try:
        return job.result(await driver.run(job.repair(prompt)))
    except SglError as error:
        raise _run_error(error) from error.__cause__


# -- from options to a job -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Job:
    """A call with all that it needs. `value` makes the value of a text, where it has one."""

    constraint: Constraint
    value: Callable[[str], object] | None
    models: Models
    draft: LocalModel | None
    options: Options

    def repair(self, prompt: str) -> Repair:
        if not isinstance(prompt, str):
            raise TypeError(f"the prompt is a text, not {prompt!r}")
        vocabulary = byte_vocabulary() if self.draft is None else self.draft.vocabulary
        return Repair(self.constraint.matcher(vocabulary), prompt, self.options, time.monotonic)

    def result(self, found: RepairResult) -> RepairResult:
        return found if self.value is None else dataclasses.replace(found, value=self.value(found.text))


def _job(generate: Any, options: RepairOptions) -> _Job:
    unknown = sorted(set(options) - RepairOptions.__annotations__.keys())
    if unknown:
        raise TypeError(
            f"there is no option `{unknown[0]}`; options: {', '.join(RepairOptions.__annotations__)}"
        )
    constraint, value = _constraint(options)
    draft = _local(options.get("draft"))
    function = _local(generate) or generate
    writes = Writes.of(function)
    pick = _picker(options.get("ask"), writes)
    models = Models(writes, None if draft is None else draft.draft, pick)
    counting = draft or (function if isinstance(function, LocalModel) else None)
    stop, trace = options.get("stop", ()), options.get("trace")
    plain = Options()
    made = Options(
        _bounds(options),
        stops=tuple(each for each in ((stop,) if isinstance(stop, str) else stop) if each),
        drafts=draft is not None,
        picks=pick is not None,
        complete=options.get("complete", False),
        on_piece=options.get("on_piece"),
        on_event=None if trace is None else lambda kind, data: trace(Event(kind, data)),
        count=plain.count if counting is None else counting.count,
    )
    return _Job(constraint, value, models, draft, made)


def _bounds(options: RepairOptions) -> Bounds:
    given = {
        name: options[key]  # type: ignore[literal-required]
        for name in ("calls", "corrections", "seconds", "tokens")
        if (key := f"max_{name}") in options
    }
    return Bounds(**given)


def _local(given: Any) -> LocalModel | None:
    """The local model that is named or given; None for anything else."""
    if isinstance(given, LocalModel) or given is None:
        return given
    if isinstance(given, str):
        given = shared_engine(given, EngineOptions())
    return LocalModel(given) if hasattr(given, "put_back") else None


def _picker(ask: object, writes: Writes) -> Callable[[Pick], object] | None:
    if ask is None or ask is False:
        return None
    if ask is True:
        return lambda pick: writes.function(question(pick.prompt, pick.text, pick.words, pick.may_end))
    if not callable(ask):
        raise TypeError(f"ask is a function that picks a word, or True, not {ask!r}")
    return lambda pick: ask(pick.prompt, pick.text, list(pick.words))


def _constraint(options: RepairOptions) -> tuple[Constraint, Callable[[str], object] | None]:
    names = ("json_schema", "regex", "grammar", "type", "choices", "constraint")
    given = [name for name in names if options.get(name) is not None]
    if len(given) != 1:
        raise TypeError(f"give exactly one of {', '.join(names)}")
    if "schema_options" in options and given != ["json_schema"]:
        raise TypeError("schema_options belong to json_schema")
    (name,) = given
    if name == "json_schema":
        chosen = options.get("schema_options", FREE)
        return compile_constraint(json_schema=options["json_schema"], schema_options=chosen), json.loads
    if name == "type":
        return _typed(options["type"])
    if name == "constraint":
        return options["constraint"], None
    return compile_constraint(**{name: options[name]}), None  # type: ignore[literal-required]


def _typed(given: object) -> tuple[Constraint, Callable[[str], object]]:
    """The constraint of a type, and from a text to the value as a Python object."""
    if isinstance(given, str):
        from sglc.driver import compile_type

        program, name, diagnostics = compile_type(given)
        if program is None or has_errors(diagnostics):
            raise CompileError([d for d in diagnostics if d.severity == "error"] or diagnostics)
        classes = classes_of(program)
    else:
        binding = getattr(given, "__sgl__", None)
        if not isinstance(binding, Binding) or not isinstance(given, type):
            return _own_type(given)
        classes, name = binding.classes, binding.name
        if binding.variant is not None:
            raise TypeError(f"{given.__name__} is a variant: give the union that it belongs to")
    return compile_constraint(type=Named(name), table=classes.table), _reader(classes, name)


def _own_type(given: object) -> tuple[Constraint, Callable[[str], object]]:
    """The constraint of a type of Python, and from a text to an object of it."""
    from sglc.driver import compile_source
    from sglc.frontend.program import ASKED, read_type
    from sglc.frontend.types.constraints import NoType

    try:
        read = read_type(given)
    except NoType as fault:
        hint = f": {fault.hint}" if fault.hint else ""
        raise TypeError(
            f"type is a type of the language as text, a class of a module, or a type of Python; "
            f"{fault.what}{hint}"
        ) from None
    compiled = compile_source(read.source, read=lambda source: (read.tree, read.diagnostics))
    if compiled.program is None:
        raise CompileError(compiled.diagnostics)
    own = OwnClasses(read.classes, {})
    classes = classes_of(compiled.program, own)

    def value(text: str) -> object:
        try:
            return own.read(decode(text, Named(ASKED), classes.table), given)
        except Refused as fault:
            found = Diagnostic("E0702", str(fault), None, witness=text)
            raise RunError("Rejected", "E0702", str(fault), {}, text, found) from fault.__cause__

    return compile_constraint(type=Named(ASKED), table=classes.table), value


def _reader(classes: PythonClasses, name: str) -> Callable[[str], object]:
    return lambda text: classes.out(decode(text, Named(name), classes.table))


def _run_error(error: SglError) -> RunError:
    message = f"{error.name}: {error.message}"
    found = Diagnostic(error.code, message, None, witness=error.partial or "", hint=error.hint)
    return RunError(error.name, error.code, error.message, error.fields, error.partial, found)
