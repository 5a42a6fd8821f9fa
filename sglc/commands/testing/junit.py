"""Results of tests as a file of JUnit's XML, which services that run tests read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as xml

from sglc.diagnostics.render import render
from sglc.testing import Report

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not have."""


def junit(results: Sequence[tuple[Path, Report]]) -> bytes:
    """The document: a suite for each file, a case for each test."""
    root = xml.Element("testsuites")
    suites: dict[Path, xml.Element] = {}
    for path, report in results:
        suite = suites.get(path)
        if suite is None:
            suite = suites[path] = xml.SubElement(root, "testsuite", name=_text(str(path)))
        case = xml.SubElement(
            suite,
            "testcase",
            name=_text(report.title),
            classname=_text(path.stem),
            time=f"{report.seconds:.3f}",
        )
        for failure in report.failures:
            told = xml.SubElement(case, "failure", message=_text(failure.message), type=failure.code)
            told.text = _text(render(failure))
        if report.warnings:
            xml.SubElement(case, "system-err").text = _text("\n".join(map(render, report.warnings)))
    for suite in (root, *suites.values()):
        cases = list(suite.iter("testcase"))
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
        suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    document: bytes = xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _text(text: str) -> str:
    return _ILLEGAL.sub("�", text)
