"""Programs that are checked again after edits: what is kept of their modules is what a first check finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.bytecode.serial import dumps
from sglc.check.core.result import CheckedProgram
from sglc.check.program import MOST_KEPT, Workspace, check
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.emit.program import emit
from sglc.library import Library
from sglc.lower.program import lower
from sglc.passes import pipeline
from sglc.source import Source, Span

# -- what is compared ----------------------------------------------------------------------------------


def place(span: Span | None) -> object:
    return span and (span.source.name, span.source.text, span.start, span.end)


def shown(found: list[Diagnostic]) -> list[object]:
    """Findings with all that is told of them."""
    return [
        (
            each.code,
            each.message,
            place(each.span),
            each.label,
            each.reason,
            each.witness,
            each.hint,
            [(place(label.span), label.text) for label in each.secondary],
            [(place(edit.span), edit.text) for edit in (*each.edits, *each.offered)],
        )
        for each in found
    ]


def compiled(checked: CheckedProgram | None, found: list[Diagnostic]) -> bytes:
    """The bytes of the program; none where it has errors."""
    if checked is None or has_errors(found):
        return b""
    return dumps(emit(pipeline.run(lower(checked))))


@dataclass
class Project:
    """Files in a folder, and the workspace that checks `main.sgl` after each edit."""

    folder: Path
    workspace: Workspace = field(default_factory=Workspace)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def source(self, name: str = "main.sgl") -> Source:
        path = self.folder / name
        return Source(str(path), path.read_text(encoding="utf-8"))

    def check(self, name: str = "main.sgl") -> list[str]:
        """The codes of the findings, which are all that a first check has, as is the program."""
        again, found = self.workspace.check(self.source(name))
        first, told = check(self.source(name), Library())
        assert shown(found) == shown(told)
        assert compiled(again, found) == compiled(first, told)
        return [each.code for each in found]


# -- one edit ------------------------------------------------------------------------------------------

LOW = """\
use std.text (identifier)

pub enum Mood: calm, angry

pub record Note:
    title: str max 20 chars
    key: identifier
    mood: Mood

pub error Lost(why: str)

pub const LIMIT = 3

pure fn is_short(text: str) -> bool:
    return len(text) < 9

pub type Short = str max 30 chars where is_short(it)

pub pure fn weight(note: Note) -> int:
    return len(note.title) + LIMIT

pub part told(note: Note):
    | ${note.title}

pub fn ask(text: str) -> Note:
    user: | Read ${text}: ${schema(Note)}
    assistant: | ?{note: Note}
    return note

pub fn find(text: str) -> Note:
    let note = ask(text)
    return note
"""
MIDDLE = """\
use ./low (Note, Short, ask, weight)

pub record Pair:
    one: Note
    two: Note

pub fn both(text: str) -> Pair:
    return Pair(ask(text), ask(text))

pub pure fn heavy(pair: Pair) -> bool:
    return weight(pair.one) > weight(pair.two)

pub fn name(text: str) -> Short:
    user: | Name ${text}
    assistant: | ?{short: Short}
    return short
"""
MAIN = """\
use ./middle (both, heavy, name)
use ./low (Mood, Note, ask, told, find)

fn f(text: str) -> bool:
    let note = find(text)
    var rounds = 0
    for partly in stream ask(text):
        rounds += 1
    system:
        part told(note)
    user: | Is it so?
    assistant: | ?{so: bool}
    return so and heavy(both(text)) and name(text) == text and rounds > 1

test "a mood":
    mock ask.note = Note("a", "b", calm)
    expect ask("b").mood == Mood.calm
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    for name, text in (("low.sgl", LOW), ("middle.sgl", MIDDLE), ("main.sgl", MAIN)):
        made.write(name, text)
    assert made.check() == ["W0215"]
    assert made.workspace.checked == 4
    assert made.check() == ["W0215"]
    assert made.workspace.checked == 0
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "checked"),
    [
        ("low.sgl", "Read ${text}", "Please read ${text}", 1),  # a prompt
        ("low.sgl", "< 9", "< 11", 1),  # a body
        ("low.sgl", "pub const", "# why\npub const", 3),  # a comment stands where a declaration may
        ("low.sgl", "max 20 chars", "max 10 chars", 3),  # main reaches the type through `middle` too
        ("low.sgl", "return len(text) < 9", "raise Lost(text)", 3),  # what leaves it
        (
            "low.sgl",
            "    let note = ask(text)\n    return note",
            "    return ask(text)",
            3,
        ),  # what it returns
        ("low.sgl", "    | ${note.title}\n", "    | ${note.title}\n    | ?{x: bool}\n", 3),  # has a hole now
        ("middle.sgl", "Name ${text}", "What is ${text} called?", 1),
        ("middle.sgl", "    one: Note", "    ## The first.\n    one: Note", 2),
        ("middle.sgl", "pub record Pair", "record Single:\n    one: Note\n\npub record Pair", 2),
        ("main.sgl", "Is it so?", "Is it?", 1),
    ],
)
def test_only_what_an_edit_can_change_is_checked_again(
    project: Project, file: str, old: str, new: str, checked: int
) -> None:
    project.edit(file, old, new)
    project.check()
    assert project.workspace.checked == checked


