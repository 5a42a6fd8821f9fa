"""What a package of a grammar of tree-sitter has besides: its entry for the generator, its manifest."""

from __future__ import annotations

import json

GRAMMAR_JS = """\
// The grammar is data, made from grammar/sgl.lark by `python -m sglc.highlight`.
module.exports = { grammar: require("./src/grammar.json") };
"""


def tree_sitter_json() -> str:
    """`tree-sitter.json`: where a program that knows tree-sitter finds everything."""
    data = {
        "grammars": [
            {
                "name": "sgl",
                "camelcase": "Sgl",
                "title": "SGL",
                "scope": "source.sgl",
                "path": ".",
                "file-types": ["sgl"],
                "highlights": "queries/highlights.scm",
                "injections": "queries/injections.scm",
                "locals": "queries/locals.scm",
            }
        ],
        "metadata": {"version": "0.1.0", "license": "Apache-2.0", "description": "SGL"},
    }
    return json.dumps(data, indent=2) + "\n"
