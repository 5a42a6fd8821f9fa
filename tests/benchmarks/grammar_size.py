"""Large grammars: from the text to the first mask.

    python tests/benchmarks/grammar_size.py tokenizer.json [sizes] [shapes]

Prints by shape and number of rules: seconds of processor time to read the notation, to make the language, to
compile it, for the first mask, and together; and the same for a mask a few tokens on. The vocabulary's own
cost is paid before. Bars: 0.05 s in all for 1,000 rules, 0.5 s for 10,000.
"""

from __future__ import annotations

import gc
import itertools
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from sglc.grammar.errors import GrammarError
from sglc.grammar.language import GrammarOptions, Lexing, grammar_language
from sglc.grammar.read import Written, read_grammar
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.errors import ConstraintError
from sglc.runtime.mask.vocabulary import Vocabulary

BARS = {1_000: 0.05, 10_000: 0.5}


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


SHAPES: dict[str, tuple[Callable[[int], str], Lexing, str]] = {
    "chain": (chain, "dynamic", "a0a1"),
    "wide": (wide, "dynamic", "item12 ab"),
    "keywords": (keywords, "dynamic", "bax foo = 1 + "),
    "keywords, longest": (keywords, "longest", "bax foo = 1 + "),
    "ambiguous": (ambiguous, "dynamic", "x3+(x1"),
    "left-recursive levels": (recursive, "dynamic", "(x o0 "),
}


def measure(text: str, lexing: Lexing, begin: str, vocabulary: Vocabulary) -> list[float]:
    """Seconds of processor time: read, language, compile, first mask, later mask."""
    dialect: Written = "lark"
    gc.collect()
    times = [time.process_time()]
    grammar = read_grammar(text, dialect)
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
    return [b - a for a, b in itertools.pairwise(times)]


def main() -> int:
    vocabulary = Vocabulary.from_tokenizer_json(sys.argv[1])
    sizes = [int(part) for part in sys.argv[2].split(",")] if len(sys.argv) > 2 else list(BARS)
    shapes = sys.argv[3].split(";") if len(sys.argv) > 3 else list(SHAPES)
    compile_constraint(grammar='start: "a" /[a-z]+/').matcher(vocabulary).allowed()
    print(
        f"{'shape':24}{'rules':>7}{'read':>8}{'language':>10}{'compile':>9}{'mask':>8}{'sum':>8}{'later':>8}"
    )
    for shape in shapes:
        make, lexing, begin = SHAPES[shape]
        for rules in sizes:
            text = make(rules)
            try:
                runs = [measure(text, lexing, begin, vocabulary) for _ in range(3 if rules <= 1_000 else 1)]
            except (GrammarError, ConstraintError) as fault:
                print(f"{shape:24}{rules:7}  refused: {fault}", flush=True)
                continue
            read, language, compiled, mask, later = map(statistics.median, zip(*runs, strict=True))
            total = read + language + compiled + mask
            bar = BARS.get(rules)
            note = "" if bar is None else "  ok" if total <= bar else f"  over {bar} s"
            print(
                f"{shape:24}{rules:7}{read:8.3f}{language:10.3f}{compiled:9.3f}{mask:8.3f}{total:8.3f}"
                f"{later:8.3f}{note}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
