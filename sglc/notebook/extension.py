"""What IPython calls when it loads `sglc.notebook` and when it lets go of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from sglc.notebook.book import Notebook, Shell
from sglc.notebook.completion import Matcher, matcher

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    class Magics(Protocol):
        """IPython's table of magics, by kind and name."""

        magics: MutableMapping[str, MutableMapping[str, object]]

    class Completer(Protocol):
        """IPython's completer."""

        custom_matchers: list[Matcher]

    class MagicShell(Shell, Protocol):
        """IPython's shell, as far as words are put into it."""

        @property
        def magics_manager(self) -> Magics:
            """All magics."""

        @property
        def Completer(self) -> Completer | None:
            """What completes; a shell without a prompt may have none."""

        def register_magic_function(self, func: Callable[..., object], kind: str, name: str) -> None:
            """Make a function known as a word of lines, of cells, or of both."""


_MATCHERS: list[Matcher] = []
"""Those that were given to completers."""


def load_ipython_extension(ipython: MagicShell) -> None:
    """`%load_ext sglc.notebook`: `%%sgl`, `%sgl` and `%sgl_model` are there from now on."""
    from IPython.core.magic import no_var_expand

    book = Notebook(ipython)

    @no_var_expand  # braces and dollars are the language's own
    def sgl(line: str, cell: str | None = None) -> object:
        return book.line_or_cell(line, cell)

    @no_var_expand
    def sgl_model(line: str) -> str | None:
        return book.model(line)

    sgl.__doc__, sgl_model.__doc__ = book.line_or_cell.__doc__, book.model.__doc__
    ipython.register_magic_function(sgl, "line_cell", "sgl")
    ipython.register_magic_function(sgl_model, "line", "sgl_model")
    if ipython.Completer is not None:
        _MATCHERS.append(matcher(book.session))
        ipython.Completer.custom_matchers.append(_MATCHERS[-1])


def unload_ipython_extension(ipython: MagicShell) -> None:
    """`%unload_ext sglc.notebook`: the words are gone, what they made stays."""
    for kind, name in (("line", "sgl"), ("cell", "sgl"), ("line", "sgl_model")):
        ipython.magics_manager.magics[kind].pop(name, None)
    if ipython.Completer is not None:
        left = [each for each in ipython.Completer.custom_matchers if each not in _MATCHERS]
        ipython.Completer.custom_matchers[:] = left
    _MATCHERS.clear()
