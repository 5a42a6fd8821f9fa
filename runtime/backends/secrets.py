"""Secrets, and texts and tracebacks without them.

A secret is known by its value: what a request sends in a secret header, and what the environment has under
the name of a key. It is replaced wherever it stands, also as URLs, JSON and Basic authorization write it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, quote, quote_plus, urlencode, urlsplit, urlunsplit

HIDDEN = "[secret]"
"""What stands in place of a secret."""
SHORTEST = 6
"""Characters of a value that is taken for a secret. Keys have dozens; shorter values are words that occur in
ordinary text, where replacing them would hide nothing and change what is replayed."""
_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_LIKE_A_KEY = re.compile(r"(?<![A-Za-z0-9])(sk|pk|rk|hf|gsk|xai|key)[-_][A-Za-z0-9_-]{16,}")
_PARAMETERS = frozenset(
    ("key", "api_key", "api-key", "apikey", "token", "access_token", "auth", "sig", "signature", "password")
)


class Environment(Mapping[str, str]):
    """Environment variables that show none of their values: frames of tracebacks may be shown with what is in
    them."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<environment of {len(self)} variables>"


def secret_values(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of the variables that are named as keys are: `OPENAI_API_KEY`, `HF_TOKEN`."""
    return frozenset(value for name, value in environment.items() if _NAMES.search(name))


def has_key(text: str) -> bool:
    """Whether something in a text looks like a key: a mark that services put in front, and letters behind."""
    return _LIKE_A_KEY.search(text) is not None


class Redactor:
    """Takes secrets out of texts. It learns those of each request."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._pattern: re.Pattern[bytes] | None = None
        self.learn(values)

    def learn(self, values: Iterable[str]) -> None:
        """Add values; of one such as `Bearer KEY` also the part behind the blank."""
        found = {part for value in values for part in (value.strip(), value.strip().rpartition(" ")[2])}
        new = {value for value in found if len(value) >= SHORTEST} - self._known
        if not new:
            return
        self._known |= new
        spellings = {each for value in self._known for each in _spellings(value)}
        longest_first = sorted(spellings, key=lambda each: (-len(each), each))
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))

    def text(self, text: str) -> str:
        """The same text without secrets."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """The same bytes without secrets."""
        return data if self._pattern is None else self._pattern.sub(HIDDEN.encode(), data)

    def url(self, url: str) -> str:
        """The address without a user, a password, parameters that are named as keys are, and secrets."""
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        named = parse_qsl(parts.query, keep_blank_values=True)
        query = urlencode([pair for pair in named if pair[0].lower() not in _PARAMETERS])
        return self.text(urlunsplit((parts.scheme, host, parts.path, query, "")))

    def pieces(self, pieces: Sequence[bytes]) -> list[bytes]:
        """The pieces without secrets, also without those that are cut between them. What stands in place of
        one is in the piece in which it began."""
        whole = b"".join(pieces)
        if self._pattern is None or not self._pattern.search(whole):
            return list(pieces)
        cleaned, start = [], 0
        spans = [found.span() for found in self._pattern.finditer(whole)]
        for piece in pieces:
            end, at, kept = start + len(piece), start, b""
            for low, high in spans:
                if high <= start or low >= end:
                    continue
                kept += whole[at : max(low, at)] + (HIDDEN.encode() if low >= start else b"")
                at = min(high, end)
            cleaned.append(kept + whole[at:end])
            start = end
        return cleaned


def _spellings(value: str) -> set[bytes]:
    """A value as it may stand in a request or an answer."""
    data = value.encode("utf-8", "surrogatepass")
    texts = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    if data == value.encode("utf-8", "replace"):
        texts |= {quote(value, safe=""), quote_plus(value)}
    coded = {base64.b64encode(data), base64.urlsafe_b64encode(data), base64.b64encode(b":" + data)}
    return {each.encode("utf-8", "surrogatepass") for each in texts} | coded
