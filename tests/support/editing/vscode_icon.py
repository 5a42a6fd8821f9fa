"""Writes the icon of the extension for VS Code: lines of a prompt, a hole with tokens in shades."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

SIZE, FINE = 128, 4
GROUND, PIPE, TEXT = (31, 36, 48), (126, 140, 170), (200, 206, 220)
SHADES = ((118, 190, 120), (232, 178, 86), (226, 106, 96))
Colour = tuple[int, int, int]
Box = tuple[float, float, float, float, float, Colour]
"""Left, top, right, bottom, radius of the corners, colour."""


def boxes() -> list[Box]:
    """What is drawn, from the back to the front."""
    drawn: list[Box] = [(4, 4, 124, 124, 22, GROUND)]
    for row, width in enumerate((70, 54)):
        top = 28 + 26 * row
        drawn += [(22, top - 4, 27, top + 18, 2, PIPE), (38, top, 38 + width, top + 13, 5, TEXT)]
    drawn.append((22, 76, 27, 98, 2, PIPE))
    for number, colour in enumerate(SHADES):
        drawn.append((38 + 24 * number, 80, 58 + 24 * number, 93, 5, colour))
    return drawn


def inside(box: Box, x: float, y: float) -> bool:
    """Whether a point lies in a box with round corners."""
    left, top, right, bottom, radius, _ = box
    across = max(left + radius - x, x - right + radius, 0.0)
    down = max(top + radius - y, y - bottom + radius, 0.0)
    return left <= x <= right and top <= y <= bottom and across * across + down * down <= radius * radius


def pixel(drawn: list[Box], column: int, row: int) -> bytes:
    """Red, green, blue and cover of a pixel, the mean of FINE times FINE points."""
    colours: list[Colour] = []
    for part in range(FINE * FINE):
        x = column + (part % FINE + 0.5) / FINE
        y = row + (part // FINE + 0.5) / FINE
        hit = [box[5] for box in drawn if inside(box, x, y)]
        colours += hit[-1:]
    if not colours:
        return bytes(4)
    mean = [sum(colour[part] for colour in colours) // len(colours) for part in range(3)]
    return bytes([*mean, 255 * len(colours) // (FINE * FINE)])


def png(rows: list[bytes]) -> bytes:
    """Rows of pixels as PNG (RFC 2083, 8 bits a channel, with cover)."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


if __name__ == "__main__":
    shapes = boxes()
    lines = [b"".join(pixel(shapes, column, row) for column in range(SIZE)) for row in range(SIZE)]
    media = Path(__file__).parents[3] / "grammar" / "editors" / "vscode" / "media"
    (media / "icon.png").write_bytes(png(lines))
