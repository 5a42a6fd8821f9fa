"""What the user sets of one backend: plain data, as `[models.NAME]` of `sgl.toml` has it."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.runtime.backends.transport import TIMEOUTS, Timeouts
from sglc.targets.projection.core.capabilities import Dialect, Notation


@dataclass(frozen=True, slots=True)
class BackendSettings:
    """How a backend is reached, and what is known of it that its name does not say.

    base_url        the address, where it is not the usual one; only for kinds that are named by a model
    key_variable    the environment variable that holds the key, where it is not the usual one
    plain_http      whether a key may go to a public host without TLS
    timeouts        how long a request may take
    leave_out       fields of requests that this server refuses, such as `seed`
    max_tokens      the bound on tokens where a query has none; only Anthropic's protocol needs one
    notations       what it enforces, where that is not what its kind enforces; empty for nothing
    dialect         the part of JSON Schema that it enforces, where it is another one
    context_length  tokens of prompt and answer, where the server does not tell
    """

    base_url: str = ""
    key_variable: str = ""
    plain_http: bool = False
    timeouts: Timeouts = TIMEOUTS
    leave_out: frozenset[str] = frozenset()
    max_tokens: int | None = None
    notations: frozenset[Notation] | None = None
    dialect: Dialect | None = None
    context_length: int | None = None


SETTINGS = BackendSettings()
