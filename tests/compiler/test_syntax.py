"""The syntax room: what programs mean as trees, and that no text at all makes the parser fail."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkout import ROOT
from example_budget import examples
from golden_case import golden_cases, render_all
from sglc.diagnostics.diagnostic import has_errors
from sglc.source import Source, Span
from sglc.syntax import tables
from sglc.syntax.dump import dump
from sglc.syntax.parse import parse, parse_expression, parse_type, tokens
from sglc.syntax.parser import BUILDERS, actions, language, language_of
from sglc.syntax.tree import ast

PROGRAMS = sorted((ROOT / "examples").glob("*.sgl")) + sorted((ROOT / "stdlib").glob("*.sgl"))


def read(text: str) -> ast.Module:
    """The module of a text without faults."""
    module, diagnostics = parse(Source("program.sgl", text))
    assert diagnostics == [], render_all(diagnostics)
    return module


@pytest.mark.parametrize("case", golden_cases("parse/module") + golden_cases("parse/statements"), ids=str)
def test_programs_become_trees(case, golden):
    golden(case, dump(read(case.input + "\n")))


@pytest.mark.parametrize("case", golden_cases("parse/expressions"), ids=str)
def test_expressions_become_trees(case, golden):
    node, diagnostics = parse_expression(case.input)
    assert diagnostics == [], render_all(diagnostics)
    golden(case, dump(node))


@pytest.mark.parametrize("case", golden_cases("parse/types"), ids=str)
def test_types_become_trees(case, golden):
    node, diagnostics = parse_type(case.input)
    assert diagnostics == [], render_all(diagnostics)
    golden(case, dump(node))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_programs_that_are_shipped_have_no_faults(path):
    module = read(path.read_text(encoding="utf-8"))
    assert module.declarations


# -- places --------------------------------------------------------------------------------------------


def nodes(root: Any) -> list[Any]:
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
        elif is_dataclass(node) and not isinstance(node, Span | Source):
            found.append(node)
            waiting += [getattr(node, field.name) for field in fields(node)]
    return found


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_node_lies_within_the_nodes_around_it(path):
    source = Source(path.name, path.read_text(encoding="utf-8"))
    for node in nodes(parse(source)[0]):
        outer = getattr(node, "span", None)
        if outer is None:
            continue
        assert 0 <= outer.start <= outer.end <= len(source.text)
        assert outer.text == outer.text.rstrip("\n")
        for inner in nodes(tuple(getattr(node, f.name) for f in fields(node))):
            if isinstance(node, ast.TypeRefined | ast.Member) or not hasattr(inner, "span"):
                continue
            assert outer.start <= inner.span.start and inner.span.end <= outer.end, (node, inner)


def test_spans_are_the_text_they_speak_of():
    module = read('fn f(a: int):\n    | x ${a + 1} ?{b: bool max 2 tok} y\n    let c = "${a}"\n')
    texts = {type(node).__name__: node.span.text for node in nodes(module) if hasattr(node, "span")}
    assert texts["Insert"] == "${a + 1}"
    assert texts["Hole"] == "?{b: bool max 2 tok}"
    assert texts["Gen"] == "bool max 2 tok"
    assert texts["HoleOption"] == "max 2 tok"
    assert texts["Binary"] == "a + 1"
    assert texts["PipeLine"] == "| x ${a + 1} ?{b: bool max 2 tok} y"
    assert texts["Let"] == 'let c = "${a}"'
    assert texts["Parameter"] == "a: int"


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("(a + b) * (c - d)", ["(a + b) * (c - d)", "a + b", "c - d"]),
        ("(a) + b + (c)", ["(a) + b + (c)", "(a) + b"]),
        ("not (a) and -(b)", ["not (a) and -(b)", "not (a)", "-(b)"]),
        ("(a)..(b)", ["(a)..(b)"]),
    ],
)
def test_operators_span_the_brackets_around_their_operands(text, spans):
    node, _ = parse_expression(text)
    found = [n.span.text for n in nodes(node) if isinstance(n, ast.Binary | ast.Unary | ast.Range)]
    assert sorted(found) == sorted(spans)


def test_tokens_lie_in_order_and_name_their_text():
    found = tokens(Source("a.sgl", 'fn f(x: int):\n    | hi ${x}\n    check = "a${x}"  # note\n'))
    assert [(kind, text) for kind, text, _ in found] == [
        ("fn", "fn"),
        ("NAME", "f"),
        ("(", "("),
        ("NAME", "x"),
        (":", ":"),
        ("NAME", "int"),
        (")", ")"),
        (":", ":"),
        ("NEWLINE", ""),
        ("INDENT", ""),
        ("PIPE", "| hi ${x}"),
        ("NEWLINE", ""),
        ("NAME", "check"),
        ("=", "="),
        ("STRING", '"a${x}"'),
        ("NEWLINE", ""),
        ("DEDENT", ""),
        ("END", ""),
    ]
    starts = [span.start for _, _, span in found]
    assert starts == sorted(starts)


# -- laws of text --------------------------------------------------------------------------------------


def texts_of(line: str) -> list[str]:
    (declaration,) = read(f"part f():\n    {line}\n").declarations
    assert isinstance(declaration, ast.FunctionDeclaration)
    (statement,) = declaration.body
    assert isinstance(statement, ast.PipeLine)
    return [part.text for part in statement.parts if isinstance(part, ast.Text)]


PLAIN = st.text(
    st.characters(
        blacklist_categories=("Cc", "Cs", "Cf", "Zl", "Zp"), blacklist_characters="\u00a0\u2007\u202f"
    ),
    max_size=30,
).map(lambda text: text.rstrip(" \\"))


@given(PLAIN)
def test_text_of_a_pipe_line_is_what_stands_after_the_pipe(text):
    escaped = text.replace("${", "\\${").replace("?{", "\\?{")
    assert texts_of("| " + escaped) == ([text] if text else [])


@given(PLAIN)
def test_inserted_strings_keep_their_characters(text):
    literal = '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'
    node, diagnostics = parse_expression(literal)
    assert diagnostics == []
    assert isinstance(node, ast.String)
    assert "".join(part for part in node.parts if isinstance(part, str)) == text


def test_line_ends_of_other_systems_change_nothing():
    text = (ROOT / "examples" / "triage.sgl").read_text(encoding="utf-8")
    assert dump(read(text.replace("\n", "\r\n"))) == dump(read(text))


def test_a_byte_order_mark_changes_nothing():
    text = (ROOT / "examples" / "triage.sgl").read_text(encoding="utf-8")
    assert dump(read("\ufeff" + text)) == dump(read(text))


def test_a_missing_line_end_at_the_end_changes_nothing():
    for path in PROGRAMS:
        text = path.read_text(encoding="utf-8")
        assert dump(read(text.rstrip("\n"))) == dump(read(text))


def test_layout_inside_brackets_is_free():
    assert dump(read("const A = [1,\n2,   # two\n\n        3,\n]\n")) == dump(read("const A = [1, 2, 3]\n"))


# -- no text makes it fail -----------------------------------------------------------------------------

WORDS = st.sampled_from(
    "let var if elif else for while match case try except return fn record enum union test user: assistant: "
    '| ?{ ${ ( ) [ ] { } " / # ## = == : , . .. ..= ..< - + * not in or and max min tok chars until gen '
    'choose select fork seed """ grammar one of span use ./x json schema "a${x}" 1 1.5 x Y \\ '
    "' ; @ é text".split()
    + ["\n", "\n    ", "\n        ", "\t", "\u00a0", 'text """\n', "\x00", "\u202e"]
)
SHIPPED = [path.read_text(encoding="utf-8") for path in PROGRAMS]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(SHIPPED))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(text)))
        match draw(st.integers(0, 3)):
            case 0:
                text = text[:place] + text[place + draw(st.integers(1, 30)) :]
            case 1:
                text = text[:place] + draw(WORDS) + text[place:]
            case 2:
                other = draw(st.integers(0, len(text)))
                text = text[:place] + text[other : other + draw(st.integers(1, 80))] + text[place:]
            case _:
                text = text[:place]
    return text


