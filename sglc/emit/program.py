"""IR to a linked program. Every function becomes one code object, in the order of the module.

The body of a fork begins with the slots of the function around it, up to the last one that it uses.
"""

from __future__ import annotations

from itertools import islice

from sglc.analysis.prefix import constant_prefixes
from sglc.bytecode.code import Code, ErrorSpec, HoleSpec, Program
from sglc.emit.function import FunctionEmitter
from sglc.emit.pools import Pools, artefact_file_name
from sglc.ir.module import Module
from sglc.ir.shape import slots_of


def emit(module: Module) -> Program:
    """The program of a sound module; `stack_depth` is left to the verifier."""
    pools = Pools(module.sources)
    indices = {function.name: index for index, function in enumerate(module.functions)}
    codes: list[Code] = []
    emitters: dict[str, FunctionEmitter] = {}
    used = _used_slots(module)
    for function in module.functions:
        inherited: list[str] = []
        if function.kind == "fork" and function.parent:
            outer = emitters[function.parent].slots
            last = max((outer[slot] for slot in used[function.name] if slot in outer), default=-1)
            inherited = list(islice(outer, last + 1))
        emitter = emitters[function.name] = FunctionEmitter(function, pools, indices, inherited)
        codes.append(emitter.emit())
    holes = tuple(
        HoleSpec(
            name=hole.name,
            mode=hole.mode,
            type=None if hole.type is None else pools.type(hole.type),
            options=hole.options,
            stops=hole.stops,
            end_of_message=hole.end_of_message,
            by=hole.by,
            condition=hole.condition,
            validators=tuple(indices[name] for name in hole.validators),
            begins=hole.begins,
            ends=hole.ends,
            decoding=hole.decoding,
            models=hole.models,
            told=hole.told,
        )
        for hole in module.holes
    )
    entry = {
        function.name: index
        for index, function in enumerate(module.functions)
        if function.of_program and function.kind in ("fn", "pure")
    }
    return Program(
        name=artefact_file_name(module.name),
        codes=tuple(codes),
        entry=entry,
        constants=tuple(pools.constants),
        names=tuple(pools.names),
        types=tuple(pools.types),
        table=dict(module.table),
        holes=holes,
        errors=tuple(ErrorSpec(error.name, error.fields) for error in module.errors),
        prefixes=constant_prefixes(module),
        files=tuple(artefact_file_name(source.name) for source in pools.sources),
        sources=tuple(source.text for source in pools.sources),
    )


def _used_slots(module: Module) -> dict[str, set[str]]:
    """Slots that the body of each fork uses, and the forks in it; by the name of the body."""
    used: dict[str, set[str]] = {}
    for function in reversed(module.functions):  # bodies stand behind the function that they are of
        if function.kind != "fork":
            continue
        found = used.setdefault(function.name, set())
        for block in function.blocks:
            for op in (*block.ops, block.end):
                found.update(slots_of(op))
        found.update(policy.slot for policy in function.retries)
        if function.parent is not None:
            used.setdefault(function.parent, set()).update(found)
    return used
