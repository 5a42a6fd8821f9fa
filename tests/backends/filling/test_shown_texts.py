"""What a prompt shows of a hole where nothing is enforced."""

from __future__ import annotations

import pytest

from sglc.automata.term import Language, Words
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.project import MOST_LISTED, project
from sglc.types.language.language import language
from sglc.types.type import Int


@pytest.mark.parametrize("count", [MOST_LISTED, MOST_LISTED + 1])
def test_few_texts_are_listed_and_more_are_a_pattern(count: int) -> None:
    type = Int(1, count)
    shown = project(type, language(type, {}, surface="hole"), {}, Capabilities()).shown
    assert shown.startswith("one of these texts:" if count == MOST_LISTED else "a text that matches /")


def test_options_of_the_run_are_listed_in_any_case() -> None:
    words = frozenset(f"word {number}".encode() for number in range(MOST_LISTED + 1))
    shown = project(None, Language(Words(words)), {}, Capabilities()).shown
    assert all(f'"{word.decode()}"' in shown for word in words)
