"""What many threads read alike is followed once: the same masks as where each is followed by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from budget import examples
from mask_cases import brute_force, mask_of, prefixes, vocabularies
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.search import mask_sharing as shapes
from sglc.runtime.mask.search import merge_word_lists as in_common
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.core.options import SchemaOptions
from strategies import languages
from term_oracle import viable

PIECES = [
    b'{"', b"{", b'"', b'":', b'": ', b'": "', b", ", b'", "', b"}", b'"}', b"a", b"b", b"ab", b"ba", b"key",
    b"\\", b"\\u", b"\\u00", b"\\u0061", b"\\u006", b"1", b"12", b"2", b'a": 1', b'b": "', b"null", b"]",
    b"[",
]  # fmt: skip
VALUES = st.sampled_from([{"type": "integer"}, {"const": "a"}, {"enum": ["a", "ab", 1]}, {"type": "string"}])
NAMES = st.sampled_from(["a", "ab", "b", "key", "kez"])
ARMS = st.lists(
    st.builds(
        lambda schemas, some: {
            "type": "object", "properties": schemas, "required": [n for n in schemas if n in some],
            "additionalProperties": False,
        },
        st.dictionaries(NAMES, VALUES, min_size=1, max_size=3), st.sets(NAMES),
    ),
    min_size=3, max_size=7,
)  # fmt: skip


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
@given(st.data())
def test_masks_are_exact(data: st.DataObject) -> None:
    language = data.draw(languages())
    assume(viable(language, b""))
    vocabulary = data.draw(vocabularies(language))
    prefix = data.draw(prefixes(language))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_common, "_FEW", 0)
        patch.setattr(shapes, "_WIDEST", 0)
        matcher = compile_constraint(language=language).matcher(vocabulary)
        assert matcher.accept_bytes(prefix)
        assert mask_of(matcher, vocabulary) == brute_force(language, prefix, vocabulary)


@settings(max_examples=examples(60), deadline=None)
@given(ARMS, st.sampled_from(["canonical", "any"]), st.randoms(use_true_random=False))
def test_unions_of_objects(arms: list[Any], spelling: Any, random: Any) -> None:
    vocabulary = Vocabulary([*PIECES, *(bytes([byte]) for byte in range(0x20, 0x7F))])
    matchers = []
    for number in range(2):
        constraint = compile_constraint(
            json_schema={"anyOf": arms},
            schema_options=SchemaOptions(order="any", spelling=spelling),
            # Limits of its own: a machine of its own.
            options=ConstraintOptions(max_terms=700_000 + number),
        )
        matchers.append(constraint.matcher(vocabulary))
    apart, common = matchers
    for _ in range(25):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(in_common, "_FEW", 1000)
            expected = apart.mask()
            patch.setattr(in_common, "_FEW", 0)
            patch.setattr(shapes, "_WIDEST", 0)
            found = common.mask()
        assert (found == expected).all(), vocabulary.unpack(found ^ expected)
        legal = vocabulary.unpack(found).tolist()
        if not legal:
            break
        token = random.choice(legal)
        assert apart.accept(token) and common.accept(token)
    else:
        return
    assert any(set(json.loads(apart.text())) <= set(arm["properties"]) for arm in arms)
