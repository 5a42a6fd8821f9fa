"""The part of SARIF 2.1.0 that sglc writes, as a JSON Schema: which properties there are, which must be.

Written from the standard (OASIS, 2020), sections 3.13 to 3.57; nothing but these properties may be there.
`SGLC_SARIF_SCHEMA` names the whole schema of the standard, which then judges, too.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema

FROM_ONE = {"type": "integer", "minimum": 1}
FROM_ZERO = {"type": "integer", "minimum": 0}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def _list(item: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": least}


TEXT = {"type": "string", "minLength": 1}
MESSAGE = _object({"text": TEXT})
ARTIFACT = _object({"uri": {"type": "string", "pattern": r"^[A-Za-z0-9._~:/%-]+$"}})
REGION = _object(
    {"startLine": FROM_ONE, "startColumn": FROM_ONE, "endLine": FROM_ONE, "endColumn": FROM_ONE},
    {"charOffset": FROM_ZERO, "charLength": FROM_ZERO},
)
LOCATION = _object(
    {"physicalLocation": _object({"artifactLocation": ARTIFACT, "region": REGION})}, {"message": MESSAGE}
)
REPLACEMENT = _object({"deletedRegion": REGION}, {"insertedContent": _object({"text": {"type": "string"}})})
FIX = _object(
    {
        "description": MESSAGE,
        "artifactChanges": _list(
            _object({"artifactLocation": ARTIFACT, "replacements": _list(REPLACEMENT, 1)}), 1
        ),
    }
)
RESULT = _object(
    {"ruleId": TEXT, "ruleIndex": FROM_ZERO, "level": LEVEL, "message": MESSAGE},
    {"locations": _list(LOCATION, 1), "relatedLocations": _list(LOCATION, 1), "fixes": _list(FIX, 1)},
)
RULE = _object(
    {
        "id": TEXT,
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": MESSAGE,
        "defaultConfiguration": _object({"level": LEVEL}),
    }
)
DRIVER = _object({"name": TEXT, "semanticVersion": TEXT, "rules": _list(RULE)})
RUN = _object(
    {
        "tool": _object({"driver": DRIVER}),
        "columnKind": {"const": "unicodeCodePoints"},
        "invocations": _list(_object({"executionSuccessful": {"type": "boolean"}}), 1),
        "results": _list(RESULT),
    }
)
LOG = _object({"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": _list(RUN, 1)})


def judge(log: dict[str, Any]) -> None:
    """Raises ValidationError for a log that is none, AssertionError where its parts do not fit together."""
    jsonschema.validate(log, LOG)
    whole = os.environ.get("SGLC_SARIF_SCHEMA")
    if whole:
        jsonschema.validate(log, json.loads(Path(whole).read_text(encoding="utf-8")))
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result in run["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
