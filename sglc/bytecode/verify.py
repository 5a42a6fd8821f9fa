"""Checks a program before it runs, so that the machine never needs to.

Depth of the stack, number of open handlers and snapshots taken are followed along every road through a code
object; operands must be in range and name things of the right kind; types must be closed, and every recursion
in them must pass something printed and be able to end. A program that fails comes from a damaged or hostile
file, or from a fault of the compiler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from sglc.bytecode.code import Code, HoleSpec, Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES
from sglc.bytecode.verify_types import condition_faults, predicate_faults, type_faults
from sglc.callables.tool_text import CALL_PARTS, is_tools
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.types.condition import given_numbers
from sglc.types.decoding import FIGURES, Strategy
from sglc.types.dependent import given_values, waits_for_values
from sglc.types.type import Named, RecordType, UnionType

MAX_DEPTH = 100_000
"""Most items of an operand stack and most operands of one instruction."""

UNARY_OPERATORS = frozenset({"-", "not"})
BINARY_OPERATORS = frozenset(
    {"+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in"}
    | {"matches", "contains", "both"}
)
HOLE_OPTIONS = frozenset("options max_tokens temp top_p top_k min_p seed n weight at_least".split())

_N = {name: opcode.number for name, opcode in BY_NAME.items()}
_TEXTUAL = frozenset(
    _N[name] for name in "ROLE END_ROLE LINE GLUE TEXT INSERT GEN SELECT FORK ADOPT MARK FORGET".split()
)
_JUMPS = frozenset({"JUMP", "JUMP_IF_FALSE", "JUMP_IF_TRUE", "NEXT", "TRY"})
_SPECIAL = frozenset(
    _N[name]
    for name in (
        *_JUMPS,
        "END_TRY",
        "MARK",
        "FORGET",
        "STREAM",
        "STREAM_NEXT",
        "STREAM_PART",
        "END_STREAM",
        "RETURN",
        "RAISE",
        "RERAISE",
        "SNAPSHOT",
        "RETRY",
        "ERROR",
        "STORE",
        "LOAD",
    )
)
"""Instructions that the verifier follows specially; all others go on to the next one."""
_CLOSES = {"END_TRY": "t", "FORGET": "m", "END_STREAM": "s"}
"""What an instruction closes."""
_ENDS = frozenset({_N["RETURN"], _N["RAISE"], _N["RERAISE"], _N["JUMP"]})

_WITHOUT = {"pure": "a pure function", "extern": "a function of Python"}
"""Kinds of codes without a conversation."""

State = tuple[int, str, frozenset[object]]
"""Stack depth, open handlers (`t`), marks (`m`) and streams (`s`), the newest last, and what surely happened
before: snapshots taken (by retry index), iterators made (`("iterator", slot)`), an error caught
(`"error"`)."""


class _Fault(Exception):
    """A code object is unsound; carries the sentence."""


def verify(program: Program) -> list[Diagnostic]:
    """What is wrong with the program (E0606); empty if it is safe to run."""
    return verified(program)[1]


def verified(program: Program) -> tuple[Program, list[Diagnostic]]:
    """The program with the stack depth of each code object filled in, and what is wrong with it."""
    faults = [*_program_faults(program)]
    codes = []
    if not faults:
        facts = _Facts(program)
        for index, code in enumerate(program.codes):
            try:
                depth = _CodeChecker(program, code, index, facts).run()
            except _Fault as fault:
                faults.append(f"{code.name}: {fault}")
                depth = 0
            codes.append(code if code.stack_depth == depth else replace(code, stack_depth=depth))
    if faults:
        return program, [
            Diagnostic("E0606", f"{program.name} is not a sound program", None, reason=fault)
            for fault in faults
        ]
    return replace(program, codes=tuple(codes)), []


def _program_faults(program: Program) -> Iterator[str]:
    unsound = [*type_faults(program.types, program.table)]
    yield from unsound
    if unsound:  # what holes ask of types, only sound ones can answer
        return
    yield from predicate_faults(program.codes, program.table)
    for name in program.names:
        if not isinstance(name, str):
            yield "a name is no text"
    for name, index in program.entry.items():
        if not 0 <= index < len(program.codes):
            yield f"the entry {name!r} points nowhere"
        elif program.codes[index].kind not in ("fn", "pure") or program.codes[index].name != name:
            yield f"the entry {name!r} points to something else"
    if program.sources and len(program.sources) != len(program.files):
        yield "files and sources do not match"
    for hole in program.holes:
        if hole.type is not None and not 0 <= hole.type < len(program.types):
            yield f"the hole {hole.name!r} has no type"
        if hole.type is None and "options" not in hole.options:
            yield f"the hole {hole.name!r} has neither type nor options"
        if hole.type is not None and "options" in hole.options:
            yield f"the hole {hole.name!r} has both a type and options"
        if hole.mode == "gen" and hole.type is None:
            yield f"the hole {hole.name!r} has no type"
        given = [option for option in hole.options if option.startswith("given")]
        options = hole.options[len(given) :]
        due = 0
        if hole.type is not None and 0 <= hole.type < len(program.types):
            due = len(given_values(program.types[hole.type]))
            yield from condition_faults(hole, program.types[hole.type], program.table)
            if waits_for_values(program.types[hole.type], program.table):
                yield f"the hole {hole.name!r} has a grammar that is not given its values"
        if hole.condition is not None:
            due += len(given_numbers(hole.condition))
        if tuple(given) != tuple(f"given{number}" for number in range(due)) or (due and hole.mode != "gen"):
            yield f"the hole {hole.name!r} is given other values than it depends on"
        if given and hole.options[: len(given)] != tuple(given):
            yield f"the hole {hole.name!r} is given its values in another order"
        asked = [option for option in options if option.startswith("asked")]
        options = options[len(asked) :]
        codes = [program.codes[index] for index in hole.validators if 0 <= index < len(program.codes)]
        if len(codes) < len(hole.validators) or not all(c.kind == "pure" and c.parameters for c in codes):
            yield f"a validator of the hole {hole.name!r} is no pure function of a text"
        due = sum(len(code.parameters) - 1 for code in codes)
        if asked != [f"asked{n}" for n in range(due)] or (hole.validators and hole.mode != "gen"):
            yield f"the validators of the hole {hole.name!r} are given other values than they take"
        if not HOLE_OPTIONS.issuperset(options) or len(set(hole.options)) != len(hole.options):
            yield f"the hole {hole.name!r} has unknown or repeated options"
        yield from _model_faults(hole)
        if "" in hole.stops:
            yield f"the hole {hole.name!r} has an empty stop text"
        yield from _decoding_faults(hole)
    conversations = {code.copy_of or code.name for code in program.codes if code.kind == "fn"}
    for prefix in program.prefixes:
        if not prefix.messages or not 0 <= prefix.ahead <= len(prefix.messages[-1].text):
            yield "a prefix is shorter than its hole's part of it"
        if not conversations.issuperset(prefix.functions):
            yield "a prefix of something else than a function with a conversation"
    for code in program.codes:
        yield from _code_faults(program, code)


def _decoding_faults(hole: HoleSpec) -> Iterator[str]:
    """What is wrong with the strategy of a hole: its numbers, what it tells, and what it stands beside."""
    decoding = hole.decoding
    if hole.told and not _tells(hole):
        yield f"the hole {hole.name!r} has no figures to tell"
    if decoding is None:
        return
    strategy, fault = decoding.strategy, decoding.fault()
    if fault:
        yield f"the hole {hole.name!r}: {fault}"
    drawing = {"temp", "top_k", "top_p", "min_p"}.intersection(hole.options)
    if (
        hole.mode == "select"
        or (hole.mode == "choose" and strategy in ("smc", "beam"))
        or (hole.validators and strategy in ("smc", "beam"))
        or (hole.mode == "gen" and strategy in ("exact", "smc") and drawing != {"temp"})
        or (strategy == "beam" and drawing)
        or (decoding.distinct and ("n" not in hole.options or (hole.models and hole.models.teacher)))
    ):
        yield f"the hole {hole.name!r} cannot be decoded by `{strategy}`"


def _tells(hole: HoleSpec) -> bool:
    """Whether the strategy of a hole finds more than a text, and only one."""
    blended = hole.models is not None and hole.models.teacher is not None
    strategy: Strategy = hole.decoding.strategy if hole.decoding is not None else "local"
    scored = hole.decoding is None or strategy != "local"
    told = scored if hole.mode == "choose" else hole.mode == "gen" and bool(FIGURES.get(strategy))
    return told and not blended and "n" not in hole.options


def _model_faults(hole: HoleSpec) -> Iterator[str]:
    """What is wrong with the models of a hole."""
    blended = hole.models is not None and hole.models.teacher is not None
    weighted = hole.models is not None and hole.models.rule == "weight"
    if hole.models is not None and not all(view.name for view in hole.models.views):
        yield f"a model of the hole {hole.name!r} has no name"
    if blended and hole.models is not None and hole.models.others:
        yield f"the hole {hole.name!r} has a chain of models and a blend"
    if blended and hole.mode == "select":
        yield f"two models are to score the options of {hole.name!r}"
    if weighted and not blended:
        yield f"the hole {hole.name!r} weighs one model"
    if (blended and weighted != ("weight" in hole.options)) or (not blended and "weight" in hole.options):
        yield f"the hole {hole.name!r} has a weight without its rule, or the rule without a weight"
    if "at_least" in hole.options and (not blended or weighted):
        yield f"the hole {hole.name!r} has a least share of nothing"


def _code_faults(program: Program, code: Code) -> Iterator[str]:
    types = len(program.types)
    if len(code.places) != len(code.instructions):
        yield f"{code.name}: instructions and places do not match"
    if len(code.parameters) > len(code.slots) or len(code.slots) > MAX_DEPTH:
        yield f"{code.name}: too many parameters or slots"
    if any(not 0 <= parameter.type < types for parameter in code.parameters):
        yield f"{code.name}: a parameter has no type"
    if code.result is not None and not 0 <= code.result < types:
        yield f"{code.name}: the result has no type"
    if code.kind == "fork" and not (0 <= code.fork_slot < len(code.slots) and not code.parameters):
        yield f"{code.name}: a fork body has a loop variable and no parameters"
    if (code.kind == "extern") != (code.extern is not None):
        yield f"{code.name}: a function of Python is named by another code than an `extern`"
    elif code.extern is not None and (fault := code.extern.fault(len(code.parameters))):
        yield f"{code.name}: {fault}"
    if code.kind == "test" and code.parameters:
        yield f"{code.name}: a test has no parameters"
    if code.within is not None and code.within < 0:
        yield f"{code.name}: the budget is negative"
    for point in code.retries:
        known = 0 <= point.hole < len(program.holes) and 0 <= point.hole_slot < len(code.slots)
        if not known or point.attempts < 0:
            yield f"{code.name}: a retry policy points nowhere"
    if any(not 0 <= instruction.op < len(OPCODES) for instruction in code.instructions):
        yield f"{code.name}: an unknown opcode"
    files = max(len(program.files), 1)
    if any(not 0 <= place.file < files for place in code.places):
        yield f"{code.name}: a place is in no file"


def _fork_parents(program: Program) -> dict[int, int]:
    """For each fork body, the code object that starts it, from a first pass over the instructions."""
    parents: dict[int, int] = {}
    fork = _N["FORK"]
    for index, code in enumerate(program.codes):
        for instruction in code.instructions:
            if instruction.op == fork:
                parents.setdefault(instruction.a, index)
    return parents


class _Facts:
    """What all code objects of a program are checked against, looked up once.

    parents   for each fork body, the code object that starts it
    fields    by union and variant, how many fields it has
    errors    by its name, how many fields a declared error has
    """

    def __init__(self, program: Program) -> None:
        self.parents = _fork_parents(program)
        self.fields = {
            (name, variant.name): len(variant.fields)
            for name, declared in program.table.items()
            if isinstance(declared, UnionType)
            for variant in declared.variants
        }
        self.errors = {error.name: len(error.fields) for error in reversed(program.errors)}
        self._iterators = [_own_iterators(code) for code in program.codes]
        self._fork_slots = [code.fork_slot for code in program.codes]

    def iterators(self, index: int) -> set[int]:
        """Slots that hold iterators. A fork body shares those of the function that it is in which lie
        before its first own slot."""
        slots = set(self._iterators[index])
        seen = {index}
        shared = self._fork_slots[index]
        at = self.parents.get(index)
        while at is not None and at not in seen:
            seen.add(at)
            slots.update(slot for slot in self._iterators[at] if slot < shared)
            shared = min(shared, self._fork_slots[at])
            at = self.parents.get(at)
        return slots


def _own_iterators(code: Code) -> set[int]:
    made = (_N["ITERATE"], _N["NEXT"])
    return {two.a for one, two in pairwise(code.instructions) if one.op in made and two.op == _N["STORE"]}


class _CodeChecker:
    def __init__(self, program: Program, code: Code, index: int, facts: _Facts) -> None:
        self.program = program
        self.code = code
        self.index = index
        self.facts = facts
        self.sizes = {
            "constant": len(program.constants),
            "slot": len(code.slots),
            "target": len(code.instructions),
            "count": MAX_DEPTH,
            "name": len(program.names),
            "type": len(program.types),
            "code": len(program.codes),
            "hole": len(program.holes),
            "retry": len(code.retries),
            "flag": 2,
        }
        self.iterators = facts.iterators(index)

    def run(self) -> int:
        """The greatest stack depth; raises _Fault."""
        code = self.code
        if not code.instructions:
            raise _Fault("no instructions")
        self._iterator_uses()
        states: dict[int, State] = {0: (0, "", frozenset())}
        work = [0]
        deepest = 0
        snapshots: dict[int, State] = {}
        checked: set[int] = set()
        retries: list[tuple[int, int, State]] = []
        count = len(code.instructions)
        while work:
            at = work.pop()
            depth, handlers, taken = states[at]
            op, a, b = code.instructions[at]
            if at not in checked:
                self._operands(at)
                checked.add(at)
            opcode = OPCODES[op]
            pops = opcode.pops
            if pops is None:
                pops = a if opcode.operands[0] == "count" else b
            if depth < pops:
                raise _Fault(f"instruction {at} takes {pops} items from a stack of {depth}")
            after = depth - pops + opcode.pushes
            if after > deepest:
                deepest = after
                if deepest > MAX_DEPTH:
                    raise _Fault(f"instruction {at}: the stack grows too deep")
            state: State = (after, handlers, taken)
            if op not in _SPECIAL:
                if at + 1 in states:
                    self._flow(states, work, at, at + 1, state)
                elif at + 1 < count:
                    states[at + 1] = state
                    work.append(at + 1)
                else:
                    raise _Fault(f"instruction {at} runs off the end")
                continue
            edges: list[tuple[int, State]] = []
            name = opcode.name
            if name == "TRY":
                edges.append((a, (depth, handlers, taken if b else taken | {"error"})))
                state = (after, self._opened(at, handlers, "t"), taken)
            elif name == "MARK":
                state = (after, self._opened(at, handlers, "m"), taken)
            elif name == "STREAM":
                state = (after, self._opened(at, handlers, "s"), taken)
            elif name in _CLOSES:
                if not handlers.endswith(_CLOSES[name]):
                    raise _Fault(f"instruction {at}: what it closes is not the newest that is open")
                state = (after, handlers[:-1], taken)
            elif name in ("STREAM_NEXT", "STREAM_PART"):
                if not handlers.endswith("s"):
                    raise _Fault(f"instruction {at}: no stream is the newest that is open")
            elif name == "RETURN":
                if handlers or after:
                    raise _Fault(f"instruction {at}: a handler or a value is left behind")
            elif name == "SNAPSHOT":
                if depth:
                    raise _Fault(f"instruction {at}: a snapshot under {depth} pending values")
                if snapshots.setdefault(a, (at, handlers, frozenset()))[:2] != (at, handlers):
                    raise _Fault(f"instruction {at}: a second snapshot of one retry")
                state = (after, handlers, taken | {a})
            elif name == "ERROR":
                if "error" not in taken:
                    raise _Fault(f"instruction {at}: no error was caught")
            elif name == "STORE" and a in self.iterators:
                state = (after, handlers, taken | {("iterator", a)})
            elif name == "LOAD" and a in self.iterators and ("iterator", a) not in taken:
                raise _Fault(f"instruction {at}: no iterator was made")
            elif name == "RETRY":
                retries.append((at, a, state))
            elif name in ("JUMP", "JUMP_IF_FALSE", "JUMP_IF_TRUE", "NEXT"):
                edges.append((a, state))
            if op not in _ENDS:
                edges.append((at + 1, state))
            for target, new in edges:
                self._flow(states, work, at, target, new)
        for at, retry, (depth, handlers, _) in retries:
            snapshot = snapshots.get(retry)
            known = snapshot is not None and retry in states[at][2] and handlers.startswith(snapshot[1])
            if depth or not known:
                raise _Fault(f"instruction {at}: a retry without its snapshot")
        return deepest

    @staticmethod
    def _opened(at: int, handlers: str, kind: str) -> str:
        if len(handlers) > 1000:
            raise _Fault(f"instruction {at}: too many open handlers")
        return handlers + kind

    def _iterator_uses(self) -> None:
        """Iterators are seen by nothing but NEXT: see the shapes in `sglc.bytecode.opcodes`."""
        every = self.code.instructions
        targets = {i.a for i in every if OPCODES[i.op].name in _JUMPS}
        load, store, pop = _N["LOAD"], _N["STORE"], _N["POP"]
        last = len(every) - 1
        for at, (op, a, _) in enumerate(every):
            name = OPCODES[op].name
            if name not in ("ITERATE", "NEXT"):
                before = OPCODES[every[at - 1].op].name if at else ""
                after = OPCODES[every[at + 1].op].name if at < last else ""
                if op == load and a in self.iterators and after != "NEXT":
                    raise _Fault(f"instruction {at}: an iterator is used as a value")
                if op == store and a in self.iterators and before not in ("ITERATE", "NEXT"):
                    raise _Fault(f"instruction {at}: a value where an iterator is kept")
                continue
            kept = at < last and every[at + 1].op == store and at + 1 not in targets
            if name == "NEXT":
                kept = kept and at > 0 and at not in targets
                kept = kept and every[at - 1] == (load, every[at + 1].a, 0)
                kept = kept and 0 <= a <= last and every[a].op == pop
                kept = kept and every[at].b not in self.iterators
            if not kept:
                raise _Fault(f"instruction {at}: an iterator is not kept in its slot")

    def _flow(self, states: dict[int, State], work: list[int], at: int, target: int, new: State) -> None:
        if target >= len(self.code.instructions):
            raise _Fault(f"instruction {at} runs off the end")
        old = states.get(target)
        if old is None:
            states[target] = new
        elif old[:2] != new[:2]:
            raise _Fault(f"instruction {target} is reached with different stacks or handlers")
        elif old[2] <= new[2]:
            return
        else:
            states[target] = (old[0], old[1], old[2] & new[2])
        work.append(target)

    def _operands(self, at: int) -> None:
        """Range and kind of the operands of one instruction."""
        op, a, b = self.code.instructions[at]
        opcode = OPCODES[op]
        for kind, value in zip(opcode.operands, (a, b), strict=False):
            if not 0 <= value < self.sizes[kind]:
                raise _Fault(f"instruction {at}: {opcode.name} has no {kind} {value}")
        if self.code.kind in ("pure", "extern") and op in _TEXTUAL:
            raise _Fault(f"instruction {at}: {opcode.name} in {_WITHOUT[self.code.kind]}")
        reason = self._kind_fault(opcode.name, a, b)
        if reason:
            raise _Fault(f"instruction {at}: {opcode.name}: {reason}")

    def _kind_fault(self, name: str, a: int, b: int) -> str:
        program = self.program
        match name:
            case "UNARY":
                return "" if program.names[a] in UNARY_OPERATORS else "unknown operator"
            case "BINARY":
                return "" if program.names[a] in BINARY_OPERATORS else "unknown operator"
            case "MAP":
                return "an odd number of items" if a % 2 else ""
            case "CALL_TEXT":
                return "" if program.names[a] in CALL_PARTS else "no such part of a call"
            case "TOOLS" if self.code.kind != "fn":
                return "no function with a conversation of its own"
            case "TOOLS":
                return "" if is_tools(program.constants[a]) else "no list of tools"
            case "TEXT":
                return "" if isinstance(program.constants[a], str) else "no text"
            case "METHOD":
                return "" if b else "no receiver"
            case "RECORD":
                type_ = program.types[a]
                record = program.table.get(type_.name) if isinstance(type_, Named) else None
                sound = isinstance(record, RecordType) and len(record.fields) == b
                return "" if sound else "no record with so many fields"
            case "CHECK_GIVEN":
                due = len(given_values(program.types[a]))
                return "" if due and b == due + 1 else "other values than the type depends on"
            case "VARIANT" | "IS_VARIANT":
                union, _, variant = program.names[a].rpartition(".")
                fields = self.facts.fields.get((union, variant))
                if fields is None:
                    return "no such variant"
                return "" if name == "IS_VARIANT" or fields == b else "no variant with so many fields"
            case "CALL" | "CALL_PART" | "START" | "STREAM":
                callee = program.codes[a]
                kinds = {
                    "CALL": ("fn", "pure", "extern"),
                    "CALL_PART": ("part",),
                    "START": ("fn", "extern"),
                }.get(name, ("fn",))
                if callee.kind not in kinds or len(callee.parameters) != b:
                    return "no such function with so many parameters"
                if self.code.kind == "pure" and callee.kind != "pure":
                    return "a pure function calls one that is not"
                return ""
            case "PYTHON":
                return "" if self.code.extern is not None else "no function of Python is named"
            case "GEN" | "SELECT":
                hole = program.holes[a]
                if (hole.mode == "select") != (name == "SELECT"):
                    return "a hole of another mode"
                return "" if len(hole.options) == b else "another number of options"
            case "FORK":
                body = program.codes[a]
                sound = body.kind == "fork" and self.facts.parents[a] == self.index
                inherited = body.slots[: body.fork_slot]
                sound = sound and inherited == self.code.slots[: body.fork_slot]
                return "" if sound else "no fork body of this function"
            case "MOCK" | "FUZZ" | "WITNESS" | "EXPECT" | "EXPECT_RAISES":
                return "" if self.code.kind in ("test", "fork") else "outside a test"
            case "RAISE":
                due = self.facts.errors.get(program.names[a], b)
                return "" if due == b else "another number of fields"
        return ""
