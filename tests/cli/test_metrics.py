"""Accounts of runs: by hole, by function, in all; counted once however runs overlap, fail or fork."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sglc
from fakes.fake_executor import FakeExecutor
from fakes.hashed_engine import HashedEngine
from fakes.small_models import small_tokenizer
from oracles.prometheus_text import samples
from outcomes import compiled
from sglc.commands.running.statistics import as_tables
from sglc.driver import compile_file
from sglc.options import CompileOptions
from sglc.runtime.engine.core.statistics import Statistics
from sglc.runtime.engine.open import open_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.errors import SglError
from sglc.runtime.metrics.collector import Collector
from sglc.runtime.metrics.families import MetricsSource
from sglc.runtime.metrics.figures import BOUNDS, Histogram
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session

PROGRAM = """\
enum Mood: calm, furious

error Angry(text: str)

fn feel(text: str) -> Mood:
    user: | ${text}
    assistant: | ?{mood: select Mood}
    return mood.top

fn f(text: str) -> int raises Angry:
    user: | ${text}
    assistant:
        | ?{n: int in 100..999} and
        | ?{word: str max 8 chars}
    if feel(text) == furious:
        raise Angry(text)
    return n

fn wide() -> int:
    user: | x
    let all = fork i in 0..<3:
        assistant: | ?{n: int in 100..999}
        yield n
    return 1
"""


@pytest.fixture
def program(tmp_path: Path) -> Any:
    path = tmp_path / "p.sgl"
    path.write_text(PROGRAM, encoding="utf-8")
    compiled = compile_file(path, CompileOptions())
    assert compiled.program is not None, compiled.diagnostics
    return compiled.program


def session(program: Any, collector: Collector, answers: dict[str, Any] | None = None) -> Session:
    return Session(program, ReferenceEngine(ScriptedModel(answers or {})), recorder=collector)


# -- histograms ----------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1000, allow_nan=False), min_size=1), st.floats(0.01, 1))
def test_a_quantile_lies_in_the_bucket_of_the_true_one(values: list[float], share: float) -> None:
    histogram = Histogram()
    for value in values:
        histogram.add(value)
    true = sorted(values)[max(0, -(-len(values) * share // 1).__int__() - 1)]
    edges = (0.0, *BOUNDS, float("inf"))
    index = next(i for i in range(1, len(edges)) if true <= edges[i])
    found = histogram.quantile(share)
    assert edges[index - 1] <= found <= min(edges[index], max(values)) or found == pytest.approx(true)
    assert histogram.count == len(values) and histogram.cumulative()[-1] == ("+Inf", len(values))
    assert [size for _, size in histogram.cumulative()][:-1] == [sum(v <= b for v in values) for b in BOUNDS]


# -- a hole's own work ---------------------------------------------------------------------------------


def test_work_apart_is_told_for_itself_and_counts_on() -> None:
    branch: Branch = ReferenceEngine(ScriptedModel()).branch()
    branch.append([1, 2, 3])

    async def go() -> tuple[Statistics, Statistics]:
        await branch.logits()
        with branch.apart() as first:
            branch.append([4])
            await branch.logits()
        with pytest.raises(ZeroDivisionError), branch.apart() as second:
            branch.append([5, 6])
            await branch.logits()
            raise ZeroDivisionError
        return first, second

    first, second = asyncio.run(go())
    assert (first.forwards, first.tokens_fed, second.forwards, second.tokens_fed) == (1, 1, 1, 2)
    assert (branch.statistics.forwards, branch.statistics.tokens_fed) == (3, 6)


# -- the collector -------------------------------------------------------------------------------------


def test_every_hole_and_function_has_figures(program: Any) -> None:
    collector = Collector()
    joined = session(program, collector, {"n": 123, "word": "hello", "mood": "calm"})

    async def go() -> None:
        await asyncio.gather(*(joined.run("f", {"text": f"t{i}"}) for i in range(5)))

    asyncio.run(go())
    assert set(collector.holes) == {"f.n", "f.word", "feel.mood"}
    n, word, mood = (collector.holes[name] for name in ("f.n", "f.word", "feel.mood"))
    assert (n.fillings, n.tokens, n.sampled, n.failures) == (5, 15, 15, 0)
    assert word.fillings == 5 and word.tokens == 25 and word.prompt > n.prompt
    assert mood.mode == "select" and mood.fillings == 5 and mood.forwards > 0
    assert n.forwards == 15 and n.mask_seconds > 0 and n.seconds.count == 5
    assert collector.tokens == 40 and collector.total().fillings == 15
    assert collector.of_function("f").tokens == 40 and collector.of_function("feel").forwards == mood.forwards
    f = collector.functions["f"]
    assert (f.calls, f.runs, f.outcomes, collector.running) == (5, 5, {"ok": 5}, 0)
    assert collector.functions["feel"].calls == 5 and collector.functions["feel"].runs == 0
    assert collector.first_hole is not None


ORDERS = """
fn late(mail: str) -> int:
    system: | You count.
    user:
        | ${mail}
        | Say how many things are named, as one number of three digits, and nothing else at all, please.
    assistant:
        | It is ?{n: int in 100..999}
        | And now the number of letters, which stands behind what the model wrote: ?{m: int in 100..999}
    return n

