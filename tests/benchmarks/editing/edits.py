"""How long the language server works on an edit, and on a completion; what memory it takes.

    python -P tests/benchmarks/editing/edits.py [--edits 500] [--long 10000] [--markdown PAGE]

Bars, idle: edit to diagnostics 20 ms at 300 lines and 50 ms at 1,000 lines, 99th percentile of 500 edits;
completion 30 ms; memory flat after 10,000 edits.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from time import process_time

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "benchmarks"), str(ROOT / "tests" / "benchmarks" / "compiler")]

from compile_time import copies, functions  # noqa: E402

import report  # noqa: E402
from sglc.lsp.findings import Findings, Numbered  # noqa: E402
from sglc.lsp.session import MOST_CHECKS  # noqa: E402
from sglc.service.core.documents import Documents  # noqa: E402
from sglc.service.writing.completion import complete  # noqa: E402

PATH = Path("/program/edited.sgl")
EXAMPLE = ROOT / "examples" / "character.sgl"
TYPED = (
    "    let note = weight(1)",
    "    for i in 1..3:",
    "record New:",
    "    | Hello ${name} and ?{x: int in 0..9}",
    '    ensure x > 3 else "no"',
    "    return total",
    "fn ask(a: str) -> int:",
)
WORDS = """
Milliseconds of processor time of one process, by program and its lines. An edit is one key: lines are typed
letter by letter at random places, so that most states are half-typed, and letters are removed. `whole` counts
edits after which the text had to be read as a whole. Work is all that the server does between an edit and
the message with its diagnostics, sending aside; garbage is looked for every 200 edits, within these times.
"""


def edits(text: str, count: int, seed: int) -> Iterator[tuple[str, int]]:
    """So many versions of a text, each with the place of the cursor."""
    random = Random(seed)
    lines = text.split("\n")
    while True:
        typed, line = random.choice(TYPED), random.randrange(len(lines))
        place = sum(len(each) + 1 for each in lines[:line])
        for size in range(1, len(typed) + 1):
            yield text[:place] + typed[:size] + "\n" + text[place:], place + size
        place = random.randrange(len(text) - 10)
        for size in range(1, 8):
            yield text[:place] + text[place + size :], place
        count -= len(typed) + 7
        if count <= 0:
            return


class Server:
    """What the server does with an edit, without a client."""

    def __init__(self, text: str) -> None:
        self.documents = Documents()
        self.documents.open(PATH, text)
        self.lines = Numbered("utf-16")
        self.checks = 0
        self.edit(text)

    def edit(self, text: str) -> int:
        """Check a text and show its findings; how many there are."""
        self.documents.change(PATH, text)
        snapshot = self.documents.snapshot(PATH)
        assert snapshot is not None
        shown = Findings(snapshot, self.lines, Path.as_uri).shown(snapshot.findings)
        self.checks += 1
        if self.checks % MOST_CHECKS == 0:
            gc.collect()
        return len(shown)

    def complete(self, offset: int) -> int:
        """Complete at a place; how many items there are."""
        snapshot = self.documents.snapshot(PATH)
        assert snapshot is not None
        return len(complete(snapshot, offset).items)


def percentile(found: list[float], share: float) -> float:
    """In milliseconds."""
    return sorted(found)[min(len(found) - 1, int(len(found) * share))] * 1000


def memory() -> float:
    """Resident memory of this process in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def latency(name: str, text: str, count: int) -> list[str]:
    """One row: the work on edits, and on completions behind each tenth of them."""
    server = Server(text)
    for warm, _ in list(edits(text, 60, 99)):
        server.edit(warm)
    gc.collect()
    took, completed, whole = [], [], 0
    for number, (edited, cursor) in enumerate(list(edits(text, count, 1))[:count]):
        begun = process_time()
        server.edit(edited)
        took.append(process_time() - begun)
        document = server.documents.get(PATH)
        whole += document is not None and document.reader.read < 0
        if number % 10 == 0:
            begun = process_time()
            server.complete(cursor)
            completed.append(process_time() - begun)
    figures = [
        median(took) * 1000,
        percentile(took, 0.99),
        median(completed) * 1000,
        percentile(completed, 0.99),
    ]
    return [name, str(text.count("\n")), *(f"{each:.1f}" for each in figures), str(whole)]


def long_run(text: str, count: int) -> list[list[str]]:
    """Memory at each fifth of a long run of edits."""
    server, rows, done = Server(text), [], 0
    rows.append(["0", f"{memory():.0f}"])
    for edited, _ in edits(text, count, 2):
        server.edit(edited)
        done += 1
        if done % max(1, count // 5) == 0:
            gc.collect()
            rows.append([f"{done:,}", f"{memory():.0f}"])
        if done >= count:
            break
    return rows


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of a page."""
    lines = [head, ["---", *("--:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure, and print or write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--long", type=int, default=10_000)
    parser.add_argument("--markdown")
    options = parser.parse_args()
    about = report.surroundings()
    gc.disable()
    rows = [
        latency(f"({make.__name__})", make(lines), options.edits)
        for lines in (300, 1000)
        for make in (functions, copies)
    ]
    body = table(["program", "lines", "edit p50", "p99", "completion p50", "p99", "whole"], rows)
    body += "\n\nMemory of the process after so many edits of `examples/character.sgl`:\n\n"
    body += table(["edits", "MiB"], long_run(EXAMPLE.read_text("utf-8"), options.long))
    print(body)
    if options.markdown:
        report.write_page(options.markdown, "Editing", WORDS, body, about)


if __name__ == "__main__":
    main()
