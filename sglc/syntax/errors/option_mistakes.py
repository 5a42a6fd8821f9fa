"""Slips in what a hole is drawn from, by which model, how, and in which form."""

from __future__ import annotations

import re

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import Line, Mistake

_ONE_OF = ("oneof", "one_of", "oneOf", "anyof", "any_of", "anyOf")
_STRATEGIES = ("smc", "beam")
_LAMBDA = re.compile(r"lambda[ ]+(\w+)[ ]*:[ ]*([^\n}]+)")
_ARROW = re.compile(r"(\w+)[ ]*(?:->|=>)[ ]*([^\n}]+)")


def option_mistake(run: Run, line: Line) -> Mistake | None:
    """Whether it is one of the slips of choices, models, strategies, forms and conditions."""
    for rule in (_listed, _among, _chain, _model, _strategy, _form, _grammar, _condition):
        found = rule(run, line)
        if found is not None:
            return found
    return None


# -- what may be written ---------------------------------------------------------------------------


def _listed(run: Run, line: Line) -> Mistake | None:
    """`choose "yes", "no"` and `one of "a", "b"`: texts without their brackets."""
    before = line.index - 1
    if line.token != "," or line.kind_at(before) not in ("STRING", "NUMBER", "NAME"):
        return None
    word = line.at(before - 1)
    several = word == "of" and line.at(before - 2) == "one"
    if word not in ("choose", "select") and not several:
        return None
    values, index = [line.at(before)], line.index
    while line.at(index) == "," and line.kind_at(index + 1) in ("STRING", "NUMBER", "NAME"):
        values.append(line.at(index + 1))
        index += 2
    texts = several and line.kind_at(before) != "NAME"
    made = " | ".join(values) if texts else f"[{', '.join(values)}]"
    start = line.starts(before - 2 if texts else before)
    return Mistake(
        "E0144",
        "one of several texts is written with bars" if texts else f"what `{word}` takes is one list",
        start,
        line.ends(index - 1),
        label="`one of` takes a list of the run" if texts else "brackets are due around it",
        hint=f"write `{made}`" if texts else f"write `{'one of' if several else word} {made}`",
        edits=((start, line.ends(index - 1), made),),
    )


def _among(run: Run, line: Line) -> Mistake | None:
    """`str in names`, `int in numbers`, `oneof names`."""
    index, before = line.index, line.at(line.index - 1)
    if before in _ONE_OF and line.kind in ("NAME", "["):
        start = line.starts(index - 1)
        return Mistake(
            "E0144",
            "an entry of a list is `one of` it",
            start,
            line.ends(index - 1),
            label="two words",
            hint=f"write `one of {line.token}`" if line.kind == "NAME" else "write `one of xs`",
            edits=((start, line.ends(index - 1), "one of"),),
        )
    if before != "in" or line.kind != "NAME" or not run.could_take("NUMBER") or run.could_take("STRING"):
        return None
    texts = line.at(index - 2) == "str"
    made = f"one of {line.token}" if texts else f"where it in {line.token}"
    start = line.starts(index - 2 if texts else index - 1)
    return Mistake(
        "E0147",
        "a type has its values by `in` only from a range",
        line.start,
        line.end,
        label="a number is due here",
        hint=f"write `{made}`" if texts else f"write `{line.at(index - 2)} {made}`",
        edits=((start, line.end, made),),
    )


def _grammar(run: Run, line: Line) -> Mistake | None:
    """`?{x: grammar "…"}`."""
    if line.at(line.index - 1) not in ("grammar", "lark", "cfg", "ebnf") or line.kind != "STRING":
        return None
    return Mistake(
        "E0144",
        "a grammar is declared, and its name is a type",
        line.starts(line.index - 1),
        line.end,
        label="no text",
        hint=f"declare `grammar G:` at the left margin, with its rules below, and write `{line.word}: G`",
    )


# -- by which model, and how -----------------------------------------------------------------------


def _chain(run: Run, line: Line) -> Mistake | None:
    """`using big, small`, `using big else small`."""
    if line.token not in (",", "else", "/", "|", "then") or line.kind_at(line.index + 1) != "NAME":
        return None
    if line.kind_at(line.index - 1) != "NAME" or line.at(line.index - 2) not in ("using", "or"):
        return None
    start = line.ends(line.index - 1) if line.token == "," else line.start
    made = " or" if line.token == "," else "or"
    return Mistake(
        "E0115",
        "models that stand in for each other are joined by `or`",
        line.start,
        line.end,
        label="`or` is due here",
        hint=f"write `using {line.at(line.index - 1)} or {line.at(line.index + 1)}`",
        edits=((start, line.end, made),),
    )


