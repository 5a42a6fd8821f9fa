"""`one of xs` and `span of x`: the four artefacts of bound types agree, against the meaning said plainly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.bytecode.serial import dumps, loads
from sglc.driver import compile_source
from sglc.options import CompileOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.source import Source
from sglc.types.dependent import bind, ended_before, erased, why_empty
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.text.decode import DecodeError, decode
from sglc.types.text.printer import print_value
from sglc.types.type import Alternatives, Constant, ListOf, OneOf, Optional, SpanOf, Str, TupleOf
from sglc.types.values import GivenError
from strategies.vm_programs import assembler

SOME = st.text('ab"\\\n ,é', max_size=8)
PLAIN = st.text('ab"\\\n ,é', max_size=5)


def legal(type, text: str) -> bool:
    matcher = compile_constraint(language=language(type, {})).matcher(BYTES)
    return not matcher.is_dead() and matcher.accept_bytes(text.encode()) and matcher.is_accepting()


def read(type, text: str):
    """The value that a text stands for, in a tuple; None where it stands for none."""
    try:
        return (decode(text, type, {}),)
    except DecodeError:
        return None


@given(SOME, st.integers(1, 3), st.integers(1, 4) | st.none(), PLAIN)
def test_spans_are_the_pieces_of_the_text(text, low, high, probe):
    type = bind(SpanOf(0, low, high), [text])
    right = probe in text and len(probe) >= low and (high is None or len(probe) <= high)
    assert legal(type, probe) == right
    assert (read(type, probe) is not None) == right
    assert is_member(probe, type, {}) == right
    listed = ListOf(type)
    written = json.dumps([probe, probe], ensure_ascii=False)
    assert legal(listed, written) == right
    assert read(listed, written) == (([probe, probe],) if right else None)
    if right:
        assert print_value([probe, probe], listed, {}) == written


@given(SOME, st.text("ab,", min_size=1, max_size=3), PLAIN)
def test_a_span_before_a_stop_ends_where_the_stop_first_begins(text, stop, probe):
    type = bind(ended_before(SpanOf(0), stop), [text])
    if legal(type, probe):
        assert probe in text
        assert (probe + stop).find(stop) == len(probe)
    overlaps = any(stop.startswith(stop[at:]) for at in range(1, len(stop)))
    if not overlaps:
        assert legal(type, probe) == (bool(probe) and probe in text and stop not in probe)


@given(st.lists(PLAIN, max_size=4), PLAIN)
def test_entries_are_those_of_the_list(words, probe):
    type = bind(OneOf(0), [words])
    assert legal(type, probe) == (probe in words)
    assert (read(type, probe) == (probe,)) == (probe in words)
    assert is_member(probe, type, {}) == (probe in words)
    both = TupleOf((type, Alternatives((type, Constant("no")))))
    written = json.dumps([probe, "no"], ensure_ascii=False)
    assert legal(both, written) == (probe in words)


def test_null_beside_a_list_means_null():
    type = bind(Optional(OneOf(0)), [["null", "b"]])
    assert legal(type, "null")
    assert read(type, "null") == (None,)
    assert read(bind(ListOf(Optional(OneOf(0))), [["null"]]), '["null", null]') == (["null", None],)
    spans = bind(Optional(SpanOf(0)), ["a null"])
    assert read(spans, "null") == (None,)
    assert legal(spans, "nul")


def test_what_the_checker_knows_is_text():
    assert erased(ListOf(SpanOf(0, 2, 9))) == ListOf(Str(2, 9))
    assert erased(Optional(OneOf(0))) == Optional(Str())


def test_entries_and_spans_have_control_characters():
    entries = bind(OneOf(0), [["a\nb", "\x00\t"]])
    span = bind(SpanOf(0), ["one\r\n\ttwo\x85"])
    for type, text in ((entries, "a\nb"), (entries, "\x00\t"), (span, "e\r\n\ttw"), (span, "o\x85")):
        assert legal(type, text)
        assert legal(ListOf(type), json.dumps([text], ensure_ascii=False))
        assert decode(print_value([text], ListOf(type), {}), ListOf(type), {}) == [text]


def test_why_there_is_no_value():
    assert why_empty(bind(OneOf(0), [[]])) == "the list of its `one of` is empty"
    assert "no piece of at least 9 characters" in why_empty(bind(SpanOf(0, 9), ["short"]))


def test_a_hundred_thousand_entries():
    words = [f"entry {number}" for number in range(100_000)]
    type = bind(OneOf(0), [words])
    assert legal(type, "entry 99999")
    assert not legal(type, "entry 100000")
    with pytest.raises(GivenError, match="100001 entries"):
        bind(OneOf(0), [[*words, "one more"]])


SOURCE = """fn f(xs: [str], body: str) -> [str]:
    | ?{a: [one of xs; 1..3]} ?{b: span of body max 9 chars}
    return a + [b]
"""


def test_artefacts_carry_the_type_and_no_values():
    program = compile_source(Source("p.sgl", SOURCE), CompileOptions()).program
    assert program is not None
    again, faults = loads(dumps(program))
    assert faults == []
    assert again == program
    assert [hole.options for hole in program.holes] == [("given0",), ("given0",)]


@pytest.mark.parametrize(
    ("type", "options"),
    [
        (OneOf(0), ()),
        (OneOf(0), ("given1",)),
        (OneOf(1), ("given0",)),
        (OneOf(0), ("max_tokens", "given0")),
        (TupleOf((OneOf(0), OneOf(0))), ("given0", "given1")),
        (Str(max_chars=3), ("given0",)),
        (SpanOf(0, 0), ("given0",)),
        (SpanOf(0, text="known"), ("given0",)),
    ],
)
def test_a_hole_that_is_given_other_values_than_its_type_needs_is_no_program(type, options):
    built = assembler()
    hole = built.hole("f.x", type, options=options)
    loaded = [("CONSTANT", "v") for _ in options]
    built.code("f", [*loaded, ("GEN", hole, len(options)), ("RETURN",)], result=Str())
    with pytest.raises(AssertionError):
        built.program()
