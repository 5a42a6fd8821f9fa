"""The .sglb format: exact, reproducible, and never a traceback whatever the bytes."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from sglc.bytecode import serial
from sglc.bytecode.code import Program
from sglc.bytecode.disasm import disassemble
from sglc.bytecode.encoding import EncodingError, decode, encode
from sglc.bytecode.serial import HEADER, VERSION, dumps, loads, sign
from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.driver import compile_file
from sglc.types import type as t
from strategies.literal_values import VALUES, exact

EXAMPLES = sorted(EXAMPLES.glob("*.sgl"))
RICH = ["errors", "ideas", "math_steps", "repair", "shapes", "triage", "user_profile"]


def program_of(path: Path) -> Program:
    program = compile_file(path).program
    assert program is not None
    return program


@functools.cache
def file_of(name: str) -> bytes:
    """The file of an example."""
    (path,) = (path for path in EXAMPLES if path.stem == name)
    return dumps(program_of(path))


def body(tree: Any) -> bytes:
    return json.dumps(tree, sort_keys=True, separators=(",", ":")).encode("ascii")


def codes_of(data: bytes) -> set[str]:
    """Codes of the diagnostics; a sound program gives none, and can be printed."""
    program, found = loads(data)
    assert (program is None) == bool(found)
    assert all(d.code in CATALOGUE and d.message for d in found)
    if program is not None:
        assert disassemble(program)
    return {d.code for d in found}


# -- exactness -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_is_written_is_read_back(path: Path) -> None:
    program = program_of(path)
    data = dumps(program)
    again, found = loads(data)
    assert found == [] and again == program
    assert list(again.entry) == list(program.entry) and list(again.table) == list(program.table)
    assert dumps(again) == data


@given(VALUES)
def test_values_keep_their_kind(value: object) -> None:
    if "inf" in exact(value) or "E" in exact(value):
        return
    assert exact(decode(json.loads(json.dumps(encode(value))))) == exact(value)


@given(VALUES)
def test_the_default_of_a_field_may_be_any_value(value: Any) -> None:
    if "inf" in exact(value) or "E" in exact(value):
        return
    field = t.FieldType("x", t.Str(), has_default=True, default=(value, [value]))
    assert exact(decode(encode(field)).default) == exact(field.default)


def test_a_type_is_no_default_of_a_field() -> None:
    field = encode(t.FieldType("x", t.Str(), has_default=True))
    with pytest.raises(EncodingError):
        decode([encode(t.Null()) if part is None else part for part in field])


def test_numbers_that_look_alike_stay_apart() -> None:
    values = [1, True, 1.0, Decimal("1"), Decimal("1.00"), -0.0, 10**30, None, "1"]
    assert [repr(decode(encode(v))) for v in values] == [repr(v) for v in values]


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_process_or_folder(tmp_path: Path) -> None:
    path = tmp_path / "a.sgl"
    path.write_bytes(EXAMPLES[0].read_bytes())
    script = (
        "import sys; from sglc.driver import compile_file; from sglc.bytecode.serial import dumps;"
        "sys.stdout.buffer.write(dumps(compile_file(sys.argv[1]).program))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-P", "-c", script, name],
            cwd=cwd,
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin"},
        ).stdout
        for cwd, name, seed in [(tmp_path, "a.sgl", "1"), (tmp_path.parent, str(path), "2")]
    ]
    assert outputs[0] == outputs[1]
    assert str(tmp_path).encode() not in outputs[0]


# -- damage ----------------------------------------------------------------------------------------


def test_each_kind_of_damage_has_its_code() -> None:
    data = file_of("repair")
    assert codes_of(data) == set()
    assert codes_of(b"") == {"E0601"}
    assert codes_of(b"PK\x03\x04 something else") == {"E0601"}
    assert codes_of(data[:20]) == {"E0603"}
    assert codes_of(data[:-1]) == {"E0603"}
    assert codes_of(data[:4] + (VERSION + 1).to_bytes(2, "big") + data[6:]) == {"E0602"}
    assert codes_of(data + b"x") == {"E0604"}
    assert codes_of(data[:100] + bytes([data[100] ^ 1]) + data[101:]) == {"E0604"}
    assert codes_of(sign(b"[]")) == {"E0605"}
    assert codes_of(sign(b"{}")) == {"E0605"}
    assert codes_of(sign(b'{"a":1,"a":2}')) == {"E0605"}
    assert codes_of(sign(b"[" * 100_000)) == {"E0605"}
    assert codes_of(sign(b"9" * 100_000)) == {"E0605"}
    assert codes_of(sign(b"1.5")) == {"E0605"}
    assert codes_of(sign(b"NaN")) == {"E0605"}
    assert codes_of(sign("é".encode())) == {"E0605"}


def test_files_that_are_too_large_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serial, "MAX_BYTES", 1000)
    assert codes_of(file_of("repair")) == {"E0607"}


def test_an_announced_length_is_not_believed() -> None:
    data = file_of("repair")
    assert codes_of(data[:8] + b"\xff" * 8 + data[16:]) == {"E0603"}


def test_hostile_contents_are_refused() -> None:
    tree = json.loads(file_of("repair")[HEADER:])

    def with_section(name: str, value: Any) -> bytes:
        return sign(body({**tree, name: value}))

    deep: Any = 1
    for _ in range(200):
        deep = ["l", deep]
    assert codes_of(with_section("constants", [deep])) == {"E0605"}
    assert codes_of(with_section("constants", [["Str", 0, None, ["t"], ["t"], ["t"]]])) == {"E0605"}
    assert codes_of(with_section("constants", [["d", "1e999999999"]])) == {"E0605"}
    assert codes_of(with_section("constants", [["d", "NaN"]])) == {"E0605"}
    assert codes_of(with_section("constants", [["f", "inf"]])) == {"E0605"}
    assert codes_of(with_section("files", ["/etc/passwd"])) == {"E0605"}
    assert codes_of(with_section("opcodes", 3)) == {"E0605"}
    assert codes_of(with_section("entry", [["roll", 99]])) == {"E0606"}
    assert codes_of(with_section("constants", [])) == {"E0606"}
    assert codes_of(with_section("types", [encode(t.Named("Nowhere"))])) == {"E0606"}


def test_decoding_checks_every_field() -> None:
    for wrong in (
        ["Str", "0", None, ["t"], ["t"], ["t"]],
        ["Str", True, None, ["t"], ["t"], ["t"]],
        ["Str", 0, None, ["t", 1], ["t"], ["t"]],
        ["ListOf", 3, 0, None],
        ["Named"],
        ["HoleSpec", "x", "fly", 0, ["t"], ["t"], True, "sum"],
        ["e", "M"],
        ["m", "k"],
        ["nothing"],
        [],
        {},
    ):
        with pytest.raises(EncodingError):
            decode(wrong)


# -- random damage ---------------------------------------------------------------------------------


@given(st.sampled_from(RICH), st.data())
@settings(max_examples=80)
def test_random_damage_is_a_diagnostic(name: str, data: st.DataObject) -> None:
    raw = bytearray(file_of(name))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(len(raw) - 1, 0)))
        if at >= len(raw):
            break
        match data.draw(st.sampled_from(["flip", "cut", "insert", "delete"])):
            case "flip":
                raw[at] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del raw[at + 1 :]
            case "insert":
                raw[at:at] = data.draw(st.binary(min_size=1, max_size=8))
            case "delete":
                del raw[at : at + 3]
    found = codes_of(bytes(raw))
    assert found or bytes(raw) == file_of(name)


PIECES = st.sampled_from([b"0", b"1", b"9", b"-", b"null", b'"', b"]", b"[", b",", b"true", b'["t"]', b"e"])


@given(st.sampled_from(RICH), st.data())
@settings(max_examples=80)
def test_random_damage_under_a_right_checksum_is_a_diagnostic_or_sound(
    name: str, data: st.DataObject
) -> None:
    raw = bytearray(file_of(name)[HEADER:])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from(
                [b"0", b"1", b"9", b"-", b"null", b'"', b"]", b"[", b",", b"true", b'["t"]', b"e"]
            )
        )
    codes_of(sign(bytes(raw)))


JUNK = st.sampled_from(
    [0, 1, -1, 2, 7, 99, 2**31, None, True, "", "x", "Str", [], ["t"], ["l", 1], {}, ["e", "a", "b"]]
)


@pytest.mark.slow
@given(st.sampled_from(RICH), st.data())
@settings(max_examples=120)
def test_random_changes_of_the_contents_are_a_diagnostic_or_sound(name: str, data: st.DataObject) -> None:
    tree = json.loads(file_of(name)[HEADER:])
    for _ in range(data.draw(st.integers(1, 3))):
        node: Any = tree
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = data.draw(st.sampled_from(keys))
            inner = node[key]
            if not isinstance(inner, list | dict) or not inner or data.draw(st.integers(0, 5)) == 0:
                break
            node = inner
        if isinstance(node, list) and data.draw(st.booleans()):
            other = data.draw(st.integers(0, len(node) - 1))
            node[key], node[other] = node[other], node[key]
        else:
            node[key] = data.draw(JUNK)
    codes_of(sign(body(tree)))


def test_a_program_that_runs_is_the_one_that_was_verified() -> None:
    program = program_of(EXAMPLES[0])
    wrong = replace(program, codes=tuple(replace(code, stack_depth=99) for code in program.codes))
    again, found = loads(dumps(wrong))
    assert found == [] and again == program
