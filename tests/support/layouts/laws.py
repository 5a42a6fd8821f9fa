"""What formatting must keep, by readings that share only the lexer and the parser with the formatter."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from outcomes import without_places
from sglc.diagnostics.diagnostic import has_errors
from sglc.driver import compile_source
from sglc.format.formatter import formatted
from sglc.source import Source
from sglc.syntax.dump import dump
from sglc.syntax.parse import parse, tokens
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import walk

_SHAPE = frozenset(("NEWLINE", "INDENT", "DEDENT"))


def keeps_the_laws(text: str, name: str = "program.sgl", *, compiled: bool = False) -> bool:
    """Whether the text is a program; an AssertionError says which law formatting it breaks."""
    module, found = parse(Source(name, text))
    result, told = formatted(Source(name, text))
    if has_errors(found):
        assert result == text and has_errors(told), "a program with errors of syntax is left alone"
        return False
    assert not told
    again, _ = formatted(Source(name, result))
    assert again == result, f"formatting twice changes something:\n{_difference(result, again)}"
    after, said = parse(Source(name, result))
    assert dump(after) == dump(module), f"another tree:\n{_difference(dump(module), dump(after))}"
    assert list(prompt_texts(after)) == list(prompt_texts(module)), "another prompt text"
    assert owned_comments(result) == owned_comments(text), "a comment is lost, or behind another token"
    assert sorted(each.code for each in said) == sorted(each.code for each in found)
    if compiled:
        _require_same_code(name, text, result)
    return True


def prompt_texts(module: ast.Module) -> Iterator[str]:
    """The bytes of pipe lines, and whether the next line goes on behind them."""
    for node in walk(module.declarations):
        if isinstance(node, ast.PipeLine):
            yield "line" if not node.glued else "glued"
        elif isinstance(node, ast.Text):
            yield f"text {node.text}"


def owned_comments(text: str) -> list[tuple[str, int]]:
    """The comments of a program in their order, with the number of tokens before each."""
    comments, count = [], 0
    previous = 1 if text.startswith("\ufeff") else 0
    for kind, _, span in tokens(Source("program.sgl", text)):
        if kind in _SHAPE:
            continue
        between = (line.strip(" \t\r\u00a0") for line in text[previous : span.start].split("\n"))
        comments += [(line, count) for line in between if line]
        previous = span.end
        count += kind != ","
    return comments


def _require_same_code(name: str, text: str, result: str) -> None:
    before, after = compile_source(Source(name, text)), compile_source(Source(name, result))
    codes = [sorted(each.code for each in one.diagnostics) for one in (before, after)]
    assert codes[0] == codes[1], "the compiler says something else"
    if before.program is not None and after.program is not None:
        one, other = without_places(before.program), without_places(after.program)
        for field in type(one).__dataclass_fields__:
            assert getattr(one, field) == getattr(other, field), f"the bytecode has other {field}"


def _difference(before: str, after: str) -> str:
    return "".join(unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True)))
