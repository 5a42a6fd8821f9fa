"""A client of the debug adapter protocol for tests: it speaks messages, and reads scripts of what to ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sglc.commands.debugging.adapter import Launcher
from sglc.commands.debugging.wanted import Wanted
from sglc.commands.running.run_options import Models
from sglc.commands.shared.invocation import Invocation
from sglc.debug.dap.adapter import Adapter
from sglc.debug.dap.messages import LONGEST_HEADER
from sglc.options import CompileOptions

LONGEST_WAIT = 60.0
"""Seconds after which a message that does not come fails a test."""


class Refused(Exception):
    """A request was not met; `response` says why."""

    def __init__(self, response: dict[str, Any]) -> None:
        super().__init__(response["message"])
        self.response = response


class Client:
    """One client in the process of its adapter. Messages go through the same bytes as at a pipe."""

    def __init__(self, launch: Launcher | None = None) -> None:
        self.reader = asyncio.StreamReader(limit=LONGEST_HEADER)
        self.events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.output: list[str] = []
        self.messages: list[dict[str, Any]] = []
        """All that the adapter sent, in order."""
        self.sent: list[dict[str, Any]] = []
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 1
        self._task = asyncio.create_task(Adapter(self.reader, self._read, launch or launcher()).serve())

    def _read(self, data: bytes) -> None:
        head, _, body = data.partition(b"\r\n\r\n")
        assert head == b"Content-Length: %d" % len(body)
        message = json.loads(body)
        self.messages.append(message)
        if message["type"] == "event":
            if message["event"] == "output":
                self.output.append(f"{message['body']['category']}: {message['body']['output']}")
            self.events.put_nowait(message)
        else:
            waiting = self._answers.pop(message["request_seq"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)

    def send_bytes(self, data: bytes) -> None:
        """Send anything."""
        self.reader.feed_data(data)

    def send(self, message: object) -> None:
        """Send one message."""
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def begin(self, command: str, **arguments: object) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        """Send a request; its number and its response to come."""
        number, self._next = self._next, self._next + 1
        coming = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        self.sent.append(message)
        self.send(message)
        return number, coming

    async def ask(self, command: str, **arguments: object) -> dict[str, Any]:
        """Send a request; its response."""
        return await asyncio.wait_for(self.begin(command, **arguments)[1], LONGEST_WAIT)

    async def body(self, command: str, **arguments: object) -> Any:
        """The body of the response to a request that is met."""
        response = await self.ask(command, **arguments)
        if not response["success"]:
            raise Refused(response)
        return response["body"]

    async def event(self, *names: str) -> dict[str, Any]:
        """The next event of one of these names."""
        while True:
            found = await asyncio.wait_for(self.events.get(), LONGEST_WAIT)
            if found["event"] in names:
                return found

    async def close(self) -> None:
        """Leave without a word."""
        self.reader.feed_eof()
        await asyncio.wait_for(self._task, LONGEST_WAIT)

    @property
    def left(self) -> bool:
        """Whether the adapter has ended."""
        return self._task.done()


def launcher(**options: object) -> Launcher:
    """As `sglc debug --dap` makes it."""
    invocation = Invocation(options=CompileOptions(0))
    return Launcher(invocation, Wanted(Path(), models=Models(None, {})), False, (), ())


class Session:
    """A scripted session: lines of commands in, what was to be seen out."""

    def __init__(self, client: Client, program: Path) -> None:
        self.client = client
        self.program = program
        self.lines: list[str] = []
        self.frame, self.thread = 0, 1
        self._told = 0
        self.settings: dict[str, object] = {}
        self.breaks: list[dict[str, object]] = []
        self.names: list[dict[str, object]] = []

    async def run(self, script: list[str]) -> list[str]:
        """Take all commands; the lines that they gave."""
        for line in script:
            self.lines.append(f"> {line}")
            word, _, rest = line.partition(" ")
            command: Callable[[str], Any] = getattr(self, f"do_{word}")
            try:
                await command(rest)
            except Refused as refused:
                self.refused(refused.response)
        await self.client.close()
        self._outputs()
        return self.lines

    # -- beginning -----------------------------------------------------------------------------------

    async def do_launch(self, rest: str) -> None:
        """`launch NAME=JSON …`"""
        more = {name: json.loads(value) for name, _, value in (each.partition("=") for each in rest.split())}
        await self.client.body("initialize", adapterID="sgl", clientID="test")
        response = await self.client.ask(
            "launch", program=str(self.program), **{"stopOnEntry": False, **self.settings, **more}
        )
        if not response["success"]:
            self.refused(response)
        else:
            await self.client.event("initialized")

    async def do_break(self, rest: str) -> None:
        """`break LINE|hole NAME|fn NAME [if C] [log T] [hits N]`"""
        place, more = rest, {}
        for name, key in ((" hits ", "hitCondition"), (" log ", "logMessage"), (" if ", "condition")):
            place, found, value = place.partition(name)
            if found:
                more[key] = value
        if place.isdecimal():
            self.breaks.append({"line": int(place), **more})
            body = await self.client.body(
                "setBreakpoints", source={"path": str(self.program)}, breakpoints=self.breaks
            )
        else:
            self.names.append({"name": place.removeprefix("hole ").removeprefix("fn "), **more})
            body = await self.client.body("setFunctionBreakpoints", breakpoints=self.names)
        made = body["breakpoints"][-1]
        self.lines.append(f"at line {made['line']}" if made["verified"] else f"no: {made['message']}")

    async def do_clear(self, rest: str) -> None:
        """Take all breakpoints of lines away."""
        self.breaks = []
        await self.client.body("setBreakpoints", source={"path": str(self.program)}, breakpoints=[])

    async def do_filters(self, rest: str) -> None:
        """`filters NAME[=CONDITION] …`"""
        options = []
        for each in rest.split():
            name, found, condition = each.partition("=")
            options.append({"filterId": name, **({"condition": condition} if found else {})})
        response = await self.client.ask("setExceptionBreakpoints", filters=[], filterOptions=options)
        if not response["success"]:
            self.refused(response)

    async def do_done(self, rest: str) -> None:
        """The configuration is done: the run begins."""
        await self.client.body("configurationDone")
        await self.wait()

    # -- going on ------------------------------------------------------------------------------------

    async def wait(self) -> None:
        """Wait until the run stands or has ended, and say how."""
        event = await self.client.event("stopped", "terminated")
        self._outputs()
        if event["event"] == "terminated":
            self.lines.append("terminated")
            return
        body = event["body"]
        stack = await self.client.body("stackTrace", threadId=body["threadId"])
        top = stack["stackFrames"][0]
        self.frame, self.thread = top["id"], body["threadId"]
        text = f" ({body['text']})" if "text" in body else ""
        thread = f" in thread {body['threadId']}" if body["threadId"] != 1 else ""
        self.lines.append(f"stopped: {body['reason']} at {top['name']} {top['line']}{thread}{text}")

    def _outputs(self) -> None:
        """What the run has said since, pieces of one text joined."""
        text = "".join(each.partition(": ")[2] for each in self.client.output[self._told :])
        self._told = len(self.client.output)
        if text.strip():
            self.lines.extend(f"  {line}".rstrip() for line in text.strip("\n").split("\n"))

    async def go(self, command: str, **arguments: object) -> None:
        response = await self.client.ask(command, **arguments)
        if not response["success"]:
            self.refused(response)
            return
        await self.wait()

    def refused(self, response: dict[str, Any]) -> None:
        first = response["message"].split("\n")
        self.lines.append("refused: " + first[0])

    async def do_continue(self, rest: str) -> None:
        await self.go("continue", threadId=1)

    async def do_next(self, rest: str) -> None:
        await self.go("next", threadId=self.thread)

    async def do_in(self, rest: str) -> None:
        await self.go("stepIn", threadId=self.thread)

    async def do_out(self, rest: str) -> None:
        await self.go("stepOut", threadId=self.thread)

    async def do_back(self, rest: str) -> None:
        """`back`, `back HOLE`, `back HOLE seed N`"""
        hole, found, seed = rest.partition(" seed ")
        if not hole:
            await self.go("stepBack", threadId=1)
            return
        more = {"seed": int(seed)} if found else {}
        await self.go("sgl/back", hole=int(hole) if hole.isdecimal() else hole, **more)

    async def do_reverse(self, rest: str) -> None:
        await self.go("reverseContinue", threadId=1)

    async def do_restart(self, rest: str) -> None:
        await self.go("restartFrame", frameId=self.frame)

    async def do_hole(self, rest: str) -> None:
        await self.go("sgl/step", kind="hole")

    async def do_round(self, rest: str) -> None:
        await self.go("sgl/step", kind="round")

    async def do_token(self, rest: str) -> None:
        await self.go("next", threadId=self.thread, granularity="instruction")

    async def do_force(self, rest: str) -> None:
        await self.go("sgl/force", value=rest)

    async def do_set(self, rest: str) -> None:
        """`set SCOPE NAME VALUE`"""
        scope, name, value = rest.split(" ", 2)
        reference = await self._scope(scope)
        await self.client.body("variables", variablesReference=reference)
        await self.go("setVariable", variablesReference=reference, name=name, value=value)

    # -- looking -------------------------------------------------------------------------------------

    async def _scope(self, name: str) -> int:
        body = await self.client.body("scopes", frameId=self.frame)
        found: int = next(s["variablesReference"] for s in body["scopes"] if s["name"] == name)
        return found

    async def do_scope(self, rest: str) -> None:
        """`scope NAME [PART …]`: the rows of a scope, or of a part of it."""
        name, *parts = rest.split()
        reference = await self._scope(name)
        rows = (await self.client.body("variables", variablesReference=reference))["variables"]
        for part in parts:
            reference = next(r["variablesReference"] for r in rows if r["name"] == part)
            rows = (await self.client.body("variables", variablesReference=reference))["variables"]
        for row in rows:
            type = f": {row['type']}" if "type" in row else ""
            self.lines.append(f"  {row['name']}{type} = {row['value']}")

    async def do_vars(self, rest: str) -> None:
        await self.do_scope("Variables")

    async def do_print(self, rest: str) -> None:
        response = await self.client.ask("evaluate", expression=rest, frameId=self.frame, context="watch")
        if not response["success"]:
            self.refused(response)
        else:
            self.lines.append(f"  {response['body']['type']} = {response['body']['result']}")

    async def do_stack(self, rest: str) -> None:
        body = await self.client.body("stackTrace", threadId=int(rest or 1))
        for each in body["stackFrames"]:
            self.lines.append(f"  {each['name']} {each['source']['name']}:{each['line']}")

    async def do_thread(self, rest: str) -> None:
        """`thread N`: look at another thread, and step it."""
        body = await self.client.body("stackTrace", threadId=int(rest))
        top = body["stackFrames"][0]
        self.frame, self.thread = top["id"], int(rest)
        self.lines.append(f"  at {top['name']} {top['line']}")

    async def do_frame(self, rest: str) -> None:
        """`frame N`: look at another frame."""
        body = await self.client.body("stackTrace", threadId=1)
        self.frame = body["stackFrames"][int(rest)]["id"]

    async def do_threads(self, rest: str) -> None:
        for each in (await self.client.body("threads"))["threads"]:
            self.lines.append(f"  {each['id']} {each['name']}")

    async def do_conv(self, rest: str) -> None:
        for each in (await self.client.body("sgl/conversation"))["messages"]:
            self.lines.append(f"  {each['role']}: {each['text']!r}")

    async def do_mask(self, rest: str) -> None:
        response = await self.client.ask("sgl/mask")
        if not response["success"]:
            self.refused(response)
            return
        body = response["body"]
        after = " ".join(f"{each['text']!r}" for each in body["after"][:4])
        self.lines.append(f"  {body['hole']}: {body['allowed']} of {body['size']} allowed, as {after}")

    async def do_alt(self, rest: str) -> None:
        body = await self.client.body("sgl/alternatives", **({"hole": rest} if rest else {}))
        tokens = "".join(each["text"] for each in body["tokens"])
        scores = {name: round(p, 2) for name, p in body["scores"].items()}
        self.lines.append(f"  {body['hole']}: tokens {tokens!r}, scores {scores}, {body['why'] or 'seen'}")
        for each in body.get("search", {"texts": []})["texts"]:
            self.lines.append(f"    {each['number']} {each['text']!r} {each['state']}")

    async def do_holes(self, rest: str) -> None:
        for each in (await self.client.body("sgl/holes"))["holes"]:
            given = " (given)" if each["given"] else ""
            branch = f" in {each['branch']}" if each["branch"] else ""
            self.lines.append(f"  {each['number']} {each['name']} {each['text']!r}{given}{branch}")

    async def do_complete(self, rest: str) -> None:
        body = await self.client.body("completions", text=rest, column=len(rest) + 1, frameId=self.frame)
        self.lines.append("  " + " ".join(each["label"] for each in body["targets"]))

    async def do_exception(self, rest: str) -> None:
        response = await self.client.ask("exceptionInfo", threadId=1)
        if response["success"]:
            self.lines.append(f"  {response['body']['exceptionId']}: {response['body']['description']}")
        else:
            self.refused(response)

    async def do_sources(self, rest: str) -> None:
        for each in (await self.client.body("loadedSources"))["sources"]:
            self.lines.append(f"  {each['name']} {'on disk' if 'path' in each else each['sourceReference']}")

    async def do_source(self, rest: str) -> None:
        response = await self.client.ask("source", sourceReference=int(rest))
        if response["success"]:
            self.lines.append(f"  {response['body']['content'].splitlines()[0]}")
        else:
            self.refused(response)

    async def do_locations(self, rest: str) -> None:
        body = await self.client.body(
            "breakpointLocations", source={"path": str(self.program)}, line=1, endLine=int(rest)
        )
        self.lines.append("  " + " ".join(str(each["line"]) for each in body["breakpoints"]))

    # -- wrong and last things -----------------------------------------------------------------------

    async def do_request(self, rest: str) -> None:
        """`request COMMAND JSON`: any request."""
        command, _, arguments = rest.partition(" ")
        response = await self.client.ask(command, **json.loads(arguments or "{}"))
        if response["success"]:
            self.lines.append("met")
        else:
            self.refused(response)

    async def do_raw(self, rest: str) -> None:
        """`raw TEXT`: the body of a message, whatever it is. Its refusal is what comes next."""
        before = len(self.client.messages)
        body = rest.encode()
        self.client.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while len(self.client.messages) == before:
            await asyncio.sleep(0)
        self.lines.append(f"refused: {self.client.messages[before]['message']}")

    async def do_broken(self, rest: str) -> None:
        """`broken TEXT`: bytes that are no message; the adapter leaves."""
        self.client.send_bytes(rest.encode() + b"\r\n\r\n")
        while not self.client.left:
            await asyncio.sleep(0)
        self.lines.append("the adapter has left")

    async def do_terminate(self, rest: str) -> None:
        await self.go("terminate")

    async def do_disconnect(self, rest: str) -> None:
        response = await self.client.ask("disconnect")
        while not self.client.left:
            await asyncio.sleep(0)
        self.lines.append(f"left: {response['success']}")
