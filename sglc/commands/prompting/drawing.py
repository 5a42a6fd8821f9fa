"""Conversations of a preview as text and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import click

from sglc.bytecode.code import Place, Program
from sglc.runtime.decoding.conversations.conversation import Transcript
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.tokenizer import Tokenizer
from sglc.runtime.vm.preview.pieces import Piece, pieces_of, tokens_of
from sglc.runtime.vm.preview.record import RecordedConversation, Remark

BORDER = "│"
"""Stands behind each token."""
LINE_END = "⏎"
"""Stands for a newline within a token, which is written behind it."""
_FORK = re.compile(r"\.fork\.\d+$")
"""What the compiler calls the body of a fork, behind the name of its function."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How conversations are shown: with whose tokens, and whether their borders are."""

    program: Program
    tokenizer: Tokenizer | None = None
    borders: bool = False
    color: bool = False

    # -- text ----------------------------------------------------------------------------------------

    def text(self, recorded: RecordedConversation) -> str:
        """One conversation with its heading, and remarks on it."""
        final = recorded.conversation.state
        lines = [self._heading(recorded), self._drawn(final)]
        lines += [self._dim(line) for line in self._remarks(recorded)]
        for asked in recorded.taken_back:
            lines += ["", self._dim(f"-- {asked.hole} was asked this, and it was taken back:")]
            lines.append(self._drawn(asked.transcript))
        return "\n".join(lines)

    def _heading(self, recorded: RecordedConversation) -> str:
        branch = f", branch {recorded.branch}" if recorded.branch else ""
        called = f", called at {self._where(recorded.called)}" if recorded.called is not None else ""
        path = " > ".join(_FORK.sub(" > fork", name) for name in recorded.path)
        heading = f"== {path}{branch}{called}"
        return click.style(heading, bold=True) if self.color else heading

    def _drawn(self, transcript: Transcript) -> str:
        pieces = pieces_of(transcript, self._special())
        if self.borders and self.tokenizer is not None:
            return "".join(self._bordered(pieces, Encoder(self.tokenizer)))
        return "".join(self._styled(piece, piece.text) for piece in pieces)

    def _bordered(self, pieces: list[Piece], encoder: Encoder) -> Iterator[str]:
        token_bytes = encoder.tokenizer.token_bytes
        for token, piece in tokens_of(pieces, encoder):
            data = None if token is None else token_bytes[token]
            text = "" if data is None else data.decode("utf-8", "backslashreplace")
            yield self._styled(piece, text.replace("\n", LINE_END + "\n") or piece.text) + BORDER

    def _styled(self, piece: Piece, text: str) -> str:
        match piece.kind:
            case "unknown":
                return click.style(piece.label, fg="yellow", bold=True) if self.color else piece.label
            case "special":
                return click.style(text, fg="cyan") if self.color else text
            case "value":
                return click.style(text, fg="green") if self.color else text
        return text

    def _remarks(self, recorded: RecordedConversation) -> Iterator[str]:
        if self.tokenizer is not None:
            for asked in recorded.asked:
                yield f"-- {_amount(*self._count(asked.transcript))} before {asked.hole}"
        for remark in recorded.assumed:
            yield (
                f"-- goes on as if nothing failed at {self._where(remark.place)}: "
                f"`{remark.text}` depends on {', '.join(remark.holes)}"
            )
        if recorded.stopped is not None:
            stopped = recorded.stopped
            have = "has" if len(stopped.holes) == 1 else "have"
            yield (
                f"-- stops at {self._where(stopped.place)}: what follows depends on `{stopped.text}`, and "
                f"{', '.join(stopped.holes)} {have} no value; --fill {stopped.holes[-1]}=VALUE gives one"
            )

    def _dim(self, line: str) -> str:
        return click.style(line, dim=True) if self.color else line

    def _where(self, place: Place | None) -> str:
        if place is None or not 0 <= place.file < len(self.program.files):
            return "an unknown place"
        return f"{self.program.files[place.file]}:{place.line}:{place.column}"

    def _special(self) -> dict[int, str]:
        special = {} if self.tokenizer is None else self.tokenizer.special
        return {number: name for name, number in special.items()}

    def _count(self, transcript: Transcript) -> tuple[int, int]:
        """Tokens, and values that are unknown, so that nobody can count their tokens."""
        assert self.tokenizer is not None
        found = [token for token, _ in tokens_of(pieces_of(transcript, {}), Encoder(self.tokenizer))]
        unknown = sum(token is None for token in found)
        return len(found) - unknown, unknown

    # -- JSON ----------------------------------------------------------------------------------------

    def data(self, recorded: RecordedConversation) -> dict[str, object]:
        """One conversation as plain data; `docs/prompts.md` describes it."""
        final = recorded.conversation.state
        data: dict[str, object] = {
            "path": list(recorded.path),
            "branch": recorded.branch,
            "called_at": None if recorded.called is None else self._where(recorded.called),
            **self._transcript(final),
            "asked": [{"hole": asked.hole, **self._prompt(asked.transcript)} for asked in recorded.asked],
            "taken_back": [
                {"hole": asked.hole, **self._transcript(asked.transcript)} for asked in recorded.taken_back
            ],
            "assumed": [self._remark(remark) for remark in recorded.assumed],
            "stopped": None if recorded.stopped is None else self._remark(recorded.stopped),
        }
        return data

    def _prompt(self, transcript: Transcript) -> dict[str, object]:
        if self.tokenizer is None:
            return {}
        tokens, unknown = self._count(transcript)
        return {"tokens": tokens, "unknown": unknown}

    def _transcript(self, transcript: Transcript) -> dict[str, object]:
        pieces = pieces_of(transcript, self._special())
        data: dict[str, object] = {"pieces": [_piece(piece) for piece in pieces]}
        if self.borders and self.tokenizer is not None:
            token_bytes = self.tokenizer.token_bytes
            data["tokens"] = [
                {"unknown": piece.label}
                if token is None
                else {"id": token, "text": (token_bytes[token] or b"").decode("utf-8", "backslashreplace")}
                for token, piece in tokens_of(pieces, Encoder(self.tokenizer))
            ]
        return data

    def _remark(self, remark: Remark) -> dict[str, object]:
        return {"at": self._where(remark.place), "condition": remark.text, "holes": list(remark.holes)}


def _amount(tokens: int, unknown: int) -> str:
    values = "" if not unknown else f" and {unknown} unknown value{'' if unknown == 1 else 's'}"
    return f"{tokens} token{'' if tokens == 1 else 's'}{values}"


def _piece(piece: Piece) -> dict[str, object]:
    match piece.kind:
        case "text":
            return {"text": piece.text}
        case "special":
            return {"special": piece.text, "id": piece.id}
        case "value":
            return {"hole": piece.label, "text": piece.text}
        case "unknown":
            return {"unknown": piece.label}
        case _:
            return {piece.kind: piece.label}
