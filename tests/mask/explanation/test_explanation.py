"""Explanations agree with masks, places with what is legal, and paths with the values that are written."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.term_oracle import accepts, viable
from sglc.runtime.mask import Vocabulary, compile_constraint
from sglc.runtime.mask.json_position import json_position, show_path
from sglc.types.language.language import language as type_language
from sglc.types.parts import types_at
from strategies.byte_vocabulary import BYTE_VOCABULARY, EXAMPLES, some
from strategies.mask_cases import prefixes, vocabularies
from strategies.typed_values import languages, types, words_of

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"date": {"type": "string", "format": "date"}, "n": {"type": "integer"}},
                "required": ["date", "n"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["name", "items"],
    "additionalProperties": False,
}

SUMS = 'start: sum\nsum: N ("+" N | "*" "(" sum ")")*\nN: /[0-9]+/'


@pytest.mark.slow
@some(EXAMPLES)
@given(st.data())
def test_explanations_agree_with_masks(data: st.DataObject) -> None:
    language = data.draw(languages())
    constraint = compile_constraint(language=language)
    assume(not constraint.is_empty)
    vocabulary = data.draw(vocabularies(language))
    prefix = data.draw(prefixes(language))
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(prefix)
    token = data.draw(st.integers(0, vocabulary.size - 1))
    found = constraint.explain(prefix, token, vocabulary, top=5)
    assert found.legal and found.text == found.place.read == prefix
    assert found.place.may_end == matcher.is_accepting() == accepts(language, prefix)
    assert found.place.forced == matcher.forced()
    assert found.tokens == matcher.mask_size() and found.of == vocabulary.size
    assert [id for id, _ in found.sample] == matcher.allowed().tolist()[:5]
    assert bool(found.place.parts) == bool(found.place.next_bytes)
    asked = found.token
    assert asked is not None and asked.id == token and asked.data == vocabulary.token_bytes[token]
    assert asked.allowed == matcher.allows(token)
    if asked.data and not asked.allowed:
        legal = prefix + asked.data[: asked.at]
        assert asked.place.read == legal and viable(language, legal)
        assert not viable(language, legal + asked.data[asked.at : asked.at + 1])
        assert asked.data[asked.at] not in asked.place.next_bytes
    assert str(found)


@pytest.mark.slow
@some(EXAMPLES)
@given(st.data())
def test_illegal_texts_are_told_at_their_first_illegal_byte(data: st.DataObject) -> None:
    language = data.draw(languages())
    constraint = compile_constraint(language=language)
    text = data.draw(prefixes(language)) if not constraint.is_empty else b""
    text += data.draw(st.binary(max_size=4))
    found = constraint.explain(text, b"a", BYTE_VOCABULARY)
    at = len(found.place.read)
    assert text.startswith(found.place.read)
    assert found.legal == (viable(language, text) if not constraint.is_empty else False)
    assert (found.token is None) == (at < len(text))
    if at < len(text):
        assert not viable(language, text[: at + 1])
        assert text[at] not in found.place.next_bytes
    for byte in found.place.next_bytes[:3]:
        assert viable(language, found.place.read + bytes([byte]))
    assert str(found)


@pytest.mark.slow
@some(EXAMPLES)
@given(st.data())
def test_types_at_the_places_of_a_value(data: st.DataObject) -> None:
    """Wherever the path of a beginning leads into the value, its part is of one of the types there."""
    type, table = data.draw(types())
    text = data.draw(words_of(type_language(type, table, surface="json")))
    assume(text[:1] in b"{[")
    value = json.loads(text)
    path = json_position(text[: data.draw(st.integers(0, len(text)))])
    assert path is not None
    part = value
    for step in path:
        assert (isinstance(part, list) and isinstance(step, int) and step <= len(part)) or step in part
        if isinstance(part, list) and step == len(part):
            return
        part = part[step]
    assert types_at(type, path, table) or path[-1:] == ("type",)


def test_positions() -> None:
    cases = {
        "": (),
        "{": (),
        '{"a': (),
        '{"a"': ("a",),
        '{"a": ': ("a",),
        '{"a": "x': ("a",),
        '{"a": "x"': (),
        '{"a": 1': ("a",),
        '{"a": 1, ': (),
        "[": (0,),
        "[1, ": (1,),
        '[{"a": [': (0, "a", 0),
        "[[]": (),
        "[[], ": (1,),
        '{"a\\"b": ': ('a"b',),
        '{"a": "}': ("a",),
        '{"a": "\\"': ("a",),
        "[]": (),
    }
    assert {text: json_position(text.encode()) for text in cases} == cases
    assert json_position(b"12") is None and json_position(b"{]") is None
    assert show_path(("items", 2, "due date", "é")) == '$.items[2]["due date"]["é"]'


def test_the_place_in_a_schema_and_what_is_read() -> None:
    constraint = compile_constraint(json_schema=PERSON)
    found = constraint.explain('{"name": "A", "items": [{"date": "2024-13-01"')
    assert not found.legal and found.place.read.endswith(b'"2024-1')
    assert found.place.path == ("items", 0, "date") and found.place.next_bytes == b"012"
    assert "cannot follow" in str(found) and "$.items[0].date" in str(found)
    assert constraint.explain('{"name": "A').place.forced == b""
    assert constraint.explain('{"name": "A"').place.forced == b', "items": ['


def test_rules_of_a_grammar() -> None:
    constraint = compile_constraint(grammar=SUMS)
    found = constraint.explain("1*(2", ")")
    assert {part.rules for part in found.place.parts} == {("sum",)}
    assert found.place.path is None and found.token is not None and found.token.allowed


def test_a_part_inside_an_exclusion_is_told() -> None:
    from sglc.automata.regex.compile import compile_regex
    from sglc.automata.term import Except, Language, Text

    language = Language(Except(Text(compile_regex("[a-c]{3}")), frozenset({b"abc"})))
    found = compile_constraint(language=language).explain("ab", "c")
    assert [part.reads for part in found.place.parts] == ["text [a-c]{3}, 4 states"]
    assert found.place.next_bytes == b"ab" and not found.token.allowed


def test_no_text_is_legal() -> None:
    found = compile_constraint(regex="a").explain("b")
    assert not found.legal and "from byte 0 on" in str(found)
    from sglc.automata.term import Language, Nothing

    empty = compile_constraint(language=Language(Nothing())).explain("", "a", BYTE_VOCABULARY)
    assert not empty.legal and empty.tokens == 0 and "no text at all is legal" in str(empty)


def test_tokens_that_are_none() -> None:
    constraint = compile_constraint(regex="[ab]+")
    vocabulary = Vocabulary([b"a", b"ab", None])
    special = constraint.explain("a", 2, vocabulary).token
    assert special is not None and not special.allowed and special.data is None
    assert constraint.explain("", "ab", vocabulary).token.id == 1
    assert constraint.explain("", "ba", vocabulary).token.id is None
    for token, of in ((3, vocabulary), (-1, vocabulary), (0, None), ("", vocabulary)):
        with pytest.raises(ValueError):
            constraint.explain("", token, of)


@pytest.mark.slow
def test_traces_count_what_a_mask_takes() -> None:
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [b"ab", b"abc", b'", "'])
    constraint = compile_constraint(regex="(ab|cd){1,7}-[x-z]+e?")
    matcher = constraint.matcher(vocabulary)
    first = matcher.trace_mask()
    assert (first.origin, first.tokens) == ("searched", matcher.mask_size())
    assert first.walks > 0 and first.entries >= first.walks and first.work > 0
    again = matcher.trace_mask()
    assert again.origin == "known" and (again.walks, again.work, again.configurations) == (0, 0, 0)
    grammar = compile_constraint(grammar=SUMS).matcher(vocabulary)
    assert grammar.accept_bytes(b"1+2") and grammar.trace_mask().grammar_walks > 0
