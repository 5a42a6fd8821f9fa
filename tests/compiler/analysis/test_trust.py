"""Information flow: what is not trusted, where it may not arrive, and that no way there is overlooked."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from example_budget import examples
from sglc.advice.examine import examine
from sglc.analysis.trust import leaks
from sglc.bytecode.verify import verified
from sglc.check.program import check
from sglc.emit.program import emit
from sglc.library import Library
from sglc.lower.program import lower
from sglc.passes import pipeline
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.source import Source

HEAD = """\
record Pair:
    left: str
    right: str
extern py "m:fetch" fn fetch(url: str) -> str effects read
extern py "m:twice" fn twice(text: str) -> str effects pure
extern py "m:send" fn send(to: str, text: str) -> int effects write
pure fn trim(x: str) -> str:
    return x.strip()
pure fn same(x: str) -> str:
    return x
pure fn second(x: str, y: str) -> str:
    return y
part note(x: str):
    | ${x}
fn told(x: str) -> int:
    system: | ${x}
    user: | q
    assistant: | ?{n: int in 0..9}
    return n
pub fn f(mail: untrusted str, own: str) -> int:
"""
END = """
    user: | ${mail}
    assistant: | ?{n: int in 0..9} ?{quote: span of mail max 9 chars} ?{word: one of [mail, own]}
    return n
"""


def found(body: str) -> list[str]:
    """The codes of a body, whose lines stand before the conversation's other messages."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = HEAD + lines + END.lstrip("\n")
    return [each.code for each in examine(Source("program.sgl", text), Library()) if each.severity == "error"]


@pytest.mark.parametrize(
    "body",
    [
        "system: | ${mail}",
        "system: | ${same(mail)}",
        "system: | ${twice(mail)}",
        'system: | ${fetch("u")}',
        "system:\n    part note(mail)",
        "let x = told(mail)\nlet y = x",
        "let x = told(own + mail.upper())",
        "let p = Pair(own, mail)\nsystem: | ${p.right}",
        "let xs = [x for x in mail.words()]\nsystem: | ${xs}",
        "var s = own\nfor w in mail.words():\n    s = s + w\nsystem: | ${s}",
        'var s = ""\nif own == "a":\n    s = mail\nsystem: | ${s}',
        "let b = fork i in 0..<2:\n    yield mail\nlet x = told(b[0].value)",
        'let x = send("me", mail)',
        "let x = send(mail, own)",
        'var s = ""\ntry:\n    s = fetch("u")\nexcept Foreign as e:\n    s = e.message\nlet x = told(s)',
        'let x = told(mail if own == "a" else own)',
        "let x = told(second(own, mail))",
        'let x = told("about ${mail}")',
        "let x = told(trim(mail))",
    ],
)
def test_a_way_is_found(body: str) -> None:
    assert set(found(body)) == {"E0443"}


@pytest.mark.parametrize(
    "body",
    [
        "system: | ${own}",
        "system: | ${trust(mail)}",
        "system: | ${len(mail)}",
        "let x = told(same(own))\nlet y = same(mail)\nlet z = y",
        "let x = told(second(mail, own))",
        "var s = mail\ns = own\nsystem: | ${s}",
        'let x = told("long" if len(mail) > 9 else "short")',
        'let x = told("yes" if mail contains "yes" else "no")',
        'let x = send("me", trust(fetch("u")))',
        "let x = told(twice(own))",
        "let x = told(trim(own))\nlet y = trim(mail)\nlet z = y",
    ],
)
def test_what_is_trusted_may_pass(body: str) -> None:
    assert found(body) == []


def test_a_copy_of_untrusted_text_is_not_trusted() -> None:
    text = HEAD + END.replace("    return n", '    return send("me", {})')
    for name, code in (("quote", ["E0443"]), ("word", ["E0443"]), ("str(n)", [])):
        written = text.replace('send("me", {})', f'send("me", {name})')
        diagnostics = examine(Source("p.sgl", written), Library())
        assert [d.code for d in diagnostics if d.severity == "error"] == code, name


MARK = "MARK"


def program(random: Random) -> str:
    """A random program without holes: values go through functions, variables, branches and loops."""

    def value(names: list[str], depth: int = 0) -> str:
        some = random.choice(names)
        if depth > 2 or random.random() < 0.3:
            return some
        inner = value(names, depth + 1)
        return random.choice(
            [
                f"g{random.randrange(3)}({inner}, {value(names, depth + 1)})",
                f'"a${{{inner}}}b"',
                f"{inner}.upper()",
                f"({inner} + {some})",
                f"[{inner}, {some}][{random.randrange(2)}]",
                f'({inner} if {some} == "x" else {value(names, depth + 1)})',
                f"trust({inner})",
                f"Pair({inner}, {some}).{random.choice(['left', 'right'])}",
            ]
        )

    lines = ["record Pair:", "    left: str", "    right: str"]
    for number in range(3):
        kind = "pure fn"
        lines.append(f"{kind} g{number}(x: str, y: str) -> str:")
        lines.append("    var v = x")
        names = ["x", "y", "v"]
        for _ in range(random.randrange(3)):
            given = random.choice(names)
            if random.random() < 0.5:
                lines += [f'    if {random.choice(names)} == "MARK":', f"        v = {given}"]
            else:
                lines += [f"    for w in {given}.words():", "        v = v + w"]
        lines.append(f"    return {random.choice(names)}")
    lines.append("part p(x: str):\n    | ${x}")
    lines.append("pub fn f(a: untrusted str, b: str) -> str:")
    lines.append(f"    var s = {value(['a', 'b'])}")
    for _ in range(random.randrange(3)):
        lines.append(f"    s = {value(['a', 'b', 's'])}")
    inserted = value(["a", "b", "s"])
    if random.random() < 0.5:
        lines.append(f"    system:\n        part p({inserted})")
    else:
        lines.append(f"    system: | ${{{inserted}}}")
    lines.append("    user: | ${a}")
    lines.append("    return s")
    return "\n".join(lines) + "\n"


@pytest.mark.slow
def test_no_way_of_a_run_is_overlooked() -> None:
    """Where the marked argument does arrive in the system's message, the analysis has said so."""
    arrived = silent = 0
    engine = ReferenceEngine(ScriptedModel({}))
    for seed in range(examples(150)):
        text = program(Random(seed))
        checked, _ = check(Source("program.sgl", text), Library())
        assert checked is not None
        module = lower(checked)
        told = bool(leaks(module))
        made, faults = verified(emit(pipeline.run(module, 2, None)))
        assert not faults
        result = asyncio.run(Session(made, engine).run("f", {"a": MARK, "b": "own"}))
        system = result.text.partition("<|user|>")[0].partition("user")[0]
        if MARK in system and "trust(" not in text:
            arrived += 1
            assert told, text
        silent += not told
    engine.close()
    assert arrived > examples(150) // 10 and silent > 0
