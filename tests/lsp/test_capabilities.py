"""Every capability of the server, asked for by a real client, mostly about programs of `examples/`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pytest_lsp", reason="pytest-lsp has the client")

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from checkout import ROOT
from editing.lsp_client import MARK, Editor, Talk, position

CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        completion=types.CompletionClientCapabilities(
            completion_item=types.ClientCompletionItemOptions(snippet_support=True)
        )
    )
)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "examples", root, dirs_exist_ok=True)
    (root / "sgl.toml").write_text("")
    talk = Talk(root, CAPABILITIES)
    for name in ("triage.sgl", "modules.sgl", "orders.sgl", "character.sgl"):
        talk.editor.open(name, (root / name).read_text("utf-8"))
    yield talk
    talk.close()


@pytest.fixture
def editor(talk: Talk) -> Editor:
    return talk.editor


def text_of(editor: Editor, name: str) -> str:
    return (editor.root / name).read_text("utf-8")


def at(editor: Editor, name: str, words: str) -> dict[str, object]:
    """The parameters of a place: the mark among the words of a file."""
    text = text_of(editor, name)
    offset = text.index(words.replace(MARK, "")) + words.index(MARK)
    return {"text_document": editor.document(name), "position": position(text, offset)}


def marked(editor: Editor, text: str, name: str = "new.sgl") -> dict[str, object]:
    """The parameters of the mark in a text, which is opened."""
    editor.open(name, text)
    return {"text_document": editor.document(name), "position": position(text, text.index(MARK))}


def test_hover_of_a_hole_tells_all_that_is_known_of_it(talk: Talk) -> None:
    place = at(talk.editor, "triage.sgl", "?{ma‸il: Mail}")
    found = talk.wait(talk.client.text_document_hover_async(types.HoverParams(**place)))
    text = found.contents.value
    assert "?{mail: Mail}" in text and "at least" in text and "Samples" in text
    assert '"type": "Invoice"' in text  # the schema text


def test_hover_of_a_name_shows_its_declaration(talk: Talk) -> None:
    place = at(talk.editor, "triage.sgl", "tri‸age(body)")
    found = talk.wait(talk.client.text_document_hover_async(types.HoverParams(**place)))
    assert "fn triage(body: str) -> Mail within 300 tok" in found.contents.value
    assert "Reads an e-mail and files it." in found.contents.value


def test_definition_goes_to_another_module(talk: Talk) -> None:
    text = text_of(talk.editor, "modules.sgl")
    use = next(line for line in text.splitlines() if line.startswith("use ."))
    name = use.partition("(")[2].split(",")[0].rstrip(")")
    place = at(talk.editor, "modules.sgl", use.partition("(")[0] + "(" + name[0] + MARK + name[1:])
    found = talk.wait(talk.client.text_document_definition_async(types.DefinitionParams(**place)))
    assert found.uri.endswith(".sgl") and "modules.sgl" not in found.uri


def test_type_definition_of_a_value(talk: Talk) -> None:
    place = at(talk.editor, "triage.sgl", "return ma‸il")
    found = talk.wait(talk.client.text_document_type_definition_async(types.TypeDefinitionParams(**place)))
    assert found.range.start == position(text_of(talk.editor, "triage.sgl"), "Mail")


def test_references_and_highlights(talk: Talk) -> None:
    place = at(talk.editor, "triage.sgl", "union Ma‸il")
    context = types.ReferenceContext(include_declaration=True)
    found = talk.wait(
        talk.client.text_document_references_async(types.ReferenceParams(context=context, **place))
    )
    marks = talk.wait(
        talk.client.text_document_document_highlight_async(types.DocumentHighlightParams(**place))
    )
    here = [each.range for each in found if each.uri == talk.editor.uri("triage.sgl")]
    assert len(found) >= 3 and sorted(map(str, here)) == sorted(str(each.range) for each in marks)


def test_renaming_goes_through_holes_and_mocks(talk: Talk) -> None:
    text = "fn ask() -> int:\n    user: | Hi\n    assistant: | ?{si‸ze: int in 0..9}\n    return size\n\n"
    text += 'test "t":\n    mock ask.size = 3\n    expect ask() == 3\n'
    place = marked(talk.editor, text)
    before = talk.wait(talk.client.text_document_prepare_rename_async(types.PrepareRenameParams(**place)))
    assert before.placeholder == "size"
    edit = talk.wait(talk.client.text_document_rename_async(types.RenameParams(new_name="count", **place)))
    (edits,) = edit.changes.values()
    assert [each.range.start.line for each in edits] == [2, 3, 6]


def test_a_name_that_cannot_be_is_refused_with_a_reason(talk: Talk) -> None:
    place = marked(talk.editor, "pub pure fn f(‸a: int) -> int:\n    return a\n")
    with pytest.raises(JsonRpcException, match="cannot be a name"):
        talk.wait(talk.client.text_document_rename_async(types.RenameParams(new_name="if", **place)))


def test_completion_knows_what_is_due(talk: Talk) -> None:
    text = text_of(talk.editor, "triage.sgl") + "\npure fn calm_one(m: Mood) -> bool:\n    return m == ‸"
    place = types.CompletionParams(**marked(talk.editor, text))
    found = talk.wait(talk.client.text_document_completion_async(place))
    first = sorted(found.items, key=lambda item: item.sort_text)[:3]
    assert [item.label for item in first] == ["annoyed", "calm", "furious"]


def test_completion_gives_snippets(talk: Talk) -> None:
    found = talk.wait(
        talk.client.text_document_completion_async(types.CompletionParams(**marked(talk.editor, "rec‸")))
    )
    record = next(item for item in found.items if item.label == "record")
    assert record.insert_text_format == types.InsertTextFormat.Snippet
    assert record.text_edit.range.start == types.Position(0, 0)


def test_signature_help(talk: Talk) -> None:
    text = "pure fn f(a: int, b: str) -> int:\n    return a\n\npure fn g() -> int:\n    return f(1, ‸"
    found = talk.wait(
        talk.client.text_document_signature_help_async(types.SignatureHelpParams(**marked(talk.editor, text)))
    )
    assert found.signatures[0].label == "f(a: int, b: str) -> int" and found.active_parameter == 1


def test_semantic_tokens_cover_words_and_prompt_text(talk: Talk) -> None:
    name = "triage.sgl"
    text = text_of(talk.editor, name)
    legend = talk.server.semantic_tokens_provider.legend.token_types
    found = talk.wait(
        talk.client.text_document_semantic_tokens_full_async(
            types.SemanticTokensParams(talk.editor.document(name))
        )
    )
    lines, line, column, words = text.split("\n"), 0, 0, set()
    for down, right, length, kind, _ in zip(*[iter(found.data)] * 5, strict=True):
        line, column = line + down, right if down else column + right
        words.add((lines[line][column : column + length], legend[kind]))
    wanted = {
        ("enum", "keyword"),
        ("Mood", "type"),
        ("calm", "enumMember"),
        ("mail", "hole"),
        ("?{", "border"),
    }
    assert wanted <= words and ("system", "role") in words
    part = talk.wait(
        talk.client.text_document_semantic_tokens_range_async(
            types.SemanticTokensRangeParams(
                talk.editor.document(name), types.Range(types.Position(2, 0), types.Position(2, 50))
            )
        )
    )
    assert 0 < len(part.data) < len(found.data)


def test_inlay_hints(talk: Talk) -> None:
    text = "pub pure fn f(xs: [int]) -> int:\n    let n = len(xs)\n    return n\n"
    text += "\npub fn g() -> int:\n    user: | Hi\n    assistant: | ?{a: int in 0..9}\n    return a\n"
    talk.editor.open("hints.sgl", text)
    whole = types.Range(types.Position(0, 0), types.Position(9, 0))
    found = talk.wait(
        talk.client.text_document_inlay_hint_async(
            types.InlayHintParams(talk.editor.document("hints.sgl"), whole)
        )
    )
    assert [each.label for each in found] == [": int", "1 B"]


def test_symbols_of_a_file_and_of_the_project(talk: Talk) -> None:
    found = talk.wait(
        talk.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(talk.editor.document("triage.sgl"))
        )
    )
    names = [each.name for each in found]
    assert names[:3] == ["Mood", "Mail", "triage"]
    assert [each.name for each in found[2].children] == ["mail"]
    every = talk.wait(talk.client.workspace_symbol_async(types.WorkspaceSymbolParams("triage")))
    assert "triage" in {each.name for each in every}


def test_folding_and_links(talk: Talk) -> None:
    document = talk.editor.document("orders.sgl")
    folds = talk.wait(talk.client.text_document_folding_range_async(types.FoldingRangeParams(document)))
    assert len(folds) > 5 and all(each.start_line < each.end_line for each in folds)
    links = talk.wait(talk.client.text_document_document_link_async(types.DocumentLinkParams(document)))
    assert {Path(each.target).name for each in links} >= {"orders.sql", "answers.ts"}


def test_lenses_name_commands_of_the_client(talk: Talk) -> None:
    found = talk.wait(
        talk.client.text_document_code_lens_async(types.CodeLensParams(talk.editor.document("triage.sgl")))
    )
    commands = {each.command.command for each in found}
    assert commands == {"sgl.run", "sgl.preview", "sgl.plan", "sgl.fuzz", "sgl.test", "sgl.debug"}
    assert {"uri", "function"} == set(found[0].command.arguments[0])


def test_quick_fixes_make_a_program_right(talk: Talk) -> None:
    text = "pub fn f() -> int:\n    user: | Hi\n    assistant: | ?{a: int in 0..9}\n    return a\n\n"
    text = text.replace("return a", "if a = 3:\n        return 3\n    return a")
    uri = talk.editor.open("fix.sgl", text)
    whole = types.Range(types.Position(0, 0), types.Position(9, 0))
    found = talk.wait(
        talk.client.text_document_code_action_async(
            types.CodeActionParams(talk.editor.document("fix.sgl"), whole, types.CodeActionContext([]))
        )
    )
    repair = next(each for each in found if each.kind == types.CodeActionKind.QuickFix)
    (edit,) = repair.edit.changes[uri]
    assert repair.is_preferred and edit.new_text == "==" and repair.diagnostics[0].range.start.line == 3
    assert any(each.kind == types.CodeActionKind.SourceFixAll for each in found)


def plain(value: object) -> object:
    """Data of an answer, which the client makes objects of."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def test_prompts_are_previewed_as_they_stand_in_the_editor(talk: Talk) -> None:
    params = types.ExecuteCommandParams(
        "sgl.server.preview", [{"uri": talk.editor.uri("triage.sgl"), "function": "triage"}]
    )
    found = plain(talk.wait(talk.client.workspace_execute_command_async(params)))
    assert found["ok"] and "<body>" in found["text"] and "?{mail: Mail}" in found["text"]
    assert found["conversations"][0]["path"] == ["triage"]


