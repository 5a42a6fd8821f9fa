"""Answers: what of them is kept, whatever they repeat, and when they are not read any further."""

from __future__ import annotations

import pytest

from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.repair.answer import RESTART, Answer, Settled

LISTS = 'start: list\nlist: "[" (item (", " item)*)? "]"\nitem: list | /\\d+/\n'
"""Lists of lists and numbers, without any forced blanks."""


def answered(
    text: str, *pieces: str, stops: tuple[str, ...] = (), most: int | None = None, **constraint: str
) -> tuple[Settled, int]:
    """What comes of an answer behind a text, and how many pieces were taken."""
    matcher = compile_constraint(**constraint).matcher(byte_vocabulary())
    assert matcher.accept_bytes(text.encode())
    answer = Answer(text.encode(), matcher, stops=stops, most=most)
    taken = 0
    for piece in pieces:
        taken += 1
        if not answer.feed(piece):
            break
    settled = answer.settle()
    assert settled.matcher.text() == text.encode() + settled.kept
    return settled, taken


@pytest.mark.parametrize(
    ("text", "answer", "kept", "wrong"),
    [
        ("[1, ", "2, 3]", "2, 3]", ""),
        ("[1, ", "2, x]", "2, ", "x]"),
        ("[1, ", "", "", ""),
        # a continuation as long as that is legal, else without what it repeats
        ("[1, ", "[1, 2]]", "[1, 2]]", ""),
        ("[1, ", "[1, 2]", "2]", ""),  # it would be legal behind the text, and not the end
        ("[1", "[1, 2]", ", 2]", ""),
        ("[", "[1, 2]", "1, 2]", ""),
        ("[", "[1], 2]", "[1], 2]", ""),
        ("[", "[1], ", "[1], ", ""),
        ("[1, ", ", 2]", "2]", ""),
        ("[1, ", "1, 1, ", "1, 1, ", ""),
        ("[1, 1, ", "1, 1, x", "1, 1, ", "x"),  # what it repeats is legal once more: equal rows
        ("[1, ", "\n\n 5]", "5]", ""),
        ("[1, ", "\n\n oh", "", "\n\n oh"),
    ],
)
def test_readings(text: str, answer: str, kept: str, wrong: str) -> None:
    for pieces in ((answer,), tuple(answer)):
        settled, _ = answered(text, *pieces, grammar=LISTS)
        assert settled.kept.decode() == kept
        assert settled.wrong.startswith(wrong[:1]) and wrong.startswith(settled.wrong)


def test_a_long_text_that_comes_again_is_a_new_beginning() -> None:
    """Also where it would be legal as a continuation. Of a shorter text that is chance."""
    text = "wxyz" + "x" * (RESTART - 5) + "y"
    assert answered(text, text + "!", regex="[w-z!]*")[0].kept == b"!"
    short = text[1:]
    assert answered(short, short + "!", regex="[w-z!]*")[0].kept == (short + "!").encode()
    assert answered(text, text[:-1], regex="[w-z!]*")[0].kept == text[:-1].encode()
    longer = text + "more"
    settled, _ = answered(longer, longer[:-1], regex="[a-z!]*")
    assert settled.kept == b"" and settled.legal, "it has begun again and said nothing new"


def test_characters_stay_whole() -> None:
    settled, _ = answered("", "aé€", regex="aé(è|x)")
    assert (settled.kept.decode(), settled.wrong) == ("aé", "€")
    settled, _ = answered("", "a", "\ud800", "b", regex="ab*.*")
    assert (settled.kept, settled.wrong, settled.legal) == (b"a", "\ud800", False)


def test_a_stream_is_read_to_its_first_illegal_byte() -> None:
    assert answered("[1, ", "2", ", x", "3", "4", grammar=LISTS)[1] == 2
    assert answered("[1", "]", "\n", "much more", grammar=LISTS)[1] == 1, "nothing can follow"


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        (("ab\ncd",), "ab"),
        (("ab", "\n", "cd"), "ab"),
        (("a", "<", "<", "b"), "a"),
        (("a", "<", "b", "<"), "a<b<"),
        (("a<",), "a<"),
        (("\n",), ""),
    ],
)
def test_stops(pieces: tuple[str, ...], kept: str) -> None:
    assert answered("", *pieces, stops=("\n", "<<"), regex=r"[a-z<\n]*")[0].kept.decode() == kept


def test_equal_rows_are_no_repetition() -> None:
    """Read as one, the answer would be legal for a row longer, and be read in vain."""
    settled, taken = answered("<[1],", *["[1],"] * 5, regex=r"<(\[1\],){2}end")
    assert (settled.kept, taken) == (b"[1],", 2)
    rows = "0," * RESTART
    assert answered(rows, rows + "1", regex=r"[01,]*")[0].kept.decode() == rows + "1"
    assert answered("1" + rows, "1" + rows + "1", regex=r"[01,]*")[0].kept == b"1", "it has a beginning"


def test_it_is_not_read_beyond_the_bound_on_tokens() -> None:
    assert answered("", *"aaaaaa", most=3, regex="a*")[1] == 3
    assert answered("", *"aaaaaa", most=7, regex="a*")[1] == 6


def test_what_is_told_is_kept() -> None:
    told: list[bytes] = []
    matcher = compile_constraint(grammar=LISTS).matcher(byte_vocabulary())
    assert matcher.accept_bytes(b"[1, ")
    answer = Answer(b"[1, ", matcher, told=told.append)
    for piece in ("[", "1, ", "2", "]", ", 7", "x"):
        answer.feed(piece)
    kept = answer.settle().kept
    assert kept == b"[1, 2], 7" and told and all(kept.startswith(each) for each in told)
