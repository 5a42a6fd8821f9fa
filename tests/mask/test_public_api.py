"""What other programs take from `sglc.runtime.mask`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime import mask
from sglc.runtime.mask import ConstraintError, Vocabulary, compile_constraint

PIECES = [bytes([byte]) for byte in range(0x20, 0x7F)] + [
    b"ab",
    b"abc",
    b"bc",
    b'{"',
    b'{"na',
    b"name",
    b'name"',
    b'": "',
    b'":',
    b': "',
    b'"}',
    b"d> ",
]
VOCABULARY = Vocabulary(PIECES)


def test_public_names_are_there_and_load_nothing_heavy() -> None:
    assert {"Vocabulary", "compile_constraint", "Matcher", "fill_masks"} <= set(dir(mask))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mask.nothing  # noqa: B018
    code = "import sys; from sglc.runtime.mask import Vocabulary; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_dialect_is_asked_for_by_name() -> None:
    assert compile_constraint(regex=r"\p{Lu}", dialect="ecma").matcher(VOCABULARY).accept_bytes(b"A")
    assert (
        compile_constraint(regex=r"(?P<n>a)(?P=n)", dialect="python").matcher(VOCABULARY).accept_bytes(b"aa")
    )
    with pytest.raises(ConstraintError):
        compile_constraint(regex=r"\p{Lu}", dialect="python")
    with pytest.raises(ValueError, match="no dialect 'perl'"):
        compile_constraint(regex="a", dialect="perl")  # type: ignore[arg-type]


def written(tokens: list[int]) -> bytes:
    return b"".join([PIECES[token] for token in tokens])


def test_forced_tokens_stop_where_what_follows_may_change_them() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    matcher = compile_constraint(json_schema=schema).matcher(VOCABULARY)
    assert matcher.forced() == b'{"name": "'
    # `: "` may be the beginning of nothing longer, so all of it stays.
    assert written(matcher.forced_tokens()) == b'{"name": "'
    matcher = compile_constraint(regex="a(bx|bc)").matcher(VOCABULARY)
    assert matcher.forced() == b"ab" and matcher.forced_tokens() == []  # `abc` may be written as one
    matcher = compile_constraint(regex="abc").matcher(VOCABULARY)
    assert written(matcher.forced_tokens()) == b"abc"
    spelled = matcher.forced_tokens(lambda data: [PIECES.index(bytes([byte])) for byte in data])
    assert written(spelled) == b"abc" and len(spelled) == 3
    with pytest.raises(ValueError, match="do not write"):
        matcher.forced_tokens(lambda data: [0])


@given(st.text('abcdn:"{} ', min_size=1, max_size=6), st.text("abcd", max_size=2))
def test_forced_tokens_are_legal_one_after_the_other(prefix: str, ending: str) -> None:
    given = compile_constraint(choices=[prefix + "a" + ending, prefix + "d> "])
    matcher = given.matcher(VOCABULARY)
    forced, tokens = matcher.forced(), matcher.forced_tokens()
    assert forced.startswith(written(tokens))
    assert all(matcher.accept(token) for token in tokens)
    # No token begins in what was taken and ends behind what is forced.
    rest = 0
    for token in tokens:
        tail = forced[rest:]
        assert (
            not any(piece.startswith(tail) and len(piece) > len(tail) for piece in PIECES)
            or matcher.is_complete()
        )
        rest += len(PIECES[token])
