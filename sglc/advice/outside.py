"""What a program does outside of itself: twice (E0441), or with values that it must not trust (E0443).

See `sglc.analysis.replays` and `sglc.analysis.trust`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sglc.analysis.replays import Replay, replays
from sglc.analysis.trust import Leak
from sglc.diagnostics.diagnostic import Diagnostic, Label
from sglc.ir.module import TEST_MARK, Module

REPLAY = "E0441"
LEAK = "E0443"


def outside(module: Module, flows: Sequence[Leak]) -> list[Diagnostic]:
    """The findings. `module` is the code of a program before any pass, `flows` are those of it."""
    leaks = [each for each in flows if each.goal.hole is None]
    found = [_replay(module, each) for each in replays(module)]
    return found + [_leak(each) for each in leaks if not each.path[0].startswith(TEST_MARK)]


def _leak(found: Leak) -> Diagnostic:
    system = found.goal.what == "system"
    where = "the system's message" if system else f"an argument of {found.goal.what}, which writes"
    secondary = () if found.origin.span is None else (Label(found.origin.span, "not trusted"),)
    path: list[str] = []
    for name in map(shown, found.path):
        if path[-1:] != [name]:
            path.append(name)
    return Diagnostic(
        LEAK,
        f"{found.origin.source} can get into {where}",
        found.goal.span,
        label="speaks as the program here" if system else "decides here what is written",
        reason="it comes from outside, and may have been written to be obeyed",
        witness=" > ".join(path),
        hint="insert it under `user:`"
        + (", " if system else ", let the model fill a typed hole, ")
        + "or say that it is checked: `trust(…)`",
        secondary=secondary,
    )


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
