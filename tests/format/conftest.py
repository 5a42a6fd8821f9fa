"""Fixtures of the tests of the formatter."""

from __future__ import annotations

from command_line import cli as cli
