"""A hole as a regular expression, in the part of the notation that Python, ECMAScript and Rust share.

    ?{x: [int in 1..3; 2..4]}   →   \\\\[[1-3](?:, [1-3]){1,3}\\\\]

The whole text must match. A language that is not regular, or whose pattern would be very long, is refused.
"""

from __future__ import annotations

from sglc.targets.core.target import Subject, Written
from sglc.targets.grammars.holes import written
from sglc.targets.projection.grammars.print_regex import to_regex


def write(subject: Subject) -> Written:
    """The pattern of the one hole that the subject asks for, on one line."""
    return written(subject, lambda grammar, _: to_regex(grammar) + "\n")
