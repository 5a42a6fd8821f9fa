"""What can be wrong with a constraint: it is malformed or too large, or it asks for what is not there."""

from __future__ import annotations

from sglc.automata.term import MOST_COUNTED

LONGEST_COMPLETION = MOST_COUNTED
"""Bytes of a completion."""


class ConstraintError(ValueError):
    """A constraint that is malformed, or larger than the limits allow.

    `position` says where: an offset for regexes, a path for structured constraints, None for the whole.
    """

    def __init__(self, message: str, position: int | str | None = None) -> None:
        super().__init__(message if position is None else f"{message} (at {position})")
        self.message = message
        self.position = position


class CompletionTooLong(ConstraintError):
    """No completion of a text has less than `LONGEST_COMPLETION` bytes, or than `MOST_ENTRIES` parts."""

    def __init__(self) -> None:
        super().__init__("the shortest completion is too long to be written out")


class ConstraintTooCostly(ConstraintError):
    """Compiling, or one mask or step, takes more work than an option allows; nothing has been weakened.

    `limit` and `spent` are units of work (`sglc.automata.work`), `option` is the field of `ConstraintOptions`
    that sets the limit, `part` is what has spent most: a JSON pointer, a pattern, a rule, or empty.
    """

    def __init__(self, what: str, limit: int, spent: int, part: str, option: str) -> None:
        why = ", as the constraint leaves too many alternatives open" if option == "max_effort" else ""
        most = f"; most of it is for {part}" if part else ""
        super().__init__(
            f"{what} takes more than {limit:,} units of work{why}{most} "
            f"(ConstraintOptions({option}=...) sets the limit)"
        )
        self.limit = limit
        self.spent = spent
        self.part = part
        self.option = option


class UnsupportedConstraint(ConstraintError):
    """A well-formed constraint with a feature that the engine does not implement; it is never ignored."""

    def __init__(self, keyword: str, path: str = "", reason: str = "") -> None:
        where = f" at {path}" if path else ""
        why = f": {reason}" if reason else ""
        super().__init__(f"'{keyword}'{where} is not supported as a constraint{why}")
        self.keyword = keyword
        self.path = path
