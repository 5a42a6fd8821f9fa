"""What all targets share: the registry, losses as errors or warnings, the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkout import EXAMPLES
from command_line import Cli
from sglc.driver import write_target
from sglc.source import Source
from sglc.targets.registry import TARGETS, writer_of

GRAMMAR = """\
grammar Money:
    start: /[0-9]+/ " EUR"

pub record Bill:
    total: Money
    note?: str max 9 chars
"""


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_says_what_it_writes(name: str) -> None:
    assert TARGETS[name] and not TARGETS[name].endswith(".")
    assert callable(writer_of(name))


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sgl")), ids=lambda path: path.stem)
@pytest.mark.parametrize("target", TARGETS)
def test_every_example_is_written_or_refused_by_name(target: str, path: Path) -> None:
    source = Source(str(path), path.read_text(encoding="utf-8"))
    text, found = write_target(source, target)
    errors = [d for d in found if d.severity == "error"]
    assert bool(text) != bool(errors)
    for error in errors:
        assert error.code == "E0817" and error.message.startswith(f"{target} cannot say ")
        assert error.span is not None


def test_a_loss_is_an_error_with_its_place() -> None:
    text, found = write_target(Source("p.sgl", GRAMMAR), "json-schema")
    (error,) = [d for d in found if d.severity == "error"]
    assert text == "" and error.code == "E0817"
    assert error.message == "json-schema cannot say a grammar, at Money"
    assert error.span is not None and error.span.text == "Money"


def test_a_wider_text_is_told() -> None:
    text, found = write_target(Source("p.sgl", GRAMMAR), "json-schema", allow_wider=True)
    assert [d.code for d in found if d.code[1:3] == "02"] == ["W0224"]
    assert json.loads(text)["$defs"]["Money"]["type"] == "string"


def test_the_command_writes_a_target(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "p.sgl"
    program.write_text(GRAMMAR, encoding="utf-8")
    out = tmp_path / "p.json"
    code, said, err = cli("build", program, "--emit", "json-schema", "-o", out)
    assert (code, said) == (1, "") and "E0817" in err and "--allow-wider" in err
    assert not out.exists(), "a text with errors is not written"
    code, said, err = cli("build", program, "--emit", "json-schema", "--allow-wider", "-o", out)
    assert (code, said) == (0, "") and "W0224" in err
    assert json.loads(out.read_text(encoding="utf-8"))["$defs"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--emit", "nonsense"), "'nonsense' is not one of"),
        (("--hole", "x"), "--hole goes with --emit of a target that writes one: gbnf, lark, ebnf, regex"),
        (("--emit", "python", "--hole", "x"), "--hole goes with --emit of a target that writes one"),
        (("--allow-wider",), "--allow-wider goes with --emit of a target: json-schema"),
        (("--emit", "ir", "--allow-wider"), "--allow-wider goes with --emit of a target"),
        (("--emit", "stubs", "--json"), "--json tells what was compiled"),
        (("--emit", "stubs", "--model", "m"), "--emit compiles none"),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    cli: Cli, tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    program = tmp_path / "p.sgl"
    program.write_text(GRAMMAR, encoding="utf-8")
    code, said, err = cli("build", program, *options)
    assert (code, said) == (2, "") and why in err
    assert list(tmp_path.iterdir()) == [program]


def test_a_compiled_file_and_a_missing_folder_are_told(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "p.sgl"
    program.write_text(GRAMMAR, encoding="utf-8")
    assert cli("build", program)[0] == 0
    code, said, err = cli("build", program.with_suffix(".sglb"), "--emit", "stubs")
    assert (code, said) == (2, "") and "is compiled already, and --emit stubs reads a source" in err
    place = tmp_path / "none" / "p.pyi"
    code, said, err = cli("build", program, "--emit", "stubs", "-o", place)
    assert (code, said) == (1, "") and f"{place} cannot be written" in err and "No such file" in err


NAMED = """
pub fn f(x: str) -> int:
    user: | ${x}
    assistant:
        using blend(main, big):
            | ?{a: int in 0..9 weight 0.5}
        | ?{b: int in 0..9 using big}
    return a + b
"""


@pytest.mark.parametrize("target", ["openai", "sglang", "python"])
def test_requests_name_the_models_that_they_lose(target: str) -> None:
    text, found = write_target(Source("p.sgl", NAMED), target)
    said = [d.message for d in found if d.severity == "error"]
    assert text == ""
    for use, hole in (("blend(main, big)", "f.a"), ("big", "f.b")):
        assert f"{target} cannot say `using {use}`, at hole {hole}" in said
    plain = NAMED.replace("        using blend(main, big):\n    ", "").replace(" weight 0.5", "")
    _, found = write_target(Source("p.sgl", plain.replace(" using big", "")), target)
    assert not any("using" in d.message for d in found)


def test_types_lose_no_model() -> None:
    text, found = write_target(Source("p.sgl", NAMED), "stubs")
    assert text and not found
