"""The one opcode table: name, operands, stack effect, meaning.

Emitter, verifier, disassembler, virtual machine and documentation all read this table. An instruction is an
opcode number and up to two integer operands. Operand kinds say what an integer indexes. Stack pictures are
written `before -> after`, top at the right.

What the verifier guarantees, so that the machine need not check it: the stack depth and the number of open
handlers at an instruction are the same on every road to it; the stack is empty at SNAPSHOT and at its RETRY,
and a RETRY is reached only after its SNAPSHOT (handlers opened since then are dropped by the retry); a
handler starts with the stack depth and the handlers that were there at its TRY; marks are closed in turn
with handlers, and so are streams, which are read where they are the newest that is open; ERROR stands only
where an error was caught (by a TRY of flag 0); an iterator is never seen but by NEXT (STORE s after ITERATE
and NEXT, LOAD s before NEXT, POP where NEXT jumps to). `xs.max(by = e)` is METHOD `max` with the list and
the list of keys (so are `min` and `sort`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OperandKind = Literal[
    "constant",  # index into Program.constants
    "slot",  # local variable of the frame
    "target",  # instruction index in the same code object
    "count",  # a number of stack items
    "name",  # index into Program.names
    "type",  # index into Program.types
    "code",  # index into Program.codes
    "hole",  # index into Program.holes
    "retry",  # index into the code object's retries
    "flag",  # 0 or 1
]


@dataclass(frozen=True, slots=True)
class Opcode:
    number: int
    name: str
    operands: tuple[OperandKind, ...]
    pops: int | None
    """Items taken; None means as many as the first `count` operand says (plus `extra`)."""
    pushes: int
    meaning: str
    extra: int = 0
    """Items taken besides those that a `count` operand counts."""


_ROWS: tuple[tuple[str, tuple[OperandKind, ...], int | None, int, str], ...] = (
    # values
    ("CONSTANT", ("constant",), 0, 1, "-> value"),
    ("LOAD", ("slot",), 0, 1, "-> value of the slot"),
    ("STORE", ("slot",), 1, 0, "value ->"),
    ("DUPLICATE", (), 1, 2, "a -> a a"),
    ("POP", (), 1, 0, "a ->"),
    ("LIST", ("count",), None, 1, "items -> list"),
    ("TUPLE", ("count",), None, 1, "items -> tuple"),
    ("MAP", ("count",), None, 1, "k1 v1 k2 v2 … -> map; the count is of items, two an entry"),
    ("RECORD", ("type", "count"), None, 1, "fields in declared order -> record"),
    ("VARIANT", ("name", "count"), None, 1, "fields -> variant; the name is `Union.Variant`"),
    ("STRING", ("count",), None, 1, "parts -> their display texts joined"),
    ("APPEND", (), 2, 1, "list item -> list with the item at its end (comprehensions)"),
    ("UNARY", ("name",), 1, 1, "a -> op a; the name is `-` or `not`"),
    ("BINARY", ("name",), 2, 1, "a b -> a op b; the name is the operator as written"),
    ("RANGE", ("flag",), 2, 1, "start stop -> range; flag 1 includes the stop"),
    ("ATTRIBUTE", ("name",), 1, 1, "value -> value.name"),
    ("INDEX", (), 2, 1, "value index -> item"),
    ("SLICE", (), 3, 1, "value start stop -> part; null for an absent end"),
    ("WITH_ITEM", (), 3, 1, "container key value -> a copy with the item set"),
    ("WITH_FIELD", ("name",), 2, 1, "record value -> a copy with the field set"),
    ("BUILTIN", ("name", "count"), None, 1, "arguments -> result of the built-in function"),
    ("METHOD", ("name", "count"), None, 1, "receiver arguments -> result; the count includes the receiver"),
    ("CHECK_TYPE", ("type",), 1, 1, "value -> value; raises if it is not a member of the type"),
    (
        "CHECK_GIVEN",
        ("type", "count"),
        None,
        1,
        "value values -> value; raises if it is not a member of the type that depends on the values",
    ),
    ("WRITE_AS", ("type",), 1, 1, "value -> its text in the form of the type; raises if it has none"),
    # control
    ("JUMP", ("target",), 0, 0, "->"),
    ("JUMP_IF_FALSE", ("target",), 1, 0, "cond ->"),
    ("JUMP_IF_TRUE", ("target",), 1, 0, "cond ->"),
    ("ITERATE", (), 1, 1, "iterable -> iterator"),
    ("NEXT", ("target", "slot"), 1, 1, "iterator -> iterator, the next item stored in the slot; or jump"),
    ("IS_VARIANT", ("name",), 1, 1, "value -> bool; the name is `Union.Variant`"),
    ("IS_TYPE", ("type",), 1, 1, "value -> bool; membership"),
    ("CALL", ("code", "count"), None, 1, "arguments -> result; a fresh conversation for fn, none for pure"),
    ("START", ("code", "count"), None, 0, "arguments -> ; a hint: a CALL of this fn with them will come"),
    (
        "STREAM",
        ("code", "count"),
        None,
        0,
        "arguments -> ; opens a stream: a CALL of this fn, read as it is written",
    ),
    ("STREAM_NEXT", ("name",), 0, 1, "-> bool: more is there of the newest stream; the name is of its hole"),
    ("STREAM_PART", ("type",), 0, 1, "-> what is there of the newest stream's result, of this partial type"),
    ("END_STREAM", (), 0, 1, "-> the newest stream's result, null where its call has not ended; closes it"),
    ("CALL_PART", ("code", "count"), None, 1, "arguments -> result; writes into the current message"),
    ("PYTHON", ("count",), None, 1, "arguments -> what the function of Python gives that the code calls"),
    ("RETURN", (), 1, 0, "value -> to the caller"),
    ("RAISE", ("name", "count"), None, 0, "fields -> raises the error of that name"),
    ("RERAISE", (), 1, 0, "error -> raises it again"),
    ("TRY", ("target", "flag"), 0, 0, "pushes a handler; keeps a mark of the conversation. 1: a quiet one"),
    ("END_TRY", (), 0, 0, "drops the newest handler"),
    ("MARK", (), 0, 0, "opens a mark: keeps the conversation as it is"),
    ("FORGET", (), 0, 0, "closes the newest mark; the conversation is as it was there"),
    ("CATCH", ("name",), 0, 1, "-> bool: is the error caught last of that name (empty: any error)?"),
    ("ERROR", (), 0, 1, "-> the error caught last, as a value"),
    ("LIMIT", ("name",), 1, 1, "n -> n - 1; raises Budget if n was 0. The name describes the loop"),
    # conversation
    ("ROLE", ("name",), 0, 0, "opens a message of that role"),
    ("TOOLS", ("constant",), 0, 0, "tells the empty conversation which tools there are, a JSON list"),
    ("CALL_TEXT", ("name",), 0, 0, "appends a part of a tool's call in the form of the model"),
    ("END_ROLE", (), 0, 0, "closes the open message"),
    ("LINE", (), 0, 0, "starts a pipe line: a newline first, unless it is the first or glued"),
    ("GLUE", (), 0, 0, "the next LINE adds no newline"),
    ("TEXT", ("constant",), 0, 0, "appends literal text"),
    ("INSERT", (), 1, 0, "value -> ; appends its display text as inert data"),
    ("GEN", ("hole", "count"), None, 1, "option values -> generated value"),
    ("SELECT", ("hole", "count"), None, 1, "option values -> Scored; emits the best option's text"),
    ("SNAPSHOT", ("retry",), 0, 0, "keeps conversation and locals for a retry; a retry resumes here"),
    ("RETRY", ("retry",), 1, 0, "reason -> ; resumes at the snapshot while attempts are left, else goes on"),
    ("RECORD_CHECK", ("flag",), 1, 0, "reason or null -> ; notes a check: 1 passed, 0 failed"),
    ("SEED", (), 1, 0, "number -> ; seed of this branch"),
    ("FORK", ("code", "flag"), 1, 1, "iterable -> branches; the code is the body, flag 1 skips failures"),
    ("ADOPT", (), 1, 0, "branch -> ; its conversation becomes this one"),
    # tests
    ("MOCK", ("name", "flag"), 1, 0, "value -> ; hole `f.hole` answers it, flag 1 always"),
    (
        "FUZZ",
        ("flag",),
        0,
        0,
        "1: a round of random answers over the masks begins; 0: back to the mocks",
    ),
    ("WITNESS", ("name",), 1, 0, "value -> ; a part of the expectation that follows, under its text"),
    ("EXPECT", (), 1, 0, "bool -> ; records a failed expectation"),
    ("GOLDEN", (), 0, 0, "from here on it is noted what holes are asked"),
    ("END_GOLDEN", (), 1, 0, "value -> ; what was noted is held against an earlier run"),
    ("REPLAY", ("name",), 0, 0, "the run in the trace of that name is to be run again after the test"),
    ("EXPECT_RAISES", ("name", "flag"), 0, 0, "an error of that name was due: 0 it came, 1 it did not"),
)

OPCODES: tuple[Opcode, ...] = tuple(
    Opcode(
        number,
        name,
        operands,
        pops,
        pushes,
        meaning,
    )
    for number, (name, operands, pops, pushes, meaning) in enumerate(_ROWS)
)
BY_NAME: dict[str, Opcode] = {op.name: op for op in OPCODES}
