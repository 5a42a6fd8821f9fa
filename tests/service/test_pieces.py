"""Reading in pieces is reading the whole: the same tree at the same places, and the same findings.

`SGLC_TEST_EXAMPLES=5000` tries five thousand sequences of edits.
"""

from __future__ import annotations

from random import Random

import pytest

from editing.edits import edited_texts
from editing.half_typed import programs
from example_budget import examples
from sglc.check.program import Workspace
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.library import Library
from sglc.source import Source, Span
from sglc.syntax.parse import parse
from sglc.syntax.pieces import PieceReader

EDITS = 12
"""Of each sequence."""


def outline(node: object) -> object:
    """A tree with its places, without the identity of its source."""
    if isinstance(node, Span):
        return (node.start, node.end)
    if isinstance(node, tuple | list):
        return [outline(each) for each in node]
    if isinstance(node, Diagnostic):
        return [
            *(node.code, node.message, outline(node.span), node.label, node.reason, node.hint, node.severity),
            *([outline(label.span), label.text] for label in node.secondary),
            *([outline(edit.span), edit.text] for edit in (*node.edits, *node.offered)),
        ]
    names = getattr(type(node), "__slots__", None)
    if names and not isinstance(node, Source):
        return [type(node).__name__, *(outline(getattr(node, name)) for name in names)]
    return None if isinstance(node, Source) else node


def assert_same(text: str, reader: PieceReader) -> None:
    source = Source("a.sgl", text)
    tree, found = reader(source)
    whole, expected = parse(Source("a.sgl", text))
    assert outline(list(found)) == outline(expected), text
    assert tree.doc == whole.doc and outline(tree.declarations) == outline(whole.declarations), text
    for node in tree.declarations:
        assert node.span.source is source


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_reading_in_pieces_is_reading_the_whole(part: int) -> None:
    texts = programs()
    for number in range(examples(48) // 4):
        random = Random(number * 4 + part)
        reader = PieceReader()
        for text in edited_texts(random, random.choice(texts), EDITS):
            assert_same(text, reader)


def test_only_what_has_changed_is_read() -> None:
    text = "\n\n".join(f"pure fn f{n}(a: int) -> int:\n    return a + {n}" for n in range(20)) + "\n"
    reader = PieceReader()
    reader(Source("a.sgl", text))
    assert reader.read == 20
    reader(Source("a.sgl", text.replace("a + 7", "a + 77")))
    assert reader.read == 1
    reader(Source("a.sgl", text.replace("a + 7\n", "a +\n")))
    assert reader.read == 1


@pytest.mark.parametrize(
    "line", ["fn ask(a: str) -> in", "record New:", "    let n = f3(", "junk", "  b", "("]
)
@pytest.mark.parametrize("place", [0, 3, 13, -1], ids=str)
def test_lines_that_meet_other_declarations(line: str, place: int) -> None:
    body = "fn f{0}(a: int) -> int:\n    if a > {0}:\n        return a\n    return 1"
    declared = [("pure " if number % 3 else "") + body.format(number) for number in range(9)]
    lines = ["# Of the file.", "", *"\n\n".join(declared).split("\n"), ""]
    lines.insert(place, line)
    reader = PieceReader()
    for text in ("\n".join(lines), "\n".join([*lines[:-12], "      c", *lines[-12:]])):
        assert_same(text, reader)
        assert reader.read >= 0, "the whole was read"


def test_faults_of_indentation_in_a_row_are_told_once() -> None:
    body = "fn f{n}(a: int) -> int:\n    if a > 1:\n        return a\n{blanks}return 1\n\n"
    for columns in ((2, 2), (2, 6), (6, 6, 6), (2, 6, 2)):
        text = "".join(body.format(n=n, blanks=" " * column) for n, column in enumerate(columns))
        assert_same(text, PieceReader())


def test_many_open_brackets_are_read_at_once() -> None:
    text = "pure fn f(\n" * 300
    reader = PieceReader()
    assert_same(text, reader)
    assert reader.read < 0


@pytest.mark.slow
def test_checks_of_pieces_find_what_whole_checks_find() -> None:
    texts = programs()
    for number in range(max(2, examples(8) // 4)):
        random = Random(number)
        reader, workspace = PieceReader(), Workspace()
        for text in edited_texts(random, random.choice(texts), EDITS):
            source = Source("a.sgl", text)
            _, found = workspace.check(source, workspace.library(), reader)
            _, expected = Workspace(keeps=False).check(Source("a.sgl", text), Library())
            assert outline(list(found)) == outline(expected), text
