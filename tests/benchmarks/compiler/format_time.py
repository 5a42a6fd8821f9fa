"""How long formatting takes.

    python -P tests/benchmarks/compiler/format_time.py [--rounds 15] [--markdown docs/benchmarks/format.md]

Bar: 1,000 lines in 60 ms.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compile_time import EXAMPLES, LONG, copies, functions, whole_process

import report
from sglc.commands.shared.programs import seldom_collected
from sglc.format.edits import formatting_edits
from sglc.format.formatter import formatted
from sglc.source import Source
from sglc.syntax.parse import parse

WORDS = """
Milliseconds of processor time in one process with the parser's tables loaded, the least of some rounds.
`parse` is the parser alone, which runs twice in `format`: the result is compared with the program. `edits` is
`format` and what an editor is given. The programs are those of [compile.md](compile.md); `(… of two)` are
indented by two columns, so that nearly every line changes.
"""


@seldom_collected()
def least(action: Callable[[], object], rounds: int) -> float:
    """Milliseconds of processor time, the least of some rounds."""
    times = []
    for _ in range(rounds):
        began = process_time()
        action()
        times.append(process_time() - began)
    return min(times) * 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", help="write a page with the table here")
    arguments = parser.parse_args()
    about = report.surroundings()
    texts = {"(functions)": functions(LONG), "(copies)": copies(LONG)}
    for name in list(texts):
        texts[name.replace(")", " of two)")] = re.sub("    ", "  ", texts[name])
    rows = [
        "| program            | lines |  parse | format |  edits |",
        f"|{'-' * 20}|-------|{'-------:|' * 3}",
    ]
    for name, text in texts.items():
        times = [
            least(lambda act=act, text=text: act(Source("program.sgl", text)), arguments.rounds)
            for act in (parse, formatted, formatting_edits)
        ]
        figures = " | ".join(f"{value:>6.2f}" for value in times)
        rows.append(f"| {name:<18} | {text.count(chr(10)):>5} | {figures} |")
    for words in (["check"], ["fmt", "--check"]):
        command = [sys.executable, "-P", "-m", "sglc", *words, str(EXAMPLES[0])]
        best, middle = whole_process(
            lambda command=command: subprocess.run(command, check=True, capture_output=True),
            arguments.rounds,
        )
        shown = " ".join(words)
        rows.append(f"\n`sglc {shown}` of one example, whole process: {best:.0f} ms, median {middle:.0f}.")
    body = "\n".join(rows)
    print(body)
    if arguments.markdown:
        report.write_page(arguments.markdown, "Formatting", WORDS, body, about)


if __name__ == "__main__":
    main()
