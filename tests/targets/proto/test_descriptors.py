"""The text of a `.proto` file and the descriptor of a server are the same, by protoc's own account."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from checkout import ROOT
from example_budget import examples
from sglc.bytecode.code import Code, ParameterSpec, Program
from sglc.driver import compile_source
from sglc.source import Source
from sglc.targets.proto.described import described
from sglc.targets.proto.description import ProtoFile
from sglc.targets.proto.numbers import Lock, numbered
from sglc.targets.proto.text import text_of
from sglc.types.type import (
    EnumType,
    FieldType,
    MapOf,
    Named,
    RecordType,
    Str,
    Type,
    TypeTable,
)
from strategies.programs.proto_names import named_anyhow
from strategies.typed_values import types

pytest.importorskip("grpc_tools")
protobuf = pytest.importorskip("google.protobuf.descriptor_pb2")
from serving.protoc import compiled  # noqa: E402
from sglc.runtime.serve.grpc.descriptors import file_descriptor, pool_of  # noqa: E402

EXAMPLES = sorted((ROOT / "examples").rglob("*.sgl"))


def program_of(type: Type, table: TypeTable) -> Program:
    """A program with one function from a type to the same."""
    code = Code("same_again", "pure", (ParameterSpec("x", 0),), 0, ("x",), (), ())
    return Program("a-program.sgl", (code,), {"same_again": 0}, (), (), (type,), table, ())


def file_of(program: Program) -> ProtoFile:
    return numbered(described(program), Lock())[0]


def agree(file: ProtoFile) -> Any:
    """Hold the descriptor of a file against what protoc makes of its text; the descriptor."""
    ours = file_descriptor(file)
    with tempfile.TemporaryDirectory() as folder:
        assert compiled(text_of(file), file.name, Path(folder)) == ours, text_of(file)
    pool_of([file]).FindFileByName(file.name)
    return ours


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples(path: Path) -> None:
    program = compile_source(Source(str(path), path.read_text(encoding="utf-8"))).program
    if program is None:
        pytest.skip("the example needs modules that are given on the command line")
    agree(file_of(program))


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck), deadline=None)
@given(types())
def test_random_types(both: tuple[Type, TypeTable]) -> None:
    agree(file_of(program_of(*both)))


def test_a_message_that_protoc_makes_for_a_map_hides_no_other() -> None:
    fields = (FieldType("name", MapOf(Str(), Str())), FieldType("entry", Named("NameEntry")))
    table: dict[str, Any] = {"NameEntry": EnumType("NameEntry", ("a",)), "R": RecordType("R", fields)}
    agree(file_of(program_of(Named("R"), table)))


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck), deadline=None)
@given(named_anyhow())
def test_names_that_meet(both: tuple[Type, TypeTable]) -> None:
    agree(file_of(program_of(*both)))
