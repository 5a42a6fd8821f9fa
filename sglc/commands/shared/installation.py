"""What `sglc --version --verbose` tells: what a report of a fault or of a slow run begins with."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "numpy",
    "llvmlite",
    "tokenizers",
    "safetensors",
    "jinja2",
    "torch",
    "transformers",
    "lark",
    "click",
)
TOLD = (
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512vnni",
    "avxvnni",
    "amx-int8",
    "neon",
    "dotprod",
    "i8mm",
    "sve",
)
"""Features of processors that kernels are written for, or that decide how fast they are."""


def described() -> Iterator[tuple[str, str]]:
    """Rows of a name and a text."""
    yield "Python", f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"
    yield "packages", ", ".join(f"{name} {_installed(name)}" for name in PACKAGES)
    yield "processor", _processor()
    yield "kernels", _kernels()
    from sglc.cache_files import cache_folder

    yield "cache", str(cache_folder())


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(absent)"


def _processor() -> str:
    try:
        from sglc.kernels.llvm.target import host

        target = host()
    except (ImportError, OSError, RuntimeError) as fault:
        return f"{platform.machine()}, unknown to LLVM ({type(fault).__name__}: {fault})"
    told = " ".join(name for name in TOLD if name in target.has)
    return f"{target.cpu} ({target.triple}), {told or 'no features of note'}"


def _kernels() -> str:
    from sglc.kernels.bitmask.operations import compiled
    from sglc.kernels.jit_library import reason_for_reference

    if compiled():
        return "native"
    return f"reference in Python, hundreds of times slower: {reason_for_reference() or 'it was asked for'}"
