"""The targets by name. A target's modules are imported when it is written."""

from __future__ import annotations

from sglc.targets.target import Target, Writer


def _json_schema() -> Writer:
    from sglc.targets.json_schema import write

    return write


def _pydantic() -> Writer:
    from sglc.targets.pydantic_models import write

    return write


def _stubs() -> Writer:
    from sglc.targets.stubs import write

    return write


def _typescript() -> Writer:
    from sglc.targets.typescript import write

    return write


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("json-schema", "the declared types as JSON Schema 2020-12", _json_schema),
        Target("pydantic", "the declared types as a Python module of Pydantic models", _pydantic),
        Target("stubs", "what Python sees of the program, as a `.pyi` file", _stubs),
        Target("typescript", "the declared types as a TypeScript module with guards", _typescript),
    )
}
