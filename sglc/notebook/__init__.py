"""Programs in notebooks: `%load_ext sglc.notebook`, then cells that begin with `%%sgl`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sglc.notebook.book import Notebook

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_BOOKS: dict[int, Notebook] = {}


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext sglc.notebook` calls: `%%sgl`, `%sgl` and `%sgl_model` are there from now on."""
    from IPython.core.magic import no_var_expand

    from sglc.notebook.book import Notebook

    book = _BOOKS[id(ipython)] = Notebook(ipython)

    @no_var_expand
    def sgl(line: str, cell: str | None = None) -> object:
        return book.line_or_cell(line, cell)

    @no_var_expand
    def sgl_model(line: str) -> str | None:
        return book.model(line)

    sgl.__doc__, sgl_model.__doc__ = book.line_or_cell.__doc__, book.model.__doc__
    ipython.register_magic_function(sgl, "line_cell", "sgl")
    ipython.register_magic_function(sgl_model, "line", "sgl_model")


def unload_ipython_extension(ipython: Any) -> None:
    """What `%unload_ext sglc.notebook` calls: the words are gone, what they made stays."""
    _BOOKS.pop(id(ipython), None)
    for kind, name in (("line", "sgl"), ("cell", "sgl"), ("line", "sgl_model")):
        ipython.magics_manager.magics[kind].pop(name, None)