def three(tmp_path: Path, low: str, middle: str, main: str) -> Project:
    """A project of three modules in a row, checked twice."""
    project = Project(tmp_path)
    for name, text in (("low.sgl", low), ("middle.sgl", middle), ("main.sgl", main)):
        project.write(name, text)
    project.check()
    project.check()
    return project


def test_a_type_that_a_type_leads_to_shows(tmp_path: Path) -> None:
    """The module between is the same in all but what its types are made of."""
    project = three(
        tmp_path,
        "pub record Note:\n    size: int in 0..9\n",
        "use ./low (Note)\n\npub fn note() -> Note:\n    user: | Go. ${schema(Note)}\n"
        "    assistant: | ?{it_: Note}\n    return it_\n",
        "use ./middle (note)\n\nfn f() -> int:\n    if note().size < 10:\n        return 1\n    return 2\n",
    )
    assert project.check() == ["W0240"]
    project.edit("low.sgl", "0..9", "0..19")
    assert project.check() == []


def test_the_types_of_holes_show_where_they_are_mocked(tmp_path: Path) -> None:
    asked = "    user: | Go.\n    assistant: | ?{x: int in 0..9}\n"
    project = three(
        tmp_path,
        f"pub fn low() -> bool:\n{asked}    return x > 1\n",
        f"use ./low (low)\n\npub fn middle() -> bool:\n{asked}    return low() and x > 1\n",
        'use ./middle (middle)\n\ntest "t":\n    mock middle.x = 7\n    expect middle()\n',
    )
    assert project.check() == []
    project.edit("middle.sgl", "0..9", "0..5")
    assert project.check() == ["E0302"]


def test_a_part_of_a_part_that_gets_a_hole_shows(tmp_path: Path) -> None:
    project = three(
        tmp_path,
        "pub part low():\n    | so\n",
        "use ./low (low)\n\npub part middle():\n    part low()\n",
        "use ./middle (middle)\n\nfn f():\n    user:\n        part middle()\n",
    )
    assert project.check() == []
    project.edit("low.sgl", "| so", "| so ?{x: bool}")
    assert project.check() != []


def test_a_function_that_comes_to_fail_on_purpose_shows(tmp_path: Path) -> None:
    project = three(
        tmp_path,
        "pub pure fn low(n: int) -> int:\n    return n + 1\n",
        "use ./low (low)\n\npub pure fn middle(n: int) -> int:\n    return low(n)\n",
        "use ./middle (middle)\n\npub pure fn f(n: int) -> int:\n    middle(n)\n    return n\n",
    )
    assert project.check() == ["W0202"]
    project.edit("low.sgl", "    return", '    ensure n < 9 else "large"\n    return')
    assert project.check() == []
    project.edit("low.sgl", '    ensure n < 9 else "large"\n', "")
    assert project.check() == ["W0202"]


def test_a_finding_names_the_place_that_another_module_has_now(tmp_path: Path) -> None:
    project = three(
        tmp_path,
        "pub fn ask():\n    user: | Go.\n\npure fn hidden() -> int:\n    return 1\n",
        "use ./low (hidden)\n\npub pure fn middle() -> int:\n    return hidden()\n",
        "use ./middle (middle)\n\npure fn f() -> int:\n    return middle()\n",
    )
    assert "E0206" in project.check()
    project.edit("low.sgl", "Go.", "Please go on.")
    assert "E0206" in project.check()
    assert project.workspace.checked == 2


def test_the_arguments_of_a_tool_are_there_whoever_asked_first(tmp_path: Path) -> None:
    asked = (
        "use ./low (calc)\n\npub fn {name}() -> int:\n    user: | Go.\n"
        "    assistant with tools [calc] limit 2 calls: | ?{{y: int in 0..9}}\n    return y\n"
    )
    project = three(
        tmp_path,
        "## Doubles.\npub pure fn calc(x: int in 0..9) -> int:\n    return x * 2\n",
        asked.format(name="middle"),
        "use ./middle (middle)\nuse ./other (other)\n\nfn f() -> int:\n    return middle() + other()\n",
    )
    project.write("other.sgl", asked.format(name="other"))
    assert project.check() == []
    project.edit("main.sgl", "use ./middle (middle)\n", "")
    project.edit("main.sgl", "middle() + ", "")
    assert project.check() == []


