"""Chromium without a window, steered over a pipe: pages as a reader meets them.

`SGLC_CHROMIUM` names the program, else one is looked for on PATH. The pipe (`--remote-debugging-pipe`)
carries messages of the DevTools protocol as JSON, each ended by a zero byte, so no port is opened and no
package needed.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VIRTUAL_KEYS = {
    **{"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36},
    **{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40},
}
"""What Windows calls keys, by which a browser knows what they do."""
SECONDS = 60
"""How long a browser may take to start or to answer; a loaded machine needs some."""


def find_chromium() -> str | None:
    """The program, None where there is none."""
    named = os.environ.get("SGLC_CHROMIUM")
    if named:
        return named if os.access(named, os.X_OK) else None
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Tab:
    """One open page. `messages` are what its console says, `requests` what it asked the network for."""

    def __init__(self, ask: int, answer: int) -> None:
        self._ask, self._answer = ask, answer
        self._number = 0
        self._left = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def attach(self) -> None:
        """Open an empty page and listen to it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command. Raises RuntimeError where the browser refuses it."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._ask, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                result: dict[str, Any] = found["result"]
                return result
            self.events.append(found)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            data = os.read(self._answer, 1 << 20)
            if not data:
                raise RuntimeError("the browser has gone")
            self._left += data
        message, _, self._left = self._left.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def open(self, path: Path, *, width: int = 1100, height: int = 900, dark: bool = False) -> None:
        """Show a file, and wait until it has loaded."""
        self.visit(path.resolve().as_uri(), width=width, height=height, dark=dark)

    def visit(self, address: str, *, width: int = 1100, height: int = 900, dark: bool = False) -> None:
        """Show what is at an address, and wait until it has loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript, as JSON data."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def point(self, selector: str) -> None:
        """Put the pointer on the middle of an element's first line."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.evaluate(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getClientRects()[0])"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])

    def until(self, expression: str, seconds: float = 20.0) -> Any:
        """The value of an expression once it is true. Raises AssertionError where it does not come to be."""
        end = time.monotonic() + seconds
        while not (found := self.evaluate(expression)):
            assert time.monotonic() < end, f"it did not come to be: {expression}"
            time.sleep(0.02)
        return found

    def press(self, key: str, *, shift: bool = False, control: bool = False) -> None:
        """Press and release a key by its name: `Tab`, `ArrowRight`, `Enter`, `Space`."""
        name, text = {"Enter": ("Enter", "\r"), "Space": (" ", " ")}.get(key, (key, ""))
        held = {"key": name, "code": key, "modifiers": 8 * shift + 2 * control}
        held["windowsVirtualKeyCode"] = VIRTUAL_KEYS.get(key, 0)
        typed = {"text": text} if text and not control else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **held, **typed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **held)

    def write(self, text: str) -> None:
        """Type text into what has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """Write what is seen as a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the page so far."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] != "verbose":
                found.append(parameters["entry"]["text"])
            elif event.get("method") == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"])[:1000])
            elif event.get("method") == "Runtime.consoleAPICalled":
                found.append(str(parameters["args"])[:1000])
        return found

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for since it was opened; the first is its own."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]


@contextlib.contextmanager
def chromium(program: str, *, scripts: bool = True) -> Iterator[Tab]:
    """A browser with one empty page, ended with the block."""
    ask_read, ask = os.pipe()
    answer, answer_write = os.pipe()

    def place() -> None:  # the browser reads from 3 and writes to 4
        ours, theirs = os.dup(ask_read), os.dup(answer_write)
        os.dup2(ours, 3)
        os.dup2(theirs, 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [
                program,
                *("--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"),
                *("--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"),
                *("--disable-component-update", "--disable-sync", f"--user-data-dir={profile}"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place,
        )
        os.close(ask_read)
        os.close(answer_write)
        try:
            tab = Tab(ask, answer)
            tab.attach()
            if not scripts:
                tab.call("Emulation.setScriptExecutionDisabled", value=True)
            yield tab
        finally:
            process.terminate()
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            os.close(ask)
            os.close(answer)
