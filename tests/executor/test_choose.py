"""Which executor a model gets, and what is said where the packages of one are not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from sglc.runtime.executor import choose
from sglc.runtime.model import load
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.model.weights.family import NotNativeError

COMMAND = "pip install 'sglc[torch]'"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A model folder, where torch and transformers are not installed."""
    found = importlib.util.find_spec

    def without(name: str) -> object:
        return None if name in ("torch", "transformers") else found(name)

    monkeypatch.setattr(load.importlib.util, "find_spec", without)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kind": "torch"}, "the executor `torch` was asked for"),
        ({"dtype": "float32"}, "float32 is computed by torch"),
        ({"device": "cuda"}, "the device cuda is used through torch"),
    ],
)
def test_what_asks_for_torch_without_it_says_the_command(
    bare: Path, options: dict[str, str], why: str
) -> None:
    with pytest.raises(ModelError) as refused:
        choose.load_executor(str(bare), **options)
    error = refused.value
    assert error.what == "this needs torch and transformers, which are not installed"
    assert (error.where, error.why, error.hint) == (str(bare), why, COMMAND)


def test_several_processes_need_torch(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ModelError, match="several processes share a model through torch"):
        choose.load_executor(str(bare))


def test_a_model_that_is_not_native_needs_torch(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> object:
        raise NotNativeError("its attention is not known")

    monkeypatch.setattr(choose, "resolve", lambda *_: bare)
    monkeypatch.setattr(choose, "_native", refuse)
    with pytest.raises(ModelError) as refused:
        choose.load_executor("other")
    assert refused.value.hint == COMMAND
    assert refused.value.why.endswith("does not compute this model: its attention is not known")


def test_the_reference_engine_needs_transformers(bare: Path) -> None:
    with pytest.raises(ModelError, match="pip install"):
        load.load_model(str(bare))


def test_one_package_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        load.importlib.util, "find_spec", lambda name: None if name == "transformers" else object()
    )
    with pytest.raises(ModelError, match="this needs transformers, which is not installed"):
        load.require_torch("m", "it is a test")


def test_nothing_is_said_where_both_are_installed() -> None:
    load.require_torch("m", "it is a test")
