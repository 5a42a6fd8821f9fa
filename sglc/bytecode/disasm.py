"""Programs as readable text: one instruction a line, operands resolved, the stack depth before each."""

from __future__ import annotations

from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES
from sglc.types.model_use import MAIN_VIEW, ModelUse
from sglc.types.values import EnumValue, RecordValue

_JUMPS = frozenset(BY_NAME[name].number for name in ("JUMP", "JUMP_IF_FALSE", "JUMP_IF_TRUE", "NEXT", "TRY"))


def disassemble(program: Program, sources: bool = False) -> str:
    """The whole program: types, holes, prefixes, code objects; with `sources`, the lines they come from."""
    lines = [f"program {program.name}"]
    for index, type_ in enumerate(program.types):
        lines.append(f"type {index} {type_!r}")
    for index, hole in enumerate(program.holes):
        parts = [f"hole {index} {hole.name} {hole.mode}"]
        if hole.type is not None:
            parts.append(f"type {hole.type}")
        parts += [f"{name}={getattr(hole, name)!r}" for name in ("options", "stops")]
        if hole.mode == "select":
            parts.append(f"by {hole.by}")
        if hole.decoding is not None:
            parts.append(f"decode {hole.decoding}")
        if hole.told:
            parts.append("told")
        if hole.models is not None:
            rule = f" by {hole.models.rule}" if hole.models.teacher is not None else ""
            parts.append(f"using {hole.models.shown()}{rule}")
        lines.append(" ".join(parts))
    for prefix in program.prefixes:
        reader = "" if prefix.model == MAIN_VIEW else f" for {ModelUse(prefix.model).shown()}"
        lines.append(f"prefix of {', '.join(prefix.functions)}{reader}")
        for message in prefix.messages:
            end = "" if message.complete else " …"
            lines.append(f"  {message.role or '(no role)'} {show_value(message.text)}{end}")
    for code in program.codes:
        lines += ["", disassemble_code(program, code, sources)]
    return "\n".join(lines) + "\n"


def disassemble_code(program: Program, code: Code, sources: bool = False) -> str:
    """One code object."""
    parameters = ", ".join(f"{p.name}: type {p.type}" for p in code.parameters)
    head = f"{code.kind} {code.name}({parameters})"
    if code.result is not None:
        head += f" -> type {code.result}"
    if code.within is not None:
        head += f" within {code.within}"
    lines = [head]
    if code.slots:
        lines.append(f"  slots {' '.join(code.slots)}")
    for index, point in enumerate(code.retries):
        slot = code.slots[point.hole_slot]
        lines.append(f"  retry {index} {point.strategy} {point.attempts} hole {point.hole} slot {slot}")
    depths = _depths(code)
    targets = {i.a for i in code.instructions if i.op in _JUMPS}
    if code.extern is not None:
        lines.append(f"  python {code.extern.shown(tuple(code.slots))}")
    seen: tuple[int, int] | None = None
    for at, instruction in enumerate(code.instructions):
        if sources and program.sources:
            place = code.places[at]
            if (place.file, place.line) != seen and place.file < len(program.sources):
                seen = (place.file, place.line)
                text = program.sources[place.file].split("\n")
                if place.line <= len(text):
                    lines.append(
                        f"  # {program.files[place.file]}:{place.line}: {text[place.line - 1].strip()}"
                    )
        mark = ">" if at in targets else " "
        depth = depths.get(at, "-")
        lines.append(f" {mark}{at:4} {depth!s:>2}  {_instruction(program, code, instruction)}".rstrip())
    return "\n".join(lines)


def _depths(code: Code) -> dict[int, int]:
    """Stack depth before each instruction that can be reached."""
    depths = {0: 0}
    work = [0]
    while work:
        at = work.pop()
        op, a, b = code.instructions[at]
        opcode = OPCODES[op]
        pops = opcode.pops
        if pops is None:
            pops = a if opcode.operands[0] == "count" else b
        after = depths[at] - pops + opcode.pushes
        targets = [] if opcode.name in ("JUMP", "RETURN", "RAISE", "RERAISE") else [(at + 1, after)]
        if op in _JUMPS:
            targets.append((a, after))
        for target, depth in targets:
            if target not in depths and target < len(code.instructions):
                depths[target] = depth
                work.append(target)
    return depths


def _instruction(program: Program, code: Code, instruction: tuple[int, int, int]) -> str:
    op, a, b = instruction
    opcode = OPCODES[op]
    words = [f"{opcode.name:<13}"]
    for kind, value in zip(opcode.operands, (a, b), strict=False):
        match kind:
            case "constant":
                words.append(show_value(program.constants[value]))
            case "slot":
                words.append(code.slots[value])
            case "target":
                words.append(f"-> {value}")
            case "name":
                words.append(program.names[value] or "(any)")
            case "type":
                words.append(f"type {value}")
            case "code":
                words.append(program.codes[value].name)
            case "hole":
                words.append(f"hole {value}")
            case "retry":
                words.append(f"retry {value}")
            case "count" | "flag":
                words.append(str(value))
    return " ".join(words)


def show_value(value: object) -> str:
    """A constant on one line, long texts cut."""
    match value:
        case str():
            text = repr(value)
            return text if len(text) <= 80 else f"{text[:70]}…{len(value)} chars"
        case EnumValue(enum=enum, name=name):
            return f"{enum}.{name}"
        case RecordValue(type=type_, fields=parts, variant=variant):
            inner = ", ".join(f"{name}={show_value(item)}" for name, item in parts.items())
            return f"{type_}{'.' + variant if variant else ''}({inner})"
        case list():
            return f"[{', '.join(map(show_value, value))}]"
        case tuple():
            return f"({', '.join(map(show_value, value))})"
        case dict():
            return "{" + ", ".join(f"{show_value(k)}: {show_value(v)}" for k, v in value.items()) + "}"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
