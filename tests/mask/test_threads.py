"""Constraints are shared by threads: whatever they do at once, masks are those of one thread alone.

Shared dicts give way to other threads at each look-up and each change, so that what happens between two of
them does happen.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from sglc.automata.caches import LeastUsed
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.artifact.build import TableBudget, tabulate
from sglc.runtime.mask.artifact.constraint import TabledConstraint, TabledStore
from sglc.runtime.mask.automaton.limits import ConstraintOptions, LimitTracker
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.core.intern_table import Interned
from sglc.runtime.mask.core.table_bytes import MachineLock
from sglc.runtime.mask.lexeme.table import LexemeDfa
from sglc.runtime.mask.mask_cache import MaskStore
from sglc.runtime.mask.matcher import Matcher, fill_masks
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.core.options import SchemaOptions

THREADS = 6
PIECES = [bytes([byte]) for byte in range(256)] + [
    b'{"',
    b'": ',
    b'", "',
    b"ab",
    b" + (",
    b"12",
    b'"a',
    b"a1",
    b"]}",
    b"x(",
    b", ",
    "é".encode(),
    b"aaaa",
]
SCHEMA = {
    "type": "object",
    "properties": {
        "ab": {"type": "string", "pattern": "^[a-z]{2,8}$"},
        "of": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"enum": ["a", "b", 3]}}]},
        "more": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["ab"],
}
DISTINCT = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "ab", 1]}}
GRAMMAR = """
start: sum
sum: sum "+" product | product
product: product "*" operand | operand
operand: NAME | /[0-9]+/ | "(" sum ")" | NAME "(" [sum ("," sum)*] ")"
NAME: /[a-z]+/
%ignore /[ ]+/
"""
ANY = SchemaOptions(order="any", spelling="any")


def constraints(options: ConstraintOptions) -> list[Constraint]:
    return [
        compile_constraint(json_schema=SCHEMA, schema_options=ANY, options=options),
        compile_constraint(json_schema=DISTINCT, options=options),
        compile_constraint(grammar=GRAMMAR, options=options),
        compile_constraint(regex="(a|ab|[0-9]{1,3})*x?", options=options),
    ]


def _give_way() -> None:
    time.sleep(0)


def yielding(kind: type) -> type:
    """A kind of dict at each of whose steps other threads may come in between."""

    class Yielding(kind):  # type: ignore[misc]
        def get(self, *given: Any) -> Any:
            found = super().get(*given)
            _give_way()
            return found

        def __contains__(self, key: object) -> bool:
            found = super().__contains__(key)
            _give_way()
            return bool(found)

        def __setitem__(self, key: Any, value: Any) -> None:
            _give_way()
            super().__setitem__(key, value)

        def __delitem__(self, key: Any) -> None:
            _give_way()
            super().__delitem__(key)

        def clear(self) -> None:
            super().clear()
            _give_way()

    return Yielding


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads change places as often as can be, and caches are small, so that all of them are emptied."""

    def delayed(made: Callable[..., None], names: tuple[str, ...]) -> Callable[..., None]:
        def with_delays(self: MaskStore | TabledStore, *given: Any) -> None:
            made(self, *given)
            for name in names:
                kept = getattr(self, name)
                kind: type = Interned if isinstance(kept, Interned) else dict
                setattr(self, name, yielding(kind)())
            self._most_masks = 8

        return with_delays

    def bounded(self: LeastUsed[Any, Any], *given: Any, **named: Any) -> None:
        kept(self, *given, **named)
        self._values = yielding(OrderedDict)()
        self._most = min(self._most, 2_000)

    kept = LeastUsed.__init__
    shared = ("masks", "transitions")
    monkeypatch.setattr(MaskStore, "__init__", delayed(MaskStore.__init__, shared))
    shared = ("masks", "transitions", "_rows", "_ways", "_places")
    monkeypatch.setattr(TabledStore, "__init__", delayed(TabledStore.__init__, shared))
    monkeypatch.setattr(LeastUsed, "__init__", bounded)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    workspaces.clear()
    yield
    sys.setswitchinterval(before)
    workspaces.clear()


def at_once(work: Callable[[int], None], count: int = THREADS) -> None:
    """Run threads that begin together; raises what one of them has raised."""
    faults: list[BaseException] = []
    ready = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            ready.wait()
            work(number)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def wander(matcher: Matcher, vocabulary: Vocabulary, dice: random.Random, met: dict[bytes, bytes]) -> None:
    """Take legal tokens, some of them back, go on with copies; note the mask of each text."""
    rows = np.zeros((8, vocabulary.words), np.int32)
    for _ in range(12):
        if dice.random() < 0.3:
            fill_masks([matcher.clone() for _ in range(8)], rows)
            row = rows[dice.randrange(8)]
        else:
            row = rows[0]
            matcher.fill_mask(row)
        legal = vocabulary.unpack(row)
        assert met.setdefault(matcher.text(), row.tobytes()) == row.tobytes()
        if not len(legal):
            break
        token = int(dice.choice(legal))
        assert matcher.allows(token)
        if dice.random() < 0.3:
            assert matcher.accept_bytes(vocabulary.token_bytes[token] or b"")
        else:
            assert matcher.accept(token)
        assert not matcher.accept(len(PIECES))
        if dice.random() < 0.2:
            matcher.rollback(dice.randint(1, matcher.steps))
        if dice.random() < 0.2:
            matcher = matcher.clone()
        matcher.forced()


