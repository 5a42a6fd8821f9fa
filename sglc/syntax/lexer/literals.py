"""Comments, fenced texts, JSON, and what has no meaning: each function lexes what begins at one place."""

from __future__ import annotations

import json
import re

from sglc.syntax.lexer.tokens import Fault, LexedText

SPACES = re.compile(r"[ \t]*")


def comment(text: str, lexed: LexedText, start: int) -> int:
    """Note a doc comment; returns where the next line begins."""
    end = end_of_line(text, start)
    if text.startswith("##", start):
        lexed.docs.append((start, end))
    return start_of_next_line(text, end)


def block_comment(text: str, lexed: LexedText, start: int) -> int:
    """A comment of another language; returns where it ends."""
    end = text.find("*/", start + 2)
    end = end + 2 if end >= 0 else end_of_line(text, start)
    lexed.faults.append(Fault("block comment", start, end))
    return end


def fence(text: str, lexed: LexedText, start: int, position: int) -> int:
    """A `text \"\"\"` block whose lines begin at `position`; returns where the line after it begins.

    Its lines lose the indentation of the closing fence.
    """
    lines = []
    closing = -1
    while position < len(text):
        end = end_of_line(text, position)
        if text[position:end].strip() == '"""':
            closing = position
            break
        lines.append((position, end))
        position = start_of_next_line(text, end)
    if closing < 0:
        # What is indented like the block is taken as its text.
        lexed.faults.append(Fault("fence", start, start + 4))
        column = start - text.rfind("\n", 0, start) - 1
        end = end_of_line(text, start)
        for line_start, line_end in lines:
            if text[line_start : line_start + column].strip():
                break
            end = line_end
        lexed.fences[start] = ()
        lexed.tokens.add("FENCE", start, end)
        lexed.tokens.add("_NEWLINE", end, end)
        return start_of_next_line(text, end)
    indent = SPACES.match(text, closing).end() - closing  # type: ignore[union-attr]
    cut: list[tuple[int, int]] = []
    for line_start, end in lines:
        blank = not text[line_start:end].strip()
        if not blank and text[line_start : line_start + indent].strip():
            lexed.faults.append(Fault("fence indentation", line_start, end))
        cut.append((min(line_start + indent, end), end))
    end = end_of_line(text, closing)
    lexed.fences[start] = tuple(cut)
    lexed.tokens.add("FENCE", start, end)
    lexed.tokens.add("_NEWLINE", end, end)
    return start_of_next_line(text, end)


def inline_json(text: str, lexed: LexedText, start: int) -> int:
    """JSON that is written in place; returns where it ends."""
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        place = getattr(error, "pos", start)
        lexed.faults.append(Fault("json", min(place, len(text)), place + 1, getattr(error, "msg", "")))
        end = end_of_line(text, start)
    lexed.tokens.add("INLINE_JSON", start, end)
    return end


def single_quoted(text: str, lexed: LexedText, start: int) -> int:
    """A text in single quotes, which mean nothing here; returns where it ends."""
    end = text.find("'", start + 1, end_of_line(text, start))
    end = end + 1 if end > 0 else start + 1
    lexed.faults.append(Fault("single quotes", start, end))
    lexed.tokens.add("STRING", start, end)
    return end


def insert_in_code(text: str, lexed: LexedText, start: int) -> int:
    """`${…}` outside text and strings; returns where it ends."""
    limit = end_of_line(text, start)
    end = text.find("}", start, limit)
    end = end + 1 if end > 0 else limit
    lexed.faults.append(Fault("insert in code", start, end))
    lexed.tokens.add("NAME", start, end)
    return end


def stray_characters(text: str, lexed: LexedText, start: int) -> int:
    """Equal characters that mean nothing here; returns where they end."""
    char, end = text[start], start + 1
    while end < len(text) and text[end] == char:
        end += 1
    lexed.faults.append(Fault("character", start, end, char))
    if char in "&!^~":
        lexed.tokens.add("BINARY" if char in "&^" else "not", start, end)
    return end


def end_of_line(text: str, position: int) -> int:
    """Where the line ends, before its `\\n` or `\\r\\n`."""
    end = text.find("\n", position)
    if end < 0:
        end = len(text)
    return end - 1 if end > position and text[end - 1] == "\r" else end


def start_of_next_line(text: str, position: int) -> int:
    """Where the line after this one begins; the end of the text if there is none."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
