# ruff: noqa: E501
"""Work is counted on one account: what exceeds it is refused with the part that spends it, and the rest is exact."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from hostile.hostile_schemas import SCHEMAS, patterned
from oracles.term_oracle import viable
from sglc.automata import work
from sglc.automata.analysis.ambiguity import junction_conflict, overlap
from sglc.automata.caches import remembered
from sglc.automata.regex.compile import compile_regex
from sglc.automata.work import OutOfWork, WorkAccount, charged
from sglc.runtime.mask import (
    ConstraintError,
    ConstraintOptions,
    ConstraintTooCostly,
    Vocabulary,
    clear_caches,
    compile_constraint,
)
from sglc.types.language.language import language
from sglc.types.type import matching
from strategies.mask_cases import vocabularies
from strategies.typed_values import languages

BYTES = Vocabulary([bytes([byte]) for byte in range(256)] + [b"aa", b"ab", b'{"', b'", "', b"[1"])


def test_an_account_refuses_what_passes_its_limit() -> None:
    with charged(WorkAccount(10)) as account:
        work.spend(10)
        with pytest.raises(OutOfWork) as fault:
            work.spend(1)
        assert (fault.value.limit, fault.value.spent) == (10, 11)
        with pytest.raises(OutOfWork):
            work.spend(1)
    assert account.spent == 12
    work.spend(1_000_000)  # nobody's


def test_the_part_that_has_spent_most_is_named() -> None:
    with charged(WorkAccount(100)), pytest.raises(OutOfWork) as fault:
        with work.part("large"):
            work.spend(60)
            with work.part("inside"):
                work.spend(20)
            with work.part("not told apart", unless_named=True):
                work.spend(10)
        with work.part("last"):
            work.spend(50)
    assert fault.value.part == "large"


def test_what_is_remembered_costs_as_much_again() -> None:
    calls = []

    @remembered
    def squares(count: int) -> int:
        calls.append(count)
        work.spend(count)
        return count * count

    costs = []
    for _ in range(2):
        with charged(WorkAccount(100)) as account:
            assert squares(40) == 1600
            assert squares(40) == 1600
        costs.append(account.spent)
    assert costs == [80, 80]
    assert calls == [40]
    with charged(WorkAccount(30)), pytest.raises(OutOfWork) as fault:
        squares(40)
    assert fault.value.limit == 30
    assert squares(40) == 1600


def test_compiling_costs_the_same_whatever_was_compiled_before() -> None:
    spent = []
    for _ in range(2):
        with charged(WorkAccount()) as account:
            compile_regex("(a|b)*a(a|b){7}[x-z]{3,9}")
        spent.append(account.spent)
        compile_regex("(a|b)*a(a|b){6}")
    assert spent[0] == spent[1] > 1000


COSTLY: list[tuple[dict[str, Any], str]] = [
    ({"json_schema": {"type": "string", "allOf": patterned(60, "x{i}")}}, "#/allOf/"),
    (
        {"json_schema": {"properties": {"a": {"type": "string", "anyOf": patterned(500, "^.*x{i}.*$")}}}},
        "#/properties/a",
    ),
    ({"json_schema": SCHEMAS["12 pattern properties"]()}, "#"),
    (
        {"json_schema": {"type": "object", "propertyNames": {"allOf": patterned(30, "x{i}")}}},
        "#/propertyNames",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "part"), COSTLY)
def test_what_takes_too_much_work_is_refused_with_its_part(arguments: dict[str, Any], part: str) -> None:
    found = []
    options = ConstraintOptions(max_work=400_000)
    for _ in range(2):
        with pytest.raises(ConstraintTooCostly) as fault:
            compile_constraint(**arguments, options=options)
        assert isinstance(fault.value, ConstraintError)
        assert fault.value.option == "max_work"
        assert fault.value.limit == 400_000 < fault.value.spent
        assert fault.value.part.startswith(part)
        assert fault.value.part in str(fault.value)
        assert "ConstraintOptions(max_work=...)" in str(fault.value)
        found.append((fault.value.spent, fault.value.part))
    (first, where), (again, there) = found
    assert where == there, "what is remembered decides nothing"
    # What is remembered is charged at once, so only how far the last charge passes the limit may differ.
    assert abs(first - again) <= 16


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [COSTLY[0][0], COSTLY[-1][0]], ids=["allOf", "names"])
def test_what_is_remembered_decides_no_refusal(arguments: dict[str, Any]) -> None:
    """At every limit a compile with empty caches and one with full ones are refused alike, for the same part."""

    def outcome(limit: int) -> str:
        try:
            compile_constraint(**arguments, options=ConstraintOptions(max_work=limit))
        except ConstraintTooCostly as fault:
            return fault.part
        return "compiled"

    for limit in (1_000, 10_000, 50_000, 100_000, 200_000, 400_000):
        clear_caches()
        assert outcome(limit) == outcome(limit) == outcome(limit), limit


def test_a_pattern_is_named_with_the_place_of_what_is_repeated() -> None:
    pattern = "x(?=[ab]*a)([ab]{7})*y[ab]*a[ab]{9}"
    with pytest.raises(ConstraintTooCostly) as fault:
        compile_constraint(regex=pattern, options=ConstraintOptions(max_work=2000))
    assert fault.value.part == f"the pattern /{pattern}/ at character {pattern.index('[ab]{7}')}"


def test_a_limit_can_be_raised() -> None:
    schema = {"type": "string", "allOf": patterned(10, "x{i}")}
    with pytest.raises(ConstraintTooCostly) as fault:
        compile_constraint(json_schema=schema, options=ConstraintOptions(max_work=10_000))
    assert fault.value.limit == 10_000
    for most in (3_000_000, None):
        matcher = compile_constraint(json_schema=schema, options=ConstraintOptions(max_work=most)).matcher(
            BYTES
        )
        assert matcher.accept_bytes(b'"' + b"".join(b"x%d" % number for number in range(10)) + b'"')
        assert matcher.is_accepting()


@pytest.mark.slow
def test_the_bars_cost_little_now() -> None:
    """Cases that took seconds, by better algorithms: in units, which no machine changes."""
    for schema, most in [
        (SCHEMAS["unique 30 of 30 numbers"](), 30_000),
        (SCHEMAS["unique 64 objects of booleans"](), 30_000),
        (SCHEMAS["contains 30 counted"](), 60_000),
        (SCHEMAS["contains a million"](), 30_000),
        (SCHEMAS["dependent 200"](), 60_000),
        (SCHEMAS["minLength and words"](), 400_000),
    ]:
        with charged(WorkAccount()) as account:
            constraint = compile_constraint(json_schema=schema)
            assert not constraint.is_empty
        matcher = constraint.matcher(BYTES)
        assert matcher.mask().any()
        assert account.spent < most


RETRIES = 40
"""What has been found is kept, so that one of several tries may come to an end."""
LIMITS = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@pytest.mark.slow
@LIMITS
@given(st.data())
def test_a_mask_under_a_limit_is_the_right_one_or_none(data: st.DataObject) -> None:
    """What has run out in the middle leaves nothing behind that makes a later mask wrong."""
    language = data.draw(languages())
    assume(viable(language, b""))
    vocabulary = data.draw(vocabularies(language))
    limit = data.draw(st.integers(1, 400))
    exact = compile_constraint(language=language).matcher(vocabulary)
    # Sizes that differ are machines that differ.
    options = ConstraintOptions(max_effort=limit, max_states=1_000_000 + data.draw(st.integers(0, 10**6)))
    bounded = compile_constraint(language=language, options=options).matcher(vocabulary)
    for _ in range(4):
        for _ in range(RETRIES):
            try:
                row = bounded.mask()
            except ConstraintTooCostly as fault:
                assert fault.option == "max_effort"
                assert fault.limit == limit
            else:
                assert row.tolist() == exact.mask().tolist()
                break
        legal = vocabulary.unpack(exact.mask())
        if not len(legal):
            return
        token = int(data.draw(st.sampled_from(legal.tolist())))
        assert exact.accept(token)
        for _ in range(RETRIES):
            try:
                assert bounded.accept(token)
            except ConstraintTooCostly:
                continue
            break
        else:
            return
        assert bounded.text() == exact.text()


@pytest.mark.slow
def test_a_grammar_under_a_limit_is_the_right_one_or_none() -> None:
    grammar = (
        'start: (statement NEWLINE)+\nstatement: NAME "=" sum | "if " sum ":" statement | "pass"\n'
        'sum: sum "+" product | product\nproduct: product "*" atom | atom\natom: NAME | NUMBER | "(" sum ")"\n'
        'NAME: /[a-z_]{1,12}/\nNUMBER: /[0-9]+/\nNEWLINE: "\\n"\n%ignore " "\n'
    )
    text = b"if (a+b)*12:x = y\nifs=pass\npass\n"
    exact = compile_constraint(grammar=grammar).matcher(BYTES)
    refused = 0
    for limit in (20, 60, 150, 400, 1000):
        options = ConstraintOptions(max_effort=limit, max_states=3_000_000 + limit)
        bounded = compile_constraint(grammar=grammar, options=options).matcher(BYTES)
        exact.rollback(exact.steps)
        for byte in text:
            for _ in range(RETRIES):
                try:
                    assert bounded.mask().tolist() == exact.mask().tolist()
                    break
                except ConstraintTooCostly:
                    refused += 1
            assert exact.accept(byte)
            for _ in range(RETRIES):
                try:
                    assert bounded.accept(byte)
                    break
                except ConstraintTooCostly:
                    refused += 1
            if bounded.text() != exact.text():
                break
    assert refused


@pytest.mark.slow
@pytest.mark.parametrize("search", ["two readings", "a stop"])
def test_searches_for_a_text_of_two_readings_are_paid_for(search: str) -> None:
    """Whether two patterns share a text, and whether one goes on like the text behind it."""
    one, other = (language(matching(rf"([a-z]{{1,30}};){{1,30}}{end}"), {}) for end in "!?")

    def searched() -> object:
        return overlap(one, other) if search == "two readings" else junction_conflict(one, "a!b")

    with charged(WorkAccount()) as account:
        assert searched() is None
    assert account.spent > 1000
    with charged(WorkAccount(account.spent // 2)), pytest.raises(OutOfWork):
        searched()
