"""Chat templates: the pieces between messages, and templates that misbehave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.runtime.chat import ChatTemplate, SpecialMark, SpecialToken, TemplateError

START, END, BOS = SpecialToken(1), SpecialToken(2), SpecialToken(3)
MARKS = {"<|start|>": SpecialMark(1), "<|end|>": SpecialMark(2), "<s>": SpecialMark(3)}
CHATML = (
    "{% for m in messages %}{{ '<|start|>' + m['role'] + '\n' + m['content'] + '<|end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start|>assistant\n' }}{% endif %}"
)
DEFAULT_SYSTEM = (
    "{% if messages[0]['role'] != 'system' %}{{ '<|start|>system\nBe kind.<|end|>\n' }}{% endif %}" + CHATML
)
ALTERNATING = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate user/assistant') }}{% endif %}"
    "{% if m['role'] == 'user' %}[INST] {{ m['content'] | trim }} [/INST]"
    "{% else %}{{ m['content'] }}<|end|>{% endif %}{% endfor %}"
)
SYSTEM_LAST = (
    "{% for m in messages %}{% if m['role'] != 'system' %}"
    "{% if loop.last and messages[0]['role'] == 'system' %}{{ messages[0]['content'] }}{% endif %}"
    "<|start|>{{ m['content'] }}{% endif %}{% endfor %}"
)
THINKING = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' and loop.last %}<think>\n\n</think>\n\n{% endif %}"
    "{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def template(source: str) -> ChatTemplate:
    return ChatTemplate(source, MARKS, {"bos_token": "<s>"})


def test_pieces_hold_the_closing_of_the_message_before() -> None:
    chat = template(CHATML)
    assert chat.pieces(("system",)) == (START, "system\n")
    assert chat.pieces(("system", "user")) == (END, "\n", START, "user\n")
    assert chat.pieces(("system", "user", "assistant")) == (END, "\n", START, "assistant\n")
    assert chat.closing(("user",)) == (END, "\n")


def test_a_system_prompt_that_the_template_adds_by_itself_stays() -> None:
    pieces = template(DEFAULT_SYSTEM).pieces(("user",))
    assert pieces == (START, "system\nBe kind.", END, "\n", START, "user\n")
    assert template(DEFAULT_SYSTEM).pieces(("system",)) == (START, "system\n")


def test_the_beginning_token_of_a_template_is_a_special_token() -> None:
    chat = template(ALTERNATING)
    assert chat.pieces(("user",)) == (BOS, "[INST] ")
    assert chat.pieces(("user", "assistant")) == (" [/INST]",)
    assert chat.pieces(("user", "assistant", "user")) == (END, "[INST] ")


def test_roles_that_the_template_refuses_are_an_error_with_its_message() -> None:
    chat = template(ALTERNATING)
    with pytest.raises(TemplateError, match="roles must alternate"):
        chat.pieces(("user", "user"))
    assert chat.roles == {"user", "assistant"}
    assert template(CHATML).roles == {"system", "user", "assistant"}


def test_a_template_that_moves_messages_is_refused() -> None:
    with pytest.raises(TemplateError):
        template(SYSTEM_LAST).pieces(("system", "user", "assistant", "user"))


def test_a_template_that_rewrites_what_stands_before_is_refused() -> None:
    source = "{{ messages | length }} messages:{% for m in messages %} {{ m['content'] }}{% endfor %}"
    with pytest.raises(TemplateError, match="rewrites earlier messages"):
        template(source).pieces(("user", "assistant", "user"))


def test_a_scaffold_for_reasoning_does_not_count_as_rewriting() -> None:
    chat = template(THINKING)
    assert chat.pieces(("user", "assistant")) == (END, "\n", START, "assistant\n")
    assert chat.pieces(("user", "assistant", "user")) == (END, "\n", START, "user\n")


def test_a_template_that_needs_a_user_still_opens_with_a_system_message() -> None:
    source = (
        "{% if messages | selectattr('role', 'eq', 'user') | list | length == 0 %}"
        "{{ raise_exception('no user') }}{% endif %}" + CHATML
    )
    assert template(source).pieces(("system",)) == (START, "system\n")
    assert template(source).pieces(("system", "user")) == (END, "\n", START, "user\n")


def test_special_tokens_swallow_white_space_as_their_tokenizer_does() -> None:
    marks = {**MARKS, "<|end|>": SpecialMark(2, rstrip=True)}
    chat = ChatTemplate(CHATML, marks)
    assert chat.pieces(("user", "assistant")) == (END, START, "assistant\n")


def test_generation_blocks_and_loop_controls_are_understood() -> None:
    source = (
        "{% for m in messages %}{% if loop.index0 > 9 %}{% break %}{% endif %}"
        "{% generation %}{{ m['content'] }}{% endgeneration %};{% endfor %}"
    )
    assert template(source).pieces(("user", "user")) == (";",)


@pytest.mark.parametrize(
    "source",
    [
        "{% for %}",
        "{{ messages.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}{{ messages[0].content }}",
        "{{ messages.append(1) }}",
        "{{ 1 / 0 }}",
        "{{ undefined_function() }}",
        "no place for a message",
        "{{ messages[0].content }}{{ messages[0].content }}",
    ],
)
def test_a_template_that_is_damaged_or_breaks_out_is_refused(source: str) -> None:
    with pytest.raises(TemplateError):
        template(source).pieces(("user",))


def test_a_huge_template_is_refused() -> None:
    with pytest.raises(TemplateError, match="longer than"):
        template("x" * (1 << 21))


@given(st.lists(st.sampled_from(["system", "user", "assistant"]), min_size=1, max_size=6))
def test_pieces_and_contents_together_are_what_the_template_renders(roles: list[str]) -> None:
    """The oracle renders the whole conversation at once, by Python."""
    chat = template(CHATML)
    names = {1: "<|start|>", 2: "<|end|>"}
    text = ""
    for count in range(1, len(roles) + 1):
        pieces = chat.pieces(tuple(roles[:count]))
        text += "".join(piece if isinstance(piece, str) else names[piece.id] for piece in pieces)
        text += f"content {count}"
    closing = chat.closing(tuple(roles))
    text += "".join(piece if isinstance(piece, str) else names[piece.id] for piece in closing)
    whole = (f"<|start|>{role}\ncontent {n}<|end|>\n" for n, role in enumerate(roles, 1))
    assert text == "".join(whole)
