"""The target `python`: its modules run beside the virtual machine, and are judged by mypy."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings

from checkout import EXAMPLES
from example_budget import examples
from judges.written_modules import agree, module_of
from sglc.driver import write_target
from sglc.source import Source
from sglc.targets.python.carried import MODULES
from strategies.programs.source_programs import SourceProgram, source_program, source_programs

ARGUMENTS = {"theme": "a ship", "body": "Where is my parcel?"}
_REFUSED = ("query", "ideas", "route", "agent", "forms", "live")
SAID = [path for path in sorted(EXAMPLES.glob("*.sgl")) if path.stem not in _REFUSED]
"""Those that a module can say: `query` reads parts of a text of a grammar, `ideas` and `route` need scores,
`agent` calls tools, `forms` writes other forms than JSON, `live` stops a call that a module waits for."""


def source_of(path: Path) -> Source:
    return Source(str(path), path.read_text(encoding="utf-8"))


def written(program: str, *, allow_wider: bool = False) -> tuple[str, list[str]]:
    text, found = write_target(Source("p.sgl", program), "python", allow_wider=allow_wider)
    return text, [each.message for each in found if each.code in ("E0817", "W0224")]


@pytest.mark.slow
@pytest.mark.parametrize("path", SAID, ids=lambda path: path.stem)
def test_the_examples_have_the_values_and_messages_of_the_machine(path: Path) -> None:
    source = source_of(path)
    text, _ = write_target(source, "python", allow_wider=True)
    module = module_of(text)
    asked = 0
    for name, (function, types) in module.PROGRAM.items():
        has_default = len(function.__defaults__ or ())
        needed = list(types)[: len(types) - has_default]
        if set(needed) <= set(ARGUMENTS):
            asked += agree(
                source, name, {each: ARGUMENTS[each] for each in needed}, seeds=min(examples(2), 20)
            )
    assert asked or path.stem == "shapes"


@pytest.mark.slow
@given(source_programs())
@settings(max_examples=examples(12))
def test_random_programs_have_the_values_and_messages_of_the_machine(program: SourceProgram) -> None:
    agree(Source("random.sgl", program.text), "main", dict(program.arguments), seeds=2)


PROGRAMS = {
    "operands in their order": """\
fn number(n: int) -> int:
    user: | A number.
    assistant: | ?{it: int in 0..9}
    return n

pub fn main(n: int = 8) -> bool:
    return number(n) in [1, number(3)] or [1, 2][n % 3] in [number(n), 3]
""",
    "samples that are repaired": """\
pub fn main() -> (int, int):
    user: | Two numbers.
    assistant:
        | ?{both: int in 0..9 n 2}
        ensure sum(both) > 12 else "less than 13"
            retry 3 repair
        | ?{more: int in 0..9 n 3}
        ensure sum(more) > 15
            retry 2 resample
    return (sum(both), sum(more))
""",
    "lines": """\
pub fn main(who: str = "Ann") -> str:
    system: | Be kind.
    user:
        | Dear ${who}, \\
        | hello.
        |
        | ${[1, 2.50]} ${[true, null]} ${{"a": (1, "x")}} ${0.1 + 0.2} ${7 / 2} ${2 ** 70}
    assistant:
        | Well: ?{a: int in 0..9}, ?{b: choose ["yes", "no"]}
        if b == "yes":
            | Then ?{c: str max 9 chars until "!"}!
            | So ${c}
    user: | Thanks.
    return "${a} ${b}"
""",
    "completion": """\
enum Mood: calm, glad
pub fn main() -> Mood:
    | The mood of Ann is ?{first: Mood}.
    | That of Bob is ?{second: Mood}.
    return first if first == second else Mood.calm
""",
    "types": """\
enum Post: pilot, medic
union Mail:
    Bill:
        total: decimal in 0..100
        note?: str max 5 chars
    Other
record Crew:
    name: str matching /[A-Z][a-z]{1,4}/
    post: Post
    pair: (int in 0..3, float in 0..1)
    tags: [Post; 1..3]
    stock: {str matching /[a-z]{1,3}/: int in 0..9; ..2}
    age: int in 1..9 = 4
    chief: Post?
pub fn main() -> str:
    assistant: | ?{crew: Crew}
    user: | ${crew.name} ${crew.pair[1]} ${crew}
    assistant: | ?{mail: Mail} ?{maybe: int in 0..9 | "none" | null}
    var changed = crew
    changed.age += 1
    changed.tags[0] = medic
    match mail:
        case Bill(total = t) if t > 50: return "${t} ${changed}"
        case Bill(note = null): return "none ${maybe}"
        case Bill(note = n): return "${n}"
        case Other: return str(changed.chief) + " ${mail}"
""",
    "conditions": """\
pure fn even(text: str, most: int) -> alive | dead | final:
    if len(text) > most: return dead
    return final if len(text) % 2 == 0 else alive
