"""Numbers of states: in the order in which they are met, and no more than a limit."""

from __future__ import annotations

import pytest

from sglc.automata.dfa.numbering import Numbering, TooLarge


def test_states_are_explored_while_they_are_numbered():
    number = Numbering(1)
    rows = [[number[state * step % 10] for step in (2, 3)] for state in number.order]
    assert number.order == [1, 2, 3, 4, 6, 9, 8, 7]
    assert number == {state: at for at, state in enumerate(number.order)}
    assert rows[0] == [1, 2] and rows[3] == [number[8], number[2]]


def test_as_many_states_as_the_limit_says():
    number = Numbering("a", limit=2)
    assert (number["b"], number["a"]) == (1, 0)
    with pytest.raises(TooLarge, match="more than 2 states"):
        number["c"]
    assert number.order == ["a", "b"] and "c" not in number


def test_what_is_raised_beyond_the_limit_can_be_given():
    number = Numbering[str](limit=0, beyond=KeyError("no state"))
    with pytest.raises(KeyError, match="no state"):
        number["a"]
