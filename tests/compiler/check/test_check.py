"""The checker: programs with what must be said beside the line, every code's examples, rendered messages.

Expectations are comments: `# error: [E0201] "part of the message"` at the end of a line or, since a pipe line
has no comments, on a line of its own above it; `# warning:` likewise, and `# reveals: T` for the type of the
value that a line binds. What is expected and not said fails, and so does what is said and not expected.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden_case import GOLDEN, golden_cases, render_all
from sglc.check.program import check
from sglc.check.types.kinds import show
from sglc.diagnostics.catalogue import check as codes_check
from sglc.diagnostics.diagnostic import has_errors
from sglc.library import Library
from sglc.source import Source
from sglc.syntax.tree import ast

FILES = sorted((GOLDEN / "check").glob("*.sgl"))
CASES = golden_cases("diagnostics/check")
EXPECTED = re.compile(r"#\s*(error|warning|note): \[([EW]\d{4})\] \"(.*)\"\s*$")
REVEALED = re.compile(r"#\s*reveals: (.*?)\s*$")


class MemoryLibrary(Library):
    """Modules given as texts, by the path they are used under."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__()
        self.modules = {path: Source(path + ".sgl", text) for path, text in texts.items()}

    def find(self, path: str, importer: Source) -> Source | None:
        return self.modules.get(path) or super().find(path, importer)

    def module_name(self, source: Source) -> str:
        return source.name.removesuffix(".sgl").removeprefix("./")


def findings(text: str, library: Library | None = None):
    """The checked program and the diagnostics of a text."""
    return check(Source("program.sgl", text), library or Library())


def expectations(text: str) -> tuple[dict[tuple[int, str], str], dict[int, str]]:
    """Expected findings by line and code, and revealed types by line."""
    said: dict[tuple[int, str], str] = {}
    types: dict[int, str] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        target = number
        if line.strip().startswith("#"):
            target = next(
                n for n in range(number + 1, len(lines) + 1) if not lines[n - 1].strip().startswith("#")
            )
        found = EXPECTED.search(line)
        if found:
            said[target, found[2]] = found[3]
        shown = REVEALED.search(line)
        if shown:
            types[target] = shown[1]
    return said, types


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_programs_are_told_what_is_written_beside_them(path: Path):
    text = path.read_text(encoding="utf-8")
    source = Source(path.name, text)
    program, diagnostics = check(source, Library())
    said, types = expectations(text)
    problems = []
    for d in diagnostics:
        assert d.span is not None
        line = source.position(d.span.start)[0]
        part = said.pop((line, d.code), None)
        if part is None:
            problems.append(f"line {line}: not expected: [{d.code}] {d.message}")
        elif part not in d.message:
            problems.append(f"line {line}: {part!r} is not in {d.message!r}")
    problems += [
        f"line {line}: expected and not said: [{code}] {part}" for (line, code), part in said.items()
    ]
    assert program is not None
    revealed = {}
    for declaration in program.main.module.declarations:
        for statement in _lets(getattr(declaration, "body", ())):
            line = source.position(statement.span.start)[0]
            if id(statement.value) in program.main.types:  # not of a function with type parameters
                revealed[line] = show(program.main.types[id(statement.value)])
    problems += [
        f"line {line}: {wanted} expected, it is {revealed.get(line)}"
        for line, wanted in types.items()
        if revealed.get(line) != wanted
    ]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def _lets(body):
    for statement in body:
        if isinstance(statement, ast.Let):
            yield statement
        for name in ("body", "otherwise"):
            yield from _lets(getattr(statement, name, ()))


@pytest.mark.slow
@pytest.mark.parametrize("entry", codes_check.ENTRIES, ids=lambda entry: entry.code)
def test_examples_of_a_code_show_exactly_that_code(entry):
    if entry.bad:
        assert [d.code for d in findings(entry.bad)[1]] == [entry.code]
        assert findings(entry.good)[1] == []
    else:
        # E0214 lies between files; programs with E0341 have hundreds of cases (test_check_growth has one).
        assert entry.code in ("E0214", "E0341")