pub fn main(least: int = 3, taken: [str] = ["ab"]) -> (int, str):
    assistant: | ?{n: int in 0..40 where n > least and n % 3 == 0}
    user: | ok
    assistant: | ?{t: str matching /[a-c]{1,6}/ where t not in taken and t.lower() == t and even(t, 6)}
    user: | ok
    assistant: | ?{m: int in 0..9 where m * m != 9}
    return (n + m, t)
""",
    "retries": """\
pub fn main() -> int:
    var tries = 0
    user: | A number.
    assistant:
        | first ?{a: int in 0..3} then ?{b: int in 0..3}
        tries += 1
        ensure a != b else "they differ"
            retry 2 resample
        | and ?{c: int in 0..9}
        check c > 4 else "small"
        if c < 8:
            ensure c > 2 else "too small: ${c}"
                retry 1 repair
                else raise Truncated("gave up")
    ensure each x in [a, b]: x < 3
    return tries * 10 + c
""",
    "errors": """\
error Odd(n: int, why: str)
fn ask(limit_: int) -> int raises Odd:
    user: | Below ${limit_}.
    assistant: | ?{n: int in 0..9}
    if n % 2 == 1: raise Odd(n, "odd")
    return 10 // (n - 4)
pub fn main() -> str:
    user: | Hello.
    var found: [str] = []
    for i in 0..<3:
        try:
            assistant: | ${i} ?{x: int in 0..5}
            found = found + [str(ask(x))]
            if x == 5: continue
        except Odd as problem:
            found = found + ["${problem.n} ${problem.why} ${problem.name} ${problem.message}"]
            user: | It was odd.
        except Failure:
            if i == 2: break
            found = found + ["failed"]
    let last = ask(1) else -1
    return found.join(", ") + " ${last}"
""",
    "forks": """\
part told(n: int):
    | part ${n} ?{inner: int in 0..9}
pub fn main() -> str:
    let sum_of = 1
    user: | Go.
    let all_of = fork i in [1, 2, 3] seed i or skip:
        assistant:
            | ${i} ?{value_of: int in 0..9}
            ensure value_of > 3 else "small"
                retry 1 resample
            part told(i)
        yield sum_of + value_of
    if len(all_of) == 0: return "none"
    let best = all_of.max(by = value)
    adopt best
    user: | ${best.value_of} ${best.value} ${sum_of}
    assistant: | ?{several: int in 0..99 n 3 temp 1}
    user: | ${several}
    assistant: | ?{end_of: choose several}
    return "${sorted(several)} ${end_of} ${[b.value for b in all_of if b.value > 4]}"
""",
    "loops": """\
pub fn main() -> [str]:
    var words: [str] = []
    assistant:
        while len(words) < 9 limit 4:
            | ?{word: str matching /[a-z]{1,3}/}
            if word contains "a": continue
            if word in words or word matches /[x-z]+/: break
            words = words + [word.title()]
    return words.sort()
""",
    "dependent": """\
pub fn main(names: [str] = ["Ann", "Bob"], mail: str = "Dear Ann, we met") -> str:
    assistant:
        | ?{who: one of names} said "?{what: span of mail max 9 chars}"
        | and ?{all: [one of names; 1..2]}
    return who + what + all.join("+")
""",
    "names": """\
record item: check: int, class: str max 3 chars
enum list: None, str
fn sum(text: str, c: int) -> int:
    user: | ${text}
    assistant: | ?{sum: int in 0..9}
    return sum + c
pub fn main(run: int = 1) -> str:
    assistant: | ?{show: item} ?{again: list}
    let it_ = sum("x", run)
    return "${show.check + sum("y", it_)} ${again} ${show.class}"
""",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_values_and_messages_of_the_machine(name: str) -> None:
    assert agree(Source("p.sgl", PROGRAMS[name]), seeds=12) > 12


ONE = """\
pub fn main() -> int:
    user: | One.
    assistant: | It is ?{n: int in 1..3}
    return n
"""


def test_a_wrong_answer_is_asked_for_again() -> None:
    text, losses = written(ONE)
    assert losses == []
    module = module_of(text)
    seen = []

    def complete(messages, **options):
        seen.append([dict(each) for each in messages])
        assert options["regex"] == "[1-3]" and options["schema"] is None
        return ["7", "two", "2"][len(seen) - 1]

    assert module.run(module.main, complete=complete) == 2
    assert seen[0] == [{"role": "user", "content": "One."}, {"role": "assistant", "content": "It is "}]
    assert [each["role"] for each in seen[2]] == ["user", "assistant"] * 3
    assert seen[2][3]["content"] == "It is two" and "That is not accepted" in seen[2][4]["content"]
    assert seen[2][-1] == {"role": "assistant", "content": "It is "}
    seen.clear()
    with pytest.raises(module.Rejected):
        module.run("main", complete=complete, attempts=2)


RECORD = """\
record R:
    a: int in 0..9
    b: str max 3 chars
    c?: bool