def alone(constraint: Any, vocabulary: Vocabulary, text: bytes) -> bytes:
    """The mask after a text, of one thread that does nothing else."""
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(text)
    row = np.zeros(vocabulary.words, np.int32)
    matcher.fill_mask(row)
    return row.tobytes()


# 30 kB: constraints move to new workspaces all the time. 64 MB: all are in one.
@pytest.mark.slow
@pytest.mark.parametrize("table_bytes", [30_000, 64 << 20])
def test_masks_are_those_of_one_thread(busy: None, table_bytes: int) -> None:
    options = ConstraintOptions(table_bytes=table_bytes)
    shared = constraints(options)
    vocabularies = [Vocabulary(PIECES), Vocabulary([*reversed(PIECES)])]
    met: dict[tuple[int, int], dict[bytes, bytes]] = {(c, v): {} for c in range(len(shared)) for v in (0, 1)}

    def work(number: int) -> None:
        dice = random.Random(number)
        for _ in range(10):
            which, words = dice.randrange(len(shared)), dice.randrange(2)
            matcher = shared[which].matcher(vocabularies[words])
            wander(matcher, vocabularies[words], dice, met[which, words])
            if dice.random() < 0.2:
                shared[which].warm_up(vocabularies[words], 0.001)

    at_once(work)
    sys.setswitchinterval(0.005)
    workspaces.clear()
    fresh = constraints(ConstraintOptions())
    assert sum(map(len, met.values())) > 50
    for (which, words), masks in met.items():
        for text, row in masks.items():
            assert alone(fresh[which], vocabularies[words], text) == row, (which, text)


@pytest.mark.slow
def test_a_constraint_is_in_one_workspace(busy: None) -> None:
    """It moves while other threads open matchers; none of them begins where the other machine would."""
    options = ConstraintOptions(table_bytes=1)
    first = compile_constraint(regex="[a-f]+", options=options)
    other = compile_constraint(regex="(x|y(z|[0-9]))*!", options=options)
    vocabulary = Vocabulary(PIECES)

    def work(number: int) -> None:
        for _ in range(40):
            for constraint, text in ((first, b"abc"), (other, b"xyzy1!")):
                constraint._seat.most = 0
                matcher = constraint.matcher(vocabulary)
                assert matcher.accept_bytes(text)
                assert matcher.is_accepting()

    at_once(work)


@pytest.mark.slow
def test_tables_ahead_of_time_are_left_by_many_at_once(busy: None) -> None:
    language = compile_constraint(json_schema=SCHEMA).language
    vocabulary = Vocabulary(PIECES)
    tables = tabulate(language, vocabulary, budget=TableBudget(states=20))
    tabled = TabledConstraint(language, ConstraintOptions(mask_bytes=1), tables, vocabulary)
    met: dict[bytes, bytes] = {}

    def work(number: int) -> None:
        dice = random.Random(number)
        for _ in range(8):
            wander(tabled.matcher(vocabulary), vocabulary, dice, met)

    at_once(work)
    plain = compile_constraint(language=language)
    for text, row in met.items():
        assert alone(plain, vocabulary, text) == row, text


def test_classes_of_a_vocabulary_are_kept_by_many_machines(busy: None) -> None:
    """Machines have locks of their own; rows of classes belong to the vocabulary that they share."""
    vocabulary = Vocabulary(PIECES)
    columns = vocabulary.columns
    sets = [np.array([bits << 8, bits], "<u8") for bits in range(1, 40)]
    rows = [columns.inside(groups, None).copy() for groups in sets]

    def work(number: int) -> None:
        dice = random.Random(number)
        for _ in range(300):
            which = dice.randrange(len(sets))
            assert (columns.inside(sets[which], None) == rows[which]).all()

    at_once(work)


def test_bytes_of_tables_are_on_the_machine_they_are_made_for() -> None:
    class Table(LexemeDfa):
        def describe(self, state: int) -> tuple[int, int, int]:
            return 0, 0, 0

    locks = [MachineLock() for _ in range(THREADS)]
    kept: list[list[Table]] = [[] for _ in locks]

    def work(number: int) -> None:
        for _ in range(200):
            with locks[number], locks[number]:
                table = Table()
                for state in range(40):
                    table.number(state)
                table.current()
                kept[number].append(table)

    at_once(work)
    for lock, tables in zip(locks, kept, strict=True):
        assert lock.tally.bytes == sum(table.arrays.rows.nbytes for table in tables) == 200 * 40 * 1024
    before = locks[1].tally.bytes
    kept[0].clear()
    assert locks[0].tally.bytes == 0 and locks[1].tally.bytes == before


def test_one_workspace_is_not_charged_for_another() -> None:
    """It was renewed too early where others had grown."""
    small = compile_constraint(regex="[a-f]{3}", options=ConstraintOptions(max_terms=199_001))
    size = small._seat.workspace.size
    vocabulary = Vocabulary(PIECES)
    large = compile_constraint(regex="(a|b)*a(a|b){9}", options=ConstraintOptions(max_terms=199_002))
    matcher = large.matcher(vocabulary)
    for byte in b"abbabaabbbabab":
        matcher.mask()
        assert matcher.accept_bytes(bytes([byte]))
    assert large.machine.lock.tally.bytes > 0
    assert small._seat.workspace.size == size
    account = LimitTracker(small.machine, small.options)
    with small.machine.lock, account:
        assert small.machine.lock.tally.bytes <= size
