"""Chat templates from anywhere: what takes too much is refused, quickly; real ones still work."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checkout import SUPPORT
from fakes.small_models import CHAT
from sglc.runtime import chat_sandbox
from sglc.runtime.chat import MAX_ROLES, ChatTemplate, TemplateError

MANY = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
ENDS = "{% endfor %}" * 3

AGAIN = "{% for i in range(99) %}"
OFTEN = "{% for a in range(99999) %}"
END = "{% endfor %}"
TEXT = "{% set n = namespace(s='ab') %}" + AGAIN

HOSTILE = {
    "repeated text": "{{ 'a' * 10**10 }}",
    "repeated list": "{{ [0] * 10**9 }}",
    "repeated from the left": "{{ 10**9 * 'a' }}",
    "repeated by a variable": "{% set n = 10**9 %}{{ bos_token * n }}",
    "loops": MANY + "x" + ENDS,
    "loops that write nothing": MANY + ENDS,
    "loops with conditions": OFTEN + "{% for b in range(99999) if b == a - 1 %}{% endfor %}{% endfor %}",
    "a range": "{{ range(10**12) | list }}",
    "a list of ranges": OFTEN + "{{ range(99999) | list | length }}{% endfor %}",
    "parentheses": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "brackets": "{{ " + "[" * 20000 + "]" * 20000 + " }}",
    "a long sum": "{{ " + "1+" * 100_000 + "1 }}",
    "a long chain": "{{ a" + ".a" * 100_000 + " }}",
    "negations": "{{ " + "not " * 50_000 + "1 }}",
    "minus signs": "{{ " + "-" * 50_000 + "1 }}",
    "filters": "{{ 1" + "|string" * 30_000 + " }}",
    "conditions in conditions": "{% if 1 %}" * 5000 + "{% endif %}" * 5000,
    "loops in loops": "{% for a in 'ab' %}" * 60 + "{{ a }}" + "{% endfor %}" * 60,
    "doubling by +": TEXT + "{% set n.s = n.s + n.s %}{% endfor %}",
    "doubling by ~": TEXT + "{% set n.s = n.s ~ n.s %}{% endfor %}",
    "doubling by a format": TEXT + "{% set n.s = '%s%s' % (n.s, n.s) %}{% endfor %}",
    "doubling by a block": TEXT + "{% set s %}{{ n.s }}{{ n.s }}{% endset %}{% set n.s = s %}{% endfor %}",
    "doubling by join": TEXT + "{% set n.s = [n.s, n.s] | join %}{% endfor %}",
    "doubling by replace": TEXT + "{% set n.s = n.s | replace('a', 'aa') | replace('b', 'bb') %}{% endfor %}",
    "lists in lists": "{% set n = namespace(l=[1]) %}" + AGAIN + "{% set n.l = [n.l, n.l] %}{% endfor %}"
    "{{ n.l }}",
    "maps in maps": "{% set n = namespace(l={}) %}" + AGAIN + "{% set n.l = {'a': n.l, 'b': n.l} %}"
    "{% endfor %}{{ n.l | tojson }}",
    "lists that are compared": "{% set n = namespace(a=[1], b=[1]) %}"
    + AGAIN
    + "{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}",
    "lists by dict": "{% set n = namespace(l={}) %}" + AGAIN + "{% set n.l = dict(a=n.l, b=n.l) %}"
    "{% endfor %}{{ n.l }}",
    "a list that grows": "{% set n = namespace(l=[]) %}" + OFTEN + "{% for j in range(99999) %}"
    "{% set n.l = n.l + [i] %}{% endfor %}{% endfor %}",
    "a text that grows": "{% set n = namespace(s='') %}" + OFTEN + "{% for j in range(99999) %}"
    "{% set n.s = n.s ~ 'abcdefghijklmnopqrstuvwxyz' %}{% endfor %}{% endfor %}",
    "a macro in itself": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "macros that double": "".join(
        f"{{% macro f{n}() %}}{{{{ f{n - 1}() }}}}{{{{ f{n - 1}() }}}}{{% endmacro %}}" for n in range(1, 60)
    ).replace("{{ f0() }}", "x" * 100)
    + "{{ f59() }}",
    "a loop in itself": "{% for x in [[1, 2], [3]] recursive %}{{ loop([x, x]) }}{% endfor %}",
    "center": "{{ 'a' | center(10**9) }}",
    "center with a number": "{{ 'a' | center(1000000000) }}",
    "center by map": "{{ ['a'] | map('center', 1000000000) | list }}",
    "center of a text": "{{ 'a'.center(10**9) }}",
    "ljust": "{{ 'a'.ljust(1000000000) }}",
    "ljust of what is marked safe": "{{ ('a' | safe).ljust(1000000000) }}",
    "zfill": "{{ 'a'.zfill(1000000000) }}",
    "tabs": "{{ ('\t' * 1000).expandtabs(1000000000) }}",
    "indentation": "{{ ('a\n' * 100000) | indent(4000) }}",
    "indentation by a text": "{% set w = 'w' * 100000 %}{{ ('a\n' * 100000) | indent(w) }}",
    "JSON that is indented": "{{ range(90000) | list | tojson(indent=4000) }}",
    "width of a format": "{{ '%1000000000d' % 1 }}",
    "width of a format that is given": "{{ '%*d' % (1000000000, 1) }}",
    "precision of a format": "{{ '%.1000000000f' % 1 }}",
    "width of a format by a filter": "{{ '%1000000000d' | format(1) }}",
    "width in braces": "{{ '{:1000000000}'.format(1) }}",
    "width in braces that is given": "{{ '{:{}}'.format(1, 1000000000) }}",
    "a large power": "{{ 9**(9**9) }}",
    "a power step by step": "{% set n = namespace(x=9) %}" + AGAIN + "{% set n.x = n.x * n.x %}{% endfor %}",
    "rounding": "{{ 1.5 | round(1000000000, 'ceil') }}",
    "bytes of a number": "{{ (1).to_bytes(1000000000, 'big') }}",
    "joining": "{% set s = 'a' * 1000000 %}{{ range(90000) | join(s) }}",
    "joining by a text": "{% set s = 'a' * 1000000 %}{{ s.join(['b'] * 90000) }}",
    "joining the same": "{% set s = 'a' * 1000000 %}{{ ([s] * 90000) | join }}",
    "writing the same": "{% set s = 'a' * 1000000 %}{{ [s] * 90000 }}",
    "replacing": "{% set s = 'a' * 1000000 %}{{ s | replace('a', s) }}",
    "replacing nothing": "{% set s = 'a' * 1000000 %}{{ s.replace('', s) }}",
    "batches": "{{ [1] | batch(1000000000, 'x') | list }}",
    "slices": "{{ [1] | slice(1000000000) | list }}",
    "words": "{{ lipsum(1000000) }}",
    "a date": "{{ strftime_now('%1000000000Y') }}",
    "a date many times": "{{ strftime_now('%c' * 1000000) }}",
    "constants written often": OFTEN + "x" * 100_000 + "{% endfor %}",
    "constants in a block": "{% set s %}" + OFTEN + "x" * 100_000 + "{% endfor %}{% endset %}",
    "pieces in a block": "{% set s %}" + OFTEN + "{{ a }}" * 5000 + "{% endfor %}{% endset %}",
    "sums of lists": "{{ ([[1] * 300] * 300) | sum(start=[]) | length }}"
    + OFTEN
    + "{{ ([[1] * 300] * 300) | sum(start=[]) | length }}{% endfor %}",
    "sorting often": "{% set l = range(30000) | list %}" + OFTEN + "{{ (l | sort)[0] }}{% endfor %}",
    "a long reason": "{{ raise_exception('x' * 2000000) }}",
    "a class": "{{ ''.__class__.__mro__ }}{{ messages.__class__() }}",
    "including": "{% include 'x' %}",
}


def met(template: str) -> str:
    """The error that opening a user's message leads to; empty if there is none."""
    whole = template + "{% for m in messages %}[{{ m.content }}]{% endfor %}"
    chat = ChatTemplate(whole, {}, {"bos_token": "b"})
    try:
        chat.pieces(("user",))
    except TemplateError as error:
        return str(error)
    return ""


