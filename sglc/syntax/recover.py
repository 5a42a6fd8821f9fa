from __future__ import annotations

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.source import Span


def describe_fault(fault, source):
    return Diagnostic("E0101", fault.kind, Span(source, fault.start, fault.end), label=fault.detail)


class Recovery:
    def __init__(self, run, builder):
        self.run, self.builder = run, builder

    def report_inside(self, start, place):
        t = self.run.tokens
        i = self.run.index
        self.builder.report("E0101", f"unexpected {t.kinds[i]}", t.starts[i], t.ends[i])

    def go_on(self):
        self.report_inside("", None)
