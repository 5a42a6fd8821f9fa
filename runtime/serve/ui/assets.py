"""The files of the page, and all of them as one file that has traces in it.

The page is written as ES modules that a server gives out as they are. A browser loads no modules from a
folder, so the one file has them behind each other: names at the top of a module are unique among all.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

START = "main.js"
"""The module that imports all others."""
TOO_LONG = "#line too long"
"""Stands for a line of a trace that is too long to be shown; the page tells where it was."""
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'",
    "img-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
"""What the page may do where a server gives it out: nothing but its own files and questions to that server,
and no text becomes code (Content Security Policy 3, Trusted Types)."""
_IMPORT = re.compile(r"^import (?:\{[^}]*\} from )?\"\./([a-z]+\.js)\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace that goes into a page: what it is called, its text, and whether its file has more lines."""

    name: str
    text: str
    cut: bool = False


@cache
def assets() -> dict[str, bytes]:
    """The files of the page by their names."""
    folder = files("sglc.runtime.serve.ui").joinpath("static")
    known = tuple(MEDIA_TYPES)
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(known)}


@cache
def script() -> str:
    """All modules as one: each behind those that it imports."""
    order: list[str] = []

    def visit(name: str) -> None:
        for needed in _IMPORT.findall(assets()[name].decode()):
            if needed not in order:
                visit(needed)
        if name not in order:
            order.append(name)

    visit(START)
    texts = (_IMPORT.sub("", assets()[name].decode()) for name in order)
    return "\n".join(_EXPORT.sub("", text) for text in texts)


def whole_page(traces: Sequence[Trace]) -> str:
    """The page as one file with traces in it, which needs no network and no other file. Its policy allows its
    own script and style sheet by their digests, and no request at all."""
    style, code = assets()["style.css"].decode(), script()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(code)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            *POLICY[5:],
        )
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<style>{style}</style>"
    )
    icon = base64.b64encode(assets()["icon.svg"]).decode()
    blocks = "".join(
        f'<script type="text/plain" data-trace="{html.escape(each.name)}"{" data-cut" if each.cut else ""}>'
        f"{_inert(each.text)}</script>\n"
        for each in traces
    )
    page = assets()["index.html"].decode()
    for old, new in (
        ('data-mode="serve"', 'data-mode="file"'),
        ('href="icon.svg"', f'href="data:image/svg+xml;base64,{icon}"'),
        ('<link rel="stylesheet" href="style.css">', head),
        ('<script type="module" src="main.js"></script>\n', ""),
        ("</body>", f'{blocks}<script type="module">{code}</script>\n</body>'),
    ):
        before, found, after = page.partition(old)
        assert found, f"the page has no {old}"
        page = before + new + after
    return page


def _inert(text: str) -> str:
    """Lines of JSON that cannot end the element they stand in: JSON has `<` in texts alone, where it may be
    written by its number. A line that is no JSON is told as one, whatever it says."""
    return text.replace("<", "\\u003c")


def _digest(text: str) -> str:
    """The digest of an inline script or style sheet, as a policy has it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
