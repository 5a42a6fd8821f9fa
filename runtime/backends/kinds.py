"""The kinds of backends, as data: how they are named, where their key is, what they can do.

Sources: the types of openai 3.57, anthropic 2.14, vllm 0.32 and sglang 0.5.23, and the README of llama.cpp's
server, all of autumn 2026. `docs/backends.md` shows the table; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from sglc.targets.projection.core.capabilities import Capabilities

Address = Literal["NAME", "URL", "URL#NAME", "URL[#NAME]", "COMMAND"]
"""What stands behind the colon of a name. A NAME in brackets is asked of the server where it is left out."""
_PACKAGE = "sglc.runtime.backends.protocols"
_ALL_SAMPLERS: frozenset[Literal["top_k", "top_p", "min_p"]] = frozenset(("top_k", "top_p", "min_p"))


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of backends.

    `module` has a function `open_backend(opening)`. `key_variable` names the environment variable with the
    key; a kind that `needs_key` cannot be asked without. `sends_http` is false where no request of ours goes
    out: a package, a command or this process does the work. `base` is the usual address, `base_variable` an
    environment variable with another one.
    """

    name: str
    what: str
    address: Address
    module: str
    capabilities: Capabilities
    key_variable: str = ""
    needs_key: bool = False
    base: str = ""
    base_variable: str = ""
    sends_http: bool = True

    @property
    def form(self) -> str:
        """How it is named, such as `chat:URL#NAME`."""
        return f"{self.name}:{self.address}"


_CHAT = Capabilities(
    notations=frozenset(("json_schema",)),
    dialect="openai",
    seed=True,
    samplers=frozenset(("top_p",)),
)

_KINDS = (
    Kind(
        "openai",
        "OpenAI's API",
        "NAME",
        f"{_PACKAGE}.openai",
        replace(_CHAT, notations=frozenset(("json_schema", "lark", "regex")), top_logprobs=20),
        key_variable="OPENAI_API_KEY",
        needs_key=True,
        base="https://api.openai.com/v1",
        base_variable="OPENAI_BASE_URL",
    ),
    Kind(
        "anthropic",
        "Anthropic's API",
        "NAME",
        f"{_PACKAGE}.anthropic",
        Capabilities(notations=frozenset(("json_schema",)), dialect="anthropic", temperature=False),
        key_variable="ANTHROPIC_API_KEY",
        needs_key=True,
        base="https://api.anthropic.com",
        base_variable="ANTHROPIC_BASE_URL",
    ),
    Kind(
        "vllm",
        "a server of vLLM",
        "URL[#NAME]",
        f"{_PACKAGE}.vllm",
        Capabilities(
            notations=frozenset(("gbnf", "regex", "json_schema", "choice")),
            dialect="whole",
            continues=True,
            scores=True,
            top_logprobs=20,
            seed=True,
            samplers=_ALL_SAMPLERS,
        ),
        key_variable="VLLM_API_KEY",
    ),
    Kind(
        "sglang",
        "a server of SGLang",
        "URL[#NAME]",
        f"{_PACKAGE}.sglang",
        Capabilities(
            notations=frozenset(("gbnf", "regex", "json_schema")),
            dialect="whole",
            continues=True,
            scores=True,
            top_logprobs=20,
            seed=True,
            samplers=_ALL_SAMPLERS,
        ),
        key_variable="SGLANG_API_KEY",
    ),
    Kind(
        "llama",
        "llama.cpp's server",
        "URL",
        f"{_PACKAGE}.llama",
        Capabilities(
            notations=frozenset(("gbnf",)),
            continues=True,
            scores=True,
            top_logprobs=20,
            seed=True,
            repetitions=2_000,
            samplers=_ALL_SAMPLERS,
        ),
        key_variable="LLAMA_API_KEY",
    ),
    Kind(
        "chat",
        "any server that speaks OpenAI's chat completions",
        "URL#NAME",
        f"{_PACKAGE}.openai",
        _CHAT,
        key_variable="CHAT_API_KEY",
    ),
    Kind(
        "litellm",
        "whatever the package litellm reaches",
        "NAME",
        f"{_PACKAGE}.litellm",
        _CHAT,
        sends_http=False,
    ),
    Kind(
        "hf",
        "a model by transformers' own generate, from local files",
        "NAME",
        f"{_PACKAGE}.transformers_generate",
        Capabilities(
            notations=frozenset(("gbnf", "lark", "regex", "json_schema", "choice")),
            dialect="whole",
            continues=True,
            scores=True,
            top_logprobs=20,
            seed=True,
            samplers=_ALL_SAMPLERS,
        ),
        sends_http=False,
    ),
    Kind(
        "repair",
        "a command that reads a prompt and writes text",
        "COMMAND",
        f"{_PACKAGE}.command",
        Capabilities(continues=True, temperature=False),
        sends_http=False,
    ),
)
_OLDER = re.compile(r"(ft:)?(gpt-3|gpt-4|chatgpt-4|o1|o3|o4)")
"""Models from before custom tools, by OpenAI's guide to function calling: those came with GPT-5."""
REASONING = re.compile(r"(ft:)?(o1|o3|o4|gpt-5)(?!.*chat)")
"""Models that reason before they answer. They refuse `temperature`, `top_p`, `logprobs` and `stop`."""
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _KINDS})


def of_openai_model(name: str, capabilities: Capabilities, by_name: bool = True) -> Capabilities:
    """What a model of OpenAI can do of what the API can; notations only where nobody has set them."""
    if by_name and _OLDER.match(name):
        capabilities = replace(capabilities, notations=capabilities.notations - {"lark", "regex"})
    if REASONING.match(name):
        capabilities = replace(capabilities, temperature=False, samplers=frozenset(), top_logprobs=0)
    return capabilities
