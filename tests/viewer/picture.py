"""Draws `docs/pictures/crew.png`, the picture of `docs/show.md`, from the trace beside it.

    $ .venv/bin/python -P tests/viewer/picture.py

It takes Chromium (see `tests/support/judges/browser.py`).
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from judges.browser import chromium, find_chromium  # noqa: E402
from sglc.viewer.building import build  # noqa: E402
from sglc.viewer.page import page  # noqa: E402
from sglc.viewer.reading import Reading  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 960, 560


def main() -> None:
    """Write the page, point at the token that the mask fought most, and keep what is seen."""
    program = find_chromium()
    if program is None:
        sys.exit("no Chromium on PATH, and none in SGLC_CHROMIUM")
    with (FOLDER / "crew.jsonl").open("rb") as file:
        run = build(Reading().events(file))
    fought = max(
        (token for fill in run.fills for token in fill.tokens), key=lambda each: each.pressure or 0.0
    )
    path = ROOT / "build" / "crew.html"
    path.parent.mkdir(exist_ok=True)
    path.write_text(page(run), encoding="utf-8")
    with chromium(program) as tab:
        tab.open(path, width=WIDTH, height=HEIGHT)
        tab.point(f"#t{fought.number}")
        tab.picture(FOLDER / "crew.png")


if __name__ == "__main__":
    main()
