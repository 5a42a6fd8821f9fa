"""Who can reach a server: one that other machines reach has keys."""

from __future__ import annotations

from pathlib import Path

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
