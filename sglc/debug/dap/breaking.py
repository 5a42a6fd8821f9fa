"""Requests on breakpoints: of lines, functions, holes, and what the protocol calls exceptions."""

from __future__ import annotations

from sglc.debug.dap.files import Files
from sglc.debug.dap.messages import BadRequest, Request
from sglc.runtime.debug.breakpoints import Breakpoint, Breakpoints, Hits, Limits, read_hits

FILTERS: tuple[dict[str, object], ...] = (
    {
        "filter": "ensure",
        "label": "Failed ensure",
        "description": "A condition of `ensure` or `check` does not hold.",
        "default": False,
    },
    {
        "filter": "expect",
        "label": "Failed expect",
        "description": "An expectation of a test does not hold.",
        "default": True,
    },
    {
        "filter": "raised",
        "label": "Raised errors",
        "description": "An error arises, also one that will be caught.",
        "default": False,
    },
    {
        "filter": "uncaught",
        "label": "Uncaught errors",
        "description": "An error arises for which no handler is open.",
        "default": True,
    },
    {
        "filter": "rounds",
        "label": "Rounds of a search",
        "description": "A search (`decode exact`, `smc`, `beam`) begins, is between two rounds, or ends.",
        "default": False,
    },
    {
        "filter": "improbable",
        "label": "Improbable tokens",
        "description": "A token or option was drawn of a small probability.",
        "default": False,
        "supportsCondition": True,
        "conditionDescription": "the probability below which it is small; 0.01 where nothing is said",
    },
    {
        "filter": "pressure",
        "label": "Mask pressure",
        "description": "A mask took away a large part of the probability.",
        "default": False,
        "supportsCondition": True,
        "conditionDescription": "the part above which it is large; 0.5 where nothing is said",
    },
)
_USUAL = {"improbable": 0.01, "pressure": 0.5}
CHANGED = "the file was changed since the run began: lines are those of before"
Row = dict[str, object]


class Breaking:
    """The breakpoints that a client has set. Each request takes the place of the one before it."""

    def __init__(self, breakpoints: Breakpoints, files: Files) -> None:
        self._breakpoints = breakpoints
        self._files = files
        self._of_file: dict[int, list[int]] = {}
        self._of_names: list[int] = []

    def lines(self, request: Request, first: int) -> list[Row]:
        """`setBreakpoints`; `first` is the number of the first line for the client. Raises BadRequest."""
        file = self._files.file(request.part("source"))
        wanted = request.parts("breakpoints")
        if not wanted and "lines" in request.arguments:
            found = request.arguments["lines"]
            numbers = found if isinstance(found, list) else []
            wanted = [Request(request.number, request.command, {"line": each}) for each in numbers]
        if file is None:
            return [_unverified("this file is no part of the program") for _ in wanted]
        self._breakpoints.remove(self._of_file.pop(file, ()))
        made = [self._line(each, file, first) for each in wanted]
        self._of_file[file] = [each.number for each in made if isinstance(each, Breakpoint)]
        rows = [self._row(each, first) if isinstance(each, Breakpoint) else each for each in made]
        if self._files.changed(file) and not request.part("source").number_of("sourceReference", 0):
            return [{**row, "message": row.get("message", CHANGED)} for row in rows]
        return rows

    def _line(self, wanted: Request, file: int, first: int) -> Breakpoint | Row:
        line = wanted.number_of("line") + 1 - first
        hits = _hits(wanted)
        if isinstance(hits, str):
            return _unverified(hits)
        return self._breakpoints.at_line(
            file, line, wanted.text("condition", ""), hits, wanted.text("logMessage", "")
        )

    def names(self, request: Request, first: int) -> list[Row]:
        """`setFunctionBreakpoints`: functions, and holes as `f.hole`. Raises BadRequest."""
        self._breakpoints.remove(self._of_names)
        self._of_names = []
        found: list[Row] = []
        for wanted in request.parts("breakpoints"):
            name, hits = wanted.text("name"), _hits(wanted)
            if isinstance(hits, str):
                found.append(_unverified(hits))
                continue
            holes = self._breakpoints.places.at_hole(name)
            make = self._breakpoints.at_hole if holes else self._breakpoints.at_function
            made = make(name, wanted.text("condition", ""), hits)
            self._of_names.append(made.number)
            found.append(self._row(made, first))
        return found

    def locations(self, request: Request, first: int) -> list[Row]:
        """`breakpointLocations`: the lines with code. Raises BadRequest."""
        file = self._files.file(request.part("source"))
        begin = request.number_of("line")
        end = request.number_of("endLine", begin)
        if file is None:
            return []
        lines = [each + first - 1 for each in self._breakpoints.places.lines(file)]
        return [{"line": line} for line in lines if begin <= line <= end]

    def _row(self, made: Breakpoint, first: int) -> Row:
        if not made.verified:
            return {"id": made.number, **_unverified(_why(made))}
        assert made.file is not None
        line = made.line + first - 1
        return {"id": made.number, "verified": True, "line": line, "source": self._files.source(made.file)}


def _why(made: Breakpoint) -> str:
    return "no code from this line on" if made.kind == "line" else f"there is no {made.kind} `{made.name}`"


def _unverified(message: str) -> Row:
    return {"verified": False, "message": message}


def _hits(wanted: Request) -> Hits | str:
    """At which times a breakpoint stops; a text says what is wrong."""
    found = read_hits(wanted.text("hitCondition", ""))
    return "a hit condition is a number, or one behind >=, >, ==, <=, < or %" if found is None else found


def set_filters(limits: Limits, request: Request) -> list[Row]:
    """`setExceptionBreakpoints`. Raises BadRequest for filters that there are not."""
    asked = [(name, "") for name in request.texts("filters")]
    asked += [(each.text("filterId"), each.text("condition", "")) for each in request.parts("filterOptions")]
    known = {str(each["filter"]) for each in FILTERS}
    unknown = [name for name, _ in asked if name not in known]
    if unknown:
        raise BadRequest(f"there is no filter `{unknown[0]}`; filters: {', '.join(sorted(known))}")
    names = {name for name, _ in asked}
    for name in ("ensure", "expect", "raised", "uncaught", "rounds"):
        setattr(limits, name, name in names)
    limits.improbable = limits.pressure = None
    rows: list[Row] = []
    for name, condition in asked:
        if name not in _USUAL:
            rows.append({"verified": True})
            continue
        share = _share(condition, _USUAL[name])
        if share is None:
            rows.append(_unverified("the condition is a number from 0 to 1"))
            continue
        setattr(limits, name, share)
        rows.append({"verified": True})
    return rows


def _share(text: str, usual: float) -> float | None:
    if not text.strip():
        return usual
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0.0 <= share <= 1.0 else None