def check_any(text: str) -> None:
    source = Source("any.sgl", text)
    module, diagnostics = parse(source)
    for node in [*nodes(module), *diagnostics]:
        span = getattr(node, "span", None)
        if span is not None:
            assert span.source is source and 0 <= span.start <= span.end <= len(text)
    render_all(diagnostics)
    dump(module)
    tokens(source)


@settings(max_examples=examples(60))
@given(st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=40).map(" ".join)))
def test_any_text_gives_a_module(text):
    check_any(text)


@pytest.mark.slow
@settings(max_examples=150)
@given(mutated())
def test_any_damaged_program_gives_a_module(text):
    check_any(text)


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_any_fragment_gives_a_node_or_a_reason(text):
    for read_fragment in (parse_expression, parse_type):
        node, diagnostics = read_fragment(text)
        assert (node is None) == has_errors(diagnostics)


@settings(max_examples=40)
@given(st.sampled_from(SHIPPED), st.data())
def test_a_fault_in_one_function_leaves_the_others(text, data):
    whole = read(text)
    functions = [d for d in whole.declarations if isinstance(d, ast.FunctionDeclaration)]
    victim = data.draw(st.sampled_from(functions))
    start = victim.body[0].span.start
    damaged, diagnostics = parse(Source("program.sgl", text[:start] + "let = )\n    " + text[start:]))
    assert has_errors(diagnostics)
    assert [getattr(d, "name", None) and d.name.text for d in damaged.declarations] == [
        getattr(d, "name", None) and d.name.text for d in whole.declarations
    ]


