"""Models by name: which one fills a hole, what each reads of a conversation, and what is told of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import sglc
from fakes.hashed_engine import HashedEngine
from fakes.small_models import FickleModel
from sglc.bytecode.code import Program
from sglc.driver import compile_source
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.decoding.conversations.views import hold, view_of
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.results import RunResult
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source

TWO = """
pub fn f() -> str using big:
    system: | Be brief.
    user: | A word?
    assistant:
        | ?{a: str matching /[a-z]{3}/ temp 1}
        | ?{b: str matching /[a-z]{3}/ temp 1 using main}
        using small:
            | ?{c: str matching /[a-z]{3}/ temp 1}
            | ?{d: str matching /[a-z]{3}/ temp 1 using big}
    return "${a} ${b} ${c} ${d}"
"""
ONE = TWO.replace(" using big:", ":").replace(" using main", "").replace(" using big", "")
ONE = ONE.replace("        using small:\n    ", "").replace("            | ?{d", "        | ?{d")


def program(text: str) -> Program:
    found = compile_source(Source("m.sgl", text))
    assert found.program is not None, found.diagnostics
    return found.program


def run(text: str, engine: Engine, models: dict[str, Engine], name: str = "f", **more: Any) -> RunResult:
    return asyncio.run(Session(program(text), engine, models=models).run(name, **more))


def engines(*seeds: int) -> list[HashedEngine]:
    return [HashedEngine(seed=seed) for seed in seeds]


def test_each_hole_is_filled_by_the_nearest_named_model() -> None:
    main, big, small = engines(1, 2, 3)
    run(TWO, main, {"big": big, "small": small})
    counts = [engine.requests for engine in (main, big, small)]
    assert counts == [3, 6, 3]  # a letter for each request: one, two and one hole


def test_names_of_one_model_are_that_model() -> None:
    [main] = engines(4)
    for seed in range(5):
        named = run(TWO, main, {"big": main, "small": HashedEngine(seed=4)}, seed=seed)
        alone = run(ONE, main, {}, seed=seed)
        assert (named.value, named.text) == (alone.value, alone.text)


def test_a_block_ends_and_a_part_has_its_own_model() -> None:
    text = """
part say(x: str) using big:
    | ${x} ?{w: str matching /[a-z]{3}/ temp 1}
pub fn f() -> str:
    | A
    using small:
        part say("one")
        | ?{a: str matching /[a-z]{3}/ temp 1}
    | ?{b: str matching /[a-z]{3}/ temp 1}
    return a
"""
    main, big, small = engines(1, 2, 3)
    run(text, main, {"big": big, "small": small})
    assert [engine.requests for engine in (main, big, small)] == [3, 3, 3]


def test_selects_retries_samples_and_forks_ask_the_named_model() -> None:
    text = """
pub fn f() -> str using big:
    user: | Which?
    assistant:
        | ?{x: select ["one", "two", "three"]}
        | ?{y: select ["one", "two"] by contrast}
        | ?{z: int in 0..9 temp 1}
        ensure z != 3 else "not three"
            retry 5 resample
        ensure z != 4 else "not four"
            retry 5 repair
    return "${x.top} ${y.top} ${z}"
pub fn g() -> [int] using big:
    user: | Which?
    assistant: | ?{z: int in 0..99 n 4 temp 1}
    return z
pub fn h() -> [int] using big:
    user: | Which?
    let found = fork i in 1..3:
        assistant: | ?{z: int in 0..99 temp 1}
        yield z
    return [each.value for each in found]
"""
    plain = text.replace(" using big", "")
    for name in "fgh":
        for seed in range(3):
            main, big = engines(1, 2)
            named = run(text, main, {"big": big}, name, seed=seed)
            alone = run(plain, big, {}, name, seed=seed)
            assert main.requests == 0
            assert (named.value, named.text) == (alone.value, alone.text)


def test_models_with_other_tokens_and_templates_read_the_same_text() -> None:
    heard: list[Event] = []
    first = ReferenceEngine(FickleModel())
    second = HashedEngine(seed=2)
    result = run(TWO, first, {"big": second, "small": first}, on_event=heard.append, detailed=False)
    words = str(result.value).split()
    assert [len(word) for word in words] == [3, 3, 3, 3]
    assert "\n".join(words) in result.text
    shown = [event.data.get("model") for event in heard if event.kind == "hole_start"]
    assert shown == ["big", None, "small", "big"]
    first.close()


def test_a_missing_name_is_told_before_anything_runs() -> None:
    main, big = engines(1, 2)
    assert program(TWO).models == ("big", "small")
    with pytest.raises(ArgumentError, match="no model is given for `small`") as found:
        Session(program(TWO), main, models={"big": big})
    assert "f.c" in found.value.reason and "--model small=MODEL" in found.value.hint
    with pytest.raises(TypeError, match="E0721"):
        sglc.loads(TWO, engine=main).f()
    module = sglc.loads(TWO, engine=main, models={"big": big, "small": big, "more": "not loaded"})
    assert len(module.f().split()) == 4


def test_each_engine_pins_what_its_model_reads() -> None:
    text = """
