"""The grammars of editors agree with the parser, under the engines of the editors themselves.

Each is tried on all programs of the examples, the standard library, the docs and the catalogue, and on
generated ones; `SGLC_TEST_EXAMPLES=2000` in the environment makes these two thousand.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from example_budget import examples
from judges.highlighters import (
    EDITORS,
    Span,
    by_emacs,
    by_node,
    by_vim,
    disagreement,
    meanings,
    needs_emacs,
    needs_npm,
    needs_vim,
)
from judges.sublime_contexts import SublimeContexts
from sglc.highlight.core.classes import CLASSES, TextClass
from strategies.programs.coloured_programs import (
    generated_programs,
    programs_with_names_like_words,
    written_programs,
)


def programs(count: int) -> list[str]:
    return [*written_programs(), *generated_programs(examples(count))]


def share(texts: list[str], step: int) -> list[str]:
    """One text of so many in an ordinary run, all in a long one, without lone carriage returns: the editors
    take them for ends of lines."""
    return [text for text in texts[:: 1 if "SGLC_TEST_EXAMPLES" in os.environ else step] if "\r" not in text]


def faults(texts: list[str], coloured: list[list[Span]], known: dict[str, str]) -> list[str]:
    found = (disagreement(text, spans, known) for text, spans in zip(texts, coloured, strict=True))
    return [each for each in found if each is not None]


def scope(each: TextClass, kind: str) -> str:
    return f"{each.textmate}.sgl"


@needs_npm
@pytest.mark.slow
def test_textmate() -> None:
    texts = programs(100)
    coloured = by_node("textmate_colours.mjs", "vscode/syntaxes/sgl.tmLanguage.json", texts)
    assert faults(texts, [_innermost(spans) for spans in coloured], meanings(scope)) == []


@needs_npm
@pytest.mark.slow
def test_textmate_on_names_like_words() -> None:
    texts = programs_with_names_like_words(examples(200))
    coloured = by_node("textmate_colours.mjs", "vscode/syntaxes/sgl.tmLanguage.json", texts)
    assert len(faults(texts, [_innermost(spans) for spans in coloured], meanings(scope))) <= 0.03 * len(texts)


@needs_npm
@pytest.mark.slow
def test_codemirror() -> None:
    texts = programs(100)
    coloured = by_node("codemirror_colours.mjs", "codemirror/sgl.js", texts)
    assert faults(texts, coloured, meanings(lambda each, kind: each.codemirror)) == []


@needs_npm
@pytest.mark.slow
def test_highlightjs() -> None:
    texts = programs(100)
    coloured = by_node("highlightjs_colours.mjs", "highlightjs/sgl.js", texts)
    # The first part of a class has a prefix, each later one as many underscores as stand before it.
    known = meanings(lambda each, kind: re.sub(r"\.(.*)", r" \1_", each.highlightjs))
    assert faults(texts, coloured, known) == []


@needs_vim
@pytest.mark.slow
def test_vim(tmp_path: Path) -> None:
    texts = share(programs(20), 8)
    kinds = {"".join(part.capitalize() for part in kind.split()): kind for kind in CLASSES}
    whole = {"sglInPrompt": "prompt", "sglInFence": "prompt", "sglInString": "string", "sglInJson": "json"}

    def kind_of(group: str | None) -> str | None:
        if group is None or group in whole:
            return whole.get(group or "")
        ends = [end for end in kinds if group.endswith(end) and not re.match("sglIn[A-Z]", group)]
        return kinds[max(ends, key=len)] if ends else None

    coloured = [[(part, kind_of(group)) for part, group in spans] for spans in by_vim(texts, tmp_path)]
    assert faults(texts, coloured, meanings(lambda each, kind: kind)) == []


@needs_emacs
@pytest.mark.slow
def test_emacs(tmp_path: Path) -> None:
    texts = share(programs(20), 4)
    known = meanings(lambda each, kind: kind.replace(" ", "-"))
    assert faults(texts, by_emacs(texts, tmp_path), known) == []


@pytest.mark.slow
def test_sublime() -> None:
    """Sublime Text cannot be run here: its contexts are followed by an interpreter of the tests, with
    Python's regular expressions.
    """
    contexts = SublimeContexts((EDITORS / "sublime" / "sgl.sublime-syntax").read_text(encoding="utf-8"))
    texts = programs(30)[::2]
    assert faults(texts, [contexts.coloured(text) for text in texts], meanings(scope)) == []


def test_language_configuration() -> None:
    """What VS Code reads beside the grammar: its patterns are regular expressions."""
    text = (EDITORS / "vscode" / "language-configuration.json").read_text(encoding="utf-8")
    data = json.loads(text)
    deeper = re.compile(data["indentationRules"]["increaseIndentPattern"])
    assert [bool(deeper.match(line)) for line in ("fn f():", "user:  # c", "    | so:", "let x = 3")] == [
        *(True, True, False, False)
    ]
    assert data["comments"] == {"lineComment": "#"}


def _innermost(spans: list[Span]) -> list[Span]:
    return [(part, scopes[-1] if scopes else None) for part, scopes in spans]
