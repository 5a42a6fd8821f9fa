"""What is proved of conditions, types and matches, against trying every value.

Random functions over small types are run by an interpreter of their own on all arguments. A condition that is
said to have one answer must have had it whenever it was asked; a type that is said to be empty must have no
value among all short texts; a match must miss exactly what no case names.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import pytest

from example_budget import examples
from sglc.check.program import check
from sglc.library import Library
from sglc.source import Source

COUNT = examples(150)
"""Small types of each test. SGLC_TEST_EXAMPLES=20000 takes some twenty minutes for all of them."""
TOGETHER = 25
"""Functions, or types, of one program."""

MEMBERS = ("red", "green", "blue")
HEADER = f"enum Colour: {', '.join(MEMBERS)}\n\nerror Wrong\n\n"


def findings(text: str) -> list:
    return check(Source("program.sgl", text), Library())[1]


# -- conditions ------------------------------------------------------------------------------------


@dataclass
class Variable:
    name: str
    type: str
    kind: str
    values: list


def variable(rng: random.Random, name: str) -> Variable:
    kind = rng.choice(("int", "int", "int?", "text", "pattern", "colour", "bool", "list"))
    low = rng.randint(-3, 4)
    high = low + rng.randint(0, 6)
    numbers = list(range(low, high + 1))
    match kind:
        case "int":
            step = rng.choice((1, 1, 2, 3))
            kept = [number for number in numbers if number % step == 0]
            if step > 1 and kept:
                return Variable(name, f"int in {low}..{high} multiple of {step}", "int", kept)
            return Variable(name, f"int in {low}..{high}", "int", numbers)
        case "int?":
            return Variable(name, f"(int in {low}..{high})?", "int?", [*numbers, None])
        case "text":
            words = rng.sample(["a", "ab", "abc", "b", ""], rng.randint(2, 4))
            return Variable(name, " | ".join(f'"{word}"' for word in words), "text", words)
        case "pattern":
            least, most = rng.randint(0, 2), rng.randint(2, 3)
            words = ["".join(w) for n in range(least, most + 1) for w in product("ab", repeat=n)]
            return Variable(name, f"str matching /[ab]*/ min {least} chars max {most} chars", "text", words)
        case "colour":
            return Variable(name, "Colour", "colour", list(MEMBERS))
        case "bool":
            return Variable(name, "bool", "bool", [False, True])
    least = rng.randint(0, 2)
    most = least + rng.randint(0, 2)
    lists = [list(w) for n in range(least, most + 1) for w in product((0, 1), repeat=n)]
    return Variable(name, f"[int in 0..1; {least}..{most}]", "list", lists)


Asked = tuple[str, Callable[[dict], bool]]
"""A condition as text, and what it is."""

COMPARE: dict[str, Callable] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def number(rng: random.Random, variables: list[Variable]) -> tuple[str, Callable[[dict], int]]:
    """A number: a constant, a variable, a length, or arithmetic."""
    ints = [v.name for v in variables if v.kind == "int"]
    sized = [v.name for v in variables if v.kind in ("text", "list")]
    how = rng.random()
    if how < 0.3 and ints:
        name = rng.choice(ints)
        return name, lambda env: env[name]
    if how < 0.5 and sized:
        name = rng.choice(sized)
        return f"len({name})", lambda env: len(env[name])
    if how < 0.7 and ints:
        name, by, sign = rng.choice(ints), rng.randint(1, 4), rng.choice(("+", "-", "*", "%"))
        act = {"+": lambda a: a + by, "-": lambda a: a - by, "*": lambda a: a * by, "%": lambda a: a % by}[
            sign
        ]
        return f"({name} {sign} {by})", lambda env: act(env[name])
    constant = rng.randint(-4, 11)
    return str(constant), lambda env: constant


def atom(rng: random.Random, variables: list[Variable]) -> Asked:
    one = rng.choice(variables)
    name = one.name
    if one.kind == "bool":
        return name, lambda env: env[name]
    if one.kind == "colour":
        member, sign = rng.choice(MEMBERS), rng.choice(("==", "!="))
        return f"{name} {sign} {member}", lambda env: COMPARE[sign](env[name], member)
    if one.kind == "int?" and rng.random() < 0.5:
        sign, against = rng.choice(("==", "!=")), rng.randint(-4, 11)
        text = rng.choice(("null", str(against)))
        value = None if text == "null" else against
        return f"{name} {sign} {text}", lambda env: COMPARE[sign](env[name], value)
    if one.kind == "int?":
        sign, against = rng.choice(("<", ">=")), rng.randint(-4, 11)
        text = f"{name} != null and {name} {sign} {against}"
        return f"({text})", lambda env: env[name] is not None and COMPARE[sign](env[name], against)
    if one.kind == "text" and rng.random() < 0.5:
        sign, word = rng.choice(("==", "!=")), rng.choice(["a", "ab", "abc", "b", "aaaa", "c"])
        if word in one.values:
            return f'{name} {sign} "{word}"', lambda env: COMPARE[sign](env[name], word)
    if one.kind == "int" and rng.random() < 0.4:
        low = rng.randint(-4, 6)
        high = low + rng.randint(0, 6)
        if rng.random() < 0.5:
            dots, last = rng.choice((("..", high), ("..<", high - 1)))
            inside = rng.choice((True, False))
            text = f"{name} {'in' if inside else 'not in'} {low}{dots}{high}"
            return text, lambda env: (low <= env[name] <= last) is inside
        values = rng.sample(range(-4, 9), rng.randint(1, 4))
        return f"{name} in {values}", lambda env: env[name] in values
    (left, a), (right, b) = number(rng, variables), number(rng, variables)
    sign = rng.choice(tuple(COMPARE))
    return f"{left} {sign} {right}", lambda env: COMPARE[sign](a(env), b(env))


def condition(rng: random.Random, variables: list[Variable], depth: int = 2) -> Asked:
    how = rng.random()
    if depth == 0 or how < 0.6:
        return atom(rng, variables)
    text, holds = condition(rng, variables, depth - 1)
    if how < 0.7:
        return f"not ({text})", lambda env: not holds(env)
    other_text, other = condition(rng, variables, depth - 1)
    if how < 0.85:
        return f"({text}) and ({other_text})", lambda env: holds(env) and other(env)
    return f"({text}) or ({other_text})", lambda env: holds(env) or other(env)


class Left(Exception):
    """The function has returned."""


@dataclass
class Function:
    """The lines of a function, what running it does, and the answers of the condition on each line."""

    lines: list[str]
    asked: dict[int, Callable[[dict], bool]] = field(default_factory=dict)
    answers: dict[int, set[bool]] = field(default_factory=dict)

    def ask(self, indent: str, before: str, asked: Asked, after: str) -> Callable[[dict], bool]:
        self.lines.append(f"{indent}{before} {asked[0]}{after}")
        line = len(self.lines)
        answers = self.answers.setdefault(line, set())

        def answer(env: dict) -> bool:
            found = asked[1](env)
            answers.add(found)
            return found

        return answer


def body(
    rng: random.Random, function: Function, variables: list[Variable], depth: int
) -> Callable[[dict], None]:
    """Random statements behind the lines so far; what they do."""
    indent = "    " * (3 - depth)
    steps: list[Callable[[dict], None]] = []
    changing = [v.name for v in variables if v.name.startswith("w_")]
    for _ in range(rng.randint(1, 3)):
        how = rng.random()
        if how < 0.2:
            holds = function.ask(indent, "ensure", condition(rng, variables), " else raise Wrong")

            def ensure(env: dict, holds=holds) -> None:
                if not holds(env):
                    raise Left

            steps.append(ensure)
        elif how < 0.4 and changing:
            name = rng.choice(changing)
            by = rng.randint(1, 3)
            function.lines.append(f"{indent}{name} = {name} + {by}")
            steps.append(lambda env, key=name, by=by: env.__setitem__(key, env[key] + by))
        elif how < 0.55 and depth and changing:
            name = rng.choice(changing)
            bound = rng.randint(-2, 9)
            asked = (f"{name} < {bound}", lambda env, key=name, bound=bound: env[key] < bound)
            holds = function.ask(indent, "while", asked, " limit 30:")
            inner = body(rng, function, variables, depth - 1)
            function.lines.append(f"{indent}    {name} = {name} + 2")

            def loop(env: dict, holds=holds, inner=inner, key=name) -> None:
                while holds(env):
                    inner(env)
                    env[key] += 2

            steps.append(loop)
        elif depth:
            steps.append(branches(rng, function, variables, depth, indent))
        else:
            holds = function.ask(indent, "if", condition(rng, variables), ": return 0")

            def leave(env: dict, holds=holds) -> None:
                if holds(env):
                    raise Left

            steps.append(leave)

    def run(env: dict) -> None:
        for step in steps:
            step(env)

    return run


def branches(
    rng: random.Random, function: Function, variables: list[Variable], depth: int, indent: str
) -> Callable[[dict], None]:
    arms = []
    for place in range(rng.randint(1, 3)):
        holds = function.ask(indent, "elif" if place else "if", condition(rng, variables), ":")
        inner = body(rng, function, variables, depth - 1)
        leaves = rng.random() < 0.3
        if leaves:
            function.lines.append(f"{indent}    return 1")
        arms.append((holds, inner, leaves))

    def run(env: dict) -> None:
        for holds, inner, leaves in arms:
            if holds(env):
                inner(env)
                if leaves:
                    raise Left
                return

    return run


def function(rng: random.Random, name: str, start: int) -> tuple[Function, list[Variable], Callable]:
    variables = [variable(rng, f"{letter}{name[1:]}") for letter in "xyz"[: rng.randint(1, 3)]]
    made = Function([""] * start)
    parameters = ", ".join(f"{v.name}: {v.type}" for v in variables)
    made.lines.append(f"pub pure fn {name}({parameters}) -> int raises Wrong:")
    ints = [v for v in variables if v.kind == "int"]
    for v in ints:
        made.lines.append(f"    var w_{v.name} = {v.name}")
    changing = [Variable(f"w_{v.name}", "int", "int", []) for v in ints]
    run = body(rng, made, [*variables, *changing], 2)
    made.lines += ["    return 2", ""]
    return made, variables, run


@pytest.mark.slow
def test_conditions_that_have_one_answer_have_it_for_all_values():
    told = {True: 0, False: 0, "fails": 0}
    asked = 0
    for first in range(0, COUNT, TOGETHER):
        lines = HEADER.split("\n")[:-1]
        made = []
        for at in range(first, min(COUNT, first + TOGETHER)):
            rng = random.Random(f"conditions {at}")
            one, variables, run = function(rng, f"f{at}", len(lines))
            lines += one.lines[len(lines) :]
            made.append(one)
            for values in product(*(v.values for v in variables)):
                env = dict(zip((v.name for v in variables), values, strict=True))
                env |= {f"w_{name}": value for name, value in env.items()}
                try:
                    run(env)
                except Left:
                    pass
        answers = {line: known for one in made for line, known in one.answers.items()}
        asked += len(answers)
        source = Source("program.sgl", "\n".join(lines) + "\n")
        for diagnostic in check(source, Library())[1]:
            assert diagnostic.code.startswith("W") or diagnostic.code == "E0322", (diagnostic, lines)
            if diagnostic.code not in ("W0240", "W0209"):
                continue
            line = source.position(diagnostic.span.start)[0]
            said = "true" in diagnostic.label
            assert answers[line] <= {said}, (first, lines[line - 1], diagnostic.message, diagnostic.reason)
            told["fails" if diagnostic.code == "W0209" else said] += 1
    assert all(count > COUNT // 20 for count in told.values()), told
    assert sum(told.values()) < asked


# -- types without values --------------------------------------------------------------------------

ALPHABET = "ab0"
TEXTS = ["".join(word) for size in range(5) for word in product(ALPHABET, repeat=size)]
PATTERNS = ("[ab]{1,3}", "a?b?0?", "0{2,3}", "(ab|b0)", "[b0]?[ab]", "a[ab0]{0,2}b", "[a0]{0,2}", "b")


def text_type(rng: random.Random) -> tuple[str, list[tuple[str, Callable[[str], bool]]]]:
    """A text type as it is written, with its refinements and what they admit. All its texts are in TEXTS."""
    pattern = rng.choice(PATTERNS)
    parts = [(f"matching /{pattern}/", re.compile(pattern).fullmatch)]
    if rng.random() < 0.5:
        second = rng.choice(PATTERNS)
        parts.append((f"matching /{second}/", re.compile(second).fullmatch))
    if rng.random() < 0.4:
        least = rng.randint(1, 4)
        parts.append((f"min {least} chars", lambda text: len(text) >= least))
    if rng.random() < 0.4:
        most = rng.randint(0, 3)
        parts.append((f"max {most} chars", lambda text: len(text) <= most))
    if rng.random() < 0.4:
        word = rng.choice(("a", "b", "ab", "0"))
        parts.append((f'not containing "{word}"', lambda text: word not in text))
    return "str " + " ".join(words for words, _ in parts), [(w, lambda t, f=f: bool(f(t))) for w, f in parts]


@pytest.mark.slow
def test_types_without_values_are_those_that_no_text_fits():
    empty = conflicts = 0
    for first in range(0, COUNT, TOGETHER):
        rng = random.Random(f"types {first}")
        made = [text_type(rng) for _ in range(min(TOGETHER, COUNT - first))]
        lines = [f"pub type t{place} = {text}" for place, (text, _) in enumerate(made)]
        told = {d.span.source.position(d.span.start)[0]: d for d in findings("\n".join(lines) + "\n")}
        for place, (_, parts) in enumerate(made, 1):
            found = told.get(place)
            texts = [text for text in TEXTS if all(fits(text) for _, fits in parts)]
            contradictory = found is not None and found.code in ("E0303", "E0304")
            assert contradictory == (not texts), (lines[place - 1], found, texts[:3])
            empty += contradictory
            pair = None if found is None else re.match("`(.*)` and `(.*)` have no text", found.reason)
            if pair is not None:
                conflicts += 1
                one, other = (dict(parts)[words] for words in pair.groups())
                assert not any(one(text) and other(text) for text in TEXTS), found.reason
                if found.witness:
                    assert one(found.witness[1:-1]) and not other(found.witness[1:-1])
    assert COUNT // 8 < empty < COUNT
    assert conflicts > COUNT // 20


@pytest.mark.slow
def test_conditions_on_numbers_that_leave_nothing_are_told_with_what_they_contradict():
    empty = 0
    for first in range(0, COUNT, TOGETHER):
        rng = random.Random(f"numbers {first}")
        lines, wanted = [], []
        for place in range(min(TOGETHER, COUNT - first)):
            low = rng.randint(-5, 5)
            high = low + rng.randint(0, 8)
            signs = [rng.choice(("<", "<=", ">", ">=")) for _ in range(rng.randint(1, 2))]
            bounds = [rng.randint(-6, 14) for _ in signs]
            asked = " and ".join(f"it {sign} {bound}" for sign, bound in zip(signs, bounds, strict=True))
            lines.append(f"pub type t{place} = int in {low}..{high} where {asked}")
            wanted.append(
                any(
                    all(COMPARE[sign](n, bound) for sign, bound in zip(signs, bounds, strict=True))
                    for n in range(low, high + 1)
                )
            )
        told = {d.span.source.position(d.span.start)[0]: d for d in findings("\n".join(lines) + "\n")}
        for place, some in enumerate(wanted, 1):
            found = told.get(place)
            assert (found is None) == some, (lines[place - 1], found)
            if found is not None:
                empty += 1
                assert found.code == "E0303"
                assert len(found.secondary) == 1
    assert COUNT // 8 < empty < COUNT


# -- matches ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_matches_over_finite_texts_miss_what_no_case_names():
    missed = whole = 0
    for first in range(0, COUNT, TOGETHER):
        rng = random.Random(f"matches {first}")
        lines: list[str] = []
        made = []
        while len(made) < min(TOGETHER, COUNT - first):
            text, parts = text_type(rng)
            texts = [word for word in TEXTS if all(fits(word) for _, fits in parts)]
            if not texts:
                continue
            named = [word for word in texts if rng.random() < 0.9] or texts[:1]
            rng.shuffle(named)
            made.append((len(lines) + 2, set(texts) - set(named)))
            lines += [f"pub pure fn f{len(made)}(x: {text}) -> int:", "    match x:"]
            lines += [f'        case "{word}": return 1' for word in named]
        told = {d.span.source.position(d.span.start)[0]: d for d in findings("\n".join(lines) + "\n")}
        for line, left in made:
            found = told.pop(line, None)
            assert (found is None) == (not left), (lines[line - 2], found, left)
            if found is not None:
                assert found.code == "E0338"
                assert found.witness[1:-1] in left
                assert len(found.witness) - 2 == min(map(len, left))
            missed, whole = missed + bool(left), whole + (not left)
        assert not told
    assert missed > COUNT // 10 < whole


# -- thresholds and single cases -------------------------------------------------------------------


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in findings(text)]


@pytest.mark.parametrize(("texts", "told"), [(100, []), (101, ["E0338"])])
def test_finite_texts_are_listed_up_to_a_bound(texts, told):
    words = [f"w{number:03}" for number in range(texts)]
    cases = "\n".join(f'        case "{word}": return 1' for word in words)
    pattern = "|".join(words)
    assert codes(f"pub pure fn f(x: str matching /{pattern}/) -> int:\n    match x:\n{cases}\n") == told


@pytest.mark.parametrize(("longest", "told"), [("abc", []), ("abcd", ["W0206"])])
@pytest.mark.parametrize("by", ["sum", "mean"])
def test_options_of_different_lengths(longest, told, by):
    text = f'pub fn f() -> str:\n    | ?{{x: select ["a", "{longest}"] by {by}}}\n    return x.top\n'
    assert codes(text) == told


@pytest.mark.parametrize(("size", "told"), [(29, []), (30, ["W0243"])])
def test_a_reason_is_a_text_that_can_hold_one(size, told):
    fields = f"    score: int in 1..5\n    reason: str max {size} chars\n"
    assert codes(f"record Mark:\n{fields}\n{ORDERED[ORDERED.index('pub fn') :]}") == told


@pytest.mark.parametrize(("within", "told"), [(29, ["W0245"]), (30, [])])
def test_a_budget_holds_the_longest_values(within, told):
    holes = "?{a: str max 15 tok} and ?{b: str max 15 tok}"
    assert codes(f"pub fn f() -> str within {within} tok:\n    | {holes}\n    return a + b\n") == told


@pytest.mark.parametrize(("terms", "told"), [(29, ["W0240"]), (40, [])])
def test_long_conditions_are_not_judged(terms, told):
    condition = " or ".join(f"n == {number + 10}" for number in range(terms))
    assert (
        codes(f"pub pure fn f(n: int in 0..9) -> int:\n    if {condition}: return 1\n    return n\n") == told
    )


LOOPS = """\
pub pure fn f(n: int in 0..9, x: int?) -> int:
    var m = n
    var y = x
    ensure m < 5
    while m < 5 limit 9:
        if m < 5: m = m + 3
        if m > 6: return m
    if y != null:
        while y != null limit 3:
            y = null
    return m
