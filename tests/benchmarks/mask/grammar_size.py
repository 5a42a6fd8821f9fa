"""Large grammars: from the text to the first mask.

    python tests/benchmarks/mask/grammar_size.py tokenizer.json [--sizes 1000,10000] [--shapes NAME;…]
        [--markdown PAGE]

What the columns are is said in `WORDS`.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import report
from sglc.cfg.language import GrammarOptions, Lexing, grammar_language
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.reader import read_grammar
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

BARS = {1_000: 50, 10_000: 500}
"""Milliseconds that the first mask may take, by rules."""
WORDS = f"""
Milliseconds of processor time, medians of 3 runs (one beyond 1,000 rules), a vocabulary of 128,000 tokens,
whose own cost is paid before. From the text of a grammar to the first mask: `read` the notation, make the
`language` (names, left recursion, what terminals bar), `compile` it as far as the first place needs, fill
the `first mask`; `together` is their sum, to be held against {BARS[1_000]} ms for 1,000 rules and
{BARS[10_000]} ms for 10,000. `later mask`: at a place a few tokens on, with what has to be compiled for it.
`again`: the first mask of a new matcher of the compiled constraint.
"""


def chain(rules: int) -> str:
    """Each rule uses the next one."""
    lines = ["start: r0"]
    lines += [f'r{i}: "a{i % 7}" r{i + 1} "z"? | "c"' for i in range(rules - 2)]
    return "\n".join([*lines, f'r{rules - 2}: "a"']) + "\n"


def wide(rules: int) -> str:
    """One choice of all the others, which begin alike."""
    arms = " | ".join(f"r{i}" for i in range(rules - 1))
    lines = [f'r{i}: "item{i % 997}" " " /[a-z]+/ "{i}"' for i in range(rules - 1)]
    return f"start: ({arms})*\n" + "\n".join(lines) + "\n"


def keywords(rules: int) -> str:
    """A language of statements with keywords of their own, names, numbers and expressions; blanks ignored."""
    lines = [
        "start: statement*",
        "statement: " + " | ".join(f"s{i}" for i in range(rules - 6)),
        'expr: expr "+" term | term',
        'term: term "*" factor | factor',
        'factor: NAME | NUMBER | "(" expr ")" | NAME "(" args ")"',
        'args: (expr ("," expr)*)?',
    ]
    for i in range(rules - 6):
        word = "".join(chr(97 + int(digit)) for digit in str(i)) + "x"
        lines.append(f's{i}: "{word}" NAME ("=" expr)? ("with" "{word}" expr)? ";"')
    lines += ["NAME: /[a-zA-Z_][a-zA-Z0-9_]*/", r"NUMBER: /[0-9]+(\.[0-9]+)?/", r"%ignore /[ \t\n]+/"]
    return "\n".join(lines) + "\n"


def ambiguous(rules: int) -> str:
    """Binary operators without precedence over operands that share beginnings; recursive on both sides."""
    operators = " | ".join(f'e "{op}" e' for op in ("+", "-", "*", "/", "and", "or"))
    arms = " | ".join(f"a{i}" for i in range(rules - 2))
    lines = [f'a{i}: "x" a{(i * 7 + 1) % (rules - 2)} | "x{i % 10}" | "(" e ")"' for i in range(rules - 2)]
    return f"start: e\ne: {operators} | {arms}\n" + "\n".join(lines) + "\n"


def recursive(rules: int) -> str:
    """Levels of operators, each left-recursive, and a way back to the top."""
    lines = ["start: l0"]
    for i in range(rules - 2):
        lines.append(f'l{i}: l{i} "o{i}" l{i + 1} | l{i + 1}')
    return "\n".join([*lines, f'l{rules - 2}: "x" | "(" l0 ")"']) + "\n"


def units(rules: int) -> str:
    """A chain of rules that are only another one, and a few ways out of it."""
    lines = ["start: u0"]
    lines += [f"u{i}: u{i + 1}" + (f' | "k{i}" u0' if i % 100 == 0 else "") for i in range(rules - 2)]
    return "\n".join([*lines, f'u{rules - 2}: "x" | "y"']) + "\n"


def nullable(rules: int) -> str:
    """One sequence of rules all of which may be empty."""
    lines = ["start: " + " ".join(f"n{i}" for i in range(rules - 1))]
    lines += [f'n{i}: ("o{i}" "=" /[0-9]+/)?' for i in range(rules - 1)]
    return "\n".join(lines) + "\n"


def nested(rules: int) -> str:
    """Brackets of as many kinds, each around the next kind or any."""
    lines = ["start: b0"]
    lines += [f'b{i}: "(" b{i + 1} ")" | "[" b{i * 7 % rules // 2} "]" | "x{i}"' for i in range(rules - 2)]
    return "\n".join([*lines, f'b{rules - 2}: "x"']) + "\n"


Shape = tuple[Callable[[int], str], Lexing, str]
SHAPES: dict[str, Shape] = {
    "chain": (chain, "dynamic", "a0a1"),
    "unit rules": (units, "dynamic", "k0"),
    "nested brackets": (nested, "dynamic", "([x0"),
    "nullable": (nullable, "dynamic", "o1=2"),
    "wide choice": (wide, "dynamic", "item12 ab"),
    "keywords": (keywords, "dynamic", "bax foo = 1 + "),
    "keywords, longest": (keywords, "longest", "bax foo = 1 + "),
    "ambiguous": (ambiguous, "dynamic", "x3+(x1"),
    "left-recursive levels": (recursive, "dynamic", "(x o0 "),
}


COLUMNS = ("read", "language", "compile", "first mask", "together", "later mask", "again")


def measure(text: str, lexing: Lexing, begin: str, vocabulary: Vocabulary) -> list[float]:
    """Milliseconds by `COLUMNS`."""
    gc.collect()
    times = [time.process_time()]
    grammar = read_grammar(text, "lark")
    times.append(time.process_time())
    language = grammar_language(grammar, GrammarOptions(lexing=lexing))
    times.append(time.process_time())
    constraint = compile_constraint(language=language)
    times.append(time.process_time())
    row = np.zeros(vocabulary.words, np.int32)
    matcher = constraint.matcher(vocabulary)
    matcher.fill_mask(row)
    times.append(time.process_time())
    for size in range(len(begin.encode()), 0, -1):
        twin = matcher.clone()
        if twin.accept_bytes(begin.encode()[:size]):
            twin.fill_mask(row)
            break
    times.append(time.process_time())
    constraint.matcher(vocabulary).fill_mask(row)
    times.append(time.process_time())
    found = [1000 * (b - a) for a, b in itertools.pairwise(times)]
    return [*found[:4], sum(found[:4]), *found[4:]]


def rows(vocabulary: Vocabulary, sizes: list[int], shapes: list[str]) -> Iterator[tuple[str, int, list[str]]]:
    """Shape, rules, and the cells of each line of the table."""
    for shape in shapes:
        make, lexing, begin = SHAPES[shape]
        for rules in sizes:
            text = make(rules)
            try:
                runs = [measure(text, lexing, begin, vocabulary) for _ in range(3 if rules <= 1_000 else 1)]
            except (GrammarError, ConstraintError) as fault:
                yield shape, rules, [f"refused: {fault}"]
                continue
            yield shape, rules, [f"{statistics.median(some):.1f}" for some in zip(*runs, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("tokenizer")
    parser.add_argument("--sizes", default=",".join(map(str, BARS)))
    parser.add_argument("--shapes", default=";".join(SHAPES))
    parser.add_argument("--markdown")
    options = parser.parse_args()
    about = report.surroundings()
    vocabulary = Vocabulary.from_tokenizer_json(options.tokenizer)
    compile_constraint(grammar='start: "a" /[a-z]+/').matcher(vocabulary).allowed()
    lines = [f"| shape | rules | {' | '.join(COLUMNS)} |", "|---|" + "---:|" * (1 + len(COLUMNS))]
    print("\n".join(lines))
    sizes = [int(part) for part in options.sizes.split(",")]
    for shape, rules, cells in rows(vocabulary, sizes, options.shapes.split(";")):
        lines.append(f"| {shape} | {rules:,} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if options.markdown:
        report.write_page(options.markdown, "Large grammars", WORDS, "\n".join(lines), about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
