"""Results of rows: what is finished stays finished, whatever ended the run before."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.commands.running.rows import BadRows, NoResults, Results, Row, digest_of, read_rows


def write_rows(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_rows_are_numbered_without_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": 1}\n\n  \n{"x": 2}', encoding="utf-8")
    assert [(row.number, row.line, dict(row.arguments)) for row in read_rows(path, "f")] == [
        (0, 1, {"x": 1}),
        (1, 4, {"x": 2}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"x": 1}\n{"x": \n', "line 2: no JSON"),
        (b"[1]\n", "line 1 is not a JSON object"),
        (b'{"x": NaN}\n', "NaN is no number"),
        (b'{"x": "\xff"}\n', "line 1 is not UTF-8"),
        (b"[" * 100_000 + b"\n", "nesting is too large"),
        (b'{"x": 1' + b"0" * 5000 + b"}\n", "a number or the nesting is too large"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(text)
    with pytest.raises(BadRows, match=message):
        read_rows(path, "f")


def test_decimals_of_rows_stay_exact(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": 0.1000000000000000055511151231257827}\n', encoding="utf-8")
    assert read_rows(path, "f")[0].arguments["x"] == Decimal("0.1000000000000000055511151231257827")


def test_finished_rows_are_known_again(tmp_path: Path) -> None:
    rows = read_rows(write_rows(tmp_path / "rows.jsonl", {"x": 1}, {"x": 2}), "f")
    out = tmp_path / "results.jsonl"
    results = Results(out)
    results.add(rows[0], {"ok": True}, value='{"a": 0.10}')
    results.close()
    again = Results(out)
    assert (0, rows[0].digest) in again.finished
    assert (1, rows[1].digest) not in again.finished
    again.close()
    assert out.read_text(encoding="utf-8") == (
        f'{{"row": 0, "digest": "{rows[0].digest}", "ok": true, "value": {{"a": 0.10}}}}\n'
    )


@given(cut=st.integers(0, 400))
def test_a_file_cut_off_anywhere_keeps_its_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    out = tmp_path_factory.mktemp("cut") / "results.jsonl"
    results = Results(out)
    rows = [Row(number, number + 1, {"x": number}, digest_of("f", {"x": number})) for number in range(5)]
    for row in rows:
        results.add(row, {"ok": True}, value='"täxt"')
    results.close()
    whole = out.read_bytes()
    out.write_bytes(whole[:cut])
    again = Results(out)
    assert len(again.finished) == whole[:cut].count(b"\n")
    for row in rows:
        if (row.number, row.digest) not in again.finished:
            again.add(row, {"ok": True}, value='"täxt"')
    again.close()
    assert out.read_bytes() == whole


@pytest.mark.parametrize("retry_errors", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        b"notes of a month\n",
        b"notes without an end of line",
        b'{"x": 1}\n{"x": 2}\n',
        b'{"row": 0, "digest": "a", "ok": false}\nnotes\n{"row": 1, "digest": "b", "ok": true}\n',
        b'{"row": 0}\n',
        b"\n",
        b"\xff\xfe",
    ],
)
def test_a_file_of_other_things_is_refused_and_left_alone(
    tmp_path: Path, text: bytes, retry_errors: bool
) -> None:
    out = tmp_path / "notes.txt"
    out.write_bytes(text)
    with pytest.raises(NoResults, match="is no result of a row"):
        Results(out, retry_errors=retry_errors)
    assert out.read_bytes() == text
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("rest", [b"", b"{", b'{"row": 1, "dig', b'{"row": 1\0\0\0', b"\0\0\0\0"])
def test_a_file_behind_a_link_stays_where_it_is(tmp_path: Path, rest: bytes) -> None:
    kept = b'{"row": 0, "digest": "a", "ok": true}\n'
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_bytes(kept + b'{"row": 2, "digest": "c", "ok": false}\n' + rest)
    real.chmod(0o640)
    link.symlink_to(real)
    Results(link, retry_errors=True).close()
    assert link.is_symlink() and real.read_bytes() == kept
    assert real.stat().st_mode & 0o777 == 0o640
    real.write_bytes(kept + rest)
    Results(link).close()
    assert link.is_symlink() and real.read_bytes() == kept


def test_half_a_surrogate_pair_is_written_as_its_escape(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    results = Results(out)
    results.add(Row(0, 1, {}, "a"), {"ok": False, "error": {"reason": "\ud800 \u00e9"}})
    results.close()
    entry = json.loads(out.read_text(encoding="utf-8"))
    assert entry["error"]["reason"] == "\ud800 \u00e9"


def test_arguments_of_all_rows_are_part_of_their_digests(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.jsonl", {"x": 1}, {"x": 1, "y": 2})
    alone, common = read_rows(path, "f"), read_rows(path, "f", {"y": 2})
    assert alone[0].digest != common[0].digest == alone[1].digest == common[1].digest
    assert dict(common[0].arguments) == {"x": 1}


def test_failed_rows_are_drawn_again_only_when_asked(tmp_path: Path) -> None:
    out = tmp_path / "results.jsonl"
    row = Row(0, 1, {"x": 1}, digest_of("f", {"x": 1}))
    results = Results(out)
    results.add(row, {"ok": False, "error": {"name": "Truncated"}})
    results.close()
    kept = Results(out)
    assert kept.finished == kept.failed == {(0, row.digest)}
    kept.close()
    dropped = Results(out, retry_errors=True)
    assert not dropped.finished
    dropped.close()
    assert out.read_text(encoding="utf-8") == ""


@pytest.mark.slow
@given(
    st.dictionaries(
        st.text(), st.integers() | st.text() | st.decimals(allow_nan=False) | st.lists(st.booleans())
    ),
)
def test_a_digest_does_not_depend_on_the_order_of_arguments(arguments: dict[str, object]) -> None:
    backwards = dict(reversed(list(arguments.items())))
    assert digest_of("f", arguments) == digest_of("f", backwards)
    assert digest_of("f", arguments) != digest_of("g", arguments)


def test_a_digest_tells_values_apart() -> None:
    values = [1, "1", True, None, Decimal(1), [1], {"a": 1}, {"decimal": "1.0"}, 1.5]
    assert len({digest_of("f", {"x": value}) for value in values}) == len(values)
