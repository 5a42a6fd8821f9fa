"""The command `sglc lsp`: what it refuses, what it imports, and a client over TCP."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("pytest_lsp", reason="pytest-lsp has the client")

from lsprotocol import types
from pytest_lsp.client import make_test_lsp_client

pytestmark = pytest.mark.slow  # each test starts a server of its own


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "sglc", "lsp", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--tcp", "nowhere"), "HOST:PORT"),
        (("--tcp", "127.0.0.1:0"), "HOST:PORT"),
        (("--tcp", "0.0.0.0:9999"), "on this machine only"),
        (("--tcp", "127.0.0.1:9257", "--stdio"), "two ways"),
    ],
)
def test_wrong_options_are_refused(arguments: tuple[str, ...], told: str) -> None:
    found = run(*arguments)
    assert found.returncode == 2 and told in found.stderr


def test_a_missing_extra_is_told() -> None:
    code = (
        "import sys; sys.modules['pygls'] = None\nfrom sglc.cli import main; raise SystemExit(main(['lsp']))"
    )
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120)
    assert found.returncode == 1 and "E0812" in found.stderr and "pip install 'sglc[lsp]'" in found.stderr


def test_the_server_starts_without_what_only_models_need() -> None:
    code = (
        "import sys\nfrom sglc.lsp.server import make_server\nfrom sglc.lsp.settings import Settings\n"
        "from sglc.commands.editing.actions import Actions\nmake_server(Settings(), Actions())\n"
        "print(sorted({'torch', 'transformers', 'numpy', 'llvmlite', 'tokenizers'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120)
    assert found.stdout.strip() == "[]", found.stderr


def test_an_end_of_the_input_ends_the_server() -> None:
    assert run().returncode in (0, 1)


def test_a_client_may_come_over_tcp(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-P", "-m", "sglc", "lsp", "--tcp", f"127.0.0.1:{port}"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    async def talk() -> list[types.Diagnostic]:
        client = make_test_lsp_client()
        for _ in range(600):
            with suppress(OSError):
                await client.start_tcp("127.0.0.1", port)
                break
            await asyncio.sleep(0.1)
        await client.initialize_session(types.InitializeParams(types.ClientCapabilities()))
        uri = (tmp_path / "a.sgl").as_uri()
        item = types.TextDocumentItem(uri, "sgl", 1, "pub fn f() -> int:\n    return b\n")
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return list(client.diagnostics[uri])

    try:
        found = asyncio.run(asyncio.wait_for(talk(), 90))
        assert [each.code for each in found] == ["E0201"]
    finally:
        server.kill()
        server.communicate()
