"""The option of `sglc serve` for its page."""

from __future__ import annotations

import click

ui_option = click.option(
    "--ui", is_flag=True, help="Give out a page at /ui/: forms for the functions, runs as they go on."
)
"""Whether there is a page for browsers."""
