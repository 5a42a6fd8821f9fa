"""The builder: turns reductions of the grammar into nodes, and tokens into their leaves."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.source import Source, Span
from sglc.syntax.automaton import INDENT_MARK, Machine, Run
from sglc.syntax.declarations import Declarations
from sglc.syntax.expressions import MAX_TOLD
from sglc.syntax.faults import describe_fault
from sglc.syntax.recover import Recovery
from sglc.syntax.tokens import Fault, Tokens


class Builder(Declarations):
    """Builds the nodes of one source and collects what is to be said about it."""

    def __init__(self, source: Source, machine: Machine, words: dict[str, Any]) -> None:
        self.source = source
        self.text = source.text
        self.machine = machine
        self.words = words
        self.diagnostics: list[Diagnostic] = []
        self.covered: list[tuple[int, int]] = []
        """Parts of the text about which everything is said."""
        self.edited: set[tuple[int, int, str]] = set()
        """Edits that have been told."""
        self.pending = {}
        self.held = []
        self.trailing = {}
        self.docs = {}
        self.used_docs = set()
        self.tokens_strings: dict[int, Any] = {}
        self.fences = {}
        self.leaves = {
            "NAME": self.leaf_name,
            "NUMBER": self.leaf_number,
            "STRING": self.leaf_string,
            "REGEX": self.leaf_regex,
            "PIPE": self.leaf_pipe,
            "FENCE": self.leaf_fence,
            "PATH": lambda start, end: self.text[start:end],
            "INLINE_JSON": lambda start, end: (start, end),
            "ROLE": self.leaf_name,
            "BINARY": self.leaf_operator,
            "AUGMENTED": lambda start, end: self.text[start:end],
            "OR_SKIP": lambda start, end: True,
            "_INDENT": lambda start, end: INDENT_MARK,
        }

    def parse(self, tokens: Tokens, start: str) -> Any:
        """Parse a token list from a start symbol; recovers from faults line by line."""
        self.tokens_strings |= tokens.strings
        self.fences |= tokens.fences
        self._note_docs(tokens.docs)
        self.layout_faults(tokens.faults)
        if any(fault.kind == "deep" for fault in tokens.faults):
            return None
        run = Run(self.machine, self.text, tokens, self, start)
        if not run.step():
            Recovery(run, self).go_on()
        return run.result

    def parse_inside(self, tokens: Tokens, start: str, place: Span) -> Any:
        """Parse the tokens of an insert or hole; None after a fault, which is reported."""
        if tokens.strings:
            self.tokens_strings |= tokens.strings
        run = Run(self.machine, self.text, tokens, self, start)
        if run.step():
            return run.result
        Recovery(run, self).report_inside(start, place)
        return None

    def layout_faults(self, faults: list[Fault]) -> None:
        """Tell what could not be cut into tokens; what stands behind an open quote or bracket is misread."""
        misread = dedented = -1
        for fault in faults:
            if len(self.diagnostics) >= MAX_TOLD:
                return
            line = self.source.position(fault.start)[0]
            if line == misread:
                continue
            column = fault.end - fault.start if fault.kind == "dedent" else -1
            if column >= 0 and column == dedented:
                continue
            dedented = column
            if fault.kind in ("string", "bracket", "mismatch", "regex"):
                misread = line
            self.diagnostics.append(describe_fault(fault, self.source))

    def _note_docs(self, docs: list[tuple[int, int]]) -> None:
        starts, text = self.source.line_starts, self.text
        for start, end in docs:
            line = bisect_right(starts, start)
            alone = not text[starts[line - 1] : start].strip()
            self.docs[line] = (start, end, text[start:end].lstrip("#").strip(), alone)

    def module_doc(self, declarations: tuple[Any, ...]) -> str:
        """The `##` lines at the top of the file that belong to no declaration."""
        lines = []
        first = min(self.docs, default=0)
        while first in self.docs and first not in self.used_docs and self.docs[first][3]:
            if declarations and self.docs[first][0] > declarations[0].span.start:
                break
            lines.append(self.docs[first][2])
            self.used_docs.add(first)
            first += 1
        return "\n".join(lines)

    def stray_docs(self) -> None:
        """Warn about `##` comments that belong to nothing."""
        if any(diagnostic.severity == "error" for diagnostic in self.diagnostics):
            return
        for line, (start, end, _, _) in self.docs.items():
            if line not in self.used_docs:
                self._warn(
                    "W0104", "this `##` comment belongs to nothing", start, end,
                    reason="`##` is part of the schema text; it stands above or beside what it describes",
                    hint="write `#` for a comment that is for people",
                )  # fmt: skip
