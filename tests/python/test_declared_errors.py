"""Declared errors in Python: classes of their own, the user's own classes, and stubs that know them."""

from __future__ import annotations

import pickle  # noqa: TID251
from pathlib import Path

import pytest

import sglc
from python_programs.modules import python_module
from sglc.cli import main

PROGRAM = """\
enum Mood: calm, cross
error Stuck(step: int, mood: Mood, reason: str, from: str?)
error Bare

pub fn half(x: int) -> int:
    if x == 1: raise Stuck(x, calm, "odd", null)
    if x == 3: raise Bare
    return [x][x] if x == 5 else x // 2
"""


def test_an_error_has_a_class_with_its_fields(tmp_path: Path) -> None:
    path = tmp_path / "halves.sgl"
    path.write_text(PROGRAM, encoding="utf-8")
    module = sglc.load(path)
    with pytest.raises(module.Stuck) as caught:
        module.half(1)
    error = caught.value
    assert isinstance(error, sglc.RunError) and error.name == "Stuck"
    assert (error.step, error.mood, error.from_) == (1, module.Mood.calm, None)
    assert error.reason == "1, calm, odd, null" and error.fields["reason"] == "odd"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is module.Stuck and again.step == 1 and again.fields == error.fields
    with pytest.raises(AttributeError, match="Stuck has no field `other`"):
        _ = error.other
    with pytest.raises(module.Bare):
        module.half(3)
    with pytest.raises(sglc.RunError) as other:
        module.half(5)
    assert type(other.value) is sglc.RunError and other.value.name == "Failure"
    assert {"Stuck", "Bare"} <= set(dir(module))
    assert sglc.load(path).Stuck is module.Stuck
    with pytest.raises(AttributeError, match="did you mean `Stuck`"):
        _ = module.Stuk


def test_stubs_have_them(tmp_path: Path) -> None:
    path = tmp_path / "halves.sgl"
    path.write_text(PROGRAM, encoding="utf-8")
    assert main(["stubs", str(path)]) == 0
    written = path.with_suffix(".pyi").read_text()
    # `reason` of every RunError is its message: the field of that name is in `fields` alone.
    assert (
        "class Stuck(RunError):\n    step: int\n    mood: Mood\n    from_: str | None\n" in written
        and "class Bare(RunError):\n    ...\n" in written
    )


OWN = """
    from dataclasses import dataclass
    import sglc

    class Plain(Exception):
        step: int

    @dataclass
    class Data(Exception):
        step: int
        mood: str = "calm"

    class Picky(Exception):
        step: int
        def __init__(self, step: int) -> None:
            if step == 3: raise ValueError("not 3")
            super().__init__(step)
            self.step = step

    @sglc.sgl_function(pure=True)
    def check(x: int) -> int:
        if x == 1: raise Plain(x)
        if x == 2: raise Data(x, "cross")
        if x in [3, 4]: raise Picky(x)
        return x

    @sglc.fn
    def told(x: int) -> int:
        \"\"\"
        if x == 1: raise Plain(x)
        return x
        \"\"\"
"""


def test_programs_in_python_raise_the_users_own_exceptions(tmp_path: Path) -> None:
    module = python_module(tmp_path, OWN)
    with pytest.raises(module.Plain) as plain:
        module.check(1)
    assert plain.value.step == 1 and plain.value.args == (1,)
    cause = plain.value.__cause__
    assert isinstance(cause, sglc.RunError) and (cause.name, cause.fields) == ("Plain", {"step": 1})
    with pytest.raises(module.Data) as data:
        module.check(2)
    assert (data.value.step, data.value.mood) == (2, "cross")
    with pytest.raises(module.Picky):
        module.check(4)
    with pytest.raises(sglc.RunError) as refused:
        module.check(3)
    assert refused.value.name == "Picky" and isinstance(refused.value.__cause__, ValueError)
    with pytest.raises(module.Plain):
        module.told(1)


def test_a_module_that_is_imported_has_them(tmp_path: Path) -> None:
    import importlib

    import sglc.importer  # noqa: F401

    (tmp_path / "halves_of_errors.sgl").write_text(PROGRAM, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        halves = importlib.import_module("halves_of_errors")
        with pytest.raises(halves.Stuck):
            halves.half(1)
