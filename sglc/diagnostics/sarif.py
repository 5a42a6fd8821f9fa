"""Diagnostics as a SARIF log, the format in which code hosts and editors read findings.

Static Analysis Results Interchange Format (SARIF) 2.1.0, OASIS Standard, 2020. Columns count characters
(`unicodeCodePoints`), like those of a span. A file is named by the path that the command was given, as a
relative URI where that path is relative.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.diagnostics.diagnostic import Diagnostic, Edit, Severity
from sglc.diagnostics.edits import by_source, in_order
from sglc.diagnostics.render import plain
from sglc.source import Source, Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

Data = dict[str, object]


def sarif_log(diagnostics: Sequence[Diagnostic], version: str) -> Data:
    """A log of one run of sglc, of this version, that found the diagnostics."""
    severities = {diagnostic.code: diagnostic.severity for diagnostic in diagnostics}
    codes = sorted(severities)
    places = {code: place for place, code in enumerate(codes)}
    driver: Data = {
        "name": "sglc",
        "semanticVersion": version,
        "rules": [_rule(code, severities[code]) for code in codes],
    }
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": True}],
                "results": [_result(diagnostic, places[diagnostic.code]) for diagnostic in diagnostics],
            }
        ],
    }


def _rule(code: str, severity: Severity) -> Data:
    entry = CATALOGUE[code]
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.explanation},
        "help": {"text": f"`sglc explain {code}` shows examples."},
        "defaultConfiguration": {"level": severity},
    }


def _result(diagnostic: Diagnostic, place: int) -> Data:
    found: Data = {
        "ruleId": diagnostic.code,
        "ruleIndex": place,
        "level": diagnostic.severity,
        "message": {"text": told(diagnostic)},
    }
    if diagnostic.span is not None:
        found["locations"] = [_location(diagnostic.span)]
    related = [
        {**_location(label.span), "message": {"text": plain(label.text)}} for label in diagnostic.secondary
    ]
    if related:
        found["relatedLocations"] = related
    hint = plain(diagnostic.hint or diagnostic.message)
    fixes = [_fix(edits, hint) for edits in (diagnostic.edits, diagnostic.offered) if edits]
    if fixes:
        found["fixes"] = fixes
    return found


def told(diagnostic: Diagnostic) -> str:
    """What a diagnostic says, without drawing the program: message, reason, example and hint, a line each."""
    parts = (
        ("", diagnostic.message),
        ("reason: ", diagnostic.reason),
        ("example: ", diagnostic.witness),
        ("hint: ", diagnostic.hint),
    )
    return "\n".join(word + plain(text) for word, text in parts if text)


def _location(span: Span) -> Data:
    return {"physicalLocation": {"artifactLocation": _artifact(span.source), "region": _region(span)}}


def _artifact(source: Source) -> Data:
    path = Path(source.name)
    return {"uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())}


def _region(span: Span) -> Data:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _fix(edits: Sequence[Edit], text: str) -> Data:
    changes = [
        {
            "artifactLocation": _artifact(source),
            "replacements": [
                {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
                for edit in in_order(of_source)
            ],
        }
        for source, of_source in by_source(edits).items()
    ]
    return {"description": {"text": text}, "artifactChanges": changes}