pub fn main() -> R:
    assistant: | ?{r: R}
    return r
"""


def test_answers_of_records_are_checked_in_all_parts() -> None:
    module = module_of(written(RECORD)[0])
    wrong = ['{"a": 10, "b": ""}', '{"a": 1}', '{"a": 1, "b": "abcd"}', '{"a": true, "b": ""}', "[]", "{",
             '{"a": 1, "a": 2, "b": ""}', '{"a": 1, "b": "", "d": 1}', '{"a": 1.0, "b": ""}']  # fmt: skip
    for answer in wrong:
        with pytest.raises(module.Rejected):
            module.run("main", complete=lambda messages, answer=answer, **_: answer)
    for answer in ('{"b": "x", "a": 1}', '{ "a": 1, "b": "x", "c": null }'):
        found = module.run("main", complete=lambda messages, answer=answer, **_: answer)
        assert found == module.R(1, "x", None)


HOSTILE = """\
record R: pay: decimal in 0..100, x: float
record Tree: kids: [Tree]
fn pay() -> R:
    assistant: | ?{v: R}
    return v
fn tree() -> Tree:
    assistant: | ?{v: Tree max 900 tok}
    return v
fn number() -> float:
    assistant: | ?{v: float}
    return v
fn name() -> str:
    assistant: | ?{v: str max 9 chars}
    return v
"""


def nested(levels: int) -> str:
    """A `Tree` with so many lists and objects inside each other; an even number."""
    return '{"kids": [' * (levels // 2) + "]}" * (levels // 2)


@pytest.mark.parametrize(
    ("name", "answer", "why"),
    [
        ("pay", '{"pay": 1e999999999, "x": 1}', "it has more than 1,000 digits"),
        ("pay", '{"pay": 1e99999999999999999999, "x": 1}', "it has a power that no number has"),
        ("pay", '{"pay": 1, "x": 1e999}', "x: it is no finite number"),
        ("pay", '{"pay": ' + "9" * 1001 + ', "x": 1}', "it has more than 1,000 digits"),
        ("pay", '{"pay": ' + "9" * 1000 + ', "x": 1}', "is more than 100"),
        ("number", "9" * 400, "it is no finite number"),
        ("tree", nested(102), "it has more than 100 levels"),
        ("tree", nested(100_000), "it has more than 100 levels"),
    ],
)
def test_an_answer_beyond_the_limits_of_the_language_is_wrong(name: str, answer: str, why: str) -> None:
    module = module_of(written(HOSTILE)[0])
    with pytest.raises(module.Rejected) as caught:
        module.run(name, complete=lambda messages, **_: answer)
    assert why in caught.value.message


def test_an_answer_within_the_limits_of_the_language_is_right() -> None:
    module = module_of(written(HOSTILE)[0])
    assert module.run("tree", complete=lambda messages, **_: nested(100)).kids
    assert module.run("number", complete=lambda messages, **_: "9" * 300) > 1e299


def test_a_long_wrong_answer_is_shown_in_part() -> None:
    module = module_of(written(HOSTILE)[0])
    for size, whole in ((module.SHOWN, True), (module.SHOWN + 1, False)):
        seen = []

        def complete(messages, seen=seen, size=size, **_):
            seen.append([each["content"] for each in messages])
            return "x" * size

        with pytest.raises(module.Rejected, match="no answer of 3 for"):
            module.run("name", complete=complete)
        assert ("x" * size in seen[1]) == whole and "x" * module.SHOWN + "…" * (not whole) in seen[1]
        assert len(seen) == 3 and max(map(len, seen[2])) < 2 * module.SHOWN


def test_a_wrong_function_of_the_caller_is_told() -> None:
    module = module_of(written(HOSTILE)[0])

    def broken(messages, **_):
        raise ConnectionError("no network")

    with pytest.raises(ConnectionError, match="no network"):
        module.run("name", complete=broken)
    for answer in (None, 3, b"Ann"):
        with pytest.raises(TypeError, match=f"`complete` returned {type(answer).__name__}, not a text"):
            module.run("name", complete=lambda messages, answer=answer, **_: answer)


def test_parameters_with_names_that_run_has_taken() -> None:
    text, _ = written(
        "pub fn main(complete: str, attempts: str, function: str) -> str:\n"
        '    assistant: | ?{x: str max 9 chars}\n    return "${x} ${complete} ${attempts} ${function}"\n'
    )
    module = module_of(text)
    given = {"complete_": "a", "attempts_": "b", "function": "c"}
    assert module.run(module.main, complete=lambda messages, **_: "x", **given) == "x a b c"


SETTINGS = """\
pub fn main(x: str = "a") -> str:
    assistant: | ?{y: str matching /[ab]+/ temp 0.5 top_k 4 max 7 tok until "."}.
    return y
