"""Faults of repair, of strategies and of the viewer."""

from __future__ import annotations

from hostile.faults.fault import Fault

FAULTS = (
    Fault(
        "a trace ends the element of the page that it stands in",
        "runtime/serve/ui/assets.py",
        '    return text.replace("<", "\\\\u003c")\n',
        "    return text\n",
        "tests/serve/page/test_assets.py::test_traces_cannot_leave_their_place",
    ),
    Fault(
        "what begins like the page needs no key",
        "runtime/serve/guard.py",
        'path.startswith(f"{PAGE}/")',
        "path.startswith(PAGE)",
        "tests/serve/page/test_face.py::test_the_page_needs_no_key_and_what_it_shows_does",
    ),
    Fault(
        "a key sees the runs of others",
        "runtime/serve/ui/state.py",
        "if run.key.name == key.name]",
        "if run.key.name]",
        "tests/serve/page/test_face.py::test_a_key_sees_its_own_runs_and_others_as_one",
    ),
    Fault(
        "equal rows are read as a repetition",
        "runtime/repair/answer.py",
        "        return whole or self._readings[0].kept < size\n",
        "        return True\n",
        "tests/repair/test_answer.py::test_equal_rows_are_no_repetition",
    ),
    Fault(
        "a stream stays open",
        "runtime/repair/drivers.py",
        "            self._close(stream, repair)\n",
        "            pass\n",
        "tests/repair/test_drivers.py::test_a_stream_is_closed_at_its_first_illegal_byte",
    ),
    Fault(
        "a correction counts once, whatever was legal before it",
        "runtime/repair/loop.py",
        "        self._weight += 1 if settled.kept else self._options.nothing\n",
        "        self._weight += 1\n",
        "tests/repair/test_logs.py::test_logs",
    ),
    Fault(
        "the most probable tokens are told of the legal ones alone",
        "runtime/engine/sampling/sampler.py",
        "    ids, values = select.masked_top(logits, None, count)\n",
        "    row = legal if isinstance(legal, np.ndarray) else None\n"
        "    ids, values = select.masked_top(logits, row, count)\n",
        "tests/engine/test_sampler.py::test_the_most_probable_tokens_are_those_of_the_whole_distribution",
    ),
    Fault(
        "texts of a run reach its page as code",
        "sglc/viewer/templates.py",
        "        autoescape=True,\n",
        "        autoescape=False,\n",
        "tests/viewer/test_page.py::test_hostile_texts_everywhere",
    ),
    Fault(
        "events of a branch go to the conversation that forked",
        "sglc/viewer/building.py",
        "            flow, span = _Flow(branch.items, flow.depth + 1), parent.fork.span\n",
        "            span = parent.fork.span\n",
        "tests/viewer/test_terminal.py::test_runs",
    ),
    Fault(
        "a walk at a new place draws legal tokens alone",
        "runtime/decoding/strategies/prefix_tree.py",
        "        if first:\n",
        "        if False:\n",
        "tests/decoding/strategies/test_exact.py::test_first_draws_follow_the_distribution",
    ),
    Fault(
        "a prefix does not hear what a walk has learnt behind it",
        "runtime/decoding/strategies/exact.py",
        "            bound = place.bound\n            self._tree.passed(place)\n",
        "            bound = 0.0\n            self._tree.passed(place)\n",
        "tests/decoding/strategies/test_exact.py::test_later_draws_of_a_shared_tree_follow_it_too",
    ),
    Fault(
        "the weight of a particle leaves the mask out",
        "runtime/decoding/strategies/particles.py",
        "        particle.weight += mass\n",
        "        particle.weight += 0.0\n",
        "tests/decoding/strategies/test_particles.py::test_the_mean_estimate_is_the_probability_of_a_legal_text",
    ),
    Fault(
        "what a beam leaves behind is forgotten",
        "runtime/decoding/strategies/beams.py",
        "                    self._pruned = max(self._pruned, beam.score + value - whole)\n",
        "",
        "tests/decoding/strategies/test_beams.py::test_what_is_proved_is_the_likeliest_of_all",
    ),
    Fault(
        "a draft model draws with the noise of another token",
        "runtime/decoding/lookahead.py",
        "        self._sampling.position += 1\n",
        "",
        "tests/engine/test_draft_model.py::test_the_model_itself_drafts_what_comes",
    ),
    Fault(
        "a draft model may draft what it has not followed",
        "runtime/engine/drafting/draft_model.py",
        "        branch.rollback(same)\n",
        "",
        "tests/engine/test_draft_model.py::test_the_draft_model_follows_tokens_cut_back_to_any_prefix",
    ),
    Fault(
        "the trace of a repair forgets what was refused",
        "runtime/repair/loop.py",
        "**asdict(correction))",
        '**{**asdict(correction), "wrong": ""})',
        "tests/repair/test_traces.py::test_events_tell_what_is_returned",
    ),
    Fault(
        "a number of a field that is gone is given again",
        "sglc/targets/proto/numbers.py",
        " | set(kept.gone)\n",
        "\n",
        "tests/targets/proto/test_texts.py::test_a_number_never_means_two_things",
    ),
    Fault(
        "a call over gRPC without a key is let in",
        "runtime/serve/grpc/guard.py",
        "            return _refusing(refused.problem)\n",
        "            return handler\n",
        "tests/serve/grpc/test_server.py::test_keys",
    ),
    Fault(
        "a variant over gRPC counts as no message",
        "runtime/serve/grpc/values.py",
        "        with self._inside():\n            inner =",
        "        if True:\n            inner =",
        "tests/serve/grpc/test_values.py::test_whatever_is_written_can_be_read",
    ),
)
