"""The target `pydantic`: judged by Pydantic on values and on what is nearly one, and by mypy."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import types as python_types
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkout import EXAMPLES
from example_budget import examples
from judges.json_reading import is_argument
from sglc.driver import write_target
from sglc.source import Source
from sglc.targets.pydantic_models import COUNTS, write_types
from sglc.types.text.plain_json import dumps, from_json, parse_json
from sglc.types.type import (
    AliasType,
    Constant,
    Dec,
    EnumType,
    FieldType,
    Float,
    Int,
    ListOf,
    Named,
    RecordType,
    Str,
    matching,
)
from sglc.types.values import EnumValue, RecordValue
from strategies.near_misses import edited
from strategies.typed_values import SEEDS, types, values_of

pydantic = pytest.importorskip("pydantic")


def module_of(table) -> python_types.ModuleType:
    """The module that is written of a table of types."""
    written = write_types(table)
    assert not written.losses
    module = python_types.ModuleType("written_models")
    sys.modules[module.__name__] = module  # where Pydantic looks for names that come later
    exec(compile(written.text, "written_models.py", "exec"), module.__dict__)
    return module


def adapter_of(type, table=None):
    return pydantic.TypeAdapter(module_of({**(table or {}), "It": AliasType("It", type)}).It)


def accepts(adapter, data: object) -> bool:
    try:
        adapter.validate_json(json.dumps(data, default=float))
    except pydantic.ValidationError:
        return False
    return True


@pytest.mark.slow
@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(types(), SEEDS, st.data())
def test_models_accept_exactly_the_values(case, seed, data) -> None:
    type, table = case
    adapter = adapter_of(type, table)
    dice = random.Random(seed)
    value = parse_json(dumps(data.draw(values_of(type, table)), type, table))
    for other in (value, *(edited(dice, value) for _ in range(4))):
        if parse_json(json.dumps(other, default=float)) != other:
            continue  # Pydantic reads numbers as floats: it does not see this one
        assert accepts(adapter, other) == is_argument(other, type, table), other
        if accepts(adapter, other):
            again = adapter.dump_json(adapter.validate_json(json.dumps(other, default=float)))
            assert _read(again.decode(), type, table) == from_json(other, type, table)


def _read(text: str, type, table) -> object:
    return from_json(parse_json(text), type, table)


PATTERNS = [
    (r"(?i)straße", ("STRASSE", "Straße", "STRAẞE", "straße\n")),
    (r"\d+", ("12", "1２", "12\n", "")),
    (r"a$|b", ("a", "a\n", "b")),
    (r"(?!The )[A-Z][a-z]+ x", ("The x", "Ann x", "Ann x\n")),
    (r"(?<=^|x)a.*(?<!b|cd)", ("a", "ab", "acd", "ad")),
    (r"[\[\]^\-\\&~|/$]{2}", ("[]", "^-", "\\&", "~|", "ab", "$$")),
    (rf"[a-z]{{1,{COUNTS}}}", ("a", "a" * COUNTS, "a" * (COUNTS + 1))),
    (r"[a-z\u00e0-\uffff]{1,9000}", ("a", "A", "é")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("pattern", "texts"), PATTERNS, ids=[pattern for pattern, _ in PATTERNS])
def test_a_pattern_means_the_same(pattern: str, texts: tuple[str, ...]) -> None:
    adapter = adapter_of(matching(pattern))
    told = {text: accepts(adapter, text) for text in texts}
    assert told == {text: is_argument(text, matching(pattern), {}) for text in texts}
    assert len(set(told.values())) == 2


def test_a_look_behind_that_python_refuses_is_lost() -> None:
    written = write_types({"It": AliasType("It", matching("a(?<=b*a)c"))})
    assert [loss.construct for loss in written.losses] == ["a look behind over no fixed number of characters"]
    assert "# Lost: a look behind" in written.text


NAMED = {
    "Field": EnumType("Field", ("name", "None", "_x", "sehr böse")),
    "Crew": RecordType(
        "Crew",
        (
            FieldType("class", Int()),
            FieldType("json", Str(), optional=True),
            FieldType("model_dump", Int()),
            FieldType("int", Int(), has_default=True, default=3),
            FieldType("Crew", Named("Field"), has_default=True, default=EnumValue("Field", "_x")),
            FieldType("unit price", Dec(), has_default=True, default=Decimal("1.50")),
            FieldType("tags", ListOf(Int()), has_default=True, default=[1, 2]),
            FieldType("at", Named("Spot"), has_default=True, default=RecordValue("Spot", {"x": 1.5})),
        ),
        doc='A "quoted" \\ doc.',
    ),
    "Spot": RecordType("Spot", (FieldType("x", Float()),)),
}


def test_names_that_python_has_taken_keep_their_keys() -> None:
    module = module_of(NAMED)
    made = module.Crew.model_validate_json('{"class": 1, "model_dump": 2}')
    assert (made.class_, made.model_dump_, made.int_, made.unit_price) == (1, 2, 3, Decimal("1.50"))
    assert made.Crew_.value == "_x" and made.tags == [1, 2] and made.at.x == 1.5
    keys = [field.name for field in NAMED["Crew"].fields]
    assert list(json.loads(made.model_dump_json())) == keys
    assert module.Crew.__doc__ == 'A "quoted" \\ doc.'


def test_a_decimal_keeps_its_digits() -> None:
    adapter = adapter_of(Dec())
    for text in ("1.5", '"17600000999000000000.5"', '"0.10000000000000000000001"', "3"):
        assert adapter.dump_json(adapter.validate_json(text)).decode() == text
    assert not accepts(adapter_of(Constant(Decimal("1.50"))), "1.50")
    assert accepts(adapter_of(Constant(Decimal("1.50"))), Decimal("1.5"))


@pytest.mark.parametrize("wanted", [True, False, 1, 0, 7])
def test_a_literal_takes_nothing_that_is_merely_equal(wanted: bool | int) -> None:
    type = Constant(wanted)
    for other in (True, False, 0, 1, 7, 8, Decimal("7.0"), "1", "true", None):
        assert accepts(adapter_of(type), other) == is_argument(other, type, {}), other


@pytest.mark.slow
def test_mypy_accepts_the_examples(tmp_path: Path) -> None:
    files = {f"example_{path.stem}": path for path in sorted(EXAMPLES.glob("*.sgl"))}
    for name, path in files.items():
        text, _ = write_target(
            Source(str(path), path.read_text(encoding="utf-8")), "pydantic", allow_wider=True
        )
        assert text
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "names.py").write_text(write_types(NAMED).text, encoding="utf-8")
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *(path.name for path in tmp_path.glob("*.py"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
