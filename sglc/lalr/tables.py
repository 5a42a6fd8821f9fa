"""LALR tables: built by Lark from a grammar, kept between runs as checked JSON.

Lark is used as what it is best at, a grammar compiler: it expands the EBNF and computes the LALR(1)
automaton. What a parser needs of the result is small and plain (`Tables`), so it is stored in the user's
cache folder and a later start reads it back without importing Lark at all. A file that is missing, damaged,
from another grammar or not writable is never an error: the tables are built again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict

from sglc.cache_files import cache_folder, keep, read_own
from sglc.immutable import value

FORMAT = 5
"""Counts changes of the stored layout and of how tables are made from a grammar."""

Step = int | tuple[int] | None
"""One part of a reduction: a symbol's index, `(index,)` of a list to splice, None for an absent option."""


@value
class Rule:
    """One production: pop `length` symbols, make the value with `action` from `steps`, go to `symbol`.

    `action` names the function that makes it, or is "" to hand on the single part, or "_" to give the parts
    as a list that is spliced into its user; `appends` marks a left-recursive list.
    """

    symbol: str
    length: int
    action: str
    steps: tuple[Step, ...]
    appends: bool


@value
class Tables:
    """`rows[state]` maps a terminal or symbol to `target + 1` (go there) or `-rule - 1` (reduce).

    A quoted token of the grammar is named by its text, a declared one by its name, a symbol as `<symbol>`.
    `starts` gives the first state of each start symbol.
    """

    rows: tuple[dict[str, int], ...]
    rules: tuple[Rule, ...]
    starts: dict[str, int]
    literals: frozenset[str]


StepData = int | list[int] | None
"""A `Step` as JSON."""

RuleData = tuple[str, int, str, list[StepData], bool]
"""The fields of a `Rule`; JSON makes a list of it."""


class TableData(TypedDict):
    """`Tables` as JSON."""

    rows: list[dict[str, int]]
    rules: list[RuleData]
    starts: dict[str, int]
    literals: list[str]


def load(name: str, grammar: str, make: Callable[[str], TableData]) -> Tables:
    """The tables of a grammar, from the cache where possible, else made by `make` (see `build`)."""
    path = cache_folder() / f"{name}-{FORMAT}-{_checksum(grammar)}.json"
    data = _read(path, grammar)
    if data is None:
        data = make(grammar)
        _write(path, grammar, data)
    return _tables(data)


def build(grammar: str, starts: tuple[str, ...], strict: bool = False) -> TableData:
    """Compile a grammar with some start symbols to plain data.

    With `strict` a shift/reduce conflict raises lark's GrammarError.
    """
    from lark import Lark
    from lark.lexer import Lexer, Token
    from lark.parsers.lalr_analysis import LALR_Analyzer, Shift

    class NoLexer(Lexer):
        """Keeps Lark from building a lexer of its own."""

        def __init__(self, lexer_conf: object) -> None:
            pass

        def lex(self, lexer_state: object, parser_state: object) -> Iterator[Token]:
            return iter(())

    lark = Lark(grammar, parser="lalr", lexer=NoLexer, start=list(starts), maybe_placeholders=True)
    analyzer: Any = LALR_Analyzer(lark.parser.parser_conf, strict=strict)
    analyzer.compute_lalr()
    table: Any = analyzer.parse_table
    texts = {t.name: t.pattern.value for t in lark.terminals if type(t.pattern).__name__ == "PatternStr"}

    terminals = {"$END", *(symbol.name for rule in lark.rules for symbol in rule.expansion if symbol.is_term)}

    # States and rules are numbered in the order they are reached, so that equal grammars give equal tables.
    states: dict[int, int] = {table.start_states[start]: number for number, start in enumerate(starts)}
    waiting = list(states)
    rules: list[RuleData] = []
    numbers: dict[object, int] = {}
    rows: list[dict[str, int]] = []
    for state in waiting:
        row: dict[str, int] = {}
        rows.append(row)
        for name, (action, argument) in sorted(table.states[state].items()):
            if action is Shift:
                if argument not in states:
                    states[argument] = len(states)
                    waiting.append(argument)
                code = states[argument] + 1
            else:
                if argument not in numbers:
                    numbers[argument] = len(rules)
                    rules.append(_rule(argument))
                code = -numbers[argument] - 1
            row[texts.get(name) or (str(name) if name in terminals else f"<{name}>")] = code
    return {
        "rows": rows,
        "rules": rules,
        "starts": {start: number for number, start in enumerate(starts)},
        "literals": sorted(texts.values()),
    }


def _rule(rule: Any) -> RuleData:
    """A production of Lark's as `[symbol, length, action, steps, appends]`, with Lark's own tree shaping."""
    symbol, expansion, options = str(rule.origin.name), rule.expansion, rule.options
    absent = (
        "".join(str(int(bit)) for bit in options.empty_indices).split("0") if options.empty_indices else None
    )
    steps: list[StepData] = []
    for index, part in enumerate(expansion):
        if absent is not None:
            steps += [None] * len(absent[index])
        if part.is_term:
            if not part.filter_out:
                steps.append(index)
        else:
            steps.append([index] if part.name.startswith("_") else index)
    if absent is not None:
        steps += [None] * len(absent[len(expansion)])
    action = str(rule.alias or symbol)
    if symbol.startswith("_") and not rule.alias:
        action = "_"
    elif options.expand1 and not rule.alias and len(steps) == 1 and isinstance(steps[0], int):
        action = ""
    appends = action == "_" and bool(expansion) and expansion[0].name == symbol
    return (f"<{symbol}>", len(expansion), action, steps, appends)


def _tables(data: TableData) -> Tables:
    rules = tuple(
        Rule(symbol, length, action, tuple((s[0],) if isinstance(s, list) else s for s in steps), appends)
        for symbol, length, action, steps, appends in data["rules"]
    )
    return Tables(tuple(data["rows"]), rules, data["starts"], frozenset(data["literals"]))


def _read(path: Path, grammar: str) -> TableData | None:
    """The stored data if it is whole: the checksum of the second line, and that: the grammar and its data."""
    try:
        head, _, body = read_own(path).decode("utf-8").partition("\n")
        if head != _checksum(body):
            return None
        stored = json.loads(body)
        data: TableData | None = stored["data"] if stored["grammar"] == grammar else None
        return data
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _write(path: Path, grammar: str, data: TableData) -> None:
    body = json.dumps({"grammar": grammar, "data": data}, separators=(",", ":"))
    keep(path, f"{_checksum(body)}\n{body}".encode())


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
