"""Types that depend on values of the run, where a value of plain code becomes one: `let x: one of xs = s`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judges.written_modules import agree
from sglc.bytecode.disasm import disassemble
from sglc.bytecode.serial import dumps, loads
from sglc.bytecode.verify import verify
from sglc.driver import compile_source
from sglc.ir.module import Module
from sglc.ir.read import read
from sglc.ir.verify import verify as verify_ir
from sglc.source import Source
from sglc.testing import run_tests

HEAD = """\
record Mail(body: str):
    quote: span of body max 60 chars

type near(least: int) = int in 0..99 where it >= least

extern py "shop:find" fn find(names: [str], name: one of names) -> one of names

error Odd(n: int)

pure fn evens(xs: [int]) -> [str]:
    for x in xs:
        if x % 2 == 1: raise Odd(x)
    return [str(x) for x in xs]

pure fn word(xs: [str], s: str) -> str:
    let x: one of xs = s
    return x

pure fn piece(body: str, s: str) -> str:
    let x: span of body min 2 chars = s
    return x

pure fn taken(xs: [str], x: one of xs) -> str:
    return x

pure fn given(xs: [str], s: str) -> one of xs:
    return s

pure fn mail(body: str, m: Mail(body)) -> str:
    return m.quote

pure fn above(least: int, n: int) -> int:
    let x: int where it > least = n
    return x

pure fn even(xs: [int], s: one of evens(xs)) -> str:
    return s

pure fn several(xs: [str], s: str) -> (str?, {one of xs: int}):
    let x: (one of xs)? = s if s != "" else null
    return (x, {s: 1})

pure fn mixed(xs: [str], x: str | int) -> str:
    let y: one of xs | int = x
    return str(y)

pure fn kept(least: int, n: int) -> [near(least)]:
    var xs: [near(least)] = [least]
    xs = [n]
    xs += [n]
    xs[0] = n
    return xs

pure fn both[T](xs: [str], x: T, s: one of xs) -> (T, one of xs):
    return (x, s)

part say(xs: [str], x: one of xs):
    | ${x}

fn said(xs: [str], s: str) -> str:
    user: part say(xs, s)
    assistant: | ?{y: str max 3 chars}
    return y

"""
CALLS = [
    ('word(["a", "b"], "b")', '"b"', 'word(["a"], "b")'),
    ('piece("hello", "ell")', '"ell"', 'piece("hello", "elo")'),
    ('piece("hello", "el")', '"el"', 'piece("hello", "e")'),
    ('taken(["a"], "a")', '"a"', 'taken(["a"], "b")'),
    ('given(["a"], "a")', '"a"', 'given([], "a")'),
    ('mail("abc", Mail("bc"))', '"bc"', 'mail("abc", Mail("bd"))'),
    ("above(3, 4)", "4", "above(3, 3)"),
    ('even([2, 4], "4")', '"4"', 'even([2], "4")'),
    ('several(["a"], "a")', '("a", {"a": 1})', 'several(["a"], "b")'),
    ('mixed(["a"], 3)', '"3"', 'mixed(["a"], "b")'),
    ("kept(3, 4)", "[4, 4]", "kept(4, 3)"),
    ('both(["a"], 3, "a")', '(3, "a")', 'both(["a"], 3, "b")'),
    ('said(["a"], "a")', '"q"', 'said(["a"], "b")'),
    ('find(["a", "b"], "a")', '"b"', 'find(["b"], "a")'),
    ('find(["a", "b"], "a")', '"b"', 'find(["a"], "a")'),
]


def failures(text: str) -> list[str]:
    """What the tests of a program have to complain of."""
    compiled = compile_source(Source("p.sgl", text))
    assert compiled.program is not None, compiled.diagnostics
    return [each.message + each.reason for report in run_tests(compiled.program) for each in report.failures]


def test_a_value_is_one_of_the_type_where_it_becomes_one() -> None:
    tests = 'test "all":\n    mock find = "b" always\n    mock said.y = "q"\n'
    for call, value, wrong in CALLS:
        tests += f"    expect {call} == {value}\n    expect raises Failure: {wrong}\n"
    assert failures(HEAD + tests + '    expect raises Odd: even([1], "1")\n') == []


def test_the_message_says_what_is_wrong() -> None:
    (found,) = failures(HEAD + 'test "t":\n    expect word(["a"], "b") == "b"\n')
    assert 'a value is outside of its type: "b" is not in the list of its `one of`' in found


PROVED = """\
record Mail(body: str):
    quote: span of body max 60 chars

