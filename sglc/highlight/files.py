"""All written files: their paths below the checkout, and their texts."""

from __future__ import annotations

from pathlib import Path

from sglc.highlight.core.regions import colours
from sglc.highlight.treesitter import grammar as treesitter
from sglc.highlight.treesitter import package, queries
from sglc.highlight.treesitter.scanner import scanner_c
from sglc.highlight.writers import emacs, pygments, scripts, sublime, textmate, vim
from sglc.syntax import tables

ROOT = Path(__file__).resolve().parents[2]
"""The checkout; written files lie in `grammar/editors` and beside this module."""


def written_files() -> dict[str, str]:
    """The text of each written file by its path below the checkout."""
    grammar = colours(tables.load())
    found = {
        "vscode/syntaxes/sgl.tmLanguage.json": textmate.grammar_json(grammar),
        "vscode/language-configuration.json": textmate.language_configuration(),
        "codemirror/sgl.js": scripts.codemirror(grammar),
        "highlightjs/sgl.js": scripts.highlightjs(grammar),
        "vim/syntax/sgl.vim": vim.syntax(grammar),
        "vim/ftdetect/sgl.vim": vim.FTDETECT,
        "vim/ftplugin/sgl.vim": vim.FTPLUGIN,
        "emacs/sgl-mode.el": emacs.mode(grammar),
        "sublime/sgl.sublime-syntax": sublime.syntax(grammar),
        "sublime/Comments.tmPreferences": sublime.PREFERENCES,
        **_treesitter(),
    }
    return {
        "sglc/highlight/pygments_lexer.py": pygments.lexer(grammar),
        **{f"grammar/editors/{name}": text for name, text in found.items()},
    }


def _treesitter() -> dict[str, str]:
    """The package of tree-sitter, without what its own generator makes of `grammar.json`."""
    made = treesitter.grammar_json(tables.grammar_text())
    texts = {
        "src/grammar.json": made,
        "src/scanner.c": scanner_c(),
        "queries/highlights.scm": queries.highlights(made),
        "queries/injections.scm": queries.injections(),
        "queries/folds.scm": queries.folds(made),
        "queries/indents.scm": queries.indents(made),
        "queries/locals.scm": queries.local_names(made),
        "grammar.js": package.GRAMMAR_JS,
        "tree-sitter.json": package.tree_sitter_json(),
    }
    return {f"tree-sitter/{name}": text for name, text in texts.items()}
