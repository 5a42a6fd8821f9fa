"""Regular expressions of the grammar of colours, which are Python's, in the dialects of others."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\\.|\[\^?|.", re.DOTALL)
_LETTERS = r"\p{L}\p{N}_"
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")


def javascript(regex: str) -> str:
    """For JavaScript with the flag `u`: letters of all scripts, no escape that it does not know."""
    regex = regex.replace(r"[^\W\d]", r"[\p{L}_]")
    made: list[str] = []
    inside = False
    for piece in _PIECE.findall(regex):
        if inside and piece == "]":
            inside = False
        elif not inside and piece[0] == "[":
            inside = True
        elif piece == "." and not inside:
            piece = r"[^\n]"
        elif piece == r"\w":
            piece = _LETTERS if inside else f"[{_LETTERS}]"
        elif piece[0] == "\\" and not piece[1].isalnum() and piece[1] not in _SYNTAX and piece[1] != "-":
            piece = piece[1]
        elif piece[0] == "\\" and piece[1] == "-" and not inside:
            piece = "-"
        made.append(piece)
    return "".join(made)


def vim(regex: str) -> str:
    r"""For Vim, behind `\v`: lookaround by `@=` and its kin, letters by `\k`; to stand between slashes."""
    regex = _HEADS.sub(_joined, regex)
    return _Vim(regex.replace(r"[^\W\d]", r"(?!\d)\w")).all()


_HEADS = re.compile(r"(?:\(\?<!(?:\[\^[^]]*\] |\^|\\b)\w+\))+")
_HEAD = re.compile(r"\(\?<!(\[\^[^]]*\] |\^|\\b)(\w+)\)")


def _joined(heads: re.Match[str]) -> str:
    """Words that may not stand before, those with the same places before them in one expression."""
    grouped: dict[str, list[str]] = {}
    for place, word in _HEAD.findall(heads[0]):
        grouped.setdefault(place, []).append(word)
    return "".join(f"(?<!{place}(?:{'|'.join(words)}))" for place, words in grouped.items())


class _Vim:
    """Translates one expression; the mark of a group with lookaround stands behind its closing bracket."""

    def __init__(self, regex: str) -> None:
        self.pieces = re.findall(
            r"\(\?:|\(\?<?[=!]|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{[0-9,]+\}|.", regex, re.DOTALL
        )

    def all(self) -> str:
        made: list[str] = []
        marks: list[str] = []
        for piece in self.pieces:
            if piece in _AROUND:
                marks.append(_AROUND[piece])
                made.append("%(")
            elif piece == "(":
                marks.append("")
                made.append("%(")
            elif piece == ")":
                made.append(")" + marks.pop())
            else:
                made.append(self._piece(piece))
        return "".join(made)

    def _piece(self, piece: str) -> str:
        if piece == r"\b":
            return r"%(<|>)"
        if piece == r"\w":
            return r"\k"
        if piece[0] == "[":
            letters = r"\w" in piece
            piece = re.sub(
                r"\\([^\w\]\\^-])",
                r"\1",
                piece.replace(r"\w", "").replace(r"\s", r" \t").replace(r"\d", "0-9"),
            )
            piece = piece.replace("/", r"\/")
            if letters:
                return rf"%(\k@!{piece})" if piece[1] == "^" else rf"%(\k|{piece})"
            return piece
        if piece[0] == "\\" and not piece[1].isalnum():
            return piece if piece[1] in "\\.*+?()[]{}|^$/~<>=@&%" else piece[1]
        if len(piece) == 1 and piece in "<>=@~&%{}/":
            return "\\" + piece
        return piece


_AROUND = {"(?:": "", "(?=": "@=", "(?!": "@!", "(?<=": "@16<=", "(?<!": "@16<!"}