FOLDERS = [str(Path(__file__).parent), str(SUPPORT)]
"""Where a process that a test starts finds this file and what it uses."""
MEMORY = """
import resource, sys
sys.path[:0] = {folders!r}
resource.setrlimit(resource.RLIMIT_DATA, (1 << 31, 1 << 31))
from hostile.peak_memory import peak_bytes
from test_chat_limits import HOSTILE, met
import time
for name in HOSTILE:
    began = time.process_time()
    told = met(HOSTILE[name])
    print(f"{{name}}\\t{{time.process_time() - began:.2f}}\\t{{told[:300]!r}}", flush=True)
print(peak_bytes(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs limits of a process")
def test_hostile_templates_are_refused_at_once_and_in_little_memory() -> None:
    code = MEMORY.format(folders=FOLDERS)
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-500:]
    *rows, peak = done.stdout.splitlines()
    ended = {name: (float(seconds), told) for name, seconds, told in (row.split("\t") for row in rows)}
    assert list(ended) == list(HOSTILE)
    answered = {name for name, (_, told) in ended.items() if told == "''"}
    assert not answered, answered
    unclear = {name: told for name, (_, told) in ended.items() if "chat template" not in told}
    assert not unclear
    slow = {name: seconds for name, (seconds, _) in ended.items() if seconds > 3 * chat_sandbox.MOST_SECONDS}
    assert not slow
    assert int(peak) < 1 << 30
    assert sum(seconds for seconds, _ in ended.values()) < 120


@pytest.mark.slow
def test_the_message_names_the_template_and_what_it_does() -> None:
    told = met("{{ 'a' * 10**10 }}")
    assert told.startswith("the model's chat template is refused: it makes a text of more than")
    assert "takes more than" in met(HOSTILE["loops that write nothing"])
    assert "width" in met(HOSTILE["center"])


@pytest.mark.slow
def test_a_template_that_spent_too_much_is_not_asked_again() -> None:
    chat = ChatTemplate(HOSTILE["loops"], {})
    with pytest.raises(TemplateError):
        chat.pieces(("user",))
    began = time.process_time()
    for _ in range(50):
        with pytest.raises(TemplateError, match="is refused"):
            chat.pieces(("system", "user"))
    assert chat.roles == frozenset()
    assert time.process_time() - began < 0.5


def test_the_clock_stops_what_counting_would_let_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_sandbox, "MOST_SECONDS", 0.0)
    assert "takes longer than" in met("{% for a in range(99999) %}{% endfor %}")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'ab' * 3", "ababab"),
        ("[1, 2] + [3]", "[1, 2, 3]"),
        ("2 ** 10", "1024"),
        ("7 // 2", "3"),
        ("'a' ~ 1 ~ none", "a1None"),
        ("'%s-%03d' % ('a', 7)", "a-007"),
        ("'{}{:>3}'.format('a', 1)", "a  1"),
        ("' a '.strip() + 'b'.upper()", "aB"),
        ("[3, 1] | sort | join(', ')", "1, 3"),
        ("{'b': 1} | tojson", '{"b": 1}'),
        ("{'b': [1]} | tojson(indent=2)", '{\n  "b": [\n    1\n  ]\n}'),
        ("messages | map(attribute='role') | list", "['user']"),
        ("'a' in ['a', 'b']", "True"),
        ("messages | selectattr('role', 'equalto', 'user') | list | length", "1"),
        ("'x' | center(5)", "  x  "),
        ("'a\nb' | indent(2)", "a\n  b"),
        ("'aXb' | replace('X', '--')", "a--b"),
        ("range(3) | list", "[0, 1, 2]"),
        ("(1, 2)[::-1]", "(2, 1)"),
        ("{'a': 1}.items() | list", "[('a', 1)]"),
        ("'a,b'.split(',')", "['a', 'b']"),
        ("none | default('x', true)", "x"),
        ("missing | default('y')", "y"),
        ("{'a': 1}.get('b', 'c')", "c"),
        ("'a<b' | e", "a&lt;b"),
        ("[1, 2, 3] | batch(2) | list", "[[1, 2], [3]]"),
        ("dict(a=1)", "{'a': 1}"),
        ("'abc' | length", "3"),
        ("'abc' | first", "a"),
        ("range(5) | last", "4"),
        ("'1.5' | float | round | int", "2"),
        ("'ab' | list | reverse | join", "ba"),
        ("[[1, 2]] | sum(start=[])", "[1, 2]"),
    ],
)
def test_what_templates_do_still_works(expression: str, text: str) -> None:
    chat = ChatTemplate("{{ " + expression + " }}|{% for m in messages %}{{ m.content }}{% endfor %}", {})
    assert chat.pieces(("user",)) == (text + "|",)


def test_loops_keep_their_variables() -> None:
    source = (
        "{% for m in messages %}{{ loop.index }}/{{ loop.length }}{{ loop.last }}{{ loop.cycle('a', 'b') }}"
        "{{ loop.previtem.role if loop.previtem is defined }}[{{ m.content }}]"
        "{% if loop.index0 == 5 %}{% break %}{% endif %}{% else %}none{% endfor %}"
        "{% macro f(x, y=2) %}<{{ x }}{{ y }}{{ caller() if caller }}>{% endmacro %}{{ f(1) }}"
        "{% call f(3, y=4) %}in{% endcall %}{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% endfor %}"
        "{% for x in [[1, [2]]] recursive %}{{ x if x is number else loop(x) }}{% endfor %}"
        "{% filter upper %}ab{% endfilter %}{% set x %}c{% endset %}{{ x }}"
        "{% generation %}g{% endgeneration %}"
    )
    chat = ChatTemplate(source, {})
    assert chat.pieces(("user",)) == ("1/1Truea[",)
    assert chat.closing(("user",)) == ("]<12><34in>a112ABcg",)


@pytest.mark.slow
def test_a_long_conversation_takes_time_in_proportion_to_its_square() -> None:
    """Every message renders the conversation once; nothing in it is looked at more often than that."""
    chat = ChatTemplate(CHAT, {})
    roles: tuple[str, ...] = ()
    began = time.process_time()
    for number in range(600):
        roles = (*roles, "user" if number % 2 == 0 else "assistant")
        chat.pieces(roles)
    assert time.process_time() - began < 20
    assert len(chat._gaps) <= 256 and len(chat._opened) <= 256
    other = ChatTemplate(CHAT, {})
    assert other.pieces(roles) == chat.pieces(roles)
    assert MAX_ROLES >= 600


def random_template(dice: random.Random) -> str:
    """Parts of templates in any order: loops, growth, calls."""
    values = [
        "n.s",
        "n.l",
        "'ab'",
        "i",
        "messages",
        "range(99999)",
        "10**9",
        "{'a': n.l}",
        "[n.l, n.s]",
        "n.s[::-1]",
    ]
    filters = sorted(chat_sandbox.BoundedEnvironment().filters)
    filters = [name for name in filters if " " not in name]
    lines = ["{% set n = namespace(s='ab', l=[1]) %}"]
    opened = 0
    for _ in range(dice.randint(2, 14)):
        one, two = dice.choice(values), dice.choice(values)
        sign = dice.choice(["+", "*", "~", "%", "**"])
        match dice.randrange(6):
            case 0:
                lines.append(f"{{% for i in {one} %}}")
                opened += 1
            case 1:
                lines.append(f"{{% set n.{dice.choice('sl')} = {one} {sign} {two} %}}")
            case 2:
                lines.append(f"{{{{ {one} | {dice.choice(filters)} }}}}")
            case 3:
                lines.append(f"{{% set n.l = {one} | {dice.choice(filters)}({two}) %}}")
            case 4:
                name = dice.choice(sorted(chat_sandbox._TEXT_METHODS))
                lines.append(f"{{% set n.s = n.s.{name}({two}) %}}")
            case 5:
                lines.append(f"{{{{ {one} == {two} }}}}{{{{ {one} in {two} }}}}")
    return "".join(lines) + "{% endfor %}" * opened


RANDOM = """
import random, resource, sys
sys.path[:0] = {folders!r}
resource.setrlimit(resource.RLIMIT_DATA, (1 << 31, 1 << 31))
from hostile.peak_memory import peak_bytes
from test_chat_limits import met, random_template
import time
slowest = 0.0
for seed in range({count}):
    template = random_template(random.Random(seed))
    print(seed, template, file=sys.stderr, flush=True)
    began = time.process_time()
    told = met(template)
    assert not told or "chat template" in told, told
    slowest = max(slowest, time.process_time() - began)
print(slowest, peak_bytes())
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs limits of a process")
def test_templates_at_random_stay_within_limits() -> None:
    count = max(30, int(os.environ.get("SGLC_TEST_EXAMPLES", "0")) // 5)
    code = RANDOM.format(folders=FOLDERS, count=count)
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-3000:]
    slowest, peak = done.stdout.split()
    assert float(slowest) < 3 * chat_sandbox.MOST_SECONDS and int(peak) < 1 << 30
