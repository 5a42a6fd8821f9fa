"""One answer of a model, followed piece by piece while it comes.

A model is given a prompt and the text so far, and is to go on behind it. Some repeat the text first, or its
end, or begin with blanks. So an answer has several readings, which differ in how many of its first bytes are
left out. All of them are followed until they meet a byte that is not legal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher

RESTART = 16
"""An answer that begins with all of a text of so many bytes has begun again. Shorter texts may come twice
by chance, as `[` does in a list of lists: then the answer is read as a continuation as long as that is legal.
So may texts of equal rows: one whose first half, of half so many bytes at most, comes again in it is read as
a shorter one."""
BLANKS = b" \t\r\n"
MOST_PROSE = 4_096
"""Bytes that a model may write before a value: an explanation has some hundreds, and more does not lead to
one."""
FENCE = b"```"


@dataclass(slots=True)
class _Reading:
    """The answer without its first `skip` bytes, as far as it is legal."""

    skip: int
    matcher: Matcher
    kept: int = 0
    alive: bool = True

    def feed(self, data: bytes) -> None:
        if self.alive and data:
            count = self.matcher.accept_prefix(data)
            self.kept += count
            self.alive = count == len(data)


@dataclass(frozen=True, slots=True)
class Settled:
    """What comes of an answer.

    kept     its legal beginning, in whole characters
    wrong    what follows it, refused
    matcher  behind `kept`
    legal    whether all of it was legal
    """

    kept: bytes
    wrong: str
    matcher: Matcher
    legal: bool


class Answer:
    """An answer behind `text`. Whoever asks the model feeds the pieces and stops where `feed` says so."""

    def __init__(
        self,
        text: bytes,
        matcher: Matcher,
        *,
        stops: Sequence[str] = (),
        most: int | None = None,
        values: bytes = b"",
        whole_words: bool = False,
        count: Callable[[str], int] = lambda piece: len(piece.encode("utf-8", "surrogatepass")),
        told: Callable[[bytes], None] = lambda kept: None,
    ) -> None:
        """`most`: tokens after which it stops. `values`: bytes that a value begins with; where there are any,
        an answer that is all of the text may have prose and fences of Markdown before it. `whole_words`: a
        text that is complete behind a letter or a digit is read on until it is seen whether the word ends
        there too. `told` hears of what is certain to be kept, as it grows."""
        self._text = text
        self._values = b"" if text else values
        self._is_value = bool(values)
        self._whole_words = whole_words
        self._start = matcher
        self._stops = tuple(stops)
        self._most = most
        self._count = count
        self._told = told
        self._raw = bytearray()
        self._rest = ""
        """What begins with a character that UTF-8 has no bytes for: no text may have it."""
        self._held = ""
        """The end of what came, which a stop may begin with."""
        self._readings = [_Reading(0, matcher.clone())]
        self._overlaps: list[int] | None = None
        """Bytes of the text's end that the answer may repeat and has not repeated wholly yet; None before
        the first byte."""
        head = text[: max(1, min(RESTART, len(text)) // 2)]
        self._has_own_beginning = text.find(head, 1) < 0
        self._alike = 0
        """First bytes that are those of the text."""
        self._blank = True
        """Whether no more than blanks have come."""
        self.tokens = 0
        self.written = 0
        self.streamed = False
        """Whether it came in pieces."""
        self.cut_short = False
        """Whether the model has said that it ended it for its length."""
        self.length: int | None = None
        """Tokens that the model was asked for at most; None where it was not told."""
        self.fault: ConstraintError | None = None
        """Why the constraint cannot follow it."""
        self.expired = False
        """Whether the time was up."""
        self._stopped = False

    @property
    def limited(self) -> bool:
        """Whether the model may have ended it for its length: a token has a byte at least."""
        return self.cut_short or (self.length is not None and len(self._raw) >= self.length)

    @property
    def is_complete(self) -> bool:
        """Whether nothing can follow what it is read as."""
        chosen = self._chosen()
        return chosen is not None and chosen.alive and is_whole(chosen.matcher, self._is_value)

    @property
    def raw(self) -> str:
        """All that the model wrote, as far as it was read."""
        return self._raw.decode("utf-8", "replace") + self._rest

    def feed(self, piece: str, tokens: int | None = None) -> bool:
        """Take a piece; whether more of the answer is of use. `tokens` are those of the whole answer so far,
        where they are known."""
        self.tokens = self.tokens + self._count(piece) if tokens is None else tokens
        self.written += len(piece)
        if self._stopped or self._rest or self.fault is not None:
            return False
        try:
            self._take(self._before_stop(piece))
        except ConstraintError as fault:
            self.fault = fault
            return False
        if self._most is not None and self.tokens >= self._most:
            return False
        return not self._stopped and self._goes_on()

    def settle(self) -> Settled:
        """What comes of it, now that it has ended."""
        if self._held:
            self._take(self._held)
            self._held = ""
        reading = self._chosen()
        if reading is None:  # it repeats the text and ends within
            return Settled(b"", "", self._start.clone(), not self._rest)
        legal = bytes(self._raw[reading.skip : reading.skip + reading.kept])
        kept = legal.decode("utf-8", "ignore").encode() if _cut(legal) else legal
        matcher = reading.matcher
        if len(kept) < len(legal):
            matcher = self._start.clone()
            matcher.accept_prefix(kept)
        wrong = bytes(self._raw[reading.skip + len(kept) :]).decode("utf-8", "replace") + self._rest
        return Settled(kept, wrong, matcher, not wrong)

    # -- pieces --------------------------------------------------------------------------------------

    def _before_stop(self, piece: str) -> str:
        """The text up to a stop; what may be the beginning of a stop is held back."""
        if not self._stops:
            return piece
        text = self._held + piece
        self._held = ""
        places = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        if places:
            self._stopped = True
            return text[: min(places)]
        held = max(
            size
            for stop in self._stops
            for size in range(min(len(stop), len(text) + 1))
            if stop.startswith(text[len(text) - size :])
        )
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def _take(self, text: str) -> None:
        try:
            data = text.encode()
        except UnicodeEncodeError as fault:
            data, self._rest = text[: fault.start].encode(), text[fault.start :]
        if not data:
            return
        at = len(self._raw)
        self._raw += data
        if self._alike == at:
            pairs = zip(data, self._text[at : at + len(data)], strict=False)
            self._alike += sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        for reading in self._readings:
            reading.feed(data)
        self._look_for_overlaps(at)
        if self._blank:
            self._look_behind_blanks()
        if self._values:
            self._look_for_values(at)
        if not self._rest:
            self._tell()

    def _look_for_overlaps(self, at: int) -> None:
        """Begin the readings of overlaps that are complete; leave out those that are none. `at`: bytes that
        were there before."""
        raw, text, size = self._raw, self._text, len(self._text)
        if self._overlaps is None:
            self._overlaps = [size - place for place in _places(text, raw[0])]
        waiting = []
        for overlap in self._overlaps:
            end = min(overlap, len(raw))
            if raw[at:end] != text[size - overlap + at : size - overlap + end]:
                continue
            if overlap > len(raw):
                waiting.append(overlap)
            else:
                self._begin(overlap)
        self._overlaps = [each for each in waiting if self._may_repeat(each)]

    def _look_behind_blanks(self) -> None:
        """A reading without the blanks that the answer begins with, once something else has come."""
        blanks = len(self._raw) - len(self._raw.lstrip(BLANKS))
        self._blank = blanks == len(self._raw)
        if blanks and not self._blank:
            self._begin(blanks)

    def _look_for_values(self, at: int) -> None:
        """Begin a reading at each byte of the new ones that a value may begin with, as long as none is read
        and none was found."""
        direct = self._starts_with_value()
        for place in range(at, len(self._raw)):
            if self._raw[place] not in self._values or self._found(place):
                continue
            if any(place < each.skip + each.kept for each in self._readings):
                continue
            if direct is None or place == direct:
                self._begin(place)

    def _starts_with_value(self) -> int | None:
        """Where the value begins that is the beginning of the answer, or of a fence there; None for prose."""
        at = len(self._raw) - len(self._raw.lstrip(BLANKS))
        if self._raw.startswith(FENCE, at) and (line := self._raw.find(b"\n", at)) >= 0:
            rest = self._raw[line:]
            at = len(self._raw) - len(rest.lstrip(BLANKS))
        return at if at < len(self._raw) and self._raw[at] in self._values else None

    def _found(self, upto: int) -> bool:
        """Whether a value was read and left before a byte, whole or so much of it that it is no prose."""
        ended = (each for each in self._readings if each.skip + each.kept < upto)
        return any(each.kept >= RESTART or (each.kept and each.matcher.is_accepting()) for each in ended)

    def _is_prose(self) -> bool:
        """Whether a value may still come behind prose."""
        prose = len(self._raw) < MOST_PROSE and self._starts_with_value() is None
        return prose and not self._found(len(self._raw))

    def _may_repeat(self, size: int) -> bool:
        """Whether the first bytes of the answer may repeat what is there. They do not where they are legal
        behind the text, but for all of the text: rows of a table may be equal, and go on with the next."""
        whole = size == len(self._text) and self._has_own_beginning
        return whole or self._readings[0].kept < size

    def _begin(self, skip: int) -> None:
        if not self._values and not self._may_repeat(skip):
            return
        reading = _Reading(skip, self._start.clone())
        reading.feed(bytes(self._raw[skip:]))
        self._readings.append(reading)

    # -- readings ------------------------------------------------------------------------------------

    def _restarts(self) -> bool:
        """Whether the answer begins with all of the text, or with its beginning and no more."""
        seen = min(len(self._raw), len(self._text))
        return self._has_own_beginning and self._alike >= max(RESTART, seen)

    def _chosen(self) -> _Reading | None:
        """The reading that counts; None where the answer has begun again and not got behind the text.

        An answer that has begun again is read so. Any other is a continuation as long as that is legal,
        unless that ends within the text, and read as a new beginning it would be whole. Then the longest
        overlap counts that makes all of the answer legal, and at last whatever keeps the most bytes.
        """
        if self._values:
            kept = max(self._readings, key=lambda each: each.kept)
            return next((each for each in self._readings if each.alive and not self._found(each.skip)), kept)
        size = len(self._text)
        whole = next((each for each in self._readings[1:] if each.skip == size), None)
        if self._restarts():
            return whole
        direct = self._readings[0]
        if direct.alive:
            instead = whole is not None and whole.alive and whole.matcher.is_accepting()
            return whole if instead and not direct.matcher.is_accepting() else direct
        others = sorted(self._readings[1:], key=lambda each: -each.skip)
        alive = next((each for each in others if each.alive), None)
        return alive or max((direct, *others), key=lambda each: each.kept)

    def _goes_on(self) -> bool:
        """Whether a byte may still come that is kept."""
        chosen, direct = self._chosen(), self._readings[0]
        settled = chosen is not None and chosen.alive and (chosen is direct or not direct.alive)
        if self._rest:
            return False
        if settled and chosen is not None and is_whole(chosen.matcher, self._is_value):
            return self._whole_words and self._raw[-1:].isalnum()
        if (
            self._whole_words
            and self._raw[-1:] == b"."
            and self._raw[-2:-1].isdigit()
            and self._is_number(chosen)
        ):
            return True
        if self._values and not self._blank and self._is_prose():
            return True
        return self._blank or bool(self._overlaps) or any(each.alive for each in self._readings)

    def _is_number(self, chosen: _Reading | None) -> bool:
        """Whether what is read ends in a number, before a point that came last: a digit may follow it."""
        return chosen is not None and chosen.skip + chosen.kept == len(self._raw) - 1

    def _tell(self) -> None:
        """Tell of what is kept whatever comes, if one reading is left."""
        alive = [each for each in self._readings if each.alive]
        if len(alive) == 1 and not self._overlaps and self._chosen() is alive[0]:
            reading = alive[0]
            if all(reading is each or reading.kept > each.kept for each in self._readings):
                self._told(bytes(self._raw[reading.skip : reading.skip + reading.kept]))


def is_whole(matcher: Matcher, value: bool) -> bool:
    """Whether nothing can follow a legal text; behind a value of JSON blanks count as nothing."""
    if matcher.is_complete():
        return True
    return value and matcher.is_accepting() and not matcher.next_bytes().strip(BLANKS)


def _places(text: bytes, byte: int) -> list[int]:
    """Where a byte stands in a text, ascending."""
    found, at = [], text.find(byte)
    while at >= 0:
        found.append(at)
        at = text.find(byte, at + 1)
    return found


def _cut(data: bytes) -> bool:
    """Whether bytes end inside a character."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False
