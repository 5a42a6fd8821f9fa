"""How much room a GSS walk has: what does not fit ends it, or is answered without it."""

from __future__ import annotations

MOST_LOOKAHEADS = 128
"""Numbers of negative lookaheads."""
MOST_FRAMES, MOST_LINKS, MOST_PLACES = 65_536, 262_144, 65_536
NAMES = 2 * MOST_FRAMES
"""Slots of the tables in which frames and places are found."""
MOST_CONFIGS, MOST_POOL = 16_384, 1 << 20
CONFIG_SLOTS = 2 * MOST_CONFIGS
"""Slots of the table in which configurations are found."""
ROOM = 65_536
"""Threads, frames, edges of a closure; threads of a configuration."""
SLOTS, ITEMS = 65_536, 20_000
"""Keys of one closure's table; items of a closure."""
MOST_REQUESTED, MANY_REQUESTED = 4096, 64
"""Most requests kept; the number of requests with which a walk returns."""
MANY_REQUESTS = 64
"""A walk also returns after so many requests, repeated ones included."""
MOST_UNSURE = 256
"""Nodes that are left open."""
