"""How long the page takes to show a trace of 100,000 tokens, in Chromium.

    python -P tests/benchmarks/page_load.py [TOKENS] [ROUNDS]

Time from the call to open the page until all events are read and the first rows are painted: by the clock of
this process (with the way to the browser), and by that of the page since the navigation began. Beside it the
time that `sglc view` takes to write the file.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from judges.browser import chromium, find_chromium
from serving.page_traces import long_trace
from sglc.runtime.serve.ui.assets import Trace, whole_page

ROW = "document.querySelector('.conversation .it.token')"
PAINTED = f"document.documentElement.dataset.ready && {ROW} ? performance.now() : 0"


def main() -> None:
    """Measure and print."""
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    program = find_chromium()
    if program is None:
        raise SystemExit("no Chromium on PATH, and none in SGLC_CHROMIUM")
    text = long_trace(tokens)
    began = time.perf_counter()
    page = whole_page([Trace("long.jsonl", text)])
    seconds = time.perf_counter() - began
    print(f"{tokens} tokens, trace of {len(text) / 1e6:.1f} MB; made into a page in {seconds:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        outside, inside, holes = [], [], []
        for _ in range(rounds):
            with chromium(program) as tab:
                began = time.perf_counter()
                tab.open(path)
                inside.append(tab.until(PAINTED) / 1000)
                outside.append(time.perf_counter() - began)
                began = time.perf_counter()
                tab.evaluate("document.getElementById('tab-holes').click()")
                tab.until("document.querySelectorAll('.lane').length > 0")
                holes.append(time.perf_counter() - began)
    for name, times in (
        ("until painted, from outside", outside),
        ("of the page", inside),
        ("its holes", holes),
    ):
        print(f"{name}: median {statistics.median(times):.2f} s, worst {max(times):.2f} s of {rounds}")


if __name__ == "__main__":
    main()
