"""Many requests at once on the batching engine: beside llama-server, beside one at a time, over a shared
prompt, and a thousand programs in flight.

    python tests/benchmarks/engine/engine_server.py MODEL [--parts server,json,prefix,thousand] [--rounds 5]
        [--executor auto] [--threads 2] [--lock FILE] [--markdown PAGE]

MODEL is what `sglc run --model` takes. llama-server is looked for where `llama_cpp.py` says; without it only
the engine is measured. The engine runs in this process and is asked through its Python face, llama-server
over HTTP on this machine, as each is used. Sides take turns; figures are medians of the rounds.

- `server`: 32 prompts that begin alike, 64 greedy tokens each, without an end.
- `json`: the same prompts, answered by a JSON object of six fields: a program here, `json_schema` there.
- `prefix`: 64 short questions behind one prompt of some 600 tokens, eight at a time.
- `thousand`: 1,000 programs at once: memory, waits, and whether the texts are those of programs run alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from engine import llama_cpp
from engine.engine_step import alone
from report import surroundings, write_page

REQUESTS, TOKENS = 32, 64
QUESTIONS, AT_ONCE = 64, 8
FLIGHT, COMPARED = 1000, 24
RULES = (
    "You read short notes from a harbour office and answer with the facts that are in the note. "
    "Never add anything that the note does not say, and keep all values short."
)
NOTES = (
    "Berth {a}: the ship {n} brought {b} crates of oranges from Valencia and leaves for Genoa at {c}.",
    "Berth {a}: the ferry {n} is {b} minutes late, since fog closed the channel until {c}.",
    "Berth {a}: the tug {n} needs {b} litres of fuel and a new rope before it can work again on day {c}.",
    "Berth {a}: the yacht {n} with {b} people on board asks for water and a place for {c} nights.",
)
SHIPS = ("Aurora", "Borealis", "Calypso", "Dorado", "Estrella", "Fortuna", "Galatea", "Halcyon")
ASKED = "Give its name, its kind, the berth, a number from the note, a short summary, and whether it waits."
PROGRAM = """
enum Kind: ship, ferry, tug, yacht

record Entry:
    name: str max 24 chars
    kind: Kind
    berth: int
    number: int
    summary: str max 120 chars
    waits: bool

fn entry(rules: str, note: str) -> Entry:
    system: | ${rules}
    user: | ${note}
    assistant: | ?{made: Entry}
    return made

fn kind(rules: str, note: str) -> Kind:
    system: | ${rules}
    user: | ${note}
    assistant: | ?{found: Kind}
    return found