def _model(run: Run, line: Line) -> Mistake | None:
    """`using "gpt-4"`, `model="big"`."""
    index = line.index
    place = index + 1 if line.token == "using" else index
    if line.at(place - 1) == "using" and line.kind_at(place) == "STRING":
        start, end, shown = line.starts(place), line.ends(place), line.at(place)
    elif line.token in ("model", "client", "llm") and run.could_take("using"):
        place = index + 1 + (line.at(index + 1) in ("=", ":"))
        start, end, shown = line.start, line.ends(place), line.at(place)
    else:
        return None
    name = shown.strip('"')
    known = name if name.isidentifier() else "big"
    clear = name.isidentifier() and not line.at(place - 1) == "using"
    return Mistake(
        "E0115",
        "a model has a name in the program, and is given by `sgl.toml` or `--model`",
        start,
        end,
        label="a name is due here" if line.at(place - 1) == "using" else "from another language",
        hint=f"write `using {known}`"
        + ("" if clear else f", and `{known} = …` under `[models]`, or `--model {known}=…`"),
        edits=((start, end, f"using {name}"),) if clear else (),
    )


def _strategy(run: Run, line: Line) -> Mistake | None:
    """`decode smc 8`, `num_beams 4`, `argmax`."""
    index, before = line.index, line.at(line.index - 1)
    if before in _STRATEGIES and line.at(index - 2) == "decode" and line.kind == "NUMBER":
        made = f"{before}({line.token})"
        return Mistake(
            "E0115",
            "how many stands in parentheses",
            line.starts(index - 1),
            line.end,
            hint=f"write `decode {made}`",
            edits=((line.starts(index - 1), line.end, made),),
        )
    if not run.could_take("temp"):
        return None
    if line.token in ("argmax", "greedy", "do_sample"):
        return Mistake(
            "E0115",
            f"there is no option `{line.token}`",
            line.start,
            line.end,
            label="after a type",
            reason="without `temp` the best token is always taken",
            hint="leave it out" if line.token != "do_sample" else "leave it out, or write `temp 0.8` to draw",
            edits=((line.ends(index - 1), line.end, ""),) if line.token != "do_sample" else (),
        )
    if line.token in ("num_beams", "beams", "beam", "beam_search", "beam_width"):
        place = index + 1 + (line.at(index + 1) in ("=", ":", "("))
        count = line.at(place) if line.kind_at(place) == "NUMBER" else ""
        clear = bool(count) and line.at(index + 1) != "("
        return Mistake(
            "E0115",
            f"there is no option `{line.token}`",
            line.start,
            line.end,
            label="after a type",
            hint=f"write `decode beam({count or 4})`",
            edits=((line.start, line.ends(place), f"decode beam({count})"),) if clear else (),
        )
    return None


def _form(run: Run, line: Line) -> Mistake | None:
    """`as "csv"`, and `${value as yaml}`."""
    if line.at(line.index - 1) == "as" and line.kind == "STRING":
        name = line.token.strip('"').lower()
        return Mistake(
            "E0144",
            "a form is a word",
            line.start,
            line.end,
            label="no text",
            hint=f"write `as {name}`",
            edits=((line.start, line.end, name),) if name.isidentifier() else (),
        )
    if line.token == "as" and line.index > 0 and run.could_take("BINARY") and not run.could_take("where"):
        value = line.text[line.starts(line.first) : line.ends(line.index - 1)]
        form = line.at(line.index + 1) or "yaml"
        return Mistake(
            "E0144",
            "a form belongs to a type",
            line.start,
            line.end,
            label="behind a value",
            hint=f"write `let shown: T as {form} = {value}` before, and `${{shown}}` here",
        )
    return None


# -- conditions ------------------------------------------------------------------------------------


def _condition(run: Run, line: Line) -> Mistake | None:
    """`where lambda n: n > 2`, `where n -> n > 2`: the value is `it`."""
    place = next((i for i in range(line.index, max(line.index - 4, -1), -1) if line.at(i) == "where"), None)
    if place is None or place + 1 >= line.last:
        return None
    start = line.starts(place + 1)
    match = _LAMBDA.match(line.text, start) or _ARROW.match(line.text, start)
    if match is None:
        return None
    made = re.sub(rf"\b{match[1]}\b", "it", match[2]).rstrip()
    return Mistake(
        "E0113",
        "in a condition the value is `it`",
        start,
        start + len(match[0].rstrip()) - len(match[2].rstrip()),
        label="no function",
        hint=f"write `where {made}`",
        edits=((start, start + len(match[0].rstrip()), made),),
    )
