"""Checking takes time in proportion to the program: calls of Python functions are counted, not seconds."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace

import pytest

from checkout import GOLDEN
from counting import calls_of
from sglc.bytecode.code import Program
from sglc.bytecode.verify import verified
from sglc.check.names import template_text
from sglc.check.program import Workspace, check
from sglc.commands.shared.programs import check_path
from sglc.diagnostics.diagnostic import has_errors
from sglc.diagnostics.suggest import NameSearch
from sglc.emit.program import emit
from sglc.library import Library
from sglc.lower.program import lower
from sglc.passes import pipeline
from sglc.source import Source


def _lines(count: int, line) -> str:
    return "".join(line(n) + "\n" for n in range(count))


def _quoted(word: str) -> str:
    return f'"{word}"'


def _hole(type: str, above: str = "") -> str:
    """A function with one hole."""
    return f"{above}pub fn f() -> {type}:\n    user: | Go.\n    assistant: | ?{{x: {type}}}\n    return x\n"


def _joined(count: int, part, by: str = ", ") -> str:
    return by.join(part(n) for n in range(count))


def literals(n):
    return _hole("T", f"type T = {_joined(n, lambda i: _quoted(f'w{i}'), ' | ')}\n")


def literals_in_a_hole(n):
    return _hole(_joined(n, lambda i: _quoted(f"w{i}"), " | "))


def numbers(n):
    return _hole("T", f"type T = {_joined(n, str, ' | ')}\n")


def records_in_a_union(n):
    records = "".join(f"record R{i}:\n    f{i}: int\n" for i in range(n))
    return (
        records
        + f"type T = {_joined(n, lambda i: f'R{i}', ' | ')}\npub pure fn f(t: T) -> T:\n    return t\n"
    )


def records_told_apart_by_a_tag(n):
    records = "".join(f'record R{i}:\n    kind: "k{i}"\n    size: int\n' for i in range(n))
    return _hole("T", f"{records}type T = {_joined(n, lambda i: f'R{i}', ' | ')}\n")


def members(n):
    cases = _lines(n, lambda i: f"        case m{i}: return {i}")
    return f"enum E: {_joined(n, lambda i: f'm{i}')}\npub pure fn f(e: E) -> int:\n    match e:\n{cases}"


def members_in_one_case(n):
    return (
        f"enum E: {_joined(n, lambda i: f'm{i}')}\npub pure fn f(e: E) -> int:\n    match e:\n"
        f"        case {_joined(n, lambda i: f'm{i}', ' | ')}: return 1\n"
    )


def members_as_values(n):
    enum, lines = f"enum E: {_joined(n, lambda i: f'm{i}')}\n", _lines(n, lambda i: f"    x = m{i}")
    return f"{enum}pub pure fn f(e: E) -> E:\n    var x = e\n{lines}    return x\n"


def variants(n):
    declared = _lines(n, lambda i: f"    V{i}:\n        a: int")
    cases = _lines(n, lambda i: f"        case V{i}(a = 3): return {i}\n        case V{i}: return {i}")
    return f"union U:\n{declared}pub pure fn f(u: U) -> int:\n    match u:\n{cases}"


def texts_matched(n):
    cases = _lines(n, lambda i: f'        case "w{i}": return {i}')
    return f"pub pure fn f(a: str) -> int:\n    match a:\n{cases}        case _: return 0\n"


def numbers_matched(n):
    cases = _lines(n, lambda i: f"        case {i}: return {i}")
    return f"pub pure fn f(a: int) -> int:\n    match a:\n{cases}        case _: return 0\n"


def fields(n):
    return _hole("R", f"record R:\n{_lines(n, lambda i: f'    f{i}: int')}")


def fields_read(n):
    declared = _lines(n, lambda i: f"    f{i}: int")
    lines = _lines(n, lambda i: f"    x = x + r.f{i}")
    return f"record R:\n{declared}pub pure fn f(r: R) -> int:\n    var x = 0\n{lines}    return x\n"


def records(n):
    declared = "".join(f"record R{i}:\n    a: int\n" for i in range(n))
    return _hole("S", f"{declared}record S:\n{_lines(n, lambda i: f'    f{i}: R{i}')}")


def functions(n):
    return _lines(n, lambda i: f"pub pure fn g{i}(a: int) -> int:\n    return a + {i}")


def calls(n):
    below = _lines(n, lambda i: f"pub pure fn g{i + 1}(a: int) -> int:\n    return g{i}(a)")
    return f"pub pure fn g0(a: int) -> int:\n    return a\n{below}"


def statements(n):
    lines = _lines(n, lambda i: f"    x = x + {i}")
    return f"pub pure fn f(a: int) -> int:\n    var x = a\n{lines}    return x\n"


def variables(n):
    lines = _lines(n, lambda i: f"    let x{i + 1} = x{i} + 1")
    return f"pub pure fn f(a: int) -> int:\n    let x0 = a\n{lines}    return x{n}\n"


def branches(n):
    lines = _lines(n, lambda i: f"    elif a == {i + 1}:\n        return {i}")
    first, last = "    if a == 0:\n        return 0\n", "    else:\n        return 1\n"
    return f"pub pure fn f(a: int) -> int:\n{first}{lines}{last}"


def prompt_lines(n):
    lines = _lines(n, lambda i: f"        | line {i} ${{a}}")
    hole = "    assistant: | ?{x: str max 20 chars}\n    return x\n"
    return f"pub fn f(a: int) -> str:\n    user:\n{lines}{hole}"


def holes(n):
    lines = _lines(n, lambda i: f"        | ?{{h{i}: int}}")
    return f"pub fn f() -> int:\n    user: | Go.\n    assistant:\n{lines}    return h0\n"


def items(n):
    return f"pub pure fn f() -> [int]:\n    return [{_joined(n, str)}]\n"


def constants(n):
    return _lines(n, lambda i: f"pub const C{i} = {i}")


def rules(n):
    chain = _lines(n, lambda i: f'    r{i}: "a{i}" r{i + 1}')
    return _hole("str", f'grammar G:\n    start: r0\n{chain}    r{n}: "z"\n').replace("{x: str}", "{x: G}")


def words_of_a_grammar(n):
    words = _joined(n, lambda i: f'"a{i}"', " | ")
    return _hole("str", f"grammar G:\n    start: {words}\n").replace("{x: str}", "{x: G}.")


def blocks_of_tests(n):
    blocks = _lines(n, lambda i: f'test "t{i}":\n    expect f({i}) == {i}')
    return f"pub pure fn f(a: int) -> int:\n    return a\n{blocks}"


def forks(n):
    lines = _lines(
        n,
        lambda i: (
            f"    let t{i} = fork i in 0..<2 seed i:\n        assistant: | ?{{h{i}: int}}\n"
            f"        yield h{i}\n    adopt t{i}[0]"
        ),
    )
    return f"pub fn f(a: int) -> int:\n    user: | Go.\n{lines}    return a\n"


def _prompt(parts: str, lines: str) -> str:
    return f"{parts}pub fn f(a: int) -> int:\n    user:\n{lines}    assistant: | ?{{x: int}}\n    return x\n"


def parts_in_parts(n):
    first = "part p0(a: int):\n    | Go ${a}.\n"
    rest = _lines(n, lambda i: f"part p{i + 1}(a: int):\n    | step {i}\n    part p{i}(a)")
    return _prompt(first + rest, f"        part p{n}(a)\n")


def parts_beside_each_other(n):
    parts = _lines(n, lambda i: f"part p{i}(a: int):\n    | Go ${{a}}.\n    | And on.")
    return _prompt(parts, _lines(n, lambda i: f"        part p{i}(a)"))


def one_part_often(n):
    return _prompt("part p(a: int):\n    | Go ${a}.\n", _lines(n, lambda i: "        part p(a)"))


def _errors(n: int) -> str:
    return _lines(n, lambda i: f"error E{i}(a: int)")


def _raising(n: int, header: str) -> str:
    return f"{header}:\n" + _lines(n, lambda i: f"    if a == {i}: raise E{i}({i})") + "    return a\n"


def _raises(n: int) -> str:
    return f"raises {_joined(n, lambda i: f'E{i}')}"


def errors(n):
    below = _lines(n, lambda i: f"pub pure fn g{i}(a: int) -> int raises E{i}:\n    raise E{i}(a)")
    return _errors(n) + below


def errors_passed_on(n):
    calls = _lines(n, lambda i: "    x = g(x)")
    above = f"pub pure fn h(a: int) -> int {_raises(n)}:\n    var x = a\n{calls}    return x\n"
    return _errors(n) + _raising(n, f"pure fn g(a: int) -> int {_raises(n)}") + above


def errors_caught(n):
    arms = _lines(n, lambda i: f"    except E{i} as p{i}: return p{i}.a")
    above = f"pub pure fn f(a: int) -> int:\n    try:\n        return g(a)\n{arms}"
    return _errors(n) + _raising(n, f"pure fn g(a: int) -> int {_raises(n)}") + above


def variants_made(n):
    declared = _lines(n, lambda i: f"    V{i}:\n        a: int")
    lines = _lines(n, lambda i: f"    if a == {i}: return V{i}(a = {i})")
    return f"pub union U:\n{declared}pub pure fn f(a: int) -> U:\n{lines}    return V0(a = 1)\n"


def texts_repeated(n):
    words = _joined(n, lambda i: f'"y"{{{n - i}}}', " | ")
    return _hole("str", f"grammar G:\n    start: {words}\n").replace("{x: str}", "{x: G}.")


def parameters_with_patterns(n):
    parameters = ",\n".join(f"a{i}: str matching /[a-z]x{i}/" for i in range(n))
    return f"pub pure fn f(\n{parameters}\n) -> str:\n    return a0\n"


def arguments_by_name(n):
    parameters, given = (_joined(n, lambda i, sign=sign: f"a{i}{sign}") for sign in (": int", " = 1"))
    return f"pure fn g({parameters}) -> int:\n    return a0\npub pure fn f() -> int:\n    return g({given})\n"


def unused_variables(n):
    lines = _lines(n, lambda i: f"    let x{i} = a")
    return f"pub pure fn f(a: int) -> int:\n{lines}    return a\n"


def _faulty(line) -> Callable[[int], str]:
    """A function with many lines of one kind."""
    return lambda n: f"pub fn f(a: int) -> int:\n    var x = a\n{_lines(n, line)}    return x\n"


unknown_names = _faulty(lambda i: f"    x = y{i}")
unknown_functions = _faulty(lambda i: f"    x = y{i}(a)")
prose = _faulty(lambda i: f"    x = {i}\n    please write the number {i} here")
misspelt = _faulty(lambda i: "    retrun x")
wrong_signs = _faulty(lambda i: f"    x = = {i}")
holes_in_code = _faulty(lambda i: f"    ?{{h{i}: int}}")
colons_left_out = _faulty(lambda i: f"    if x == {i}\n        x = {i}")


def unknown_types(n):
    return _lines(n, lambda i: f"record R{i}:\n    a: Q{i}")


def unknown_among_many(n):
    return _lines(n, lambda i: f"const C{i} = {i}") + unknown_names(n)


def errors_left_out(n):
    return _errors(n) + _raising(n, "pub pure fn g(a: int) -> int raises E0")


PROGRAMS = [
    literals, literals_in_a_hole, numbers, records_in_a_union, records_told_apart_by_a_tag, members,
    members_in_one_case, members_as_values, variants, texts_matched, numbers_matched, fields,
    fields_read, records, functions, calls, statements, variables, branches, prompt_lines, holes, items,
    constants, rules, words_of_a_grammar, blocks_of_tests, forks, parts_in_parts, parts_beside_each_other,
    one_part_often, errors, errors_passed_on, errors_caught, variants_made, texts_repeated,
    parameters_with_patterns, arguments_by_name, unused_variables,
]  # fmt: skip
FAULTY = {
    "unknown_names": unknown_names,
    "unknown_functions": unknown_functions,
    "unknown_types": unknown_types,
    "unknown_among_many": unknown_among_many,
    "errors_left_out": errors_left_out,
    "prose": prose,
    "misspelt": misspelt,
    "wrong_signs": wrong_signs,
    "holes_in_code": holes_in_code,
    "colons_left_out": colons_left_out,
}


def emitted(text: str) -> Program:
    program, diagnostics = check(Source("program.sgl", text), Library())
    assert program is not None and not has_errors(diagnostics), diagnostics[0]
    return emit(pipeline.run(lower(program)))


def build(text: str) -> None:
    _, faults = verified(emitted(text))
    assert not faults


class Walked(tuple):
    """A tuple that counts how often somebody goes over it."""

    times = 0

    def __iter__(self):
        type(self).times += 1
        return super().__iter__()


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_work_grows_with_the_program(program):
    """Four times the members, fields, statements take four times the calls; a square law takes sixteen."""
    build(program(8))  # what is made once for all programs
    small, large = (calls_of(lambda n=n: build(program(n))) for n in (50, 200))
    assert large < 5 * small, f"{small:,} calls for 50, {large:,} for 200"


@pytest.mark.slow
@pytest.mark.parametrize("program", FAULTY.values(), ids=FAULTY)
def test_work_grows_with_the_faults(program):
    """Names are searched for up to a bound, so that work grows with the faults behind it alone."""

    def found(n: int) -> int:
        text = program(n)
        return calls_of(lambda: check(Source("program.sgl", text), Library()))

    found(8)
    assert has_errors(check(Source("program.sgl", program(8)), Library())[1])
    size = 500 if program in (unknown_types, unknown_among_many) else 80
    small, large = found(size), found(4 * size)
    assert large < 5 * small, f"{small:,} calls for {size}, {large:,} for {4 * size}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fn", "record"])
def test_work_grows_with_the_names_that_are_imported(tmp_path, kind):
    def counted(n: int) -> int:
        functions = kind == "fn"
        declared = (
            "pub pure fn g{0}(a: int) -> int:\n    return a" if functions else "pub record g{0}:\n    a: int"
        )
        used = "    x = h{0}(x)" if functions else "    x = h{0}(a = x).a"
        (tmp_path / f"m{n}.sgl").write_text(_lines(n, declared.format), encoding="utf-8")
        names = _joined(n, "g{0} as h{0}".format)
        text = f"use ./m{n} ({names})\npub pure fn f(a: int) -> int:\n    var x = a\n{_lines(n, used.format)}"
        source = Source(str(tmp_path / "program.sgl"), text + "    return x\n")

        def compiled() -> None:
            program, diagnostics = check(source, Library())
            assert program is not None and not diagnostics, diagnostics[0]
            assert not verified(emit(pipeline.run(lower(program))))[1]

        return calls_of(compiled)

    counted(8)
    small, large = counted(75), counted(300)
    assert large < 5 * small, f"{small:,} calls for 75, {large:,} for 300"


def test_commands_seldom_look_for_garbage_while_they_check(tmp_path, monkeypatch):
    """What a compile makes, it keeps, so that each search goes over all of it."""
    path, seen = tmp_path / "program.sgl", []
    path.write_text(statements(3), encoding="utf-8")
    before = gc.get_threshold()
    monkeypatch.setattr(Workspace, "check", lambda *_: (None, seen.append(gc.get_threshold())))
    check_path(path)
    assert seen[0][0] > before[0]
    assert gc.get_threshold() == before


def test_prompt_text_is_gone_over_once_for_all_that_is_unused(monkeypatch):
    passes = []

    class Counted:
        def __init__(self, pattern):
            self.pattern = pattern

        def finditer(self, text):
            passes.append(len(text))
            return self.pattern.finditer(text)

    monkeypatch.setattr(template_text, "_PROMPT", Counted(template_text._PROMPT))
    assert len(check(Source("program.sgl", unused_variables(50)), Library())[1]) == 50
    assert len(passes) == 1


@pytest.mark.slow
def test_a_program_is_searched_for_what_was_meant_up_to_a_bound():
    names = NameSearch()
    pool = [f"name_{i}" for i in range(2000)]
    found = [names.nearest("nmae_7", pool) for _ in range(1000)]
    assert found[0] == "name_7"
    assert found[-1] is None


def test_forks_take_the_slots_that_they_use():
    codes = emitted(forks(40)).codes
    assert {len(code.slots) for code in codes if code.kind == "fork"} == {2}


@pytest.mark.slow
def test_work_grows_with_the_chain_of_an_imported_grammar(tmp_path):
    """Each rule is read, given its words and passed at the end of the hole once."""

    def program(n: int) -> Source:
        chain = _lines(n, lambda i: f'a{i}: "a{i}" a{i + 1}')
        (tmp_path / f"g{n}.lark").write_text(f'start: a0\n{chain}a{n}: "z"\n', encoding="utf-8")
        return Source(
            str(tmp_path / "program.sgl"),
            f'import grammar "g{n}.lark" as G\n' + _hole("str").replace("{x: str}", "{x: G}"),
        )

    def counted(n: int) -> int:
        source = program(n)
        return calls_of(lambda: check(source, Library()))

    counted(8)
    small, large = counted(500), counted(2000)
    # The longer chain is no regular part any more, so that its words are gone over once more.
    assert large < 6 * small, f"{small:,} calls for 500, {large:,} for 2000"


@pytest.mark.slow
def test_what_a_program_declares_is_looked_up_and_not_gone_over():
    """The verifier goes over variants and errors as often, however many instructions name one."""

    def walks(count: int) -> int:
        text = variants(count) + "error E(a: int)\npure fn g(a: int) -> int raises E:\n"
        program = emitted(text + _lines(count, lambda i: f"    if a == {i}: raise E({i})") + "    return a\n")
        table = {
            name: replace(union, variants=Walked(union.variants)) for name, union in program.table.items()
        }
        Walked.times = 0
        assert not verified(replace(program, table=table, errors=Walked(program.errors)))[1]
        return Walked.times

    assert walks(40) == walks(10)


@pytest.mark.slow
def test_a_case_for_any_value_ends_the_search():
    """What cannot be judged is refused (E0341, in the goldens), unless no value can be left out."""
    golden = GOLDEN / "diagnostics" / "check.test"
    case = golden.read_text(encoding="utf-8").split("[case E0341_cases_that_cannot_be_judged]\n")[1]
    text = case.split("[out]")[0]
    assert [d.code for d in check(Source("program.sgl", text), Library())[1]] == ["E0341"]
    build(text + "        case _: return 1\n")


def test_a_case_left_out_is_one_fault():
    text = "enum E: a, b\npub pure fn f(e: E) -> int:\n    match e:\n        case a: return 1\n"
    assert [d.code for d in check(Source("program.sgl", text), Library())[1]] == ["E0338"]
