"""What a backend can do, as data: which notations it enforces, and what else a hole may need of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Notation = Literal["gbnf", "lark", "regex", "json_schema", "choice"]
"""How a backend is told what an answer may be."""
Dialect = Literal["whole", "openai", "anthropic"]
"""Which part of JSON Schema is enforced: all of it, OpenAI's strict mode, Anthropic's."""
Level = Literal["exact", "value", "wider", "asked", "refused"]
"""What is guaranteed of a hole, from the strongest on.

exact    the backend enforces the same texts
value    it enforces the same values; the text is written again in the language's own spelling
wider    it allows more; what it answers is checked and repaired
asked    it enforces nothing; what is wanted stands in the prompt, and the answer is checked and repaired
refused  the hole cannot be filled there
"""
LEVELS: tuple[Level, ...] = ("exact", "value", "wider", "asked", "refused")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can do.

    notations        how an answer can be constrained
    dialect          the part of JSON Schema that it enforces; None for none
    canonical        whether answers under a JSON Schema have the language's own blanks and order of keys
    continues        whether it goes on behind a begun message of the assistant
    scores           whether it tells the log-probability of a text that is given
    top_logprobs     most log-probabilities that it tells of each token; 0 for none
    seed             whether it takes a seed
    repetitions      most repetitions that its grammars may have; None without a bound
    temperature      whether it takes a temperature; where not, it samples as it likes
    samplers         the options of sampling that it takes, besides a temperature
    context_length   tokens of prompt and answer; None where nobody says
    """

    notations: frozenset[Notation] = frozenset()
    dialect: Dialect | None = None
    canonical: bool = False
    continues: bool = False
    scores: bool = False
    top_logprobs: int = 0
    seed: bool = False
    repetitions: int | None = None
    temperature: bool = True
    samplers: frozenset[Literal["top_k", "top_p", "min_p"]] = field(default_factory=frozenset)
    context_length: int | None = None
