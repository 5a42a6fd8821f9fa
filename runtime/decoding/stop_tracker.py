"""Finds the end of a value inside the bytes that a hole has written."""

from __future__ import annotations

from sglc.runtime.mask.matcher import Matcher


class StopTracker:
    """Follows the value inside the bytes written so far, and finds where it ends."""

    def __init__(self, value: Matcher, stops: tuple[str, ...]) -> None:
        self.value = value
        self.data = bytearray()
        self.alive = True
        self.candidates: list[int] = []
        """Offsets where the value may have ended with the beginning of a stop after it."""
        self._stops = tuple(stop.encode() for stop in stops)
        self._firsts = frozenset(stop[0] for stop in self._stops if stop)

    @property
    def settled(self) -> bool:
        """No stop has begun: all bytes belong to the value."""
        return not self.candidates

    def feed(self, data: bytes, token: int | None = None) -> int | None:
        """Append bytes that the mask allowed; the offset where the value ended, if it did.

        `token`, if given, is the token that they are: the step it takes is remembered.
        """
        if not self.candidates and (not self._firsts or self._firsts.isdisjoint(data)):
            if not (self.value.accept_bytes(data) if token is None else self.value.accept(token)):
                raise AssertionError(f"the masks disagree about {bytes(self.data)!r} + {data!r}")
            self.data += data
            return None
        for byte in data:
            if self.alive:
                if byte in self._firsts and self.value.is_accepting():
                    self.candidates.append(len(self.data))
                self.alive = self.value.accept_bytes(bytes((byte,)))
            self.data.append(byte)
        text = bytes(self.data)
        partial = []
        for end in self.candidates:
            rest = text[end:]
            for stop in self._stops:
                if rest.startswith(stop):
                    return end
                if stop.startswith(rest):
                    partial.append(end)
                    break
        self.candidates = partial
        if not self.alive:
            if not partial:
                raise AssertionError(f"the masks disagree about {text!r}")
            return partial[0]
        return None

    def certain(self) -> int:
        """How many of the bytes surely belong to the value."""
        return self.candidates[0] if self.candidates else len(self.data)

    def copy(self) -> StopTracker:
        """An independent tracker in the same state."""
        twin = object.__new__(StopTracker)
        twin.value = self.value.clone()
        twin.data = bytearray(self.data)
        twin.alive = self.alive
        twin.candidates = list(self.candidates)
        twin._stops = self._stops
        twin._firsts = self._firsts
        return twin
