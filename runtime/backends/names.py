"""Names of backends, as `--model` has them: `openai:NAME`, `vllm:URL`, `repair:COMMAND`.

A name holds no key. Keys come from the environment, and go only where nobody else reads them.
"""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from sglc.diagnostics.suggest import nearest
from sglc.project.models import kind_of
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.kinds import KINDS, Kind
from sglc.runtime.backends.secrets import has_key
from sglc.runtime.backends.transport import shown_address
from sglc.runtime.errors import ArgumentError

_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".svc", ".home.arpa")


@dataclass(frozen=True, slots=True)
class BackendName:
    """A name in its parts. `text` is the whole; `model` is empty where the server is asked for it."""

    text: str
    kind: str
    model: str = ""
    url: str = ""
    command: tuple[str, ...] = ()


def parse_name(text: str, others: Mapping[str, object] | None = None) -> BackendName:
    """A name in its parts; `others` are kinds of other packages, whose names are a kind and any text.

    Raises ArgumentError (E0731, E0733).
    """
    word = kind_of(text) or text.partition(":")[0]
    kind = KINDS.get(word)
    rest = text[len(word) + 1 :].strip()
    if kind is None:
        if others and word in others:
            return BackendName(text, word, rest)
        raise _unknown(word, [*KINDS, *(others or ())])
    if kind.address == "COMMAND":
        return _command(text, kind, rest)
    if not rest:
        raise _misnamed(kind, f"`{word}:` has nothing behind it")
    if kind.address == "NAME":
        return BackendName(text, word, _model(kind, rest))
    url, _, model = rest.partition("#")
    if kind.address == "URL#NAME" and not model:
        raise _misnamed(kind, f"`{word}:` does not say which model of the server is meant")
    if kind.address == "URL" and model:
        raise _misnamed(kind, f"`{word}:` takes no name of a model: the server has one")
    return BackendName(text, word, _model(kind, model), checked_url(url, kind.form))


def checked_url(url: str, form: str) -> str:
    """An address without a slash at its end. Raises ArgumentError where it is none, or has more in it."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good or re.search(r"[\s\x00-\x1f\\]", url):
        is_host = "://" not in url and re.match(r"[\w.-]+(:\d+)?(/|$)", url) and not has_key(url)
        hint = f"write http://{url}" if is_host else ""
        raise ArgumentError(
            "E0731", f"`{form}` needs an address that begins with http:// or https://", hint=hint
        )
    if parts.username or parts.password or parts.query:
        raise ArgumentError(
            "E0733",
            f"the address {shown_address(url)} has a user, a password or a query",
            reason="what stands there is often a key, and addresses are shown in messages and traces",
            hint="give the address alone, and the key in the environment",
        )
    if has_key(parts.path) or has_key(parts.fragment):
        raise _looks_like_a_key(f"a part of the address of `{form}`", "addresses")
    return url.rstrip("/")


def key_of(kind: Kind, settings: BackendSettings, environment: Mapping[str, str]) -> str:
    """The key of a backend, empty where it needs none. Raises ArgumentError (E0732)."""
    variable = settings.key_variable or kind.key_variable
    key = environment.get(variable, "").strip() if variable else ""
    if not key:
        if settings.key_variable or kind.needs_key:
            raise ArgumentError(
                "E0732",
                f"the key of {kind.what} is missing: set {variable}",
                reason="keys are read from the environment only",
            )
        return ""
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ArgumentError("E0732", f"{variable} holds no key: there are blanks or other characters in it")
    return key


def check_secrecy(url: str, keyed: bool, settings: BackendSettings) -> None:
    """Raise ArgumentError (E0733) where a key would go over a public network in the clear."""
    parts = urlsplit(url)
    if not keyed or parts.scheme == "https" or settings.plain_http or _is_near(parts):
        return
    raise ArgumentError(
        "E0733",
        f"a key would go to {shown_address(url)} without encryption",
        reason="whoever carries the request could read it",
        hint="use https://, or set plain_http = true for this model in sgl.toml",
    )


def _is_near(parts: SplitResult) -> bool:
    """Whether a host is on this machine or in a private network, by its address or the form of its name."""
    host = (parts.hostname or "").lower()
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_ENDINGS)
    return address.is_loopback or address.is_private or address.is_link_local


def _model(kind: Kind, name: str) -> str:
    if has_key(name):
        raise _looks_like_a_key(f"what stands behind `{kind.name}:`", "names of models", kind.key_variable)
    if re.search(r"[\x00-\x1f\x7f]", name):
        raise _misnamed(kind, "the name of the model has control characters in it")
    return name


def _command(text: str, kind: Kind, rest: str) -> BackendName:
    try:
        words = tuple(shlex.split(rest))
    except ValueError:
        raise _misnamed(kind, "a quote of the command is not closed") from None
    if not words:
        raise _misnamed(kind, f"`{kind.name}:` has no command behind it")
    if any(map(has_key, words)):
        raise _looks_like_a_key(f"a word of the command behind `{kind.name}:`", "names of models")
    return BackendName(text, kind.name, command=words)


def _looks_like_a_key(what: str, shown: str, variable: str = "") -> ArgumentError:
    return ArgumentError(
        "E0733",
        f"{what} looks like a key",
        reason=f"{shown} are shown in messages and traces",
        hint=f"leave it out, and give the key in {variable or 'the environment'}",
    )


def _unknown(word: str, known: list[str]) -> ArgumentError:
    close = nearest(word, known)
    return ArgumentError(
        "E0731",
        f"there is no kind of backend `{word}`",
        reason="the kinds are " + ", ".join(known),
        hint=f"did you mean `{close}:`?" if close else "",
    )


def _misnamed(kind: Kind, message: str) -> ArgumentError:
    return ArgumentError("E0731", message, hint=f"{kind.what} is named `{kind.form}`")
