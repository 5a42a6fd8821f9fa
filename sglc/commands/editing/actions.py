"""What an editor has done with an open program: its prompts shown, its plan made, its tests run.

These do what `sglc prompt`, `sglc plan` and `sglc test` do, with the text as the editor has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.commands.shared.invocation import fault
from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.diagnostics.render import to_json
from sglc.options import CompileOptions
from sglc.source import Source

if TYPE_CHECKING:
    from sglc.bytecode.code import Code, Program
    from sglc.library import Library
    from sglc.runtime.tokenizer import Tokenizer
    from sglc.types.type import Type

MOST_STEPS = 1_000_000
"""Steps of the machine after which a preview ends."""

Answer = dict[str, object]
"""Plain data: `ok`, what was asked for, and `diagnostics`."""


class Actions:
    """What is done with programs. Each answer is plain data; nothing that a program does raises here."""

    def preview(
        self, source: Source, library: Library, tokenizer: Tokenizer | None, wanted: Mapping[str, object]
    ) -> Answer:
        """The conversations of a call. `function`, `arguments` (texts by name; others get a value of their
        type), `fuzz` and `seed` say which call it is; `text` is what `sglc prompt` prints."""
        from sglc.commands.prompting.drawing import Drawing
        from sglc.commands.running.arguments import bind, choose_function
        from sglc.runtime.errors import diagnostic_of
        from sglc.runtime.preview import preview

        program, found = _compiled(source, library)
        if program is None:
            return _refused(found)
        name = wanted.get("function")
        code, problems = choose_function(program, name if isinstance(name, str) else None)
        if code is None:
            return _refused(problems)
        given = wanted.get("arguments")
        texts = {str(k): str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}
        bound, problems = bind(program, code, {**_placeholders(program, code), **texts}, {})
        if problems:
            return _refused(problems)
        seed = wanted.get("seed", 0)
        shown = asyncio.run(
            preview(
                program,
                code.name,
                bound,
                tokenizer=tokenizer,
                fuzz=wanted.get("fuzz") is True,
                seed=seed if isinstance(seed, int) else 0,
                steps=MOST_STEPS,
            )
        )
        drawing = Drawing(program, tokenizer)
        failed = [] if shown.error is None else [diagnostic_of(shown.error, program)]
        return {
            "ok": not failed,
            "function": code.name,
            "arguments": {key: str(value) for key, value in bound.items()},
            "text": "\n\n".join(drawing.text(each) for each in shown.conversations),
            "conversations": [drawing.data(each) for each in shown.conversations],
            "diagnostics": [to_json(each) for each in failed],
        }

    def functions(self, source: Source, library: Library) -> Answer:
        """The functions that can be run, with what is asked for before they are."""
        from sglc.commands.editing.asked import asked_of

        program, found = _compiled(source, library)
        if program is None:
            return _refused(found)
        return {"ok": True, "functions": asked_of(program), "diagnostics": []}

    def plan(
        self,
        source: Source,
        library: Library,
        tokenizer: Tokenizer | None,
        model: str,
        wanted: Mapping[str, object],
    ) -> Answer:
        """The plan of `function`, of all functions that ask a model if none is named. `text` is what `sglc
        plan` prints, `plan` its data."""
        from sglc.plan.collect import plan_program
        from sglc.plan.data import as_data
        from sglc.plan.text import Picture

        program, found = _compiled(source, library)
        if program is None:
            return _refused(found)
        asking = [name for name, index in program.entry.items() if program.codes[index].kind == "fn"]
        name = wanted.get("function")
        names = [each for each in asking if name in (None, each)]
        counted = model if tokenizer is not None else ""
        plan = plan_program(program, names, model=counted, tokenizer=tokenizer)
        return {"ok": True, "text": Picture(plan).text(), "plan": as_data(plan), "diagnostics": []}

    def test(self, source: Source, library: Library, wanted: Mapping[str, object]) -> Answer:
        """Run the test with the title `test`, all tests if none is named, in so many `rounds` from `seed` on,
        without a model."""
        from sglc.recorded.goldens import GoldenFault, Goldens, golden_path
        from sglc.testing import run_tests

        program, found = _compiled(source, library)
        if program is None:
            return _refused(found)
        title, seed, rounds = wanted.get("test"), wanted.get("seed", 0), wanted.get("rounds", 1)
        path = Path(source.name)
        try:
            goldens = Goldens.open(golden_path(path))
        except GoldenFault as wrong:
            return _refused([fault("E0804", str(wrong))])
        reports = list(
            run_tests(
                program,
                seed=seed if isinstance(seed, int) else 0,
                rounds=max(1, min(1_000, rounds)) if isinstance(rounds, int) else 1,
                chosen=lambda code: title is None or code.name == title,
                place=path,
                goldens=goldens,
            )
        )
        return {
            "ok": all(report.passed for report in reports),
            "tests": [
                {
                    "title": report.title,
                    "passed": report.passed,
                    "seed": report.seed,
                    "rounds": report.rounds,
                    "expectations": report.expectations,
                    "seconds": round(report.seconds, 6),
                    "tags": list(report.tags),
                    "failures": [to_json(each) for each in report.failures],
                    "warnings": [to_json(each) for each in report.warnings],
                }
                for report in reports
            ],
            "diagnostics": [],
        }


def _compiled(source: Source, library: Library) -> tuple[Program | None, list[Diagnostic]]:
    from sglc.driver import compile_source

    result = compile_source(source, CompileOptions(), library)
    return (None if has_errors(result.diagnostics) else result.program), result.diagnostics


def _refused(found: list[Diagnostic]) -> Answer:
    return {"ok": False, "diagnostics": [to_json(each) for each in found if each.severity == "error"]}


def _placeholders(program: Program, code: Code) -> dict[str, str]:
    """Texts of values for the parameters that have no default: of text the name in brackets, else the
    shortest value."""
    found = {}
    for parameter in code.parameters:
        if not parameter.has_default:
            found[parameter.name] = _placeholder(
                f"<{parameter.name}>", program.types[parameter.type], program
            )
    return found


def _placeholder(name: str, type: Type, program: Program) -> str:
    from sglc.automata.analysis.emptiness import shortest
    from sglc.automata.dfa.operations import TooLong
    from sglc.types.language.language import language
    from sglc.types.language.membership import MemberError
    from sglc.types.text.plain_json import from_text
    from sglc.types.type import LanguageError

    try:
        from_text(name, type, program.table)
        return name
    except MemberError:
        pass
    try:
        return (shortest(language(type, program.table, surface="json")) or b"").decode().strip('"')
    except (LanguageError, TooLong, UnicodeDecodeError):
        return ""