def test_files_that_modules_take_in_are_read_again(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("rules.md", "Be kind.")
    project.write("low.sgl", 'pub part rules():\n    include "rules.md"\n')
    project.write("main.sgl", "use ./low (rules)\n\nfn f():\n    system:\n        part rules()\n")
    assert project.check() == []
    project.write("rules.md", "Be very kind.")
    assert project.check() == []
    assert project.workspace.checked == 1
    (tmp_path / "rules.md").unlink()
    assert project.check() == ["E0211"]
    project.write("rules.md", "Be kind.")
    assert project.check() == []


def test_a_file_that_comes_and_goes_and_a_cycle(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("main.sgl", "use ./low (one)\n\npure fn f() -> int:\n    return one()\n")
    assert "E0213" in project.check()
    project.write("low.sgl", "pub pure fn one() -> int:\n    return 1\n")
    project.check()
    project.write("low.sgl", "use ./main (f)\n\npub pure fn one() -> int:\n    return f()\n")
    assert "E0214" in project.check()
    assert "E0214" in project.check("low.sgl")
    (tmp_path / "low.sgl").unlink()
    assert "E0213" in project.check()


def test_two_programs_share_modules_and_the_same_file_is_a_program_and_a_module(project: Project) -> None:
    project.check("middle.sgl")
    assert project.workspace.checked == 1  # under another name: it is the main module now
    project.check()
    assert project.workspace.checked == 0
    project.edit("low.sgl", "    title: str max 20", "    title: str max 25")
    project.check("middle.sgl")
    project.check()


def test_a_module_that_copies_functions_is_checked_each_time(tmp_path: Path) -> None:
    """Its copies are made of the function as it is written now."""
    project = Project(tmp_path)
    low = "pub pure fn last[T](all: [T]) -> T:\n    return all[len(all) - 1]\n"
    project.write("low.sgl", low)
    project.write("main.sgl", "use ./low (last)\n\npure fn f() -> int:\n    return last([1, 2])\n")
    project.check()
    project.write("low.sgl", low.replace("len(all) - 1", "0"))
    project.check()
    project.check()
    assert project.workspace.checked == 1


def test_what_such_a_module_shows_is_held_against_what_it_showed(tmp_path: Path) -> None:
    project = three(
        tmp_path,
        "pub pure fn last[T](all: [T]) -> T:\n    return all[len(all) - 1]\n",
        "use ./low (last)\n\npub pure fn g() -> int in 0..9:\n    return last([1, 2]) % 9\n",
        "use ./middle (g)\n\npure fn f() -> int:\n    if g() < 10:\n        return 1\n    return 2\n",
    )
    project.edit("middle.sgl", "0..9", "0..19")
    project.check()
    assert project.workspace.checked == 2
    project.edit("middle.sgl", "% 9", "% 8")
    project.check()
    assert project.workspace.checked == 1


def test_the_modules_that_are_kept_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sglc.check.program.MOST_KEPT", 2)
    assert MOST_KEPT > 2
    project = Project(tmp_path)
    for name in ("a.sgl", "b.sgl", "c.sgl"):
        project.write(name, "pure fn f() -> int:\n    return 1\n")
    for name in ("a.sgl", "b.sgl", "c.sgl", "b.sgl"):
        project.check(name)
    assert project.workspace.checked == 0
    assert len(project.workspace.kept) == 2
    project.check("a.sgl")
    assert project.workspace.checked == 1


# -- random edits --------------------------------------------------------------------------------------

VARIANTS: dict[str, list[str]] = {
    "enum": ["pub enum Mood{n}: calm, angry\n", "pub enum Mood{n}: calm, angry, sad\n", ""],
    "record": [
        "pub record Note{n}:\n    title: str max 20 chars\n    size: int\n",
        "pub record Note{n}:\n    title: str max 9 chars\n    size: int in 0..9\n",
        "pub record Note{n}:\n    title: Short{n}\n    size: int\n    more: {before}?\n",
        "record Note{n}:\n    title: str\n    size: int\n",
    ],
    "alias": [
        "pure fn fits{n}(x: str) -> bool:\n    return len(x) > 2\n\n"
        "pub type Short{n} = str max 30 chars where fits{n}(it)\n",
        "pub type Short{n} = str max 30 chars where len(it) > 2\n",
        "pub type Short{n} = str max 30 chars\n",
        "pub type Short{n} = {before}\n",
    ],
    "constant": ["pub const LIMIT{n} = 3\n", "pub const LIMIT{n} = 4\n", 'pub const LIMIT{n} = "a"\n', ""],
    "pure": [
        "pub pure fn weigh{n}(x: Note{n}) -> int:\n    return x.size + 1\n",
        "pub pure fn weigh{n}(x: Note{n}) -> int:\n    return x.size + 2 + {used}\n",
        "error Lost{n}(why: str)\n\npub pure fn weigh{n}(x: Note{n}) -> int:\n    raise Lost{n}(x.title)\n",
        "pub pure fn weigh{n}(x: Note{n}, y: int = 2) -> int:\n    return y\n",
    ],
    "ask": [
        "pub fn ask{n}(text: str) -> Note{n}:\n    user: | Read ${{text}}\n"
        "    assistant: | ?{{note: Note{n}}}\n    return note\n",
        "pub fn ask{n}(text: str) -> Note{n}:\n    user: | Please read ${{text}}\n"
        "    assistant: | ?{{found: Note{n}}}\n"
        "    ensure found.size < 5 retry resample 2\n    return found\n",
        "pub fn ask{n}(text: str) -> Note{n}:\n    let got = ask{n}(text)\n    return got\n",
    ],
    "part": [
        "pub part told{n}(x: str):\n    | so ${{x}}\n",
        "pub part told{n}(x: str):\n    | so ?{{y: bool}}\n",
        "pub part told{n}(x: str):\n    part told{m}(x)\n",
    ],
    "generic": [
        "pub pure fn same{n}[T](x: T) -> T:\n    return x\n",
        "pub pure fn same{n}[T](x: T) -> T:\n    let y = x\n    return y\n",
        "pub pure fn same{n}[T](x: T) -> [T]:\n    return [x]\n",
    ],
    "user": [
        "pub fn use{n}(x: str) -> int:\n    let a = ask{m}(x)\n    return weigh{m}(a)\n",
        "pub fn use{n}(x: str) -> int:\n    user:\n        part told{m}(x)\n    return same{m}(1)\n",
        "pub fn use{n}(x: str) -> int:\n    var k = 0\n    for p in stream ask{m}(x):\n"
        "        k += 1\n    return k\n",
        "pub fn use{n}(x: str) -> int:\n    user: | Go.\n"
        "    assistant with tools [use{m}, weigh{m}] limit 2 calls: | ?{{y: int}}\n    return y\n",
        "pub fn use{n}(x: str) -> int:\n    user: | Go.\n"
        "    assistant: | ?{{y: Short{m}}}\n    return len(y) + LIMIT{m}\n",
        "pub fn use{n}(x: str) -> int:\n    return y.note\n",
        "pub fn use{n}(x: str) -> int:\n    return (\n",
    ],
    "test": [
        'test "t":\n    mock ask{m}.note = Note{m}("a", 1)\n    expect ask{m}("b").size == 1\n',
        'test "t":\n    expect LIMIT{m} == 3\n',
        "",
    ],
}
MODULES = 4
SHARED = ("Mood", "Note", "Short", "LIMIT", "weigh", "ask", "told", "same", "use")


def module(number: int, chosen: dict[str, int]) -> str:
    """A module that uses the one before it, with a variant of each declaration."""
    m = number - 1
    before, used = (f"Note{m}", f"LIMIT{m}") if number else ("int", "1")
    imports = ", ".join(f"{name}{m}" for name in SHARED)
    text = f"use ./m{m} ({imports})\n\n" if number else ""
    for kind, variants in VARIANTS.items():
        if number or kind not in ("user", "test"):
            variant = variants[chosen.get(kind, 0) % len(variants)]
            if not number and "told{m}" in variant:
                continue
            text += variant.format(n=number, m=m, before=before, used=used) + "\n"
    return text


EDITS = st.lists(
    st.tuples(st.integers(0, MODULES - 1), st.sampled_from(sorted(VARIANTS)), st.integers(0, 6)),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@given(EDITS, st.integers(1, MODULES - 1))
@settings(max_examples=examples(10), deadline=None)
def test_after_random_edits_what_is_kept_is_what_a_first_check_finds(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, str, int]], main: int
) -> None:
    project = Project(tmp_path_factory.mktemp("edited"))
    chosen: list[dict[str, int]] = [{} for _ in range(MODULES)]
    for number in range(MODULES):
        project.write(f"m{number}.sgl", module(number, chosen[number]))
    project.check(f"m{main}.sgl")
    for number, kind, variant in edits:
        chosen[number][kind] = variant
        project.write(f"m{number}.sgl", module(number, chosen[number]))
        project.check(f"m{main}.sgl")
        project.check(f"m{main}.sgl")
