"""What servers themselves do with what the protocols send: `SGLC_LLAMA_SERVER=http://127.0.0.1:8080`, …

Skipped without such a variable. Nothing is asked of what a model knows, but for one thing that any does.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import urllib.request
from dataclasses import replace
from typing import Any

import pytest

from backends.real_servers import SERVERS, answered, fault_of, opened, scored, url_of
from sglc.runtime.backends.exchange import Message, Piece, Query
from sglc.runtime.engine.sampling.options import Sampling
from sglc.targets.projection.core.enforcement import Enforcement

ASK = Query(
    (
        Message("system", "You tell stories."),
        Message("user", "Tell me a long story about a ship in a storm."),
    ),
    max_tokens=24,
)
PLAIN = Query((Message("", "The capital of France"),), " is", max_tokens=8)
TOLERANCE = 0.15
"""Of a log-probability, between a token that is drawn and one of a prompt: servers compute in 16 bits and in
batches of other sizes."""
servers = pytest.mark.parametrize("server", SERVERS)
continuing = pytest.mark.parametrize("server", ["llama", "vllm", "sglang"])


@servers
def test_an_answer_and_its_usage(server: str) -> None:
    text, end, pieces = answered(server, ASK)
    assert text and len(pieces) > 3
    assert end.reason in ("length", "stop") and end.usage is not None
    assert end.usage.prompt > 10 and 0 < end.usage.output <= 24


@servers
def test_a_bound_on_tokens(server: str) -> None:
    _, end, _ = answered(server, replace(ASK, max_tokens=5))
    assert end.reason == "length" and end.usage is not None and end.usage.output == 5


@servers
def test_a_stop(server: str) -> None:
    text, _, _ = answered(server, replace(ASK, max_tokens=60))
    word = text.split()[1]
    assert word not in answered(server, replace(ASK, max_tokens=60, stops=(word,)))[0]


@servers
def test_seeds(server: str) -> None:
    """The same seed draws the same, most others something else."""
    query = replace(ASK, sampling=Sampling(1.0), seed=2**31 - 1)
    first = answered(server, query)[0]
    assert answered(server, query)[0] == first
    assert any(answered(server, replace(query, seed=seed))[0] != first for seed in (0, 1, 2))


@servers
def test_the_most_probable_tokens_need_no_seed(server: str) -> None:
    assert answered(server, ASK)[0] == answered(server, ASK)[0]


@continuing
@pytest.mark.parametrize(
    "limits", [{"top_k": 1}, {"top_p": 0.000_1}, {"min_p": 1.0}], ids=lambda each: next(iter(each))
)
def test_samplers(server: str, limits: dict[str, Any]) -> None:
    """Each of them leaves one token at its extreme, also where the temperature is high."""
    drawn = replace(ASK, sampling=Sampling(2.0, **limits), seed=5, max_tokens=10)
    assert answered(server, drawn)[0] == answered(server, replace(ASK, max_tokens=10))[0]
    loose = replace(drawn, sampling=Sampling(2.0))
    assert any(
        answered(server, replace(loose, seed=seed))[0] != answered(server, drawn)[0] for seed in (1, 2)
    ), "what is not limited is switched off"


@continuing
def test_a_begun_answer_goes_on(server: str) -> None:
    query = Query((Message("user", "Count from one to thirty, in words."),), "one, two, three, four, five,")
    text, _, _ = answered(server, replace(query, max_tokens=8))
    assert re.match(" *six", text), text


@continuing
def test_text_without_messages_goes_on(server: str) -> None:
    text, _, _ = answered(server, PLAIN)
    assert text.startswith((" Paris", " a", " the", " one", " located")), text


@continuing
def test_chances(server: str) -> None:
    _, _, pieces = answered(server, replace(ASK, top_logprobs=3, max_tokens=6))
    places = [place for piece in pieces for place in piece.top]
    assert len(places) == 6
    for place in places:
        assert 1 <= len(place) <= 3
        assert 0 < sum(math.exp(chance.logprob) for chance in place) <= 1.001
        assert [each.logprob for each in place] == sorted((each.logprob for each in place), reverse=True)
    told = [(piece.text, piece.top[0][0].text) for piece in pieces if piece.text and len(piece.top) == 1]
    assert told and all(text == top for text, top in told), "the most probable token is taken"


@continuing
@pytest.mark.parametrize("query", [replace(ASK, begun="Once upon a"), PLAIN], ids=["turns", "text"])
def test_a_score_is_the_chance_of_the_token(server: str, query: Query) -> None:
    _, _, pieces = answered(server, replace(query, top_logprobs=5, max_tokens=1))
    chances = pieces[0].top[0]
    scores = scored(server, query, [chance.text for chance in chances])
    compared = [
        (c.logprob, s.logprobs[0]) for c, s in zip(chances, scores, strict=True) if s.tokens == (c.text,)
    ]
    assert compared
    assert all(abs(one - other) < TOLERANCE for one, other in compared), compared


@continuing
def test_scores_tell_likely_texts_from_others(server: str) -> None:
    paris, banana, both = (
        sum(each.logprobs) for each in scored(server, PLAIN, [" Paris", " bananas", " Paris bananas"])
    )
    assert paris > banana and paris > both


ENFORCED = {
    "gbnf": (Enforcement("gbnf", 'root ::= "(" root ")" | "x" "é"{2,3}'), r"\(*xééé?\)*"),
    "regex": (Enforcement("regex", "[a-c]{2,5}!ü"), "[a-c]{2,5}!ü"),
    "choice": (Enforcement("choice", options=("rot", "grün 👋", "blau")), "rot|grün 👋|blau"),
}


@servers
@pytest.mark.parametrize("notation", ENFORCED)
def test_what_is_enforced_comes(server: str, notation: str) -> None:
    enforced, pattern = ENFORCED[notation]
    if notation not in opened(server).capabilities.notations:
        pytest.skip(f"{server} does not take {notation}")
    for seed in range(3):
        query = replace(ASK, enforced=enforced, sampling=Sampling(1.5), seed=seed, max_tokens=60)
        text, end, _ = answered(server, query)
        assert re.fullmatch(pattern, text) if end.reason == "stop" else text, text


@servers
def test_a_schema_is_enforced(server: str) -> None:
    if "json_schema" not in opened(server).capabilities.notations:
        pytest.skip(f"{server} is not asked for JSON Schemas")
    fields = {"age": {"type": "integer", "minimum": 18, "maximum": 70}, "post": {"enum": ["a", "b"]}}
    schema = {
        "type": "object",
        "properties": fields,
        "required": ["age", "post"],
        "additionalProperties": False,
    }
    query = replace(ASK, enforced=Enforcement("json_schema", schema=schema, reading="json"), max_tokens=60)
    value = json.loads(answered(server, query)[0])
    assert 18 <= value["age"] <= 70 and value["post"] in ("a", "b")


def test_llama_has_computed_a_prompt_before() -> None:
    """Tokens of a prompt that were there already are told as such, also in a score."""
    answered("llama", ASK)
    _, end, _ = answered("llama", ASK)
    assert end.usage is not None and end.usage.cached >= end.usage.prompt - 2


@pytest.mark.parametrize("query", [ASK, replace(ASK, begun="Once")], ids=["whole", "begun"])
@pytest.mark.parametrize("count", [1, 2])
@servers
def test_messages_of_the_assistant_in_a_row(server: str, count: int, query: Query) -> None:
    """Whole messages of the assistant at the end are not gone on with: the model is given a turn."""
    if query.begun and not opened(server).capabilities.continues:
        pytest.skip(f"{server} does not go on behind what is begun")
    said = (Message("assistant", "No."),) * count
    text, end, _ = answered(server, replace(query, messages=(*ASK.messages, *said)))
    assert text and end.usage is not None and end.usage.output > 0


@pytest.mark.parametrize(("bounds", "taken"), [("1,1999", True), ("2000,2000", True), ("2001,2001", False)])
def test_repetitions_that_llama_takes(bounds: str, taken: bool) -> None:
    """What a projection leaves out (`repetitions` of the capabilities) is refused, or taken for
    any number of them: an upper bound of 2,001."""
    query = replace(ASK, enforced=Enforcement("gbnf", f'root ::= "a"{{{bounds}}}'), max_tokens=2)
    if taken:
        assert answered("llama", query)[0].startswith("a")
    else:
        assert "failed to parse grammar" in fault_of("llama", query).message


@continuing
def test_a_grammar_that_is_none_is_refused(server: str) -> None:
    fault = fault_of(server, replace(ASK, enforced=Enforcement("gbnf", 'root ::= "a" nowhere (')))
    assert (fault.cause, fault.again) == ("request", False), (fault.cause, fault.message)
    assert fault.status == 400 and fault.message


@servers
def test_a_context_that_is_too_long_is_refused(server: str) -> None:
    fault = fault_of(server, Query((Message("user", "one two three " * 20_000),), max_tokens=5))
    assert (fault.cause, fault.again, fault.status) == ("request", False, 400)
    assert "context" in fault.message or "tokens" in fault.message


@continuing
def test_the_context_is_told(server: str) -> None:
    async def job() -> int | None:
        backend = opened(server)
        await backend.prepare()  # type: ignore[attr-defined]
        await backend.close()
        return backend.capabilities.context_length

    length = asyncio.run(job())
    assert length is not None and length >= 512


@continuing
def test_leaving_a_stream_ends_the_request(server: str) -> None:
    async def job() -> int:
        backend = opened(server)
        stream = backend.stream(replace(ASK, max_tokens=4_000))
        pieces = 0
        async for event in stream:
            pieces += isinstance(event, Piece)
            if pieces == 3:
                break
        await stream.aclose()  # type: ignore[attr-defined]
        await backend.close()
        waited = 0
        while busy(server) and waited < 60:
            await asyncio.sleep(0.5)
            waited += 1
        return waited

    assert asyncio.run(job()) < 60, "the server goes on for nobody"


def busy(server: str) -> bool:
    """Whether a server works on a request, as it tells itself."""
    base = url_of(server).partition("#")[0]
    path = {"llama": "/slots", "vllm": "/metrics", "sglang": "/metrics"}[server]
    with urllib.request.urlopen(base + path, timeout=60) as reply:
        text = reply.read().decode()
    if server == "llama":
        return any(slot["is_processing"] for slot in json.loads(text))
    running = re.findall(r"^\w+:num_(?:requests_running|running_reqs)\{.*\} ([0-9.]+)$", text, re.MULTILINE)
    assert running, "the server does not tell what it works on"
    return any(float(each) for each in running)
