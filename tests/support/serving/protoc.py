"""protoc of grpcio-tools: what it makes of the texts that `sglc proto` prints."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

INCLUDED = "_proto"


def _protoc(folder: Path, *outputs: str, name: str) -> None:
    import grpc_tools
    from grpc_tools import protoc

    (tools,) = grpc_tools.__path__
    code = protoc.main(["protoc", f"-I{folder}", f"-I{Path(tools) / INCLUDED}", *outputs, name])
    assert code == 0, (folder / name).read_text(encoding="utf-8")


def compiled(text: str, name: str, folder: Path) -> Any:
    """The descriptor that protoc makes of a text."""
    from google.protobuf import descriptor_pb2

    (folder / name).write_text(text, encoding="utf-8")
    _protoc(folder, f"--descriptor_set_out={folder / 'out'}", name=name)
    found = descriptor_pb2.FileDescriptorSet.FromString((folder / "out").read_bytes())
    return found.file[0]


def stub(text: str, stem: str, folder: Path) -> tuple[ModuleType, ModuleType]:
    """The modules of messages and of the stub that protoc writes for Python."""
    name = f"{stem}.proto"
    (folder / name).write_text(text, encoding="utf-8")
    _protoc(folder, f"--python_out={folder}", f"--grpc_python_out={folder}", name=name)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(f"{stem}_pb2"), importlib.import_module(f"{stem}_pb2_grpc")
    finally:
        sys.path.remove(str(folder))
