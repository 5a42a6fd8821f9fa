"""200 records from a model that only writes text: repair beside plain retries.

    python -P tests/benchmarks/decoding/remote_repair.py [--records N] [--executor KIND] [--threads N]
        [--markdown FILE]

SmolLM2 stands behind a backend that enforces nothing (the level `asked`): text in, text out, greedily. Each
record is an order, to be read from a mail of one or two sentences; the prompt shows the JSON Schema of the
type and one example. *Repaired, goes on*: the backend goes on behind a begun answer. *Repaired, asked again*:
it does not, and the fault is named to it. Both end at the third answer that is not right, as a program's
holes do; what is no value then is an error. *And ended*: it is ended along a shortest text instead, as holes
are with `complete = true` in `sgl.toml`. *Words put*: the function `sglc.repair`, which puts the first
word of a shortest ending where nobody says a better one. *Retried*: the whole answer is asked for again, at
temperature 0.8 with another seed, until it is a value, at most three and at most ten times. Its answers end
before the next mail, which this model else makes up, and what is around the outermost braces is taken away
before they are read. *Legal* are texts of the type's language, by a matcher that had no part in them; *true*
are those whose values are the ones that the mail was made of. *Words of nobody* are corrections that put a
word, or an ending, that no model has chosen and the language does not force. Tokens are those that the model
drew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import sglc
from backends.answering import TextOnly
from report import surroundings, write_page
from sglc.runtime.backends.exchange import Message, Query
from sglc.runtime.backends.repairing.repair import repaired
from sglc.runtime.backends.repairing.values import Values, json_values
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.load import load_engine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.errors import SglError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.explanation import byte_vocabulary
from sglc.runtime.repair.local_model import LocalModel, LocalStream
from sglc.targets.projection.canonical import AnswerError
from sglc.types.notation.json_schema import json_schema_text
from sglc.types.text.printer import print_value
from sglc.types.type import Bool, EnumType, FieldType, Int, Named, RecordType, Str, matching
from sglc.types.values import EnumValue, RecordValue

ORDER = Named("Order")
TABLE = {
    "Size": EnumType("Size", ("small", "medium", "large")),
    "Order": RecordType(
        "Order",
        (
            FieldType("customer", Str(1, 30)),
            FieldType("article", Str(1, 30)),
            FieldType("pieces", Int(1, 500)),
            FieldType("size", Named("Size")),
            FieldType("code", matching(r"[A-Z]{2}-[0-9]{3}")),
            FieldType("paid", Bool()),
        ),
    ),
}
SCHEMA = json.loads(json_schema_text(ORDER, TABLE))
CUSTOMERS = ("Anna Berg", "Luis Ortega", "Mei Tanaka", "Tom Fisher", "Ada Okafor", "Jan Novak", "Rosa Weiss")
ARTICLES = ("wool jacket", "rain boots", "linen shirt", "canvas bag", "leather belt")
SIZES = ("small", "medium", "large")
MAILS = (
    "Hello, this is {customer}. Please send me {pieces} times the {article} ({code}) in size {size}. {paid}",
    "{customer} here: we need {pieces} of article {code}, the {article}, all of them {size}. {paid}",
    "I would like to order {pieces} pieces of your {size} {article}, code {code}. {paid} Regards, {customer}",
)
PAID = ("I have not paid yet.", "The invoice is paid already.")
RETRIES, FEW = 10, 3
MOST = 200
"""Tokens of one answer of a retry."""
STOPS = ("\nMail:",)
HEAD = (
    "way",
    "legal",
    "true",
    "words of nobody",
    "requests",
    "mean",
    "most for one",
    "records with 1, 2, 3, more",
    "tokens",
    "processor s",
)


@dataclass(frozen=True, slots=True)
class Record:
    """A mail, and the text of the order in it."""

    mail: str
    text: str


@dataclass(frozen=True, slots=True)
class Got:
    """What one record took; `text` is None where none came."""

    text: str | None
    requests: int
    tokens: int
    nobodys: int = 0
    """Words in it that no model has chosen."""
    by_request: tuple[int, ...] = ()
    """Tokens up to each of its requests."""


Way = Callable[[Query], Awaitable[Got]]


def record(number: int) -> Record:
    """One of the orders, each field in turn with another period."""
    fields: dict[str, Any] = {
        "customer": CUSTOMERS[number % len(CUSTOMERS)],
        "article": ARTICLES[number % len(ARTICLES)],
        "pieces": 1 + 37 * number % 499,
        "size": SIZES[number % len(SIZES)],
        "code": f"{'ABCDEFGH'[number % 8]}{'KLMNPQRSTUV'[number % 11]}-{100 + 61 * number % 900}",
        "paid": number % 2 == 1,
    }
    shown = {**fields, "paid": PAID[fields["paid"]]}
    value = RecordValue("Order", {**fields, "size": EnumValue("Size", fields["size"])})
    return Record(MAILS[number % len(MAILS)].format(**shown), print_value(value, ORDER, TABLE))


def query(order: Record) -> Query:
    """The question about a mail, with the schema and an example, as a program would have it."""
    example = record(1_000)
    text = (
        f"Read the order from the mail and write it as one JSON object of this schema, and nothing else.\n"
        f"{json_schema_text(ORDER, TABLE)}\n\n"
        f"Mail: {example.mail}\nJSON: {example.text}\n\nMail: {order.mail}\nJSON:"
    )
    return Query((Message("user", text),))


def values() -> Values:
    found = json_values(ORDER, TABLE)
    assert found is not None
    return found


def repairing(engine: Engine, *, continues: bool, complete: bool = False) -> Way:
    """Repair of a backend that goes on behind a begun answer, or does not."""
    legal = compile_constraint(type=ORDER, table=TABLE).matcher(byte_vocabulary())
    read = values()

    async def way(asked: Query) -> Got:
        backend = Counted(TextOnly(LocalModel(engine), continues=continues))
        try:
            found = await repaired(backend, asked, legal, values=read, complete=complete)
        except SglError:
            return Got(None, backend.requests, backend.tokens)
        return Got(found.text, found.requests, backend.tokens, int(found.ended == "completed"))

    return way


class Counted:
    """A backend that counts the requests and the tokens that its model draws, also of streams that are
    closed."""

    def __init__(self, inner: TextOnly) -> None:
        self._inner = inner
        self.name, self.endpoint, self.capabilities = inner.name, inner.endpoint, inner.capabilities
        self.requests = self.tokens = 0
        self.score, self.close = inner.score, inner.close

    async def stream(self, query: Query) -> Any:
        self.requests += 1
        events = self._inner.stream(query)
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()
            self.tokens += self._inner.drawn


def with_words(engine: Engine) -> Way:
    """The function `sglc.repair`."""
    read = values()

    async def way(asked: Query) -> Got:
        model = LocalModel(engine)
        written = []

        def generate(prompt: str, prefix: str) -> LocalStream:
            written.append(model(prompt, prefix))
            return written[-1]

        found = await sglc.repair_async(generate, asked.messages[0].text, json_schema=SCHEMA)
        put = sum(each.by == "completion" for each in found.corrections)
        return Got(read.canonical(found.text), found.calls, sum(each.tokens for each in written), put)

    return way


def retrying(engine: Engine) -> Way:
    """The whole again until it is a value: what programs without repair do."""
    read = values()

    async def way(asked: Query) -> Got:
        tokens, by_request = 0, []
        for number in range(RETRIES):
            sampling = Sampling(0.8) if number else None
            backend = TextOnly(LocalModel(engine, sampling=sampling, seed=number), continues=False)
            pieces = [
                event.text
                async for event in backend.stream(Query(asked.messages, max_tokens=MOST, stops=STOPS))
                if hasattr(event, "text")
            ]
            tokens += backend.drawn
            by_request.append(tokens)
            try:
                text = read.canonical(between_braces("".join(pieces)))
            except AnswerError:
                continue
            return Got(text, number + 1, tokens, by_request=tuple(by_request))
        return Got(None, RETRIES, tokens, by_request=tuple(by_request))

    return way


WAYS: dict[str, tuple[str, Callable[[Engine], Way]]] = {
    "on": ("repaired, goes on", lambda engine: repairing(engine, continues=True)),
    "again": ("repaired, asked again", lambda engine: repairing(engine, continues=False)),
    "ended": (
        "repaired, goes on, and ended",
        lambda engine: repairing(engine, continues=True, complete=True),
    ),
    "words": ("words put", with_words),
    "retry": ("retried", retrying),
}


def within(got: Got, requests: int) -> Got:
    """What there is of it after so many requests."""
    if got.requests <= requests:
        return got
    return Got(None, requests, got.by_request[requests - 1])


def between_braces(text: str) -> str:
    """From the first brace to the last one."""
    return text[max(text.find("{"), 0) : text.rfind("}") + 1]


def row(name: str, orders: list[Record], got: list[Got], seconds: float) -> tuple[str, ...]:
    """A row of the table."""
    matcher = compile_constraint(type=ORDER, table=TABLE).matcher(byte_vocabulary())
    legal = [each.text is not None and is_whole(matcher.clone(), each.text) for each in got]
    true = [each.text == order.text for order, each in zip(orders, got, strict=True)]
    requests = [each.requests for each in got]
    spread = [*(requests.count(number) for number in (1, 2, 3)), sum(each > 3 for each in requests)]
    return (
        name,
        f"{sum(legal)} of {len(got)}",
        f"{sum(true)}",
        f"{sum(each.nobodys for each in got)}",
        f"{sum(requests)}",
        f"{sum(requests) / len(got):.2f}",
        f"{max(requests)}",
        ", ".join(map(str, spread)),
        f"{sum(each.tokens for each in got):,}",
        f"{seconds:.0f}" if seconds else "",
    )


def is_whole(matcher: Any, text: str) -> bool:
    """Whether a text is one of the language."""
    return bool(matcher.accept_bytes(text.encode()) and matcher.is_accepting())


async def measured(name: str, way: Way, orders: list[Record], verbose: bool) -> list[tuple[str, ...]]:
    """The rows of a way; of retries also what there is of them after three requests."""
    started, got = time.process_time(), []
    for order in orders:
        got.append(await way(query(order)))
        if verbose:
            print(got[-1].requests, got[-1].text, flush=True)
    seconds = time.process_time() - started
    if not all(each.by_request for each in got):
        return [row(name, orders, got, seconds)]
    most = [(FEW, 0.0), (RETRIES, seconds)]
    return [
        row(f"{name}, at most {count}", orders, [within(each, count) for each in got], time_taken)
        for count, time_taken in most
    ]


async def run(given: argparse.Namespace) -> list[tuple[str, ...]]:
    orders = [record(number) for number in range(given.records)]
    rows = []
    for name in given.ways.split(","):
        engine = load_engine(given.model, executor=given.executor, threads=given.threads, memory=256 << 20)
        title, make = WAYS[name]
        rows += await measured(title, make(engine), orders, given.verbose)
        print("\n".join(map(" | ".join, rows)), flush=True)
        engine.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Records by repair of remote answers, beside retries.")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--executor", default="native")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--ways", default="ended,on,again,words,retry")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    about = surroundings()
    rows = asyncio.run(run(given))
    if given.markdown is not None:
        table = "\n".join(
            f"| {' | '.join(each)} |" for each in (HEAD, ("---", *["--:"] * (len(HEAD) - 1)), *rows)
        )
        words = (__doc__ or "").split("\n\n", 2)[2]
        write_page(str(given.markdown), "Repair of remote answers", words, table, about)


if __name__ == "__main__":
    main()