HOSTILE = {
    "brackets": "const A = " + "(" * 50_000,
    "closed brackets": "const A = " + "[" * 60 + "]" * 60 + "\n",
    "closing brackets": "const A = " + ")" * 50_000,
    "operators": "const A = " + "1 + " * 30_000 + "1",
    "signs": "const A = " + "-" * 30_000 + "1",
    "nots": "const A = " + "not " * 20_000 + "x",
    "attributes": "const A = x" + ".y" * 20_000,
    "calls": "const A = f" + "()" * 20_000,
    "optionals": "type A = int" + "?" * 20_000,
    "unions": "type A = " + "int | " * 20_000 + "int",
    "conditionals": "const A = " + "x if y else " * 8_000 + "z",
    "fallbacks": "fn f():\n    let a = " + "x else " * 8_000 + "z",
    "indentation": "fn f():\n" + "".join(" " * i + "if x:\n" for i in range(1, 400)),
    "strings in strings": "const A = " + '"${' * 5_000,
    "holes": "part f():\n    | " + "?{" * 20_000,
    "inserts": "part f():\n    | " + "${f(" * 10_000,
    "faulty lines": "fn f():\n" + "    ) (\n" * 20_000,
    "doc comments": "## x\n" * 50_000,
    "long name": "const " + "a" * 90_000 + " = 1\n",
    "long number": "const A = " + "9" * 90_000,
    "exponent": "const A = 1e999999999",
    "json": "type A = json schema " + '{"a": ' * 50_000,
    "grammar": "grammar A:\n    a: " + "(" * 5_000,
    "patterns": "fn f():\n    match x:\n        case " + "A(a = " * 5_000,
    "blank lines": "\n" * 100_000 + "    x",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_or_read_without_recursion(name):
    text = HOSTILE[name]
    source = Source("hostile.sgl", text)
    module, diagnostics = parse(source)
    assert len(diagnostics) < 300
    assert "Module" in dump(module)
    render_all(diagnostics)
    if name not in ("closed brackets", "unions", "doc comments", "long name", "blank lines"):
        assert has_errors(diagnostics)


# -- tables --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_grammar_has_no_conflicts():
    data = tables.build(tables.grammar_text(), strict=True)
    assert len(data["rows"]) > 100


@pytest.mark.slow
def test_a_conflict_would_be_found():
    grammar = tables.grammar_text().replace("?flat: postfix |", "?flat: postfix | flat flat -> chain |")
    assert grammar != tables.grammar_text()
    from lark.exceptions import GrammarError

    with pytest.raises(GrammarError, match=r"(?i)conflict|collision"):
        tables.build(grammar, strict=True)


def test_every_public_function_of_the_builders_is_an_action_of_the_grammar():
    assert set(actions()) <= {rule.action for rule in tables.load().rules}


def test_no_action_is_built_in_two_places():
    own = [
        function
        for module in BUILDERS
        for name, function in vars(module).items()
        if name[0] != "_" and getattr(function, "__module__", "") == module.__name__
        if isinstance(function, FunctionType)
    ]
    assert len(own) == len(actions()) > 150


def test_threads_may_parse_before_anything_was_parsed():
    text = (ROOT / "examples" / "triage.sgl").read_text(encoding="utf-8")
    alone = dump(parse(Source("a.sgl", text))[0])
    language.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: dump(parse(Source("a.sgl", text))[0]), range(16)))
    assert found == [alone] * 16


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def built(monkeypatch):
    """Plain data of tables as a build gives it, in place of the build; the list counts how often."""
    data = tables.build(tables.grammar_text()) if not BUILT else BUILT[0]
    BUILT[:] = [data]
    calls: list[str] = []
    monkeypatch.setattr(tables, "build", lambda grammar: (calls.append(grammar), data)[1])
    return calls


BUILT: list[dict[str, Any]] = []


@pytest.mark.slow
def test_equal_grammars_give_equal_tables(built):
    program = (
        "import json; from sglc.syntax import tables; print(json.dumps(tables.build(tables.grammar_text())))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == json.loads(json.dumps(BUILT[0]))


def test_tables_are_stored_and_read_back(cache, built):
    first = tables.load()
    (stored,) = cache.iterdir()
    assert stored.suffix == ".json"
    assert tables.load() == first
    assert len(built) == 1
    assert len(language_of(first).machine.rules) == len(first.rules) > 100


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "not text", "other JSON"])
def test_a_damaged_table_file_is_made_again(cache, built, damage):
    whole = tables.load()
    (stored,) = cache.iterdir()
    text = stored.read_bytes()
    head, _, body = text.partition(b"\n")
    stored.write_bytes(
        {
            "empty": b"",
            "cut": text[:-100],
            "changed": head + b"\n" + body.replace(b'"NAME":', b'"NAMF":', 1),
            "not text": b"\xff\xfe" + text,
            "other JSON": head + b"\n" + json.dumps({"rows": []}).encode(),
        }[damage]
    )
    assert tables.load() == whole
    assert len(built) == 2
    assert stored.read_bytes() == text


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path, monkeypatch, built):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("SGLC_CACHE_DIR", str(blocked / "cache"))
    assert tables.load().rules
    assert len(built) == 1


def test_a_start_with_stored_tables_does_without_lark(cache, built):
    tables.load()
    program = (
        "import sys; from sglc.source import Source; from sglc.syntax.parse import parse; "
        "print(len(parse(Source('a', 'const A = 1\\n'))[0].declarations), 'lark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
