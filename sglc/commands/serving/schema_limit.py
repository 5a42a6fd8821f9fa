"""The option `--schemas`: how many schemas, tools, regexes and grammars a minute a server compiles anew."""

from __future__ import annotations

import click

from sglc.commands.running.run_options import Option

DEFAULT_SCHEMAS = 120
"""Two a second: a client whose schemas are its program's own has some dozens in all."""


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
