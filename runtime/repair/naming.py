"""What may follow a text, in words: for a model that is told where its answer was wrong."""

from __future__ import annotations

from sglc.runtime.mask.matcher import Matcher

TAIL = 60
"""Characters of the end of a text that are shown as the place of a fault: about a line of JSON."""
MOST_WORDS = 8
"""Words that are listed; of more it is said what they begin with."""
MOST_SHOWN = 80
"""Characters of what was wrong that are shown."""
_DIGITS = frozenset(b"0123456789")
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_BLANKS = frozenset(b" \t\r\n")


def fault(text: str, matcher: Matcher, wrong: str) -> str:
    """What is wrong behind a legal text, as a sentence without a full stop. `matcher` stands there."""
    place = "at the beginning" if not text else f"after `{_tail(text)}`"
    allowed = may_follow(matcher)
    only = f"only {allowed} may follow" if text else f"only {allowed} may stand"
    found = f"it went on with `{_head(wrong)}`" if wrong else "it ended there"
    return f"{place} {only}, but {found}"


def may_follow(matcher: Matcher) -> str:
    """What may come next, such as "a digit, `,` or `}`". Forced text is given whole."""
    end = ["the end"] if matcher.is_accepting() else []
    forced = matcher.forced().decode("utf-8", "ignore")
    if forced:
        return f"`{forced}`"
    following = frozenset(matcher.next_bytes())
    return _listed([*_kinds(following, matcher), *end]) or "nothing"


def _kinds(following: frozenset[int], matcher: Matcher) -> list[str]:
    """The bytes that may come next, by kinds; words where these are few."""
    if len(following) > 128:
        return ["text"]
    found: list[str] = []
    digits = sorted(following & _DIGITS)
    if len(digits) > 2:
        whole = len(digits) == len(_DIGITS)
        found.append("a digit" if whole else f"a digit from {chr(digits[0])} to {chr(digits[-1])}")
        following -= _DIGITS
    letters = following & _LETTERS
    if letters:
        found += _words(letters, matcher)
        following -= _LETTERS
    if len(following & _BLANKS) > 1:
        found.append("blanks")
        following -= _BLANKS
    rest = sorted(byte for byte in following if byte < 0x80)
    found += ["a blank" if byte == 0x20 else f"`{chr(byte)}`" for byte in rest if byte > 0x20 or byte == 0x20]
    if any(byte >= 0x80 for byte in following):
        found.append("a letter beyond ASCII")
    return found[:MOST_WORDS]


def _words(letters: frozenset[int], matcher: Matcher) -> list[str]:
    """The words that begin with a letter, where they are few; else that a letter may come."""
    words = [word for word in matcher.words(MOST_WORDS + 1) if word[:1] and word[0] in letters]
    if len(words) > MOST_WORDS or {word[0] for word in words} != letters:
        return ["a letter"]
    return [f"`{word.decode('utf-8', 'ignore')}`" for word in words]


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else " or ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _tail(text: str) -> str:
    return text if len(text) <= TAIL else "…" + text[-TAIL:]


def _head(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"
