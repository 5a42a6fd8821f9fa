"""What is known of the bytes behind a place, where some characters may not come first: against closures."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.charset import ranges
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Choice, Language, NotBefore, Repeat, Rule, Sequence, Term, Text, Words
from sglc.cfg.language import GrammarOptions, grammar_language
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.notation.reader import read_grammar
from sglc.runtime.mask.compile.compiler import Compiler
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.byte_sets import members, packed
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.gss.machine import GssMachine
from strategies.grammar_strategies import BYTES, token_grammars

LETTERS = "aé"
"""What is forbidden; everything may begin with something else."""
BARRED = st.sets(st.sampled_from(LETTERS), min_size=1).map(
    lambda some: ranges((ord(c), ord(c)) for c in some)
)
LEADING = frozenset([*range(0x80), *range(0xC2, 0xF5)])
"""The bytes with which characters begin."""
PATTERNS = ("[a-c]", "[éè]b", "b|é", "[^a]", "€+", "[a-é]{2}", "b?")


@st.composite
def looking_ahead(draw: st.DrawFn) -> Language:
    """Parts some of which may not be followed by some characters, nested and in turn."""
    leaves: list[Term] = [
        *(Text(compile_regex(pattern)) for pattern in PATTERNS),
        Bytes(b"b"),
        Bytes("€".encode()),
        Bytes(b";"),
        Words(frozenset({b"a", b"bc"})),
        Words(frozenset({b"c", "é".encode()})),
        Rule("r"),
    ]

    def term(depth: int) -> Term:
        kind = draw(st.integers(0, 6 if depth else 0))
        if kind <= 1:
            return draw(st.sampled_from(leaves))
        if kind == 2:
            return Sequence((term(depth - 1), NotBefore(draw(BARRED)), term(depth - 1)))
        if kind == 3:
            return Choice((term(depth - 1), NotBefore(draw(BARRED))))
        if kind == 4:
            return Repeat(term(depth - 1), draw(st.integers(0, 1)), draw(st.sampled_from([None, 2])))
        return Choice((term(depth - 1), term(depth - 1)))

    return Language(
        Sequence((Bytes(b";"), term(2), term(2), Bytes(b"!"))), {"r": Sequence((Bytes(b"("), term(1)))}
    )


def conts_behind(machine: GssMachine, start: int) -> list[int]:
    """The continuations of places that are reached by some bytes."""
    seen, waiting = {start}, [start]
    while waiting and len(seen) < 40:
        config = waiting.pop()
        for byte in sorted(members(packed(machine.first(config))))[:6]:
            after = machine.step(config, byte)
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return list(range(1, len(machine._conts)))[:120]


@settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(looking_ahead())
def test_what_is_known_is_what_may_come(language: Language) -> None:
    machine = GssMachine()
    # What calls itself, or follows itself as a lookahead, before a byte has been read is refused.
    with suppress(ConstraintError):
        start = machine.begin(Compiler(machine, 100, 10_000).compile(language), 0)
        for cont in conts_behind(machine, start):
            known = machine._beginnings.behind(cont)
            if known is not None:
                closed = packed(machine.first(machine.after(cont)))
                assert members(known) & LEADING == members(closed), machine.frame(cont)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(token_grammars())
def test_of_grammars_no_byte_is_missing(text: str) -> None:
    try:
        language = grammar_language(read_grammar(text, "lark"), GrammarOptions(lexing="longest"))
    except GrammarError:
        return
    matcher = compile_constraint(language=language).matcher(BYTES)
    machine = matcher.machine
    assert isinstance(machine, GssMachine)
    for cont in conts_behind(machine, matcher.config):
        known = machine._beginnings.behind(cont)
        if known is not None:
            assert not packed(machine.first(machine.after(cont))) & ~known


def test_a_lookahead_is_known_without_a_closure() -> None:
    names = Text(compile_regex("[a-zé]+"))
    after = Sequence((NotBefore(((97, 122), (233, 233))), Choice((names, Bytes(b"+"), Bytes("€".encode())))))
    machine = GssMachine()
    root = Compiler(machine, 100, 10_000).compile(Language(Sequence((Bytes(b"x"), after, Bytes(b".")))))
    start = machine.begin(root, 0)
    (cont,) = machine.groups(start)[0].conts
    assert machine._beginnings.behind(cont) is not None
    assert members(packed(machine.first_after(cont))) == {ord("+"), "€".encode()[0]}
