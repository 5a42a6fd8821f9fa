"""Slips in statements: what a conversation forgets or thinks, what runs side by side, policies and tests."""

from __future__ import annotations

import re

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import Line, Mistake, line_extent
from sglc.syntax.errors.core.reporter import Replacements

_PARALLEL = ("parallel", "concurrently", "concurrent", "gather", "spawn")
_COUNTED = re.compile(r"fuzz[ ]+(\d+)(?:[ ]+times)?[ ]+([^:\n]+?)[ ]*(?=:)")


def statement_mistake(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """Whether it is one of the slips of statements."""
    if module_level:
        return None
    for rule in (_forget, _aside, _think, _par, _client, _policy, _mock, _recorded, _fuzz, _raises, _lambda):
        found = rule(run, line)
        if found is not None:
            return found
    return None


def _second(line: Line, *words: str) -> bool:
    """Whether the line begins with one of the words, and its second token is the one that does not fit."""
    return line.word in words and line.index == line.first + 1


# -- conversations ---------------------------------------------------------------------------------


def _forget(run: Run, line: Line) -> Mistake | None:
    """`forget x`."""
    if not _second(line, "forget") or line.kind not in ("NAME", "STRING", "NUMBER", "_NEWLINE", "ROLE"):
        return None
    return Mistake(
        "E0146",
        "`forget` begins a block: what is written in it leaves the conversation again",
        line.starts(line.first),
        line.ends(line.first),
        label="`:` is due behind it",
        hint="write `forget:`, and what is to be forgotten in the lines below",
    )


def _aside(run: Run, line: Line) -> Mistake | None:
    """`aside:` as a block."""
    if not _second(line, "aside") or line.token not in (":", "_NEWLINE"):
        return None
    return Mistake(
        "E0146",
        "an aside is a call",
        line.starts(line.first),
        line.ends(line.first),
        label="no block",
        hint="declare `aside note() -> T:` at the left margin and write `let x = aside note()`; "
        "without a value of its own, write `forget:`",
        covers=line_extent(line.text, line.start, line.end),
    )


def _think(run: Run, line: Line) -> Mistake | None:
    """`think:`, `think 64 tok`, `think("…")`."""
    if not _second(line, "think") or (line.token not in (":", "(") and line.kind not in ("NUMBER", "STRING")):
        return None
    number = line.at(line.index + (line.token == "("))
    made = f"think max {number} tok" if number.isdigit() else "think max 200 tok"
    clear = line.kind == "NUMBER"
    unit = line.index + (line.at(line.index + 1) in ("tok", "tokens", "token"))
    return Mistake(
        "E0146",
        "`think` is a line of its own: the model writes its thoughts there",
        line.starts(line.first),
        line.end if clear else line.ends(line.first),
        label="begins no block" if line.token == ":" else "its bound is `max n tok`",
        hint=f"write `{made}`",
        edits=((line.starts(line.first), line.ends(unit), made),) if clear else (),
    )


def _par(run: Run, line: Line) -> Mistake | None:
    """`par for x in xs:`, `parallel:`."""
    start, end = line.starts(line.first), line.ends(line.first)
    if line.word in ("par", "parallel") and line.at(line.first + 1) == "for":
        return Mistake(
            "E0113",
            "calls of a loop run at the same time where they stand in a comprehension",
            start,
            line.ends(line.first + 1),
            label="a `for` runs its rounds in their turn",
            hint="write `let all = [f(x) for x in xs]`",
        )
    if _second(line, *_PARALLEL) and line.token == ":":
        return Mistake(
            "E0113",
            "`par` runs statements side by side",
            start,
            end,
            label="from another language",
            hint="write `par:`",
            edits=((start, end, "par"),),
        )
    return None


def _client(run: Run, line: Line) -> Mistake | None:
    """`client "openai/gpt-4"`, `model "big"`."""
    if not _second(line, "client", "model", "provider") or line.kind != "STRING":
        return None
    return Mistake(
        "E0113",
        "a model is given from outside: by `sgl.toml`, or by `--model`",
        *line.written,
        label="from another language",
        hint="leave the line out; where a function needs another model than the run's, write `using big:`",
    )


# -- policies --------------------------------------------------------------------------------------


def _policy(run: Run, line: Line) -> Mistake | None:
    """`retry 3`, `retry resample`, and a `retry` that stands under no condition."""
    if line.word != "retry":
        return None
    start, end = line.written
    if not line.tokens.kinds[line.last - 1] == ":" and line.kind == "_NEWLINE":
        written = line.text[start:end]
        word = line.at(line.last - 1)
        strategy = word if word in ("resample", "repair") else ""
        ways = f"write `{written} resample` to draw again, `{written} repair` to show what was wrong"
        return Mistake(
            "E0146",
            "a policy says how often and how",
            start,
            end,
            label="how often?" if strategy else "how?",
            hint=f"write `retry 2 {strategy}`" if strategy else ways,
            edits=((start, end, f"retry 2 {strategy}"),) if strategy else (),
        )
    if run.could_take("retry"):
        return None
    return Mistake(
        "E0146",
        "`retry` stands under the condition that it is for",
        start,
        line.ends(line.first),
        label="under no `ensure`",
        hint='write `ensure condition else "why"` behind the hole, and `retry 2 resample` below it, indented',
    )


# -- tests -----------------------------------------------------------------------------------------


def _mock(run: Run, line: Line) -> Mistake | None:
    """`mock f.x returns 3`, `mock f.x: 3`, `mock f(1) = 3`."""
    if line.word != "mock" or line.index < line.first + 2 or not run.could_take("="):
        return None
    named = line.text[line.starts(line.first + 1) : line.ends(line.index - 1)]
    if line.token == "(":
        return Mistake(
            "E0146",
            "a mock names a hole, whatever it is called with",
            line.start,
            line.end,
            label="no arguments here",
            hint=f"write `mock {named}.hole = …`; of an `extern py`, `mock {named} = …`",
        )
    word = line.token in ("returns", "return", "as", "with", "to", "gives", ":", "->", "=>", "==", "is")
    return Mistake(
        "E0146",
        "`=` stands between a hole and what it answers",
        line.start,
        line.end,
        label="`=` is due here",
        hint=f"write `mock {named} = …`",
        edits=((line.ends(line.index - 1), line.end, " ="),) if word else (),
    )


def _recorded(run: Run, line: Line) -> Mistake | None:
    """`golden f(x) == 3`, `replay run.jsonl`."""
    end = line.written[1]
    if line.word == "golden" and line.kind == "BINARY" and line.index > line.first + 1:
        call = line.text[line.starts(line.first + 1) : line.ends(line.index - 1)]
        return Mistake(
            "E0146",
            "`golden` holds a call against what was kept of it",
            line.start,
            line.end,
            label="nothing is compared here",
            hint=f"write `golden {call}`, or `expect {line.text[line.starts(line.first + 1) : end]}`",
        )
    if _second(line, "replay"):
        name = line.text[line.start : end]
        clear = re.fullmatch(r"[\w./-]+", name) is not None
        return Mistake(
            "E0146",
            "`replay` takes the file of a trace, in quotes",
            line.start,
            end,
            label="not in quotes",
            hint=f'write `replay "{name}"`' if clear else 'write `replay "run.jsonl"`',
            edits=((line.start, end, f'"{name}"'),) if clear else (),
        )
    return None


def _fuzz(run: Run, line: Line) -> Mistake | None:
    """`fuzz f(x):`, `fuzz 100 f(x):`."""
    if line.word != "fuzz" or not run.could_take("times"):
        return None
    start, colon = line.starts(line.first), line.token == ":"
    counted = _COUNTED.match(line.text, start)
    place = line.ends(line.index - 1)
    edits: Replacements = ()
    made = f"{line.text[start:place]} times 100" if colon else "fuzz f(…) times 100"
    if counted is not None:
        made = f"fuzz {counted[2]} times {counted[1]}"
        edits = ((start, counted.end(), made),)
    elif colon:
        edits = ((place, place, " times 100"),)
    return Mistake(
        "E0146",
        "`fuzz` says how often it runs a call",
        start,
        place if colon else line.end,
        label="`times n` is due behind the call",
        hint=f"write `{made}:`",
        edits=edits,
    )


def _raises(run: Run, line: Line) -> Mistake | None:
    """`with raises(E):`, `with pytest.raises(E):`."""
    if line.word != "with" or not _second(line, "with"):
        return None
    raised = next((i for i in range(line.first, line.last) if line.at(i) == "raises"), None)
    if raised is None or line.at(raised + 1) != "(":
        return None
    name = line.at(raised + 2)
    return Mistake(
        "E0113",
        "that a call raises an error is expected on one line",
        line.starts(line.first),
        line.ends(raised),
        label="from another language",
        hint=f"write `expect raises {name}: f(…)`",
        covers=line_extent(line.text, line.start, line.end),
    )


# -- functions as values ---------------------------------------------------------------------------


def _lambda(run: Run, line: Line) -> Mistake | None:
    """`x -> x * 2`, `|x| x * 2`, `(a, b) => …` in a call."""
    index, before = line.index, line.at(line.index - 1)
    if line.depth_before(index) == 0:
        return None
    if line.token == "->" and line.kind_at(index - 1) == "NAME":
        return Mistake(
            "E0113",
            "what is done with an item is written with `=>`",
            line.start,
            line.end,
            label="from another language",
            hint=f"write `{before} => …`",
            edits=((line.start, line.end, "=>"),),
        )
    if line.token == "|" and line.kind_at(index + 1) == "NAME" and line.at(index + 2) == "|":
        name = line.at(index + 1)
        return Mistake(
            "E0113",
            "what is done with an item is written with `=>`",
            line.start,
            line.ends(index + 2),
            label="from another language",
            hint=f"write `{name} => …`",
            edits=((line.start, line.ends(index + 2), f"{name} =>"),),
        )
    if line.token in ("=>", "->") and before == ")":
        return Mistake(
            "E0113",
            "functions are no values: only methods of lists take what is done with one item",
            line.start,
            line.end,
            label="takes two or none",
            hint="go through the list with `for` and a `var`",
        )
    return None
