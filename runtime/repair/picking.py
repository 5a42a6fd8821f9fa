"""Words that are put into a text: the first of a shortest ending, or one that is picked from a list. And the
places at which a text is not cut."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FIRST = re.compile(r"\s*(?:\w+|[^\w\s]|\Z)")
_NUMBER = re.compile(r"\d+")
END = "(the text ends here)"


def first_word(text: str) -> str:
    """The first word or mark of a text, with the blanks before it."""
    found = _FIRST.match(text)
    return found.group() if found else text[:1]


def whole(data: bytes) -> str:
    """The whole characters that bytes begin with, as a text."""
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        return data[: fault.start].decode()


def splits_word(text: str, wrong: str) -> bool:
    """Whether a word or a number goes on behind a text, in what was wrong there: `42` of `4200` is no answer,
    and neither is `42` of `42.5`."""
    return (text[-1:].isalnum() and wrong[:1].isalnum()) or cuts_number(text, wrong)


def cuts_number(text: str, wrong: str) -> bool:
    """Whether a number goes on so: cut there it is another number, whatever may follow it."""
    return text[-1:].isdigit() and (wrong[:1].isdigit() or re.match(r"[.][0-9]", wrong) is not None)


def question(prompt: str, text: str, words: Sequence[str], may_end: bool) -> str:
    """What a model is asked that is to pick a word."""
    options = [*map(repr, words), *([END] if may_end else [])]
    listed = "\n".join(f"{number}. {option}" for number, option in enumerate(options, 1))
    return (
        f"{prompt}{text}\n\n"
        f"The text above is not finished. Which of these comes next?\n{listed}\n"
        f"Answer with one number from 1 to {len(options)}.\n"
    )


def picked(answer: object, words: Sequence[str], may_end: bool) -> str | None:
    """The word that an answer means: the word itself, or its number in the question; empty for the end.

    None for an answer that names none of them.
    """
    if isinstance(answer, int) and not isinstance(answer, bool):
        return _numbered(answer, words, may_end)
    if not isinstance(answer, str):
        return None
    if answer in words:
        return answer
    said = answer.strip()
    if not said:
        return "" if may_end else None
    for word in words:
        if word.strip() == said.strip("`'\"") or word.strip() == said:
            return word
    number = _NUMBER.search(said)
    return _numbered(int(number.group()), words, may_end) if number else None


def _numbered(number: int, words: Sequence[str], may_end: bool) -> str | None:
    if 1 <= number <= len(words):
        return words[number - 1]
    return "" if may_end and number == len(words) + 1 else None