"""


def test_a_call_without_arguments_is_compared_like_any_value():
    called = "pub pure fn g() -> int in 0..9:\n    return 1\n\n"
    assert codes(f"{called}pub pure fn f() -> int:\n    if g() < 10: return 1\n    return 2\n") == ["W0240"]


def test_what_a_loop_assigns_to_is_not_known_in_its_next_round():
    assert findings(LOOPS) == []


FIELDS = """\
record Crew:
    age: int in 0..99
    name: str min 2 chars

pub pure fn f(one: Crew) -> int:
    var crew = one
    ensure crew.age > 50
    if crew.age > 40: return 1
    crew.age = 3
    if crew.age > 40: return 2
    if len(crew.name) < 2: return 3
    crew = one
    if crew.age > 40: return 4
    return 5
"""


def test_fields_are_followed_until_they_are_assigned_to():
    assert [(d.code, d.span.text) for d in findings(FIELDS)] == [
        ("W0240", "crew.age > 40"),
        ("W0240", "len(crew.name) < 2"),
    ]


ORDERED = """\
record Mark:
    ## how good it is
    score: int in 1..5
    ## and why
    reason: str max 90 chars  # free text

pub fn f() -> Mark:
    | ${schema(Mark)} ?{mark: Mark}
    return mark
"""


def test_the_offered_order_of_fields_is_sound():
    (found,) = findings(ORDERED)
    text = ORDERED
    for edit in sorted(found.offered, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert text.split("\n")[1:5] == [ORDERED.split("\n")[line] for line in (3, 4, 1, 2)]
    assert findings(text) == []


@pytest.mark.parametrize("use", ["Mark(1, reason)", "Mark(score = 1, reason = reason)"])
def test_no_order_is_offered_where_values_are_made(use):
    made = f"\npub pure fn g(reason: str max 90 chars) -> Mark:\n    return {use}\n"
    (found,) = findings(ORDERED + made)
    assert found.code == "W0243"
    assert not found.offered


def test_one_fault_in_types_is_told_once():
    declared = "record A:\n    b: str matching /a/ min 2 chars\n\n"
    text = f"{declared}pub fn f() -> [A; ..2]:\n    | ?{{x: [A; ..2]}}\n    return x\n"
    assert [code for code in codes(text) if code.startswith("E")] == ["E0303"]


def test_calls_without_arguments_are_judged_by_their_type_alone():
    small = "pure fn small() -> int in 0..3:\n    return 2\n\n"
    for condition, told in (
        ("small() > 5", ["W0240"]),
        ("small() > 2", []),
        ("n > 0 and len() > 0", ["E0328"]),
        ("len(xs = [n]) > 0", ["E0328"]),
    ):
        asked = f"    if {condition}: return 1\n"
        assert codes(f"{small}pub pure fn f(n: int) -> int:\n{asked}    return n + small()\n") == told
    fails = '    ensure small() > 7 else "large"\n'
    assert codes(f"{small}pub pure fn f(n: int) -> int:\n{fails}    return n\n") == ["W0209"]
