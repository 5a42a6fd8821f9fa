"""The compiler of TypeScript: `tsc` in the folder that SGLC_TYPESCRIPT names, or on PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def compiler() -> str | None:
    """`tsc` in the folder that SGLC_TYPESCRIPT names (or in its node_modules), or on PATH."""
    folder = os.environ.get("SGLC_TYPESCRIPT", "")
    places = [folder, f"{folder}/bin", f"{folder}/node_modules/.bin"] if folder else []
    return shutil.which("tsc", path=os.pathsep.join(places)) if places else shutil.which("tsc")


assert compiler() or not os.environ.get("SGLC_TYPESCRIPT"), "SGLC_TYPESCRIPT names no folder with `tsc`"
needs_compiler = pytest.mark.skipif(
    compiler() is None or shutil.which("node") is None, reason="no TypeScript compiler (SGLC_TYPESCRIPT)"
)


def compiled(folder: Path, modules: dict[str, str]) -> None:
    """The modules as JavaScript beside them; fails with what the compiler says."""
    for name, text in modules.items():
        (folder / f"{name}.ts").write_text(text, encoding="utf-8", newline="")
    options = ["--strict", "--noEmitOnError", "--target", "es2022", "--module", "es2022"]
    done = subprocess.run(
        [str(compiler()), *options, *(f"{name}.ts" for name in modules)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
