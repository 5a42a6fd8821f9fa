"""What finding one mask took, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["known", "shared", "universal", "searched"]
"""`known`: found before; `shared`: the mask of a place that looks alike; `universal`: everything is legal, so
nothing was looked for; `searched`: found by walking the vocabulary."""


@dataclass(frozen=True, slots=True)
class MaskTrace:
    """What one mask took; all numbers but the first three are 0 where it was known.

    origin          where the mask comes from
    tokens          tokens in it
    threads         alternatives that are open at the place
    walks           native walks of the vocabulary's trie through lexemes and fixed texts
    entries         nodes of the trie from which these walks began, all together
    grammar_walks   native walks through rules of a grammar
    configurations  new sets of alternatives that were made
    rows            rows of 256 next configurations that were made
    nodes           parts of the constraint that were compiled
    work            units of work, as `ConstraintOptions.max_effort` counts them: about a microsecond each
    """

    origin: Origin
    tokens: int
    threads: int
    walks: int = 0
    entries: int = 0
    grammar_walks: int = 0
    configurations: int = 0
    rows: int = 0
    nodes: int = 0
    work: int = 0

    def __str__(self) -> str:
        return (
            f"mask {self.origin}, {self.tokens:,} tokens; threads {self.threads:,}, walks {self.walks:,} "
            f"from {self.entries:,} nodes of the trie, grammar walks {self.grammar_walks:,}, "
            f"new configurations {self.configurations:,}, rows {self.rows:,}, nodes {self.nodes:,}; "
            f"work {self.work:,}"
        )
