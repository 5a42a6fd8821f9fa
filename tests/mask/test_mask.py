"""Matchers by example: readable traces, the interface, and the limits that hostile constraints meet."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import numpy as np
import pytest

from golden_case import GoldenCase, golden_cases
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import (
    Anything,
    Arm,
    Bytes,
    CharDfa,
    Choice,
    Except,
    Family,
    Language,
    Nothing,
    Object,
    Repeat,
    Rule,
    Sequence,
    Term,
    Text,
    Words,
)
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError, UnsupportedConstraint
from sglc.runtime.mask.matcher import Matcher, fill_masks
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.type import Int, Str

ANY = CharDfa((((0x20, 0x7E, 0), (0xA0, 0xD7FF, 0), (0xE000, 0x10FFFF, 0)),), frozenset([0]))
BYTES = Vocabulary([bytes([byte]) for byte in range(256)])


def json_text(least: int = 0, most: int | None = None) -> Text:
    return Text(ANY, "json", least, most)


NAMED: dict[str, Language] = {
    "record": Language(
        Sequence(
            (
                Bytes(b'{"name": "'),
                json_text(1, 5),
                Bytes(b'", "tags": ['),
                Repeat(Sequence((Bytes(b'"'), json_text(1, 3), Bytes(b'"'))), 0, 2, b", "),
                Bytes(b"]}"),
            )
        )
    ),
    "text of 2 to 3": Language(Sequence((json_text(2, 3), Bytes(b'"')))),
    "map": Language(
        Sequence(
            (
                Bytes(b"{"),
                Object(
                    (),
                    (Family(compile_regex("[ab]"), (Arm(Text(compile_regex("[0-9]"))),)),),
                    1,
                    distinct=True,
                ),
                Bytes(b"}"),
            )
        )
    ),
    "tree": Language(
        Rule("tree"), {"tree": Sequence((Bytes(b"["), Repeat(Rule("tree"), 0, 2), Bytes(b"]")))}
    ),
    "not red": Language(Except(Words(frozenset([b"red", b"reddish", b"reed"])), frozenset([b"red"]))),
    "then stop": Language(Sequence((Text(ANY, "raw", 0, 4), Bytes(b"\n"), Anything()))),
}


def compile_spec(spec: str) -> Constraint:
    kind, _, rest = spec.partition(" ")
    if kind == "regex":
        return compile_constraint(regex=rest)
    if kind == "choices":
        return compile_constraint(choices=rest.split(" | "))
    if kind == "until":
        return compile_constraint(type=Str(max_chars=9, until=(rest,)))
    return compile_constraint(language=NAMED[spec])


def shown(data: bytes) -> str:
    text = data.decode("utf-8", "backslashreplace")
    text = text.replace("\n", "\\n") or "∅"
    return text[:-1] + "␣" if text.endswith(" ") else text


@pytest.mark.parametrize("case", golden_cases("mask/traces"), ids=str)
def test_traces(case: GoldenCase, golden: Callable[[GoldenCase, str], None]) -> None:
    spec, _, line = case.input.partition("\n")
    tokens = [token.encode() for token in line.split("‧") if token]
    if spec.startswith(("until", "then")):
        tokens = [token.replace(b"\\n", b"\n") for token in tokens]
    pieces = sorted({*tokens, *(bytes([byte]) for byte in range(0x20, 0x7F)), b"\n", "é".encode()})
    vocabulary = Vocabulary(pieces)
    matcher = compile_spec(spec).matcher(vocabulary)
    trace = []
    for token in tokens:
        index = pieces.index(token)
        legal = index in matcher.allowed()
        assert legal == matcher.allows(index) == matcher.accept(index)
        trace.append(shown(token) if legal else "✖" + shown(token))
    legal_next = [shown(pieces[index]) for index in matcher.allowed()]
    more = f" … ({len(legal_next)})" if len(legal_next) > 14 else ""
    golden(
        case,
        "\n".join(
            [
                "‧".join(trace) or "∅",
                f"next: {' '.join(legal_next[:14]) or '∅'}{more}",
                f"forced: {shown(matcher.forced())}",
                f"ends here: {'yes' if matcher.is_accepting() else 'no'}"
                f"{', and only here' if matcher.is_complete() else ''}",
                f"shortest: {shown(matcher.shortest_completion())}",
            ]
        ),
    )


# --- the interface --------------------------------------------------------------------------------------


def matcher_of(term: Term, vocabulary: Vocabulary = BYTES, **rules: Term) -> Matcher:
    return compile_constraint(language=Language(term, rules)).matcher(vocabulary)


def test_tokens_without_bytes_are_never_legal() -> None:
    vocabulary = Vocabulary([b"a", None, b"", b"aa"], frozenset([1]))
    matcher = matcher_of(Anything(), vocabulary)
    assert matcher.allowed().tolist() == [0, 3]
    assert matcher.allows(0)
    for token in (1, 2, -1, -4, 4, 7, 10_000):
        assert not matcher.allows(token)
        assert not matcher.accept(token)
    assert matcher.text() == b""


def test_steps_are_taken_back_one_by_one() -> None:
    matcher = matcher_of(Repeat(Bytes(b"ab"), 0, 9))
    assert matcher.accept_bytes(b"aba")
    assert matcher.accept(ord("b"))
    assert not matcher.accept(ord("b"))
    assert not matcher.accept_bytes(b"abx")
    assert (matcher.steps, matcher.text()) == (2, b"abab")
    matcher.rollback(1)
    assert matcher.text() == b"aba"
    with pytest.raises(ValueError, match="cannot take back 2 of 1"):
        matcher.rollback(2)
    matcher.rollback(1)
    assert (matcher.text(), matcher.is_accepting()) == (b"", True)


def test_several_steps_are_taken_back_at_once() -> None:
    matcher = matcher_of(Repeat(Bytes(b"ab"), 0, 9))
    configs = [matcher.config]
    for byte in b"ababab":
        assert matcher.accept(byte)
        configs.append(matcher.config)
    for back, left in ((3, 3), (0, 3), (2, 1)):
        matcher.rollback(back)
        assert (matcher.steps, matcher.text(), matcher.config) == (left, b"ababab"[:left], configs[left])
        with pytest.raises(ValueError, match=f"cannot take back {left + 1} of {left}"):
            matcher.rollback(left + 1)
    assert matcher.accept(ord("b")) and matcher.steps == 2
    matcher.rollback(2)
    assert (matcher.steps, matcher.text(), matcher.config) == (0, b"", configs[0])


def test_bytes_lead_to_one_place_however_often_and_in_which_pieces_they_come() -> None:
    constraint = compile_constraint(language=NAMED["record"])
    first, again, single = (constraint.matcher(BYTES) for _ in range(3))
    data = b'{"name": "Ada", "tags": ['
    assert first.accept_bytes(data) and again.accept_bytes(data)
    assert all(single.accept_bytes(bytes([byte])) for byte in data)
    assert first.config == again.config == single.config
    for matcher in (first, again):
        assert not matcher.accept_bytes(b"?]") and matcher.config == single.config


def test_the_longest_token_that_may_come_is_known() -> None:
    vocabulary = Vocabulary([b"a", b"ab", b"abc", None, b"bb", b"bbbb"])
    matcher = compile_constraint(regex="abb?|abbb").matcher(vocabulary)
    assert matcher.longest() == 2
    matcher.accept(1)
    assert matcher.longest() == matcher.longest() == 2
    matcher.accept(4)
    assert matcher.longest() == 0


def test_clones_go_their_own_ways() -> None:
    first = matcher_of(Text(ANY))
    assert first.accept(ord("a"))
    second = first.clone()
    assert first.accept(ord("b"))
    assert second.accept(ord("c"))
    assert (first.text(), second.text()) == (b"ab", b"ac")
    second.rollback(2)
    assert first.steps == 2


def test_a_clone_writes_rows_of_its_own() -> None:
    first = matcher_of(Repeat(Bytes(b"ab"), 1, 9))
    row, other = np.zeros(BYTES.words, np.int32), np.zeros(BYTES.words, np.int32)
    first.fill_mask(row)
    second = first.clone()
    assert second.accept(ord("a"))
    second.fill_mask(row)  # the row that the other one wrote last
    assert BYTES.unpack(row).tolist() == [ord("b")]
    second.fill_mask(other)
    first.fill_mask(row)
    assert (BYTES.unpack(row).tolist(), BYTES.unpack(other).tolist()) == ([ord("a")], [ord("b")])


def test_masks_of_many_matchers_fill_their_rows() -> None:
    matchers = [matcher_of(Bytes(bytes([byte]))) for byte in b"abc"]
    rows = np.full((3, BYTES.words), -1, np.int32)
    fill_masks(matchers, rows)
    assert [BYTES.unpack(row).tolist() for row in rows] == [[97], [98], [99]]
    with pytest.raises(ValueError, match="do not fill"):
        fill_masks(matchers, rows[:2])


def test_a_shared_row_cannot_be_written_to() -> None:
    row = matcher_of(Text(ANY)).mask()
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 0


def test_equal_futures_are_one_configuration() -> None:
    item = Sequence((Bytes(b'"'), json_text(), Bytes(b'"')))
    matcher = matcher_of(Sequence((Bytes(b"["), Repeat(item, 0, None, b", "), Bytes(b"]"))))
    assert matcher.accept_bytes(b'["a')
    seen = matcher.config
    for _ in range(5):
        assert matcher.accept_bytes('é", "b'.encode())
        assert matcher.config == seen


def test_constraints_share_what_they_have_in_common() -> None:
    tail = Sequence((Bytes(b" has "), Text(compile_regex("[0-9]{1,40}")), Bytes(b" apples")))
    first, second = (matcher_of(Sequence((Bytes(name), tail))) for name in (b"Ada", b"Bob"))
    assert first.accept_bytes(b"Ada has 12")
    assert second.accept_bytes(b"Bob has 12")
    assert first.config == second.config
    assert first.mask() is second.mask()


def test_long_literals_and_lists_need_no_recursion() -> None:
    term: Term = Bytes(b"x")
    matcher = matcher_of(Sequence((Repeat(term, 50_000, 50_000, b","), Bytes(b"!"))))
    assert len(matcher.shortest_completion()) == 100_000
    assert matcher.accept_bytes(b"x,x")
    parts = tuple(Repeat(Bytes(bytes([97 + n % 26])), 0, 1) for n in range(3000))
    assert matcher_of(Sequence(parts)).is_accepting()


def test_what_accepts_nothing_is_dead_from_the_start() -> None:
    for term in (
        Nothing(),
        Sequence((Bytes(b"a"), Nothing())),
        Except(Bytes(b"a"), frozenset([b"a"])),
        Text(ANY, "raw", 3, 2),
        Rule("loop"),
    ):
        made = compile_constraint(language=Language(term, {"loop": Sequence((Bytes(b"a"), Rule("loop")))}))
        matcher = made.matcher(BYTES)
        assert made.is_empty
        assert matcher.is_dead()
        assert not matcher.allowed().size
        assert matcher.forced() == b""
        with pytest.raises(ConstraintError):
            matcher.shortest_completion()


def test_threads_share_a_constraint() -> None:
    made = compile_constraint(language=NAMED["record"])
    alone = walk(made, 7)
    results: dict[int, bytes] = {}

    def work(seed: int) -> None:
        results[seed] = walk(made, seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (7, 8, 9, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[7] == alone


def walk(made: Constraint, seed: int) -> bytes:
    dice = random.Random(seed)
    matcher = made.matcher(BYTES)
    while not matcher.is_complete():
        assert matcher.accept(dice.choice(matcher.allowed().tolist()))
    return matcher.text()


# --- what is refused ------------------------------------------------------------------------------------


def test_exactly_one_description_is_given() -> None:
    with pytest.raises(TypeError):
        compile_constraint()
    with pytest.raises(TypeError):
        compile_constraint(regex="a", choices=["a"])


def test_what_is_not_supported_is_named() -> None:
    with pytest.raises(UnsupportedConstraint) as refused:
        compile_constraint(json_schema={"properties": {"a": {"format": "idn-hostname"}}})
    assert (refused.value.keyword, refused.value.path) == ("format", "#/properties/a/format")


def test_malformed_constraints_say_where() -> None:
    with pytest.raises(ConstraintError) as fault:
        compile_constraint(grammar="start: X")
    assert fault.value.position == "line 1 column 8"
    with pytest.raises(ConstraintError) as fault:
        compile_constraint(regex="a(b")
    assert fault.value.position is not None
    with pytest.raises(ConstraintError, match="choice"):
        compile_constraint(choices=[])
    with pytest.raises(ConstraintError, match="surrogate"):
        compile_constraint(choices=["\ud800"])
    with pytest.raises(ConstraintError, match="no rule is called 'x'"):
        matcher_of(Rule("x"), y=Bytes(b""))


def test_rules_that_call_themselves_at_once_are_refused() -> None:
    for body in (
        Rule("r"),
        Choice((Bytes(b"a"), Sequence((Rule("r"), Bytes(b"b"))))),
        Sequence((Repeat(Bytes(b"a")), Rule("r"))),
        Repeat(Rule("r"), 1, 3),
    ):
        with pytest.raises(ConstraintError, match="before it has read a byte"):
            matcher_of(Rule("r"), r=body)
    assert not matcher_of(Rule("r"), r=Choice((Bytes(b""), Sequence((Bytes(b"a"), Rule("r")))))).is_dead()


def test_hostile_constraints_meet_limits() -> None:
    deep: Term = Bytes(b"a")
    for _ in range(1000):
        deep = Choice((deep, Sequence((Bytes(b"("), deep))))
    with pytest.raises(ConstraintError, match="deep"):
        matcher_of(deep)
    small = ConstraintOptions(max_terms=50)
    wide = Sequence(tuple(Text(ANY, "raw", n, n + 1) for n in range(100)))
    with pytest.raises(ConstraintError, match="more than 50 parts"):
        compile_constraint(language=Language(wide), options=small)
    # All ways to divide a text into a hundred pieces are open at once, with counts in each.
    many = Language(Sequence(tuple(Text(ANY, "raw", 0, 90 + n) for n in range(100))))
    for options in (ConstraintOptions(max_states=2000), ConstraintOptions(max_effort=20_000)):
        matcher = compile_constraint(language=many, options=options).matcher(BYTES)
        with pytest.raises(ConstraintError, match=r"states|alternatives"):
            for _ in range(200):
                matcher.accept_bytes(b"abc")
                matcher.mask()
        # What was known before is still answered, and the text is where it was.
        before = matcher.text()
        assert not matcher.is_dead()
        assert matcher.text() == before


def test_a_limit_is_not_shared_with_others() -> None:
    options = ConstraintOptions(max_states=3000)
    greedy = compile_constraint(language=Language(Text(ANY, "raw", 0, 10**6)), options=options)
    modest = compile_constraint(language=NAMED["record"], options=options).matcher(BYTES)
    eater = greedy.matcher(BYTES)
    with pytest.raises(ConstraintError):
        for _ in range(4000):
            eater.accept_bytes(b"a")
    assert modest.accept_bytes(b'{"name": "a", "tags": []}')


def test_large_sets_of_words_are_cheap() -> None:
    before = compile_constraint(choices=["x"]).machine.row_count
    words = [f"word-{n:05}-{n * 7919 % 10007}" for n in range(100_000)]
    matcher = compile_constraint(choices=words).matcher(BYTES)
    assert matcher.forced() == b"word-"
    assert matcher.accept_bytes(words[77_777].encode())
    assert matcher.is_complete()
    assert matcher.machine.row_count - before < 40


def test_counts_are_not_unrolled() -> None:
    quoted = Sequence((Bytes(b'"'), json_text(1_000, 1_000_000), Bytes(b'"')))
    made = compile_constraint(language=Language(quoted), options=ConstraintOptions(max_states=200))
    matcher = made.matcher(BYTES)
    assert matcher.accept_bytes(b'"abc')
    assert matcher.mask_size() > 90
    bounded = compile_constraint(type=Int(minimum=-(10**17), maximum=10**17)).matcher(BYTES)
    assert bounded.accept_bytes(b"99999999999999999")
    assert bounded.is_complete()


@pytest.mark.parametrize("most", [3, 11, 12, 13, 30])
def test_a_walk_that_is_shared_keeps_each_bound(most: int) -> None:
    # The walk without bounds is remembered first; tokens of the class it left out belong to the bounds.
    letters = CharDfa((((97, 122, 0),),), frozenset({0}))
    vocabulary = Vocabulary([b"a" * size for size in range(1, 15)] + [b"!"])
    free = compile_constraint(language=Language(Sequence((Text(letters), Bytes(b"!"))))).matcher(vocabulary)
    assert free.mask_size() == 15
    bound = compile_constraint(language=Language(Sequence((Text(letters, "raw", 1, most), Bytes(b"!")))))
    matcher = bound.matcher(vocabulary)
    assert matcher.accept(0)
    assert matcher.mask_size() == min(most - 1, 14) + 1


def test_exclusions_are_decided_from_the_inside() -> None:
    # The inner exclusion is in the body of a rule, which is made after the term that names it.
    inner = Except(Choice((Bytes(b"x"), Bytes(b"y"))), frozenset({b"x"}))
    outer = Except(Sequence((Rule("r"), Rule("r"))), frozenset({b"zz"}))
    rules = {"r": Choice((inner, Sequence((Bytes(b"("), Rule("r"), Bytes(b")")))))}
    matcher = compile_constraint(language=Language(outer, rules)).matcher(BYTES)
    assert matcher.accept_bytes(b"y(y)")
    assert not matcher.accept_bytes(b"x")


def test_a_token_that_ends_inside_a_character_does_not_stay_in_a_text() -> None:
    begun, rest = "é".encode()[:1], "é".encode()[1:]
    tokens = [b'"', b"a", b"ab", begun, rest, b"a" + begun, rest + b"a"]
    matcher = compile_constraint(json_schema={"type": "string"}).matcher(Vocabulary(tokens))
    row = np.zeros(1, np.int32)
    assert matcher.accept(0)
    for token in (3, 5):
        for _ in range(2):
            matcher.fill_mask(row)
            assert matcher.accept(1)
            matcher.fill_mask(row)
            assert matcher.accept(token)
            assert matcher.allowed().tolist() == [4, 6]
            assert matcher.accept(4)


def test_characters_that_lead_back_beside_others_of_their_group() -> None:
    tokens = [b"\xc2\x85", b"\xc2\x84", b"a", b"\xc3\xa9", b"!", b"\xc2\x85a", b"\xe2\x80\xa8", b"\xe2"]
    vocabulary = Vocabulary(tokens)
    for pattern, legal in (
        ("[^\\x80-\\x84!]*", [0, 2, 3, 5, 6, 7]),
        ("[^\\u2028\\u2029]*", [0, 1, 2, 3, 4, 5, 7]),
    ):
        matcher = compile_constraint(regex=pattern).matcher(vocabulary)
        row = np.zeros(vocabulary.words, np.int32)
        matcher.fill_mask(row)
        assert vocabulary.unpack(row).tolist() == legal