fn early(mail: str) -> int:
    system: | Say how many things are named, as one number of three digits, and nothing else at all, please.
    user: | ${mail}
    assistant: | ?{n: int in 100..999}
    return n
"""


def test_constant_text_behind_values_is_counted_and_told(tmp_path: Path) -> None:
    path = tmp_path / "orders.sgl"
    path.write_text(ORDERS)
    executor = FakeExecutor(small_tokenizer())
    module = sglc.load(path, engine=open_engine(executor, memory=executor.block_bytes * 200))
    for text in ("a kettle", "two lamps", "three clocks and a coat"):
        module.late(text)
        module.early(text)
    holes = module.statistics()["holes"]
    rule = "Say how many things are named, as one number of three digits, and nothing else at all, please."
    expected = len(executor.tokenizer.encode(f"\n{rule}It is "))
    assert abs(holes["late.n"]["behind"] // 3 - expected) <= 1
    assert holes["late.m"]["behind"] == holes["early.n"]["behind"] == 0
    lines = [line for line in as_tables(module.statistics(), {}).splitlines() if line.startswith("order:")]
    assert len(lines) == 1 and "`late`" in lines[0] and "found again" in lines[0]


def test_one_run_alone_says_nothing_of_the_order(tmp_path: Path) -> None:
    path = tmp_path / "orders.sgl"
    path.write_text(ORDERS)
    executor = FakeExecutor(small_tokenizer())
    module = sglc.load(path, engine=open_engine(executor, memory=executor.block_bytes * 200))
    module.late("a kettle")
    assert "order:" not in as_tables(module.statistics(), {})


def test_the_work_of_holes_adds_up_to_the_engine_s(program: Any) -> None:
    collector = Collector()
    joined = session(program, collector, {"n": [123, 124, 125, 126], "word": "hello", "mood": "calm"})
    asyncio.run(joined.run("wide", {}))
    asyncio.run(joined.run("f", {"text": "a"}))
    engine = joined.engine
    assert engine is not None
    shared_prompt = 1  # the fork's prompt is read before its branches begin
    assert collector.total().forwards == engine.statistics.forwards - shared_prompt
    assert collector.holes["wide.n"].fillings == 3


def test_errors_are_counted_by_name(program: Any) -> None:
    collector = Collector()
    joined = session(program, collector, {"n": 123, "word": "hello", "mood": "furious"})
    with pytest.raises(SglError):
        asyncio.run(joined.run("f", {"text": "a"}))
    with pytest.raises(SglError):
        asyncio.run(joined.run("f", {"text": "a"}, max_tokens=1))

    async def cancelled() -> None:
        task = asyncio.create_task(joined.run("f", {"text": "a"}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    outcomes = collector.functions["f"].outcomes
    assert outcomes["Angry"] == 1 and outcomes["Cancelled"] == 1 and sum(outcomes.values()) == 3
    assert collector.holes["f.n"].failures == 2 and collector.running == 0


def test_a_test_of_a_program_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "p.sgl"
    path.write_text(
        PROGRAM + '\ntest "t":\n    mock f.n = 100\n    mock f.word = "x"\n    mock feel.mood = calm\n'
        '    expect f(text = "a") == 100\n',
        encoding="utf-8",
    )
    compiled = compile_file(path, CompileOptions())
    assert compiled.program is not None, compiled.diagnostics
    collector = Collector()
    joined = session(compiled.program, collector)
    assert asyncio.run(joined.run_test("t")).passed
    assert not collector.holes and not collector.functions


# -- Prometheus ----------------------------------------------------------------------------------------


def measured(program: Any) -> tuple[Collector, Session]:
    collector = Collector()
    joined = session(program, collector, {"n": 123, "word": "hello", "mood": "calm"})
    asyncio.run(joined.run("f", {"text": "secret words"}))
    return collector, joined


def test_prometheus_text_has_the_figures_and_no_texts(program: Any) -> None:
    from sglc.runtime.metrics import prometheus

    collector, joined = measured(program)
    assert joined.engine is not None
    text = prometheus.text(MetricsSource(collector, joined.engine))
    found = samples(text)
    assert found["sglc_runs_total{function=f,outcome=ok}"] == 1
    assert found["sglc_calls_total{function=feel}"] == 1
    assert found["sglc_hole_tokens_total{function=f,hole=word}"] == 5
    assert found["sglc_hole_seconds_bucket{function=f,hole=n,le=+Inf}"] == 1
    assert found["sglc_engine_forwards_total{}"] == joined.engine.statistics.forwards
    assert found["sglc_running_runs{}"] == 0
    assert not any(name.startswith("sglc_model_") for name in found)
    from sglc.runtime.metrics import report

    other = HashedEngine()
    other.statistics.forwards = 7
    models = {"big": other, "same": joined.engine}
    named = samples(prometheus.text(MetricsSource(collector, joined.engine, models)))
    assert {name for name in named if "model_forwards" in name} == {"sglc_model_forwards_total{model=big}"}
    assert named["sglc_model_forwards_total{model=big}"] == 7
    assert list(report.report(collector, joined.engine, models)["models"]) == ["big"]  # type: ignore[call-overload]
    assert "secret" not in text and "hello" not in text


def test_a_file_of_metrics_is_replaced_as_a_whole(program: Any, tmp_path: Path) -> None:
    from sglc.runtime.metrics import prometheus

    collector, joined = measured(program)
    path = tmp_path / "sglc.prom"
    source = MetricsSource(collector, joined.engine)
    prometheus.write(source, path)
    first = path.read_text(encoding="utf-8")
    asyncio.run(joined.run("f", {"text": "x"}))
    prometheus.write(source, path)
    assert samples(first)["sglc_runs_total{function=f,outcome=ok}"] == 1
    assert samples(path.read_text(encoding="utf-8"))["sglc_runs_total{function=f,outcome=ok}"] == 2
    assert [each.name for each in tmp_path.iterdir() if each.suffix != ".sgl"] == ["sglc.prom"]
    with pytest.raises(OSError):
        prometheus.write(source, tmp_path / "no-such-folder" / "x.prom")


def test_metrics_are_served_over_http(program: Any) -> None:
    import socket
    from urllib.request import urlopen

    from sglc.runtime.metrics import prometheus

    collector, joined = measured(program)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    stop = prometheus.serve(MetricsSource(collector, joined.engine), "127.0.0.1", port)
    try:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            assert samples(answer.read().decode())["sglc_runs_total{function=f,outcome=ok}"] == 1
        with pytest.raises(OSError):
            prometheus.serve(MetricsSource(collector), "127.0.0.1", port)
    finally:
        stop()


def test_the_cache_is_told_where_it_is_shared() -> None:
    from sglc.runtime.kv.accounts import CacheStats, DiskStats, OwnerStats
    from sglc.runtime.metrics import prometheus, report

    disk = DiskStats(3, 300, 1000, 4, 5, 1, 0, 2, 1, True)
    stats = CacheStats(10, 2, 3, 5, 1, 1, 64, 2, 200, 150, 7, 8, 9, disk, {"p": OwnerStats(100, 90, 3)})

    class Served(ReferenceEngine):
        tries = 0

        def get_cache_stats(self) -> CacheStats:
            self.tries += 1
            if self.tries == 1:
                raise RuntimeError("dictionary changed size during iteration")
            return stats

    found = samples(prometheus.text(MetricsSource(Collector(), Served(ScriptedModel()))))
    assert found["sglc_cache_blocks{state=held}"] == 5
    assert found["sglc_cache_tokens_reused_total{}"] == 150
    assert found["sglc_cache_program_tokens_reused_total{program=p}"] == 90
    assert found["sglc_disk_faults_total{kind=read}"] == 2 and found["sglc_disk_bytes{}"] == 300
    plain = report.cache(stats)
    assert plain["hit_rate"] == 0.75 and plain["owners"]["p"]["hit_rate"] == 0.9 and plain["bytes"] == 640


# -- spans ---------------------------------------------------------------------------------------------


def spans_of(program: Any, answers: dict[str, Any], function: str, texts: bool = False) -> list[Any]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from sglc.runtime.metrics import spans

    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = spans.tracer_of(provider)
    collector = Collector(spans.listening(tracer, "scripted", texts=texts))
    joined = session(program, collector, answers)

    async def go() -> None:
        arguments = {} if function == "wide" else {"text": "secret words"}
        with tracer.start_as_current_span("caller"):
            try:
                await joined.run(function, arguments)
            except SglError:
                pass

    asyncio.run(go())
    return list(memory.get_finished_spans())


def tree(spans: list[Any]) -> list[str]:
    """Each span as the path of names from the root, in the order in which they began."""
    by_id = {span.context.span_id: span for span in spans}

    def path(span: Any) -> str:
        name = span.attributes.get("sglc.hole", span.name)
        return name if span.parent is None else f"{path(by_id[span.parent.span_id])} > {name}"

    return [path(span) for span in sorted(spans, key=lambda span: span.start_time)]


def test_spans_are_nested_as_runs_calls_and_holes(program: Any) -> None:
    found = spans_of(program, {"n": 123, "word": "hello", "mood": "calm"}, "f")
    assert tree(found) == [
        "caller",
        "caller > run f",
        "caller > run f > f.n",
        "caller > run f > f.word",
        "caller > run f > call feel",
        "caller > run f > call feel > feel.mood",
    ]
    hole = next(span for span in found if span.attributes.get("sglc.hole") == "f.word")
    assert hole.name == "chat scripted"
    assert hole.attributes["gen_ai.operation.name"] == "chat"
    assert hole.attributes["gen_ai.provider.name"] == "sglc"
    assert hole.attributes["gen_ai.usage.output_tokens"] == 5
    assert hole.attributes["gen_ai.usage.input_tokens"] > 20
    assert tuple(hole.attributes["gen_ai.response.finish_reasons"]) == ("stop",)


def test_spans_of_calls_that_ran_ahead_have_their_true_times(tmp_path: Path) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from sglc.runtime.metrics import spans

    text = """\
