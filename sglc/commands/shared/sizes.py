"""Sizes in bytes as options of the command line."""

from __future__ import annotations

import re

import click

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])?(i?b)?)?", re.I)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def read_size(text: str) -> int | None:
    """Bytes of `512M`, `1.5G`, `2GiB` or a plain number; None for what is no size. K is 1024."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return int(float(found[1]) * _UNITS[(found[2] or "").lower()])


def size(text: str) -> int:
    """Bytes of `512M` or the like. Raises click.BadParameter for what is no size, and for 0."""
    found = read_size(text)
    if not found:
        raise click.BadParameter(f"{text!r} is no size; write for example 512M or 2G")
    return found