"""
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 24},
        "kind": {"enum": ["ship", "ferry", "tug", "yacht"]},
        "berth": {"type": "integer"},
        "number": {"type": "integer"},
        "summary": {"type": "string", "maxLength": 120},
        "waits": {"type": "boolean"},
    },
    "required": ["name", "kind", "berth", "number", "summary", "waits"],
    "additionalProperties": False,
}


def note(number: int) -> str:
    """A note, different for each number."""
    text = NOTES[number % 4].format(
        a=number, n=SHIPS[number % 8], b=3 + number * 7 % 90, c=1 + number * 5 % 23
    )
    return f"{text} {ASKED}"


def prompt(number: int) -> str:
    """The same as a chat of this model, for what takes text."""
    return (
        f"<|im_start|>system\n{RULES}<|im_end|>\n<|im_start|>user\n{note(number)}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def long_rules() -> str:
    """Rules of some 600 tokens."""
    cases = [
        f"Note: {note(number)} Kind: {('ship', 'ferry', 'tug', 'yacht')[number % 4]}" for number in range(10)
    ]
    return " ".join([RULES, *cases])


class Ours:
    """The batching engine, with a session over `PROGRAM`."""

    def __init__(self, model: str, kind: str, threads: int, memory: int | None = None) -> None:
        from sglc.runtime.executor.choose import load_executor

        self._memory = memory
        self.executor = load_executor(model, kind=kind, threads=threads)
        self.loop = asyncio.new_event_loop()
        self.fresh()

    def fresh(self) -> None:
        """A new engine, which remembers nothing."""
        from sglc.driver import compile_source
        from sglc.runtime.engine.open import open_engine
        from sglc.runtime.session import Session
        from sglc.source import Source

        self.engine = open_engine(self.executor, memory=self._memory)
        compiled = compile_source(Source("harbour.sgl", PROGRAM))
        assert compiled.program is not None, compiled.diagnostics
        self.session = Session(compiled.program, self.engine)

    def run(self, work: Coroutine[Any, Any, Any]) -> tuple[Any, float]:
        """What it gives and how many seconds it takes."""
        started = time.perf_counter()
        found = self.loop.run_until_complete(work)
        return found, time.perf_counter() - started

    async def write(self, number: int) -> None:
        """64 greedy tokens about a note."""
        from sglc.runtime.engine.sampling.options import Sampling
        from sglc.runtime.engine.sampling.sampling_request import SamplingRequest

        likeliest = SamplingRequest(Sampling(), seed=0)
        branch = self.engine.branch()
        branch.append(self.chat(RULES, note(number)))
        for _ in range(TOKENS):
            branch.append([(await branch.draw(likeliest)).token])
        branch.close()

    def chat(self, rules: str, text: str) -> list[int]:
        """Tokens of a conversation in which the assistant is about to speak."""
        from sglc.runtime.decoding.conversations.conversation import Conversation, Encoder

        tokenizer = self.executor.tokenizer
        conversation = Conversation(encoder=Encoder(tokenizer), chat=tokenizer.chat)
        for role, words in (("system", rules), ("user", text)):
            conversation.role(role)
            conversation.text(words)
            conversation.end_role()
        conversation.role("assistant")
        return list(conversation.tokens())

    async def entry(self, number: int) -> str:
        """A program's object, as JSON."""
        from sglc.types.text.plain_json import dumps

        result = await self.session.run("entry", {"rules": RULES, "note": note(number)})
        assert result.type is not None
        return dumps(result.value, result.type, self.session.program.table)

    def counts(self) -> dict[str, float]:
        """What the engine has done since it was made."""
        engine, cache = self.engine, self.engine.get_cache_stats()
        measure = engine.measure
        return {
            "steps": measure.steps,
            "requests": measure.requests,
            "step_seconds": measure.seconds,
            "fed": engine.statistics.tokens_fed,
            "reused": engine.statistics.tokens_reused,
            "preempted": engine.statistics.preemptions,
            "hit_rate": cache.hit_rate,
        }


async def together(make: Callable[[int], Coroutine[Any, Any, Any]], count: int) -> list[Any]:
    """All of them at the same time."""
    return list(await asyncio.gather(*map(make, range(count))))


async def in_turn(make: Callable[[int], Coroutine[Any, Any, Any]], count: int) -> list[Any]:
    """One after the other."""
    return [await make(number) for number in range(count)]


# -- beside llama-server ----------------------------------------------------------------------------------


def ask_server(server: llama_cpp.Server, count: int, options: dict[str, Any]) -> tuple[list[Any], float]:
    """Ask with as many threads as there are requests; the answers, and seconds until the last one."""
    answers: list[Any] = [None] * count

    def ask(number: int) -> None:
        answers[number] = server.complete(prompt(number), **options)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers, time.perf_counter() - started


FREE = {"n_predict": TOKENS, "ignore_eos": True}
STRUCTURED = {"n_predict": 200, "json_schema": SCHEMA}


