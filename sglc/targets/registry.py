"""The targets by name. A target's modules are imported when it is written."""

from __future__ import annotations

from sglc.targets.core.target import Target, Writer


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


def _gbnf() -> Writer:
    from sglc.targets.grammars.gbnf import write

    return write


def _lark() -> Writer:
    from sglc.targets.grammars.lark import write

    return write


def _ebnf() -> Writer:
    from sglc.targets.grammars.ebnf import write

    return write


def _regex() -> Writer:
    from sglc.targets.grammars.regex import write

    return write


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("json-schema", "the declared types as JSON Schema 2020-12", _json_schema),
        Target("pydantic", "the declared types as a Python module of Pydantic models", _pydantic),
        Target("stubs", "what Python sees of the program, as a `.pyi` file", _stubs),
        Target("typescript", "the declared types as a TypeScript module with guards", _typescript),
        Target("gbnf", "a hole as a grammar of llama.cpp", _gbnf),
        Target("lark", "a hole as a grammar of Lark", _lark),
        Target("ebnf", "a hole as EBNF of the W3C", _ebnf),
        Target("regex", "a hole as a regular expression", _regex),
    )
}