const RULES = "You are very kind. "
pub fn f(x: str) -> int using blend(main without RULES, big):
    system: | ${RULES}Be brief, and say what you mean.
    user: | ${x}
    assistant: | ?{a: int in 0..9}
    return a
"""
    main, big = engines(1, 2)
    pinned: dict[str, list[str]] = {"main": [], "big": []}
    for name, engine in (("main", main), ("big", big)):
        encoder = Encoder(engine.model.tokenizer)

        def pin(tokens: Any, users: int = 1, name: str = name, encoder: Encoder = encoder) -> None:
            pinned[name].append(encoder.tokenizer.bytes_of(tokens).decode())

        engine.pin = pin  # type: ignore[method-assign]
    session = Session(program(text), main, models={"big": big})
    assert len(pinned["main"]) == len(pinned["big"]) == 1
    assert "kind" in pinned["big"][0] and "kind" not in pinned["main"][0]
    assert "Be brief" in pinned["main"][0]
    assert len(session.program.prefixes) == 2
    assert len(asyncio.run(session.prefill())) == 1  # what `big` reads is left to it


def test_programs_are_tested_without_the_models_that_they_name() -> None:
    text = (
        TWO
        + """
test "words":
    mock f.a = "abc"
    fuzz f() times 5:
        expect len(it) == 15
"""
    )
    found = asyncio.run(Session(program(text)).run_test("words"))
    assert found.passed, (found.error, found.missed)


def test_runs_side_by_side_give_what_each_gives_alone() -> None:
    main, big, small = engines(1, 2, 3)
    alone = [run(TWO, main, {"big": big, "small": small}, seed=seed).text for seed in range(8)]
    late = [HashedEngine(seed=seed, delays=seed) for seed in (1, 2, 3)]
    session = Session(program(TWO), late[0], models={"big": late[1], "small": late[2]})

    async def together() -> list[str]:
        runs = [session.run("f", seed=seed) for seed in range(8)]
        return [result.text for result in await asyncio.gather(*runs)]

    assert asyncio.run(together()) == alone


# -- views -------------------------------------------------------------------------------------------


def talk(engine: Engine | None = None) -> Conversation:
    model = FickleModel()
    branch = None if engine is None else lambda _: engine.branch()
    return Conversation(encoder=Encoder(model.tokenizer), chat=model.tokenizer.chat, open_branch=branch)


def written(messages: list[tuple[str, str]]) -> Conversation:
    made = talk()
    for role, text in messages:
        if role:
            made.role(role)
        made.text(text)
    return made


def test_a_view_has_the_text_and_grows_with_it() -> None:
    own = written([("system", "be"), ("user", "one"), ("assistant", "tw")])
    view = view_of(own, "other", talk)
    assert view is not own and view.rendered() == own.rendered() and view.tokens() == own.tokens()
    mark = own.mark()
    own.text("o\nthree")
    own.end_role()
    own.role("user")
    own.text("four")
    assert view_of(own, "other", talk) is view
    assert view.rendered() == own.rendered()
    own.restore(mark)
    assert view_of(own, "other", talk).rendered() == own.rendered()
    copy = own.fork()
    copy.text("!")
    assert view_of(copy, "other", talk).rendered() == copy.rendered() != view.rendered()
    own.adopt(copy)
    assert view_of(own, "other", talk).rendered() == own.rendered()


def test_a_text_is_left_out_wherever_it_stands() -> None:
    own = written([("system", "Rules. Be kind. Rules. "), ("user", "No Rules. "), ("assistant", "so")])
    view = view_of(own, "less", talk, "Rules. ")
    assert view.state.messages == (("system", "Be kind. "), ("user", "No "), ("assistant", "so"))
    own.text(" Rules. ")
    assert view_of(own, "less", talk, "Rules. ").state.message == "so "
    with pytest.raises(SglError, match="has no text 'Rule!' to leave out") as found:
        view_of(own, "none", talk, "Rule!")
    assert found.value.name == "Failure" and "as it stands" in found.value.hint


def test_texts_without_roles_are_read_by_others_too() -> None:
    own = written([("", "Once upon ")])
    view = view_of(own, "other", talk)
    assert view.tokens() == own.tokens()
    own.text("a time")
    assert view_of(own, "other", talk).tokens() == own.tokens()
    hold(view, ())
    assert view.rendered() == talk().rendered()


def test_scripted_models_answer_the_holes_that_name_them() -> None:
    main, big = (ReferenceEngine(ScriptedModel([word] * 4)) for word in ("one", "two"))
    found = run(TWO, main, {"big": big, "small": big})
    assert found.value == "two one two two"
