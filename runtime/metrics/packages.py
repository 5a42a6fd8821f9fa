"""Packages that only some ways of showing figures need, and what is said where one is missing."""

from __future__ import annotations

EXTRA = "observe"
"""The extra of sglc that installs them."""


class MissingPackage(Exception):
    """A package that is needed for what was asked is not installed."""

    def __init__(self, package: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}")
        self.package = package
        self.hint = f"pip install 'sglc[{EXTRA}]'"
