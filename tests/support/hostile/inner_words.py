"""Words that no message may contain."""

from __future__ import annotations

import re

from sglc.syntax import tables


def inner_names() -> set[str]:
    """Names that only the parser knows: terminals in capitals or with an underscore before, and rules."""
    terminals = {kind for row in tables.load().rows for kind in row if not kind.startswith("<")}
    return {kind for kind in terminals if len(kind) > 2 and (kind.isupper() or kind[0] in "_$")}


INNER = re.compile(
    r"(?<!\w)(?:"
    + "|".join(re.escape(name) for name in sorted(inner_names()))
    + r"|BROKEN|INDENT|DEDENT)(?!\w)"
)
