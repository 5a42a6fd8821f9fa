"""Files that programs take in, `sgl.toml`, and settings, with a real client."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pytest_lsp", reason="pytest-lsp has the client")

from lsprotocol import types
from pytest_lsp import LanguageClient

from editing.lsp_client import Editor, position, with_editor

pytestmark = pytest.mark.slow  # each test starts a server of its own

INCLUDES = """pub fn f() -> str max 9 chars:
    user:
        include "note.md"
    assistant: | ?{a: str max 9 chars}
    return a
"""
SCHEMA = 'type t = json schema "t.json"\n\npub pure fn f(a: t) -> int:\n    return a.size\n'


def test_included_texts_count_as_they_are_in_the_editor(tmp_path: Path) -> None:
    async def scenario(editor: Editor) -> str:
        editor.open("a.sgl", INCLUDES)
        await editor.until("a.sgl", ["E0211"])  # there is no such file
        editor.open("note.md", "Of the disk it is not.")
        await editor.until("a.sgl", [])
        editor.replace("note.md", "Unsaved words.\n")
        wanted = {"uri": editor.uri("a.sgl"), "function": "f"}
        asked = types.ExecuteCommandParams("sgl.server.preview", [wanted])
        found = await editor.client.workspace_execute_command_async(asked)
        editor.close("note.md")
        await editor.until("a.sgl", ["E0211"])
        return str(found)

    assert "Unsaved words." in with_editor(tmp_path, scenario)


def test_edits_of_a_schema_reach_the_programs_with_it(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"type": "object", "properties": {}}')

    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", SCHEMA)
        editor.open("t.json", '{"type": "strin')
        (found,) = await editor.until("a.sgl", ["E0354"])
        assert "t.json" in found.message
        assert editor.uri("t.json") not in editor.client.diagnostics, "it is no program"
        editor.replace("t.json", '{"type": "sring"}')
        await editor.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        place = types.HoverParams(editor.document("t.json"), types.Position(0, 3))
        assert await editor.client.text_document_hover_async(place) is None

    with_editor(tmp_path, scenario)


def test_included_files_that_change_on_the_disk_are_read_again(tmp_path: Path) -> None:
    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", INCLUDES)
        await editor.until("a.sgl", ["E0211"])
        (tmp_path / "note.md").write_text("There it is.")
        event = types.FileEvent(editor.uri("note.md"), types.FileChangeType.Created)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        await editor.until("a.sgl", [])

    with_editor(tmp_path, scenario)


@pytest.mark.parametrize("pulls", [False, True], ids=["sent", "asked for"])
def test_faults_of_the_project_file_are_told_in_it(tmp_path: Path, pulls: bool) -> None:
    toml = '[project]\nname = "a"\n\n[run]\nsede = 3\n'
    (tmp_path / "sgl.toml").write_text(toml)
    asking = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())

    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", "pub pure fn f() -> int:\n    return 1\n")
        (found,) = await editor.until("sgl.toml", ["E0825"])
        assert found.range.start == position(toml, "sede") and "seed" in found.message
        editor.open("sgl.toml", toml)
        editor.replace("sgl.toml", toml.replace("sede", "seed"))
        await editor.until("sgl.toml", [])
        editor.replace("sgl.toml", toml + "[models\n")
        (found,) = await editor.until("sgl.toml", ["E0825"])
        assert found.range.start.line == 5 and "no TOML" in found.message
        editor.close("a.sgl")
        editor.close("sgl.toml")
        await editor.until("sgl.toml", [])

    capabilities = types.ClientCapabilities(text_document=asking if pulls else None)
    with_editor(tmp_path, scenario, capabilities=capabilities)


HINTED = """pub fn f(xs: [int]) -> int in 0..9:
    let n = len(xs)
    user: | How many are ${n}?
    assistant: | ?{a: int in 0..9}
    return a
"""


async def hints_and_lenses(editor: Editor) -> tuple[int, int]:
    """How many hints and lenses a program has."""
    document, whole = editor.document("a.sgl"), types.Range(types.Position(0, 0), types.Position(9, 0))
    hints = await editor.client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
    lenses = await editor.client.text_document_code_lens_async(types.CodeLensParams(document))
    return len(hints or ()), len(lenses or ())


ASKED = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
    text_document=types.TextDocumentClientCapabilities(
        synchronization=types.TextDocumentSyncClientCapabilities(dynamic_registration=True)
    ),
)


def test_settings_are_asked_for_and_obeyed(tmp_path: Path) -> None:
    registered: list[types.Registration] = []
    refreshed: set[str] = set()

    def prepare(client: LanguageClient) -> None:
        client.set_configuration({"lenses": False}, section="sglc.lsp")

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            registered.extend(params.registrations)

        for method in (types.WORKSPACE_INLAY_HINT_REFRESH, types.WORKSPACE_CODE_LENS_REFRESH):

            @client.feature(method)
            def refresh(params: None, method: str = method) -> None:
                refreshed.add(method)

    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", HINTED)
        await editor.until("a.sgl", [])
        assert await hints_and_lenses(editor) == (2, 0)
        editor.client.set_configuration({"hints": False}, section="sglc.lsp")
        editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        while len(refreshed) < 2 or (await hints_and_lenses(editor))[0]:
            await asyncio.sleep(0.05)
        assert (await hints_and_lenses(editor))[1] > 0

    with_editor(tmp_path, scenario, capabilities=ASKED, prepare=prepare)
    methods = [each.method for each in registered]
    assert methods == [
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION,
        types.TEXT_DOCUMENT_DID_OPEN,
        types.TEXT_DOCUMENT_DID_CHANGE,
        types.TEXT_DOCUMENT_DID_CLOSE,
    ]


def test_settings_that_are_sent_stand_above_those_of_the_start(tmp_path: Path) -> None:
    async def scenario(editor: Editor) -> None:
        editor.open("a.sgl", HINTED)
        await editor.until("a.sgl", [])
        assert (await hints_and_lenses(editor))[0] == 0
        sent = types.DidChangeConfigurationParams({"sglc": {"lsp": {"hints": True}}})
        editor.client.workspace_did_change_configuration(sent)
        assert (await hints_and_lenses(editor))[0] == 2
        nothing = types.DidChangeConfigurationParams({"sglc": {"lsp": {}}})
        editor.client.workspace_did_change_configuration(nothing)
        assert (await hints_and_lenses(editor))[0] == 0

    with_editor(tmp_path, scenario, options={"hints": False})
