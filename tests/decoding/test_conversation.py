"""Conversations: where newlines stand, marks and forks, and that tokens are exactly the text's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.small_models import small_tokenizer
from sglc.runtime.decoding.conversations.conversation import Conversation, PlainChat
from sglc.runtime.decoding.conversations.encoder import WHOLE_CHARS, Encoder
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ByteTokenizer, ScriptedModel


class FakeBranch:
    """A list of tokens with the operations of an engine's branch."""

    def __init__(self, tokens: list[int] | None = None) -> None:
        self.tokens = tokens or []

    def append(self, tokens: list[int]) -> None:
        self.tokens.extend(tokens)

    def rollback(self, length: int) -> None:
        assert 0 <= length <= len(self.tokens)
        del self.tokens[length:]

    def fork(self) -> FakeBranch:
        return FakeBranch(list(self.tokens))

    def close(self) -> None:
        self.tokens = []


def conversation(tokenizer: Any = None) -> Conversation:
    tokenizer = tokenizer or small_tokenizer()
    return Conversation(
        encoder=Encoder(tokenizer), chat=tokenizer.chat, open_branch=lambda tokens: FakeBranch()
    )  # type: ignore[arg-type, return-value]


def written(held: list[int], tokenizer: Any) -> str:
    """Tokens back to text, special ones by name."""
    names = {number: name for name, number in tokenizer.special.items()}
    parts, run = [], bytearray()
    for token in held:
        if token in names:
            parts.append(bytes(run).decode() + names[token])
            run.clear()
        else:
            run += tokenizer.token_bytes[token]
    return "".join(parts) + bytes(run).decode()


# -- lines -------------------------------------------------------------------------------------------


def test_lines_are_joined_by_newlines_and_a_message_ends_where_its_text_ends() -> None:
    talk = Conversation(chat=PlainChat())
    talk.role("user")
    talk.line()
    talk.text("one")
    talk.line()
    talk.text("two")
    talk.end_role()
    talk.role("assistant")
    assert talk.rendered() == "<user>\none\ntwo\n<assistant>\n"


def test_a_blank_line_is_a_line_and_a_glued_one_is_none() -> None:
    talk = Conversation(chat=PlainChat())
    talk.role("user")
    for text in ("a", "", "b"):
        talk.line()
        talk.text(text)
    talk.glue()
    talk.line()
    talk.text("c")
    assert talk.state.message == "a\n\nbc"


def test_what_begins_a_message_without_a_line_is_followed_by_a_newline() -> None:
    talk = Conversation(chat=PlainChat())
    talk.role("assistant")
    talk.text("value")
    talk.line()
    talk.text("next")
    assert talk.state.message == "value\nnext"


def test_a_mark_brings_back_text_roles_and_lines() -> None:
    talk = Conversation(chat=PlainChat())
    talk.role("user")
    talk.line()
    mark = talk.mark()
    talk.text("lost")
    talk.end_role()
    talk.role("assistant")
    talk.restore(mark)
    talk.text("kept")
    assert talk.rendered() == "<user>\nkept"


# -- tokens ------------------------------------------------------------------------------------------


def test_special_tokens_come_from_the_template_alone() -> None:
    talk = conversation()
    talk.role("user")
    talk.text("<|im_end|>")
    tokens = talk.tokens()
    assert tokens.count(small_tokenizer().special["<|im_end|>"]) == 0
    assert tokens.count(small_tokenizer().special["<|im_start|>"]) == 1
    assert written(list(tokens), small_tokenizer()) == "<|im_start|>user\n<|im_end|>"


def test_text_after_generated_text_is_tokenised_jointly() -> None:
    talk = conversation()
    talk.text("the an")
    talk.sync()
    talk.text("swer")
    assert tuple(talk.sync().tokens) == tuple(small_tokenizer().encode("the answer"))


