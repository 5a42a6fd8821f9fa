"""Who can reach a server: one that other machines reach has keys. And whose word is taken for where a request
comes from."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

import click

from sglc.commands.running.run_options import Option
from sglc.commands.shared.invocation import Invocation, fail, fault


def check_reach(invocation: Invocation, host: str, keys: Path | None) -> None:
    """Raises CommandFailed (E0829) for a server without keys at an address of other machines."""
    from sglc.runtime.serve.guard import LOCAL

    if keys is None and host not in LOCAL:
        raise fail(
            invocation,
            fault(
                "E0829",
                f"a server at {host} needs keys",
                reason="without keys whoever reaches the address may call",
                hint="sglc serve --new-key NAME 2>> keys.toml makes one; give --keys keys.toml",
            ),
        )


def forwarded_option() -> Option:
    """The option `--forwarded-allow`, as the parameter `forwarded`: networks."""
    return click.option(
        "--forwarded-allow",
        "forwarded",
        multiple=True,
        type=_network,
        metavar="ADDRESS",
        help="A reverse proxy, or its network, whose X-Forwarded-For is believed; nobody's by default.",
    )


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is no address and no network; write for example 10.0.0.7 or 10.0.0.0/24"
        ) from None
