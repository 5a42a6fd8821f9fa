"""What is known of a vocabulary's tokens, against the tokens themselves."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime.mask.columns import bytes_in, group_set
from sglc.runtime.mask.vocabulary import Vocabulary

CHARACTERS = st.sampled_from([*'abz09 _-~"\\\t\n\r\x00\x1f\x7f\x80\x9f\xa0é字😀'])
TOKENS = st.lists(
    st.none()
    | st.text(CHARACTERS, max_size=6).map(str.encode)
    | st.binary(max_size=3)
    | st.text(CHARACTERS, max_size=3).map(lambda text: text.encode()[:-1]),
    min_size=1,
    max_size=60,
)
CLASSES = st.sets(CHARACTERS.filter(lambda c: ord(c) < 128) | st.integers(0, 127).map(chr))


def text_of(token: bytes | None) -> str | None:
    """The characters of a token of whole characters."""
    try:
        return token.decode() if token else None
    except UnicodeDecodeError:
        return None


def inside(char: str, ascii_class: set[str], control_1: bool, other: bool) -> bool:
    if ord(char) < 0x80:
        return char in ascii_class
    return control_1 if ord(char) < 0xA0 else other


@given(TOKENS, CLASSES, st.booleans(), st.booleans(), st.none() | st.integers(0, 7))
def test_tokens_inside_a_class(
    tokens: list[bytes | None], chosen: set[str], control_1: bool, other: bool, most: int | None
) -> None:
    vocabulary = Vocabulary(tokens)
    if not any(tokens):
        return
    # Control characters of ASCII share a group, so a class has all of them or none is seen as inside.
    shared = {chr(c) for c in [*range(32), 127]} - set("\t\n\r")
    if not shared <= chosen:
        seen = chosen - shared
    else:
        seen = chosen
    groups = group_set(np.array([chr(c) in chosen for c in range(128)]), control_1, other)
    found = set(vocabulary.unpack(vocabulary.columns.inside(groups, most)).tolist())
    expected = set()
    for index, token in enumerate(tokens):
        text = text_of(token)
        if text is not None and (most is None or len(text) <= most):
            # U+0080-U+009F need the group of all others too.
            if all(inside(c, seen, control_1 and other, other) for c in text):
                expected.add(index)
    assert found == expected
    assert {c for c in range(128) if bytes_in(groups)[c]} == {ord(c) for c in seen}


@given(TOKENS, CLASSES, st.booleans(), st.booleans())
def test_groups_below_a_node(
    tokens: list[bytes | None], chosen: set[str], control_1: bool, other: bool
) -> None:
    vocabulary = Vocabulary(tokens)
    trie = vocabulary.trie
    groups = group_set(np.array([chr(c) in chosen for c in range(128)]), control_1, other)
    found = vocabulary.unpack(vocabulary.columns.inside(groups, None)).tolist() if any(tokens) else []
    for node in range(trie.size):
        path = trie.path(node)
        if text_of(path) is None or not {path} & {tokens[i] for i in found}:
            continue
        # The node itself is inside: then its subtree is wholly inside exactly if nothing else is below.
        quiet = not (vocabulary.columns.below[node] & ~groups).any()
        below = [i for place in range(node + 1, int(trie.end[node])) for i in trie.ids(place)]
        assert quiet == all(i in found for i in below)
