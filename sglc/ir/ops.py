"""Operations of the intermediate representation.

Rules: every class is final (no subclass of a concrete class), frozen and compared by what it does: the span
is carried along but is no part of equality. Temporaries (`Temp`) are written once and used only in their own
block; everything that outlives a block sits in a named slot. No operation contains another. The effects of
an operation are its class (`sglc.ir.shape.TOTAL`). What ends a block stands in `sglc.ir.terminators`.

The field annotations are the text form: `print` and `read` go by them, in the order of the fields.
"""

from __future__ import annotations

from dataclasses import field

from sglc.callables.extern_spec import ExternSpec
from sglc.immutable import value
from sglc.source import Span
from sglc.types.type import Type as SglType
from sglc.types.values import Value as SglValue

Temp = int
"""Number of a temporary, unique within its function: `%3`."""
Slot = str
"""Name of a variable of the function: `$age`."""
FunctionName = str
"""Qualified name of a function: `@crew`."""
Hole = int
"""Index into `Module.holes`: `h0`."""
Retry = int
"""Index into `Function.retries`: `r0`."""
# The annotations below are read by name: Type is a type of the language, Value a literal value.
Type = SglType
Value = SglValue


# -- values ----------------------------------------------------------------------------------------


@value
class Const:
    """A literal value. Lists and maps in it are shared: nothing changes them in place."""

    result: Temp
    value: Value
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Load:
    """The value of a variable."""

    result: Temp
    slot: Slot
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class MakeList:
    """A new list, owned by whoever holds the result."""

    result: Temp
    items: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class MakeTuple:
    result: Temp
    items: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class MakeMap:
    """Keys and values in turn."""

    result: Temp
    items: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class MakeRecord:
    """All fields in the order of the declaration."""

    result: Temp
    type: Type
    items: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class MakeVariant:
    """`name` is `Union.Variant`."""

    result: Temp
    name: str
    items: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Concat:
    """The display texts of the parts, joined: a string with inserts."""

    result: Temp
    parts: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Append:
    """The list with one more item. The list must be owned by this function and not be used again."""

    result: Temp
    items: Temp
    item: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Unary:
    result: Temp
    operator: str
    operand: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Binary:
    result: Temp
    operator: str
    left: Temp
    right: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class MakeRange:
    result: Temp
    start: Temp
    stop: Temp
    inclusive: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class GetField:
    result: Temp
    value: Temp
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class GetItem:
    result: Temp
    value: Temp
    index: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class GetSlice:
    """An absent end is null."""

    result: Temp
    value: Temp
    start: Temp
    stop: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class WithItem:
    """A copy of the container with one item set."""

    result: Temp
    value: Temp
    index: Temp
    item: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class WithField:
    """A copy of the record with one field set."""

    result: Temp
    value: Temp
    item: Temp
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class CallBuiltin:
    result: Temp
    name: str
    arguments: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class CallMethod:
    """The receiver is the first argument."""

    result: Temp
    name: str
    arguments: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class CheckType:
    """The value itself, widened where the type is a wider number; raises Failure if it is no member."""

    result: Temp
    value: Temp
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class CheckGiven:
    """The first of the values itself; raises Failure if it is no member of a type that depends on the others,
    by their numbers (`sglc.types.dependent`)."""

    result: Temp
    values: tuple[Temp, ...]
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class WriteAs:
    """The text of a value in the form of a type; raises Failure if it has none."""

    result: Temp
    value: Temp
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class IsVariant:
    result: Temp
    value: Temp
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class IsType:
    result: Temp
    value: Temp
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Iterate:
    """An iterator over a list, range, map, text or tuple, for a slot that only `Next` reads."""

    result: Temp
    value: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


# -- variables, calls, errors ----------------------------------------------------------------------


