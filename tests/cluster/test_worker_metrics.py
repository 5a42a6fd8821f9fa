"""Metrics of workers as those of one server: labels, sums over deaths, what a counter may do."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.fake_workers import Fleet
from oracles.prometheus_text import samples
from sglc.runtime.cluster.messages import written
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.scaling import Sizes
from sglc.runtime.metrics.families import Family, ReadFamilies
from sglc.runtime.metrics.figures import BOUNDS, Histogram
from sglc.runtime.metrics.workers import WorkerFigures, received, sent

NAMES = ("f", "g")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("count"), st.integers(0, 2), st.sampled_from(NAMES), st.floats(0, 400)),
        st.tuples(st.just("tell"), st.integers(0, 2), st.just("f"), st.just(0.0)),
        st.tuples(st.just("die"), st.integers(0, 2), st.just("f"), st.just(0.0)),
    ),
    max_size=40,
)


class Process:
    """The oracle of a worker: what it has counted, value by value."""

    def __init__(self) -> None:
        self.values: list[tuple[str, float]] = []

    def families(self) -> list[Family]:
        count = Family("counter", "calls", "Calls.", ("function",))
        seconds = Family("histogram", "seconds", "Seconds.", ("function",))
        for name in NAMES:
            histogram = Histogram()
            for each, value in self.values:
                if each == name:
                    histogram.add(value)
            if histogram.count:
                count.add(histogram.count, name)
                seconds.spread(histogram, name)
        return [count, seconds, Family("gauge", "now", "Now.", (), {(): (len(self.values),)})]


@given(STEPS)
def test_what_was_told_is_summed_and_never_falls(steps: list[tuple[str, int, str, float]]) -> None:
    whole = WorkerFigures()
    alive = {place: Process() for place in range(3)}
    told: Counter[tuple[int, str]] = Counter()
    past: Counter[tuple[int, str]] = Counter()
    now: dict[int, int] = {}
    before: dict[tuple[str, ...], tuple[float, ...]] = {}
    for what, place, name, value in steps:
        if what == "count":
            alive[place].values.append((name, value))
        elif what == "tell":
            whole.told(place, received(json.loads(json.dumps(sent(alive[place].families())))))
            now[place] = len(alive[place].values)
            counted = Counter(each for each, _ in alive[place].values)
            for each in NAMES:
                told[place, each] = past[place, each] + counted[each]
        else:
            whole.ended(place)
            alive[place] = Process()
            now.pop(place, None)
            for each in NAMES:
                past[place, each] = told[place, each]
        found = {family.name: family for family in whole.families()}
        if not found:
            continue
        expected = {(str(at), each): (float(count),) for (at, each), count in told.items() if count}
        assert found["calls"].samples == expected and found["calls"].labels == ("worker", "function")
        assert found["now"].samples == {(str(at),): (count,) for at, count in now.items()}
        for labels, numbers in found["seconds"].samples.items():
            assert numbers[len(BOUNDS)] == expected[labels][0]  # all values are below infinity
            assert all(a <= b for a, b in zip(before.get(labels, numbers), numbers, strict=True))
        before = found["seconds"].samples
    text = ReadFamilies(list(whole.families()))
    if before:
        from sglc.runtime.metrics import prometheus

        read = samples(prometheus.text(text))
        for (at, each), count in told.items():
            if count:
                assert read[f"calls_total{{function={each},worker={at}}}"] == count
                assert read[f"seconds_count{{function={each},worker={at}}}"] == count


@pytest.mark.parametrize(
    "data",
    [
        [1],
        [["counter", "n", "h", [], [[["x"], [1]]]]],
        [["sum", "n", "h", [], []]],
        [["counter", "n", "h", [], [[[], ["1"]]]]],
        [["counter", "n", "h", [], [[[], [True]]]]],
        [["counter", 3, "h", [], []]],
    ],
)
def test_what_is_no_family_is_refused(data: list[object]) -> None:
    with pytest.raises(ValueError):
        received(data)


def test_the_pool_tells_of_its_workers_and_of_those_that_died(monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = Fleet()

    async def whole() -> None:
        pool = Pool(fleet.start, written(setup={}), Sizes(2, 2))
        await pool.open()

        async def text() -> dict[str, float]:
            from sglc.runtime.metrics import prometheus

            return samples(prometheus.text(ReadFamilies(await pool.families())))

        fleet.links[0].metrics, fleet.links[1].metrics = {"n": 3.0, "up": 1.0}, {"n": 4.0, "up": 1.0}
        found = await text()
        assert (found["n_total{worker=0}"], found["n_total{worker=1}"]) == (3, 4)
        assert found["sglc_workers{state=ready}"] == 2 and found["sglc_worker_deaths_total{}"] == 0
        fleet.links[0].die()
        while pool.ready < 2 or len(fleet.links) < 3:
            await asyncio.sleep(0)
        fleet.links[2].metrics = {"n": 1.0}
        found = await text()
        assert (found["n_total{worker=0}"], found["n_total{worker=1}"]) == (4, 4)
        assert "up{worker=0}" not in found and found["up{worker=1}"] == 1
        assert found["sglc_worker_deaths_total{}"] == 1
        fleet.links[1].metrics = None  # it does not answer: what it told last stands
        monkeypatch.setattr("sglc.runtime.cluster.pool.METRICS_SECONDS", 0.01)
        assert (await text())["n_total{worker=1}"] == 4
        await pool.close()

    asyncio.run(asyncio.wait_for(whole(), 30))
