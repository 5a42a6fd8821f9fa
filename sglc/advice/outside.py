"""E0441: what a program would do twice outside of itself (`sglc.analysis.replays`)."""

from __future__ import annotations

from sglc.analysis.replays import Replay, replays
from sglc.diagnostics.diagnostic import Diagnostic, Label
from sglc.ir.module import TEST_MARK, Module

REPLAY = "E0441"


def outside(module: Module) -> list[Diagnostic]:
    """The findings. `module` is the code of a program before any pass."""
    return [_replay(module, found) for found in replays(module)]


def _replay(module: Module, found: Replay) -> Diagnostic:
    functions = {function.name: function for function in module.functions}
    writer = functions[found.path[-1]]
    repeated = "each attempt of the retry" if found.again == "retry" else "each branch of the fork"
    secondary = []
    if writer.span is not None:
        secondary.append(Label(writer.span, "writes, and names no key"))
    if found.around is not None and found.again == "retry":
        secondary.append(Label(found.around, "goes back to before the call"))
    return Diagnostic(
        REPLAY,
        f"{repeated} would call `{found.path[-1]}` again, which writes",
        found.span,
        label="done more than once",
        reason="what is written outside of the program is not taken back",
        witness=" > ".join((shown(found.function), *map(shown, found.path))),
        hint="write behind it, or say by which parameter equal writes are known: `effects write key NAME`",
        secondary=tuple(secondary),
    )


def shown(name: str) -> str:
    """A function as its writer knows it: a fork by the function that it stands in."""
    return name.removeprefix(TEST_MARK).partition(".fork.")[0]
