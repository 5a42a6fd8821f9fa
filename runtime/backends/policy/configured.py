"""Policies as a project's file sets them."""

from __future__ import annotations

from dataclasses import replace

from sglc.project.models import ModelSettings
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
