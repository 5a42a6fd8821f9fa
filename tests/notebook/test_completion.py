"""Completion in cells of programs, by IPython's own completer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("IPython", reason="the extra notebook is not installed")

Offered = Callable[[str], list[str]]
CELL = "%%sgl\n"


@pytest.fixture(scope="module")
def offered() -> Iterator[Offered]:
    """What is offered at the end of a cell of a notebook that has the extension."""
    from IPython.core.completer import provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "sglc.notebook")
    shell.run_cell(CELL + "record Guest:\n    name: str\n    age: int")
    shell.run_cell(CELL + 'let guest = Guest(name = "Ann", age = 3)')

    def ask(text: str) -> list[str]:
        with provisionalcompleter():
            found = list(shell.Completer.completions(text, len(text)))
        return [text[: each.start] + each.text + text[each.end :] for each in found]

    yield ask
    shell.run_line_magic("unload_ext", "sglc.notebook")
    assert not shell.Completer.custom_matchers


def test_cells_of_programs_are_completed_by_type(offered: Offered) -> None:
    assert offered(CELL + "guest.") == [CELL + "guest.age", CELL + "guest.name"]
    before = CELL + "fn f(g: Guest) -> int:\n    let n = g.age\n    return "
    assert offered(before + "g.a") == [before + "g.age"]
    assert offered(CELL + "rec") == [CELL + "record "]
    assert offered("x = %sgl guest.na") == ["x = %sgl guest.name"]


def test_python_is_completed_as_before(offered: Offered) -> None:
    assert "print(" in "".join(offered("prin")) + "(" and offered("guest.") == []
    assert not [each for each in offered("rec") if each.startswith("record ")]
    assert not [each for each in offered("%%sgl --se") if "select" in each]
