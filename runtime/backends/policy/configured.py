"""Policies as a project's file sets them."""

from __future__ import annotations

from dataclasses import replace

from sglc.project.models import ModelSettings
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.policy.settings import Allowance, Limits, Policy
from sglc.runtime.backends.transport import TIMEOUTS, Timeouts


def policy_of(model: ModelSettings) -> Policy:
    """The policy of `[models.NAME]`; what it does not say is as in a policy without words."""
    policy = Policy(
        limits=Limits(model.requests_per_minute, model.tokens_per_minute, model.at_once),
        budget=Allowance(model.most_tokens, model.most_cost),
        hedge=model.hedge,
        price=model.price,
    )
    return policy if model.retries is None else replace(policy, retries=model.retries)


def timeouts_of(model: ModelSettings) -> Timeouts:
    """How long its requests may wait."""
    return replace(TIMEOUTS, **model.timeouts)


def backend_settings_of(model: ModelSettings, name: str) -> BackendSettings:
    """How the backend of a name is reached. The address of the table is that of the model that it uses."""
    return BackendSettings(
        base_url=model.base_url if name == model.use else "",
        key_variable=model.key_variable,
        plain_http=model.plain_http,
        timeouts=timeouts_of(model),
        leave_out=frozenset(model.leave_out),
        max_tokens=model.max_tokens,
        notations=None if model.notations is None else frozenset(model.notations),
        context_length=model.context_length,
    )
