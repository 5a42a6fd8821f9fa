"""From LLVM IR to callable machine code, with the object code kept on disk.

Compiling a kernel takes tens of milliseconds, loading its object code less than one. Stored objects are
keyed by the IR or the files that write it, the version of LLVM and the processor with its features, carry a
checksum, and are only read from files that belong to this user and that others cannot write. Anything else is
compiled again.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import llvmlite.binding as llvm

from sglc.cache_files import cache_folder, keep, read_own
from sglc.kernels.llvm.target import Target, host

_FORMAT = b"sglc object 2\0"
_DIGEST = 32
_engines: list[llvm.ExecutionEngine] = []
"""Engines own the code they loaded, so they are kept for the life of the process."""


KERNELS = Path(__file__).parent.parent
"""The folder of all kernels."""


def source_files() -> list[Path]:
    """The Python files that machine code may depend on: every file of the kernels, in a fixed order."""
    return sorted(KERNELS.rglob("*.py"))


@lru_cache(maxsize=1)
def _sources() -> bytes:
    """A digest of the files that write the kernels; empty where they are not to be had as files."""
    state = hashlib.sha256()
    files = source_files()
    for path in files:
        data = path.read_bytes()
        state.update(f"{path.relative_to(KERNELS).as_posix()} {len(data)}\0".encode() + data)
    return state.digest() if files else b""


def library_functions(
    build: Callable[[], str], names: Sequence[str], target: Target | None = None
) -> dict[str, int]:
    """Addresses of the functions `names` of the module that `build` writes as IR text.

    Writing the text takes longer than loading an object, so an object made by the same source files for the
    same target is taken without it. Raises RuntimeError if LLVM cannot.
    """
    if not _sources():
        return compile_functions(build(), names, target)
    return _functions(_sources() + " ".join(names).encode(), build, names, target)


def compile_functions(ir: str, names: Sequence[str], target: Target | None = None) -> dict[str, int]:
    """Addresses of the functions `names` of a module given as IR text. Raises RuntimeError if LLVM cannot."""
    return _functions(ir.encode(), lambda: ir, names, target)


def _functions(
    key: bytes, build: Callable[[], str], names: Sequence[str], given: Target | None
) -> dict[str, int]:
    target = given or host()
    digest = hashlib.sha256(_FORMAT + target.identity.encode() + b"\0" + key)
    path = cache_folder() / "objects" / f"{digest.hexdigest()[:40]}.o"
    code = _load(path, digest.digest())
    if code is None:
        code = object_code(build(), target)
        keep(path, _checksum(digest.digest(), code), code)
    # An engine takes ownership of its target machine.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), host().machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    addresses = {name: engine.get_function_address(name) for name in names}
    if not all(addresses.values()):
        raise RuntimeError("the object code lacks a function")
    _engines.append(engine)
    return addresses


def bind(address: int, result: type | None, *arguments: type, brief: bool = False) -> Callable[..., int]:
    """A callable for a function at an address; calls run without the interpreter lock unless `brief`."""
    kind = ctypes.PYFUNCTYPE if brief else ctypes.CFUNCTYPE
    return kind(result, *arguments)(address)


def object_code(ir: str, target: Target) -> bytes:
    """Optimised object code of a module given as IR text. Raises RuntimeError if LLVM cannot."""
    machine = target.machine()
    return bytes(machine.emit_object(optimised(ir, machine)))


def optimised(ir: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    """The module of an IR text after LLVM's passes for a machine."""
    module = llvm.parse_assembly(ir)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    if hasattr(llvm, "create_pass_builder"):
        tuning = llvm.create_pipeline_tuning_options(speed_level=3)
        tuning.loop_vectorization = False
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    return module


def _load(path: Path, key: bytes) -> bytes | None:
    """The object code under a key, if it is what was stored under this key."""
    try:
        data = read_own(path)
    except OSError:
        return None
    code = data[_DIGEST:]
    return code if _checksum(key, code) == data[:_DIGEST] else None


def _checksum(key: bytes, code: bytes) -> bytes:
    """Of code and the key that it is stored under: a file that was renamed is not taken for another."""
    return hashlib.sha256(_FORMAT + key + code).digest()
