"""The server's session with a real client: files, encodings, diagnostics sent and asked for, settings."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("pytest_lsp", reason="pytest-lsp has the client")

from lsprotocol import types

from checkout import ROOT
from editing.lsp_client import Editor, position, with_editor

pytestmark = pytest.mark.slow  # each test starts a server of its own

WRONG = "pub pure fn f(a: int) -> int:\n    return b\n"


def codes(found: list[types.Diagnostic]) -> list[object]:
    return [each.code for each in found]


def test_diagnostics_follow_edits(tmp_path: Path) -> None:
    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", WRONG)
        found = await editor.diagnostics("a.sgl")
        assert codes(found) == ["E0201"]
        assert found[0].range.start == position(WRONG, WRONG.index("b\n"))
        assert "`b`" in found[0].message and found[0].source == "sglc"
        end = position(WRONG, WRONG.index("b\n") + 1)
        here = types.Range(found[0].range.start, end)
        editor.change("a.sgl", types.TextDocumentContentChangePartial(here, "a"))
        assert await editor.diagnostics("a.sgl") == []

    with_editor(tmp_path, scenario)


def test_an_edit_in_an_open_module_reaches_those_that_use_it(tmp_path: Path) -> None:
    (tmp_path / "parts.sgl").write_text("pub pure fn g() -> int:\n    return 1\n")

    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", "use ./parts (g)\n\npub pure fn f() -> int:\n    return g()\n")
        assert await editor.diagnostics("a.sgl") == []
        editor.open("parts.sgl", "pub pure fn g() -> int:\n    return 2\n")
        editor.replace("parts.sgl", 'pub pure fn g() -> str:\n    return "x"\n')
        while not (found := await editor.diagnostics("a.sgl")):
            pass
        assert codes(found) == ["E0301"]

    with_editor(tmp_path, scenario)


def test_errors_of_a_module_are_told_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "parts.sgl").write_text("pub pure fn g() -> int:\n    return nothing_like_it\n")

    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", "use ./parts (g)\n\npub pure fn f() -> int:\n    return g()\n")
        (found,) = await editor.diagnostics("a.sgl")
        assert found.range.start.line == 0 and "parts" in found.message
        (related,) = found.related_information or ()
        assert related.location.uri == editor.uri("parts.sgl")

    with_editor(tmp_path, scenario)


def test_files_that_change_on_the_disk_are_read_again(tmp_path: Path) -> None:
    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", "use ./parts (g)\n\npub pure fn f() -> int:\n    return g()\n")
        assert codes(await editor.diagnostics("a.sgl")) == ["E0213"]
        (tmp_path / "parts.sgl").write_text("pub pure fn g() -> int:\n    return 1\n")
        event = types.FileEvent(editor.uri("parts.sgl"), types.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert await editor.diagnostics("a.sgl") == []

    with_editor(tmp_path, scenario)


@pytest.mark.parametrize("encoding", list(types.PositionEncodingKind), ids=lambda kind: kind.value)
def test_positions_are_counted_as_agreed(tmp_path: Path, encoding: types.PositionEncodingKind) -> None:
    text = 'pure fn f() -> str:\n    return "😀é" + b\n'
    general = types.GeneralClientCapabilities(position_encodings=[encoding])

    async def scenario(editor: Editor) -> types.Range:
        editor.open("a.sgl", text)
        (found,) = await editor.diagnostics("a.sgl")
        return found.range

    found = with_editor(tmp_path, scenario, capabilities=types.ClientCapabilities(general=general))
    before = text.splitlines()[1].partition("b")[0]
    units = {"utf-8": len(before.encode()), "utf-16": len(before) + 1, "utf-32": len(before)}
    assert found.start == types.Position(1, units[encoding.value])


def test_a_client_may_ask_for_diagnostics_instead(tmp_path: Path) -> None:
    wanted = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())

    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", WRONG)
        report = await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(editor.document("a.sgl"))
        )
        assert codes(list(report.items)) == ["E0201"]
        assert not editor.client.diagnostics

    with_editor(tmp_path, scenario, capabilities=types.ClientCapabilities(text_document=wanted))


def test_buffers_that_were_never_saved_are_checked(tmp_path: Path) -> None:
    (tmp_path / "parts.sgl").write_text("pub pure fn g() -> int:\n    return 1\n")

    async def scenario(editor: Editor) -> None:
        name = "untitled:Untitled-1"
        editor.open(name, "use ./parts (g)\n\npub pure fn f() -> int:\n    return g() + c\n")
        assert codes(await editor.diagnostics(name)) == ["E0201"]
        editor.close(name)
        assert await editor.diagnostics(name) == []

    with_editor(tmp_path, scenario)


def test_wrong_settings_are_told(tmp_path: Path) -> None:
    async def scenario(editor: Editor) -> None:
        settings = {"sglc": {"lsp": {"model": 3}}}
        changed = types.DidChangeConfigurationParams(settings)
        editor.client.workspace_did_change_configuration(changed)
        await editor.client.wait_for_notification(types.WINDOW_SHOW_MESSAGE)
        assert "sglc.lsp.model" in editor.client.messages[-1].message

    with_editor(tmp_path, scenario)


def test_every_example_is_found_sound(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    programs = sorted((tmp_path / "examples").glob("*.sgl"))

    async def scenario(editor: Editor) -> dict[str, list[str]]:
        wrong = {}
        for path in programs:
            name = f"examples/{path.name}"
            editor.open(name, path.read_text("utf-8"))
            errors = [d.message for d in await editor.diagnostics(name) if d.severity == 1]
            if errors:
                wrong[name] = errors
            editor.close(name)
        return wrong

    assert len(programs) > 20
    assert with_editor(tmp_path, scenario) == {}


def test_the_log_holds_no_texts(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", WRONG + "# a word like swordfish\n")
        await editor.diagnostics("a.sgl")

    with_editor(tmp_path, scenario, arguments=("--log", str(log)))
    text = log.read_text("utf-8")
    assert text and "swordfish" not in text and "pure fn" not in text
