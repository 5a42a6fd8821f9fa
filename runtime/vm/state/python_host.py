"""What calls functions of Python for a run."""

from __future__ import annotations

from typing import Protocol

from sglc.bytecode.code import Code
from sglc.types.values import Value


class PythonHost(Protocol):
    """Calls the functions of Python of one program."""

    async def call(self, code: Code, arguments: list[object]) -> Value:
        """The result of the function that a code of kind `extern` stands for, as a value of its type.

        Raises Foreign for what the function raises or gives beside its type, Timeout, Unsupported where it
        may not be called, and errors that the code declares."""
