"""What is shipped: every folder is listed, data files are found, the metadata says what it should."""

from __future__ import annotations

import importlib.resources
import re
import tomllib

import pytest

import sglc
from checkout import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAPPED = ("runtime", "kernels", "stdlib", "grammar")


def packages_on_disk() -> set[str]:
    found = set()
    for folder in ("sglc", *MAPPED):
        for face in (ROOT / folder).rglob("__init__.py"):
            parts = face.parent.relative_to(ROOT).parts
            found.add(".".join(parts if folder == "sglc" else ("sglc", *parts)))
    return found


def test_every_package_folder_is_listed() -> None:
    listed = PYPROJECT["tool"]["setuptools"]["packages"]
    assert set(listed) == packages_on_disk()
    assert len(listed) == len(set(listed))


def test_every_folder_with_python_files_is_a_package() -> None:
    for folder in ("sglc", *MAPPED):
        for path in (ROOT / folder).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), f"{path.parent} has no __init__.py"


@pytest.mark.parametrize("folder", MAPPED)
def test_mapped_folders_are_where_the_mapping_says(folder: str) -> None:
    assert PYPROJECT["tool"]["setuptools"]["package-dir"][f"sglc.{folder}"] == folder
    assert (ROOT / folder / "__init__.py").exists()


def test_data_files_are_found_through_the_package() -> None:
    grammar = importlib.resources.files("sglc.grammar") / "sgl.lark"
    assert grammar.is_file()
    modules = [entry.name for entry in importlib.resources.files("sglc.stdlib").iterdir()]
    assert "text.sgl" in modules


def test_every_data_file_has_an_ending_that_is_packed() -> None:
    packed = PYPROJECT["tool"]["setuptools"]["package-data"]
    moved = PYPROJECT["tool"]["setuptools"]["package-dir"]
    for package, patterns in packed.items():
        top = next((top for top in moved if f"{package}.".startswith(f"{top}.") and top != "sglc"), "sglc")
        folder = ROOT / moved[top] / package.removeprefix(top).replace(".", "/").lstrip("/")
        below = [path for path in folder.iterdir() if path.is_dir() and not (path / "__init__.py").exists()]
        for path in (each for place in (folder, *below) for each in place.iterdir()):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                assert any(path.match(pattern) for pattern in patterns), f"{path} would not be shipped"


def test_the_version_is_said_once_and_the_same() -> None:
    assert PYPROJECT["project"]["version"] == sglc.__version__
    assert f"## {sglc.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_metadata_is_complete() -> None:
    project = PYPROJECT["project"]
    assert project["license"] == "Apache-2.0"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").lstrip().startswith("Apache License")
    assert project["requires-python"] == ">=3.11"
    assert project["scripts"] == {"sglc": "sglc.cli:main"}
    assert project["entry-points"] == {
        "pygments.lexers": {"sgl": "sglc.highlight.pygments_lexer:SglLexer"},
        "pytest11": {"sgl": "sglc.pytest_plugin"},
    }


def test_the_base_needs_neither_torch_nor_transformers() -> None:
    """They come with an extra, in the version that is tested with the tests."""
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    assert not any(re.match("torch|transformers", line) for line in project["dependencies"])
    assert [re.split("[>=]", line)[0] for line in extras["torch"]] == ["torch", "transformers"]
    assert "torch==2.13.0" in extras["test"] and "sglc[all]" in extras["test"]


def test_what_the_code_imports_is_declared() -> None:
    """Every third-party package of the layer law is a dependency or of an extra, or comes with one."""
    from layers import OPEN, THIRD_PARTY

    extras = PYPROJECT["project"]["optional-dependencies"]
    used = [line for name, extra in extras.items() if name != "dev" for line in extra]
    lines = PYPROJECT["project"]["dependencies"] + used
    names = {re.split(r"[<>=!~ \[]", line)[0].replace("-", "_") for line in lines}
    declared = {re.sub("_(api|py)$", "", name) for name in names}  # opentelemetry-api holds opentelemetry
    other_names = {
        **{"grpcio": "grpc", "grpcio_reflection": "grpc_reflection"},
        **{"grpcio_health_checking": "grpc_health", "protobuf": "google", "ipython": "IPython"},
    }
    declared |= {module for name, module in other_names.items() if name in names}
    # triton comes with torch for GPUs, pygments with rich, lsprotocol with pygls
    come_along = {"typing_extensions", "huggingface_hub", "triton", "anyio", "lsprotocol", "pygments"}
    assert (set(THIRD_PARTY) | OPEN) - come_along <= declared


def test_the_ban_on_bare_names_is_complete() -> None:
    banned = PYPROJECT["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    assert {"kernels", "runtime", "stdlib", "pickle"} <= set(banned)


def test_machine_code_is_kept_by_the_sources_of_every_kernel() -> None:
    from sglc.kernels.llvm.jit import source_files

    assert set(source_files()) == set((ROOT / "kernels").rglob("*.py"))
