"""Models elsewhere whose traffic is recorded or replayed, or whose answers are kept.

One transport is that of all models of a run. Answers are kept in front of the policies: one that was kept
takes no request, no budget and no turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from sglc.project.models import ModelSettings
from sglc.runtime.backends.exchange import Backend, Clock, Event, Query, TextScore
from sglc.runtime.backends.kinds import KINDS
from sglc.runtime.backends.policy.accounts import Accounts
from sglc.runtime.backends.policy.clock import LoopClock
from sglc.runtime.backends.policy.settings import Limits, Policy
from sglc.runtime.backends.recording.kept_answers import AnswerStore, KeepingAnswers
from sglc.runtime.backends.recording.options import AnswerOptions
from sglc.runtime.backends.recording.traffic import Exchange, TrafficError, TrafficFile, read_traffic
from sglc.runtime.backends.recording.transports import RecordingTransport, ReplayingTransport
from sglc.runtime.backends.secrets import HIDDEN, Environment, secret_values
from sglc.runtime.backends.transport import Transport
from sglc.runtime.errors import ArgumentError
from sglc.targets.projection.core.capabilities import Capabilities


def network() -> Transport:
    """The transport whose traffic is recorded."""
    from sglc.runtime.backends.http_transport import HttpTransport

    return HttpTransport()


class Wiring:
    """What stands between the models elsewhere of a run and the network, and between them and the run."""

    def __init__(self, options: AnswerOptions, environment: Mapping[str, str], models: Iterable[str]) -> None:
        """Opens the file of traffic. `models` are the names of those elsewhere that may be asked.

        Raises ArgumentError where options exclude each other, no model is elsewhere or one sends nothing
        over HTTP (E0737), and where the file is there already, cannot be written or read, or is no recording
        (E0736).
        """
        self._options = options
        self._environment = Environment(environment)
        self._transport: Transport | None = None
        _check(options, list(models))
        self.clock: Clock = LoopClock() if options.replay is None else UnwaitedClock()
        """The time of the policies: a replay waits for nothing."""
        if options.record is not None:
            file = _begun(options.record)
            self._transport = RecordingTransport(network(), file, secret_values(self._environment))
        if options.replay is not None:
            exchanges = _read(options.replay)
            self._transport = ReplayingTransport(exchanges, secret_values(self._environment))
            self._environment = Environment(_without_keys(environment))

    def open_backend(self, model: str, settings: ModelSettings) -> Backend:
        """The backend of a name. A replay needs no key. Raises ArgumentError."""
        from sglc.runtime.backends import registry
        from sglc.runtime.backends.policy.configured import backend_settings_of

        found = backend_settings_of(settings, model)
        kind = KINDS.get(model.partition(":")[0])
        variable = found.key_variable or ("" if kind is None or not kind.needs_key else kind.key_variable)
        environment = self._environment
        if variable and self._options.replay is not None:
            environment = Environment({**environment, variable: HIDDEN})
        return registry.open_backend(model, found, environment, self._transport, self.clock)

    def policy(self, policy: Policy) -> Policy:
        """A policy as it holds here. A replay sends no second requests: they depend on the time that answers
        took. Nor does it bound rates."""
        return policy if self._options.replay is None else replace(policy, hedge=None, limits=Limits())

    def around(self, backend: Backend, accounts: Accounts) -> Backend:
        """A backend that is under its policies already, as a session is given it."""
        if self._options.replay is not None:
            return Unhurried(backend)
        if self._options.cache_answers:
            return KeepingAnswers(backend, AnswerStore(), on_kept=lambda: accounts.note_kept(backend.name))
        return backend


class UnwaitedClock:
    """A clock whose time goes by where somebody waits, and only there."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        """Seconds that have been waited for so far."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass at once; other tasks of the loop get a turn."""
        self._now += max(0.0, seconds)
        await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Unhurried:
    """A backend that is asked without deadlines: its answers are there."""

    inner: Backend

    @property
    def name(self) -> str:
        """That of the backend inside."""
        return self.inner.name

    @property
    def endpoint(self) -> str:
        """That of the backend inside."""
        return self.inner.endpoint

    @property
    def capabilities(self) -> Capabilities:
        """Those of the backend inside."""
        return self.inner.capabilities

    async def stream(self, query: Query) -> AsyncIterator[Event]:
        """The answer. Raises BackendFault."""
        found = self.inner.stream(replace(query, deadline=None))
        async with aclosing(found) as events:  # type: ignore[type-var]
            async for event in events:
                yield event

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """The scores. Raises BackendFault."""
        return await self.inner.score(replace(query, deadline=None), texts)

    async def close(self) -> None:
        """Give connections back."""
        await self.inner.close()


def _check(options: AnswerOptions, models: Sequence[str]) -> None:
    if options.clash is not None:
        first, second, reason = options.clash
        raise ArgumentError("E0737", f"`{first}` and `{second}` exclude each other", reason=reason)
    if not models:
        raise ArgumentError(
            "E0737",
            "there is no model elsewhere to record, replay or keep answers of",
            reason="a model of this machine gives the same answers by its seed",
            hint="name one, such as `--model openai:NAME`, or leave the option out",
        )
    if options.cache_answers:
        return
    for model in models:
        kind = KINDS.get(model.partition(":")[0])
        if kind is not None and not kind.sends_http:
            raise ArgumentError(
                "E0737",
                f"the traffic of `{model}` cannot be recorded or replayed",
                reason=f"{kind.what} is not asked by requests of ours",
                hint="record a model that is asked over HTTP, such as `chat:URL#NAME`",
            )


def _begun(path: Path) -> TrafficFile:
    try:
        return TrafficFile(path)
    except FileExistsError:
        raise ArgumentError(
            "E0736",
            f"{path} is there already",
            reason="what was recorded before would be lost",
            hint="name another file, or remove this one",
        ) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ArgumentError("E0736", f"{path} cannot be written", reason=reason) from None


def _read(path: Path) -> list[Exchange]:
    try:
        return read_traffic(path)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ArgumentError("E0736", f"{path} cannot be read", reason=reason) from None
    except TrafficError as problem:
        raise ArgumentError(
            "E0736", f"{path} cannot be replayed", reason=str(problem), hint="record a run with `--record`"
        ) from None


def _without_keys(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment without the keys of backends: what is replayed goes nowhere."""
    keys: set[str] = {kind.key_variable for kind in KINDS.values()}
    return Environment({name: value for name, value in environment.items() if name not in keys})
