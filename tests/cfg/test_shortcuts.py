"""What is done faster for large grammars comes to the same as what it stands for."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles.grammar_oracle import accepts
from sglc.cfg import language
from sglc.cfg.emit import emit_terms, regular_subgrammars
from sglc.cfg.language import GrammarOptions, grammar_language
from sglc.cfg.lexer import lexical_spec
from sglc.cfg.lexer.conflict_sets import ConflictSets
from sglc.cfg.lexer.terminal_conflicts import TerminalConflict, TerminalConflicts
from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.cfg.model.graph import LEAF, RULE
from sglc.cfg.notation.reader import read_grammar
from sglc.cfg.transforms import build_graph, denest_operators, left_recursion, unroll_options
from sglc.cfg.transforms.left_cycles import left_recursive_sccs
from sglc.runtime.mask.compile import compiler
from sglc.runtime.mask.constraint import compile_constraint
from strategies.grammar_strategies import ALPHABET, BYTES, char_grammars, texts, token_grammars, words_of

grammars = token_grammars() | char_grammars()


def some(count: int) -> settings:
    return settings(
        max_examples=examples(count),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def as_read(written: str | Grammar) -> Grammar:
    return read_grammar(written, "lark") if isinstance(written, str) else written


def words(written: str | Grammar, *, longest: bool) -> set[str] | str:
    options = GrammarOptions("longest" if longest and isinstance(written, str) else "dynamic")
    try:
        return words_of(
            grammar_language(as_read(written), options), ALPHABET if isinstance(written, str) else "xyz", 3
        )
    except GrammarError as fault:
        return fault.reason


@some(25)
@given(grammars, st.booleans())
def test_words_apart_from_what_follows_them_write_the_same(written: str | Grammar, longest: bool) -> None:
    found = words(written, longest=longest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emit_terms, "_MANY", 2)
        patch.setattr(compiler, "MANY", 2)
        assert words(written, longest=longest) == found


@some(25)
@given(char_grammars())
def test_parts_that_are_not_merged_write_the_same(written: Grammar) -> None:
    found = words(written, longest=False)
    for name, limit in (("_NESTED", 1), ("_UNROLLED", 6)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(regular_subgrammars, name, limit)
            assert words(written, longest=False) == found


@some(60)
@given(token_grammars(), st.booleans())
def test_parts_that_are_shared_write_the_same(written: str, longest: bool) -> None:
    """Long lists of terminals are shared even where a lexer matches longest-first."""
    found = words(written, longest=longest)
    unshared = build_graph.build_graph
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "build_graph", lambda grammar, tokens, **_: unshared(grammar, tokens))
        assert words(written, longest=longest) == found
    if isinstance(found, set):
        check_what_is_known(as_read(written))


def check_what_is_known(grammar: Grammar) -> None:
    """What is known of nodes as they are made is what it is when everything is looked at anew."""
    graph, *_ = language._read(grammar, GrammarOptions())
    nodes = graph.reached(graph.start)
    known = [(graph.nullable[node], graph.productive[node]) for node in nodes]
    graph.analyse()
    assert known == [(graph.nullable[node], graph.productive[node]) for node in nodes]


def test_what_is_known_of_shared_parts() -> None:
    """What may be empty, is a row or a choice of equal arms in some rules only."""
    bodies = ["x y", "x x", "none y", "y none", "x none", "none none", "maybe y", "maybe maybe", "y maybe"]
    lines = [f"r{n}: ({body.replace(' ', ' | ')}) {body} ({body})*" for n, body in enumerate(bodies)]
    names = " | ".join(f'"{n}" r{n}' for n in range(len(bodies)))
    text = "\n".join(
        [
            f"start: none | x | y | {names}",
            *lines,
            'x: "a"',
            'y: "b" "c"',
            'none: "d"*',
            "maybe: x none | late",
            'late: "e"?',
        ]
    )
    grammar = as_read(text)
    check_what_is_known(grammar)
    found = words_of(grammar_language(grammar, GrammarOptions()), "abcde0123456789", 5)
    assert {"0aabc", "1aaa", "5", "5dd", "7ad", "8bc"} <= found


@pytest.mark.parametrize(
    "line", ['b: "x" /(/', 'b: "x" /a*/', 'b: "x" a c', 'b: "\\ud800" "y"', 'b: "x" /(?=a)+b/ | a', "b: ()"]
)
def test_faults_in_rules_with_a_shape_have_their_place(line: str) -> None:
    """Those that are found when the rules are used too."""

    def fault(text: str) -> tuple[str, int]:
        try:
            grammar_language(read_grammar(text, "lark"))
        except GrammarError as found:
            return str(found), found.at
        return "", 0

    text = f'start: a b?\na: "x" /[a-z]/?\n{line}\nd: "x" "y"\n'
    # With a template in it every rule is read in the long way.
    assert fault(text) == fault(text + "t{x}: x\n")


@st.composite
def level_grammars(draw: st.DrawFn) -> str:
    """Operators in levels, as repetitions or left-recursive, over an operand that may lead back to any."""
    count = draw(st.integers(2, 5))
    lines = ["root ::= l0"]
    for level in range(count):
        below = f"l{level + 1}" if draw(st.integers(0, 3)) else f"u{level}"
        lines += [f"u{level} ::= l{level + 1}"] if below[0] == "u" else []
        used = draw(
            st.lists(st.sampled_from(('"x"', '"y"', '"xy"', '"x"?', '"y" "z"')), min_size=1, max_size=2)
        )
        end = below if draw(st.integers(0, 5)) else f"l{draw(st.integers(0, count))}"
        if draw(st.booleans()):
            arms = " | ".join(f"{text} {end}" for text in used)
            lines.append(
                f"l{level} ::= {below} ({arms})*" + draw(st.sampled_from(("", "", "", ' "z"', " | l0")))
            )
        else:
            lines.append(f"l{level} ::= {below} | " + " | ".join(f"l{level} {text} {end}" for text in used))
    operand = draw(
        st.sampled_from(('"z"', '"z" | "x" l1', '"z" l0 "z" | "y"', '"z"?', '"y" "z"* | "z"', '"z" "x"*'))
    )
    return "\n".join([*lines, f"l{count} ::= {operand}"])


@pytest.mark.slow
@some(40)
@given(level_grammars())
def test_levels_that_are_merged_write_the_same(text: str) -> None:
    grammar = read_grammar(text, "gbnf")
    found = words(grammar, longest=False)
    assert found == {word for word in texts("xyz", 3) if accepts(grammar, word)}
    for patched in ({"_TOGETHER": 1}, {"_LONG": 0}):
        with pytest.MonkeyPatch.context() as patch:
            for name, limit in patched.items():
                patch.setattr(denest_operators, name, limit)
            assert words(grammar, longest=False) == found


def test_levels_are_one_place() -> None:
    lines = [f'l{n}: l{n} "o{n}" l{n + 1} | l{n + 1}' for n in range(300)]
    text = "\n".join(["start: l0", *lines, 'l300: "x" | "(" l0 ")" | "[" l70 "]"'])
    matcher = compile_constraint(grammar=text).matcher(BYTES)
    assert matcher.accept_bytes(b"xo299(xo7x")
    assert len(matcher.machine.configs[matcher.config]) < 4
    assert matcher.accept_bytes(b")o12[xo299xo71x") and not matcher.clone().accept_bytes(b"o69")
    assert matcher.accept_bytes(b"]o7x") and matcher.is_accepting()


@st.composite
def rows_of_options(draw: st.DrawFn) -> str:
    """Sequences most of whose parts may be left out in one of several ways."""
    parts = ('"x"?', "a", "b", '"y"*', '("z" b)?', '("x" | "yz" | "")', "c", '"x"', "d", '("z"?){0,3}')
    row = draw(st.lists(st.sampled_from(parts), min_size=2, max_size=7))
    rules = [
        'a ::= ("x" "y")?',
        "b ::= e",
        'e ::= "z"* ',
        'c ::= "" | "y" root "z" | "xz"',
        'd ::= a b? "x"?',
    ]
    return "\n".join([f'root ::= {" ".join(row)} | {" ".join(row[2:] or row)} "y"', *rules])


@pytest.mark.slow
@some(40)
@given(rows_of_options(), st.integers(1, 3), st.integers(1, 3))
def test_options_in_turn_write_the_same(text: str, many: int, together: int) -> None:
    grammar = read_grammar(text, "gbnf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unroll_options, "MANY", many)
        patch.setattr(unroll_options, "_TOGETHER", together)
        found = words(grammar, longest=False)
    assert found == {word for word in texts("xyz", 3) if accepts(grammar, word)}


@some(25)
@given(char_grammars() | token_grammars())
def test_options_of_any_grammar_in_turn_write_the_same(written: str | Grammar) -> None:
    found = words(written, longest=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unroll_options, "MANY", 1)
        patch.setattr(unroll_options, "_TOGETHER", 2)
        assert words(written, longest=False) == found


def test_a_thousand_options_are_few_places() -> None:
    options = " ".join(f'("o{n}" "=" /[0-9]+/)?' for n in range(1_000))
    matcher = compile_constraint(grammar=f'start: "<" {options} ">" {options} "."').matcher(BYTES)
    assert matcher.accept_bytes(b"<o7=12o99=4")
    assert len(matcher.machine.configs[matcher.config]) < 30
    assert not matcher.clone().accept_bytes(b"o98=") and not matcher.clone().accept_bytes(b".")
    assert matcher.accept_bytes(b"5o998=1o999=0>o3=1.") and matcher.is_accepting()


@pytest.mark.parametrize(
    ("rule", "made"),
    [
        ('e: e "x" | "y"', 0),
        ('e: e "x" | e "z"? "x" | "y" | "z" e "x"', 0),
        ('e: e "x"? | "y"', 0),
        ('e: (e "x" | f) "y"\nf: "z"', 0),
        ('e: e "x" e | "y"', 1),
        ('e: f "x" | "y"\nf: e "z" | "x"', 2),
        ('e: e "x" | "y"?', 1),
    ],
)
def test_rules_that_are_made_for_recursion(rule: str, made: int) -> None:
    """None where a rule that is never empty only goes on from itself: `b x*`."""
    graph, *_ = language._read(read_grammar(f"start: e\n{rule}", "lark"), GrammarOptions())
    size = len(graph.kind)
    left_recursion.remove_left_recursion(graph)
    assert sum(kind == RULE for kind in graph.kind[size:]) == made
    assert not left_recursive_sccs(graph)


@some(60)
@given(grammars)
def test_what_is_known_of_a_rewritten_grammar_is_so(written: str | Grammar) -> None:
    """Emptiness, found as nodes are made, is what it is when everything is looked at anew."""
    try:
        graph, *_ = language._read(as_read(written), GrammarOptions())
    except GrammarError:
        return
    if not graph.productive[graph.start] or left_recursion.remove_left_recursion(graph):
        return
    nodes = graph.reached(graph.start)
    known = [(bool(graph.nullable[node]), True) for node in nodes]
    graph.analyse()
    assert known == [(bool(graph.nullable[node]), bool(graph.productive[node])) for node in nodes]


@some(60)
@given(token_grammars())
def test_texts_among_terminals_read_what_each_reads_by_itself(written: str) -> None:
    try:
        grammar = as_read(written)
        graph, tokens, conflict_sets = language._read(grammar, GrammarOptions("longest"))
    except GrammarError:
        return
    assert conflict_sets is not None
    ignored = lexical_spec._ignored(grammar, tokens)
    used = [about for kind, about in zip(graph.kind, graph.about, strict=True) if kind == LEAF]
    patterns = [token for token in used if ignored and not token.is_text]  # type: ignore[attr-defined]
    for these in (conflict_sets, ConflictSets(conflict_sets.tokens, ignored, None)):
        conflicts = TerminalConflicts(these, ignored, patterns)  # type: ignore[arg-type]
        for token in used:
            everything = TerminalConflict(token, these.of(token), ignored)  # type: ignore[arg-type]
            assert conflicts.parts(token) == everything.parts(patterns)  # type: ignore[arg-type]


@pytest.mark.slow
@some(40)
@given(token_grammars(), st.booleans())
def test_parts_looked_at_by_classes_write_the_same(written: str, longest: bool) -> None:
    found = words(written, longest=longest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical_spec, "MANY_NODES", 0)
        assert words(written, longest=longest) == found


def test_texts_among_terminals_are_told_by_their_ends() -> None:
    grammar = as_read(
        'start: ("if" | "iffy" | "in" | "x1" | "9" | "<" | "<=" | "IF"i | NAME | NUM)*\n'
        'NAME: /[a-z][a-z0-9]*/\nNUM.2: /[0-9]+(\\.[0-9]+)?/\nDOT.3: "9."\n%ignore " "\n'
    )
    graph, tokens, conflict_sets = language._read(grammar, GrammarOptions("longest"))
    assert conflict_sets is not None
    ignored = lexical_spec._ignored(grammar, tokens)
    used = [about for kind, about in zip(graph.kind, graph.about, strict=True) if kind == LEAF]
    patterns = [token for token in used if not token.is_text]  # type: ignore[attr-defined]
    conflicts = TerminalConflicts(conflict_sets, ignored, patterns)  # type: ignore[arg-type]
    found = {token.value: conflicts.parts(token) for token in used}  # type: ignore[attr-defined]
    assert found["9"] == () and found["<"][0][1] == ((0x3D, 0x3D),)
    assert found["in"][0][1] == ((0x30, 0x39), (0x61, 0x7A))
    for token in used:
        everything = TerminalConflict(token, conflict_sets.of(token), ignored)  # type: ignore[arg-type]
        assert found[token.value] == everything.parts(patterns)  # type: ignore[attr-defined]


WORDS = st.text("ab19_AB-é", min_size=1, max_size=4)
PATTERNS = (
    "[a-z]+",
    "[a-z_][a-z0-9_]*",
    "[ab](?!1)",
    "[0-9]+(-[0-9]+)?",
    "[A-Za]+-?",
    "(?i:b+)",
    "a|ab|b1+",
)


@pytest.mark.slow
@some(120)
@given(
    st.lists(st.tuples(WORDS, st.sampled_from(("", "i")), st.integers(0, 1)), min_size=1, max_size=30),
    st.lists(st.tuples(st.sampled_from(PATTERNS), st.integers(0, 1)), min_size=1, max_size=3),
    st.booleans(),
)
@example([("a9", "", 0), ("a1", "", 0)], [("[ab](?!1)", 1)], False)
def test_families_of_texts_read_what_each_text_reads_by_itself(
    keywords: list[tuple[str, str, int]], patterns: list[tuple[str, int]], ignored: bool
) -> None:
    lines = [f'K{n}.{level}: "{word}"{flag}' for n, (word, flag, level) in enumerate(keywords)]
    lines += [f"P{n}.{level}: /{regex}/" for n, (regex, level) in enumerate(patterns)]
    names = " | ".join(line.partition(".")[0] for line in lines)
    skip = "%ignore /[ -]+/" if ignored else ""
    grammar = as_read("\n".join([f"start: ({names})+", *lines, skip]))
    try:
        graph, tokens, _ = language._read(grammar, GrammarOptions("longest"))
    except GrammarError:
        return
    skipped = lexical_spec._ignored(grammar, tokens)
    used = [about for kind, about in zip(graph.kind, graph.about, strict=True) if kind == LEAF]
    shown = [token for token in used if ignored and not token.is_text]  # type: ignore[attr-defined]
    conflict_sets = ConflictSets(used, skipped, None)  # type: ignore[arg-type]
    conflicts = TerminalConflicts(conflict_sets, skipped, shown)  # type: ignore[arg-type]
    for token in used:
        alone = TerminalConflict(token, conflict_sets.of(token), skipped).parts(shown)  # type: ignore[arg-type]
        assert conflicts.parts(token) == alone  # type: ignore[arg-type]


def test_texts_of_a_family_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    keywords = [f"{a}{b}x" for a in "abcdefgh" for b in "abcdefgh"]
    names = " | ".join(f'"{word}" NAME' for word in keywords)
    grammar = as_read(f'start: ({names})*\nNAME: /[a-z][a-z0-9]*/\n%ignore " "\n')
    monkeypatch.setattr(lexical_spec, "MANY_TOKENS", 10)
    looked: list[str] = []
    among = TerminalConflicts._among_patterns

    def counted(self: TerminalConflicts, token: Token, before: list[Token]) -> object:
        looked.append(token.value)
        return among(self, token, before)

    monkeypatch.setattr(TerminalConflicts, "_among_patterns", counted)
    found = compile_constraint(language=grammar_language(grammar, GrammarOptions("longest")))
    assert len(looked) == 1
    for text, legal in (("abx a", True), ("abx abx", False), ("abxa", False), ("aax ab9 hhx b", True)):
        matcher = found.matcher(BYTES)
        assert (matcher.accept_bytes(text.encode()) and matcher.is_accepting()) == legal, text
