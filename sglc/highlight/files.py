"""All written files: their paths below the checkout, and their texts."""

from __future__ import annotations

from pathlib import Path

from sglc.highlight.regions import colours
from sglc.highlight.writers import pygments, textmate
from sglc.syntax import tables

ROOT = Path(__file__).resolve().parents[2]
"""The checkout; written files lie in `grammar/editors` and beside this module."""


def written_files() -> dict[str, str]:
    """The text of each written file by its path below the checkout."""
    grammar = colours(tables.load())
    return {
        "sglc/highlight/pygments_lexer.py": pygments.lexer(grammar),
        "grammar/editors/vscode/syntaxes/sgl.tmLanguage.json": textmate.grammar_json(grammar),
        "grammar/editors/vscode/language-configuration.json": textmate.language_configuration(),
    }
