"""What a person sees of a session: inputs and commands in, lines of text out. It needs no terminal."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from sglc.commands.editing.tinted import TintedText
from sglc.commands.running.narration import Narrator
from sglc.commands.shared.invocation import CommandFailed, Invocation, fault
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.render import plain, render
from sglc.repl.compiling import Compiled, Unsound
from sglc.repl.session import ReplSession, Reply, Shown
from sglc.runtime.vm.state.trace import Event, TraceWriter

MOST_EVENTS = 50_000
"""Events of a run that are kept for `:trace`."""
DIM, PLAIN = "\x1b[2m", "\x1b[0m"
HELP: dict[str, tuple[str, str]] = {
    ":help": ("", "this list"),
    ":type": ("EXPRESSION", "its type, without running it"),
    ":preview": ("[TEXT]", "the conversation as the model will see it, with TEXT at its end"),
    ":plan": ("[TEXT]", "what TEXT, or what was typed last, costs"),
    ":mask": ("HOLE [TEXT]", "what a hole allows behind TEXT"),
    ":undo": ("", "take the last input back"),
    ":reset": ("[all]", "forget the conversation; `all`: variables and declarations too"),
    ":load": ("FILE", "take in the declarations of a program"),
    ":save": ("FILE", "write declarations and what was typed as a program"),
    ":model": ("[NAME]", "the model, or another one from now on"),
    ":seed": ("[N]", "the seed of every draw"),
    ":history": ("", "the inputs that were taken"),
    ":trace": ("FILE", "write the newest run that asked the model, for `sglc show`"),
    ":time": ("", "tell after each input how long it took, or no longer"),
    ":quit": ("", "leave; so does Ctrl-D"),
}
"""Each command with its argument and what it does."""


@dataclass(slots=True)
class Console:
    """A session with a face of text. `columns` is the width of what is written."""

    invocation: Invocation
    session: ReplSession
    out: TextIO
    color: bool = False
    columns: int = 80
    timed: bool = False
    events: list[Event] = field(default_factory=list)
    """Those of the newest run that asked a model."""
    last: str = ""
    """The newest input."""
    asking: str = ""
    """The newest input with a hole of its own."""
    refused: int = 0
    """Inputs and commands that were not taken."""

    def feed(self, text: str) -> bool:
        """Take one input or command. False where the session is to end."""
        text = text.rstrip()
        if text.lstrip().startswith(":"):
            return self._command(text.strip())
        if text.strip():
            self._input(text)
        return True

    # -- inputs --------------------------------------------------------------------------------------

    def _input(self, text: str) -> None:
        sink = TintedText(self.out, color=self.color)
        started = time.monotonic()
        self.last = text

        def hear(made: Compiled) -> Callable[[Event], None]:
            events: list[Event] = []
            if any(hole.name.startswith(made.name + ".") for hole in made.program.holes):
                self.asking = text
            narrator = Narrator(made.program, sink, made.name)

            def heard(event: Event) -> None:
                if len(events) < MOST_EVENTS:
                    events.append(event)
                if event.kind == "hole_start":
                    self.events = events
                    sink.begin()
                elif event.kind == "token":
                    sink.probability(event.data.get("logprob"))
                narrator(event)

            return heard

        try:
            reply = self.session.take(text, hear)
        finally:
            sink.finish()
        self._tell(reply)
        if self.timed:
            self._line(_figures(reply, time.monotonic() - started), dim=True)

    def _tell(self, reply: Reply) -> None:
        """Findings, notes, and the value."""
        self.refused += not reply.accepted
        for found in reply.found:
            self._draw(found)
        if reply.interrupted:
            self._line("interrupted: the session is as it was before", dim=True)
        if reply.fault is not None:
            if self.invocation.traceback:
                import traceback

                traceback.print_exception(reply.fault, file=self.out)
            said = str(reply.fault).split("\n", 1)[0][:200]
            kind = type(reply.fault).__name__
            self._line(f"a fault of sglc: {kind}: {said}; the session is as it was before")
        for note in reply.notes:
            self._line(note, dim=True)
        if reply.shown is not None:
            self._show(reply.shown)

    def _show(self, shown: Shown) -> None:
        text = plain(shown.text())
        kind = f" : {shown.type_text}"
        if len(text) + len(kind) > self.columns:
            text = "\n".join(plain(line) for line in shown.text(2).split("\n"))
        self.out.write(text + (f"{DIM}{kind}{PLAIN}" if self.color else kind) + "\n")

    def _draw(self, found: Diagnostic) -> None:
        self.out.write(render(found, color=self.color).rstrip("\n") + "\n")

    def _line(self, text: str, *, dim: bool = False) -> None:
        text = plain(text)
        self.out.write((f"{DIM}{text}{PLAIN}" if dim and self.color else text) + "\n")

    def _refuse(self, why: str) -> None:
        self.refused += 1
        self._line(why)

    def _unsound(self, made: Unsound) -> None:
        self.refused += 1
        for found in made.found:
            self._draw(found)

    # -- commands ------------------------------------------------------------------------------------

    def _command(self, text: str) -> bool:
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        name = {":q": ":quit", ":exit": ":quit", ":h": ":help", ":?": ":help", ":t": ":type"}.get(word, word)
        if name not in HELP:
            from sglc.diagnostics.suggest import nearest

            close = nearest(name, HELP)
            self.refused += 1
            self._line(
                f"there is no command {word}" + (f": did you mean {close}?" if close else "; see :help")
            )
            return True
        if name == ":quit":
            return False
        wanted = HELP[name][0]
        if not rest and wanted and not wanted.startswith("["):
            self._refuse(f"write {name} {wanted}: {HELP[name][1]}")
            return True
        if rest and not wanted:
            self._refuse(f"{name} takes nothing behind it")
            return True
        if wanted == "FILE" and not _names_a_file(rest):
            self._refuse("no file can have such a name")
            return True
        run: Callable[[str], None] = getattr(self, "_" + name[1:])
        try:
            with contextlib.redirect_stderr(self.out), contextlib.redirect_stdout(self.out):
                run(rest)
        except CommandFailed:
            self.refused += 1  # it has said why
        except KeyboardInterrupt:
            self._line("interrupted", dim=True)
        except OSError as problem:
            reason = problem.strerror or str(problem)
            self.refused += 1
            self._draw(fault("E0805", f"{rest} cannot be written", reason=reason))
        return True

    def _help(self, rest: str) -> None:
        width = max(len(f"{name} {wanted}") for name, (wanted, _) in HELP.items())
        for name, (wanted, does) in HELP.items():
            self._line(f"{f'{name} {wanted}':<{width}}  {does}")
        self._line(
            "Expressions show value and type, `let x = …` keeps it, `user: | …` and `| ?{x: int}` go on"
        )
        self._line("with the conversation, declarations stay. A blank line ends a block.")

    def _type(self, rest: str) -> None:
        found = self.session.type_of(rest)
        if isinstance(found, Unsound):
            self._unsound(found)
        else:
            self._line(found)

    def _preview(self, rest: str) -> None:
        from sglc.commands.editing.looking import preview_text

        found = preview_text(self.invocation, self.session, rest, color=self.color)
        self._unsound(found) if isinstance(found, Unsound) else self._write(found)

    def _plan(self, rest: str) -> None:
        from sglc.commands.editing.looking import plan_text

        text = rest or self.last
        if not text:
            self._line("nothing was typed yet: write :plan TEXT")
            return
        found = plan_text(self.invocation, self.session, text, color=self.color)
        self._unsound(found) if isinstance(found, Unsound) else self._write(found)

    def _mask(self, rest: str) -> None:
        from sglc.commands.editing.looking import mask_text

        hole, _, text = rest.partition(" ")
        self._write(mask_text(self.invocation, self.session, self.asking, hole, text))

    def _write(self, text: str) -> None:
        self.out.write(text.rstrip("\n") + "\n")

    def _undo(self, rest: str) -> None:
        step = self.session.undo()
        if step is None:
            self._line("there is no input to take back")
        else:
            self._line("taken back: " + step.text.strip().split("\n")[0], dim=True)

    def _reset(self, rest: str) -> None:
        if rest not in ("", "all"):
            self._refuse("write :reset, or :reset all")
            return
        self.session.reset(all_of_it=rest == "all")

    def _load(self, rest: str) -> None:
        self.load(Path(rest))

    def load(self, file: Path) -> None:
        """Take in the declarations of a program, all or none."""
        from sglc.commands.shared.programs import read_text

        text, problem = read_text(file)
        if problem is not None:
            self.refused += 1
            self._draw(problem)
            return
        reply = self.session.take(text, name=str(file))
        self._tell(reply)
        if reply.accepted:
            self._line(f"{file} is taken in", dim=True)

    def _save(self, rest: str) -> None:
        from sglc.commands.editing.saving import program_text
        from sglc.commands.shared.files import write_whole

        write_whole(self.invocation, Path(rest), program_text(self.session).encode(), private=True)
        self._line(f"written to {rest}", dim=True)

    def _model(self, rest: str) -> None:
        if rest:
            self.session.models.use(rest)
            return
        loaded = "" if self.session.models.is_loaded else ", not loaded yet"
        self._line(self.session.models.name + loaded)

    def _seed(self, rest: str) -> None:
        if not rest:
            self._line(str(self.session.seed))
        elif rest.isdecimal() and len(rest) < 20:
            self.session.seed = int(rest)
        else:
            self._refuse("a seed is a whole number from 0 on, of less than 20 digits")

    def _history(self, rest: str) -> None:
        for number, step in enumerate(self.session.steps, 1):
            first, *others = step.text.rstrip().split("\n")
            self._line(f"{number:>4}  {first}")
            for line in others:
                self._line(f"      {line}")

    def _trace(self, rest: str) -> None:
        if not self.events:
            self._line("no hole was filled yet")
            return
        with TraceWriter.open(Path(rest)) as writer:
            for event in self.events:
                writer(event)
        self._line(f"{len(self.events)} events written; `sglc show {rest}` draws them", dim=True)

    def _time(self, rest: str) -> None:
        self.timed = not self.timed
        self._line("times are told" if self.timed else "times are no longer told", dim=True)


def _names_a_file(text: str) -> bool:
    """Whether the system can be asked for a file of that name at all."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _figures(reply: Reply, seconds: float) -> str:
    """How long an input took, and what it generated."""
    told = [f"{seconds:.2f} s"]
    if reply.result is not None and reply.result.statistics.holes:
        numbers = reply.result.statistics
        told += [
            f"{numbers.output_tokens} tokens, {numbers.forced_tokens} of them forced",
            f"{numbers.forwards} forward passes",
        ]
    return ", ".join(told)


def names_of_commands() -> Iterable[str]:
    """All commands, for completion."""
    return HELP
