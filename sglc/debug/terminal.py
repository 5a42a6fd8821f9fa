"""The face for a terminal: source, conversation, variables, mask and alternatives side by side (Textual).

Everything that the prompt can do can be typed in its last line; keys are short for the usual commands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, Input, RichLog, Static

from sglc.bytecode.code import Program
from sglc.debug import showing
from sglc.debug.plain import PlainFace
from sglc.runtime.debug.breakpoints import Breakpoint
from sglc.runtime.debug.debugger import Debugger
from sglc.runtime.debug.masks import mask_at
from sglc.runtime.debug.stops import Action, Quit, Stop
from sglc.runtime.errors import SglError

MOST_LINES = 2000
"""Most lines of what was said that are kept."""


class Panel(VerticalScroll):
    """Lines of text under a title."""

    def __init__(self, title: str, name: str) -> None:
        super().__init__(id=name)
        self.border_title = title
        self.lines: list[str] = []
        self._text = Static("", markup=False)

    def compose(self) -> ComposeResult:
        """Its text."""
        yield self._text

    def show(self, lines: Iterable[str]) -> None:
        """Show these lines."""
        self.lines = list(lines)
        self._text.update("\n".join(self.lines))


class TerminalFace(App[None]):
    """A debugger in a terminal. `run` runs the program; what it gives is told when it has ended."""

    CSS = """
    Panel { border: round $secondary; padding: 0 1; }
    #source { width: 3fr; } #right { width: 2fr; }
    #conversation { height: 2fr; } #variables { height: 1fr; } #mask { height: 1fr; }
    #said { height: 8; border: round $secondary; } #main { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "take('c')", "Go on", priority=True),
        Binding("f10", "take('n')", "Next", priority=True),
        Binding("f11", "take('s')", "Into", priority=True),
        Binding("shift+f11,f12", "take('o')", "Out", priority=True),
        Binding("f6", "take('h')", "Hole", priority=True),
        Binding("f7", "take('t')", "Token", priority=True),
        Binding("f8", "take('back')", "Back", priority=True),
        Binding("f9", "mark", "Breakpoint", priority=True),
        Binding("f4", "pause", "Pause", priority=True),
        Binding("ctrl+q", "leave", "End", priority=True),
    ]

    def __init__(
        self, program: Program, run: Callable[[], Awaitable[str]], clean: Callable[[str], str] = str
    ) -> None:
        """`clean` takes out of text what could steer the terminal."""
        super().__init__()
        self._program = program
        self._run = run
        self._clean = clean
        self.plain = PlainFace(program, lambda prompt: None, self.tell)
        self.stop: Stop | None = None
        self._action: asyncio.Future[Action] | None = None
        self._panels = {
            "source": Panel("Source", "source"),
            "conversation": Panel("Conversation", "conversation"),
            "variables": Panel("Variables", "variables"),
            "mask": Panel("Mask and alternatives", "mask"),
        }
        self._said = RichLog(id="said", markup=False, max_lines=MOST_LINES, wrap=True)

    def compose(self) -> ComposeResult:
        """The panels, what was said, and the line for commands."""
        panels = self._panels
        with Horizontal(id="main"):
            yield panels["source"]
            with Vertical(id="right"):
                yield panels["conversation"]
                yield panels["variables"]
                yield panels["mask"]
        yield self._said
        yield Input(placeholder="a command: help lists them", id="command")
        yield Footer()

    def on_mount(self) -> None:
        """Begin the run."""
        self.query_one(Input).focus()
        self.run_worker(self._follow(), exclusive=True)

    async def _follow(self) -> None:
        ended = await self._run()
        self.stop = None
        self.tell(ended)
        self.tell("the run has ended; ctrl+q leaves")

    def lines_of(self, panel: str) -> list[str]:
        """What a panel shows."""
        return self._panels[panel].lines

    def tell(self, line: str) -> None:
        """Say a line below the panels."""
        self._said.write(self._clean(line))

    @property
    def _engine(self) -> Debugger:
        assert self.plain.debugger is not None
        return self.plain.debugger

    # -- the run -------------------------------------------------------------------------------------

    def said(self, breakpoint: Breakpoint, text: str) -> None:
        """See `Face.said`."""
        self.tell(f"{breakpoint.number}: {text}")

    async def stopped(self, stop: Stop) -> Action:
        """See `Face.stopped`."""
        self.stop = stop
        self._action = asyncio.get_running_loop().create_future()
        self.plain.arrived()
        for line in self.plain.head(stop):
            self.tell(line)
        await self._show(stop)
        try:
            return await self._action
        finally:
            self.stop, self._action = None, None

    async def _show(self, stop: Stop) -> None:
        """Show all that is to be seen at a stop."""
        clean, frame = self._clean, self.plain.frame(stop)
        self._panels["source"].show(map(clean, self.plain.source(stop)))
        self._panels["variables"].show(map(clean, showing.variable_lines(self._program, frame)))
        conversation = self._panels["conversation"]
        conversation.show(map(clean, showing.conversation_lines(frame)))
        conversation.scroll_end(animate=False)
        lines: list[str] = [] if stop.search is None else [*showing.search_lines(stop.search), ""]
        if stop.passage is not None and (stop.search is None or stop.token is not None):
            try:
                lines += showing.mask_lines(await mask_at(stop))
            except SglError as problem:
                lines.append(problem.message)
        holes = self._engine.history.holes
        passage = stop.passage or (holes[-1] if holes else None)
        if passage is not None and (passage.tokens or passage.scores):
            lines += ["", *showing.alternative_lines(self._program, passage)]
        self._panels["mask"].show(map(clean, lines))

    # -- keys and commands ---------------------------------------------------------------------------

    async def action_take(self, text: str) -> None:
        """Do a command of the prompt."""
        stop = self.stop
        if stop is None:
            self.tell("the run does not stand")
            return
        try:
            action = await self.plain.do(stop, text)
        except SglError as problem:
            self.tell(f"error: {problem.message}" + (f" ({problem.hint})" if problem.hint else ""))
            return
        if action is None:
            await self._show(stop)
        elif self._action is not None and not self._action.done():
            self._action.set_result(action)

    async def action_mark(self) -> None:
        """Set a breakpoint at the line where the run stands, or take it away."""
        if self.stop is None or self.stop.place is None:
            return
        line = self.plain.line(self.stop)
        known = [each for each in self._engine.breakpoints.all() if each.line == line]
        if known:
            self._engine.breakpoints.remove(each.number for each in known)
            await self._show(self.stop)
        else:
            await self.action_take(f"b {line}")

    def action_pause(self) -> None:
        """Stop the run at its next statement."""
        self._engine.pause()

    def action_leave(self) -> None:
        """End the run, and leave."""
        self._engine.quit()
        if self._action is not None and not self._action.done():
            self._action.set_result(Quit())
        self.exit()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """A line was typed."""
        event.input.value = ""
        if event.value.strip():
            self.tell(f"> {event.value.strip()}")
        await self.action_take(event.value.strip() or "")
