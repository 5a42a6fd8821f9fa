"""What `sglc proto` prints, and how numbers are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import GOOD, Cli, cli  # noqa: F401
from example_budget import examples
from golden_case import GoldenCase, golden_cases
from sglc.bytecode.code import Program
from sglc.driver import compile_source
from sglc.source import Source
from sglc.targets.proto.described import described
from sglc.targets.proto.description import ProtoField, ProtoFile, ProtoMessage, ScalarItem
from sglc.targets.proto.numbers import Lock, LockError, lock_of, numbered
from sglc.targets.proto.text import text_of

OWN = "\n\n// Options of a call."


def compiled(text: str) -> Program:
    found = compile_source(Source("case.sgl", text))
    assert found.program is not None, found.diagnostics
    return found.program


@pytest.mark.parametrize("case", golden_cases("proto/texts"), ids=str)
def test_texts(case: GoldenCase, golden: Any) -> None:
    file, _, changed = numbered(described(compiled(case.input)), Lock())
    text, own, _ = text_of(file).partition(OWN)
    assert own and not changed
    golden(case, text)


@pytest.mark.parametrize("case", golden_cases("proto/locks"), ids=str)
def test_locks(case: GoldenCase, golden: Any) -> None:
    lock, told = Lock(), []
    for version in case.input.split("\n----\n"):
        file, after, changed = numbered(described(compiled(version)), lock)
        if changed:
            told += [f"{each.message_text}: {each.reason}" for each in changed]
            continue
        lock = lock_of(after.text())
        assert lock == after
        told.append(_numbers(file))
        assert numbered(described(compiled(version)), lock)[1] == lock
    golden(case, "\n----\n".join(told))


def _numbers(file: ProtoFile) -> str:
    """The messages and enums of a program on a line each, replies and what sglc says left out."""
    lines = []
    for message in file.messages:
        if message.role not in ("own", "event", "reply"):
            gone = [f"reserved {each.number} {each.name}" for each in message.gone]
            fields = [f"{each.name} = {each.number}" for each in message.fields]
            lines.append(f"{message.name}: {', '.join(fields + gone)}")
    for enum in file.enums:
        gone = [f"reserved {each.number} {each.name}" for each in enum.gone]
        members = [f"{each.name} = {each.number}" for each in enum.members]
        lines.append(f"{enum.name}: {', '.join(members + gone)}")
    return "\n".join(lines)


KINDS = st.sampled_from(("text", "integer", "bool"))
VERSIONS = st.lists(st.dictionaries(st.sampled_from("abcdef"), KINDS), min_size=2, max_size=8)


@settings(max_examples=examples(100), deadline=None)
@given(VERSIONS)
def test_a_number_never_means_two_things(versions: list[dict[str, Any]]) -> None:
    """Whatever fields come and go, a number that was given out is that of one name and type for ever."""
    lock, meant = Lock(), {}
    for fields in versions:
        made = tuple(ProtoField(name, name, ScalarItem(kind)) for name, kind in fields.items())
        file = ProtoFile("p", "S", (), (ProtoMessage("M", "record", made),), ())
        after, kept, changed = numbered(file, lock)
        (message,) = after.messages
        numbers = [each.number for each in message.fields]
        assert len(set(numbers)) == len(numbers) and not {each.number for each in message.gone} & set(numbers)
        if changed:
            continue
        lock = lock_of(kept.text())
        for each in message.fields:
            assert meant.setdefault(each.number, (each.name, each.type_text)) == (each.name, each.type_text)


def test_numbers_that_protocol_buffers_keep_are_left_out() -> None:
    lock = lock_of('{"v": 1, "messages": {"M": {"numbers": {"a": "999 string"}}}, "enums": {}}')
    made = tuple(ProtoField(name, name, ScalarItem("text")) for name in "ab")
    file = ProtoFile("p", "S", (), (ProtoMessage("M", "record", made),), ())
    assert [each.number for each in numbered(file, lock)[0].messages[0].fields] == [999, 1000]


def test_our_own_numbers_are_those_of_no_lock() -> None:
    lock = lock_of(
        '{"v": 1, "messages": {"FRequest": {"numbers": {"options": "2 SglOptions"}}}, "enums": {}}'
    )
    file, _, _ = numbered(described(compiled("pub pure fn f(a: int) -> int:\n    return a\n")), lock)
    assert [each.number for each in file.messages[0].fields] == [3, 1000]
    lock = lock_of('{"v": 1, "messages": {"FRequest": {"numbers": {"a": "1000 int64"}}}, "enums": {}}')
    with pytest.raises(LockError, match="gives 1000 to two fields of FRequest"):
        numbered(described(compiled("pub pure fn f(a: int) -> int:\n    return a\n")), lock)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("[" * 5000, "no JSON"),
        ("[]", "no lock of version 1"),
        ('{"v": 2}', "no lock of version 1"),
        ('{"v": 1}', "`messages` is no object"),
        ('{"v": 1, "messages": {"M": 1}, "enums": {}}', "`messages.M` is no object"),
        ('{"v": 1, "messages": {"M": {"numbers": {"a": 1}}}, "enums": {}}', "`messages.M.a` is no text"),
        ('{"v": 1, "messages": {"M": {"numbers": {"a": "x"}}}, "enums": {}}', "a number that is none"),
        ('{"v": 1, "messages": {"M": {"numbers": {"a": "19001 x"}}}, "enums": {}}', "a number that is none"),
        (
            '{"v": 1, "messages": {"M": {"numbers": {"a": "1 x"}, "gone": {"1": "b x"}}}, "enums": {}}',
            "has the number 1 twice",
        ),
    ],
)
def test_locks_that_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(LockError, match=said):
        lock_of(text)


def test_the_command_keeps_numbers(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    program, lock = tmp_path / "good.sgl", tmp_path / "good.proto.lock"
    program.write_text(GOOD)
    code, _, told = cli("proto", program)
    assert code == 1 and "E0828" in told and not lock.exists()
    program.write_text(GOOD.replace("\nfn feel", "\npub fn feel"))
    code, _, told = cli("proto", program, "--check")
    assert code == 1 and "E0836" in told and not lock.exists()
    code, text, _ = cli("proto", program)
    assert code == 0 and "rpc Feel(FeelRequest) returns (FeelReply);" in text
    kept = lock.read_text()
    assert cli("proto", program, "--check") == (0, "", "")
    out = tmp_path / "good.proto"
    assert cli("proto", program, "-o", out) == (0, "", "") and out.read_text() == text
    program.write_text(
        program.read_text().replace("text: str, times", "text: [str], times").split("\ntest ")[0]
    )
    code, text, told = cli("proto", program)
    assert code == 1 and not text and "`text` of FeelRequest cannot keep its number 1" in told
    assert "another name" in told and lock.read_text() == kept
    lock.write_text("<<<<<<< HEAD")
    code, _, told = cli("proto", program)
    assert code == 1 and "E0836" in told and "no JSON" in told and "Traceback" not in told


def test_the_command_needs_no_package_of_grpc(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = tmp_path / "good.sgl"
    program.write_text(GOOD.replace("\nfn feel", "\npub fn feel"))
    code = (
        "import sys; from sglc.cli import main; code = main(sys.argv[1:])\n"
        "assert not {'torch', 'grpc', 'google.protobuf', 'starlette'} & set(sys.modules); sys.exit(code)"
    )
    command = [sys.executable, "-P", "-c", code, "proto", str(program)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