fn one(n: int) -> str:
    user: | Number ${n}.
    assistant: | ?{w: str min 6 chars max 9 chars}
    return w

fn main(n: int, word: str) -> [str]:
    return [one(i) for i in 0..<3]
"""
    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    collector = Collector(spans.listening(spans.tracer_of(provider), "hashed"))
    made = Session(compiled(text, 2), HashedEngine(delays=3), recorder=collector)
    asyncio.run(made.run("main", {"n": 1, "word": "x"}))
    found = [span for span in memory.get_finished_spans() if span.name == "call one"]
    assert len(found) == 3
    first_end = min(span.end_time for span in found)
    assert all(span.start_time < first_end for span in found)
    assert all(span.start_time <= span.end_time for span in memory.get_finished_spans())


def test_spans_have_texts_only_when_asked(program: Any) -> None:
    answers = {"n": 123, "word": "hello", "mood": "calm"}
    silent = "".join(span.to_json() for span in spans_of(program, answers, "f"))
    assert "secret" not in silent and "hello" not in silent
    told = spans_of(program, answers, "f", texts=True)
    hole = next(span for span in told if span.attributes.get("sglc.hole") == "f.word")
    assert "secret words" in hole.attributes["gen_ai.input.messages"]
    assert "123 and" in hole.attributes["gen_ai.input.messages"]
    assert '"hello"' in hole.attributes["gen_ai.output.messages"]


def test_a_failed_run_ends_all_its_spans_with_the_error_s_name(program: Any) -> None:
    found = spans_of(program, {"n": 123, "word": "hello", "mood": "furious"}, "f")
    assert len(found) == 6
    run = next(span for span in found if span.name == "run f")
    assert run.attributes["error.type"] == "Angry" and not run.status.is_ok
    assert "secret" not in run.to_json()


FORKED = """\
enum Verdict: good, bad

