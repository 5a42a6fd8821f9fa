"""Fixtures of the tests of `sglc show`."""

from __future__ import annotations

from command_line import cli as cli
from command_line import good as good
from command_line import script as script
