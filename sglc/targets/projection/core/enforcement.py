"""What a backend is told of the texts of a hole, and how its answer is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from sglc.targets.projection.core.capabilities import Level, Notation
from sglc.targets.projection.core.loss import Loss

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData

Reading = Literal["text", "json", "wrapped"]
"""How an answer becomes the text of a value: it is that text; it is the value as JSON; it is an object whose
field `value` is the value as JSON."""


@dataclass(frozen=True, slots=True)
class Enforcement:
    """What an answer has to be, in a notation.

    `text` is that of a grammar or a pattern; a grammar begins with the rule `root` (GBNF) or `start` (Lark),
    and of a pattern the whole text must match. `options` are the texts of a choice, and with a schema those
    that its value may be.
    """

    notation: Notation
    text: str = ""
    schema: Mapping[str, JsonData] | None = None
    options: tuple[str, ...] = ()
    reading: Reading = "text"
    absent_as_null: bool = False
    """Whether fields that may be absent are null in the answer."""
    tuples_as_objects: bool = False
    """Whether tuples are objects with the fields `item_1`, `item_2`, … in the answer."""


@dataclass(frozen=True, slots=True)
class Projection:
    """How a hole is asked for at one backend.

    `enforced` is None where nothing is. `lost` says what the backend does not enforce of the hole; empty for
    `exact` and `value`. `schema` is what a prompt may show of the value where nothing is enforced.
    """

    level: Level
    enforced: Enforcement | None = None
    lost: tuple[Loss, ...] = ()
    shown: str = ""
    """What a prompt may say of the value in words, a schema or a pattern; for `asked`."""
    hints: tuple[str, ...] = field(default=())
    """What the user may change for a stronger level."""
