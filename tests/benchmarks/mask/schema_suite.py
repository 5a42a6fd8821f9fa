"""The JSON Schema test suite through mask engines: which keywords are right, refused or wrong.

    python tests/benchmarks/mask/schema_suite.py SUITE --draft draft2020-12 --engines sglc,llguidance
    [--optional]

SUITE is a checkout of the suite or a tar file of it (default: $SGLC_BENCH_SUITE). Counted are tests: `right`,
of `refused` schemas, valid but `over`-constrained, invalid but `under`-constrained, and `lost` (the engine
gave up, crashed or took too long). A value counts as allowed if json.dumps(value) and its end are.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.progress import track

import report
from mask.mask_worker import Worker
from mask.maskbench import (
    add_engine_arguments,
    bucket,
    given,
    start_workers,
    surroundings,
    table,
    text_of,
    write_json,
)

DRAFTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}
REMOTE = "http://localhost:1234/"
WORDS = """
The tests of JSON-Schema-Test-Suite by keyword: *right*; of schemas that are *refused*; valid but
*over*-constrained; invalid but *under*-constrained; *lost*, because the engine gave up, crashed or took too
long. A value counts as allowed if the masks allow json.dumps(value), token by token, and its end.
"""
VERDICTS = ("right", "refused", "over", "under", "lost")


class Suite:
    """The JSON files of the suite by their path (`tests/draft7/ref.json`)."""

    def __init__(self, place: str) -> None:
        self.files: dict[str, Any] = {}
        path = Path(place)
        for name, data in _folder(path) if path.is_dir() else _archive(path):
            parts = PurePosixPath(name).parts
            for root in ("tests", "remotes"):
                if root in parts and name.endswith(".json"):
                    inner = "/".join(parts[parts.index(root) :])
                    self.files[inner] = json.loads(data)
        if not self.files:
            raise SystemExit(f"{place} holds no test suite")

    def groups(self, draft: str, optional: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        """Keyword (the name of the file) and group of tests."""
        base = f"tests/{draft}/"
        for name in sorted(self.files):
            if name.startswith(base) and (optional or "/optional/" not in name):
                for group in self.files[name]:
                    yield name[len(base) : -len(".json")], group

    def remotes(self) -> dict[str, Any]:
        """The schemas that the tests refer to, by address."""
        found = {name: data for name, data in self.files.items() if name.startswith("remotes/")}
        return {REMOTE + name[len("remotes/") :]: data for name, data in found.items()}


def _folder(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(path.rglob("*.json")):
        yield file.relative_to(path).as_posix(), file.read_bytes()


def _archive(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name, content.read()


def options(draft: str, keyword: str, remotes: dict[str, Any]) -> dict[str, Any]:
    """What sglc is told: the draft of schemas that do not say, and the documents that they refer to.

    Formats are annotations in the tests that every implementation must pass, and asserted in optional ones.
    """
    return {
        "draft": draft.removeprefix("draft"),
        "formats": keyword.startswith("optional/format/"),
        "resources": remotes,
    }


def run(
    draft: str,
    groups: list[tuple[str, dict[str, Any]]],
    remotes: dict[str, Any],
    runners: list[Worker],
    seconds: float,
) -> list[dict[str, Any]]:
    """A record for every group of tests: the result of each engine and what became of its tests."""
    records = []
    for keyword, group in track(groups, description="groups", disable=not sys.stderr.isatty()):
        texts = [(text_of(test["data"]), test["valid"]) for test in group["tests"]]
        told = options(draft, keyword, remotes if "localhost" in json.dumps(group["schema"]) else {})
        job = {"kind": "schema", "constraint": group["schema"], "texts": texts, "options": told}
        for worker in runners:
            result = worker.run(job, seconds)
            for unused in ("masks", "commits"):
                result.pop(unused, None)
            records.append(
                {
                    "keyword": keyword,
                    "engine": worker.engine,
                    "group": group["description"],
                    "tests": [test["description"] for test in group["tests"]],
                    "schema": group["schema"],
                    "texts": texts,
                    "result": result,
                    "counts": counts(result, len(texts)),
                }
            )
    return records


def counts(result: dict[str, Any], tests: int) -> dict[str, int]:
    found = dict.fromkeys(VERDICTS, 0)
    if result["outcome"] == "refused":
        found["refused"] = tests
    elif "wrong" not in result:
        found["lost"] = tests
    else:
        for wrong in result["wrong"]:
            found["lost" if wrong["kind"] == "gave up" else wrong["kind"]] += 1
        found["right"] = tests - len(result["wrong"])
    return found


def keyword_table(records: list[dict[str, Any]], engines: list[str]) -> str:
    keywords = sorted({record["keyword"] for record in records})
    rows = [["keyword", "tests", *(f"{engine} {'/'.join(VERDICTS)}" for engine in engines)]]
    parts = [(keyword, [r for r in records if r["keyword"] == keyword]) for keyword in keywords]
    must = [record for record in records if not record["keyword"].startswith("optional/")]
    parts.append(("all that is not optional", must))
    if len(must) < len(records):
        parts.append(("all", records))
    for name, chosen in parts:
        cells = []
        for engine in engines:
            mine = [record["counts"] for record in chosen if record["engine"] == engine]
            cells.append("/".join(str(sum(count[verdict] for count in mine)) for verdict in VERDICTS))
        tests = sum(len(record["tests"]) for record in chosen if record["engine"] == engines[0])
        rows.append([name, str(tests), *cells])
    return table(rows)


def refused_table(records: list[dict[str, Any]], engine: str) -> str:
    """Markdown: what an engine refuses, by keyword and reason."""
    found: Counter[tuple[str, str]] = Counter()
    for record in records:
        result = record["result"]
        if record["engine"] == engine and result["outcome"] == "refused":
            found[record["keyword"], bucket(result["why"])] += len(record["tests"])
    rows = [["keyword", "reason", "tests"], *([*key, str(count)] for key, count in sorted(found.items()))]
    return table(rows, names=2) if found else "Nothing."


def differences(records: list[dict[str, Any]], engine: str) -> Iterator[str]:
    """A line for every refused group and every wrong test."""
    for record in records:
        result = record["result"]
        if record["engine"] != engine or result["outcome"] == "right":
            continue
        place = f"{record['keyword']}: {record['group']}"
        if "wrong" not in result:
            yield f"{place}: {result['outcome']}: {result.get('why')}"
        for wrong in result.get("wrong", ()):
            schema = json.dumps(record["schema"], ensure_ascii=False)
            text = record["texts"][wrong["text"]][0]
            why = f" ({wrong['why']})" if wrong["why"] else ""
            test = f"{record['tests'][wrong['text']]}: {wrong['kind']}{why}"
            yield f"{place}: {test}: {text[:80]} of {schema[:300]}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", nargs="?", help="folder or tar file of the test suite")
    parser.add_argument("--draft", action="append", choices=list(DRAFTS), help="default: all")
    parser.add_argument("--optional", action="store_true", help="also the optional tests")
    parser.add_argument("--keyword", action="append", help="files with this in their name")
    parser.add_argument("--beside", action="append", help="other engines than the first only in this draft")
    parser.add_argument("--diff", action="store_true", help="list what the first engine does not get right")
    parser.add_argument("--markdown", help="write a page with the tables here")
    add_engine_arguments(parser)
    arguments = parser.parse_args()
    suite = Suite(given(arguments.suite, "SGLC_BENCH_SUITE", "the test suite"))
    runners = start_workers(arguments)
    content: dict[str, Any] = {"about": surroundings(runners)}
    parts: list[str] = []
    for draft in arguments.draft or list(DRAFTS):
        groups = [
            (keyword, group)
            for keyword, group in suite.groups(draft, arguments.optional)
            if not arguments.keyword or any(part in keyword for part in arguments.keyword)
        ]
        used = runners if not arguments.beside or draft in arguments.beside else runners[:1]
        engines = [worker.engine for worker in used]
        records = run(draft, groups, suite.remotes(), used, arguments.timeout)
        content[draft] = records
        parts += [f"## {draft}", keyword_table(records, engines)]
        if engines[0] == "sglc":
            parts += ["What sglc refuses:", refused_table(records, engines[0])]
        print(f"\n{draft}\n\n{keyword_table(records, engines)}")
        if arguments.diff:
            print(f"\n{engines[0]}: not right")
            for line in differences(records, engines[0]):
                print(f"  {line}")
    for worker in runners:
        worker.close()
    if arguments.json:
        write_json(arguments.json, content)
    if arguments.markdown:
        title = "The test suite of JSON Schema"
        report.write_page(arguments.markdown, title, WORDS, "\n\n".join(parts), content["about"])


if __name__ == "__main__":
    main()