error Wrong

fn inner(i: int) -> int raises Wrong:
    user: | inner ${i}
    assistant: | ?{n: int in 0..9}
    if i == 1:
        raise Wrong()
    return n

fn f(text: str) -> int raises Wrong:
    user: | ${text}
    let all = fork i in 0..<3 or skip:
        assistant: | ?{n: int in 100..999}
        yield inner(i)
    let rest = inner(1) else 0
    return len(all) + rest
"""


def test_spans_of_failed_branches_and_caught_errors_are_ended(tmp_path: Path) -> None:
    path = tmp_path / "p.sgl"
    path.write_text(FORKED, encoding="utf-8")
    compiled = compile_file(path, CompileOptions())
    assert compiled.program is not None, compiled.diagnostics
    found = spans_of(compiled.program, {}, "f")
    shown = tree(found)
    assert shown.count("caller > run f > call inner") == 4
    assert shown.count("caller > run f > call inner > inner.n") == 4
    assert shown.count("caller > run f > f.n") == 3
    failed = [span for span in found if span.name == "call inner" and not span.status.is_ok]
    assert len([span for span in failed if span.attributes.get("error.type") == "Wrong"]) == 2
    assert next(span for span in found if span.name == "run f").attributes.get("error.type") is None


@pytest.mark.parametrize(
    ("module", "package"), [("prometheus", "prometheus_client"), ("spans", "opentelemetry")]
)
def test_a_missing_package_is_named_with_the_extra(
    module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib
    import sys

    from sglc.runtime.metrics.packages import MissingPackage

    monkeypatch.delitem(sys.modules, f"sglc.runtime.metrics.{module}", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage) as raised:
        importlib.import_module(f"sglc.runtime.metrics.{module}")
    assert package.replace("_", "-")[:13] in str(raised.value).replace("_", "-")
    assert "sglc[observe]" in raised.value.hint
