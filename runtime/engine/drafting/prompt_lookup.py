"""Prompt lookup (Saxena 2023, "Prompt Lookup Decoding"): finds the end of a text earlier in the text.

The index is that of LZ77 coders (Ziv and Lempel 1977). Every pair of neighbouring tokens leads to the newest
position where it ended, and every position to the one before it with the same pair. So adding a token and
taking one back are constant time.
"""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_MATCH = 32
"""Tokens that are compared backwards; longer matches count as this long."""
SINGLES = 4
"""Positions of the last token alone that are compared."""
MOST_PROBES = 8
"""Positions compared in one search, the newest first."""
MOST_INDEXED = 65_536
"""Tokens of a text that are indexed, the newest ones when it is first seen."""


class Lookup:
    """The tokens of one text, and where each pair of them stands.

    Positions are those of `follow`'s tokens, behind those of `expect`. Memory is some 150 bytes a token;
    texts of which more than `MOST_INDEXED` tokens are new at once are indexed at their end only.
    """

    __slots__ = ("_before", "_expected", "_newest", "_singles", "_singles_before", "_start", "_tokens")

    def __init__(self) -> None:
        self._tokens: list[int] = []
        self._expected = 0
        """So many tokens before the text's own are those of `expect`."""
        self._start = 0
        """Position of the first token that is indexed."""
        self._newest: dict[int, int] = {}
        """A pair of tokens to the position behind its newest occurrence."""
        self._before: list[int] = []
        """By position behind a pair, less `_start`: the occurrence before, or -1."""
        self._singles: dict[int, int] = {}
        self._singles_before: list[int] = []
        """The same for single tokens."""

    def __len__(self) -> int:
        return len(self._tokens)

    def expect(self, tokens: Sequence[int]) -> None:
        """Begin anew, with tokens that the text may come to have. They are found as if they stood before it;
        positions count them. The newest `MOST_INDEXED` of a text push them out."""
        self.__init__()  # type: ignore[misc]
        for token in tokens[:MOST_INDEXED]:
            self._push(token)
        self._expected = len(self._tokens)

    def follow(self, tokens: list[int], stable: int = 0) -> None:
        """Become the index of `tokens`; the first `stable` of them are known to be as they were."""
        held, before = self._tokens, self._expected
        size = min(len(held) - before, len(tokens))
        same = min(stable, size)
        if held[before + same : before + size] == tokens[same:size]:
            same = size
        else:
            while held[before + same] == tokens[same]:
                same += 1
        self._cut(before + same)
        if len(tokens) - same > MOST_INDEXED:
            self.__init__()  # type: ignore[misc]
            same = self._start = len(tokens) - MOST_INDEXED
            held = self._tokens = [-1] * same
        for at in range(same, len(tokens)):
            self._push(tokens[at])

    def _push(self, token: int) -> None:
        tokens = self._tokens
        end = len(tokens) + 1
        if end - self._start >= 2:
            pair = tokens[-1] << 32 | token
            self._before.append(self._newest.get(pair, -1))
            self._newest[pair] = end
        else:
            self._before.append(-1)
        self._singles_before.append(self._singles.get(token, -1))
        self._singles[token] = end
        tokens.append(token)

    def _cut(self, length: int) -> None:
        tokens, before, singles = self._tokens, self._before, self._singles_before
        if length < self._start:
            self.__init__()  # type: ignore[misc]
            return
        while len(tokens) > length:
            token = tokens.pop()
            position = before.pop()
            if len(tokens) - self._start >= 1:
                pair = tokens[-1] << 32 | token
                if position < 0:
                    del self._newest[pair]
                else:
                    self._newest[pair] = position
            position = singles.pop()
            if position < 0:
                del self._singles[token]
            else:
                self._singles[token] = position

    def find(self, hint: int = -1) -> tuple[int, int]:
        """The position behind the longest match of the text's end elsewhere in it, and the match's length.

        Among equally long ones the newest wins; matches have two tokens at least. `hint`, a position, is
        looked at besides the newest `MOST_PROBES`. (-1, 0) if nothing matches.
        """
        tokens, start = self._tokens, self._start
        size = len(tokens)
        if size - start < 3:
            return -1, 0
        best, length = -1, 1
        position = self._before[size - start - 1]
        for _ in range(MOST_PROBES):
            if position < 0:
                break
            found = self._match(position, size)
            if found > length:
                best, length = position, found
                if found == LONGEST_MATCH:
                    return best, length
            position = self._before[position - start - 1]
        if start < hint < size and hint != best:
            found = self._match(hint, size)
            if found > length:
                best, length = hint, found
        return (best, length) if best >= 0 else (-1, 0)

    def single(self) -> tuple[int, int]:
        """The position behind the newest occurrence of the last token, and how the occurrences agree.

        0: there are several, and what follows them differs; 1: there is one; 2: several, all followed by the
        same. (-1, 0) if there is none.
        """
        tokens, start = self._tokens, self._start
        if len(tokens) == start:
            return -1, 0
        newest = position = self._singles_before[-1]
        if newest < 0:
            return -1, 0
        for seen in range(SINGLES):
            position = self._singles_before[position - start - 1]
            if position < 0:
                return newest, 2 if seen else 1
            if tokens[position] != tokens[newest]:
                return newest, 0
        return newest, 2

    def _match(self, position: int, end: int) -> int:
        """How many tokens before `position` are those before `end`."""
        tokens = self._tokens
        most = min(LONGEST_MATCH, position - self._start)
        for back in range(1, most + 1):
            if tokens[position - back] != tokens[end - back]:
                return back - 1
        return most

    def __getitem__(self, position: int) -> int:
        return self._tokens[position]