fn f(xs: [str], body: str, x: one of xs) -> (one of xs, one of xs, Mail(body), [one of xs], (one of xs)?):
    user: | go
    assistant:
        | ?{y: one of xs} ?{m: Mail(body)} ?{q: span of body until "!" max 9 chars}
        let several: [one of xs] = gen one of xs n 2 temp 1
    let z: one of xs = y
    let first: one of xs = xs[0]
    let quote: span of body max 20 chars = q
    if len(quote) > 3: return (z if len(z) > 1 else x, first, m, several, null)
    return (x, z, m, [x, y], x)
"""


def test_what_is_known_to_be_a_member_is_not_asked() -> None:
    program = compile_source(Source("p.sgl", PROVED)).program
    assert program is not None
    assert disassemble(program).count("CHECK_GIVEN") == 1  # the argument
    asked = [
        ("let z: one of xs = y", "let z: one of xs = x.upper()"),
        ("let first: one of xs = xs[0]", "let first: one of xs = [x][0]"),
        ("max 20 chars = q", "max 8 chars = q"),
        (
            "let several: [one of xs] = gen one of xs n 2",
            "let several: [one of xs] = gen str max 3 chars n 2",
        ),
        ("let z: one of xs = y", "var z: one of xs = y"),
        ("let quote: span of body max 20 chars = q", "let quote: span of body.upper() = q"),
    ]
    for before, after in asked:
        program = compile_source(Source("p.sgl", PROVED.replace(before, after))).program
        assert program is not None, after
        assert disassemble(program).count("CHECK_GIVEN") > 1, after


def test_parts_of_a_variable_are_held_against_the_conditions_around_them() -> None:
    text = """\
record Slot:
    start: int in 0..23
    end: int in 0..23
type shift = Slot where it.start < it.end
type few = [int; ..2] where sum(it) < 10
pure fn part(n: int) -> shift:
    var s: shift = Slot(1, 5)
    s.start = n
    return s
pure fn item(n: int) -> few:
    var xs: few = [1]
    xs[0] = n
    return xs
pure fn inner(n: int) -> [shift]:
    var all: [shift] = [Slot(1, 5)]
    all[0].start = n
    return all
test "t":
    expect part(4).start == 4 and item(9) == [9] and inner(4)[0].start == 4
    expect raises Failure: part(5)
    expect raises Failure: item(10)
    expect raises Failure: inner(5)
"""
    assert failures(text) == []


WRITTEN = """\
pure fn g(xs: [str], x: one of xs) -> str:
    return x

fn main(xs: [str], s: str, body: str) -> [str]:
    let y: one of xs = s
    var z: [one of xs; 1..3] = [s]
    z = [y]
    z[0] = g(xs, s)
    let q: span of body = s
    user: | ${q}
    assistant: | ?{a: one of xs}
    return z + [a]
