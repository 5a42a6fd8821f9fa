"""The options `--schemas` and `--kept`: what a server compiles and keeps for its clients."""

from __future__ import annotations

import click

from sglc.commands.running.run_options import Option
from sglc.commands.shared.sizes import size

DEFAULT_SCHEMAS = 120
"""Two a second: a client whose schemas are its program's own has some dozens in all."""
LEAST_KEPT = 1 << 20


def schemas_option() -> Option:
    """The option, as the parameter `schemas`."""
    return click.option(
        "--schemas",
        type=click.IntRange(1),
        default=DEFAULT_SCHEMAS,
        show_default=True,
        metavar="N",
        help="Most new schemas of requests a minute, of each tenant.",
    )


def kept_option() -> Option:
    """The option, as the parameter `kept`, in bytes."""
    return click.option(
        "--kept",
        type=_kept,
        default="256M",
        show_default=True,
        metavar="SIZE",
        help="Most memory for runs that are kept without a client; with keys, a tenant has a quarter of it.",
    )


def _kept(text: str) -> int:
    found = size(text)
    if found < LEAST_KEPT:
        raise click.BadParameter("at least 1M: a run takes some kilobytes, and what it tells")
    return found
