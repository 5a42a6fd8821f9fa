"""IR to a linked program. Every function becomes one code object, in the order of the module."""

from __future__ import annotations

from sglc.bytecode.code import Code, ErrorSpec, HoleSpec, Program
from sglc.emit.function import FunctionEmitter
from sglc.emit.pools import Pools, artefact_file_name
from sglc.ir.module import Module


def emit(module: Module) -> Program:
    """The program of a sound module; `stack_depth` is left to the verifier."""
    pools = Pools(module.sources)
    indices = {function.name: index for index, function in enumerate(module.functions)}
    codes: list[Code] = []
    slots: dict[str, tuple[str, ...]] = {}
    for function in module.functions:
        inherited = slots[function.parent] if function.kind == "fork" and function.parent else ()
        code = FunctionEmitter(function, pools, indices, inherited).emit()
        slots[function.name] = code.slots
        codes.append(code)
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
        )
        for hole in module.holes
    )
    entry = {
        function.name: index
        for index, function in enumerate(module.functions)
        if not function.module and function.kind in ("fn", "pure")
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
        files=tuple(artefact_file_name(source.name) for source in pools.sources),
        sources=tuple(source.text for source in pools.sources),
    )