"""


@pytest.mark.parametrize("s", ["a", "c"])
def test_written_modules_ask_the_same(s: str) -> None:
    agree(Source("p.sgl", WRITTEN), "main", {"xs": ["a", "b"], "s": s, "body": "xa"}, seeds=1)


def test_artefacts_and_the_intermediate_representation_are_verified() -> None:
    program = compile_source(Source("p.sgl", HEAD + "pub fn f() -> int:\n    return 1\n")).program
    assert program is not None
    read_back, found = loads(dumps(program))
    assert read_back == program and not found
    (code,) = [code for code in program.codes if code.name == "word"]
    for count in (1, 3):
        instructions = tuple(
            i if disassemble(program).find("CHECK_GIVEN") < 0 or i.b != 2 else i._replace(b=count)
            for i in code.instructions
        )
        changed = replace(code, instructions=instructions)
        codes = tuple(changed if each is code else each for each in program.codes)
        assert "other values than the type depends on" in str(verify(replace(program, codes=codes)))


@pytest.mark.parametrize(
    ("values", "type", "sound"),
    [("%0, %1", "OneOf(0)", True), ("%0", "OneOf(0)", False), ("%0, %1", "Str()", False)],
)
def test_the_operation_takes_the_values_that_its_type_depends_on(values: str, type: str, sound: bool) -> None:
    module: Module = read(
        "pure @f(xs $xs: ListOf(Str()), s $s: Str()) {\n^entry:\n  %0 = load $s\n  %1 = load $xs\n"
        f"  %2 = check_given ({values}) {type}\n  return %2\n}}\n"
    )
    assert (verify_ir(module) == []) == sound


COMBINED = [
    """\
record Node(depth: int, names: [str]):
    name: one of names
    kids: [Node(depth, names); ..2]
    weight: above(depth)

type above(depth: int) = int in 0..20 where it > depth

pub fn tree(names: [str], depth: int) -> Node(depth, names):
    user: | ${names}
    assistant: | ?{root: Node(depth, names) max 200 tok}
    return root

pub pure fn size(depth: int, names: [str], n: Node(depth, names)) -> int:
    return 1 + sum([size(depth, names, k) for k in n.kids])

test "n":
    fuzz tree(["a", "b"], 3) times 5:
        expect size(3, ["a", "b"], it) >= 1
        expect it.weight > 3
    expect raises Failure: size(3, ["a"], Node("a", [], 3))
    expect size(3, ["a"], Node("a", [Node("a", [], 4)], 5)) == 2
""",
    """\
pub fn f(xs: [str], i: int) -> str:
    let chosen: (one of xs)? = xs[i] if i < len(xs) else null
    let label: one of xs | "none" = chosen if chosen != null else "none"
    user: | ${label}
    assistant: | ?{y: one of xs | "none"} and ?{z: int where z > i and z < i + 5}
    let w: int where it > i = z
    return "${y} ${w}"

fn g(body: str) -> [(span of body, int in 0..9); ..2]:
    user: | ${body}
    assistant: | ?{qs: [(span of body max 5 chars, int in 0..9); ..2]}
    return qs

test "x":
    fuzz f(["a"], 0) times 5: expect it != ""
    fuzz g("hello") times 5: expect len(it) <= 2
""",
    """\
extern py "db:save" fn save(id: int, text: str) -> bool effects write key id
extern py "db:load" fn load(id: int) -> json schema {"type": "object", "required": ["a"]}

grammar Path(dirs: [str]):
    start: dir ("/" dir){0,3}
    dir: one of dirs

pub fn clean(id: int, dirs: [str]) -> Path(dirs):
    let data = load(id)
    user: | ${data}
    assistant: | ?{path: Path(dirs)}
    let kept: Path(dirs) = path
    if not save(id, trust(kept)): raise Lost(id)
    return kept

error Lost(id: int)

pub pure fn depth(dirs: [str], path: Path(dirs)) -> int:
    return path.count("/") + 1

test "p":
    mock load = {"a": 3}
    mock save = true always
    fuzz clean(1, ["x", "y"]) times 3:
        expect depth(["x", "y"], it) <= 4
    mock load = {"a": 3}
    mock clean.path = "x/y"
    expect clean(1, ["x", "y"]) == "x/y"
    expect raises Failure: depth(["x"], "x/z")
    expect depth(["x"], "x/x/x") == 3
""",
]


@pytest.mark.parametrize("text", COMBINED)
def test_they_go_with_other_constructs(text: str) -> None:
    """Types that contain themselves, optionals and unions, conditions on values, grammars, Python."""
    assert failures(text) == []