"""


def test_the_provider_is_told_what_the_program_says() -> None:
    module = module_of(written(SETTINGS)[0])
    seen = {}

    def complete(messages, **options):
        seen.update(options)
        return "ab"

    assert module.run("main", complete=complete) == "ab"
    assert seen["max_tokens"] == 7 and seen["stop"][0] == "."
    assert seen["sampling"] == {"temperature": Decimal("0.5"), "top_k": 4}
    with pytest.raises(module.Failure, match="outside of its type"):
        module.run("main", complete=complete, x=3)
    with pytest.raises(TypeError, match="main takes no `z`; it takes x"):
        module.run("main", complete=complete, z="a")
    with pytest.raises(LookupError, match="no function 'nope'; the program has main"):
        module.run("nope", complete=complete)
    with pytest.raises(ValueError, match="attempts=0"):
        module.run("main", complete=complete, attempts=0)


SCORES = """\
fn f() -> float:
    assistant: | ?{m: select ["a", "b"]}
    return m.p("a")
"""
CHOSEN = """\
fn f() -> float:
    assistant: | ?{m: choose ["a", "b"]}
    return m.p("a") + m.p(m)
"""
WEIGHED = """\
fn f() -> (float, int, int):
    assistant: | ?{m: int in 0..9 temp 1.0 decode smc(4)}
    return (m.weight, m.ancestors, m)
"""
TWO = """\
fn f() -> int within 9 tok:
    assistant: | ?{a: int in 0..9} ?{b: int in 0..9}
    return a
"""
GRAMMAR = """\
grammar G:
    start: /[0-9]{1,3}/ " EUR"
fn f() -> G:
    assistant: | ?{a: G}
    return a
"""
BREAK = """\
fn f() -> int:
    assistant:
        for i in 0..<2:
            | ?{a: int in 0..9}
            if a == 1: break
            ensure a > 3
                retry 1 resample
    return 1
"""
LOST = [
    (SCORES, "the scores of options, at hole f.m", True),
    (CHOSEN, "the scores of options, at f", True),
    (TWO, "a budget of several answers, at f", True),
    (GRAMMAR, "a grammar, at G", True),
    (BREAK, "`break` between a hole and a condition that draws it again, at f", False),
]


def test_an_answer_that_is_all_there_is_has_the_figures_of_a_certain_text() -> None:
    module = module_of(written(CHOSEN, allow_wider=True)[0])
    assert module.run("f", complete=lambda messages, **_: "b") == 1.0
    assert module.run("f", complete=lambda messages, **_: "a") == 2.0
    text, losses = written(WEIGHED, allow_wider=True)
    assert {f"python cannot say `.{name}` of a hole, at f" for name in ("weight", "ancestors")} < set(losses)
    module = module_of(text)
    assert module.run("f", complete=lambda messages, **_: "7") == (0.0, 4, 7)


@pytest.mark.parametrize(("program", "loss", "wider"), LOST, ids=[loss for _, loss, _ in LOST])
def test_what_is_lost_is_named(program: str, loss: str, wider: bool) -> None:
    text, losses = written(program)
    assert text == "" and losses == [f"python cannot say {loss}"]
    text, _ = written(program, allow_wider=True)
    assert bool(text) == wider
    assert not wider or f"# Lost: {loss}; instead: " in text


def test_a_module_needs_nothing_but_python() -> None:
    text, _ = write_target(source_of(EXAMPLES / "triage.sgl"), "python")
    for node in ast.walk(ast.parse(text)):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert all(name.partition(".")[0] in sys.stdlib_module_names for name in names), names


def test_a_module_runs_alone(tmp_path: Path) -> None:
    (tmp_path / "written.py").write_text(written(ONE)[0], encoding="utf-8")
    program = "sys.path.append('.'); import written; print(written.run('main', complete=lambda m, **_: '2'))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", f"import sys; {program}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_carried_modules_have_no_name_twice() -> None:
    """They are joined to one, where the later of two functions would silently be both."""
    found = [
        node.name
        for module in MODULES
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    assert len(found) == len(set(found)) > 80


@pytest.mark.slow
def test_mypy_accepts_all_modules(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    programs = {f"example_{path.stem}": source_of(path) for path in sorted(EXAMPLES.glob("*.sgl"))}
    programs |= {f"case_{name}": Source("p.sgl", text) for name, text in PROGRAMS.items()}
    programs |= {f"random_{n}": Source("p.sgl", source_program(Random(n)).text) for n in range(12)}
    for name, source in programs.items():
        text, _ = write_target(source, "python", allow_wider=True)
        assert text or name in ("example_query", "example_agent")
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *(path.name for path in tmp_path.glob("*.py"))],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
