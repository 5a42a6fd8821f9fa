"""Every example on a real model: whether its value is legal, and what it took.

    python -P tests/benchmarks/engine/examples_on_model.py [MODEL [SEED]]

Runs each example with its default arguments (or the JSON file beside it) and checks the value against the
declared type once more, by the printer and decoder, not by the masks.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from sglc.commands.running.arguments import bind, choose_function
from sglc.driver import compile_file
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.load import load_model
from sglc.runtime.session import Session
from sglc.types.language.membership import is_member
from sglc.types.text.decode import decode
from sglc.types.text.printer import print_value

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.sgl"))
THEME = {"theme": "a lighthouse at the end of the world"}


def arguments_of(path: Path) -> dict[str, Any]:
    beside = path.with_suffix(".json")
    if beside.exists():
        return dict(json.loads(beside.read_text(encoding="utf-8")))
    return dict(THEME) if path.stem == "character" else {}


def main(name: str = "smollm2", seed: str = "0") -> int:
    started = perf_counter()
    model = load_model(name)
    print(f"{name}: ready after {perf_counter() - started:.1f} s\n")
    engine = ReferenceEngine(model)
    print(
        f"{'program':<18}{'legal':>6}{'tokens':>8}{'forced':>8}{'forwards':>9}{'share':>7}{'s':>7}{'ms/tok':>8}"
    )
    wrong = 0
    values = []
    for path in EXAMPLES:
        program = compile_file(path).program
        assert program is not None, path
        code, _ = choose_function(program, None)
        if code is None:  # several that are public alike: the first of them
            code = next((code for code in program.codes if code.public), None)
        if code is None or code.kind != "fn":
            continue
        bound, problems = bind(program, code, {}, arguments_of(path))
        assert not problems, problems
        started = perf_counter()
        try:
            result = asyncio.run(Session(program, engine).run(code.name, bound, seed=int(seed)))
        except SglError as error:
            print(f"{path.stem:<18}{'-':>6}  {error}")
            wrong += 1
            continue
        seconds = perf_counter() - started
        assert code.result is not None
        wanted = program.types[code.result]
        text = print_value(result.value, wanted, program.table)
        legal = is_member(result.value, wanted, program.table)
        legal = legal and decode(text, wanted, program.table) == result.value
        wrong += not legal
        took = result.statistics
        share = took.forwards / max(took.output_tokens, 1)
        print(
            f"{path.stem:<18}{'yes' if legal else 'NO':>6}{took.output_tokens:>8}{took.forced_tokens:>8}"
            f"{took.forwards:>9}{share:>7.0%}{seconds:>7.1f}{took.outside_median_ms:>8.3f}"
        )
        values.append(f"{path.stem}: {text}")
    engine.close()
    print()
    print("\n".join(values))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
