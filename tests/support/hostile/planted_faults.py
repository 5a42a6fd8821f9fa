"""Faults that are planted into the code, each with the test that has to notice it.

`python tests/support/hostile/planted_faults.py [NAME…]` plants each of them (or those named) into a copy of
the checkout and runs its test there: it must fail with the fault, and pass without. A fault that no test
notices says that a test is missing. `--find NAME PATH…` tells which tests of some files notice it, for
whoever adds one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from hostile.faults import compiler, runtime, tools  # noqa: E402
from hostile.faults.fault import Fault  # noqa: E402

SECONDS = 300
"""Most for one test on a busy machine. A planted fault may make a program run forever."""
PACKAGES = ("runtime", "kernels", "stdlib", "grammar")
"""Folders that are imported from below `sglc` (see `pyproject.toml`)."""

FAULTS = (*compiler.FAULTS, *runtime.FAULTS, *tools.FAULTS)

@dataclass(frozen=True, slots=True)
class Fault:
    """`old`, which stands once in `file`, becomes `new`; `test` is the pytest node that fails then."""

    name: str
    file: str
    old: str
    new: str
    test: str


STARTS = "tests/compiler/passes/test_start_early.py::test_goldens"

FAULTS = (
    # -- calls that run ahead, branches that run side by side
    Fault(
        "branches of a fork note their checks as they come",
        "runtime/vm/machine.py",
        "        child.records = Records()\n",
        "",
        "tests/vm/tasks/test_tasks_in_forks.py::test_checks_of_branches_come_in_the_order_of_the_branches",
    ),
    Fault(
        "checks of a task go to the run, and not to the branch that waits for it",
        "runtime/vm/state/tasks.py",
        "        self.caller.records.add(self.run.records)\n",
        "        self.caller.run.records.add(self.run.records)\n",
        "tests/vm/tasks/test_tasks_in_forks.py::test_checks_of_a_branch_that_failed_stay",
    ),
    Fault(
        "a call begins where a retry goes back over it",
        "sglc/analysis/course.py",
        "                first = self._retrying[index] + 1\n",
        "                pass\n",
        STARTS,
    ),
    Fault(
        "a preview takes an arm that it cannot know",
        "runtime/vm/preview/joins.py",
        "    if any(_is_loud(program, code, place) for place in between):\n        return None\n",
        "",
        "tests/prompt/test_preview.py::test_arms_that_are_told_apart_end_a_preview",
    ),
    Fault(
        "what an arm may have stored is taken for known",
        "runtime/vm/preview/steps.py",
        "    for slot in join.stored:\n        frame.slots[slot] = unknown\n",
        "",
        "tests/prompt/test_preview.py::test_unknown_values_are_followed_as_far_as_they_are_certain",
    ),
    Fault(
        "a fork of an empty conversation begins without the first token",
        "runtime/vm/preview/steps.py",
        "    if several and frame.conversation is not None:\n        frame.conversation.start()\n",
        "",
        "tests/prompt/test_preview.py::test_a_preview_of_a_random_program_is_what_the_model_gets",
    ),
    Fault(
        "the closing line of varying text moves away from it",
        "sglc/advice/late_text.py",
        "    while late and _is_delimiter(body[late[0]]):\n        del late[0]\n",
        "",
        "tests/prompt/test_late_text.py::test_openings_and_closings_stay_with_what_varies",
    ),
    Fault(
        "text is moved above the name that it uses",
        "sglc/advice/moves.py",
        "or (names and _mention(moved, names))",
        "",
        "tests/prompt/test_late_text.py::test_a_name_is_not_used_before_it_is_defined",
    ),
    # -- masks in a pack
    Fault(
        "tables of two constraints are shared though they differ",
        "runtime/mask/artifact/build.py",
        "        if self.value is not None:\n            self._hold_together(self.value)\n",
        "",
        "tests/mask/artifact/test_tables.py::test_states_that_are_not_those_of_the_value_alone_are_not_shared",
    ),
    # -- keys and values of beginnings
    Fault(
        "a tier that is only read makes room",
        "runtime/kv/disk.py",
        "        while self._bounded and self._sizes and self._bytes + size > self.limit:\n",
        "        while self._sizes and self._bytes + size > self.limit:\n",
        "tests/kv/test_disk.py::test_a_tier_that_is_only_read_keeps_what_is_there",
    ),
    # -- calls that begin early
    Fault(
        "starts of a function overtake each other",
        "sglc/analysis/independence.py",
        "                ready.update(dict.fromkeys(coming.functions, at))\n",
        "",
        f"{STARTS}[a start waits for the earlier ones of its function]",
    ),
    Fault(
        "a start stands where a retry comes by again",
        "sglc/analysis/independence.py",
        "            at = course.behind_retries(max(least, way.first), coming.due)\n",
        "            at = max(least, way.first)\n",
        f"{STARTS}[nothing is started where a retry comes by again]",
    ),
    Fault(
        "a loop is started with a variable that it changes",
        "sglc/analysis/independence.py",
        "        return None if changing else value\n",
        "        return value\n",
        f"{STARTS}[in a loop each round goes on from the last]",
    ),
    Fault(
        "a value is loaded after its variable has changed",
        "sglc/analysis/independence.py",
        "            if at <= min(way.last, coming.due):\n",
        "            if at <= coming.due:\n",
        f"{STARTS}[a stored result is loaded where its operands have changed]",
    ),
    # -- the cache of programs
    Fault(
        "a program from the cache keeps what a module said then",
        "sglc/library.py",
        "            if self._digest(answer) != lookup.answer:\n",
        "            if bool(answer) != bool(lookup.answer):\n",
        "tests/cli/test_compiled.py::test_a_program_of_several_files_is_compiled_when_one_of_them_changes",
    ),
    # -- the matcher and its tables
    Fault(
        "rollback forgets the length over several steps",
        "runtime/mask/matcher.py",
        "        self._length -= steps\n",
        "        self._length -= min(steps, 1)\n",
        "tests/mask/test_mask.py::test_several_steps_are_taken_back_at_once",
    ),
    Fault(
        "rollback goes back one step too few",
        "runtime/mask/matcher.py",
        "        for _ in range(steps):\n",
        "        for _ in range(steps - 1):\n",
        "tests/mask/test_mask.py::test_steps_are_taken_back_one_by_one",
    ),
    Fault(
        "a clone shares the row that was written last",
        "runtime/mask/matcher.py",
        "        twin._row = None\n",
        "        twin._row = self._row\n",
        "tests/mask/test_mask.py::test_a_clone_writes_rows_of_its_own",
    ),
    Fault(
        "a clone forgets how many steps it can take back",
        "runtime/mask/matcher.py",
        "        twin._length = self._length\n",
        "        twin._length = 0\n",
        "tests/mask/test_mask.py::test_clones_go_their_own_ways",
    ),
    Fault(
        "a step to nowhere is taken",
        "runtime/mask/matcher.py",
        "        if not following:  # DEAD\n",
        "        if following < 0:\n",
        "tests/mask/test_mask.py::test_steps_are_taken_back_one_by_one",
    ),
    Fault(
        "a tabled store takes tokens beyond the vocabulary",
        "runtime/mask/artifact/constraint.py",
        "        if not 0 <= token < size or config == DEAD:\n",
        "        if config == DEAD:\n",
        "tests/mask/artifact/test_tables.py::test_tokens_that_are_none_are_refused_as_by_the_machine",
    ),
    Fault(
        "a tabled mask may point behind its numbers",
        "runtime/mask/artifact/tables.py",
        "            and place + width <= len(self.ids)\n",
        "",
        "tests/mask/artifact/test_tables.py::test_a_mask_that_points_outside_of_its_tables_is_refused",
    ),
    Fault(
        "a tabled state is not told from the machine's",
        "runtime/mask/artifact/constraint.py",
        "        return config if config in _ENDED else config + self.known\n",
        "        return config\n",
        "tests/mask/artifact/test_tables.py::test_a_record_walks_alike",
    ),
    # -- the memory of keys and values
    Fault(
        "a fork shares its last block without copying",
        "runtime/kv/sequence.py",
        "            self._shared = twin._shared = True\n",
        "            twin._shared = True\n",
        "tests/kv/test_kv.py::test_a_rollback_behind_a_fork_does_not_write_over_what_the_fork_has",
    ),
    Fault(
        "the tree of prefixes matches one token too many",
        "runtime/kv/tree.py",
        "        if one != other:\n            return count\n",
        "        if one != other:\n            return count + 1\n",
        "tests/kv/test_kv.py::test_a_match_ends_anywhere_inside_of_a_block",
    ),
    Fault(
        "a block that is held is evicted",
        "runtime/kv/eviction.py",
        "    return node.stamp == entry[2] and not node.active and not node.children",
        "    return node.stamp == entry[2] and not node.children",
        "tests/kv/test_kv.py::test_the_order_is_that_of_a_scan_over_all_leaves[lru]",
    ),
    Fault(
        "holding a node does not hold those above it",
        "runtime/kv/tree.py",
        "            if current.active > 1:\n",
        "            if current.active > 0:\n",
        "tests/kv/test_kv.py::test_what_is_shared_by_an_open_sequence_is_not_evicted",
    ),
    Fault(
        "room stays reserved after a rollback",
        "runtime/kv/sequence.py",
        "        self._room = length\n",
        "",
        "tests/kv/test_kv.py::test_room_must_be_reserved_again_after_a_rollback",
    ),
    Fault(
        "a block is free while one table still has it",
        "runtime/kv/blocks.py",
        "        if not left:\n",
        "        if left <= 1:\n",
        "tests/kv/test_kv.py::test_a_rollback_behind_a_fork_does_not_write_over_what_the_fork_has",
    ),
    # -- the sampler
    Fault(
        "top_p looks at tokens before the mask",
        "runtime/engine/sampling/sampler.py",
        "    kept = logits > -np.inf\n    if legal is not None:\n",
        "    kept = logits > -np.inf\n"
        "    if (sampling.top_p or 1.0) < 1.0:\n"
        "        likely = distribution(logits, Sampling(sampling.temperature, top_p=sampling.top_p))[1]\n"
        "        kept &= np.isin(np.arange(logits.size), likely)\n"
        "    if legal is not None:\n",
        "tests/engine/test_sampler.py::test_the_largest_sum_of_logit_and_noise_is_drawn",
    ),
    Fault(
        "min_p leaves out what is just as likely",
        "runtime/engine/sampling/sampler.py",
        "weights >= sampling.min_p * weights.max()",
        "weights > sampling.min_p * weights.max()",
        "tests/engine/test_sampler.py::test_what_is_just_as_likely_as_min_p_asks_stays",
    ),
    Fault(
        "min_p is not measured by the likeliest",
        "runtime/engine/sampling/sampler.py",
        "weights >= sampling.min_p * weights.max()",
        "weights >= sampling.min_p",
        "tests/engine/test_sampler.py::test_the_distribution_is_that_of_the_definition",
    ),
    Fault(
        "every token of a seed has the same noise",
        "runtime/engine/sampling/sampler.py",
        "counter=position % 2**64",
        "counter=0",
        "tests/engine/test_sampler.py::test_noise_depends_on_seed_and_position_only",
    ),
    Fault(
        "temperature 0 is taken as 1",
        "runtime/engine/sampling/sampler.py",
        "        token = _best_legal(logits, legal, best)\n",
        "        token = _draw(logits, legal, Sampling(1.0), 0, best)\n",
        "tests/engine/test_sampler.py::test_greedy_takes_the_best_allowed_token",
    ),
    Fault(
        "all tokens have the same noise",
        "kernels/llvm/sampling.py",
        "    x = b.add(b.mul(tokens, _splat(GOLDEN, _VI)), keys[0])\n",
        "    x = b.add(b.mul(tokens, _splat(0, _VI)), keys[0])\n",
        "tests/kernels/test_kernels.py::test_noise_agrees_with_the_reference",
    ),
    Fault(
        "a refused token counts as illegal in the pressure",
        "runtime/decoding/canonical_draw.py",
        "            mass = drawn.log_mass if mass is None else mass\n",
        "            mass = None\n",
        "tests/decoding/test_pressure.py::test_pressure_is_what_the_mask_takes_away",
    ),
    Fault(
        "the end token is missing in the mask",
        "runtime/engine/sampling/legal.py",
        "        for end in self.end_ids:\n",
        "        for end in ():\n",
        "tests/decoding/test_generation.py::test_the_mask_and_single_questions_agree_about_end_tokens",
    ),
    # -- filling holes
    Fault(
        "a stop may stand inside of a value",
        "runtime/decoding/stop_tracker.py",
        "                if rest.startswith(stop):\n                    return end\n",
        "",
        "tests/decoding/test_generation.py::test_the_end_is_found_to_the_byte",
    ),
    Fault(
        "a budget is one token too large",
        "runtime/decoding/hole_decoder.py",
        "        room = limit.tokens - used\n",
        "        room = limit.tokens - used + 1\n",
        "tests/decoding/test_generation.py::test_a_budget_is_kept_or_the_value_cannot_fit",
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
    # -- the virtual machine
    Fault(
        "an arm of a try sees what the try has written",
        "runtime/vm/machine.py",
        "                    frame.conversation.restore(handler.mark)\n",
        "                    pass\n",
        "tests/vm/test_vm.py::test_an_arm_starts_from_the_conversation_as_it_was_at_try",
    ),
    Fault(
        "a retry may draw the same value again",
        "runtime/vm/holes/retries.py",
        "        snapshot.excluded.add(text.encode())\n",
        "        pass\n",
        "tests/vm/test_run_golden.py::test_the_run_of_a_program[a_retry_leaves_the_rejected_text_out]",
    ),
    Fault(
        "a retry keeps what was set since",
        "runtime/vm/holes/retries.py",
        "        frame.pc, list(frame.slots), len(frame.handlers), mark, frame.code",
        "        frame.pc, frame.slots, len(frame.handlers), mark, frame.code",
        "tests/vm/test_programs.py::test_a_retry_goes_back_to_the_variables_as_they_were",
    ),
    Fault(
        "branches of a fork share their variables",
        "runtime/vm/machine.py",
        "        slots = [*frame.slots[: code.fork_slot], item, *own]\n",
        "        slots = frame.slots\n        slots[code.fork_slot :] = [item, *own]\n",
        "tests/vm/test_run_golden.py::test_the_run_of_a_program[in_every_branch_of_a_fork]",
    ),
    Fault(
        "all holes of a run draw from one seed",
        "runtime/vm/state/seed.py",
        '        return mix("hole", self.seed, self.holes, attempt)\n',
        '        return mix("hole", self.seed, attempt)\n',
        "tests/vm/test_programs.py::test_holes_of_one_run_draw_from_seeds_of_their_own",
    ),
    Fault(
        "a task is joined by a call with equal arguments of another kind",
        "runtime/vm/state/tasks.py",
        "    if type(one) is not type(other):\n",
        "    if one == other:\n        return True\n    if type(one) is not type(other):\n",
        "tests/vm/tasks/test_tasks.py::test_values_that_can_be_told_apart_are_not_the_same",
    ),
    Fault(
        "a task has whatever was left of a budget when it began",
        "runtime/vm/state/tasks.py",
        "        return not late or self.own.slack >= late\n",
        "        return True\n",
        "tests/vm/tasks/test_task_limits.py::test_a_tight_budget_gives_what_it_gives_in_order",
    ),
    Fault(
        "a check of a budget that failed is forgotten",
        "runtime/decoding/hole_decoder.py",
        "        self.needed = max(self.needed, tokens if enough else limit.tokens + 1)\n",
        "        self.needed = max(self.needed, tokens if enough else 0)\n",
        "tests/vm/tasks/test_task_limits.py::test_a_call_that_a_budget_ends_says_what_was_left_in_its_turn",
    ),
    Fault(
        "a task may take the steps that were left when it began",
        "runtime/vm/state/run.py",
        "            other.step_limit, other.pause_at = self.steps_left, 0\n",
        "            pass\n",
        "tests/vm/tasks/test_task_limits.py::test_a_step_limit_is_met_at_the_same_instruction",
    ),
    Fault(
        "a premise counts for every task that found it",
        "runtime/vm/state/run.py",
        "                self.statistics.forwards -= forwards  # known by then, in the program's order\n",
        "                pass\n",
        "tests/vm/tasks/test_tasks.py::test_premises_that_two_tasks_find_count_once",
    ),
    Fault(
        "a retry keeps the tasks of its function",
        "runtime/vm/holes/retries.py",
        "    frame.drop_tasks()\n    snapshot.left -= 1\n",
        "    snapshot.left -= 1\n",
        "tests/vm/tasks/test_tasks.py::test_a_retry_that_goes_back_drops_the_tasks_of_its_function",
    ),
    Fault(
        "a run ends before its tasks have let go",
        "runtime/session.py",
        "                await run.tasks.close()\n",
        "                pass\n",
        "tests/vm/tasks/test_tasks.py::test_no_memory_is_held_by_tasks_that_were_dropped",
    ),
    Fault(
        "an error of a task does not know who called it",
        "runtime/vm/state/tasks.py",
        "        machine.callers = self.callers\n",
        "",
        "tests/vm/tasks/test_tasks.py::test_an_error_of_a_task_is_raised_by_its_call_with_place_and_calls",
    ),
    Fault(
        "what a callee draws changes the seeds behind the call",
        "runtime/vm/state/strand.py",
        "                seeds = Seeds(seeds.call(known_name(code)))\n",
        "                pass\n",
        "tests/vm/test_seeds.py::test_what_a_callee_draws_changes_no_later_call_and_each_call_has_a_seed_of_its_own",
    ),
    Fault(
        "a truth value is widened like a number",
        "sglc/values/coerce.py",
        "    if isinstance(value, bool) or value is None:\n",
        "    if value is None:\n",
        "tests/vm/test_values.py::test_a_truth_value_is_no_number",
    ),
    Fault(
        "mocks answer in the wrong order",
        "runtime/vm/state/run.py",
        "once.popleft() if once",
        "once.pop() if once",
        "tests/vm/test_programs.py::test_a_retry_goes_back_to_the_variables_as_they_were",
    ),
    # -- the checker and what is computed before a run
    Fault(
        "the type of an argument is not checked",
        "sglc/check/expressions/arguments.py",
        '            self.inference.expect(argument.value, types[label], f"`{label}`")\n',
        "            self.inference.infer(argument.value, types[label])\n",
        "tests/compiler/check/test_check.py::test_programs_are_told_what_is_written_beside_them[calls]",
    ),
    Fault(
        "a case with a guard counts as taking all",
        "sglc/check/patterns/exhaustive.py",
        "_Row(_before((0,), (form,), None), place, firm, True)",
        "_Row(_before((0,), (form,), None), place, True, True)",
        "tests/compiler/check/test_check_exhaustive.py::test_a_match_is_judged_as_by_trying_every_value",
    ),
    Fault(
        "a constant is divided by zero",
        "sglc/check/expressions/operators.py",
        '        if node.operator in ("/", "//", "%") and right == 0:\n',
        '        if node.operator in ("/", "//", "%") and right is None:\n',
        "tests/compiler/check/test_check.py::test_examples_of_a_code_show_exactly_that_code[E0321]",
    ),
    Fault(
        "a remainder by zero is a number",
        "sglc/types/arithmetic.py",
        '    if b == 0:\n        raise ArithmeticFault("division by zero")\n',
        "    pass\n",
        "tests/compiler/check/test_arithmetic.py::test_what_has_no_result_says_why",
    ),
    Fault(
        "a value that only a check can prove is not checked",
        "sglc/check/expressions/inference.py",
        "        if answer is Fit.CHECK:\n"
        "            self.module.coercions[id(node)] = target  # type: ignore[assignment]\n",
        "        if answer is Fit.CHECK:\n",
        "tests/compiler/check/test_check_facts.py::test_values_that_only_a_check_can_prove_are_marked",
    ),
    Fault(
        "integers count as truth values",
        "sglc/check/types/assignability.py",
        "            return Fit.ALWAYS if is_bool(source, table) else Fit.NEVER\n",
        "            return Fit.ALWAYS if is_bool(source, table) or source == INT else Fit.NEVER\n",
        "tests/compiler/check/test_check.py::test_programs_are_told_what_is_written_beside_them[types]",
    ),
    Fault(
        "a variable is known that was written again with what is not known",
        "sglc/passes/fold.py",
        "self.here.pop(op.slot, None)",
        "pass",
        "tests/compiler/test_passes.py::test_a_pass_keeps_the_module_sound_and_what_an_observer_sees",
    ),
    Fault(
        "a list that is larger than a constant may be becomes one",
        "sglc/passes/evaluate.py",
        "if total + len(below) > LARGEST:",
        "if total > 100 * LARGEST:",
        "tests/compiler/passes/test_fold_values.py::test_a_constant_is_at_most_so_large",
    ),
    # -- prefixes
    Fault(
        "a prefix goes on behind a value that is not known",
        "sglc/analysis/prefix.py",
        "return state.stopped() if known is None else state.write(known)",
        "return state if known is None else state.write(known)",
        "tests/compiler/analysis/test_prefix.py::test_goes_through_constants_lines_and_parts_and_stops_at_an_argument",
    ),
    Fault(
        "where two roads meet, the prefix is what the first has written",
        "sglc/analysis/prefix.py",
        "    return first[: next(at for at, char in enumerate(first) if second[at : at + 1] != char)]",
        "    return first",
        "tests/compiler/analysis/test_prefix.py::test_roads",
    ),
    Fault(
        "what values end with may overlap what they begin with",
        "sglc/automata/analysis/certain_text.py",
        "    return end[len(end) - max(0, room) :]",
        "    return end",
        "tests/automata/test_certain_text.py::test_every_text_of_random_types_has_both",
    ),
    Fault(
        "what one value may begin with counts as certain",
        "sglc/automata/analysis/certain_text.py",
        "if low != high or (point is not None and point != low):",
        "if low != high:",
        "tests/automata/test_certain_text.py::test_every_text_of_random_types_has_both",
    ),
    Fault(
        "a pinned prefix that many functions begin with is given up first",
        "runtime/engine/scheduling/pinned_prefixes.py",
        "prefix = min(self._pinned, key",
        "prefix = max(self._pinned, key",
        "tests/engine/test_pinned_prefixes.py::test_those_of_many_functions_outlive_those_of_few_and_newer_ones_older_ones",
    ),
    # -- targets
    Fault(
        "a target forgets the ends that run into a stop",
        "sglc/types/notation/text_rules.py",
        "        if any(stop.startswith(other[size:]) for stop in stops)\n",
        "        if False\n",
        "tests/targets/test_json_schema.py::test_what_a_text_may_not_hold_is_said",
    ),
    Fault(
        "a portable pattern has the class of the other dialect",
        "sglc/automata/regex/portable.py",
        "        case r.Chars(these):\n            return _class(these)\n",
        "        case r.Chars(these):\n"
        '            return r"\\d" if these == charset.DIGITS else _class(these)\n',
        "tests/targets/test_json_schema.py::test_a_pattern_means_the_same_in_another_dialect",
    ),
    Fault(
        "a model takes 1 for true",
        "sglc/targets/pydantic_prelude.py",
        "        if isinstance(value, bool) == isinstance(wanted, bool) and value == wanted:\n",
        "        if value == wanted:\n",
        "tests/targets/test_pydantic.py::test_a_literal_takes_nothing_that_is_merely_equal",
    ),
    Fault(
        "a stub gives a field by its place that Python takes by name",
        "sglc/targets/stubs.py",
        "            if field.has_default or field.optional:\n",
        "            if field.has_default:\n",
        "tests/targets/test_stubs.py::test_stubs_agree_with_what_python_sees",
    ),
    Fault(
        "a line of a doc comment goes on behind its docstring",
        "sglc/targets/core/comments.py",
        "    return ends.sub(lambda found: '\\\\\"' * len(found[0]), escaped)\n",
        "    return escaped\n",
        "tests/targets/test_hostile_names.py::test_programs",
    ),
    Fault(
        "an object of strict mode takes other fields",
        "sglc/targets/requests/strict_schema.py",
        '            "additionalProperties": False,\n',
        '            "additionalProperties": True,\n',
        "tests/targets/test_openai.py::test_a_schema_is_strict_and_has_the_values",
    ),
    Fault(
        "a written module forgets what a condition has rejected",
        "sglc/targets/python/support/conversation.py",
        "            self.repairs.append((self.text, show(reason)))\n",
        "            pass\n",
        "tests/targets/test_python.py::test_a_program_has_the_values_and_messages_of_the_machine",
    ),
    Fault(
        "a written module keeps the conversation of what an error ended",
        "sglc/targets/python/statements.py",
        'context.add(f"c.restore({before})" if context.writes else "pass")',
        'context.add("pass")',
        "tests/targets/test_python.py::test_a_program_has_the_values_and_messages_of_the_machine",
    ),
    Fault(
        "a message of SGLang's front end names an answer before it is there",
        "sglc/targets/requests/sglang.py",
        "        if not cut:\n",
        "        if True:\n",
        "tests/targets/test_sglang.py::test_one_function",
    ),
    Fault(
        "a digit behind a code is one of its digits",
        "sglc/targets/grammars/print_w3c.py",
        '        if _CODE_AT_END.search(text) and first in "0123456789ABCDEFabcdef":\n',
        '        if _CODE_AT_END.search(text) and first in "":\n',
        "tests/targets/test_hole_targets.py::test_a_digit_behind_a_code_is_none_of_its_digits",
    ),
)


class Copy:
    """A copy of the checkout, in which the package is imported from the copy whatever is installed."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.imported = folder / "imported"
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                target.write_bytes((ROOT / name).read_bytes())
        package = self.imported / "sglc"
        package.mkdir(parents=True)
        for entry in (self.root / "sglc").iterdir():
            (package / entry.name).symlink_to(entry)
        for name in PACKAGES:
            (package / name).symlink_to(self.root / name)
        self._changes = int(time.time())

    def write(self, file: str, text: str) -> None:
        """Change a file, so that no compiled file of an earlier text is taken for it."""
        path = self.root / file
        path.write_text(text, encoding="utf-8")
        self._changes += 10
        os.utime(path, (self._changes, self._changes))

    def test(self, nodes: list[str], *options: str) -> tuple[int, str]:
        """The exit status of pytest, and what it says; 1 where it had to be stopped."""
        command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *nodes]
        environment = {**os.environ, "PYTHONPATH": str(self.imported)}
        try:
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return 1, f"stopped after {SECONDS} s"
        return done.returncode, done.stdout + done.stderr


