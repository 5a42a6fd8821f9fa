"""`choose` draws whole options: by the model's probability of each, as a token is drawn from its logits."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from example_budget import examples
from fakes.small_models import FickleModel, small_tokenizer
from oracles.decoding.enumeration import chi_square, far_out, normalised, of_tokens
from sglc.driver import compile_source
from sglc.plan.collect import plan_program
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

OPTIONS = ("no", "no, never", "the answer", "yes", "an anthem", "yes, there")


def session(model: FickleModel, options: str, then: str = "", before: str = "") -> Session:
    text = (
        f"{before}pub fn f(xs: [str] = {list(OPTIONS)}) -> str:\n    user: | how many?\n".replace("'", '"')
        + f"    assistant: | Well: ?{{x: choose {options}}}\n{then}    return x\n"
    )
    compiled = compile_source(Source("p.sgl", text))
    assert compiled.program is not None, compiled.diagnostics
    return Session(compiled.program, ReferenceEngine(model))


def run(made: Session, seed: int = 0, **options: Any) -> RunResult:
    return asyncio.run(made.run("f", {}, seed=seed, **options))


def scores(model: FickleModel) -> dict[str, float]:
    """Log-probabilities of the options with the tokens that the tokenizer writes behind the message."""
    encode = model.tokenizer.encode
    special = model.tokenizer.special
    opened = [special["<|im_start|>"], *encode("user\nhow many?"), special["<|im_end|>"], *encode("\n")]
    opened.append(special["<|im_start|>"])
    written = {option: encode(f"assistant\nWell: {option}") for option in OPTIONS}
    shared = min(map(len, written.values())) - 1
    while len({tuple(tokens[:shared]) for tokens in written.values()}) > 1:
        shared -= 1
    return {
        option: of_tokens(model, [*opened, *tokens[:shared]], tokens[shared:])
        for option, tokens in written.items()
    }


@pytest.mark.slow
def test_draws_follow_the_probabilities_of_whole_options() -> None:
    model = FickleModel(3, spread=1.0)
    made, expected = session(model, "xs temp 1.0"), normalised(scores(model))
    counts = Counter(run(made, seed).value for seed in range(examples(300)))
    assert not far_out(*chi_square(counts, expected)), (counts, expected)


@pytest.mark.slow
def test_the_oracle_tells_local_draws_from_exact_ones() -> None:
    model = FickleModel(3, spread=1.0)
    made, expected = session(model, "xs temp 1.0"), normalised(scores(model))
    counts = Counter(run(made, seed, decode="local").value for seed in range(300))
    assert far_out(*chi_square(counts, expected))


@pytest.mark.parametrize("seed", range(4))
def test_without_a_temperature_the_likeliest_option_is_taken(seed: int) -> None:
    model = FickleModel(seed)
    expected = scores(model)
    assert run(session(model, "xs")).value == max(expected, key=lambda option: expected[option])
    assert run(session(model, "xs temp 1.0 top_k 1")).value == max(expected, key=lambda o: expected[o])


def test_an_exact_choose_is_the_usual_one() -> None:
    model = FickleModel(5)
    for seed in range(8):
        usual = run(session(model, "xs temp 1.0"), seed).value
        assert run(session(model, "xs temp 1.0 decode exact"), seed).value == usual


def test_a_type_is_chosen_from_as_a_list_is() -> None:
    model = FickleModel(5)
    declared = "type Word = " + " | ".join(f'"{option}"' for option in OPTIONS) + "\n"
    listed = [run(session(model, "xs temp 1.0"), seed).value for seed in range(12)]
    typed = [run(session(model, "Word temp 1.0", before=declared), seed).value for seed in range(12)]
    assert listed == typed and len(set(listed)) > 1


def test_options_that_a_budget_has_no_room_for_are_left_out() -> None:
    model = FickleModel(3, spread=1.0)
    sizes = {option: len(model.tokenizer.encode(f"Well: {option}")) for option in OPTIONS}
    base = len(model.tokenizer.encode("Well: "))
    most = sorted(sizes.values())[2] - base
    for seed in range(12):
        value = run(session(model, f"xs temp 1.0 max {most} tok"), seed).value
        assert sizes[value] - base <= most
    with pytest.raises(SglError) as caught:
        run(session(model, '["(((((", "))))))"] max 1 tok'))
    assert caught.value.name == "Truncated"


def test_what_is_drawn_is_told() -> None:
    events: list[Event] = []
    model = FickleModel(3)
    result = run(session(model, "xs temp 1.0"), on_event=events.append, pressure=True)
    ends = [event for event in events if event.kind == "hole_end"]
    assert [event.data["ended"] for event in ends] == ["choose"]
    assert "".join(e.data["text"] for e in events if e.kind == "generated") == result.value
    hole = result.holes[0]
    assert hole.text == result.value and hole.sampled == 0 and hole.tokens > 0
    assert hole.pressure is not None and hole.pressure > 0


def test_a_retry_chooses_among_the_rest() -> None:
    model = FickleModel(3)
    then = '    ensure x != "no" and x != "the answer" else "no"\n        retry 5 resample\n'
    values = {run(session(model, "xs temp 1.0", then), seed).value for seed in range(10)}
    assert values and not values & {"no", "the answer"}


def test_more_options_than_are_scored_are_drawn_token_by_token() -> None:
    model = FickleModel(3)
    many = session(model, "[str(i) for i in 1..1025] temp 1.0")
    few = session(model, "[str(i) for i in 1..1024] temp 1.0")
    assert run(many).holes[0].ended != "choose" and run(few).holes[0].ended == "choose"


def test_limits_that_walks_would_drop_are_refused_where_options_are_too_many_to_be_scored() -> None:
    model = FickleModel(3)
    for count, options in ((1024, "top_k 3 decode exact"), (1025, "top_k 3"), (1025, "decode exact")):
        assert run(session(model, f"[str(i) for i in 1..{count}] temp 1.0 {options}")).value
    for limit in ("top_k 3", "top_p 0.9", "min_p 0.1"):
        with pytest.raises(SglError, match="takes no `top_k`") as caught:
            run(session(model, f"[str(i) for i in 1..1025] temp 1.0 {limit} decode exact"))
        assert caught.value.name == "Unsupported"


def test_a_plan_knows_that_no_token_is_drawn() -> None:
    text = 'pub fn f() -> str:\n    | ?{x: choose ["the answer", "an anthem"] decode %s}\n    return x\n'
    drawn = []
    for strategy in ("exact", "local"):
        compiled = compile_source(Source("p.sgl", text % strategy))
        assert compiled.program is not None
        plan = plan_program(compiled.program, ["f"], model="small", tokenizer=small_tokenizer())
        drawn.append(plan.functions[0].holes[0].drawn)
    assert drawn[0] == 0 and drawn[1]
