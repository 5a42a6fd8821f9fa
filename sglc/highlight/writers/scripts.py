"""Language files for CodeMirror and highlight.js: the grammar of colours as data, and one small machine for
both.
"""

from __future__ import annotations

import json
from pathlib import Path

from sglc.highlight.core.classes import CLASSES
from sglc.highlight.core.dialects import javascript
from sglc.highlight.core.regions import END_OF_LINE, Grammar, Include, Match, Region, Rule

_MADE = "// Made by `python -m sglc.highlight`; edit sglc/highlight instead.\n\n"

_CODEMIRROR = """
// A parser of streams: `StreamLanguage.define(sgl)` of @codemirror/language makes a language of it.
export const sgl = {
  name: "sgl",
  startState: () => ({ stack: [], spans: [], next: 0 }),
  copyState: (state) => ({ stack: [...state.stack], spans: state.spans, next: state.next }),
  token(stream, state) {
    if (stream.sol()) {
      state.spans = colourLine(stream.string, state.stack);
      state.next = 0;
    }
    const span = state.spans[state.next++];
    if (!span) {
      stream.skipToEnd();
      return null;
    }
    stream.pos = span[0];
    return TAGS[span[1]] || null;
  },
  blankLine(state) {
    colourLine("", state.stack);
  },
  languageData: {
    commentTokens: { line: "#" },
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
    indentOnInput: /^\\s*(?:elif|else|except)\\b/,
  },
};
"""

_HIGHLIGHTJS = """
// A language of highlight.js 11: `hljs.registerLanguage("sgl", sgl)`.
export default function sgl() {
  return {
    name: "SGL",
    aliases: ["sgl"],
    contains: [],
    disableAutodetect: true,
    __emitTokens(code, emitter) {
      const stack = [];
      code.split("\\n").forEach((line, number) => {
        if (number) emitter.addText("\\n");
        let place = 0;
        for (const [end, kind] of colourLine(line, stack)) {
          const scope = SCOPES[kind];
          if (scope) emitter.startScope(scope);
          emitter.addText(line.slice(place, end));
          if (scope) emitter.endScope();
          place = end;
        }
      });
      emitter.finalize();
    },
  };
}
"""


def codemirror(grammar: Grammar) -> str:
    """The module for CodeMirror."""
    tags = {kind: each.codemirror for kind, each in CLASSES.items()}
    return f"{_MADE}{_data(grammar)}const TAGS = {_object(tags)};\n\n{_machine()}{_CODEMIRROR}"


def highlightjs(grammar: Grammar) -> str:
    """The module for highlight.js."""
    scopes = {kind: each.highlightjs for kind, each in CLASSES.items()}
    return f"{_MADE}{_data(grammar)}const SCOPES = {_object(scopes)};\n\n{_machine()}{_HIGHLIGHTJS}"


def _machine() -> str:
    return Path(__file__).with_name("machine.js").read_text(encoding="utf-8")


def _object(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)


def _data(grammar: Grammar) -> str:
    regions: dict[str, Region] = {}
    lines = ["const LISTS = {\n"]
    for name, rules in grammar.lists.items():
        lines.append(f"  {json.dumps(name)}: [\n")
        for rule in rules:
            if isinstance(rule, Region):
                regions[rule.name] = rule
            lines.append(f"    {_rule(rule)},\n")
        lines.append("  ],\n")
    lines.append("};\n\nconst REGIONS = {\n")
    lines += [f"  {json.dumps(name)}: {_region(regions[name])},\n" for name in sorted(regions)]
    lines.append("};\n\n")
    return "".join(lines)


def _rule(rule: Rule) -> str:
    match rule:
        case Include(name):
            return json.dumps(name)
        case Match(regex, groups):
            return f"{{ regex: {_regex(regex)}, kinds: {json.dumps(groups)} }}"
        case Region():
            return (
                f"{{ regex: {_regex(rule.begin)}, kinds: {json.dumps(rule.begins)}, "
                f"region: {json.dumps(rule.name)} }}"
            )


def _region(region: Region) -> str:
    line = "true" if region.end.endswith(END_OF_LINE) else "false"
    return (
        f"{{ end: {_regex(region.end)}, ends: {json.dumps(region.ends)}, "
        f"inside: {json.dumps(region.inside)}, rules: {json.dumps(region.rules)}, line: {line} }}"
    )


def _regex(regex: str) -> str:
    text = javascript(regex).replace("\\/", "/").replace("/", "\\/")
    return f"/{text}/dyu"