def server_part(ours: Ours | None, files: dict[str, str], options: argparse.Namespace) -> str:
    """Free text: tokens a second over all requests, from the first byte to the last."""
    rates: dict[str, list[float]] = {}
    few = REQUESTS // 4
    for number in range(options.rounds):
        with alone(options.lock):
            if ours is not None:
                ours.fresh()
                _, seconds = ours.run(together(ours.write, REQUESTS))
                rates.setdefault("sglc", []).append(REQUESTS * TOKENS / seconds)
                ours.fresh()
                _, seconds = ours.run(in_turn(ours.write, few))
                rates.setdefault("sglc, one by one", []).append(few * TOKENS / seconds)
            for name, path in files.items():
                with _server(path, options) as server:
                    _, seconds = ask_server(server, REQUESTS, FREE)
                rates.setdefault(f"llama-server {name}", []).append(REQUESTS * TOKENS / seconds)
        print(f"server: round {number + 1}, load {os.getloadavg()[0]:.1f}", flush=True)
    return _rates(f"{REQUESTS} requests, {TOKENS} tokens each", "tokens/s", rates)


def json_part(ours: Ours | None, files: dict[str, str], options: argparse.Namespace) -> str:
    """Objects: requests a second, and how many are legal."""
    import jsonschema

    judge = jsonschema.Draft202012Validator(SCHEMA)
    rates: dict[str, list[float]] = {}
    legal: dict[str, int] = {}
    asked: dict[str, int] = {}

    def judged(name: str, texts: list[str], seconds: float) -> None:
        rates.setdefault(name, []).append(len(texts) / seconds)
        asked[name] = asked.get(name, 0) + len(texts)
        legal[name] = legal.get(name, 0) + sum(_legal(judge, text) for text in texts)

    shares = []
    for number in range(options.rounds):
        with alone(options.lock):
            if ours is not None:
                ours.fresh()
                texts, seconds = ours.run(together(ours.entry, REQUESTS))
                judged("sglc", texts, seconds)
                shares.append(1 - ours.counts()["step_seconds"] / seconds)
                ours.fresh()
                texts, seconds = ours.run(in_turn(ours.entry, REQUESTS // 4))
                judged("sglc, one by one", texts, seconds)
            for name, path in files.items():
                with _server(path, options) as server:
                    answers, seconds = ask_server(server, REQUESTS, STRUCTURED)
                judged(f"llama-server {name}", [answer["content"] for answer in answers], seconds)
        print(f"json: round {number + 1}, load {os.getloadavg()[0]:.1f}", flush=True)
    lines = _rates(f"{REQUESTS} requests for an object", "requests/s", rates)
    lines += (
        "\n\nLegal objects: " + ", ".join(f"{name} {legal[name]} of {asked[name]}" for name in rates) + "."
    )
    if shares:
        lines += (
            f" Of the time of all {REQUESTS} at once, {statistics.median(shares):.0%} lies outside of "
            "the steps: scheduling, masks, sampling, the virtual machine."
        )
    return lines


def _server(path: str, options: argparse.Namespace) -> llama_cpp.Server:
    return llama_cpp.Server(path, slots=REQUESTS, threads=options.threads)


def _legal(judge: Any, text: str) -> bool:
    try:
        return bool(judge.is_valid(json.loads(text)))
    except ValueError:
        return False


def _rates(title: str, unit: str, rates: dict[str, list[float]]) -> str:
    """A table of medians, and how many times as fast the first side is."""
    lines = [
        f"| {title} | {unit} | slowest to fastest | sglc is so many times as fast |",
        "|---|--:|--:|--:|",
    ]
    first = statistics.median(next(iter(rates.values())))
    for name, found in rates.items():
        middle = statistics.median(found)
        ratio = "" if name == "sglc" else f"{first / middle:.2f}"
        lines.append(f"| {name} | {middle:,.2f} | {min(found):,.2f}–{max(found):,.2f} | {ratio} |")
    return "\n".join(lines)


# -- the engine alone -------------------------------------------------------------------------------------


def prefix_part(ours: Ours, options: argparse.Namespace) -> str:
    """Short questions behind one long prompt: how much of it is computed once only."""
    rules = long_rules()
    shared = len(ours.chat(rules, "")) - len(ours.chat("", ""))
    with alone(options.lock):
        ours.fresh()
        gate = asyncio.Semaphore(AT_ONCE)

        async def ask(number: int) -> str:
            async with gate:
                result = await ours.session.run("kind", {"rules": rules, "note": note(number)})
                return str(result.value)

        _, seconds = ours.run(together(ask, QUESTIONS))
        counts = ours.counts()
    part = min(1.0, counts["reused"] / ((QUESTIONS - 1) * shared))
    return (
        f"{QUESTIONS} questions, {AT_ONCE} at a time, behind a shared beginning of {shared} tokens: "
        f"{QUESTIONS / seconds:.1f} a second; {counts['fed']:.0f} tokens computed, "
        f"{counts['reused']:.0f} reused, which is {part:.1%} of what {QUESTIONS - 1} of them share with "
        f"the first; hit rate {counts['hit_rate']:.1%}."
    )


def thousand_part(ours: Ours, options: argparse.Namespace) -> str:
    """A thousand programs at once."""
    with alone(options.lock):
        ours.fresh()
        waits: list[float] = []
        engine = ours.engine

        def timed(answer: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
            async def answered(*given: Any) -> Any:
                started = time.perf_counter()
                try:
                    return await answer(*given)
                finally:
                    waits.append(time.perf_counter() - started)

            return answered

        engine.logits = timed(engine.logits)  # type: ignore[method-assign]
        engine.draw = timed(engine.draw)  # type: ignore[method-assign]
        before = _resident()
        texts, seconds = ours.run(together(ours.entry, FLIGHT))
        counts = ours.counts()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        ours.fresh()
        sample = range(0, FLIGHT, FLIGHT // COMPARED)
        same = sum(ours.run(ours.entry(number))[0] == texts[number] for number in sample)
    p50, p99 = np.percentile(waits, [50, 99])
    return (
        f"{FLIGHT} programs in flight, an object each: {seconds:.0f} s, {FLIGHT / seconds:.1f} a second, "
        f"{counts['requests'] / counts['steps']:.0f} of them in a step on average; a token waits "
        f"{p50 * 1000:.0f} ms at the median, {p99 * 1000:,.0f} ms at p99, {max(waits) * 1000:,.0f} ms at "
        f"most. Memory before {before:,.0f} MB, at its peak {peak:,.0f} MB; memory of "
        f"{counts['preempted']:.0f} was taken for others and computed again. {same} of {len(sample)} "
        "texts compared are those of the programs run alone."
    )


def _resident() -> float:
    """Megabytes that the process has in memory now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--parts", default="server,json,prefix,thousand")
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers-only", action="store_true")
    parser.add_argument("--lock", help="a lock file that is held while something is timed")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    about = surroundings()
    try:
        files = llama_cpp.files()
        llama_cpp.program("llama-server")
        about["engines"]["llama.cpp"] = {"version": llama_cpp.version()}
    except llama_cpp.Missing as fault:
        print(f"without llama-server: {fault}")
        files = {}
    ours = None if options.peers_only else Ours(options.model, options.executor, options.threads)
    titles = {
        "server": "Beside llama-server: free text",
        "json": "Beside llama-server: objects",
        "prefix": "A shared beginning",
        "thousand": "A thousand programs",
    }
    made = []
    for name in options.parts.split(","):
        if name == "server":
            text = server_part(ours, files, options)
        elif name == "json":
            text = json_part(ours, files, options)
        elif ours is None:
            continue
        else:
            text = (prefix_part if name == "prefix" else thousand_part)(ours, options)
        print(text, flush=True)
        made.append(f"## {titles[name]}\n\n{text}")
    if options.markdown:
        words = (
            f"Many requests at once, {options.threads} threads on every side, greedy; medians of "
            f"{options.rounds} rounds in which the sides take turns. llama-server is asked over HTTP on "
            "the same machine, with a slot for each request; sglc is asked in its process."
        )
        write_page(options.markdown, "Many requests at once", words, "\n\n".join(made), about)


if __name__ == "__main__":
    main()
