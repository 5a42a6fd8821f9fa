"""The session of a notebook: its cells are inputs, its functions are names of Python."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sglc.externs.modules import access_for
from sglc.notebook.functions import TOP, NotebookFunction, Told
from sglc.notebook.pictures import CellError, Findings, Picture, Recorder, counted_errors
from sglc.repl.pieces import cut
from sglc.repl.session import ReplSession, Reply
from sglc.source import Source

if TYPE_CHECKING:
    from sglc.api import Function, LoadOptions, Module
    from sglc.bytecode.code import Program

USAGE = "%%sgl [--model NAME] [--seed N] [NAME …]"


class Shell(Protocol):
    """What a notebook needs of IPython's shell."""

    @property
    def user_ns(self) -> dict[str, object]:
        """The names of Python, among them `In`, the list of all inputs."""


@dataclass(frozen=True, slots=True)
class Line:
    """What stands behind `%%sgl`: the model of the cell, the seed, and the functions that become names."""

    model: str | None = None
    seed: int | None = None
    names: tuple[str, ...] = ()


class Notebook:
    """What the magics of one notebook share. `shell` is IPython's."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.session = ReplSession(top=TOP, access=access_for(Path("session.sgl")))
        self._modules: dict[str, Module] = {}
        """By model, of the newest program."""
        self._program: tuple[Program, Told] | None = None
        self._models: dict[str, str] = {}
        """The model of each function that was declared with one of its own."""
        self._bound: dict[str, object] = {}

    # -- magics --------------------------------------------------------------------------------------

    def line_or_cell(self, line: str, cell: str | None = None) -> object:
        """`%%sgl [--model NAME] [--seed N] [NAME …]` takes the cell in: declarations stay, functions become
        names of Python (those that are named, or all), statements run.

        `%sgl EXPRESSION` runs an expression and gives its value.
        """
        if cell is None:
            return self._cell(line, Line())
        return self._cell(cell, read_line(line))

    def model(self, line: str) -> str | None:
        """`%sgl_model NAME` sets the model of what runs from now on; without NAME it tells it."""
        name = line.strip()
        if not name:
            return self.session.models.name
        self.session.models.use(name)
        self._modules.clear()
        return None

    # -- cells ---------------------------------------------------------------------------------------

    def _cell(self, text: str, line: Line) -> object:
        self._check_names(text, line)
        recorder = Recorder()
        session = self.session
        model, seed = session.models.name, session.seed
        before = {name: self._key(name) for name in self._functions()}
        session.models.name = line.model or model
        session.seed = seed if line.seed is None else line.seed
        try:
            inputs = self.shell.user_ns.get("In")
            number = len(inputs) - 1 if isinstance(inputs, list) else session.count
            reply = session.take(text, lambda made: recorder, f"In[{number}]")
        finally:
            session.models.name, session.seed = model, seed
        self._tell(reply)
        if recorder.asked:
            self._show(Picture(tuple(recorder.events)))
        self._refuse(reply)
        if session.state.entries:
            self._publish(before, line)
        if reply.shown is None:
            return None
        from sglc.python.classes import classes_of

        shown = reply.shown
        return classes_of(shown.program).out(shown.value)

    def _check_names(self, text: str, line: Line) -> None:
        """Refuse names that are no functions before anything is taken in."""
        if not line.names:
            return
        declared = cut(Source("", text)).declarations
        there = [*self._functions(), *(name for each in declared if each.function for name in each.names)]
        unknown = [name for name in line.names if name not in there]
        if unknown:
            known = ", ".join(dict.fromkeys(there)) or "none"
            raise CellError(f"there is no function {unknown[0]} to become a name; functions: {known}")

    def _tell(self, reply: Reply) -> None:
        if reply.found or reply.notes:
            self._show(Findings(reply.found, reply.notes))

    def _refuse(self, reply: Reply) -> None:
        """Raise what keeps the cells below from running."""
        if reply.fault is not None:
            raise reply.fault
        if reply.interrupted:
            raise KeyboardInterrupt
        if not reply.accepted:
            raise CellError(counted_errors(reply.found))

    def _show(self, what: object) -> None:
        from IPython.display import display

        display(what)  # type: ignore[no-untyped-call]

    # -- names of Python -----------------------------------------------------------------------------

    def _functions(self) -> list[str]:
        return [name for each in self.session.state.declared if each.function for name in each.names]

    def _key(self, name: str) -> object:
        """Which declaration a name has."""
        for each in self.session.state.declared:
            if name in each.names:
                return each.span.source, each.span.start
        return None

    def _publish(self, before: dict[str, object], line: Line) -> None:
        """Bind the functions that are new, and those that are named; those that are gone lose their names."""
        self._modules.clear()
        self._program = None
        there = self._functions()
        fresh = [name for name in there if before.get(name) != self._key(name)]
        for name in fresh:
            self._models.pop(name, None)
            if line.model is not None:
                self._models[name] = line.model
        for name in line.names or fresh:
            self._bind(name, NotebookFunction(name, lambda name=name: self._function(name), line.seed))  # type: ignore[misc]
        for name in [each for each in self._bound if each not in there]:
            if self.shell.user_ns.get(name) is self._bound.pop(name):
                del self.shell.user_ns[name]
        program, _ = self._newest()
        from sglc.python.classes import classes_of

        types = classes_of(program)
        declared = {name for each in self.session.state.declared for name in each.names}
        for name in types.names():
            if name in declared and not line.names:
                self._bind(name, types.of(name))

    def _bind(self, name: str, value: object) -> None:
        self._bound[name] = self.shell.user_ns[name] = value

    def _newest(self) -> tuple[Program, Told]:
        if self._program is None:
            self._program = self.session.program()
        return self._program

    def _function(self, name: str) -> tuple[Function, Told]:
        """A function of the newest program, on its model, and what finds the places of what it raises."""
        model = self._models.get(name, self.session.models.name)
        if model not in self._modules:
            from sglc.api import made_module

            program, access = self._newest()[0], self.session.access
            allowed = tuple(each for each in program.python_modules if not access.refusal(each))
            options: LoadOptions = {"models": self.session.models.named, "allow_py": allowed}
            self._modules[model] = made_module(program, [], model, None, options)
        functions = self._modules[model].functions
        if name not in functions:
            raise NameError(f"{name} is no function of the session any more")
        return functions[name], self._newest()[1]


def read_line(line: str) -> Line:
    """What stands behind `%%sgl`. Raises CellError for what cannot be read."""
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise CellError(f"{USAGE}: {problem}") from None
    model: str | None = None
    seed: int | None = None
    names: list[str] = []
    while words:
        word = words.pop(0)
        option, equals, given = word.partition("=")
        if option in ("--model", "--seed"):
            if not equals:
                if not words:
                    raise CellError(f"{USAGE}: {option} needs a value")
                given = words.pop(0)
            if option == "--model":
                model = given
            elif given.isdecimal() and len(given) < 20:
                seed = int(given)
            else:
                raise CellError(f"{USAGE}: --seed is a whole number from 0 on, not {given}")
        elif word.isidentifier():
            names.append(word)
        else:
            raise CellError(f"{USAGE}: {word} is no option and no name")
    return Line(model, seed, tuple(names))
