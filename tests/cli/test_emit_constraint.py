"""`sglc build --emit constraint`: what each hole may be filled with, as terms and as nodes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkout import EXAMPLES, ROOT
from command_line import Cli
from golden_case import GoldenCase, golden_cases
from sglc.automata.dfa.operations import difference, is_empty
from sglc.automata.notation.characters import chain_pattern, show_byte_class, show_bytes
from sglc.automata.notation.term_tree import show_language
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Language, Rule
from sglc.runtime.mask import compile_constraint
from sglc.runtime.mask.node_notation import show_nodes
from strategies.byte_vocabulary import EXAMPLES as MANY
from strategies.byte_vocabulary import some
from strategies.typed_values import languages


@pytest.mark.parametrize("case", golden_cases("constraint"), ids=str)
def test_the_stage_of_the_examples(case: GoldenCase, golden, cli: Cli, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = cli("build", case.input, "--emit", "constraint")
    assert (code, err) == (0, "")
    golden(case, out)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sgl")), ids=lambda path: path.stem)
def test_every_example_tells_all_its_holes(path: Path, cli: Cli) -> None:
    code, out, err = cli("build", path, "--emit", "constraint")
    assert (code, err) == (0, "")
    types = cli("build", path, "--emit", "types")[1]
    holes = [line for line in types.split("\n") if line.startswith("    ?")]
    told = len([line for line in out.split("\n") if line.startswith("hole ")])
    offers = " with tools [" in path.read_text(encoding="utf-8")  # which have holes that no line writes
    assert told > len(holes) if offers else told == len(holes)


def test_a_hyphen_is_the_standard_output(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = (EXAMPLES / "triage.sgl").resolve()
    monkeypatch.chdir(tmp_path)
    assert cli("build", path, "--emit", "constraint", "-o", "-") == cli("build", path, "--emit", "constraint")
    assert not (tmp_path / "-").exists()


@pytest.mark.slow
def test_the_output_is_the_same_each_time_and_needs_no_model() -> None:
    script = (
        "import sys; from sglc.cli import main;"
        "assert main(['build', 'examples/orders.sgl', '--emit', 'constraint']) == 0;"
        "assert not {'torch', 'transformers', 'tokenizers'} & set(sys.modules)"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_errors_of_the_program_are_told_instead(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "bad.sgl"
    path.write_text("fn f() -> int:\n    return x\n", encoding="utf-8")
    code, out, err = cli("build", path, "--emit", "constraint")
    assert (code, out) == (1, "") and "E0" in err


def test_a_program_without_holes(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "plain.sgl"
    path.write_text("pub pure fn f() -> int:\n    return 1\n", encoding="utf-8")
    assert cli("build", path, "--emit", "constraint") == (0, "no holes\n", "")


@pytest.mark.slow
@some(MANY)
@given(st.data())
def test_trees_and_nodes_of_any_language(data: st.DataObject) -> None:
    """Whatever can be compiled can be shown; equal languages share all their nodes."""
    language = data.draw(languages())
    compile_constraint(language=language)
    tree = show_language(language)
    if isinstance(language.root, Rule):
        assert tree.startswith(f"rule {language.root.name}\nrule {language.root.name}\n")
    first, second = show_nodes([("a", language), ("b", Language(language.root, language.rules))])
    count = first.split(" ")[0]
    assert first.startswith(f"{count} node") and ", 0 of them shared" in first
    assert second.split("\n")[0].endswith(f", {count} of them shared")


PIECES = st.sampled_from(("a", "b*", "[a-c]", "[a-c]+", "a?", "[0-9]{2,4}", "x{3}", r"\.", r"\*", "b"))


@pytest.mark.slow
@some(4 * MANY)
@given(st.lists(PIECES, max_size=5).map("".join))
def test_a_chain_is_shown_as_a_pattern_of_the_same_words(pattern: str) -> None:
    dfa = compile_regex(pattern)
    shown = chain_pattern(dfa)
    if shown is not None:
        again = compile_regex(shown)
        assert is_empty(difference(dfa, again)) and is_empty(difference(again, dfa)), shown


def test_chains() -> None:
    same = ("[A-Z][a-z]{2,8}", "ab*", "a*b", "x[0-9]{1,3}", r"a\.b", "a*b*", "[a-c]{2,}x", '[^"]*')
    assert [chain_pattern(compile_regex(pattern)) for pattern in same] == list(same)
    assert chain_pattern(compile_regex("(ab)*")) is None
    assert chain_pattern(compile_regex("(foo|bar)")) is None


def test_bytes_and_their_classes() -> None:
    assert show_bytes(b'{"a": ') == "'{\"a\": '"
    assert show_bytes("a\n\u202e".encode() + b"\xff") == '"a\\n\\u202e\\\\xff"'
    assert show_bytes(b"x" * 70).endswith('…" (70 bytes)')
    assert show_byte_class(b"") == "nothing"
    assert show_byte_class(b"x") == '"x"'
    assert show_byte_class(b"0123456789]" + bytes(range(0xC2, 0xF5))) == "[0-9\\]] \\xc2-\\xf4"
    assert show_byte_class(bytes(range(256))) == "any byte"
