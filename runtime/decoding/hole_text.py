"""The text of one hole while it is written, and the tokens that it becomes.

Two matchers run side by side. One follows the value's own language. The other makes the masks. It follows the
value, the stop text and then any text, so that one token may write the value's end and what comes behind it.
Certain text costs no forward pass. Bytes that are the only continuation are appended as tokens, as far as no
later text can change their tokenisation (see `seams`). Which token comes next where several are legal is not
decided here: decoders do that.
"""

from __future__ import annotations

from copy import copy

from sglc.runtime.decoding.canonical_draw import FEW, refuse_few
from sglc.runtime.decoding.conversations.canonical import Tokens
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.lookahead import HoleLookahead
from sglc.runtime.decoding.requests import Constraints, HoleRequest
from sglc.runtime.decoding.seams import Seams
from sglc.runtime.decoding.stop_tracker import StopTracker
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


class HoleText:
    """One text of a hole. `begin` makes it ready; `fork` gives another one that begins alike."""

    tracker: StopTracker
    """Follows the value. Set by `begin`, as `masks` is."""
    masks: Matcher
    """Makes the masks; it is the tracker's own matcher where the hole has no stops."""

    def __init__(
        self,
        conversation: Conversation | ConversationPair,
        vocabulary: Vocabulary,
        constraints: Constraints,
        request: HoleRequest,
    ) -> None:
        self.conversation = conversation
        self.vocabulary = vocabulary
        self.request = request
        self._constraints = constraints
        self.prefix = b""
        """Bytes before the value that are written anew with it."""
        self.base = 0
        """Tokens before those of the value; tokens that are written anew are among them."""
        self.withdrawn = 0
        """Tokens before the hole that are written anew with the value."""
        self.forced = 0
        """Tokens of certain text."""
        self.pending: Tokens = ()
        """Tokens that forced text most likely becomes which is left to be drawn."""
        self.same = False
        """Whether the tracker's matcher makes the masks."""
        encoder = conversation.encoder
        self.seams = None if encoder is None else Seams(encoder.canonical, vocabulary)
        self._floor = 0
        """The first token that may be taken back."""

    # -- beginning -----------------------------------------------------------------------------------

    def value(self) -> Matcher:
        """The matcher of the value alone. Raises Unsatisfiable where there is none left."""
        value = self._constraints.value(self.request).matcher(self.vocabulary)
        if value.is_dead():
            raise SglError("Unsatisfiable", f"no value of hole `{self.request.name}` is left to choose")
        return value

    def begin(self, value: Matcher, context_length: int) -> None:
        """Make the branch ready for the value's first token. Raises Budget where the window is full.

        The last tokens before the hole are taken back where they may become others with the value.
        """
        request, conversation = self.request, self.conversation
        conversation.start()
        branch = conversation.sync()
        self.base = len(branch.tokens)
        if self.base >= context_length:
            raise SglError(
                "Budget",
                f"the conversation before hole `{request.name}` has {self.base} tokens, "
                f"the model's context window {context_length}",
                hint="shorten what is inserted, or use a model with a larger context window",
            )
        masks = self._constraints.hole(request).matcher(self.vocabulary) if request.stops else value
        self._floor = conversation.floor()
        healed = self._heal(masks)
        if healed is not None:
            value, masks = healed
            if self.withdrawn == self.base:
                conversation.lead()
                branch = conversation.sync()
                self.base += 1
                self._floor += 1
            branch.rollback(self.base - self.withdrawn)
            self.base -= self.withdrawn
        self.tracker, self.masks = StopTracker(value, request.stops), masks
        self.same = masks is value

    def _heal(self, masks: Matcher) -> tuple[Matcher, Matcher] | None:
        """Matchers that begin with the last tokens' text, where these may become others with the value."""
        if self.seams is None:
            return None
        tokens, request, constraints = self.conversation.branch.tokens, self.request, self._constraints

        def behind(prefix: bytes) -> Matcher:
            return constraints.hole(request, prefix).matcher(self.vocabulary)

        count = self.seams.taken_back(tokens, self._floor, masks, behind)
        if not count:
            return None
        self.withdrawn = count
        self.prefix = b"".join(self.vocabulary.token_bytes[token] or b"" for token in tokens[-count:])
        hole = behind(self.prefix)
        if not request.stops:
            return hole, hole
        return constraints.value(request, self.prefix).matcher(self.vocabulary), hole

    @property
    def alone(self) -> Conversation:
        """The conversation, of one model: two models write one text only, and it has no forks."""
        assert isinstance(self.conversation, Conversation)
        return self.conversation

    def fork(self) -> HoleText:
        """Another text that begins as this one does; the two share what the model has computed."""
        twin = copy(self)
        twin.conversation = self.alone.fork()
        twin.tracker = self.tracker.copy()
        twin.masks = twin.tracker.value if self.same else self.masks.clone()
        return twin

    # -- reading -------------------------------------------------------------------------------------

    @property
    def joins(self) -> bool:
        """Whether a text can be written with other tokens than the tokenizer's."""
        return self.seams is not None and self.seams.joins

    @property
    def ends_freely(self) -> bool:
        """Whether the model may end the message behind the value."""
        return self.request.end_of_message or not self.request.stops

    def written(self, end: int | None = None) -> bytes:
        """The bytes of the value so far, up to an offset of the tracker."""
        return bytes(self.tracker.data[len(self.prefix) : end])

    def used(self) -> int:
        """Tokens of the value so far."""
        return len(self.conversation.branch.tokens) - self.base

    def price(self, data: bytes) -> int:
        """Tokens of a piece of text on its own; of a broken character at its start one a byte."""
        encoder = self.conversation.encoder
        for start in range(min(4, len(data))):
            try:
                text = data[start:].decode()
            except UnicodeDecodeError:
                continue
            return start + len(encoder.encode(text)) if encoder is not None else len(data)
        return len(data)

    def own(self, tracker: StopTracker, rest: bytes) -> bytes:
        """What is part of the value in bytes that follow those of a tracker."""
        return rest[max(0, len(self.prefix) - len(tracker.data)) :]

    # -- tokens that are drawn -----------------------------------------------------------------------

    def is_open(self, token: int, masks: Matcher) -> bool:
        """Whether the tokenizer would write a legal text with this token. See `Seams.is_open`."""
        if self.seams is None:
            return True
        return self.seams.is_open(self.context(), token, masks, self.ending())

    def only_open(self, legal: NextTokens) -> int | None:
        """The token that the tokenizer would write here, where it would write no other legal one.

        What it would not write is refused then; nothing is where more than FEW tokens are legal.
        """
        if not self.joins or legal.matcher.mask_size() > FEW:
            return None
        refuse_few(legal, lambda token: self.is_open(token, legal.matcher))
        if legal.count() != 1:
            return None
        left = (*(token for token in legal.matcher.allowed().tolist() if legal.allows(token)), *legal.end_ids)
        return int(left[0])

    def lookahead(self, position: int) -> HoleLookahead | None:
        """The decoding of what comes, for a draft model; None where there is no tokenizer."""
        if self.seams is None:
            return None
        tokens = self.conversation.branch.tokens
        place = tokens, self._floor, self.tracker, self.masks, position
        return HoleLookahead(self.request, self.vocabulary, self.seams, *place)

    def context(self) -> Tokens:
        """The last tokens of the conversation that decide how what follows becomes tokens, see
        `Seams.context`."""
        return Seams.context(self.conversation.branch.tokens, self._floor)

    def ending(self) -> Matcher | None:
        """The value's matcher where the model may end the message behind the value."""
        return self.tracker.value if self.ends_freely and not self.tracker.candidates else None

    def pass_prefix(self) -> bool:
        """Count what is written so far as text before the hole, if it is no more than that."""
        within = len(self.tracker.data) <= len(self.prefix)
        if within:
            self.base = len(self.conversation.branch.tokens)
        return within

    # -- text that is certain ------------------------------------------------------------------------

    def append_forced(self, run: bytes) -> tuple[int, bool]:
        """Append certain bytes as canonical tokens.

        The number of bytes written, and whether the rest is held back, as what follows may make other tokens
        of it: then it is left for the model to write.
        """
        seams = self.seams
        found = None if seams is None else seams.forced(self.context(), run, self.tracker.value, self.masks)
        if seams is None or found is None:
            return self._rewrite(run), False
        self._write(found.data, found.tokens)
        if found.held:
            self.pending = seams.pending(self.context(), run, self.masks)
        return len(found.data), found.held

    def _rewrite(self, run: bytes) -> int:
        """Append certain bytes, the text before them tokenised anew with them; how many they are."""
        tracker, skip = self.tracker, len(self.prefix)
        whole = bytes(tracker.data) + run
        if len(whole) < skip:
            return 0
        text = whole[skip:].decode("utf-8", "ignore")
        run = whole[len(tracker.data) : skip + len(text.encode())]
        if run:
            size = len(self.conversation.branch.tokens)
            self.conversation.sync(text)
            self.forced += max(0, len(self.conversation.branch.tokens) - size)
            self._accept(run)
            tracker.data += run
        return len(run)

    def _write(self, data: bytes, tokens: Tokens) -> None:
        if data:
            self._accept(data)
        for token in tokens:
            self.tracker.data += self.vocabulary.token_bytes[token] or b""
            self.conversation.branch.append([token])
            self.forced += not self.pass_prefix()

    def _accept(self, data: bytes) -> None:
        self.tracker.value.accept_bytes(data)
        if not self.same:
            self.masks.accept_bytes(data)


def only_value(value: Matcher) -> bytes | None:
    """The bytes of a value where no other is legal; None where there is a choice."""
    probe = value.clone()
    data = b""
    while not probe.is_complete():
        run = probe.forced()
        if not run:
            return None
        data += run
        probe.accept_bytes(run)
    return data


def nothing_allowed(text: HoleText, legal: NextTokens) -> SglError:
    """The error of a hole in which no token can be drawn."""
    name, partial = text.request.name, text.written().decode("utf-8", "ignore")
    if legal.count():
        message = f"the model gives no legal token of hole `{name}` any probability"
        return SglError("Backend", message, partial=partial)
    message = f"no token of this model can go on in hole `{name}`"
    return SglError("Unsupported", message, partial=partial, hint=_missing_hint(text.vocabulary))


def _missing_hint(vocabulary: Vocabulary) -> str:
    """Text that the tokenizer cannot write at all, for the message about a constraint that needs it."""
    missing = sorted(vocabulary.missing_bytes())
    shown = ", ".join(repr(chr(byte)) if 0x20 < byte < 0x7F else f"{byte:#04x}" for byte in missing[:8])
    more = ", …" if len(missing) > 8 else ""
    return f"its tokenizer has no token with {shown}{more}; use another model" if missing else ""
