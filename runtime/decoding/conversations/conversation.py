"""A conversation: messages as immutable text, and the tokens that a model sees of them.

The text alone is the state (`Transcript`). Its tokens are computed when a hole needs logits. So a mark is one
reference, and snapshot, `try`, fork and retry cost nothing. The text between two special tokens is a
*stretch*. A stretch has the tokens that the tokenizer gives for its whole text. So what the model sees never
depends on which parts were written and which were generated. The engine's branch is updated by cutting its
tokens at the first difference.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from sglc.runtime.chat import TemplateError
from sglc.runtime.decoding.conversations.digest import TextDigest
from sglc.runtime.decoding.conversations.encoder import Encoded, Encoder
from sglc.runtime.decoding.conversations.tool_form import ToolForm, tool_form
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.errors import SglError

if TYPE_CHECKING:
    from sglc.runtime.chat import Piece
    from sglc.runtime.engine.scheduling.branch import Branch


class Chat(Protocol):
    """A chat template, as conversations use it; pieces are text or special tokens with an `id`."""

    def pieces(self, roles: tuple[str, ...]) -> tuple[Piece, ...]:
        """What stands between the content before and the content of the last of these roles."""

    def closing(self, roles: tuple[str, ...]) -> tuple[Piece, ...]:
        """What stands behind the last content where the conversation ends with it."""


class PlainChat:
    """Messages marked by lines, for runs without a model."""

    def pieces(self, roles: tuple[str, ...]) -> tuple[str, ...]:
        """A line `<role>`, behind the line break that ends the message before."""
        return (f"\n<{roles[-1]}>\n" if len(roles) > 1 else f"<{roles[-1]}>\n",)

    def closing(self, roles: tuple[str, ...]) -> tuple[str, ...]:
        """The line break that ends a message."""
        return ("\n",)


NoteKind = Literal["role", "end", "value", "unknown"]


@dataclass(frozen=True, slots=True)
class Note:
    """What a preview notes at a place of a transcript: where a message or a value begins and ends.

    `stretch` counts the stretches before its own, `start` and `end` are offsets in its own. `kind` is `role`
    (empty, where the text of a message begins), `end` (empty, behind it), `value` (the text of a filled
    hole), or `unknown` (empty, where a value without a text belongs). `label` is the role, the hole or the
    value.
    """

    kind: NoteKind
    label: str
    stretch: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """The state of a conversation.

    `closed` are the finished stretches, each with the special token after it; `stretch` is the text since the
    last special token and `content` the offset in it where the open message's own text begins. `fresh` says
    that nothing was written into the message yet, `glued` that the next line starts without a newline.
    """

    closed: tuple[tuple[str, int], ...] = ()
    stretch: str = ""
    content: int = 0
    roles: tuple[str, ...] = ()
    said: tuple[tuple[str, str], ...] = ()
    """Role and text of each message before the open one; the role of text outside of messages is empty."""
    is_open: bool = False
    fresh: bool = True
    glued: bool = False
    behind: str | None = None
    """The program's own text behind an inserted value, up to the first hole. It is the same in every run, and
    yet each run computes it. Empty before a value is inserted."""
    asked: bool = False
    """Whether a hole was begun."""
    notes: tuple[Note, ...] = ()
    """What a preview has noted; empty in runs."""

    @property
    def message(self) -> str:
        """Text of the newest message so far."""
        return self.stretch[self.content :]

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """Role and text of each message, the open one last: what every model reads in its own form."""
        if not self.roles and not self.message:
            return self.said
        return (*self.said, (self.roles[-1] if self.roles else "", self.message))

    @property
    def line(self) -> str:
        """Text of the line being written."""
        return self.message.rpartition("\n")[2]


class Conversation:
    """A transcript that is being written, and the engine's branch that holds its tokens.

    `chat` None means that the model knows no roles. Without a tokenizer there is text only. `open_branch`
    gives a branch for the tokens that it is about to hold (it may hold some of them already), `release` takes
    it back.
    """

    def __init__(
        self,
        *,
        encoder: Encoder | None = None,
        chat: Chat | None = None,
        open_branch: Callable[[tuple[int, ...]], Branch] | None = None,
        release: Callable[[Branch], None] | None = None,
    ) -> None:
        self.state = Transcript()
        self.encoder = encoder
        self._chat = chat
        self._open_branch = open_branch
        self._release = release
        self._tools: tuple[str, ToolForm] | None = None
        """The tools that there are, and how they are told of and called."""
        self._branch: Branch | None = None
        self._closed_tokens: tuple[tuple[tuple[str, int], ...], tuple[int, ...]] = ((), ())
        self._encoded: Encoded | None = None
        self.views: dict[Hashable, Conversation] = {}
        """The same text as other models read it, or with a part left out; see `decoding.views`."""
        self.read = TextDigest()
        """What `digest` has read."""
        self.lookup = Lookup()
        """Where the newest tokens stand in the text already; made when tokens are drafted."""

    # -- marks ---------------------------------------------------------------------------------------

    def mark(self) -> Transcript:
        """The text as it is now, for `restore`. It costs nothing: transcripts never change."""
        return self.state

    def restore(self, mark: Transcript) -> None:
        """Go back to a marked text; its tokens are rolled back when tokens are next needed."""
        self.state = mark

    def sibling(self) -> Conversation:
        """An empty conversation with the same model."""
        made = Conversation(
            encoder=self.encoder, chat=self._chat, open_branch=self._open_branch, release=self._release
        )
        made._tools = self._tools
        return made

    def fork(self) -> Conversation:
        """An independent copy that shares the tokens cached so far."""
        copy = self.sibling()
        copy._release = None
        copy.state = self.state
        copy._tools = self._tools
        copy._closed_tokens = self._closed_tokens
        copy._encoded = self._encoded
        copy.read = self.read.copy()
        copy.views = {key: view.fork() for key, view in self.views.items()}
        if self._branch is not None:
            copy._branch = self._branch.fork()
        return copy

    def adopt(self, other: Conversation) -> None:
        """Become `other`, which is used up by it."""
        if self._branch is not None:
            self._branch.close()
        for view in self.views.values():
            view.close()
        self.views, other.views = other.views, {}
        self.state = other.state
        self._branch, other._branch = other._branch, None
        self._closed_tokens = other._closed_tokens
        self._encoded = other._encoded
        self.lookup = other.lookup
        self.read = other.read

    def close(self) -> None:
        """Give the branches back, or free them."""
        for view in self.views.values():
            view.close()
        self.views = {}
        if self._branch is not None:
            if self._release is not None:
                self._release(self._branch)
            else:
                self._branch.close()
            self._branch = None

    def messages(self) -> tuple[tuple[str, str], ...]:
        """Role and text of each message, the open one last; the role of text outside of messages is empty.
        What there is to say of tools stands in the text, as far as no template tells it."""
        return self.state.messages

    # -- writing -------------------------------------------------------------------------------------

    def role(self, name: str) -> None:
        """Open a message; the model's own template says what stands before its text."""
        if self._chat is None:
            raise SglError(
                "Unsupported",
                "this model has no chat template, so it knows no roles",
                hint="use an instruction-tuned model, or write the function without role blocks",
            )
        self._tell_first(name)
        state = self.state
        roles = (*state.roles, name)
        closed, stretch = list(state.closed), state.stretch
        try:
            pieces = self._chat.pieces(roles)
        except TemplateError as fault:
            raise SglError(
                "Unsupported", f"the model's chat template refuses `{name}` here: {fault}"
            ) from None
        for piece in pieces:
            if isinstance(piece, str):
                stretch += piece
            else:
                closed.append((stretch, piece.id))
                stretch = ""
        self.state = replace(
            state,
            closed=tuple(closed),
            stretch=stretch,
            content=len(stretch),
            roles=roles,
            said=state.messages,
            is_open=True,
            fresh=True,
            glued=False,
        )

    def end_role(self) -> str:
        """End the open message. The template's text behind it is written when the next message begins.

        Gives what was added to it: in a first message of the system, what there is to say of tools."""
        told = self._told() if self.state.roles == ("system",) and self.state.is_open else ""
        if told:
            told = told if self.state.fresh else f"\n\n{told}"
            self.text(told)
        self.state = replace(self.state, is_open=False)
        return told

    # -- tools ---------------------------------------------------------------------------------------

    @property
    def tools(self) -> str:
        """The tools that were offered, as a JSON list; empty for none."""
        return "" if self._tools is None else self._tools[0]

    def offer(self, tools: str, form: ToolForm | None = None) -> None:
        """Tell of tools, a JSON list, in the form of this chat or in the one that is given. The conversation
        is empty yet."""
        if self._chat is None:
            raise SglError(
                "Unsupported",
                "this model has no chat template, so it calls no tools",
                hint="use an instruction-tuned model",
            )
        form = form or tool_form(self._chat, tools)
        self._tools, self._chat = (tools, form), form.chat

    def call_text(self, part: str) -> str:
        """Append a part of a tool's call; gives its text."""
        if self._tools is None:
            raise SglError("Unsupported", "the conversation was offered no tools")
        text = self._tools[1].part(part)
        self.text(text)
        return text

    def _told(self) -> str:
        return "" if self._tools is None else self._tools[1].told

    def _tell_first(self, role: str) -> None:
        """Before a first message of another role than the system's: what there is to say of tools."""
        told = self._told()
        if told and not self.state.roles and role != "system":
            self.role("system")
            self.end_role()

    def line(self) -> bool:
        """Start a pipe line: on a new line, unless it is the message's first or was glued on.

        True if a newline was written.
        """
        state = self.state
        if state.fresh or state.glued:
            self.state = replace(self._begun(), fresh=False, glued=False)
            return False
        self.state = replace(state, stretch=state.stretch + "\n")
        return True

    def glue(self) -> None:
        """Let the next pipe line go on in the line at hand; `line` writes no newline then."""
        self.state = replace(self.state, glued=True)

    def text(self, text: str) -> None:
        """Append text, which is inert: it never becomes a special token."""
        state = self._begun()
        self.state = replace(state, stretch=state.stretch + text, fresh=False)

    def constant(self, text: str) -> None:
        """Append text of the program itself."""
        self.text(text)
        behind = self.state.behind
        if behind is not None and not self.state.asked:
            self.state = replace(self.state, behind=behind + text)

    def insert(self, text: str) -> None:
        """Append the text of a value, which may be another in the next run."""
        self.text(text)
        if text and self.state.behind is None:
            self.state = replace(self.state, behind="")

    def ask(self) -> str:
        """Begin a hole. Gives the constant text behind inserted values if it is the conversation's first."""
        state = self.state
        if state.asked:
            return ""
        self.state = replace(state, asked=True)
        return state.behind or ""

    def note(self, kind: NoteKind, label: str, length: int = 0) -> None:
        """Note what the last `length` characters are. They lie behind the last special token."""
        state = self.state
        end = len(state.stretch)
        made = Note(kind, label, len(state.closed), end - length, end)
        self.state = replace(state, notes=(*state.notes, made))

    def _begun(self) -> Transcript:
        """The state with the tokenizer's own first token, where text without roles begins."""
        state = self.state
        if state.roles or state.closed or state.stretch or self.encoder is None:
            return state
        bos = self.encoder.tokenizer.bos_id
        return state if bos is None else replace(state, closed=(("", bos),))

    def premise(self, role: str) -> None:
        """Open a message of a role with as little before it as the template allows."""
        try:
            self.role(role)
        except SglError:
            # some templates insist that a user speaks first
            self.state = Transcript()
            self.role("user")
            self.end_role()
            self.role(role)

    def repaired(self, mark: Transcript, rejected: str, reason: str) -> Transcript:
        """The present state with a rejected answer and the reason as turns of their own.

        `mark` is the state at the hole: the same message is opened again and begins as it did there, up to
        where the answer is to stand.
        """
        before = self.state
        role = mark.roles[-1] if mark.roles else ""
        self.text(rejected)
        if not role:
            self.text(f"\n\n(Not accepted: {reason} Once more.)\n\n")
        else:
            self.end_role()
            self.role("user")
            self.text(f"That is not accepted: {reason}\nAnswer again, in the same form.")
            self.end_role()
            self.role(role)
        if mark.message:
            self.text(mark.message)
        made, self.state = self.state, before
        return made

    def start(self) -> None:
        """Make sure that there is a token to predict from, where a conversation begins with a hole."""
        self.state = state = self._begun()
        if self.encoder is not None and not state.closed and not state.stretch:
            self.lead()

    def lead(self) -> None:
        """Put the token that ends texts before the first, as between the texts that models learn from.

        Also where a hole begins with all tokens before it, cut anew with what is written.
        """
        assert self.encoder is not None and not self.state.closed
        end = min(self.encoder.tokenizer.end_ids, default=None)
        if end is None:
            raise SglError("Unsupported", "this model cannot begin a text: it has no start or end token")
        self.state = replace(self.state, closed=(("", end),))

    # -- tokens --------------------------------------------------------------------------------------

    def tokens(self, tail: str = "") -> tuple[int, ...]:
        """Canonical tokens of the whole conversation, with `tail` appended to its text."""
        closed, stretch = self._parts(tail)
        return closed + stretch.tokens

    def _parts(self, tail: str) -> tuple[tuple[int, ...], Encoded]:
        if self.encoder is None:
            raise AssertionError("a conversation without a tokenizer has no tokens")
        state = self._begun()
        known, tokens = self._closed_tokens
        if known is not state.closed:
            if state.closed[: len(known)] == known:
                rest = state.closed[len(known) :]
            else:
                rest, tokens = state.closed, ()
            for text, special in rest:
                tokens = (*tokens, *self.encoder.encode(text), special)
            self._closed_tokens = (state.closed, tokens)
        encoded = self.encoder.extend(state.stretch + tail, self._encoded)
        return tokens, encoded

    def sync(self, tail: str = "") -> Branch:
        """The engine's branch, holding exactly the conversation's canonical tokens."""
        closed, encoded = self._parts(tail)
        self._encoded = encoded
        target = closed + encoded.tokens
        if self._branch is None:
            if self._open_branch is None:
                raise AssertionError("a conversation without a model has no branch")
            self._branch = self._open_branch(target)
        branch = self._branch
        held = branch.tokens
        keep = _same(held, target, len(closed))
        if keep < len(held):
            branch.rollback(keep)
        if keep < len(target):
            branch.append(list(target[keep:]))
        return branch

    @property
    def branch(self) -> Branch:
        """The branch that `sync` has opened."""
        if self._branch is None:
            raise AssertionError("the conversation has not been synchronised yet")
        return self._branch

    def floor(self) -> int:
        """The first of the branch's tokens that is the open message's own text. To be asked after `sync`.

        What the chat template writes before it is never taken back: models are always asked behind that.
        """
        if self.encoder is None or self._encoded is None:
            raise AssertionError("the conversation has not been synchronised yet")
        token_bytes = self.encoder.tokenizer.token_bytes
        before = len(self.state.stretch[: self.state.content].encode())
        count, at = 0, 0
        while at < before and count < len(self._encoded.tokens):
            at += len(token_bytes[self._encoded.tokens[count]] or b"")
            count += 1
        return len(self._closed_tokens[1]) + count

    # -- reading -------------------------------------------------------------------------------------

    def digest(self) -> bytes:
        """A digest of the messages so far, which is the same however they were written; see `digest`."""
        return self.read.of(self.state.messages)

    def rendered(self, close: bool = False) -> str:
        """The whole text, special tokens by name."""
        state = self.state
        names: dict[int, str] = {}
        if self.encoder is not None:
            names = {number: name for name, number in self.encoder.tokenizer.special.items()}
        text = "".join(stretch + names.get(special, "") for stretch, special in state.closed) + state.stretch
        if close and state.roles and self._chat is not None:
            for piece in self._chat.closing(state.roles):
                text += piece if isinstance(piece, str) else names.get(piece.id, "")
        return text


def _same(held: list[int], target: tuple[int, ...], hint: int) -> int:
    """Length of the longest common prefix of two token lists; the first `hint` are likely the same."""
    size = len(held)
    if tuple(held) == target[:size]:  # mostly tokens are added
        return size
    start = min(hint, size, len(target))
    if tuple(held[:start]) != target[:start]:
        start = 0
    for index in range(start, min(len(held), len(target))):
        if held[index] != target[index]:
            return index
    return min(len(held), len(target))
