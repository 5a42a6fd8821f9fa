"""Names: every one is found, definitions, references and renaming over files, holes and mocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkout import ROOT
from editing.marked import MARK, marked
from sglc.diagnostics.edits import edited
from sglc.service.core.documents import Documents
from sglc.service.names.occurrences import occurrences_of
from sglc.service.names.places import definition, name_at, references
from sglc.service.names.rename import CannotRename, renamed
from sglc.syntax.parse import tokens

BUILT_IN = frozenset(
    "int str bool decimal float json null it chars yaml csv xml lines resample repair think".split()
    + "Failure Unknown Truncated Rejected Partial alive dead final value top minutes".split()
)
"""Names of the examples that no program declares."""


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.sgl")), ids=lambda path: path.stem)
def test_every_name_of_an_example_stands_for_something(path: Path) -> None:
    snapshot = Documents().snapshot(path)
    assert snapshot is not None
    known = {each.span.start for each in occurrences_of(snapshot).all}
    names = [(text, span) for kind, text, span in tokens(snapshot.source) if kind == "NAME"]
    lost = [str(span) for text, span in names if span.start not in known and text not in BUILT_IN]
    if path.stem in ("orders", "query", "agent", "agreement"):
        assert (
            len(lost) < len(names) // 2
        )  # what SQL and grammars declare, and holes of branches, have no place in a program
    else:
        assert lost == []


CASES = {
    "variable": "pure fn f() -> int:\n    let «a» = 1\n    return ‸a\n",
    "parameter": "pure fn f(«a»: int) -> int:\n    return ‸a\n",
    "named argument": "pure fn f(«a»: int) -> int:\n    return a\nconst C = f(‸a = 1)\n",
    "hole": "fn f() -> int:\n    user: | Hi\n    assistant: | ?{«n»: int}\n    return ‸n\n",
    "hole of a mock": (
        "fn f() -> int:\n    user: | Hi\n    assistant: | ?{«n»: int}\n    return n\n"
        'test "t":\n    mock f.‸n = 1\n    expect f() == 1\n'
    ),
    "function": "pure fn «f»() -> int:\n    return 1\npure fn g() -> int:\n    return ‸f()\n",
    "record": "record «R»:\n    a: int\npure fn f(r: ‸R) -> int:\n    return r.a\n",
    "field": "record R:\n    «a»: int\npure fn f(r: R) -> int:\n    return r.‸a\n",
    "member": "enum M: «a», b\npure fn f(m: M) -> bool:\n    return m == ‸a\n",
    "qualified member": "enum M: «a», b\npure fn f() -> M:\n    return M.‸a\n",
    "variant": (
        "union U:\n    «A»:\n        x: int\n    B\npure fn f(u: U) -> int:\n    match u:\n"
        "        case ‸A(x = y):\n            return y\n        case B:\n            return 0\n"
    ),
    "field of a pattern": (
        "union U:\n    A:\n        «x»: int\n    B\npure fn f(u: U) -> int:\n    match u:\n"
        "        case A(‸x = y):\n            return y\n        case B:\n            return 0\n"
    ),
    "error": 'error «E»(why: str)\npure fn f() -> int:\n    raise ‸E("x")\n',
    "rule": 'grammar G:\n    a: ‸b\n    «b»: "x"\n',
    "constant": "const «C» = 1\npure fn f() -> int:\n    return ‸C\n",
    "type parameter": "pure fn f[«T»](x: ‸T) -> T:\n    return x\n",
    "lambda": "pure fn f(xs: [int]) -> [int]:\n    return xs.map(«x» => ‸x * 2)\n",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_a_name_leads_to_its_declaration(text: str) -> None:
    snapshot, offset = marked(text.replace("«", "").replace("»", ""))
    found = definition(snapshot, offset)
    assert found is not None and found.start == text.replace(MARK, "").index("«")


def test_references_are_found_in_other_files(tmp_path: Path) -> None:
    (tmp_path / "sgl.toml").write_text("")
    (tmp_path / "b.sgl").write_text("pub pure fn shared() -> int:\n    return 1\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.sgl").write_text('use b (shared)\n\ntest "t":\n    expect shared() == 1\n')
    documents = Documents()
    text = "use ./b (shared as s)\n\npub pure fn f() -> int:\n    return s()\n"
    documents.open(tmp_path / "a.sgl", text)
    snapshot = documents.snapshot(tmp_path / "a.sgl")
    assert snapshot is not None
    name = name_at(snapshot, text.index("shared"))
    assert name is not None
    found = {
        (program.path.name, each.span.start) for program, each in references(documents, snapshot, name.target)
    }
    assert {path for path, _ in found} == {"a.sgl", "b.sgl", "c.sgl"} and len(found) == 4


def test_renaming_goes_through_holes_and_mocks(tmp_path: Path) -> None:
    text = (
        "fn ask() -> int:\n    user: | Hi\n    assistant: | ?{size: int in 0..9}\n    return size\n\n"
        'test "t":\n    mock ask.size = 3\n    expect ask() == 3\n'
    )
    documents = Documents()
    documents.open(tmp_path / "a.sgl", text)
    snapshot = documents.snapshot(tmp_path / "a.sgl")
    assert snapshot is not None
    ((path, edits),) = renamed(documents, snapshot, text.index("size"), "count").items()
    assert path.name == "a.sgl" and edited(text, edits) == text.replace("size", "count")


def test_renaming_reaches_the_files_that_use_a_name(tmp_path: Path) -> None:
    (tmp_path / "b.sgl").write_text("pub pure fn shared() -> int:\n    return 1\n")
    text = "use ./b (shared)\n\npub pure fn f() -> int:\n    return shared()\n"
    documents = Documents()
    documents.open(tmp_path / "a.sgl", text)
    snapshot = documents.snapshot(tmp_path / "a.sgl")
    assert snapshot is not None
    changed = renamed(documents, snapshot, text.index("shared()"), "common")
    assert {path.name: len(edits) for path, edits in changed.items()} == {"a.sgl": 2, "b.sgl": 1}


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("pure fn f(‸a: int, b: int) -> int:\n    return a + b\n", "b", "twice|already"),
        ("pure fn f(‸a: int) -> int:\n    return a\n", "if", "cannot be a name"),
        ("pure fn f(‸a: int) -> int:\n    return a\n", "a b", "cannot be a name"),
        ("pure fn f(a: [int]) -> int:\n    return ‸len(a)\n", "size", "not declared"),
        ("pure fn f(a: [int]) -> int:\n    ‸return len(a)\n", "size", "no name"),
    ],
)
def test_what_cannot_be_renamed_says_why(text: str, name: str, why: str) -> None:
    snapshot, offset = marked(text)
    documents = Documents()
    documents.open(snapshot.path, snapshot.text)
    with pytest.raises(CannotRename, match=why):
        renamed(documents, snapshot, offset, name)