def test_a_fork_and_its_parent_are_independent() -> None:
    talk = conversation()
    talk.text("the ")
    talk.sync()
    fork = talk.fork()
    fork.text("answer")
    fork.sync()
    talk.text("anthem")
    assert written(talk.sync().tokens, small_tokenizer()) == "the anthem"
    assert written(fork.sync().tokens, small_tokenizer()) == "the answer"
    talk.adopt(fork)
    assert written(talk.sync().tokens, small_tokenizer()) == "the answer"


def test_a_model_without_a_template_knows_no_roles() -> None:
    talk = Conversation(encoder=Encoder(ByteTokenizer()))  # type: ignore[arg-type]
    with pytest.raises(SglError, match="no chat template"):
        talk.role("user")


def test_a_repair_shows_the_slip_and_opens_the_message_again() -> None:
    talk = conversation()
    talk.role("user")
    talk.text("q")
    talk.end_role()
    talk.role("assistant")
    talk.text("Answer: ")
    mark = talk.mark()
    shown = talk.repaired(mark, "5", "too small")
    assert talk.mark() is mark
    talk.restore(shown)
    assert talk.rendered() == (
        "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\nAnswer: 5<|im_end|>\n<|im_start|>user\n"
        "That is not accepted: too small\nAnswer again, in the same form.<|im_end|>\n"
        "<|im_start|>assistant\nAnswer: "
    )


def test_the_floor_is_the_first_token_of_the_messages_own_text() -> None:
    talk = conversation()
    talk.role("assistant")
    opened = len(talk.sync().tokens)
    assert talk.floor() == opened
    talk.text("the answer\n")
    assert len(talk.sync().tokens) > opened
    assert talk.floor() == opened


TEXTS = st.text(alphabet="the answr\n Zü<|im_end>é1", max_size=12)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("text"), TEXTS),
        st.tuples(st.just("role"), st.sampled_from(["user", "assistant"])),
        st.tuples(st.sampled_from(["line", "glue", "sync", "mark", "restore", "fork", "adopt"]), st.just("")),
    ),
    max_size=25,
)


@settings(max_examples=80, deadline=None)
@given(STEPS)
def test_tokens_are_the_texts_after_any_steps(steps: list[tuple[str, str]]) -> None:
    talk = conversation()
    marks, forks = [talk.mark()], []
    for step, text in steps:
        match step:
            case "text":
                talk.text(text)
            case "role":
                talk.end_role()
                talk.role(text)
            case "line":
                talk.line()
            case "glue":
                talk.glue()
            case "sync":
                talk.sync()
            case "mark":
                marks.append(talk.mark())
            case "restore":
                talk.restore(marks[-1])
            case "fork":
                forks.append(talk.fork())
            case "adopt" if forks:
                talk.adopt(forks.pop())
    held = talk.sync().tokens
    assert written(held, small_tokenizer()) == talk.rendered()
    expected: list[int] = []
    for stretch, special in talk.state.closed:
        expected += [*small_tokenizer().encode(stretch), special]
    assert held == expected + small_tokenizer().encode(talk.state.stretch)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(alphabet="the answr\n aZü", min_size=100, max_size=900), min_size=8, max_size=14))
def test_long_messages_are_tokenised_as_a_whole_would_be(parts: list[str]) -> None:
    talk = conversation()
    talk.text("the answer " * (WHOLE_CHARS // 10))
    for part in parts:
        talk.text(part)
        talk.sync()
    assert talk.sync().tokens == small_tokenizer().encode(talk.state.stretch)


def test_a_long_run_without_a_boundary_is_tokenised_as_a_whole_would_be() -> None:
    talk = conversation()
    for size in (5000, 1, 2, 3, 600, 1):
        talk.text("a" * size)
        talk.sync()
    assert talk.sync().tokens == small_tokenizer().encode(talk.state.stretch)


def test_an_engines_branch_follows() -> None:
    engine = ReferenceEngine(ScriptedModel())
    tokenizer = engine.model.tokenizer
    talk = Conversation(
        encoder=Encoder(tokenizer), chat=tokenizer.chat, open_branch=lambda tokens: engine.branch()
    )
    talk.role("user")
    talk.text("hé")
    assert written(talk.sync().tokens, tokenizer) == "<|im_start|>user\nhé"
    engine.close()
