"""What of Python is not translated: each has its finding on its own line, and says what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

import sglc
from python_programs.modules import found_in, line_of, python_module
from sglc.decorators import DecoratedFunction
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.diagnostics.catalogue.python import ENTRIES
from sglc.diagnostics.render import render

HEAD = """
import os, re, sglc
from dataclasses import dataclass
from sglc import gen, user

LOCK = object()

def plain(x):
    return x

@sglc.sgl_function
def program(s, xs: list[int], x: int) -> int:
"""
REFUSED = [
    ("E0501", "try:\n    pass\nfinally:\n    pass", "finally:", "behind the `try`"),
    ("E0501", "try:\n    pass\nexcept:\n    pass\nelse:\n    pass", "else:", "end of the `try`"),
    ("E0501", "global LOCK", "global LOCK", "`return`"),
    ("E0501", "del xs[0]", "del xs[0]", "leave it out"),
    ("E0501", "def inner(): pass", "def inner(): pass", "to the module"),
    ("E0501", "class Inner: pass", "class Inner: pass", "to the module"),
    ("E0501", "import json", "import json", "top of the file"),
    ("E0501", "from json import dumps", "from json import dumps", "top of the file"),
    ("E0501", "with open('f') as f:\n    pass", "with open('f') as f:", "s.user()"),
    ("E0501", "for y in xs:\n    pass\nelse:\n    x = 3", "x = 3", "keep in a variable"),
    ("E0501", "while x > 3:\n    pass", "while x > 3:", "s.limit(10)"),
    ("E0501", "a = b = 3", "a = b = 3", "one line for each"),
    ("E0501", "a: int", "a: int", "first value"),
    ("E0501", "raise ValueError('x')", "raise ValueError('x')", "class Stuck"),
    ("E0501", "raise sglc.Failure('x') from None", "raise sglc.Failure('x') from None", "leave `from"),
    ("E0501", "match x:\n    case [1, *rest]:\n        pass", "case [1, *rest]:", "literals"),
    ("E0501", "for y in (s.fork(2)):\n    with plain(3):\n        pass", "with plain(3):", "s.user()"),
    ("E0502", "y = (z := 3)", "y = (z := 3)", "line of its own"),
    ("E0502", "y = lambda a: a", "y = lambda a: a", "comprehension"),
    ("E0502", "yield 3", "yield 3", "`return`"),
    ("E0502", "yield from xs", "yield from xs", "`return`"),
    ("E0502", "y = plain(*xs)", "y = plain(*xs)", "write the arguments"),
    ("E0502", "y = {1, 2}", "y = {1, 2}", "a list"),
    ("E0502", "y = {a: 1 for a in xs}", "y = {a: 1 for a in xs}", "entries"),
    ("E0502", "y = [a for a in xs for b in xs]", "y = [a for a in xs for b in xs]", "loops"),
    ("E0502", "y = [x for x in xs]", "y = [x for x in xs]", "another name"),
    ("E0502", "y = [*xs, 3]", "y = [*xs, 3]", "by `+`"),
    ("E0502", "y = x @ x", "y = x @ x", "operators are"),
    ("E0502", "y = ~x", "y = ~x", "operators are"),
    ("E0502", "y = xs[::2]", "y = xs[::2]", "reversed"),
    ("E0502", "y = b'x'", "y = b'x'", ""),
    ("E0502", "y = f'{x:03d}'", "y = f'{x:03d}'", "round"),
    ("E0502", "y = f'{x!r}'", "y = f'{x!r}'", "round"),
    ("E0502", "y = re.search('a', 'b')", "y = re.search('a', 'b')", "fullmatch"),
    ("E0502", "y = range(0, 9, 2)", "y = range(0, 9, 2)", "range(a, b)"),
    ("E0502", "y = 1 < plain(x) < 3", "y = 1 < plain(x) < 3", "in a variable"),
    ("E0503", "y = plain(3)", "y = plain(3)", "`x: …`"),
    ("E0503", "print(x)", "print(x)", "trace=True"),
    ("E0503", "y = isinstance(x, int)", "y = isinstance(x, int)", "match"),
    ("E0503", "y = os.getcwd()", "y = os.getcwd()", "call it before"),
    ("E0503", "y = x(3)", "y = x(3)", "by its name"),
    ("E0504", "y = LOCK", "y = LOCK", "argument"),
    ("E0504", "y = plain", "y = plain", "call it"),
    ("E0505", "s += gen('a', regexp='x')", "s += gen('a', regexp='x')", "did you mean `regex`"),
    ("E0505", "s += gen('a', regex='x', type=int)", "s += gen('a', regex='x', type=int)", ""),
    ("E0505", "s += gen('a', regex=xs)", "s += gen('a', regex=xs)", "constant of the module"),
    ("E0505", "s += gen('a', grammar='start: x')", "s += gen('a', grammar='start: x')", "notes.lark"),
    ("E0505", "s += s.choose('a')", "s += s.choose('a')", ""),
    ("E0505", "s += s.select('a', ['b'], by='best')", "s += s.select('a', ['b'], by='best')", "sum, mean"),
    ("E0505", "s.user()", "s.user()", "with s.user():"),
    ("E0506", "s += gen('a', type=os.PathLike)", "s += gen('a', type=os.PathLike)", "dataclass"),
    ("E0506", "s += gen('a', type='int in')", "s += gen('a', type='int in')", ""),
    ("E0508", "y = s", "y = s", 's["name"]'),
    ("E0508", "s = s + 'x'", "s = s + 'x'", "+="),
    ("E0508", "gen('a', type=bool)", "gen('a', type=bool)", "s += "),
    ("E0508", "s += user('x') + 'y'", "s += user('x') + 'y'", "statement of its own"),
    ("E0508", "t = s.fork(3)", "t = s.fork(3)", "for t in tries"),
    ("E0509", "y = s['nothing']", "y = s['nothing']", ""),
    ("E0509", "s += gen(f'a{x}', type=bool)", "s += gen(f'a{x}', type=bool)", "in a loop"),
    ("E0509", "s += gen('a b', type=bool)", "s += gen('a b', type=bool)", "letters"),
    ("E0509", "s += gen(type=bool)", "s += gen(type=bool)", 'gen("name"'),
]


@pytest.mark.parametrize(("code", "body", "line", "hint"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_construct_is_refused_on_its_line(
    tmp_path: Path, code: str, body: str, line: str, hint: str
) -> None:
    lines = [f"    {each}" for each in ("x_ = 1", *body.split("\n"), "return x_")]
    (found,) = found_in(python_module(tmp_path, HEAD + "\n".join(lines) + "\n"))
    assert (found.code, line_of(found)) == (code, line), render(found)
    assert hint in found.hint, render(found)


HEADS = [
    ("E0501", "@sglc.sgl_function\nasync def f(s):\n    await s", "async def f(s):"),
    ("E0502", "@sglc.sgl_function\ndef f(s, *a):\n    pass", "def f(s, *a):"),
    ("E0506", "@sglc.sgl_function\ndef f(s, a: set[int]):\n    pass", "def f(s, a: set[int]):"),
    ("E0506", "@sglc.fn\ndef f(a: 'Nothing'):\n    '''| x'''", "def f(a: 'Nothing'):"),
    ("E0508", "@sglc.sgl_function\ndef f():\n    pass", "def f():"),
    ("E0510", "@sglc.sgl_function\ndef f(s):\n    return 3", "return 3"),
    ("E0511", "@sglc.fn\ndef f():\n    pass", "pass"),
    ("E0511", "@sglc.fn\ndef f():\n    '''| x'''\n    return 3", "return 3"),
    ("E0101", "@sglc.fn\ndef f(a: int):\n    '''\n    let a =\n    | ?{b: bool}\n    '''", "let a ="),
    ("E0201", "@sglc.fn\ndef f():\n    '''\n    | ?{b: bool}\n    | ${nothing}'''", "| ${nothing}'''"),
]


@pytest.mark.parametrize(("code", "text", "line"), HEADS, ids=lambda value: str(value)[:40])
def test_a_function_is_refused_on_its_line(tmp_path: Path, code: str, text: str, line: str) -> None:
    (found,) = found_in(python_module(tmp_path, f"import sglc\n\n{text}\n"))
    assert (found.code, line_of(found)) == (code, line), render(found)


def test_all_faults_of_a_function_are_told_at_once(tmp_path: Path) -> None:
    text = HEAD + "    del xs\n    s += f'{x:3}'\n    s += gen('a', regexp='x')\n    return [y := 3]\n"
    found = found_in(python_module(tmp_path, text))
    assert [each.code for each in found] == ["E0501", "E0502", "E0505", "E0502"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.code)
def test_the_catalogue_shows_each_code(tmp_path: Path, entry: object) -> None:
    assert CATALOGUE[entry.code] is entry
    if entry.code == "E0507":
        return
    assert [each.code for each in found_in(python_module(tmp_path, entry.bad_python))] == [entry.code]
    assert not [each for each in found_in(python_module(tmp_path, entry.good_python)) if each.code[0] == "E"]


def test_a_function_without_source_is_refused() -> None:
    names: dict[str, object] = {"sglc": sglc}
    exec("@sglc.sgl_function\ndef f(s):\n    s += s.gen('a', type=bool)\n", names)
    function = names["f"]
    assert isinstance(function, DecoratedFunction)
    with pytest.raises(sglc.CompileError, match=r"E0507.*\n.*keeps no source"):
        function.compile()


def test_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    module = python_module(tmp_path, "import sglc\n\n@sglc.fn\ndef f():\n    '''| ?{b: bool}'''\n")
    Path(module.__file__ or "").write_text("import sglc\n\n\n\n@sglc.fn\ndef f():\n    '''| ?{b: bool}'''\n")
    with pytest.raises(sglc.CompileError, match="has changed since"):
        module.f.compile()


def test_hints_of_the_checker_are_in_python(tmp_path: Path) -> None:
    text = """
        import sglc

        @sglc.sgl_function
        def unbounded(s, name: str):
            s += "Hello {name}. " + s.gen("line")
    """
    found = {each.code: each for each in found_in(python_module(tmp_path, text))}
    assert "max_tokens=60" in found["E0331"].hint
    assert line_of(found["E0331"]).startswith('s += "Hello')


def test_a_list_is_not_sorted_in_place(tmp_path: Path) -> None:
    text = """
        import sglc

        @sglc.sgl_function
        def least(s, xs: list[int]) -> int:
            ys = xs
            ys.sort()
            return ys[0]
    """
    (found,) = found_in(python_module(tmp_path, text))
    assert (found.code, line_of(found)) == ("W0202", "ys.sort()")
    assert "`x = …`" in found.hint and not found.edits


def test_a_warning_shows_an_f_string(tmp_path: Path) -> None:
    text = """
        import sglc

        @sglc.sgl_function
        def greet(s, name: str):
            s += "Hello {name}. " + s.gen("line", max_chars=30)
    """
    found = found_in(python_module(tmp_path, text))
    assert [each.code for each in found] == ["W0225"] and "f-string" in found[0].hint
    assert found[0].span is not None and found[0].span.text == "{name}"


def test_a_variable_outside_of_its_block(tmp_path: Path) -> None:
    text = """
        import sglc

        @sglc.sgl_function
        def ask(s, n: int) -> int:
            s += s.gen("b", type=bool)
            if s["b"]:
                found = n
            return found
    """
    (found,) = found_in(python_module(tmp_path, text))
    assert (found.code, line_of(found)) == ("E0201", "return found")
    assert found.hint == "give it a value before that block"


@pytest.mark.parametrize("wrong", [3, print, object()])
def test_only_functions_can_be_decorated(wrong: object) -> None:
    with pytest.raises(TypeError, match="is for functions"):
        sglc.sgl_function(wrong)  # type: ignore[call-overload]


def test_unknown_options_are_type_errors(tmp_path: Path) -> None:
    module = python_module(tmp_path, "import sglc\n\n@sglc.fn(wihtin=3)\ndef f():\n    '''| ?{b: bool}'''\n")
    with pytest.raises(TypeError, match="no option `wihtin`"):
        module.f.compile()
