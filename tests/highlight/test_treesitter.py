"""The grammar of tree-sitter reads what the parser reads, and its colours agree with it.

`parser.c` is compiled by the C compiler of the machine and asked by py-tree-sitter.
"""

from __future__ import annotations

from random import Random

import pytest

from example_budget import examples
from judges.highlighters import disagreement, meanings
from judges.treesitter_colours import COMPILER, PACKAGE, colourer, compiled, query_of
from strategies.mutated_programs import mutated, originals
from strategies.programs.coloured_programs import (
    generated_programs,
    programs_with_names_like_words,
    written_programs,
)

tree_sitter = pytest.importorskip("tree_sitter", reason="no package tree-sitter")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> object:
    return compiled(tmp_path_factory.mktemp("parser"))


@pytest.mark.slow
def test_colours(language: object) -> None:
    """Also where names are words of the language: this parser knows its state, as that of sglc does."""
    colour, known = colourer(language), meanings(lambda each, kind: each.tree_sitter)
    texts = [*written_programs(), *generated_programs(examples(150))]
    for text in [*texts, *programs_with_names_like_words(examples(100))]:
        spans = colour(text)
        assert spans is not None, text
        # To the queries blanks between tokens have no class.
        spans = [(part, name if name or not part.isspace() else "blank") for part, name in spans]
        assert disagreement(text, spans, known | {"blank": ".PSXC"}) is None


def test_queries(language: object) -> None:
    paths = sorted((PACKAGE / "queries").glob("*.scm"))
    assert len(paths) == 5
    for path in paths:
        query_of(language, path.stem)


TEXT = """\
type Word = str matching /[a-z]+/
type Point = json schema {"type": "object"}

fn f() -> Word:
    user:
        text \"\"\"
        SELECT name FROM ${table}
        \"\"\"
    assistant: | ?{word: Word}
    return word
"""


def test_embedded_languages(language: object) -> None:
    tree = tree_sitter.Parser(language).parse(TEXT.encode())
    query = query_of(language, "injections")
    found = []
    for pattern, captures in tree_sitter.QueryCursor(query).matches(tree.root_node):
        (node,) = captures["injection.content"]
        found.append((query.pattern_settings(pattern)["injection.language"], node.text.decode().strip()))
    assert sorted(found) == [
        ("json", '{"type": "object"}'),
        ("regex", "[a-z]+"),
        ("sql", "SELECT name FROM"),
    ]


def test_folds_and_names(language: object) -> None:
    tree = tree_sitter.Parser(language).parse(TEXT.encode())
    for name, wanted in (("folds", {"function", "body", "role", "fence"}), ("locals", {"function", "name"})):
        captures = tree_sitter.QueryCursor(query_of(language, name)).captures(tree.root_node)
        assert {node.type for nodes in captures.values() for node in nodes} == wanted


def test_edits(language: object) -> None:
    """A tree that follows edits is the tree of the text: what the scanner remembers is saved and restored."""
    parser = tree_sitter.Parser(language)
    texts = [each.text.encode() for each in originals()]
    dice = Random(3)
    for _ in range(examples(60)):
        text = dice.choice(texts)
        tree = parser.parse(text)
        for _ in range(4):
            start = dice.randrange(len(text) + 1)
            end = min(len(text), start + dice.choice((0, 0, 1, 5, 40)))
            new = dice.choice(
                (b"", b"\n", b"    ", b"| ", b"${x}", b"?{", b'"', b"#", b"grammar g:\n", b"x = 1")
            )
            edited = text[:start] + new + text[end:]
            ends = start + len(new)
            tree.edit(start, end, ends, _point(text, start), _point(text, end), _point(edited, ends))
            text, tree = edited, parser.parse(edited, tree)
            fresh = parser.parse(text)
            if not fresh.root_node.has_error:
                assert str(tree.root_node) == str(fresh.root_node)


def test_faulty_programs_have_trees(language: object) -> None:
    parser = tree_sitter.Parser(language)
    programs = originals()
    for number in range(examples(150)):
        text = mutated(number, programs).text.encode()
        assert parser.parse(text).root_node.end_byte <= len(text)


def _point(text: bytes, place: int) -> tuple[int, int]:
    row = text.count(b"\n", 0, place)
    return row, place - (text.rfind(b"\n", 0, place) + 1)
