"""The targets by name. A target's modules are imported when it is written."""

from __future__ import annotations

from sglc.targets.core.target import Writer

TARGETS: dict[str, str] = {
    "json-schema": "the declared types as JSON Schema 2020-12",
    "pydantic": "the declared types as a Python module of Pydantic models",
    "stubs": "what Python sees of the program, as a `.pyi` file",
    "typescript": "the declared types as a TypeScript module with guards",
    "python": "the program as a Python module that asks any model by a function of its caller",
    "openai": "the functions as requests of OpenAI's chat completions, with strict schemas",
    "sglang": "the functions for SGLang's Python front end",
    "gbnf": "a hole as a grammar of llama.cpp",
    "lark": "a hole as a grammar of Lark",
    "ebnf": "a hole as EBNF of the W3C",
    "regex": "a hole as a regular expression",
}
"""What each target writes, as a noun without a full stop."""
OF_HOLES = ("gbnf", "lark", "ebnf", "regex")
"""Targets that write one hole."""


def writer_of(name: str) -> Writer:
    """What writes a target. Raises KeyError for a name that is none."""
    match name:
        case "json-schema":
            from sglc.targets.json_schema import write
        case "pydantic":
            from sglc.targets.pydantic_models import write
        case "stubs":
            from sglc.targets.stubs import write
        case "typescript":
            from sglc.targets.typescript import write
        case "python":
            from sglc.targets.python.module import write
        case "openai":
            from sglc.targets.requests.openai import write
        case "sglang":
            from sglc.targets.requests.sglang import write
        case "gbnf":
            from sglc.targets.grammars.gbnf import write
        case "lark":
            from sglc.targets.grammars.lark import write
        case "ebnf":
            from sglc.targets.grammars.ebnf import write
        case "regex":
            from sglc.targets.grammars.regex import write
        case _:
            raise KeyError(name)
    return write
