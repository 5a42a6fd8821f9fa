"""Building `ensure` and `check` with their policies."""

from __future__ import annotations

from sglc.syntax.builders.context import Context
from sglc.syntax.tree import ast
from sglc.syntax.tree.ast import Expression, Name

Each = tuple[Name, Expression]
"""Variable and list of `each x in xs:`."""
Verdict = tuple[Expression | None, ast.Raise | None]
"""The message of a condition, and what is raised where it does not hold."""


def ensure(
    context: Context, start: int, end: int, each: Each | None, condition: Expression, verdict: Verdict | None
) -> ast.Ensure:
    """`ensure CONDITION`, which must hold."""
    message, fallback = verdict or (None, None)
    return ast.Ensure(True, each, condition, message, None, fallback, context.span(start, end))


def check(
    context: Context, start: int, end: int, each: Each | None, condition: Expression, verdict: Verdict | None
) -> ast.Ensure:
    """`check CONDITION`, which is recorded."""
    message, fallback = verdict or (None, None)
    return ast.Ensure(False, each, condition, message, None, fallback, context.span(start, end))


def verdict(
    context: Context, start: int, end: int, message: Expression, fallback: ast.Raise | None = None
) -> Verdict:
    """`else MESSAGE`, perhaps with `else raise …` behind it."""
    return message, fallback


def verdict_raise(context: Context, start: int, end: int, fallback: ast.Raise) -> Verdict:
    """`else raise …` without a message."""
    return None, fallback


def each(context: Context, start: int, end: int, variable: Name, iterable: Expression) -> Each:
    """`each NAME in ITERABLE:` before a condition."""
    return variable, iterable


def ensure_policy(
    context: Context, start: int, end: int, ensure: ast.Ensure, *policies: ast.Retry | ast.Raise | None
) -> ast.Ensure:
    """An `ensure` with the block below it: `retry` and `else raise`, each at most once."""
    retry, fallback = ensure.retry, ensure.fallback
    for policy in policies:
        if policy is None:
            continue
        second = retry if isinstance(policy, ast.Retry) else fallback
        if second is not None:
            place = policy.span
            context.reporter.error(
                "E0135",
                "this policy is given twice",
                place.start,
                place.end,
                label="the second one",
                hint="write one `retry` and one `else raise`",
            )
        elif isinstance(policy, ast.Retry):
            if fallback is not None:
                context.reporter.error(
                    "E0135",
                    "`retry` comes before `else raise`",
                    policy.span.start,
                    policy.span.end,
                    hint="what is raised is decided after the last try",
                )
            retry = policy
        else:
            fallback = policy
    return ast.Ensure(
        ensure.hard,
        ensure.each,
        ensure.condition,
        ensure.message,
        retry,
        fallback,
        context.span(start, end),
    )


def retry(context: Context, start: int, end: int, count: Expression, strategy: Name) -> ast.Retry:
    """`retry COUNT STRATEGY`; reported if there is no such strategy."""
    text = strategy.text
    if text not in ("resample", "repair"):
        context.reporter.error(
            "E0115",
            f"there is no way `{text}` to retry",
            strategy.span.start,
            strategy.span.end,
            hint="write `retry n resample` or `retry n repair`",
        )
        text = "resample"
    return ast.Retry(count, text, context.span(start, end))


def policy_raise(context: Context, start: int, end: int, fallback: ast.Raise) -> ast.Raise:
    """`else raise …` on a line of its own below an `ensure`."""
    return fallback
