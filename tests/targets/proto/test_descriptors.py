"""The text of a `.proto` file and the descriptor of a server are the same, by protoc's own account."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    AliasType,
    Alternatives,
    Bool,
    EnumType,
    FieldType,
    Int,
    ListOf,
    MapOf,
    Named,
    Optional,
    RecordType,
    Str,
    Type,
    TypeTable,
)
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


NAMES = st.sampled_from(
    ("name", "Name", "na_me", "_name", "__", "é", "größe", "content-type", "1st", "message", "oneof", "x y")
    + ("options", "value", "Value", "id", "ValueList", "value_list", "optional", "Entries", "a\nb", 'a "b"')
    + ("SglOptions", "unspecified", "MOOD", "*/", "//", "\\", "string", "google", "item1", "nameEntry", "_Na")
)
DOC = "a\n*/ b \u2028 \\"


@st.composite
def named_anyhow(draw: st.DrawFn) -> tuple[Type, TypeTable]:
    """Records and enums whose names meet each other and words of the notation in every way."""
    names = draw(st.lists(NAMES, unique=True, min_size=2, max_size=8))
    table: dict[str, Any] = {}
    inner = [Str(), Int(), ListOf(ListOf(Bool())), MapOf(Str(), ListOf(Int())), Optional(ListOf(Int()))]
    inner.append(Alternatives((Int(), Str(), ListOf(Int()), ListOf(Str()))))
    for name in names[1:]:
        if draw(st.booleans()):
            table[name] = EnumType(name, tuple(draw(st.lists(NAMES, unique=True, min_size=1, max_size=6))))
        else:
            parts = st.sampled_from([*inner, *map(Named, table)])
            fields = draw(st.lists(NAMES, unique=True, max_size=6))
            made = tuple(FieldType(each, draw(parts), draw(st.booleans()), doc=DOC) for each in fields)
            table[name] = RecordType(name, made, doc=DOC)
    table[names[0]] = AliasType(names[0], Alternatives((Int(), ListOf(Int()))))
    return ListOf(Alternatives((*map(Named, table), Str()))), table


def test_a_message_that_protoc_makes_for_a_map_hides_no_other() -> None:
    fields = (FieldType("name", MapOf(Str(), Str())), FieldType("entry", Named("NameEntry")))
    table: dict[str, Any] = {"NameEntry": EnumType("NameEntry", ("a",)), "R": RecordType("R", fields)}
    agree(file_of(program_of(Named("R"), table)))


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck), deadline=None)
@given(named_anyhow())
def test_names_that_meet(both: tuple[Type, TypeTable]) -> None:
    agree(file_of(program_of(*both)))
