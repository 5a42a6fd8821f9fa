"""Ten pairs: repair beside masks, retries and plain generation, all with one model.

    python -P tests/benchmarks/decoding/repair_pairs.py [--executor KIND] [--threads N] [--rounds N]
        [--peers FOLDER] [--markdown FILE]

The model is asked for a JSON object of exactly ten pairs of strings, in any spacing, and draws greedily.
*Repair* uses it as a black box that only writes text, and as the draft model: streamed, or 20 or 60 tokens
at a call. *Masked* draws under the mask: token by token, or as a hole of a program, where forced text costs
no step. *Retried* draws at temperature 0.8 without a mask, up to five times, until a text is right. *Naive*
draws once. Both end where the model closes the fence that the prompt opens. Every way begins with an engine
of its own, without keys and values of the others; one round before those that count fills the caches of
masks. Time is processor time after loading, the median of the rounds. transformers-CFG, where `FOLDER` has
it, runs on the same weights by torch, in float32 and once: its tokens can be compared, its time hardly.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import sglc
from report import surroundings, write_page
from sglc.driver import compile_source
from sglc.python.background import LOOP
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.load import load_engine
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.repair.local_model import LocalModel
from sglc.runtime.session import Session
from sglc.source import Source

PROMPT = "Here is a really long JSON object, with 10 keys, using only string values:\n\n```json\n"
PAIR = r'"[ !#-Z_-~]*": ?"[ !#-Z_-~]*"'
BLANK = r"( |\n *)?"
PATTERN = re.compile(rf"\{{{BLANK}{PAIR}(,{BLANK}{PAIR}){{9}}{BLANK}\}}")
"""What is right, for the judge."""
GRAMMAR = r"""start: "{" WS? pair ("," WS? pair)~9 WS? "}"
pair: STR ":" " "? STR
STR: /"[ !#-Z_-~]*"/
WS: /( |\n *)/
"""
PROGRAM = r"""
grammar Pairs:
    start: "{" blank pair ("," blank pair){9} blank "}"
    pair: text ":" " "? text
    text: /"[ !#-Z_-~]*"/
    blank: /( |\n *)?/

fn pairs(lines: [str], last: str) -> Pairs:
    for line in lines:
        | ${line}
    | ${last}?{found: Pairs max 400 tok}
    return found
