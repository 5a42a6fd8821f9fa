"""SGLang's Python front end, as far as written programs use it: a double from its API, or the package itself.

A program runs against a model that is given: for each answer it is asked with the text so far.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Answer = Callable[[str, dict[str, Any]], str]
"""What the model says after a text; the second argument are the settings of the request."""


class Expr:
    """Parts of a text in turn: texts, roles, requests."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __add__(self, other: Any) -> Expr:
        return Expr(*self.parts, *(other.parts if isinstance(other, Expr) else (other,)))

    def __radd__(self, other: str) -> Expr:
        return Expr(other, *self.parts)


class State:
    """The text of a program so far, and its answers."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.text = ""
        self.open = False
        self.values: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def __iadd__(self, other: Any) -> State:
        for part in other.parts if isinstance(other, Expr) else (other,):
            if isinstance(part, str):
                self.text += part
            elif part[0] == "begin":
                assert not self.open, "Nested roles are not allowed."
                self.open = True
                self.text += f"{chr(10) if self.text else ''}<{part[1]}>\n"
            elif part[0] == "end":
                self.open = False
            else:
                _, name, settings = part
                self.values[name] = self.answer(self.text, settings)
                self.text += self.values[name]
        return self


def double() -> types.ModuleType:
    """The double as a module."""
    module = types.ModuleType("sglang")

    def role(name: str) -> Callable[[Any], Expr]:
        return lambda expr: Expr(("begin", name)) + expr + Expr(("end", name))

    def gen(
        name: str,
        max_tokens: int | None = None,
        stop: Any = None,
        temperature: float | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        min_p: float | None = None,
        regex: str | None = None,
        json_schema: str | None = None,
    ) -> Expr:
        return Expr(("ask", name, {"regex": regex, "json_schema": json_schema, "max_tokens": max_tokens}))

    def select(name: str, choices: list[str], temperature: float = 0.0, choices_method: Any = None) -> Expr:
        assert choices_method in (
            "greedy_token_selection",
            "token_length_normalized",
            "unconditional_likelihood_normalized",
        )
        return Expr(("ask", name, {"choices": choices}))

    module.function = lambda made: made  # type: ignore[attr-defined]
    module.gen, module.select = gen, select  # type: ignore[attr-defined]
    for name in ("system", "user", "assistant"):
        setattr(module, name, role(name))
        setattr(module, f"{name}_begin", lambda name=name: Expr(("begin", name)))
        setattr(module, f"{name}_end", lambda name=name: Expr(("end", name)))
    for name in ("greedy_token_selection", "token_length_normalized", "unconditional_likelihood_normalized"):
        setattr(module, name, name)
    return module


def is_installed() -> bool:
    return "sglang" in sys.modules or importlib.util.find_spec("sglang") is not None


@contextmanager
def package() -> Iterator[types.ModuleType]:
    """The front end of the installed package; its own `__init__` wants a server's dependencies."""
    spec = importlib.util.find_spec("sglang")
    assert spec is not None
    module = types.ModuleType("sglang")
    module.__path__ = list(spec.submodule_search_locations or ())
    sys.modules["sglang"] = module
    try:
        api = importlib.import_module("sglang.lang.api")
        choices = importlib.import_module("sglang.lang.choices")
        for source in (api, choices):
            for name, value in vars(source).items():
                if not name.startswith("_"):
                    setattr(module, name, value)
        yield module
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "sglang"]:
            del sys.modules[name]


def run_package(function: Any, arguments: dict[str, str], answer: Answer) -> str:
    """Run a function of the package's front end; the text of its conversation."""
    base = importlib.import_module("sglang.lang.backend.base_backend").BaseBackend
    decision = importlib.import_module("sglang.lang.choices").ChoicesDecision
    template = importlib.import_module("sglang.lang.chat_template").ChatTemplate

    class Backend(base):  # type: ignore[misc, valid-type]
        is_chat_model = False

        def __init__(self) -> None:
            super().__init__()
            ends = {role: (f"<{role}>\n", "\n") for role in ("system", "user", "assistant")}
            self.chat_template = template("plain", None, ends, "plain")

        def generate(self, s: Any, sampling_params: Any) -> tuple[str, dict[str, Any]]:
            asked = {
                "regex": sampling_params.regex,
                "json_schema": sampling_params.json_schema,
                "max_tokens": sampling_params.max_new_tokens,
            }
            return answer(s.text_, asked), {}

        def select(self, s: Any, choices: list[str], temperature: float, choices_method: Any = None) -> Any:
            return decision(decision=answer(s.text_, {"choices": choices}), meta_info={})

    state = function.run(**arguments, backend=Backend())
    state.sync()
    if state.error() is not None:
        raise state.error()
    return str(state.text())