def planted(fault: Fault, text: str) -> str:
    """The text with the fault. Raises ValueError unless the old text stands in it exactly once."""
    count = text.count(fault.old)
    if count != 1:
        raise ValueError(f"{fault.name}: the old text stands {count} times in {fault.file}")
    return text.replace(fault.old, fault.new)


def try_fault(copy: Copy, fault: Fault, nodes: list[str], *options: str) -> tuple[int, str]:
    """What tests say of a copy with the fault; the copy is as before when this returns."""
    sound = (copy.root / fault.file).read_text(encoding="utf-8")
    copy.write(fault.file, planted(fault, sound))
    try:
        return copy.test(nodes, *options)
    finally:
        copy.write(fault.file, sound)


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="sglc-planted-") as folder:
        copy = Copy(Path(folder))
        if arguments[:1] == ["--find"]:
            fault = next(fault for fault in FAULTS if fault.name == arguments[1])
            said = try_fault(copy, fault, arguments[2:])[1]
            print("\n".join(re.findall(r"^(?:FAILED|ERROR) .*", said, re.MULTILINE)) or said[-2000:])
            return 0
        meant = [fault for fault in FAULTS if not arguments or fault.name in arguments]
        if len(meant) < len(arguments):
            print("names are: " + "; ".join(fault.name for fault in FAULTS))
            return 2
        status, said = copy.test(sorted({fault.test for fault in meant}))
        if status:
            print(f"the tests do not pass without a fault:\n{said[-3000:]}")
            return 2
        missed = 0
        for fault in meant:
            status, said = try_fault(copy, fault, [fault.test], "-x")
            caught = status == 1
            missed += not caught
            print(f"{'caught    ' if caught else 'NOT CAUGHT'} {fault.name}: {fault.test}", flush=True)
            if status > 1:
                print(said[-2000:])
        print(f"{len(meant) - missed} of {len(meant)} caught")
        return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
