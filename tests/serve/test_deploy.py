"""The templates of docs/deploy start a server that there is, as a user who is not root."""

from __future__ import annotations

import json
import re
import shlex

import click
import pytest

from checkout import ROOT
from sglc.commands.serve import command

DEPLOY = ROOT / "docs" / "deploy"


def _docker() -> list[str]:
    text = (DEPLOY / "Dockerfile").read_text()
    assert text.index("USER sglc") < text.index('CMD ["sglc"')
    found: list[str] = json.loads(text[text.rindex("CMD [") + 4 :])
    return found


def _systemd() -> list[str]:
    text = (DEPLOY / "sglc.service").read_text()
    assert "DynamicUser=yes" in text and "NoNewPrivileges=yes" in text and "User=root" not in text
    found = re.search(r"^ExecStart=\S*/(sglc .*)$", text, re.M)
    assert found is not None
    grace = int(shlex.split(found[1])[-1])
    stop = re.search(r"^TimeoutStopSec=(\d+)$", text, re.M)
    assert stop is not None and int(stop[1]) > grace
    return shlex.split(found[1])


@pytest.mark.parametrize("words", [_docker(), _systemd()], ids=["docker", "systemd"])
def test_a_template_starts_a_server_with_keys(words: list[str]) -> None:
    assert words[:2] == ["sglc", "serve"]
    context = click.Context(command, obj=None)
    parsed = command.make_parser(context).parse_args(args=list(words[2:]))[0]
    assert parsed["host"] == "0.0.0.0" and parsed["keys"].endswith("keys.toml")