@value
class Store:
    slot: Slot
    value: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Call:
    """Calls a `fn` (with a conversation of its own) or a `pure` function."""

    result: Temp
    function: FunctionName
    arguments: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Start:
    """A hint: a `Call` of this `fn` with equal arguments will come in this function.

    The machine may begin the call beside what stands in between. It may as well do nothing: a hint changes no
    value, error, event or statistics.
    """

    function: FunctionName
    arguments: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class OpenStream:
    """Calls a `fn` whose result is read while it is written. The stream is open until its `CloseStream`."""

    function: FunctionName
    arguments: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class NextPart:
    """Goes on with the call of the newest stream: whether there is more of its result than before.

    `hole` is the name of the hole whose text the result is; empty where the result is seen at the end only.
    Raises what the call raises.
    """

    result: Temp
    hole: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class GetPart:
    """What is there of the result of the newest stream, as a value of a partial type."""

    result: Temp
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class CloseStream:
    """Closes the newest stream and stops its call. Gives the call's result, null where it has not ended."""

    result: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class CallPart:
    """Calls a `part`: it writes into the current message."""

    result: Temp
    function: FunctionName
    arguments: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class EndTry:
    """Drops the newest handler."""

    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Mark:
    """Opens a mark: the conversation as it is now, which the `Forget` to it goes back to."""

    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Forget:
    """Closes the newest mark, which no handler was opened behind; the conversation is as it was there."""

    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Catch:
    """Whether the error caught last has that name; any error for the empty name."""

    result: Temp
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class HandledError:
    """The error caught last, as a value: what an arm needs of it, it keeps in a slot when it begins."""

    result: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Limit:
    """The count less one; raises Budget if it was 0."""

    result: Temp
    count: Temp
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


# -- conversation ----------------------------------------------------------------------------------


@value
class OpenRole:
    role: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class OfferTools:
    """Tells the empty conversation which tools there are: a JSON list as chat templates take it."""

    tools: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class CallText:
    """Writes a part of a tool's call in the form of the model: what stands before the name (`call`), between
    name and arguments (`arguments`), or behind them (`end`)."""

    part: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class CloseRole:
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Line:
    """Starts a pipe line: a newline first, unless it is the first of its message or glued."""

    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Glue:
    """The next Line adds no newline."""

    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Text:
    text: str
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Insert:
    """Appends the display text of a value as inert data."""

    value: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Generate:
    """Fills a hole of mode `gen` or `choose`; the options' values in the order of the hole's `options`."""

    result: Temp
    hole: Hole
    options: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class SelectOption:
    """Fills a hole of mode `select`: a Scored value, the best option's text appended."""

    result: Temp
    hole: Hole
    options: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Snapshot:
    """Keeps conversation and variables; a retry resumes here."""

    retry: Retry
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class TryAgain:
    """Resumes at the snapshot while attempts are left, else goes on."""

    retry: Retry
    reason: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class RecordCheck:
    """Notes a check; the reason is null where it passed."""

    passed: bool
    reason: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class SetSeed:
    value: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class RunFork:
    """Runs the fork body `function` once for each item, on copies of this conversation and its variables."""

    result: Temp
    function: FunctionName
    items: Temp
    skip: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class AdoptBranch:
    branch: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


# -- tests -----------------------------------------------------------------------------------------


@value
class CallPython:
    """Calls the function of Python that the function at hand, of kind `extern`, stands for.

    The result is a member of the function's result type, else Foreign is raised.
    """

    result: Temp
    spec: ExternSpec
    arguments: tuple[Temp, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class MockHole:
    """`name` is `function.hole`, or `function` for a function of Python."""

    name: str
    value: Temp
    always: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class SetFuzz:
    on: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class Witness:
    """A part of the expectation that follows, shown as `text` where it does not hold."""

    text: str
    value: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class ExpectTrue:
    value: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class ExpectError:
    """An error of that name was due: it came, or `missing`, and that is a failure."""

    name: str
    missing: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class BeginGolden:
    """From here on it is noted what holes are asked."""

    span: Span | None = field(default=None, compare=False, repr=False)


@value
class EndGolden:
    """What was noted, and the value of the call, are held against what is kept of an earlier run."""

    value: Temp
    span: Span | None = field(default=None, compare=False, repr=False)


@value
class ReplayTrace:
    """A recorded run that is to be run again when the test has ended; `path` is that of its trace."""

    path: str
    span: Span | None = field(default=None, compare=False, repr=False)


Op = (
    Const | Load | CallPython | MakeList | MakeTuple | MakeMap | MakeRecord | MakeVariant | Concat | Append
    | Unary | Binary | MakeRange | GetField | GetItem | GetSlice | WithItem | WithField
    | CallBuiltin | CallMethod | CheckType | CheckGiven | WriteAs | IsVariant | IsType | Iterate | Store
    | Call | Start | OpenStream | NextPart | GetPart | CloseStream | CallPart | EndTry | Mark | Forget | Catch
    | HandledError | Limit | OfferTools | CallText
    | OpenRole | CloseRole | Line | Glue | Text | Insert | Generate | SelectOption | Snapshot | TryAgain
    | RecordCheck | SetSeed | RunFork | AdoptBranch | MockHole | SetFuzz | Witness | ExpectTrue | ExpectError
    | BeginGolden | EndGolden | ReplayTrace
)  # fmt: skip
