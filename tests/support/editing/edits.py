"""Random sequences of edits of one text, as people make them: typing, removing, pasting, undoing."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from editing.half_typed import ODD, SNIPPETS


def edited_texts(random: Random, text: str, count: int) -> Iterator[str]:
    """So many versions of a text, each an edit after the one before."""
    past = [text]
    while count > 0:
        place = random.randrange(len(text) + 1)
        kind = random.randrange(8)
        if kind <= 2:
            snippet = random.choice(SNIPPETS)
            start = text.rfind("\n", 0, place) + 1
            for size in range(1, len(snippet) + 1, random.randrange(1, 5)):
                count -= 1
                yield text[:start] + snippet[:size] + "\n" + text[start:]
            text = text[:start] + snippet + "\n" + text[start:]
        elif kind == 3:
            text = text[:place] + text[place + random.randrange(1, 30) :]
        elif kind == 4:
            text = text[:place] + random.choice(ODD) + text[place:]
        elif kind == 5:
            start = random.randrange(len(text) + 1)
            text = text[:place] + text[start : start + random.randrange(1, 120)] + text[place:]
        elif kind == 6:
            text = text[:place] + random.choice(("\n", "\n\n", "    ", "# note\n", "## doc\n")) + text[place:]
        else:
            text = random.choice(past[-5:])
        count -= 1
        past = [*past[-20:], text]
        yield text
