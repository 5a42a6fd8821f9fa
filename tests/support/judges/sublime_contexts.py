"""Follows the contexts of a `.sublime-syntax` file: a double of Sublime Text, with Python's regular
expressions.
"""

from __future__ import annotations

import re

import yaml

Span = tuple[str, str | None]


class SublimeContexts:
    """The contexts of one file. Of rules that match at several places the first place counts, then the
    order.
    """

    def __init__(self, text: str) -> None:
        self.contexts = yaml.safe_load(text.removeprefix("%YAML 1.2\n"))["contexts"]
        self.rules = {name: self._rules(name) for name in self.contexts}
        self.inside = {
            name: next((each["meta_content_scope"] for each in rules if "meta_content_scope" in each), None)
            for name, rules in self.contexts.items()
        }

    def _rules(self, name: str) -> list[tuple[re.Pattern[str], dict[str, object]]]:
        found = []
        for rule in self.contexts[name]:
            if "include" in rule:
                found += self._rules(rule["include"])
            elif "match" in rule:
                found.append((re.compile(rule["match"]), rule))
        return found

    def coloured(self, text: str) -> list[Span]:
        """The innermost scope of each run of characters."""
        stack = ["main"]
        spans: list[Span] = []
        for number, line in enumerate(text.split("\n")):
            if number:
                spans.append(("\n", None))
            self._line(line, stack, spans)
        return spans

    def _line(self, line: str, stack: list[str], spans: list[Span]) -> None:
        place, pushed = 0, -1
        while place <= len(line):
            found = self._first(line, place, stack[-1])
            if found is None:
                break
            match, rule = found
            plain = self.inside[stack[-1]]
            if match.start() > place:
                spans.append((line[place : match.start()], plain))
            spans += _captured(match, rule.get("captures", {}), plain)
            place = match.end()
            if "push" in rule:
                assert (place, len(stack)) != pushed, "a context is pushed again and again"
                pushed = (place, len(stack))
                stack.append(str(rule["push"]))
            elif rule.get("pop"):
                stack.pop()
            elif not match[0]:
                spans.append((line[place : place + 1], plain))
                place += 1
        if place < len(line):
            spans.append((line[place:], self.inside[stack[-1]]))

    def _first(self, line: str, place: int, context: str) -> tuple[re.Match[str], dict[str, object]] | None:
        best = None
        for pattern, rule in self.rules[context]:
            match = pattern.search(line, place)
            if match is not None and (best is None or match.start() < best[0].start()):
                best = match, rule
        return best


def _captured(match: re.Match[str], captures: dict[int, str], plain: str | None) -> list[Span]:
    spans: list[Span] = []
    place = match.start()
    for number in range(1, match.re.groups + 1):
        start, end = match.span(number)
        if start >= 0:
            spans += [(match.string[place:start], plain), (match[number], captures.get(number, plain))]
            place = end
    return [*spans, (match.string[place : match.end()], plain)]
