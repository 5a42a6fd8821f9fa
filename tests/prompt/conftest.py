"""Fixtures of the tests of prompts."""

from __future__ import annotations

from command_line import cli as cli
from command_line import good as good
from command_line import script as script
