"""The examples of docs/mask-engine.md run, and its table of masks is what the engine finds."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from checkout import DOCS
from readme_commands import blocks

PAGE = DOCS / "mask-engine.md"


def test_the_examples_run_and_the_masks_are_those_of_the_page() -> None:
    names: dict[str, Any] = {}
    for example in blocks("python", PAGE):
        exec(compile(example, PAGE.name, "exec"), names)
    matcher, vocabulary, tokens = names["matcher"], names["vocabulary"], names["TOKENS"]
    rows = re.findall(r"^\|([^|]*)\| `([01]{14})` \|([^|]*)\|([^|]*)\|$", PAGE.read_text("utf-8"), re.M)
    assert len(rows) == 6
    before = b""
    for text, bits, legal, forced in rows:
        written = (quoted(text) or [""])[0].encode()
        rest = written[len(before) :]
        if rest:
            assert matcher.accept(tokens.index(rest)), written
        before = written
        row = np.zeros(vocabulary.words, np.int32)
        matcher.fill_mask(row)
        assert f"{int(row[0]):014b}" == bits
        legal_tokens = [token.decode() for place, token in enumerate(tokens) if int(row[0]) >> place & 1]
        assert legal_tokens == quoted(legal)
        assert matcher.forced().decode() == (quoted(forced) or [""])[0]
    assert matcher.is_accepting


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)
