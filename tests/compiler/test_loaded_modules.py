"""What `sglc check` loads: of our own modules those that the program needs, and no large package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import EXAMPLES, GOLDEN

SMALL = """\
enum Kind: bug, question, praise

fn triage(message: str) -> Kind:
    user: | Which kind? ${message}
    assistant: | ?{kind: Kind}
    return kind
"""

OF_SOME_PROGRAMS = (
    "sglc.importers",
    "sglc.cfg",
    "sglc.schema",
    "sglc.automata.regex",
    "sglc.automata.formats",
    "sglc.automata.json",
    "sglc.automata.unicode",
    "sglc.automata.analysis.ambiguity",
    "sglc.automata.analysis.membership",
    "sglc.types.grammar_text",
    "sglc.types.schema_language",
    "sglc.types.condition",
    "sglc.types.notation.json_schema",
    "sglc.check.holes.kept_conditions",
)
"""What grammars, declarations in SQL or TypeScript, JSON Schemas, patterns and conditions need."""
OF_FINDINGS = ("sglc.syntax.errors.recover", "sglc.syntax.errors.mistakes", "sglc.diagnostics.render")
"""What a program without a fault does not need."""
OF_OTHER_COMMANDS = (
    "sglc.diagnostics.catalogue.codes",
    "sglc.lower",
    "sglc.ir",
    "sglc.passes",
    "sglc.emit",
    "sglc.bytecode",
    "sglc.runtime",
    "sglc.kernels",
    "sglc.api",
    "sglc.python",
    "sglc.driver",
)
PACKAGES = (
    "lark",
    "rich",
    "numpy",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "llvmlite",
    "jinja2",
)
MOST = 210
"""Modules of ours that the small program may load: there are 208, and two to spare."""

PROGRAMS = {
    "grammar": ("pub grammar Number:\n    start: /[0-9]/{1,9}\n", "sglc.cfg.language"),
    "sql": ('pub type Row = sql table "create table t (id int not null)"\n', "sglc.importers.sql.reader"),
    "typescript": (
        'pub type Point = typescript "interface P { x: number }"\n',
        "sglc.importers.typescript.reader",
    ),
    "schema": ('pub type Flag = json schema {"type": "boolean"}\n', "sglc.schema.compile"),
    "pattern": ("pub type Code = str matching /[A-Z]{3}/\n", "sglc.automata.regex.compile"),
}
"""A program, and a module that `check` loads for it."""

REPORT = """\
import json, sys
from sglc.cli import main
code = main(["check", sys.argv[1]])
print(json.dumps([code, sorted(sys.modules)]))
"""


def checked(program: Path) -> tuple[int, list[str], str]:
    """Exit code, loaded modules and messages of `sglc check` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT, str(program)], capture_output=True, text=True, check=True
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    return code, modules, done.stderr


def of(modules: list[str], names: tuple[str, ...]) -> list[str]:
    """Those of the modules that are one of `names`, or inside one."""
    return [m for m in modules if any(m == name or m.startswith(f"{name}.") for name in names)]


@pytest.mark.slow
def test_a_small_program_loads_what_it_needs(tmp_path: Path) -> None:
    program = tmp_path / "small.sgl"
    program.write_text(SMALL)
    checked(program)  # the tables of the language are in the cache from here on
    code, modules, said = checked(program)
    assert (code, said) == (0, "")
    assert of(modules, OF_SOME_PROGRAMS + OF_FINDINGS + OF_OTHER_COMMANDS + PACKAGES) == []
    own = of(modules, ("sglc",))
    assert len(own) <= MOST, f"{len(own)} modules of ours"


def test_an_example_with_patterns_and_conditions_loads_no_reader_of_other_notations() -> None:
    code, modules, said = checked(EXAMPLES / "character.sgl")
    assert (code, said) == (0, "")
    unused = ("sglc.importers", "sglc.cfg", "sglc.schema", "sglc.automata.formats", "sglc.automata.json")
    assert of(modules, unused + OF_FINDINGS + OF_OTHER_COMMANDS + PACKAGES) == []


def test_late_text_loads_the_code_of_a_program_and_no_other_notations() -> None:
    code, modules, said = checked(GOLDEN / "late_text" / "told" / "rules_behind_a_name.sgl")
    assert code == 0 and "W0220" in said
    assert "sglc.lower.program" in modules
    unused = ("sglc.importers", "sglc.cfg", "sglc.schema", "sglc.emit", "sglc.runtime", "sglc.kernels")
    assert of(modules, unused + PACKAGES) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_uses_is_loaded_and_works(name: str, tmp_path: Path) -> None:
    text, needed = PROGRAMS[name]
    program = tmp_path / f"{name}.sgl"
    program.write_text(text)
    code, modules, said = checked(program)
    assert (code, said) == (0, "")
    assert needed in modules
    assert of(modules, OF_OTHER_COMMANDS + PACKAGES[1:]) == []


def test_a_fault_loads_what_explains_it(tmp_path: Path) -> None:
    program = tmp_path / "faulty.sgl"
    program.write_text("fn f() -> int:\n    retrun 1\n")
    code, modules, said = checked(program)
    assert code == 1 and "error[E01" in said
    assert "sglc.syntax.errors.recover" in modules
    assert of(modules, ("sglc.diagnostics.catalogue.codes", *PACKAGES[1:])) == []


def test_the_package_alone_loads_no_other_module() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, sglc; print(*[m for m in sys.modules if m.startswith('sglc')])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["sglc"]
