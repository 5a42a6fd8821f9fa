"""Slips in clauses: messages with tools, functions of Python, forks, tags, headers with type parameters."""

from __future__ import annotations

import re

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import HEADER_WORDS, Line, Mistake, enclosing_word, line_extent
from sglc.syntax.lexer.keywords import ROLES

_TOOLS = "write `assistant with tools [f, g] limit 4 calls:`"
_EXTERN = 'write `extern py "module:function" fn name(…) -> T`'
_ARGUMENT = re.compile(r"(?:system|user|assistant|tool)[ ]*\([ ]*tools[ ]*=[ ]*(\[[\w, ]*\])[ ]*\)")
_TARGET = re.compile(r"([\w.]+)[ ]*[:.][ ]*(\w+)(?=[ ]+fn\b)")
_RULE = re.compile(r"[ \t]+\w+([ \t]*::=)")
_EFFECTS = ("pure", "model", "read", "write")


def clause_mistake(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """Whether it is one of the slips of clauses."""
    for rule in (_tools, _extern, _tags, _fork, _type_parameters, _grammar_rule):
        found = rule(run, line)
        if found is not None:
            return found
    return None


def _names(line: Line, index: int) -> tuple[list[str], int]:
    """Names with commas between them, and the token behind the last one."""
    names: list[str] = []
    while line.kind_at(index) == "NAME" and line.at(index) != "limit":
        names.append(line.at(index))
        index += 1
        if line.at(index) != ",":
            break
        index += 1
    return names, index


# -- messages with tools ---------------------------------------------------------------------------


def _tools(run: Run, line: Line) -> Mistake | None:
    """`with tool f`, `with tools f, g`, `limit 3:`, `max 3 calls:`, `assistant(tools=[f]):`."""
    first, index = line.first, line.index
    if line.word not in ROLES:
        return None
    if line.at(first + 1) == "(" and "tools" in (line.at(first + 2), line.at(first + 3)):
        start, end = line.starts(first), line.ends(line.last - 1)
        match = _ARGUMENT.match(line.text, start, end)
        made = f"{line.word} with tools {match[1]}" if match else ""
        return Mistake(
            "E0146",
            "the tools of a message stand behind `with`",
            line.starts(first + 1),
            line.ends(line.closing(first + 1) or first + 1),
            label="a role has no arguments",
            hint=f"write `{made}:`" if made else _TOOLS,
            edits=((start, match.end(), made),) if match else (),
        )
    if line.at(first + 1) != "with":
        return None
    if index in (first + 2, first + 3) and line.token != "[":
        place = first + 2 + (line.at(first + 2) in ("tool", "tools"))
        names, behind = _names(line, place)
        bracketed = line.at(place) == "["
        start = line.starts(first + 2)
        made = "tools" if bracketed else f"tools [{', '.join(names)}]"
        clear = bracketed or (names and line.at(behind) in (":", "limit"))
        end = line.ends(place - 1) if bracketed else line.ends(behind - 1)
        return Mistake(
            "E0146",
            "the tools of a message stand in brackets, behind `with tools`",
            line.start,
            line.end,
            label="`tools` is due here" if index == first + 2 else "a bracket is due here",
            hint=f"write `with {made}`" if clear and not bracketed else _TOOLS,
            edits=((start, end, made),) if clear else (),
        )
    return _limit(run, line)


def _limit(run: Run, line: Line) -> Mistake | None:
    """Behind the brackets of the tools."""
    index = line.index
    if run.could_take("calls"):
        number = line.at(index - 1)
        return Mistake(
            "E0147",
            "a limit of calls ends in `calls`",
            line.starts(index - 1),
            line.ends(index - 1),
            label="`calls` is due behind it",
            hint=f"write `limit {number} calls`",
            edits=((line.ends(index - 1), line.ends(index - 1), " calls"),)
            if line.token in (":", "|")
            else ((line.start, line.end, "calls"),)
            if line.token in ("call", "rounds", "times", "steps", "turns")
            else (),
        )
    if not run.could_take("limit") or line.at(index - 1) != "]":
        return None
    digits = next((i for i in range(index, line.last) if line.kind_at(i) == "NUMBER"), None)
    colon = next((i for i in range(index, line.last) if line.at(i) == ":"), None)
    clear = digits is not None and colon is not None and digits < colon
    made = f"limit {line.at(digits)} calls" if clear and digits is not None else "limit 4 calls"
    return Mistake(
        "E0147",
        "how many tools may be called is said by `limit n calls`",
        line.start,
        line.end,
        label="`limit` is due here",
        hint=f"write `{made}`",
        edits=((line.start, line.ends(colon - 1), made),) if clear and colon is not None else (),
    )


# -- functions of Python ---------------------------------------------------------------------------


def _extern(run: Run, line: Line) -> Mistake | None:
    """`extern "m:f"`, `extern py m:f`, `effects: read`, `timeout 5`, and a body."""
    first = line.first + (line.word == "pub")
    index, before = line.index, line.at(line.index - 1)
    if line.at(first) != "extern" or index == first:
        return None
    if index == first + 1:
        clear = line.kind == "STRING"
        return Mistake(
            "E0146",
            "`extern` says where a function comes from",
            line.start,
            line.end,
            label="`py` is due here",
            hint=f"write `extern py {line.token}`" if clear else _EXTERN,
            edits=((line.start, line.start, "py "),) if clear else (),
        )
    if index == first + 2:
        match = _TARGET.match(line.text, line.start)
        made = f'"{match[1]}:{match[2]}"' if match else ""
        return Mistake(
            "E0146",
            "a function of Python is named by its module and its name, in quotes",
            line.start,
            match.end() if match else line.end,
            label="not in quotes" if match else '`"module:function"` is due here',
            hint=f"write `extern py {made}`" if made else _EXTERN,
            edits=((line.start, match.end(), made),) if match else (),
        )
    if before == "effects":
        return _effects(line)
    if line.at(index - 2) == "timeout" and line.kind_at(index - 1) == "NUMBER":
        place = line.ends(index - 1)
        return Mistake(
            "E0147",
            "a timeout has its unit",
            line.starts(index - 2),
            place,
            label="`s` is due behind it",
            hint=f"write `timeout {before} s`",
            edits=((place, place, " s"),),
        )
    if line.token == ":" and index == line.last - 1 and line.depth_before(index) == 0:
        extent = line_extent(line.text, line.start, line.end)
        return Mistake(
            "E0146",
            "a function of Python has no body here",
            line.start,
            line.end,
            label="the header ends before it",
            reason="its body is in Python",
            hint="leave out the colon and the block below",
            covers=(extent[0], _block_end(line.text, extent[1])),
        )
    return None


def _effects(line: Line) -> Mistake:
    """`effects: read`, `effects = read`, `effects [read]`."""
    word = next((i for i in range(line.index, line.last) if line.at(i) in _EFFECTS), None)
    clear = word is not None and word - line.index <= 1
    end = 0 if word is None else line.ends(word + (line.at(word + 1) in ("]", ")")))
    made = "read" if word is None else line.at(word)
    return Mistake(
        "E0146",
        "the effect of a function stands behind `effects`",
        line.start,
        line.end,
        label="a word is due here",
        hint=f"write `effects {made}`",
        edits=((line.ends(line.index - 1), end, f" {made}"),) if clear else (),
    )


def _block_end(text: str, place: int) -> int:
    """Where the indented lines that begin at `place` end."""
    while place < len(text) and text[place] in " \t\r\n":
        place = line_extent(text, place, place)[1]
    return place


# -- other headers ---------------------------------------------------------------------------------


def _tags(run: Run, line: Line) -> Mistake | None:
    """`test "…" tags [slow]:`, `tags "slow":`."""
    index = line.index
    if line.word != "test" or line.at(index - 1) not in ("tags", ",") or line.token not in ("[", "(", "{"):
        if line.word != "test" or line.kind != "STRING" or index < line.first + 3:
            return None
    colon = next((i for i in range(index, line.last) if line.at(i) == ":"), None)
    written = "" if colon is None else line.text[line.start : line.ends(colon - 1)]
    names = [each.strip(" \"'") for each in written.strip("[](){} ").split(",")]
    clear = bool(written) and all(name.isidentifier() for name in names)
    made = ", ".join(names) if clear else "slow, model"
    return Mistake(
        "E0146",
        "tags are names, with commas between them",
        line.start,
        line.end,
        label="a name is due here",
        hint=f"write `tags {made}`",
        edits=((line.start, line.start + len(written), made),) if clear else (),
    )


def _fork(run: Run, line: Line) -> Mistake | None:
    """`fork 3:`, `fork(3):`, and `fork i in 3`."""
    index = line.index
    if line.at(index - 1) != "fork":
        return None
    inner = index + (line.token == "(")
    if line.kind_at(inner) not in ("NUMBER", "NAME") or not (line.kind == "NUMBER" or line.token == "("):
        return None
    close = inner + (line.token == "(")
    count = line.at(inner)
    made = f"i in 0..<{count} seed i"
    clear = line.at(close + 1) == ":" and (line.token != "(" or line.at(close) == ")")
    return Mistake(
        "E0146",
        "a fork goes through a range or a list",
        line.start,
        line.ends(close) if clear else line.end,
        label="a name is due here",
        hint=f"write `fork {made}:`",
        edits=((line.start, line.ends(close), made),) if clear else (),
    )


def _type_parameters(run: Run, line: Line) -> Mistake | None:
    """`fn f<T>(…)`, and `record Box[T]:`."""
    first = line.first + (line.word == "pub")
    named = line.at(line.index - 2) in ("fn", "part", "aside")
    if line.token == "<" and named and line.word in HEADER_WORDS and run.could_take("("):
        close = next((i for i in range(line.index, line.last) if line.at(i) == ">"), None)
        names = "" if close is None else line.text[line.end : line.starts(close)]
        clear = close is not None and all(each.strip().isidentifier() for each in names.split(","))
        return Mistake(
            "E0146",
            "type parameters stand in square brackets",
            line.start,
            line.ends(close) if clear and close is not None else line.end,
            label="from another language",
            hint=f"write `{line.at(line.index - 1)}[{names}]`" if clear else "write `f[T](…)`",
            edits=((line.start, line.ends(close), f"[{names}]"),) if clear and close is not None else (),
        )
    if line.at(first) in ("record", "union", "type") and line.index == first + 2 and line.token in ("[", "<"):
        what = line.at(first)
        close = next((i for i in range(line.index, line.last) if line.at(i) in ("]", ">")), line.index)
        return Mistake(
            "E0146",
            f"a {what} has no type parameters",
            line.start,
            line.ends(close),
            label="functions have them",
            reason="parameters of types are values, in parentheses: `record Quote(text: str):`",
            hint=f"write a `{what}` for each type that it is needed for",
        )
    return None


def _grammar_rule(run: Run, line: Line) -> Mistake | None:
    """`rule ::= …` in a grammar: what is wrong with all such lines of its block is said once."""
    text, place = line.text, line_extent(line.text, line.start, line.start)[0]
    match = _RULE.match(text, place)
    if match is None or enclosing_word(text, line.start) not in ("grammar", "pub"):
        return None
    edits, end = [(match.start(1), match.end(1), ":")], line_extent(text, place, place)[1]
    while (line_end := line_extent(text, end, end)[1]) > end and text[end] in " \t":
        following = _RULE.match(text, end)
        if following is not None:
            edits.append((following.start(1), following.end(1), ":"))
        end = line_end
    return Mistake(
        "E0113",
        "a rule has a colon behind its name",
        match.end(1) - 3,
        match.end(1),
        label="from another language",
        hint="write `:`",
        edits=tuple(edits),
        covers=(place, end),
    )
