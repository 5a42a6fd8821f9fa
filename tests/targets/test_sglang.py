"""The target `sglang`: run by a double of SGLang's front end, and by the package's own where it is there."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from checkout import EXAMPLES
from fakes import sglang_double
from judges.written_modules import Asked, machine_run
from sglc.driver import write_target
from sglc.source import Source

TEXTS = {
    "dish": "soup",
    "theme": "a ship",
    "wish": "I want to see a river.",
    "body": "Hello",
    "mail": "Hello",
    "about": "Boats",
    "feels": "calm",
}


def written(source: Source) -> str:
    return write_target(source, "sglang", allow_wider=True)[0]


def asking(asked: list[Asked]) -> Callable[[str, dict], str]:
    """A model that gives the machine's answers; it must be asked at the same places, and they be legal."""
    left = list(asked)

    def answer(text: str, settings: dict) -> str:
        wanted = left.pop(0)
        assert text == wanted.before
        if settings.get("regex") is not None:
            assert re.fullmatch(settings["regex"], wanted.text)
        if settings.get("json_schema") is not None:
            jsonschema.validate(json.loads(wanted.text), json.loads(settings["json_schema"]))
        assert "choices" not in settings or wanted.text in settings["choices"]
        assert settings.get("max_tokens", 1) > 0
        return wanted.text

    return answer


def names_of(text: str) -> dict[str, list[str]]:
    """The functions with the parameters that have no default."""
    found = re.findall(r"@sgl\.function\ndef (\w+)\(s(?:, )?(.*)\):\n", text)
    return {name: [each for each in given.split(", ") if each.isidentifier()] for name, given in found}


@pytest.mark.slow
@pytest.mark.parametrize("front", ["double", "package"])
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sgl")), ids=lambda path: path.stem)
def test_the_examples_ask_where_the_machine_does(
    path: Path, front: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(str(path), path.read_text(encoding="utf-8"))
    text = written(source)
    if front == "package":
        if not sglang_double.is_installed():
            pytest.skip("no package sglang")
        with sglang_double.package():
            check(source, text, sglang_double.run_package)
    else:
        monkeypatch.setitem(sys.modules, "sglang", sglang_double.double())
        check(source, text, run_double)


def run_double(function, arguments: dict[str, str], answer) -> str:
    state = sglang_double.State(answer)
    function(state, **arguments)
    return state.text


def check(source: Source, text: str, run: Callable) -> None:
    """Every function with answers of the machine; those that a condition draws again are left out."""
    namespace: dict = {}
    exec(compile(text, "written.py", "exec"), namespace)
    for name, needed in names_of(text).items():
        for seed in range(3):
            asked = machine_run(source, name, {each: TEXTS[each] for each in needed}, seed).asked
            if len({each.hole for each in asked}) == len(asked):
                run(namespace[name], {each: TEXTS[each] for each in needed}, asking(asked))


PROGRAM = """\
enum Mood: calm, glad
fn f(who: str, year: int = 3) -> str within 50 tok:
    user: | ${who} in ${year}, "quoted" \\${x}
    assistant: | ?{a: Mood temp 0.5 top_k 4} and ${a}, ?{b: str max 5 chars until "!"}!
    user: | ${a} ${b}
    assistant: | ?{c: select ["x", "y"] by mean}
    return b
"""
LOST = [
    ("assistant: | ?{v: int in 0..9 where v * v != 9}", "a condition on arguments or answers, at f", True),
    ("assistant: | ?{v: int in 0..9 seed 3}", "`seed`, at hole f.v", True),
    ("assistant: | ?{v: int in 0..9 n 3 temp 1}", "several samples, at hole f.v", True),
    ('assistant: | ?{v: select ["a", "b"] by sum}', "`select … by sum`, at hole f.v", True),
    ("user: | ${a + 1}\n    assistant: | ?{v: bool}", "a computed value in a text, at f", False),
]


def test_one_function() -> None:
    text, found = write_target(Source("p.sgl", PROGRAM), "sglang", allow_wider=True)
    lost = [each.message for each in found if each.code == "W0224"]
    assert lost == ["sglang cannot say a budget of several answers, at f"]
    assert text[text.index("@sgl") :].splitlines() == [
        "@sgl.function",
        'def f(s, who, year="3"):',
        '    s += sgl.user(who + " in " + year + ", \\"quoted\\" ${x}")',
        "    s += sgl.assistant_begin()",
        '    s += sgl.gen("a", regex="calm|glad", stop=[" and "], temperature=0.5, top_k=4, max_tokens=50)',
        '    s += " and "',
        '    s += s["a"]',
        '    s += ", "',
        '    s += sgl.gen("b", regex="[^\\\\u0000-\\\\u001f!\\\\u007f-\\\\u009f]{0,5}", '
        'stop=["!"], temperature=0, max_tokens=50)',
        '    s += "!"',
        "    s += sgl.assistant_end()",
        '    s += sgl.user(s["a"] + " " + s["b"])',
        '    s += sgl.assistant(sgl.select("c", choices=["x", "y"], '
        "choices_method=sgl.token_length_normalized))",
    ]


FIGURES = """\
fn f() -> int:
    user: | How many?
    assistant: | ?{a: int in 0..9 temp 1.0 decode smc(4)}
    user: | ${a}${more}
    assistant: | ?{b: int in 0..9}
    let sure = a.weight
    return b
"""


def test_a_value_with_figures_is_inserted_as_any_other() -> None:
    text, _ = write_target(Source("p.sgl", FIGURES.replace("${more}", "")), "sglang", allow_wider=True)
    assert 's += sgl.user(s["a"])' in text
    _, found = write_target(
        Source("p.sgl", FIGURES.replace("${more}", " ${a.weight}")), "sglang", allow_wider=True
    )
    assert any("a computed value in a text, at f" in each.message for each in found)


@pytest.mark.parametrize(("body", "loss", "wider"), LOST, ids=[loss for _, loss, _ in LOST])
def test_what_is_lost_is_named(body: str, loss: str, wider: bool) -> None:
    source = Source("p.sgl", f"fn f(a: int) -> int:\n    {body}\n    return 1\n")
    text, found = write_target(source, "sglang")
    assert text == "" and f"sglang cannot say {loss}" in [each.message for each in found]
    assert bool(written(source)) == wider
