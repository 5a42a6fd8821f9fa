"""From a name to a backend. Other packages bring kinds by entry points of the group `sglc.backends`.

An entry point is named as its kind and leads to a function that takes an `Opening` and gives a `Backend`. It
is looked for only where a name has a kind that is not our own. The function's attribute `capabilities` says
what such backends can do, before one is opened; `opening.capabilities` has them, changed by the settings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from sglc.runtime.backends.backend_settings import SETTINGS, BackendSettings
from sglc.runtime.backends.exchange import Backend, Clock
from sglc.runtime.backends.kinds import KINDS, Kind, of_openai_model
from sglc.runtime.backends.names import (
    BackendName,
    check_secrecy,
    checked_url,
    key_of,
    parse_name,
)
from sglc.runtime.backends.secrets import Environment, Redactor, secret_values
from sglc.runtime.backends.transport import Transport
from sglc.runtime.errors import ArgumentError
from sglc.targets.projection.core.capabilities import Capabilities

GROUP = "sglc.backends"


@dataclass(frozen=True, slots=True)
class Opening:
    """What a backend is made of. `transport` is None where nobody gave one: a backend makes its own then.

    `capabilities` are those of its kind, changed by the settings.
    """

    name: BackendName
    settings: BackendSettings
    capabilities: Capabilities
    url: str = ""
    key: str = field(default="", repr=False)
    transport: Transport | None = None
    clock: Clock | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def hidden(self) -> Redactor:
        """What takes secrets out of messages: the key, and what the environment has under the name of one."""
        return Redactor([self.key, *secret_values(self.environment)])


Opener = Callable[[Opening], Backend]


def open_backend(
    name: str,
    settings: BackendSettings = SETTINGS,
    environment: Mapping[str, str] | None = None,
    transport: Transport | None = None,
    clock: Clock | None = None,
) -> Backend:
    """The backend of a name. It asks nothing before it is asked.

    `environment` has the keys; `transport` stands in for the network. Raises ArgumentError where the name,
    the settings or the key do not do (E0731, E0732, E0733), or a package is missing (E0734).
    """
    environment = Environment(environment or {})
    try:
        return _opened(name, settings, environment, transport, clock)
    except ArgumentError as found:
        error, found.__context__ = found, None
    raise error.with_traceback(None)  # frames behind it know addresses and keys


def _opened(
    name: str,
    settings: BackendSettings,
    environment: Mapping[str, str],
    transport: Transport | None,
    clock: Clock | None,
) -> Backend:
    others = _others()
    parsed = parse_name(name, others)
    kind = KINDS.get(parsed.kind)
    if kind is None:
        opener = _opener(others[parsed.kind])
        able = _set(_declared(opener) or Capabilities(), settings)
        return opener(Opening(parsed, settings, able, "", "", transport, clock, environment))
    opening = Opening(
        parsed,
        settings,
        _able(kind, parsed, settings),
        _address(kind, parsed, settings, environment),
        key_of(kind, settings, environment),
        transport,
        clock,
        environment,
    )
    check_secrecy(opening.url, bool(opening.key), settings)
    return cast(Opener, import_module(kind.module).open_backend)(opening)


def capabilities_of(name: str, settings: BackendSettings = SETTINGS) -> Capabilities:
    """What the backend of a name can do, as its kind and the settings say. No backend is opened and no key is
    read. Raises ArgumentError for a name that is none (E0731), a package that is broken (E0734), and a kind
    of another package that does not say it (E0735)."""
    others = _others()
    parsed = parse_name(name, others)
    kind = KINDS.get(parsed.kind)
    if kind is not None:
        return _able(kind, parsed, settings)
    entry = others[parsed.kind]
    able = _declared(_opener(entry))
    if able is None:
        raise ArgumentError(
            "E0735",
            f"what backends of the kind `{entry.name}` can do is not known before one is opened",
            reason=f"`{entry.value}` has no attribute `capabilities`",
            hint="its package may set it; `sglc run --verbose` shows the levels of a run",
        )
    return _set(able, settings)


def _able(kind: Kind, name: BackendName, settings: BackendSettings) -> Capabilities:
    """What a backend of our own can do, by its kind, the settings, and what is known of the model."""
    found = _set(kind.capabilities, settings)
    if kind.name == "openai":
        found = of_openai_model(name.model, found, settings.notations is None)
    return found


def _opener(entry: EntryPoint) -> Opener:
    """What the entry point of another package leads to. Raises ArgumentError (E0734)."""
    try:
        return cast(Opener, entry.load())
    except (ImportError, AttributeError) as problem:
        raise ArgumentError(
            "E0734",
            f"the kind `{entry.name}` of another package cannot be loaded",
            reason=f"{entry.value}: {problem}",
            hint="see whether the package and what it needs are installed",
        ) from None


def _declared(opener: Opener) -> Capabilities | None:
    """What a function of another package says of its backends."""
    found = getattr(opener, "capabilities", None)
    return found if isinstance(found, Capabilities) else None


def missing_package(package: str, extra: str) -> ArgumentError:
    """The error of a kind whose package is not installed."""
    return ArgumentError(
        "E0734", f"the package {package} is not installed", hint=f"pip install 'sglc[{extra}]'"
    )


def _address(kind: Kind, name: BackendName, settings: BackendSettings, environment: Mapping[str, str]) -> str:
    if name.url and settings.base_url:
        raise ArgumentError("E0731", f"`{kind.form}` has its address in its name; `base_url` is a second one")
    if name.url:
        return name.url
    if settings.base_url and kind.base:
        return checked_url(settings.base_url, "base_url")
    given = environment.get(kind.base_variable, "")
    return checked_url(given, kind.base_variable) if given else kind.base


def _set(capabilities: Capabilities, settings: BackendSettings) -> Capabilities:
    """Capabilities, as the settings have them."""
    changes: dict[str, object] = {}
    if settings.notations is not None:
        changes["notations"] = settings.notations
        if "json_schema" not in settings.notations:
            changes["dialect"] = None
    if settings.dialect is not None:
        changes["dialect"] = settings.dialect
    if settings.context_length is not None:
        changes["context_length"] = settings.context_length
    if "temperature" in settings.leave_out:
        changes["temperature"] = False
    if "seed" in settings.leave_out:
        changes["seed"] = False
    changes["samplers"] = capabilities.samplers - settings.leave_out
    return dataclasses.replace(capabilities, **changes)  # type: ignore[arg-type]


def _others() -> dict[str, EntryPoint]:
    """Kinds of other packages that are installed. Our own names are never theirs."""
    return {each.name: each for each in entry_points(group=GROUP) if each.name not in KINDS}
