"""Every example in every target: accepted by what reads the notation, or refused by name.

`tests/golden/targets.txt` lists them all; `--update-golden` rewrites it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path

import jsonschema
import pytest

from checkout import EXAMPLES, ROOT
from judges.strict_mode import check_request
from sglc.cfg.notation.ebnf import read_ebnf
from sglc.cfg.notation.gbnf import read_gbnf
from sglc.check.program import check
from sglc.driver import write_target
from sglc.importers.typescript.reader import read_typescript
from sglc.library import Library
from sglc.source import Source
from sglc.targets.registry import OF_HOLES, TARGETS

TABLE = ROOT / "tests" / "golden" / "targets.txt"
HEAD = """\
# What each target makes of each example, and of each of its holes. `written` is exact, `wider` is written
# with --allow-wider, `refused` is never written. What is lost stands behind it, without its place.
"""


def requests(text: str) -> None:
    """Every request of the target `openai` is one."""
    for each in json.loads(text).values():
        for request in each:
            check_request({"model": "m", **request["request"]})


def lark(text: str) -> None:
    """Lark multiplies options and counts out when it reads a grammar, so that long ones take for ever."""
    from lark import Lark

    counts = [int(high) - int(low) + 1 for low, high in re.findall(r"~(\d+)\.\.(\d+)", text)]
    if len(text) < 300 and prod(counts) <= 1_000:
        Lark(text, start="root", parser="earley", lexer="dynamic_complete")


def typescript(text: str) -> None:
    """The declared types, without the guards."""
    declarations = re.sub(r"(?ms)^(?:export )?(?:function|const) .*?^[}\])]*;?\n", "", text)
    for name in re.findall(r"^export (?:interface|type) (\w+)", declarations, re.MULTILINE):
        read_typescript(declarations, name, name)


READERS: dict[str, Callable[[str], object]] = {
    "json-schema": lambda text: jsonschema.Draft202012Validator.check_schema(json.loads(text)),
    "pydantic": lambda text: compile(text, "models.py", "exec"),
    "stubs": ast.parse,
    "typescript": typescript,
    "python": lambda text: exec(compile(text, "program.py", "exec"), {"__name__": "dataclasses"}),
    "openai": requests,
    "sglang": ast.parse,
    "gbnf": read_gbnf,
    "lark": lark,
    "ebnf": read_ebnf,
    "regex": lambda text: re.compile(text.removesuffix("\n")),
}
"""What takes the notation of each target."""


def rows(path: Path) -> Iterator[str]:
    """What each target makes of an example."""
    source = Source(str(path), path.read_text(encoding="utf-8"))
    checked, _ = check(source, Library())
    assert checked is not None
    names = re.findall(r"\?\{(\w+):", source.text)
    for target in TARGETS:
        for hole in dict.fromkeys(names) if target in OF_HOLES else ("",):
            text, found = write_target(source, target, allow_wider=True, hole=hole)
            errors = [each for each in found if each.severity == "error"]
            wider = [each for each in found if each.code == "W0224"]
            assert bool(text) != bool(errors)
            assert all(each.code == "E0817" and each.span is not None for each in errors)
            if text:
                READERS[target](text)
            said = [each.message for each in errors or wider]
            losses = dict.fromkeys(
                each.removeprefix(f"{target} cannot say ").rpartition(", at ")[0] for each in said
            )
            how = "refused" if errors else "wider" if wider else "written"
            why = f": {'; '.join(losses)}" if losses else ""
            name = path.relative_to(EXAMPLES).with_suffix("").as_posix()
            yield f"{name}{' ' + hole if hole else ''}  {target}  {how}{why}"


def test_every_target_has_a_reader() -> None:
    assert set(READERS) == set(TARGETS)


@pytest.mark.slow
def test_the_table_says_what_each_target_makes_of_each_example(request: pytest.FixtureRequest) -> None:
    paths = [*sorted(EXAMPLES.glob("*.sgl")), *sorted(EXAMPLES.glob("*/*.sgl"))]
    found = HEAD + "\n".join(row for path in paths for row in rows(path)) + "\n"
    if request.config.getoption("--update-golden"):
        TABLE.write_text(found, encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8") == found