"""
GBNF = (
    'root ::= "{" ws pair' + ' "," ws pair' * 9 + ' ws "}"\n'
    'pair ::= str ":" " "? str\n'
    'str ::= "\\"" [ !#-Z_-~]* "\\""\n'
    'ws ::= (" " | "\\n" [ ]*)?\n'
)
FENCE = "\n```"
MOST = 400
"""Tokens of one text."""
TRIES = 5
CALLS, SECONDS = 10, 2.0
"""What repair may take when it streams. Its tokens may be no more than those of masked generation."""
HEAD = ("way", "calls", "corrections", "model tokens", "characters written / kept", "right", "processor s")


@dataclass(frozen=True, slots=True)
class Took:
    """What one way took. `text` is what came of it."""

    text: str
    calls: int
    tokens: int
    corrections: int | None = None
    written: int | None = None
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        """Whether the text is one of the ten pairs, by the judge."""
        return PATTERN.fullmatch(self.text) is not None


Way = Callable[[Engine], Took]


def repaired(length: int | None) -> Way:
    """Repair, streamed or by calls of so many tokens."""

    def way(engine: Engine) -> Took:
        model = LocalModel(engine)

        async def at_once(prompt: str) -> str:
            return await written(model, prompt, length)

        generate: Any = model if length is None else at_once
        found = sglc.repair(generate, PROMPT, grammar=GRAMMAR, draft=model)
        return Took(found.text, found.calls, found.tokens, len(found.corrections), found.written)

    return way


async def written(
    model: LocalModel, prompt: str, length: int | None, counted: list[int] | None = None
) -> str:
    """What a model writes by itself, up to the end of the fence that the prompt opens."""
    stream = model(prompt, "", length)
    text = ""
    async for piece in stream:
        text += piece
        if FENCE in text:
            break
    await stream.aclose()
    if counted is not None:
        counted.append(stream.tokens)
    return text


def masked(engine: Engine) -> Took:
    """Every token drawn under the mask, one a step."""

    async def run() -> Took:
        tokenizer = engine.model.tokenizer
        matcher = compile_constraint(grammar=GRAMMAR).matcher(tokenizer.vocabulary())
        branch, count = engine.branch(), 0
        branch.append(tokenizer.encode(PROMPT))
        while not matcher.is_complete() and count < MOST:
            logits, allowed = await branch.logits(), matcher.allowed()
            token = int(allowed[np.argmax(logits[allowed])])
            matcher.accept(token)
            branch.append([token])
            count += 1
        branch.close()
        return Took(matcher.text().decode(), 1, count)

    return LOOP.wait(run())


def hole(engine: Engine) -> Took:
    """The same as a hole of a program."""
    program = compile_source(Source("pairs.sgl", PROGRAM)).program
    assert program is not None
    *lines, last = PROMPT.split("\n")
    work: Coroutine[Any, Any, Any] = Session(program, engine).run("pairs", {"lines": lines, "last": last})
    found = LOOP.wait(work)
    return Took(str(found.value), 1, found.statistics.output_tokens)


def retried(engine: Engine) -> Took:
    """Without a mask until a text is right."""
    tokens, text, tries = 0, "", 0
    for seed in range(TRIES):
        model = LocalModel(engine, sampling=Sampling(0.8), seed=seed)
        counted: list[int] = []
        text = LOOP.wait(written(model, PROMPT, MOST, counted)).partition(FENCE)[0]
        tokens, tries = tokens + counted[0], tries + 1
        if PATTERN.fullmatch(text):
            break
    return Took(text, tries, tokens)


def naive(engine: Engine) -> Took:
    """Without a mask, once."""
    counted: list[int] = []
    text = LOOP.wait(written(LocalModel(engine), PROMPT, MOST, counted))
    return Took(text.partition(FENCE)[0], 1, counted[0], None, len(text))


WAYS: dict[str, Way] = {
    "repair, streamed": repaired(None),
    "repair, 20 tokens a call": repaired(20),
    "repair, 60 tokens a call": repaired(60),
    "masked, token by token": masked,
    "masked, a hole of a program": hole,
    "retried without a mask": retried,
    "naive": naive,
}


def with_peer(folder: str, model: str) -> Took:
    """transformers-CFG on the same weights, in float32."""
    sys.path.append(folder)
    import torch
    import transformers
    from transformers_cfg.generation.logits_process import GrammarConstrainedLogitsProcessor
    from transformers_cfg.grammar_utils import IncrementalGrammarConstraint
    from transformers_cfg.tokenization.byte_trie import ByteTrie
    from transformers_cfg.tokenization.middle import TokenizerMiddleMapping as mapping

    from sglc.runtime.model.load import resolve

    where = str(resolve(model))
    tokenizer = transformers.GPT2TokenizerFast.from_pretrained(where)
    mapping.ByteProxyMapping = type("Offline", (mapping.ByteProxyMapping,), {"__init__": _offline})
    grammar = IncrementalGrammarConstraint(
        GBNF,
        "root",
        tokenizer,
        trie=ByteTrie.from_tokenizer(tokenizer),
        homomorphism=mapping.TokenizerMiddleMapping.from_hf_tokenizer(tokenizer),
    )
    loaded = transformers.AutoModelForCausalLM.from_pretrained(where, dtype=torch.float32).eval()
    torch.set_num_threads(1)
    given = tokenizer(PROMPT, return_tensors="pt", add_special_tokens=False)
    started = time.process_time()
    with torch.no_grad():
        out = loaded.generate(
            **given,
            do_sample=False,
            max_new_tokens=MOST,
            logits_processor=[GrammarConstrainedLogitsProcessor(grammar)],
            pad_token_id=tokenizer.eos_token_id,
        )
    seconds = time.process_time() - started
    new = out[0, given["input_ids"].shape[1] :]
    text = tokenizer.decode(new, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return Took(text, 1, len(new), seconds=seconds)


def _offline(self: Any, tokenizer: Any) -> None:
    """The peer's table of bytes, which it would fetch from the network."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in keep]
    self.tokenizer = tokenizer
    self.byte2proxychar = {byte: chr(byte) for byte in keep}
    self.byte2proxychar |= {byte: chr(256 + index) for index, byte in enumerate(rest)}
    self.proxychar2byte = {char: byte for byte, char in self.byte2proxychar.items()}
    self.cdp2byte = {ord(char): byte for char, byte in self.proxychar2byte.items()}
    self.byte2cdp = {byte: char for char, byte in self.cdp2byte.items()}
    self.PROXY_CDP_SET = set(self.cdp2byte)


