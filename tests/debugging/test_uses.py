"""What people do in the middle of a run: pause, end it, leave, edit the program that runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from debugging.client import Client

LONG = """\
fn story(of: str = "a boat") -> int:
    user: | A story of ${of}
    assistant: | ?{text: str max 20_000 chars}
    assistant: | Its length: ?{size: int in 0..99_999}
    return size
"""
SHORT = """\
fn name(of: str = "a boat") -> str:
    user: | ${of}
    assistant: | ?{word: str matching /[a-z]{3}/}
    let twice = word + word
    return twice
"""
ENDLESS = """\
fn main() -> int:
    var n = 0
    while n >= 0 limit 900_000_000:
        n = n + 1
    return n
"""


class Editor:
    """A client with one program that is open."""

    def __init__(self, folder: Path, text: str, answers: object) -> None:
        self.path = folder / "open.sgl"
        self.path.write_text(text, encoding="utf-8")
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        self.model = f"scripted:{folder / 'answers.json'}"
        self.client = Client()

    async def launch(self, **more: object) -> None:
        """As far as to where breakpoints are set."""
        await self.client.body("initialize", adapterID="sgl")
        await self.client.body("launch", program=str(self.path), model=self.model, **more)
        await self.client.event("initialized")

    async def set(self, *lines: int) -> list[dict[str, Any]]:
        """Set breakpoints at lines."""
        wanted = [{"line": line} for line in lines]
        body = await self.client.body("setBreakpoints", source={"path": str(self.path)}, breakpoints=wanted)
        found: list[dict[str, Any]] = body["breakpoints"]
        return found

    async def top(self) -> dict[str, Any]:
        """The newest frame where the run stands."""
        body = await self.client.body("stackTrace", threadId=1)
        found: dict[str, Any] = body["stackFrames"][0]
        return found

    async def end(self) -> None:
        """Leave; nothing of the run goes on."""
        await self.client.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert not any("internal error" in text for text in self.client.output)


def story(folder: Path) -> Editor:
    return Editor(folder, LONG, {"text": ["once " * 2000], "size": ["10"]})


@pytest.mark.slow
def test_a_pause_comes_within_a_hole(tmp_path: Path) -> None:
    async def session() -> None:
        editor = story(tmp_path)
        await editor.launch()
        await editor.client.body("configurationDone")
        await editor.client.event("output")
        await editor.client.body("pause", threadId=1)
        stopped = (await editor.client.event("stopped", "terminated"))["body"]
        assert stopped["reason"] == "pause" and "token" in stopped["text"]
        mask = await editor.client.body("sgl/mask")
        assert mask["hole"] == "story.text" and "once once ".startswith(mask["written"])
        assert (await editor.top())["line"] == 3
        await editor.client.body("sgl/force", value="a short one")
        await editor.client.event("stopped")
        holes = (await editor.client.body("sgl/holes"))["holes"]
        assert [each["text"] for each in holes] == ["a short one"]
        await editor.end()

    asyncio.run(session())


@pytest.mark.slow
@pytest.mark.parametrize("how", ["terminate", "disconnect", "without a word"])
def test_a_run_is_ended_while_a_model_writes(tmp_path: Path, how: str) -> None:
    async def session() -> None:
        editor = story(tmp_path)
        await editor.launch()
        await editor.client.body("configurationDone")
        await editor.client.event("output")
        if how == "terminate":
            await editor.client.body("terminate")
            exited = await editor.client.event("exited")
            assert exited["body"]["exitCode"] == 1
            await editor.client.event("terminated")
        elif how == "disconnect":
            await editor.client.body("disconnect", terminateDebuggee=False)
        await editor.end()

    asyncio.run(session())


@pytest.mark.slow
def test_what_takes_long_is_cancelled(tmp_path: Path) -> None:
    async def session() -> None:
        editor = Editor(tmp_path, ENDLESS, {})
        await editor.launch()
        await editor.client.body("configurationDone")
        await editor.client.body("pause", threadId=1)
        await editor.client.event("stopped")
        number, coming = editor.client.begin("evaluate", expression="n >= 0")
        await editor.client.body("cancel", requestId=number)
        answer = await asyncio.wait_for(coming, 60)
        assert answer["success"] or answer["message"] == "cancelled"
        assert (await editor.client.ask("cancel", requestId=12_345))["success"]
        assert (await editor.client.body("evaluate", expression="n >= 0"))["result"] == "true"
        await editor.end()

    asyncio.run(session())


@pytest.mark.slow
def test_a_program_that_is_edited_while_it_runs_is_shown_as_it_runs(tmp_path: Path) -> None:
    async def session() -> None:
        editor = Editor(tmp_path, SHORT, {"word": ["abc"]})
        await editor.launch(stopOnEntry=True)
        await editor.client.body("configurationDone")
        await editor.client.event("stopped")
        assert (await editor.top())["source"]["path"] == str(editor.path)
        editor.path.write_text("## New.\n## Lines.\n" + SHORT, encoding="utf-8")
        source = (await editor.top())["source"]
        assert "path" not in source and "as it runs" in source["name"]
        content = await editor.client.body("source", source=source, sourceReference=source["sourceReference"])
        assert content["content"] == SHORT
        (made,) = await editor.set(4)
        assert made["verified"] and "was changed" in made["message"]
        body = await editor.client.body("setBreakpoints", source=source, breakpoints=[{"line": 4}])
        assert "message" not in body["breakpoints"][0]
        await editor.client.body("continue", threadId=1)
        await editor.client.event("stopped")
        assert (await editor.top())["line"] == 4
        assert (await editor.client.body("evaluate", expression="word"))["result"] == '"abc"'
        editor.path.write_text(SHORT, encoding="utf-8")
        assert (await editor.top())["source"]["path"] == str(editor.path)
        editor.path.unlink()
        assert "path" not in (await editor.top())["source"]
        await editor.client.body("continue", threadId=1)
        await editor.client.event("terminated")
        await editor.end()

    asyncio.run(session())


@pytest.mark.slow
def test_a_run_is_launched_anew_as_editors_restart_it(tmp_path: Path) -> None:
    async def session() -> None:
        for word in ("abc", "xyz"):
            editor = Editor(tmp_path, SHORT, {"word": [word]})
            await editor.launch()
            assert [each["line"] for each in await editor.set(4)] == [4]
            await editor.client.body("configurationDone")
            await editor.client.event("stopped")
            assert (await editor.client.body("evaluate", expression="word"))["result"] == f'"{word}"'
            assert (await editor.client.ask("disconnect", restart=True))["success"]
            await editor.end()

    asyncio.run(session())


@pytest.mark.slow
def test_lines_and_columns_from_zero(tmp_path: Path) -> None:
    async def session() -> None:
        editor = Editor(tmp_path, SHORT, {"word": ["abc"]})
        client = editor.client
        await client.body("initialize", adapterID="sgl", linesStartAt1=False, columnsStartAt1=False)
        await client.body("launch", program=str(editor.path), model=editor.model)
        await client.event("initialized")
        (made,) = await editor.set(3)
        assert made["line"] == 3
        await client.body("configurationDone")
        await client.event("stopped")
        top = await editor.top()
        assert top["line"] == 3
        source = {"path": str(editor.path)}
        found = await client.body("breakpointLocations", source=source, line=0, endLine=9)
        assert [each["line"] for each in found["breakpoints"]] == [1, 2, 3, 4]
        body = await client.body("completions", text="wo", column=2, frameId=top["id"])
        assert [each["label"] for each in body["targets"]] == ["word"]
        await editor.end()

    asyncio.run(session())