SETS = {
    "modules that use each other": (
        "use ./left (a)\n\npub const b = a\n",
        {"./left": "use ./right (c)\n\npub const a = c\n", "./right": "use ./left (a)\n\npub const c = a\n"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_messages_are_drawn(case, golden):
    text, modules = SETS.get(case.input, (case.input + "\n", {}))
    golden(case, render_all(findings(text, MemoryLibrary(modules))[1]))


def test_every_code_is_drawn_somewhere():
    drawn = {code for case in CASES for code in re.findall(r"\[([EW]\d{4})\]:", case.expected or "")}
    assert drawn >= {entry.code for entry in codes_check.ENTRIES}


def test_codes_used_by_the_checker_are_those_of_the_catalogue():
    room = Path(check.__code__.co_filename).parent
    used = {code for path in room.rglob("*.py") for code in re.findall(r'"([EW]0\d{3})"', path.read_text())}
    assert used == {entry.code for entry in codes_check.ENTRIES}


def test_one_fault_gives_one_finding():
    text = """\
record Thing:
    size: Sise

pub fn thing(wish: str) -> Thing:
    | ${wish} ?{made: Thing}
    let bigger = made.size + made.sise * 2
    return Thing(bigger + unknown)
"""
    codes = [d.code for d in findings(text)[1]]
    assert codes == ["E0202", "E0209", "E0201"]


@pytest.mark.slow
def test_a_type_that_asks_for_too_much_changes_nothing_behind_it():
    """The next function is no hole, and its own types are limited as every type is."""
    patterns = " ".join(f"matching /.*{letter}.*/" for letter in "abcdefghijklmnopqr")
    costly = f'("q" | (str {patterns})) max 60 chars'
    text = (
        f"pub fn f() -> str:\n    user: | Go.\n    assistant: | ?{{x: {costly}}}\n    return x\n"
        'pub pure fn g(xs: [str]) -> str:\n    let y: one of xs = "a"\n'
        f'    let z: {costly} = "a"\n    return y + z\n'
    )
    assert [d.code for d in findings(text)[1]] == ["E0344", "E0344"]


@pytest.mark.slow
def test_arms_that_take_too_much_work_to_tell_apart_are_refused():
    """Two patterns of a thousand ranges: whether they share a text took a quarter of a minute."""
    ranges = "".join(f"\\u{i:04x}-\\u{i + 1:04x}" for i in range(0x100, 0x1100, 4))
    arms = " | ".join(f"(str matching /[{ranges}a]{{0,{300 + i}}}{'bc'[i]}/)" for i in range(2))
    text = f"pub fn f() -> str:\n    user: | Go.\n    assistant: | ?{{x: {arms}}}\n    return x\n"
    assert [d.code for d in findings(text)[1]] == ["E0344"]


def test_what_follows_from_an_unreadable_line_is_not_said():
    text = "pub pure fn f(n: int) -> str:\n    let s = = str(n)\n    return s + unknown\n"
    codes = [d.code for d in findings(text)[1]]
    assert codes[0].startswith("E01") and codes[1:] == ["E0201"]
    text = "pub pure fn f(n: int) -> int:\n    if n > 1: return 1\n    retrun 2\n"
    assert [d.code[:3] for d in findings(text)[1]] == ["E01"]


def test_a_fault_in_a_module_is_shown_at_its_place():
    library = MemoryLibrary({"./left": "pub const a = 1\n\npub pure fn f() -> str:\n    return a\n"})
    _, diagnostics = findings("use ./left (f)\n\npub pure fn g() -> str:\n    return f()\n", library)
    assert [(d.code, d.span.source.name) for d in diagnostics] == [("E0301", "./left.sgl")]


def test_findings_come_in_the_order_of_the_text():
    path = GOLDEN / "check" / "names.sgl"
    diagnostics = findings(path.read_text(encoding="utf-8"))[1]
    assert has_errors(diagnostics)
    starts = [d.span.start for d in diagnostics]
    assert starts == sorted(starts)


PIECES = re.compile(r'\w+|"[^"\n]*"|/[^/\n]*/|\n *| |.')
TEXTS = [path.read_text(encoding="utf-8") for path in FILES] + [e.good for e in codes_check.ENTRIES if e.good]
STRAY = [
    "null",
    "0",
    "-1",
    "it",
    "[]",
    '""',
    "?",
    "not ",
    "x",
    "(",
    ")",
    "str",
    "json",
    "gen int",
    "| ?{z: T}",
]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_written_gives_findings_within_the_text_and_never_a_fault(data):
    pieces = PIECES.findall(data.draw(st.sampled_from(TEXTS)))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(pieces) - 1))
        change = data.draw(st.sampled_from(["drop", "repeat", "swap", "stray"]))
        other = data.draw(st.integers(0, len(pieces) - 1))
        if change == "drop":
            pieces[place] = ""
        elif change == "repeat":
            pieces[place] = pieces[other]
        elif change == "swap":
            pieces[place], pieces[other] = pieces[other], pieces[place]
        else:
            pieces.insert(place, data.draw(st.sampled_from(STRAY)))
    program, diagnostics = findings("".join(pieces))
    assert program is not None
    for d in diagnostics:
        assert d.span is None or 0 <= d.span.start <= d.span.end <= len(d.span.source.text)
        assert render_all([d])


@pytest.mark.parametrize("line", ["name: str /x/", ": name str", "name str", "= name: str", "?? name"])
def test_a_field_that_cannot_be_read_keeps_its_place(line: str) -> None:
    """Values and uses of the record are not told of what only the lost field explains."""
    _, found = findings(
        f"record R:\n    age: int\n    {line}\n    on: bool\n\n"
        'const ONE = R(1, "a", true)\nconst TWO = R(on = false, name = "b", age = 2)\n\n'
        "fn f() -> str:\n    let one = ONE\n    return one.name\n"
    )
    assert [d.span.source.position(d.span.start)[0] for d in found if d.severity == "error"] == [3], found