def measured(way: Way, given: argparse.Namespace) -> Took:
    """The median of the rounds by time, behind one that does not count."""
    rounds = []
    for _ in range(given.rounds + 1):
        engine = load_engine(given.model, executor=given.executor, threads=given.threads, memory=256 << 20)
        started = time.process_time()
        took = way(engine)
        rounds.append((time.process_time() - started, took))
        engine.close()
    counted = sorted(rounds[1:], key=lambda each: each[0])
    assert len({took.text for _, took in counted}) == 1, "the rounds differ"
    seconds = statistics.median(each for each, _ in counted)
    took = counted[0][1]
    return Took(took.text, took.calls, took.tokens, took.corrections, took.written, seconds)


def line(name: str, took: Took) -> tuple[str, ...]:
    """A row of the table."""
    return (
        name,
        f"{took.calls}",
        "" if took.corrections is None else f"{took.corrections}",
        f"{took.tokens}",
        "" if took.written is None else f"{took.written} / {len(took.text) if took.right else 0}",
        "yes" if took.right else "no",
        f"{took.seconds:.2f}",
    )


def bars(found: dict[str, Took]) -> list[str]:
    """Whether repair keeps its bars."""
    streamed, best = found["repair, streamed"], found["masked, token by token"]
    kept = (
        (f"at most {CALLS} calls", f"{streamed.calls}", streamed.calls <= CALLS),
        ("no more tokens than masked generation", f"{streamed.tokens}", streamed.tokens <= best.tokens),
        (f"at most {SECONDS:.0f} s", f"{streamed.seconds:.2f}", streamed.seconds <= SECONDS),
    )
    return [f"{what}: {figure}, {'kept' if good else 'NOT KEPT'}" for what, figure, good in kept]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Ten pairs: repair beside masks, retries and plain generation."
    )
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", metavar="FOLDER", help="where transformers-CFG is")
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    about = surroundings()
    found = {}
    for name, way in WAYS.items():
        found[name] = measured(way, given)
        print(" | ".join(line(name, found[name])), flush=True)
    if given.peers:
        found["transformers-CFG, torch"] = with_peer(given.peers, given.model)
        print(" | ".join(line("transformers-CFG, torch", found["transformers-CFG, torch"])), flush=True)
    print("\n".join(bars(found)))
    if given.markdown is not None:
        rows = [
            HEAD,
            ("---", *["--:"] * (len(HEAD) - 1)),
            *(line(name, took) for name, took in found.items()),
        ]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        words = (__doc__ or "").split("\n\n", 2)[2]
        text = found["repair, streamed"].text.replace("\n", "\n    ")
        body = f"{table}\n\nStreamed: {'; '.join(bars(found))}.\n\nThe repaired text:\n\n    {text}"
        write_page(str(given.markdown), "Ten pairs by repair", words, body, about)


if __name__ == "__main__":
    main()
