"""Trees of texts: beams and walks that begin alike are drawn as branches of one tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from sglc.viewer.model import Beam, Fill, Walk

MOST_TEXTS = 200
"""Most texts of a tree. A screen shows some fifty lines; more are no picture."""


class Row(NamedTuple):
    """One line of a tree: how deep it stands, its text behind that of its parent, and what is said of it."""

    level: int
    text: str
    note: str = ""
    kept: bool = True
    """Whether the text was kept to the end."""


@dataclass(slots=True, eq=False)
class _Node:
    text: str
    notes: list[str] = field(default_factory=list)
    kept: bool = False
    children: dict[str, _Node] = field(default_factory=dict)


def tree(texts: Iterable[tuple[str, str, bool]]) -> list[Row]:
    """The rows of a tree, from texts with what is said of each and whether it was kept to the end."""
    root = _Node("")
    for text, note, kept in texts:
        _insert(root, text, note, kept)
    return list(_rows(root))


def _insert(node: _Node, text: str, note: str, kept: bool) -> None:
    while True:
        node.kept |= kept
        if not text:
            node.notes.append(note)
            return
        child = node.children.get(text[0])
        if child is None:
            node.children[text[0]] = _Node(text, [note], kept)
            return
        same = _common(child.text, text)
        if same < len(child.text):
            upper = _Node(child.text[:same], kept=child.kept)
            child.text = child.text[same:]
            upper.children[child.text[0]] = child
            node.children[text[0]] = child = upper
        node, text = child, text[same:]


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _rows(root: _Node) -> Iterator[Row]:
    waiting = [(0, root)]
    while waiting:
        level, node = waiting.pop()
        if node.text or node.notes:
            yield Row(level, node.text, ", ".join(note for note in node.notes if note), node.kept)
            level += 1
        waiting += [(level, child) for child in reversed(node.children.values())]


def walk_tree(walks: list[Walk]) -> list[Row]:
    """The walks of a hole, by what they begin with."""
    return tree((walk.text, _walk_note(walk), walk.outcome not in _LOST) for walk in walks[:MOST_TEXTS])


_LOST = frozenset({"illegal", "left"})
"""Outcomes of walks that came to nothing."""


def _walk_note(walk: Walk) -> str:
    number = "" if walk.number is None else f"walk {walk.number}"
    weight = "" if walk.weight is None else f"weight {walk.weight:.4g}"
    return " ".join(part for part in (number, weight, walk.outcome) if part)


def beam_tree(beams: list[Beam]) -> list[Row]:
    """The beams of a hole: those of the last step, and where others were dropped."""
    return tree(list(_beam_ends(beams))[-MOST_TEXTS:])


def _beam_ends(beams: list[Beam]) -> Iterator[tuple[str, str, bool]]:
    """Texts that no text of the next step goes on with."""
    for at, beam in enumerate(beams):
        after = beams[at + 1].texts[:MOST_TEXTS] if at + 1 < len(beams) else None
        for index, text in enumerate(beam.texts[:MOST_TEXTS]):
            if after is not None and any(other.startswith(text) for other in after):
                continue
            score = beam.scores[index] if index < len(beam.scores) else None
            note = "" if score is None else f"score {score:.4g}"
            if after is not None:
                note = f"{note} dropped after step {at if beam.step is None else beam.step}".strip()
            yield text, note, after is None


def trees(fill: Fill) -> list[tuple[str, list[Row], int]]:
    """The trees of a hole: a title, its rows, and how many texts were left out."""
    found = []
    if fill.walks:
        found.append(("walks", walk_tree(fill.walks), max(0, len(fill.walks) - MOST_TEXTS)))
    if fill.beams:
        ends = sum(1 for _ in _beam_ends(fill.beams))
        found.append(("beams", beam_tree(fill.beams), max(0, ends - MOST_TEXTS)))
    return found
