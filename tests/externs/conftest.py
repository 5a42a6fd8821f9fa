"""Fixtures of the tests of functions of Python."""

from __future__ import annotations

from command_line import cli as cli