def test_plans_and_tests_run(talk: Talk) -> None:
    uri = talk.editor.uri("triage.sgl")
    ask = talk.client.workspace_execute_command_async
    plan = plain(talk.wait(ask(types.ExecuteCommandParams("sgl.server.plan", [{"uri": uri}]))))
    assert plan["ok"] and "triage" in plan["text"]
    tests = plain(talk.wait(ask(types.ExecuteCommandParams("sgl.server.test", [{"uri": uri}]))))
    assert tests["ok"] and tests["tests"] and all(each["passed"] for each in tests["tests"])


def test_what_a_command_cannot_do_is_said(talk: Talk) -> None:
    uri = talk.editor.open("bad.sgl", "pub fn f() -> int:\n    return b\n")
    ask = talk.client.workspace_execute_command_async
    found = plain(talk.wait(ask(types.ExecuteCommandParams("sgl.server.preview", [{"uri": uri}]))))
    assert not found["ok"] and found["diagnostics"][0]["code"] == "E0201"
    with pytest.raises(JsonRpcException, match="uri"):
        talk.wait(ask(types.ExecuteCommandParams("sgl.server.plan", [{}])))


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """A text after edits, the last one first. Positions are those of ASCII."""
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    for edit in reversed(edits):
        first, last = (starts[each.line] + each.character for each in (edit.range.start, edit.range.end))
        text = text[:first] + edit.new_text + text[last:]
    return text


def test_files_are_laid_out(talk: Talk) -> None:
    text = "const A=[1,2]\nconst B  = 3\n\nfn f( n:int )->int:\n  return n+A[0]\n"
    talk.editor.open("wide.sgl", text)
    file, options = talk.editor.document("wide.sgl"), types.FormattingOptions(4, True)
    whole = types.DocumentFormattingParams(file, options)
    edits = talk.wait(talk.client.text_document_formatting_async(whole))
    assert edits is not None and len(edits) > 1
    laid = "const A = [1, 2]\nconst B = 3\n\nfn f(n: int) -> int:\n    return n + A[0]\n"
    assert applied(text, list(edits)) == laid
    last = types.Range(types.Position(4, 0), types.Position(4, 3))
    part = types.DocumentRangeFormattingParams(file, last, options)
    edits = talk.wait(talk.client.text_document_range_formatting_async(part))
    assert applied(text, list(edits or ())) == text[: text.index("fn")] + laid[laid.index("fn") :]
    talk.editor.open("faulty.sgl", "fn f(:\n")
    faulty = types.DocumentFormattingParams(talk.editor.document("faulty.sgl"), options)
    assert talk.wait(talk.client.text_document_formatting_async(faulty)) is None
